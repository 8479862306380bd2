// Forked copies of the process: what the threads that are not there held or were at is over.
#include "HKTProcess.h"

#include <pthread.h>
#include <stdatomic.h>

#include "calls_internal.h"
#include "layer_sets.h"

static _Atomic(bool) keep_in_children;

void hkt_keep_in_children(bool keep) { atomic_store(&keep_in_children, keep); }
bool hkt_keeps_in_children(void) { return atomic_load(&keep_in_children); }

/// The only thread of the child is the one that forked; what others held or were at is over.
static void in_child(void) {
  if (!atomic_load(&keep_in_children)) hkt_set_passive(true);
  hkt_retire_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  hkt_plan_lock_reset();
  hkt_threads_forget_others();
}

static void watch(void) { pthread_atfork(NULL, NULL, in_child); }

void hkt_watch_forks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
}
