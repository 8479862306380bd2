// Signals that end a process by default, held back while a thread of ours says what is left to say.
#define _GNU_SOURCE 1
#include "CCrashEndings.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static const int held[] = {SIGINT, SIGTERM, SIGHUP};
enum { HELD = sizeof held / sizeof *held };

static sem_t arrived;
static _Atomic(int) which;
/// Who has a thread that waits; forked children have none.
static pid_t owner;

static void end_now(int signal) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(signal, &standard, NULL);
  kill(getpid(), signal);
}

static void on_ending(int signal) {
  int saved = errno;
  int none = 0;
  if (getpid() != owner) {
    end_now(signal);
  } else if (atomic_compare_exchange_strong(&which, &none, signal)) {
    sem_post(&arrived);
    // The program does not go on as if the call that was interrupted had ended; it is ended from the other thread.
    struct timespec moment = {.tv_nsec = 5000000};
    for (int i = 0; i < 100; i++) nanosleep(&moment, NULL);
  }
  errno = saved;
}

void ccrash_prepare_endings(void) {
  owner = getpid();
  sem_init(&arrived, 0, 0);
}

void ccrash_hold_endings(void) {
  for (int i = 0; i < HELD; i++) {
    struct sigaction now, ours = {.sa_handler = on_ending, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    if (sigaction(held[i], NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL) continue;
    sigaction(held[i], &ours, NULL);
  }
}

int ccrash_await_ending(uint64_t nanoseconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  if (nanoseconds != UINT64_MAX) {
    until.tv_sec += (time_t)(nanoseconds / 1000000000);
    until.tv_nsec += (long)(nanoseconds % 1000000000);
    if (until.tv_nsec >= 1000000000) { until.tv_sec++; until.tv_nsec -= 1000000000; }
  }
  for (;;) {
    int status = nanoseconds == UINT64_MAX ? sem_wait(&arrived) : sem_clockwait(&arrived, CLOCK_MONOTONIC, &until);
    if (status == 0) return atomic_load(&which);
    if (errno == ETIMEDOUT) return 0;
  }
}

void ccrash_end_by(int signal) {
  end_now(signal);
  // Some thread takes it; this one has nothing more to do.
  for (;;) pause();
}
