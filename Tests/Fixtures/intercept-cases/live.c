// Changing code while threads run it.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// MARK: Subjects

static const struct {
  char *body, *end;
} subjects[] = {{w_plain, w_plain_end}, {w_pushes, w_pushes_end}, {w_frame, w_frame_end}, {w_load, w_load_end}, {w_call, w_call_end}};
#define SUBJECTS 5

static long expected(int subject, long a, long b) {
  switch (subject) {
    case 0: return a * b + 3;
    case 1: return a + 2 * b;
    case 2: return a - b;
    case 3: return 77 + a;
    default: return (long)(w_call + 6);  // the original return address
  }
}

static atomic_bool stop;
static atomic_long errors, calls;

static void *call_all(void *mask) {
  if (mask) pthread_sigmask(SIG_SETMASK, mask, NULL);
  long n = 0, wrong = 0;
  while (!atomic_load_explicit(&stop, memory_order_relaxed))
    for (int i = 0; i < SUBJECTS; i++, n++) {
      long a = n & 63, b = (n >> 6) & 63;
      wrong += ((Two volatile)(Two)subjects[i].body)(a, b) != expected(i, a, b);
    }
  errors += wrong;
  calls += n;
  return NULL;
}

static void make_sites(HKTSite **sites) {
  for (int i = 0; i < SUBJECTS; i++) {
    sites[i] = prepared(subjects[i].body, (size_t)(subjects[i].end - subjects[i].body));
    sites[i]->handler = i & 1 ? call_through : pass;
  }
}

/// What dispatch workers block: all but the processor's signals, SIGPIPE, SIGPROF and SIGSYS.
static sigset_t worker_mask(void) {
  sigset_t m;
  sigfillset(&m);
  static const int open[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGPROF, SIGSYS};
  for (size_t i = 0; i < sizeof open / sizeof *open; i++) sigdelset(&m, open[i]);
  return m;
}

void stress(double seconds, long cycles) {
  HKTSite *sites[SUBJECTS];
  make_sites(sites);
  pthread_t threads[4];
  sigset_t worker = worker_mask();
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, call_all, i & 1 ? &worker : NULL);
  HKTRefusal r;
  HKTTransactionReport report;
  long done = 0, moved = 0;
  double worst = 0, start = now(), total = 0;
  while (now() - start < seconds || done < cycles) {
    for (int i = 0; i < SUBJECTS; i++) (done >> i & 1 ? hkt_enable : hkt_disable)(sites[i]);
    CHECK(hkt_install(sites, SUBJECTS, &r, &report), "install: reason %d, errno %d, thread %d %s", r.reason, r.error, r.thread, r.thread_name);
    moved += report.counters_moved;
    total += (double)report.nanoseconds;
    if ((double)report.nanoseconds > worst) worst = (double)report.nanoseconds;
    CHECK(hkt_unpatch(sites, SUBJECTS, &r, &report), "unpatch: reason %d, errno %d", r.reason, r.error);
    done++;
  }
  stop = true;
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("stress: %.1f s, %ld cycles of 5 sites, %ld calls, %ld handled, %ld wrong, %ld counters moved, %u traps, install %.2f ms on average, %.2f ms at worst\n",
         now() - start, done, calls, handled, errors, moved, report.traps, total / (double)done / 1e6, worst / 1e6);
  CHECK(errors == 0);
}

// MARK: Threads that come and go

static void *short_life(void *unused) {
  (void)unused;
  for (int i = 0; i < 200; i++) errors += ((Two volatile)(Two)w_plain)(i, 3) != expected(0, i, 3);
  return NULL;
}

static void *make_threads(void *unused) {
  (void)unused;
  while (!stop) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&t[i], NULL, short_life, NULL) == 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    calls += 4;
  }
  return NULL;
}

void threads_come_and_go(void) {
  HKTSite *site = prepared(w_plain, SIZE(w_plain));
  hkt_enable(site);
  pthread_t makers[2];
  for (int i = 0; i < 2; i++) pthread_create(&makers[i], NULL, make_threads, NULL);
  double start = now();
  int cycles = 0;
  for (; now() - start < 0.7; cycles++) {
    installed(site);
    taken_out(site);
  }
  stop = true;
  for (int i = 0; i < 2; i++) pthread_join(makers[i], NULL);
  CHECK(errors == 0);
  printf("threads: %d cycles while %ld threads lived and died\n", cycles, calls);
}

// MARK: Sleepers

static atomic_int interrupted, asleep;

static void *sleep_once(void *how) {
  // Longer than a busy machine takes for the change.
  struct timespec t = {.tv_sec = 3};
  asleep++;
  // Neither is ever restarted after a signal.
  if ((how ? ppoll(NULL, 0, &t, NULL) : nanosleep(&t, NULL)) != 0) interrupted++;
  return NULL;
}

void sleepers_are_left_alone(void) {
  HKTSite *site = prepared(w_plain, SIZE(w_plain));
  pthread_t threads[8];
  for (long i = 0; i < 8; i++) pthread_create(&threads[i], NULL, sleep_once, (void *)(i & 1));
  while (asleep < 8) usleep(1000);
  usleep(300000);
  HKTTransactionReport report = installed(site);
  CHECK(report.live && report.threads_asleep == 8 && report.threads_signaled == 0, "%u asleep, %u signaled", report.threads_asleep,
        report.threads_signaled);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  CHECK(interrupted == 0, "%d system calls were interrupted", interrupted);
}

// MARK: Masks

static atomic_bool leave;
static atomic_int ready;

static void *spin_with(void *mask) {
  pthread_sigmask(SIG_SETMASK, mask, NULL);
  pthread_setname_np(pthread_self(), "spinner");
  ready = 1;
  while (!leave) __builtin_ia32_pause();
  return NULL;
}

static pthread_t spinner(sigset_t *mask) {
  pthread_t t;
  leave = false;
  ready = 0;
  pthread_create(&t, NULL, spin_with, mask);
  while (!ready) usleep(100);
  return t;
}

void masks_of_every_kind(void) {
  HKTSite *site = prepared(w_plain, SIZE(w_plain));
  HKTRefusal r;
  uint8_t before[8];
  memcpy(before, w_plain, 8);
  hkt_set_rendezvous_timeout(100);

  // A worker's mask: reached through SIGSYS.
  sigset_t mask = worker_mask();
  pthread_t t = spinner(&mask);
  CHECK(installed(site).threads_signaled == 1);
  taken_out(site);
  leave = true;
  pthread_join(t, NULL);

  // Everything but SIGTRAP blocked, and never asleep: it cannot be asked, so nothing changes.
  sigfillset(&mask);
  sigdelset(&mask, SIGTRAP);
  t = spinner(&mask);
  CHECK(!hkt_install(&site, 1, &r, NULL) && r.reason == HKT_THREAD_SILENT, "reason %d", r.reason);
  CHECK(strcmp(r.thread_name, "spinner") == 0 && r.thread > 0, "'%s'", r.thread_name);
  CHECK(memcmp(before, w_plain, 8) == 0 && !hkt_is_installed(site));
  CHECK(((Two)w_plain)(4, 5) == 23);
  leave = true;
  pthread_join(t, NULL);

  // SIGTRAP blocked: a breakpoint would kill the thread.
  sigfillset(&mask);
  t = spinner(&mask);
  CHECK(!hkt_install(&site, 1, &r, NULL) && r.reason == HKT_THREAD_BLOCKS_TRAP, "reason %d", r.reason);
  CHECK(strcmp(r.thread_name, "spinner") == 0);
  CHECK(memcmp(before, w_plain, 8) == 0);
  leave = true;
  pthread_join(t, NULL);

  // And afterwards everything works.
  sigemptyset(&mask);
  t = spinner(&mask);
  CHECK(installed(site).live);
  hkt_enable(site);
  CHECK(((Two)w_plain)(4, 5) == 23 && handled == 1);
  leave = true;
  pthread_join(t, NULL);
}

// MARK: Signals while signals are handled

static atomic_long ticks;
static void on_tick(int signal) {
  (void)signal;
  long tick = ++ticks & 7;
  for (int i = 0; i < 2000; i++) __builtin_ia32_pause();  // long enough to be met inside
  errors += ((Two volatile)(Two)w_pushes)(tick, 3) != expected(1, tick, 3);
}

void profiler_signals(void) {
  struct sigaction a = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &a, NULL);
  struct itimerval often = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &often, NULL);
  stress(1, 0);
  CHECK(ticks > 50, "%ld ticks", ticks);
}
