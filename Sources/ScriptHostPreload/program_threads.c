// Threads of the program, seen when they begin.
//
// A thread needs a stack for signal handlers before its own can overflow, so the stub stands before the C library's `pthread_create`: the
// thread begins in a function of ours, which has the host arm it and jumps on to the program's. Until the host asks for it, nothing changes.
#define _GNU_SOURCE
#include "program_threads.h"

#include "program_signals.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

typedef int (*Create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

typedef struct Start {
  void *(*function)(void *);
  void *argument;
  uint64_t blocked;
} Start;

static _Atomic(ProgramThreadBegins) begins;

EXPORTED void scripthost_watch_threads(ProgramThreadBegins function) { atomic_store_explicit(&begins, function, memory_order_release); }

static Create next_create(void) {
  static _Atomic(Create) next;
  Create known = atomic_load(&next);
  if (!known) atomic_store(&next, known = (Create)dlsym(RTLD_NEXT, "pthread_create"));
  return known;
}

void program_threads_prepare(void) { next_create(); }

static void *begin(void *opaque) {
  Start start = *(Start *)opaque;
  free(opaque);
  program_signals_inherit(start.blocked, (void *)start.function);
  ProgramThreadBegins callback = atomic_load_explicit(&begins, memory_order_acquire);
  if (callback) callback();
  return start.function(start.argument);
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
  Start *start = atomic_load_explicit(&begins, memory_order_acquire) ? malloc(sizeof *start) : NULL;
  // Without memory the thread begins as it would.
  if (!start) return next_create()(thread, attributes, function, argument);
  *start = (Start){function, argument, program_signals_blocked()};
  int status = next_create()(thread, attributes, begin, start);
  if (status != 0) free(start);
  return status;
}
