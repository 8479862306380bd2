// What the shim knows of threads, and clocks.
#ifndef SHL_THREAD_H
#define SHL_THREAD_H
#include "shl_lock.h"

#pragma GCC visibility push(hidden)

void shl_thread_name(SHLThread *t);
void shl_thread_lookup(SHLThread *t);

/// A number no other thread of the process has or had; children keep it.
static inline uint64_t shl_thread_id(void) {
  if (SHL_UNLIKELY(!shl_thread.id)) shl_thread_name(&shl_thread);
  return shl_thread.id;
}

int64_t shl_now(void);
/// How long this thread has run.
int64_t shl_cpu(void);
/// The processor's counter: cheap, runs evenly, its rate is not known.
static inline uint64_t shl_ticks(void) { return __builtin_ia32_rdtsc(); }

#pragma GCC visibility pop
#endif
