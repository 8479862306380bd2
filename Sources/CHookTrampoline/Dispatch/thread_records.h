// Private to this target: the records of the threads that have entered hooked functions.
#ifndef HKT_THREAD_RECORDS_H
#define HKT_THREAD_RECORDS_H

#include "CHookTrampoline.h"

#include <stdatomic.h>

enum { HKT_HAZARDS = sizeof(((HKTThread *)0)->hazard) / sizeof(void *) };

#define HKT_HIDDEN __attribute__((visibility("hidden")))

// Initial-exec: one word of the static TLS reserve, read without a call on every hooked entry.
extern HKT_HIDDEN __thread HKTThread *hkt_this_thread __attribute__((tls_model("initial-exec")));
/// Newest first; records are never taken out.
extern HKT_HIDDEN _Atomic(HKTThread *) hkt_all_threads;
/// What is special about the process: HKT_PROCESS_*, mostly nothing.
extern HKT_HIDDEN _Atomic(uint32_t) hkt_process_is;
enum {
  HKT_PROCESS_UNFENCED = 1,  // no membarrier here, or not asked for yet: entering threads pay for the fence
  HKT_PROCESS_PASSIVE = 2,   // hooked functions pass through
};

/// Registers for membarrier and the end of threads, once. Before anything is retired.
HKT_HIDDEN void hkt_threads_prepare(void);
HKT_HIDDEN HKTThread *hkt_thread_make(void);
/// The address is on the stack of a thread that has entered a hooked function.
HKT_HIDDEN bool hkt_lies_on_stack(uint64_t address);
/// In a forked child: what other threads were at is over.
HKT_HIDDEN void hkt_threads_forget_others(void);

/// The windows that are open on this thread, newest first (accesses.c).
HKT_HIDDEN HKTWindow *hkt_windows(void);
HKT_HIDDEN void hkt_windows_set(HKTWindow *windows);

static inline HKTThread *hkt_thread_here(void) {
  return __builtin_expect(hkt_this_thread != NULL, 1) ? hkt_this_thread : hkt_thread_make();
}

#endif
