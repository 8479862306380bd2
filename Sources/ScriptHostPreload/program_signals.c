// Signal handlers of the program, seen when they begin and end.
//
// A handler may interrupt the program while it holds any lock, its allocator's too: hooks that need one must not run then. So the stub
// stands before the functions of the C library that install handlers. The kernel is given ours, which notes that a handler runs and calls
// the program's; whoever asks for the handler gets the program's. A handler that is left by a jump is seen, too: the stub stands before
// `longjmp` and its like.
//
// A fault whose signal is blocked, or has its default action again, ends the process in the kernel: no handler can report it. So once the
// host asks for it, the host's action stands in for the default one, and the signals of faults are never blocked in fact: what is blocked
// otherwise is so only for those that somebody sends, which are held back (`scripthost_blocked_signal`). Whoever asks for action or mask gets
// what the program has set.
//
// Nothing of it is done in a process that was not meant, nor for what the host itself calls.
#define _GNU_SOURCE
#include "program_signals.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef int (*Sigaction)(int, const struct sigaction *, struct sigaction *);
typedef int (*Mask)(int, const sigset_t *, sigset_t *);
typedef void (*Jump)(struct __jmp_buf_tag *, int) __attribute__((noreturn));

static bool is_on;
/// The program's handlers, by signal. Those of one argument are called with three as well, by the C convention of x86_64.
static _Atomic(void *) handlers[NSIG];
/// The frame of the innermost handler of this thread.
static __thread uint64_t frame __attribute__((tls_model("initial-exec")));
static _Atomic(ProgramSignalBegins) begins;
/// Where the host's library lies. Asking the loader at each call would have `sigaction` wait for its lock, as it does for nobody.
static _Atomic(uint64_t) host_begin, host_end;
/// What the host puts in the place of a default action.
static _Atomic(ProgramSignalStandIn) stand_in;

/// The signals of faults, as bits of a mask.
static const uint64_t faults = UINT64_C(1) << (SIGILL - 1) | UINT64_C(1) << (SIGTRAP - 1) | UINT64_C(1) << (SIGBUS - 1) |
                               UINT64_C(1) << (SIGFPE - 1) | UINT64_C(1) << (SIGSEGV - 1);
/// Those that this thread has blocked, as the program sees it.
static __thread uint64_t blocked __attribute__((tls_model("initial-exec")));
/// Those that come to this thread only where it faults: a thread of the host, of which the program knows nothing.
static __thread uint64_t not_sent __attribute__((tls_model("initial-exec")));
/// The program has made threads.
static _Atomic(bool) has_threads;
/// Those that were taken out of the masks of the program's actions, by signal, and whether the action is for one time.
static _Atomic(uint64_t) taken_out[NSIG];
static _Atomic(bool) is_for_once[NSIG];
static Sigaction next_sigaction(void);
static bool is_host(void *code);
static const struct sigaction *in_place_of(int signal, void (*own)(int));
EXPORTED int scripthost_blocked_signal(int signal, siginfo_t *info, void *context);

/// What lies in a handler's frame, so that one that was left is not taken for one that runs.
static uint64_t mark_of(uint64_t address) { return address ^ UINT64_C(0x9e3779b97f4a7c15); }

static void on_signal(int signal, siginfo_t *info, void *context) {
  const struct sigaction *ours = in_place_of(signal, SIG_DFL);
  int becomes = scripthost_blocked_signal(signal, info, context);
  if (becomes == PROGRAM_SIGNAL_WAITS) return;
  // The kernel does not ask the handler of a fault that is blocked.
  if (becomes == PROGRAM_SIGNAL_ENDS && ours) return ours->sa_sigaction(signal, info, context);
  void *handler = atomic_load_explicit(&handlers[signal], memory_order_acquire);
  volatile uint64_t mark;
  uint64_t outer = frame, was_blocked = blocked;
  mark = mark_of((uint64_t)&mark);
  frame = (uint64_t)&mark;
  blocked |= atomic_load(&taken_out[signal]);
  // The kernel has set the default action for the next time.
  if (ours && atomic_load(&is_for_once[signal])) next_sigaction()(signal, ours, NULL);
  ProgramSignalBegins callback = atomic_load_explicit(&begins, memory_order_acquire);
  if (callback) callback();
  // Installed with SA_SIGINFO or without: see `handlers`.
  if (handler) ((void (*)(int, siginfo_t *, void *))handler)(signal, info, context);
  mark = 0;
  frame = outer;
  blocked = was_blocked;
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

EXPORTED void scripthost_watch_faults(ProgramSignalStandIn function) { atomic_store_explicit(&stand_in, function, memory_order_release); }

void program_signals_begin(void) { is_on = true; }
uint64_t program_signals_blocked(void) { return blocked; }
void program_signals_inherit(uint64_t signals, void *function) {
  if (is_host(function)) {
    not_sent = faults;
    return;
  }
  blocked = signals;
  atomic_store(&has_threads, true);
}

// MARK: What the program calls

static Sigaction next_sigaction(void) {
  static _Atomic(Sigaction) next;
  Sigaction known = atomic_load(&next);
  // dlsym takes no handler's call: the first one comes before any is installed.
  if (!known) atomic_store(&next, known = (Sigaction)dlsym(RTLD_NEXT, "sigaction"));
  return known;
}

static bool is_host(void *code) {
  uint64_t begin = atomic_load(&host_begin);
  return begin && (uint64_t)code >= begin && (uint64_t)code < atomic_load(&host_end);
}

static bool is_handler(const struct sigaction *action) {
  return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN && action->sa_handler != SIG_ERR;
}

/// The flag by which the program's own action is distinguished from ours: ours always has it.
static _Atomic(bool) plain[NSIG];

/// The host's action in the place of SIG_DFL or SIG_IGN; NULL: there is none.
static const struct sigaction *in_place_of(int signal, void (*own)(int)) {
  ProgramSignalStandIn function = atomic_load_explicit(&stand_in, memory_order_acquire);
  return function && (own == SIG_DFL || own == SIG_IGN) ? function(signal, own == SIG_IGN) : NULL;
}

/// What the program has set of an action.
typedef struct Own {
  void *handler;
  uint64_t taken_out;
  bool is_plain, is_for_once;
} Own;

static Own own_of(int signal) {
  return (Own){atomic_load(&handlers[signal]), atomic_load(&taken_out[signal]), atomic_load(&plain[signal]), atomic_load(&is_for_once[signal])};
}

static void set_own(int signal, Own own) {
  atomic_store(&handlers[signal], own.handler);
  atomic_store(&taken_out[signal], own.taken_out);
  atomic_store(&plain[signal], own.is_plain);
  atomic_store(&is_for_once[signal], own.is_for_once);
}

/// Where the kernel has ours, the program's own.
static void tell_own(int signal, struct sigaction *action, Own own, bool by_host) {
  if (!(action->sa_flags & SA_SIGINFO)) return;
  if (action->sa_sigaction == on_signal) {
    action->sa_handler = (void (*)(int))own.handler;
    if (own.is_plain) action->sa_flags &= ~SA_SIGINFO;
    action->sa_mask.__val[0] |= own.taken_out;
  }
  void (*const without[])(int) = {SIG_DFL, SIG_IGN};
  for (int i = 0; i < 2 && !by_host; i++) {
    const struct sigaction *ours = in_place_of(signal, without[i]);
    if (ours && action->sa_sigaction == ours->sa_sigaction) *action = (struct sigaction){.sa_handler = without[i]};
  }
}

static int set_action(int signal, const struct sigaction *action, struct sigaction *old, bool by_host) {
  Sigaction next = next_sigaction();
  if (!is_on || signal <= 0 || signal >= NSIG) return next(signal, action, old);
  Own former = own_of(signal);
  struct sigaction ours;
  bool wraps = action && is_handler(action) && !is_host((void *)action->sa_handler);
  if (wraps) {
    ours = *action;
    ours.sa_sigaction = on_signal;
    ours.sa_flags |= SA_SIGINFO;
    Own own = {(void *)action->sa_handler, 0, !(action->sa_flags & SA_SIGINFO), (action->sa_flags & (int)SA_RESETHAND) != 0};
    // A fault in the handler of another signal is reported as any; in that of a fault it would be met again for ever.
    if (atomic_load(&stand_in) && !(faults & UINT64_C(1) << (signal - 1))) own.taken_out = ours.sa_mask.__val[0] & faults;
    ours.sa_mask.__val[0] &= ~own.taken_out;
    set_own(signal, own);
  }
  const struct sigaction *stands_in = action && !by_host ? in_place_of(signal, action->sa_handler) : NULL;
  int status = next(signal, wraps ? &ours : stands_in ? stands_in : action, old);
  if (status != 0 && wraps) set_own(signal, former);
  if (status == 0 && old) tell_own(signal, old, former, by_host);
  return status;
}

EXPORTED int sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
  return set_action(signal, action, old, is_host(__builtin_return_address(0)));
}

/// As the C library's: the handler stays, and system calls go on.
EXPORTED void (*signal(int number, void (*handler)(int)))(int) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, number);
  return set_action(number, &action, &old, is_host(__builtin_return_address(0))) == 0 ? old.sa_handler : SIG_ERR;
}

// MARK: Masks

/// The C library's `pthread_sigmask`, which answers an errno.
static Mask next_mask(void) {
  static _Atomic(Mask) next;
  Mask known = atomic_load(&next);
  if (!known) atomic_store(&next, known = (Mask)dlsym(RTLD_NEXT, "pthread_sigmask"));
  return known;
}

static int set_mask(int how, const sigset_t *set, sigset_t *old, bool by_host) {
  if (!is_on || by_host || !atomic_load_explicit(&stand_in, memory_order_acquire)) return next_mask()(how, set, old);
  uint64_t was = blocked, asked = set ? set->__val[0] & faults : 0;
  sigset_t others;
  if (set) {
    // What somebody sent and is held back is blocked in fact: taking it out of the mask as well lets it come.
    others = *set;
    if (how != SIG_UNBLOCK) others.__val[0] &= ~faults;
    // Before the change: what comes with it is not held back again.
    blocked = how == SIG_BLOCK ? was | asked : how == SIG_UNBLOCK ? was & ~asked : asked;
  }
  int status = next_mask()(how, set ? &others : NULL, old);
  if (status != 0) blocked = was;
  else if (old) old->__val[0] |= was;
  return status;
}

EXPORTED int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) { return set_mask(how, set, old, is_host(__builtin_return_address(0))); }

EXPORTED int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  int status = set_mask(how, set, old, is_host(__builtin_return_address(0)));
  if (status == 0) return 0;
  errno = status;
  return -1;
}

/// Keeps a signal that somebody sent, as the kernel would: blocked in fact from now on, until the program unblocks it.
static bool hold(int signal, siginfo_t *info, ucontext_t *context) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  next_mask()(SIG_BLOCK, &only, NULL);
  // To the process, as it came, where the kernel lets this thread do so. Where no other thread could want it, threads of ours would pass it on
  // to each other while this one unblocks it and expects it.
  bool is_own = info->si_code == SI_TKILL || (!not_sent && !atomic_load(&has_threads));
  long status = is_own ? -1 : syscall(SYS_rt_sigqueueinfo, getpid(), signal, info);
  if (status != 0) status = syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), signal, info);
  if (status == 0) context->uc_sigmask.__val[0] |= UINT64_C(1) << (signal - 1);
  return status == 0;
}

EXPORTED int scripthost_blocked_signal(int signal, siginfo_t *info, void *context) {
  uint64_t bit = UINT64_C(1) << (signal - 1);
  if (info->si_code > 0) return blocked & bit ? PROGRAM_SIGNAL_ENDS : PROGRAM_SIGNAL_COMES;
  return ((blocked | not_sent) & bit) && hold(signal, info, context) ? PROGRAM_SIGNAL_WAITS : PROGRAM_SIGNAL_COMES;
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
  next_mask();
  for (int i = 0; i < 4; i++) next_jump(i);
}

// Handlers jump out of themselves; one that jumps within itself is taken for left, as it would be without the stub.
#define JUMP(name, index)                                     \
  EXPORTED __attribute__((noreturn)) void name(struct __jmp_buf_tag *to, int value) { \
    frame = 0;                                                \
    /* Which of them were blocked then is not in the buffer. */ \
    if (to->__mask_was_saved) blocked = 0;                    \
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
