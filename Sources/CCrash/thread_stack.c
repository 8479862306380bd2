// Stacks of other threads. The walk goes by frame pointers, which Swift code keeps; where a function that keeps none is innermost, the
// first frame record above the stack pointer is looked for. All memory is read through the kernel: it may be gone.
#define _GNU_SOURCE 1
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// MARK: The walk

/// Bytes that could be read, from the lowest address on.
static size_t read_memory(uint64_t address, void *to, size_t count) {
  struct iovec local = {to, count}, remote = {(void *)address, count};
  ssize_t done = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  return done > 0 ? (size_t)done : 0;
}

typedef struct Record {
  uint64_t next, return_to;
} Record;

/// Frame records lie at multiples of 16, by the calling convention.
static bool may_follow(uint64_t record, uint64_t next) {
  return next > record && next - record < CCRASH_LONGEST_FRAME && (next & 15) == 0;
}

/// Reads the frame record at `at`: the caller's one and the return address. false: it cannot be read, or that is no address of code.
static bool read_record(uint64_t at, Record *record) {
  if (read_memory(at, record, sizeof *record) != sizeof *record) return false;
  record->next &= ~(1ull << 60);  // the mark of an async frame
  return record->return_to > 4096 && record->return_to < 1ull << 47;
}

/// The first record among the words that leads to another one.
static uint64_t find_record(const CCrashThreadStack *s) {
  for (uint32_t i = (s->stack & 8) != 0; i + 1 < s->word_count; i += 2) {
    uint64_t at = s->stack + 8 * i, next = s->words[i], back = s->words[i + 1];
    Record second;
    bool is_code = back > 4096 && back < 1ull << 47 && (back < s->stack || back - s->stack > CCRASH_LONGEST_FRAME);
    if (is_code && may_follow(at, next) && read_record(next, &second) && (second.next == 0 || may_follow(next, second.next))) return at;
  }
  return 0;
}

/// Fills in the words at the thread's stack pointer and its frame records, innermost first. On that thread, in the signal handler.
static void walk(CCrashThreadStack *s) {
  s->word_count = (uint32_t)(read_memory(s->stack, s->words, sizeof s->words) / 8);
  uint64_t at = s->frame;
  Record record;
  if (!at || (at & 15) || at < s->stack - 16 || at - (s->stack - 16) > CCRASH_LONGEST_FRAME || !read_record(at, &record)) at = find_record(s);
  s->record_count = 0;
  while (at && s->record_count < CCRASH_STACK_RECORDS && read_record(at, &record)) {
    s->record_at[s->record_count] = at;
    s->return_to[s->record_count++] = record.return_to;
    at = may_follow(at, record.next) ? record.next : 0;
  }
}

// MARK: A thread that runs

enum { IDLE, ASKED, ANSWERING, ANSWERED };
/// A signal of faults, sent with the question's address: dispatch workers, and with them Swift's tasks, block all others that somebody
/// handles. Unlike a trap, a fault that a pending question keeps from being reported happens again when the question is answered.
static const int asking_signal = SIGFPE;
/// One question at a time, to one thread.
static struct {
  _Atomic(uint32_t) state;
  _Atomic(int32_t) thread;
  CCrashThreadStack stack;
} question;

bool ccrash_answer(int signal, const siginfo_t *info, const void *context) {
  if (signal != asking_signal || info->si_code != SI_QUEUE || info->si_pid != getpid() || info->si_value.sival_ptr != &question) return false;
  uint32_t asked = ASKED;
  if (syscall(SYS_gettid) == atomic_load(&question.thread) && atomic_compare_exchange_strong(&question.state, &asked, ANSWERING)) {
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    question.stack.counter = (uint64_t)registers[REG_RIP];
    question.stack.stack = (uint64_t)registers[REG_RSP];
    question.stack.frame = (uint64_t)registers[REG_RBP];
    question.stack.is_asleep = 0;
    question.stack.system_call = UINT32_MAX;
    walk(&question.stack);
    atomic_store(&question.state, ANSWERED);
  }
  return true;
}

bool ccrash_stacks_can_be_asked(void) { return ccrash_owns(asking_signal); }

/// Has the thread leave its stack in `stack`, and waits for it, 0.1 s at most until it begins. false: it did not answer. One asks at a time.
static bool ask(int32_t thread, CCrashThreadStack *stack) {
  if (!ccrash_stacks_can_be_asked()) return false;
  atomic_store(&question.thread, thread);
  atomic_store(&question.state, ASKED);
  siginfo_t info = {.si_signo = asking_signal, .si_code = SI_QUEUE};
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = &question;
  bool is_sent = syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, asking_signal, &info) == 0;
  for (int i = 0; is_sent && i < 2000 && atomic_load(&question.state) != ANSWERED; i++) nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
  uint32_t asked = ASKED;
  if (atomic_compare_exchange_strong(&question.state, &asked, IDLE)) return false;
  // It has begun to answer, which does not wait for anything.
  while (atomic_load(&question.state) != ANSWERED) nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
  *stack = question.stack;
  atomic_store(&question.state, IDLE);
  return true;
}

// MARK: A thread that sleeps

/// What the kernel tells of a thread's system call; nothing while it runs.
static bool read_system_call(int32_t thread, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, text, size - 1);
  close(fd);
  text[n > 0 ? n : 0] = 0;
  return n > 0;
}

int32_t ccrash_thread_system_call(int32_t thread) {
  char text[256];
  return read_system_call(thread, text, sizeof text) && text[0] >= '0' && text[0] <= '9' ? (int32_t)strtol(text, NULL, 10) : -1;
}

bool ccrash_thread_stack(int32_t thread, CCrashThreadStack *stack) {
  char text[256];
  if (!read_system_call(thread, text, sizeof text)) return false;
  // "running", or "NUMBER ARGUMENTS… STACK COUNTER", or "-1 STACK COUNTER"
  char *last = strrchr(text, ' ');
  if (!last) return ask(thread, stack);
  stack->counter = strtoull(last + 1, NULL, 16);
  *last = 0;
  char *before = strrchr(text, ' ');
  stack->stack = before ? strtoull(before + 1, NULL, 16) : 0;
  stack->frame = 0;
  stack->is_asleep = 1;
  stack->system_call = text[0] == '-' ? UINT32_MAX : (uint32_t)strtoul(text, NULL, 10);
  if (!stack->counter || !stack->stack) return ask(thread, stack);
  walk(stack);
  return true;
}
