// The record of each thread: made at its first hooked call, reused after its end, never freed.
#define _GNU_SOURCE 1
#include "thread_records.h"

#include "calls_internal.h"
#include "stack_room.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread HKTThread *hkt_this_thread __attribute__((tls_model("initial-exec")));
_Atomic(HKTThread *) hkt_all_threads;
_Atomic(uint32_t) hkt_process_is = HKT_PROCESS_UNFENCED;

static pthread_key_t thread_key;

/// Makes a record free for another thread.
static void end(HKTThread *t) {
  t->top = NULL;
  for (int i = 0; i < HKT_HAZARDS; i++) atomic_store_explicit(&t->hazard[i], NULL, memory_order_release);
  atomic_store_explicit(&t->outermost, NULL, memory_order_release);
  atomic_store_explicit(&t->in_use, 0, memory_order_release);
}

static void end_deferred(void *record) { hkt_end_deferred(record, UINT64_MAX); }

/// For pthread_key_create: the thread ends. What it had deferred ends now.
static void thread_ended(void *record) {
  // What ends may have a deinit, whatever stack the thread was given.
  if (((HKTThread *)record)->deferred) hkt_with_stack(end_deferred, record);
  hkt_this_thread = NULL;
  hkt_room_end(record);
  end(record);
}

static void prepare(void) {
  pthread_key_create(&thread_key, thread_ended);
  long answer = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  if (answer == 0) atomic_fetch_and(&hkt_process_is, ~(uint32_t)HKT_PROCESS_UNFENCED);
}

void hkt_threads_prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
}

/// Notes the bounds of the thread's own stack; both 0 where the C library does not tell.
static void read_stack_bounds(HKTThread *t) {
  pthread_attr_t attributes;
  void *low = NULL;
  size_t size = 0;
  t->stack_low = 0;
  t->stack_high = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    t->stack_low = (uint64_t)low;
    t->stack_high = (uint64_t)low + size;
  }
  pthread_attr_destroy(&attributes);
}

/// This thread's record, a free one or a new one; NULL in a signal handler and when memory runs out.
static HKTThread *make(void) {
  if (hkt_interrupts()) {
    hkt_count_in_signal();
    return NULL;
  }
  hkt_threads_prepare();
  HKTThread *t = NULL;
  for (HKTThread *each = atomic_load(&hkt_all_threads); each; each = each->next) {
    int32_t free_mark = 0;
    if (atomic_compare_exchange_strong(&each->in_use, &free_mark, 1)) { t = each; break; }
  }
  if (!t) {
    t = calloc(1, sizeof *t);
    if (!t) return NULL;
    atomic_store(&t->in_use, 1);
    HKTThread *head = atomic_load(&hkt_all_threads);
    do t->next = head; while (!atomic_compare_exchange_weak(&hkt_all_threads, &head, t));
  }
  t->top = NULL;
  t->host = t->unseen = t->at_work = t->protected_count = 0;
  t->handler = 0;
  t->landing = NULL;
  t->accesses = NULL;
  t->forwarded.from = NULL;
  // What a thread of the parent process had is nobody's here.
  t->deferred = NULL;
  t->deferred_end = UINT64_MAX;
  t->tid = (int32_t)syscall(SYS_gettid);
  t->errno_place = &errno;
  t->host = 1;  // reading the stack bounds may call hooked C functions
  hkt_this_thread = t;
  read_stack_bounds(t);
  hkt_room_begin(t);
  t->host = 0;
  pthread_setspecific(thread_key, t);
  return t;
}

__attribute__((noinline)) HKTThread *hkt_thread_make(void) {
  int saved_errno = errno, cancel = hkt_hold_cancel();
  HKTThread *t = make();
  hkt_let_cancel(cancel);
  errno = saved_errno;
  return t;
}

HKTThread *hkt_thread(void) { return hkt_thread_here(); }
HKTThread *hkt_thread_if_known(void) { return hkt_this_thread; }

bool hkt_lies_on_stack(uint64_t address) {
  for (HKTThread *t = atomic_load(&hkt_all_threads); t; t = t->next)
    if (hkt_is_on_stack(t, address) && atomic_load(&t->in_use)) return true;
  return false;
}

void hkt_threads_forget_others(void) {
  if (hkt_this_thread) hkt_this_thread->tid = (int32_t)syscall(SYS_gettid);
  if (!(atomic_load(&hkt_process_is) & HKT_PROCESS_UNFENCED)) syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  for (HKTThread *t = atomic_load(&hkt_all_threads); t; t = t->next)
    if (t != hkt_this_thread) end(t);
}
