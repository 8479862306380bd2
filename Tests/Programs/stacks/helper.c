#define _GNU_SOURCE 1
#include "helper.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

static Counted thread_body;
static void *run(void *number) { return (void *)thread_body((int64_t)number); }

int64_t on_threads(Counted body, int threads, long stack) {
  pthread_t all[64];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, (size_t)stack) != 0) abort();
  thread_body = body;
  int64_t sum = 0;
  for (int i = 0; i < threads; i++)
    if (pthread_create(&all[i], &attributes, run, (void *)(intptr_t)i) != 0) abort();
  for (int i = 0; i < threads; i++) {
    void *result;
    pthread_join(all[i], &result);
    sum += (int64_t)result;
  }
  return sum;
}

static Counted signal_body;
static volatile int64_t answer;
static void on_signal(int number) { answer = signal_body(number); }

int64_t in_signal(Counted body, long stack, int times) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  signal_body = body;
  if (stack) {
    // In the middle of the heap, so that what is written below it is somebody's.
    stack_t own = {.ss_sp = malloc((size_t)stack), .ss_size = (size_t)stack};
    sigaltstack(&own, NULL);
    action.sa_flags = SA_ONSTACK;
  }
  sigaction(SIGUSR1, &action, NULL);
  struct sigaction found;
  sigaction(SIGUSR1, NULL, &found);
  if (found.sa_handler != on_signal || found.sa_flags & SA_SIGINFO) abort();
  for (int i = 0; i < times; i++) raise(SIGUSR1);
  if (stack) {
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
  }
  return answer;
}

static const Counted *alarm_bodies;
static int alarm_count;
static volatile int64_t alarmed;
static void on_alarm_signal(int number) {
  (void)number;
  alarm_bodies[alarmed % alarm_count](alarmed);
  alarmed++;
}
void on_alarm(const Counted *bodies, int count, int microseconds) {
  alarm_bodies = bodies;
  alarm_count = count;
  if (microseconds) signal(SIGALRM, on_alarm_signal);
  struct itimerval time = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &time, NULL);
}
int64_t alarms(void) { return alarmed; }

static sigjmp_buf way_out;
static void leave(int number) {
  signal_body(number);
  siglongjmp(way_out, 1);
}
void out_of_signal(Counted body, int times) {
  signal_body = body;
  signal(SIGUSR2, leave);
  for (volatile int i = 0; i < times; i++)
    if (!sigsetjmp(way_out, 1)) raise(SIGUSR2);
}

static volatile int64_t of_cancelled;
static void *run_cancelled(void *body) {
  pthread_cancel(pthread_self());
  of_cancelled = ((Counted)body)(3);
  pthread_testcancel();
  return NULL;
}
int64_t cancelled(Counted body) {
  pthread_t thread;
  void *result;
  of_cancelled = -1;
  if (pthread_create(&thread, NULL, run_cancelled, (void *)body) != 0) abort();
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED ? of_cancelled : -2;
}
