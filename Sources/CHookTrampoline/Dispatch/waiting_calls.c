// Calls of scripts into the program that do not return: seen from another thread, and woken where they sleep.
//
// A thread that is in such a call has a record, in a list that only grows. The watcher looks at a record while the call is kept in it, and
// a signal it sends is taken inside the call: the thread does not leave before (`hkt_waiting_end`), so that no system call of the
// program's own is ever interrupted by it.
#define _GNU_SOURCE 1
#include "HKTWaiting.h"
#include "../Process/threads.h"
#include "thread_records.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OUTSIDE, INSIDE, LOOKED_AT, SENT };

_Atomic(uint32_t) hkt_waiting_tick = 1;
_Atomic(uint32_t) hkt_waiting_watched;
static _Atomic(HKTWaiting *) all;
static __thread HKTWaiting *own __attribute__((tls_model("initial-exec")));
static _Atomic int signal_number;

/// What is known of a thread's reading of standard input, which a signal of ours interrupted.
typedef struct Record {
  HKTWaiting waiting;
  /// The watcher has interrupted it in this call; before that the stream had an error of its own.
  _Atomic bool was_interrupted, had_error;
  /// It has not come back since: see `on_wake`.
  _Atomic bool repeats;
} Record;

/// All records come from `make`.
static Record *record_of(HKTWaiting *w) { return (Record *)w; }

/// A record for this thread, entered for all to see and never freed; NULL when memory runs out.
static HKTWaiting *make(void) {
  Record *record = calloc(1, sizeof *record);
  if (!record) return NULL;
  HKTWaiting *w = &record->waiting;
  w->thread = (int32_t)syscall(SYS_gettid);
  HKTWaiting *head = atomic_load(&all);
  do w->next = head; while (!atomic_compare_exchange_weak(&all, &head, w));
  return w;
}

const HKTWaiting *hkt_waiting_if_known(void) { return own; }

HKTWaiting *hkt_waiting_first(void) { return atomic_load(&all); }

void hkt_waiting_begin(HKTWaiting *w) { atomic_store_explicit(&w->state, INSIDE, memory_order_release); }

/// The stream's error is ours: what the program reads next goes on where it would have. Nobody else has the record any more.
static void forget_error(Record *record) {
  // Each call of a script comes by here.
  if (__builtin_expect(!atomic_load_explicit(&record->was_interrupted, memory_order_relaxed), 1)) return;
  atomic_store(&record->was_interrupted, false);
  atomic_store(&record->repeats, false);
  // Where another thread has the stream, that one is reading, and meets no error.
  if (atomic_load(&record->had_error) || ftrylockfile(stdin) != 0) return;
  stdin->_flags &= ~_IO_ERR_SEEN;
  funlockfile(stdin);
}

static void leave(HKTWaiting *w) {
  // A signal that never comes (the thread has begun to block it) is not waited for.
  for (int turn = 0; turn < 1000000 && atomic_load_explicit(&w->state, memory_order_relaxed) != OUTSIDE; turn++) {
    uint32_t inside = INSIDE;
    if (atomic_compare_exchange_weak(&w->state, &inside, OUTSIDE)) return;
    sched_yield();
  }
  atomic_store(&w->state, OUTSIDE);
}

void hkt_waiting_end(HKTWaiting *w) {
  leave(w);
  forget_error(record_of(w));
}

bool hkt_waiting_look(HKTWaiting *w) {
  uint32_t inside = INSIDE;
  return atomic_compare_exchange_strong(&w->state, &inside, LOOKED_AT);
}
void hkt_waiting_looked(HKTWaiting *w) { atomic_store(&w->state, INSIDE); }

// MARK: Waking

/// Without SA_RESTART the system call it interrupts fails with EINTR; that is what it is for.
///
/// Swift's `readLine` reads again for as long as the error is EINTR, and the C library answers with the stream's error from then on without
/// asking for a byte: it would never return, whatever comes. Another error ends it.
static void on_wake(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  HKTWaiting *w = info->si_code == SI_QUEUE && info->si_pid == getpid() ? info->si_value.sival_ptr : NULL;
  if (!w || w->thread != (int32_t)syscall(SYS_gettid)) return;
  if (atomic_load(&record_of(w)->repeats) && errno == EINTR) errno = EIO;
  atomic_store(&w->state, INSIDE);
}

static int waking_signal(void) {
  int known = atomic_load(&signal_number);
  if (known) return known;
  for (int s = SIGRTMAX - 2; s > SIGRTMIN; s--) {
    struct sigaction now, ours = {.sa_sigaction = on_wake, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (sigaction(s, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL) continue;
    if (sigaction(s, &ours, NULL) != 0) continue;
    atomic_store(&signal_number, s);
    return s;
  }
  return 0;
}

/// What may end early when a signal comes: the thread waits for time to pass or for its standard input, or it runs. Anything else may not.
typedef enum Waits { WAITS_OTHERWISE, WAITS_FOR_TIME, WAITS_FOR_INPUT, RUNS } Waits;

static Waits waits_for(int32_t thread) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return WAITS_OTHERWISE;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return WAITS_OTHERWISE;
  text[n] = 0;
  char *end;
  long number = strtol(text, &end, 10);
  if (end == text) return strncmp(text, "running", 7) == 0 ? RUNS : WAITS_OTHERWISE;
  switch (number) {
    case SYS_nanosleep: case SYS_clock_nanosleep: case SYS_pause: return WAITS_FOR_TIME;
    case SYS_read: return strtoull(end, NULL, 16) == STDIN_FILENO ? WAITS_FOR_INPUT : WAITS_OTHERWISE;
    default: return WAITS_OTHERWISE;
  }
}

/// A signal that the thread blocks would come when it is allowed again: maybe never, and the thread would wait for it.
static bool is_blocked(int32_t thread, int signal) {
  HKTThreadStatus status;
  return !hkt_thread_status(thread, &status) || (status.blocked >> (signal - 1) & 1);
}

static bool may_wake(Record *record, int signal) {
  int32_t thread = record->waiting.thread;
  Waits waits = waits_for(thread);
  bool repeats = waits == RUNS && atomic_load(&record->was_interrupted) && ferror_unlocked(stdin);
  if (waits == WAITS_OTHERWISE || (waits == RUNS && !repeats) || is_blocked(thread, signal)) return false;
  if (waits == WAITS_FOR_INPUT && !atomic_load(&record->was_interrupted)) {
    atomic_store(&record->had_error, ferror_unlocked(stdin) != 0);
    atomic_store(&record->was_interrupted, true);
  }
  atomic_store(&record->repeats, repeats);
  return true;
}

bool hkt_waiting_wake(HKTWaiting *w) {
  int signal = waking_signal();
  if (!signal || !may_wake(record_of(w), signal)) return false;
  siginfo_t info = {.si_signo = signal, .si_code = SI_QUEUE};
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = w;
  atomic_store(&w->state, SENT);
  if (syscall(SYS_rt_tgsigqueueinfo, getpid(), w->thread, signal, &info) == 0) return true;
  atomic_store(&w->state, LOOKED_AT);
  return false;
}

// MARK: The record of this thread

static pthread_key_t key;
static bool has_key;
/// For pthread_key_create: the thread ends, and its record may be another's.
static void give_back(void *record) {
  HKTWaiting *w = record;
  own = NULL;
  w->what = NULL;
  hkt_waiting_end(w);
  atomic_store(&w->in_use, 0);
}
static void make_key(void) { has_key = pthread_key_create(&key, give_back) == 0; }

HKTWaiting *hkt_waiting_here(void) {
  if (__builtin_expect(own != NULL, 1)) return own;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_key);
  int saved = errno;
  HKTWaiting *w = NULL;
  for (HKTWaiting *each = atomic_load(&all); each && !w; each = each->next) {
    int32_t none = 0;
    if (atomic_compare_exchange_strong(&each->in_use, &none, 1)) w = each;
  }
  if (!w && (w = make())) atomic_store(&w->in_use, 1);
  if (w) {
    w->thread = (int32_t)syscall(SYS_gettid);
    atomic_store(&w->state, OUTSIDE);
    w->what = NULL;
    if (has_key) pthread_setspecific(key, w);
  }
  own = w;
  errno = saved;
  return w;
}
