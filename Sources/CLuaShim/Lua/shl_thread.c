// Threads: their ids, where their stacks end, the clock.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "shl_thread.h"
#include "CLuaShim.h"
#include <errno.h>
#include <pthread.h>
#include <time.h>

_Thread_local SHLThread shl_thread;

int64_t shl_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t shl_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t shl_calls_under_way(void) { return (uint64_t)shl_thread.reentry; }

void shl_exempt_begin(void) {
  SHLThread *t = &shl_thread;
  if (t->exempt_depth++ == 0) t->exempt_since = shl_ticks();
}

void shl_exempt_end(void) {
  SHLThread *t = &shl_thread;
  if (--t->exempt_depth == 0) t->exempt_ticks += shl_ticks() - t->exempt_since;
}

/// Thread pointers would not do: a later thread may have the same one.
SHL_NOINLINE void shl_thread_name(SHLThread *t) {
  static _Atomic uint64_t last;
  t->id = atomic_fetch_add(&last, 1) + 1;
}

static bool (*stack_around)(uintptr_t, uintptr_t *, size_t *);
void shl_set_stack_around(bool (*function)(uintptr_t, uintptr_t *, size_t *)) { __atomic_store_n(&stack_around, function, __ATOMIC_RELEASE); }

/// Looks up where the stack ends that this thread is on: its own, but where the host knows of another one.
SHL_NOINLINE void shl_thread_lookup(SHLThread *t) {
  bool (*known)(uintptr_t, uintptr_t *, size_t *) = __atomic_load_n(&stack_around, __ATOMIC_ACQUIRE);
  if (known && known((uintptr_t)__builtin_frame_address(0), &t->stack_low, &t->stack_size)) return;
  if (t->stack_size) return;
  int saved = errno;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void *low = NULL;
    size_t size = 0, guard = 0;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    t->stack_low = (uintptr_t)low;
    t->stack_size = size;
  }
  if (!t->stack_size) {  // no /proc: assume a small stack that starts here, rather than none
    t->stack_low = (uintptr_t)__builtin_frame_address(0) - (1 << 20);
    t->stack_size = 1 << 20;
  }
  errno = saved;
}
