// The state's lock, and what the shim knows of threads.
//
// Owner and word are apart: the word decides, the owner (a thread pointer, one register read) only answers
// "is it me?", which no other thread can make true. Unlocking is a plain release store; a sleeping waiter looks
// again every millisecond, so the store needs no fence against the waiter's registration.
#include "shl_internal.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Thread_local SHLThread shl_thread;

int64_t shl_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static bool try_take(SHLState *S, uintptr_t me) {
  uint32_t zero = 0;
  if (SHL_READ(S->word)) return false;
  if (!atomic_compare_exchange_strong_explicit(&S->word, &zero, 1, memory_order_acquire, memory_order_relaxed)) return false;
  SHL_WRITE(S->owner, me);
  S->depth = 1;
  return true;
}

SHL_NOINLINE bool shl_lock_slow(SHLState *S, uintptr_t me, int64_t wait_ns) {
  if (SHL_READ(S->owner) == me) {
    S->depth++;
    return true;
  }
  if (wait_ns == 1) return false;
  for (int i = 0; i < 200; i++) {  // a short handler is done sooner than a sleep begins
    relax();
    if (try_take(S, me)) return true;
  }
  int saved = errno;
  int64_t end = wait_ns < 0 ? INT64_MAX : shl_now() + wait_ns;
  bool taken = false;
  atomic_fetch_add(&S->waiters, 1);
  while (!(taken = try_take(S, me))) {
    if (SHL_READ(S->poisoned)) break;
    int64_t left = wait_ns < 0 ? 1000000 : end - shl_now();
    if (left <= 0) break;
    struct timespec t = {0, left < 1000000 ? left : 1000000};
    syscall(SYS_futex, &S->word, FUTEX_WAIT_PRIVATE, 1, &t, NULL, 0);
  }
  atomic_fetch_sub(&S->waiters, 1);
  errno = saved;
  return taken;
}

SHL_NOINLINE void shl_unlock_wake(SHLState *S) {
  int saved = errno;
  syscall(SYS_futex, &S->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = saved;
}

/// Looks up where this thread's stack ends. Once per thread.
SHL_NOINLINE void shl_thread_lookup(SHLThread *t) {
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
