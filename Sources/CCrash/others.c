// The other threads of a process that crashed: each is asked by a signal for its stack, and waited for no longer than half a second.
//
// The signal is taken at the crash and not before: the program has all of them until then.
#define _GNU_SOURCE 1
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 64, FRAMES = 32, PATIENCE_NS = 500 * 1000 * 1000 };

static struct {
  int32_t thread;
  _Atomic(int) count;  // of frames; 0: no answer yet, -1: none wanted any more
  CCrashFrame frames[FRAMES];
} answers[THREADS];
static _Atomic(uint32_t) asked;

/// The handler of the asking signal: leaves the thread's frames in its place among the answers. `errno` is as it was.
static void answer(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  int saved = errno;
  int32_t me = (int32_t)syscall(SYS_gettid);
  uint32_t count = atomic_load(&asked);
  for (uint32_t i = 0; i < count; i++) {
    if (answers[i].thread != me || atomic_load(&answers[i].count) != 0) continue;
    CCrashFrame frames[FRAMES];
    int found = ccrash_walk(context, frames, FRAMES, false), none = 0;
    memcpy(answers[i].frames, frames, sizeof frames);
    atomic_compare_exchange_strong(&answers[i].count, &none, found);
    break;
  }
  errno = saved;
}

static int take_signal(void) {
  // Not the topmost ones: by those threads are kept out of code that changes.
  for (int signal = SIGRTMAX - 8; signal > SIGRTMIN; signal--) {
    struct sigaction now, ours = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    if (sigaction(signal, NULL, &now) != 0 || now.sa_sigaction == answer) return now.sa_sigaction == answer ? signal : 0;
    if ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL) continue;
    sigfillset(&ours.sa_mask);
    return sigaction(signal, &ours, NULL) == 0 ? signal : 0;
  }
  return 0;
}

static void ask(int32_t thread, int signal) {
  uint32_t index = atomic_load(&asked);
  answers[index].thread = thread;
  atomic_store(&answers[index].count, 0);
  atomic_store(&asked, index + 1);
  syscall(SYS_tgkill, getpid(), thread, signal);
}

static void ask_all(int32_t me, int signal) {
  struct Entry { uint64_t inode; int64_t offset; uint16_t length; uint8_t type; char name[]; };
  static char entries[4096] __attribute__((aligned(8)));
  int directory = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  long count;
  while ((count = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0)
    for (long at = 0; at < count;) {
      struct Entry *entry = (struct Entry *)(entries + at);
      at += entry->length;
      int32_t thread = 0;
      for (const char *c = entry->name; *c >= '0' && *c <= '9'; c++) thread = thread * 10 + (*c - '0');
      if (thread && thread != me && atomic_load(&asked) < THREADS) ask(thread, signal);
    }
  close(directory);
}

static uint32_t missing(void) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < atomic_load(&asked); i++) count += atomic_load(&answers[i].count) == 0;
  return count;
}

void ccrash_ask_others(void (*visit)(int32_t thread, const CCrashFrame *frames, int count)) {
  int signal = take_signal();
  if (!signal) return;
  atomic_store(&asked, 0);
  ask_all((int32_t)syscall(SYS_gettid), signal);
  for (long waited = 0; missing() && waited < PATIENCE_NS; waited += 1000000) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  for (uint32_t i = 0; i < atomic_load(&asked); i++) {
    int none = 0;
    atomic_compare_exchange_strong(&answers[i].count, &none, -1);
    visit(answers[i].thread, answers[i].frames, none > 0 ? none : 0);
  }
}
