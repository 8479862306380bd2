// Signal handlers of the program, seen when they begin and end.
//
// A handler may interrupt the program while it holds any lock, its allocator's too: hooks that need one must not run then. So the stub
// stands before the functions of the C library that install handlers. The kernel is given ours, which notes that a handler runs and calls
// the program's; whoever asks for the handler gets the program's. A handler that is left by a jump is seen, too: the stub stands before
// `longjmp` and its like.
//
// Nothing of it is done in a process that was not meant, nor for handlers of the host itself.
#define _GNU_SOURCE
#include "program_signals.h"

#include <dlfcn.h>
#include <elf.h>
#include <signal.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

typedef int (*Sigaction)(int, const struct sigaction *, struct sigaction *);
typedef void (*Jump)(struct __jmp_buf_tag *, int) __attribute__((noreturn));

static bool is_on;
/// The program's handlers, by signal. Those of one argument are called with three as well, by the C convention of x86_64.
static _Atomic(void *) handlers[NSIG];
/// The frame of the innermost handler of this thread.
static __thread uint64_t frame __attribute__((tls_model("initial-exec")));
static _Atomic(ProgramSignalBegins) begins;
/// Where the host's library lies. Asking the loader at each call would have `sigaction` wait for its lock, as it does for nobody.
static _Atomic(uint64_t) host_begin, host_end;

/// What lies in a handler's frame, so that one that was left is not taken for one that runs.
static uint64_t mark_of(uint64_t address) { return address ^ UINT64_C(0x9e3779b97f4a7c15); }

static void on_signal(int signal, siginfo_t *info, void *context) {
  void *handler = atomic_load_explicit(&handlers[signal], memory_order_acquire);
  volatile uint64_t mark;
  uint64_t outer = frame;
  mark = mark_of((uint64_t)&mark);
  frame = (uint64_t)&mark;
  ProgramSignalBegins callback = atomic_load_explicit(&begins, memory_order_acquire);
  if (callback) callback();
  // Installed with SA_SIGINFO or without: see `handlers`.
  if (handler) ((void (*)(int, siginfo_t *, void *))handler)(signal, info, context);
  mark = 0;
  frame = outer;
}

EXPORTED uint64_t scripthost_signal_frame(uint64_t stack) {
  uint64_t here = frame;
  if (!here) return 0;
  // On the same stack a handler's calls lie below its frame; where it was left, something else lies there by now.
  bool is_there = *(const volatile uint64_t *)here == mark_of(here);
  if (is_there && (stack < here || stack - here > (UINT64_C(1) << 20))) return here;
  frame = 0;
  return 0;
}

EXPORTED void scripthost_watch_signals(ProgramSignalBegins function) {
  Dl_info info;
  if (dladdr((void *)function, &info)) {
    // A library's own addresses begin at 0.
    uint64_t base = (uint64_t)info.dli_fbase, size = 0;
    const Elf64_Ehdr *header = info.dli_fbase;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
      uint64_t end = segments[i].p_vaddr + segments[i].p_memsz;
      if (segments[i].p_type == PT_LOAD && end > size) size = end;
    }
    atomic_store(&host_end, base + size);
    atomic_store(&host_begin, base);
  }
  atomic_store_explicit(&begins, function, memory_order_release);
}

void program_signals_begin(void) { is_on = true; }

// MARK: What the program calls

static Sigaction next_sigaction(void) {
  static _Atomic(Sigaction) next;
  Sigaction known = atomic_load(&next);
  // dlsym takes no handler's call: the first one comes before any is installed.
  if (!known) atomic_store(&next, known = (Sigaction)dlsym(RTLD_NEXT, "sigaction"));
  return known;
}

static bool is_host(void *handler) {
  uint64_t begin = atomic_load(&host_begin);
  return begin && (uint64_t)handler >= begin && (uint64_t)handler < atomic_load(&host_end);
}

static bool is_handler(const struct sigaction *action) {
  return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN && action->sa_handler != SIG_ERR;
}

/// The flag by which the program's own action is distinguished from ours: ours always has it.
static _Atomic(uint32_t) plain[NSIG];

EXPORTED int sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
  Sigaction next = next_sigaction();
  if (!is_on || signal <= 0 || signal >= NSIG) return next(signal, action, old);
  void *former = atomic_load(&handlers[signal]);
  uint32_t was_plain = atomic_load(&plain[signal]);
  struct sigaction ours;
  bool wraps = action && is_handler(action) && !is_host((void *)action->sa_handler);
  if (wraps) {
    ours = *action;
    ours.sa_sigaction = on_signal;
    ours.sa_flags |= SA_SIGINFO;
    atomic_store(&handlers[signal], (void *)action->sa_handler);
    atomic_store(&plain[signal], !(action->sa_flags & SA_SIGINFO));
  }
  int status = next(signal, wraps ? &ours : action, old);
  if (status != 0 && wraps) {
    atomic_store(&handlers[signal], former);
    atomic_store(&plain[signal], was_plain);
  }
  if (status == 0 && old && (old->sa_flags & SA_SIGINFO) && old->sa_sigaction == on_signal) {
    old->sa_handler = (void (*)(int))former;
    if (was_plain) old->sa_flags &= ~SA_SIGINFO;
  }
  return status;
}

/// As the C library's: the handler stays, and system calls go on.
EXPORTED void (*signal(int number, void (*handler)(int)))(int) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, number);
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

// MARK: Leaving a handler by a jump

static Jump jumps[4];
static const char *const jump_names[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};

static Jump next_jump(int index) {
  if (!jumps[index]) jumps[index] = (Jump)dlsym(RTLD_NEXT, jump_names[index]);
  return jumps[index];
}

void program_signals_prepare(void) {
  next_sigaction();
  for (int i = 0; i < 4; i++) next_jump(i);
}

// Handlers jump out of themselves; one that jumps within itself is taken for left, as it would be without the stub.
#define JUMP(name, index)                                     \
  EXPORTED __attribute__((noreturn)) void name(struct __jmp_buf_tag *to, int value) { \
    frame = 0;                                                \
    next_jump(index)(to, value);                              \
  }
// The C library's header makes the checked form of them: these are the functions themselves.
#undef longjmp
#undef _longjmp
#undef siglongjmp
JUMP(longjmp, 0)
JUMP(_longjmp, 1)
JUMP(siglongjmp, 2)
JUMP(__longjmp_chk, 3)
