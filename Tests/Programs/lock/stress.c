// The lock of Lua states alone: threads that come in bursts and by turns, hold it for nothing or for long, take it again inside,
// are interrupted in the middle, end and are followed by others; children after a fork; systems without barriers.
//
// stress SECONDS SEED | stress CASE. Says what is wrong and ends with 1; with 3 where a case does not apply here.
#define _GNU_SOURCE
#include "shl_lock.h"
#include "shl_thread.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOCKS = 3, THREADS = 6, ROUNDS = 120, BURST = 300, WANTED = 16 };

static _Noreturn void fail(const char *what) {
  char text[200];
  int n = snprintf(text, sizeof text, "stress: %s\n", what);
  ssize_t ignored = write(2, text, (size_t)n);
  (void)ignored;
  _exit(1);
}

// MARK: What a lock protects

typedef struct Guarded {
  SHLLock lock;
  uint64_t inside;       // id of who is, 0: nobody. Plain on purpose, as the rest.
  uint64_t first, last;  // equal outside
} Guarded;
static Guarded guarded[LOCKS];
static _Atomic uint64_t entered[LOCKS], biased, interrupted;

static inline uint64_t draw(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void hold(uint64_t how) {
  switch (how % 64) {
    case 0: sched_yield(); break;
    case 1: if (how >> 6 & 15) for (volatile int i = 0; i < 2000; i++) {} else usleep(300); break;
    default: for (volatile int i = 0; i < (int)(how >> 6 & 31); i++) {} break;
  }
}

/// What the holder does; nobody else may be at it.
static void work(Guarded *g, uint64_t how) {
  uint64_t me = shl_thread_id();
  if (g->inside) fail("two threads hold it");
  if (g->first != g->last) fail("what the last holder did was not seen");
  if (!shl_lock_is_mine(&g->lock)) fail("the holder is not its owner");
  g->inside = me;
  g->first++;
  hold(how);
  if (how >> 20 & 1) {
    if (!shl_lock_take(&g->lock, 1)) fail("not taken again by its holder");
    if (g->lock.depth != 2) fail("a second level is not counted");
    shl_lock_give(&g->lock);
  }
  if (g->inside != me) fail("two threads held it");
  if (g->lock.through) atomic_fetch_add(&biased, 1);
  else if (g->lock.wanted > WANTED) g->lock.wanted = WANTED;  // soon again, where a state would wait for thousands of calls
  g->last++;
  g->inside = 0;
}

static bool enter(int i, int64_t wait, uint64_t how) {
  Guarded *g = &guarded[i];
  if (!shl_lock_take(&g->lock, wait)) return false;
  work(g, how);
  shl_lock_give(&g->lock);
  atomic_fetch_add(&entered[i], 1);
  return true;
}

/// Comes at any moment: the lock may be held, half taken, or half given by this very thread.
static void on_signal(int number) {
  (void)number;
  int saved = errno;
  Guarded *g = &guarded[SHL_READ(interrupted) % LOCKS];
  if (shl_lock_take(&g->lock, SHL_READ(interrupted) & 1 ? 1 : 20000)) {
    if (g->lock.depth == 1) {
      work(g, 0);
      atomic_fetch_add(&entered[g - guarded], 1);
    } else if (g->inside && g->inside != shl_thread_id()) {
      fail("a signal handler took the lock of another thread for its own");
    }
    shl_lock_give(&g->lock);
  }
  atomic_fetch_add(&interrupted, 1);
  errno = saved;
}

// MARK: Threads

static void *come_and_go(void *argument) {
  uint64_t state = (uint64_t)(uintptr_t)argument * 0x9E3779B97F4A7C15u | 1;
  for (int round = 0; round < ROUNDS; round++) {
    int i = (int)(draw(&state) % LOCKS);
    uint64_t kind = draw(&state) % 8;
    bool burst = kind < 4;
    int64_t wait = kind == 6 ? 1 : kind == 7 ? 50000 : -1;
    for (int n = burst ? BURST : 3; n > 0; n--) enter(i, wait, draw(&state) | (burst ? 2 : 0));
    if (kind > 4) usleep((useconds_t)(draw(&state) % 500));
  }
  return NULL;
}

/// New locks and new threads, more than a lock has places for, interrupted all the while.
static void one_round(uint64_t *state) {
  pthread_t threads[THREADS];
  memset(guarded, 0, sizeof guarded);
  for (int i = 0; i < LOCKS; i++) {
    shl_lock_make(&guarded[i].lock);
    guarded[i].lock.wanted = WANTED;
    atomic_store(&entered[i], 0);
  }
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, come_and_go, (void *)(uintptr_t)draw(state)) != 0) fail("no thread");
  for (int n = 0; n < 40; n++) {
    usleep(200);
    pthread_kill(threads[draw(state) % THREADS], SIGUSR1);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < LOCKS; i++)
    if (guarded[i].last != atomic_load(&entered[i])) fail("not every entry was seen");
}

static bool barriers(void) {
#if __has_feature(thread_sanitizer)
  return false;
#else
  return syscall(SYS_membarrier, 0 /* query */, 0, 0) >= 0 && syscall(SYS_membarrier, 1 << 3 /* private, expedited */, 0, 0) == 0;
#endif
}

static void stress(int seconds, uint64_t seed) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  uint64_t state = seed * 0x9E3779B97F4A7C15u | 1, rounds = 0, taken_away = 0, all = 0;
  for (int64_t end = shl_now() + seconds * 1000000000ll; shl_now() < end; rounds++) {
    one_round(&state);
    for (int i = 0; i < LOCKS; i++) taken_away += guarded[i].lock.taken_away, all += guarded[i].last;
  }
  printf("%llu rounds, %llu entries, %llu of them by a bias, %llu biases taken away, %llu signals\n", (unsigned long long)rounds,
         (unsigned long long)all, (unsigned long long)biased, (unsigned long long)taken_away, (unsigned long long)interrupted);
  if (barriers() != (biased > 0)) fail(biased ? "biased without barriers" : "never biased");
  if (biased && !taken_away) fail("no bias was taken away");
}

// MARK: One thread that has the bias, and others

static Guarded one;
static _Atomic int step;

static void reach(int n) { atomic_store(&step, n); }
static void await(int n) { while (atomic_load(&step) < n) usleep(100); }

static void become_biased(void) {
  shl_lock_make(&one.lock);
  for (int i = 0; i < 2000; i++) {
    shl_lock_take(&one.lock, -1);
    shl_lock_give(&one.lock);
  }
  if (!barriers()) exit(3);
  if (one.lock.bias == &shl_nobody) fail("not biased");
}

static void *has_bias_outside(void *unused) {
  become_biased();
  reach(1);
  await(2);
  return unused;
}

static void *has_bias_inside(void *unused) {
  become_biased();
  shl_lock_take(&one.lock, -1);
  if (!one.lock.through) fail("not taken by the bias");
  reach(1);
  await(2);
  shl_lock_give(&one.lock);
  return unused;
}

static void *takes(void *wait) { return (void *)(uintptr_t)shl_lock_take(&one.lock, (int64_t)(intptr_t)wait); }

static bool another_takes(int64_t wait) {
  pthread_t thread;
  void *taken;
  pthread_create(&thread, NULL, takes, (void *)(intptr_t)wait);
  pthread_join(thread, &taken);
  return taken != NULL;
}

/// In a child, whose other threads are gone; the next one may have the place of one of them.
static void in_child(void (*check)(void)) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    check();
    _exit(0);
  }
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) fail("the child ended otherwise");
}

static void is_free_once(void) {
  if (!another_takes(2000000000)) fail("the lock of a thread that is gone was not free");
  if (takes((void *)20000000)) fail("taken twice");
}
static void is_held(void) {
  if (another_takes(20000000)) fail("a thread took the lock that one that is gone has held");
  if (takes((void *)20000000)) fail("the forking thread took the lock that one that is gone has held");
}
static void is_mine(void) {
  if (!takes((void *)1) || !one.lock.through) fail("the bias of the forking thread was lost");
  if (another_takes(20000000)) fail("taken twice");
  shl_lock_give(&one.lock);
  if (!another_takes(2000000000)) fail("not given back");
}

/// As a program that closes itself in: a system call is refused from now on.
static void refuse(long number) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) exit(3);
}

static void with_another(void *(*other)(void *), void (*check)(void)) {
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  await(1);
  check();
  reach(2);
  pthread_join(thread, NULL);
}

static void forks_outside(void) { in_child(is_free_once); }
static void forks_inside(void) { in_child(is_held); }
static void is_waited_for(void) {
  if (takes((void *)1) || takes((void *)5000000)) fail("taken while another thread is inside");
  reach(2);
  if (!takes((void *)2000000000)) fail("not free in time");
  shl_lock_give(&one.lock);
}
static void closed_in(void) {
  refuse(SYS_membarrier);
  is_free_once();
}
static void poisoned(void) {
  atomic_store(&one.lock.poisoned, 1);
  if (takes((void *)-1)) fail("taken while another thread is inside");
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (argc > 2) {
    // A third word: on a system without barriers.
    if (argc > 3) refuse(SYS_membarrier);
    stress(atoi(name), strtoull(argv[2], NULL, 10));
  } else if (strcmp(name, "fork-outside") == 0) with_another(has_bias_outside, forks_outside);
  else if (strcmp(name, "fork-inside") == 0) with_another(has_bias_inside, forks_inside);
  else if (strcmp(name, "fork-own") == 0) become_biased(), in_child(is_mine);
  else if (strcmp(name, "wait") == 0) with_another(has_bias_inside, is_waited_for);
  else if (strcmp(name, "closed-in") == 0) with_another(has_bias_outside, closed_in);
  else if (strcmp(name, "poisoned") == 0) with_another(has_bias_inside, poisoned);
  else fail("unknown case");
  return 0;
}
