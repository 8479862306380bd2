// The handlers: who is asked, in which order, and how the process ends.
//
//   1. the recovery, which may let the program go on
//   2. the report is written
//   3. the handlers that were there before ours, Swift's backtracer for one
//   4. where there is none, the end the signal has by default, with the status it would have had
//
// What the program sets to the default action, or to be ignored, later has a handler of ours as well (`ccrash_stand_in`): with it 1 and 2,
// and then 4.
#define _GNU_SOURCE 1
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int caught[] = {SIGILL, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP};
enum { CAUGHT = sizeof caught / sizeof *caught };

static _Atomic(CCrashRecovery) recovery;
static _Atomic(bool) is_installed;
/// What was there before; written before our handler is.
static struct sigaction before[NSIG];
/// It was a handler of the Swift runtime.
static bool is_backtracer[NSIG];

int ccrash_forbid(void *page, size_t size) {
  return mmap(page, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == page ? 0 : -1;
}

void ccrash_set_recovery(CCrashRecovery asked) { atomic_store(&recovery, asked); }

static _Atomic(CCrashMender) mender;
void ccrash_set_mender(CCrashMender asked) { atomic_store(&mender, asked); }

static const char *(*_Atomic refusal)(void);
void ccrash_set_refusal(const char *(*function)(void)) { atomic_store(&refusal, function); }
const char *ccrash_refusal(void) {
  const char *(*function)(void) = atomic_load(&refusal);
  return function ? function() : NULL;
}

/// The action has no SA_SIGINFO and this handler; SIG_DFL and SIG_IGN are such.
static bool is_plain(const struct sigaction *action, void (*handler)(int)) {
  return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == handler;
}

/// The end that the signal has by default. A fault happens again when the handler returns, so that a core file shows where;
/// what was sent, and a breakpoint, which is behind the counter already, must be sent once more.
static void end_by_default(int signal, const siginfo_t *info) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(signal, &standard, NULL);
  if (info->si_code > 0 && signal != SIGTRAP) return;
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
  sigprocmask(SIG_UNBLOCK, &only, NULL);
}

/// Does what the program asked for with this signal, `asked`: its handler, the default action, or nothing.
static void pass_on(int signal, siginfo_t *info, void *context, struct sigaction *asked) {
  struct sigaction next = *asked;
  if (is_plain(&next, SIG_DFL)) return end_by_default(signal, info);
  if (is_plain(&next, SIG_IGN)) {
    // Faults cannot be ignored.
    if (info->si_code > 0) end_by_default(signal, info);
    return;
  }
  if (next.sa_flags & SA_RESETHAND) *asked = (struct sigaction){.sa_handler = SIG_DFL};
  sigset_t mask = next.sa_mask, previous;
  if (!(next.sa_flags & SA_NODEFER)) sigaddset(&mask, signal);
  sigprocmask(SIG_BLOCK, &mask, &previous);
  if (next.sa_flags & SA_SIGINFO) next.sa_sigaction(signal, info, context);
  else next.sa_handler(signal);
  sigprocmask(SIG_SETMASK, &previous, NULL);
}

/// Nobody, or Swift's backtracer, comes after us.
static bool ends_after(int signal, const struct sigaction *next) {
  return is_plain(next, SIG_DFL) || (next == &before[signal] && is_backtracer[signal]);
}

static _Atomic(CCrashBlocked) blocked;
void ccrash_set_blocked(CCrashBlocked asked) { atomic_store(&blocked, asked); }

/// What is to become of a signal that may have been blocked: the answer of whoever was set to judge, else that it comes.
static int becomes(int signal, siginfo_t *info, void *context) {
  CCrashBlocked asked = atomic_load(&blocked);
  return asked ? asked(signal, info, context) : CCRASH_COMES;
}

/// - Parameter next: who comes after us.
static void handle(int signal, siginfo_t *info, void *context, struct sigaction *next) {
  int saved = errno;
  bool is_answer = ccrash_answer(signal, info, context);
  int what = is_answer ? CCRASH_COMES : becomes(signal, info, context);
  if (is_answer || what == CCRASH_WAITS) {
    errno = saved;
    return;
  }
  struct sigaction standard = {.sa_handler = SIG_DFL};
  if (what == CCRASH_ENDS) next = &standard;
  CCrashMender mends = atomic_load(&mender);
  // A file that was cut short: the instruction finds other memory there now.
  if (signal == SIGBUS && info->si_code > 0 && mends && mends((uint64_t)info->si_addr)) {
    errno = saved;
    return;
  }
  CCrashRecovery asked = atomic_load(&recovery);
  if (!asked || !asked(signal, info, context)) {
    ccrash_leave_walk();
    // What another process sends is no crash when somebody handles it; stacks of the others only where the process ends.
    bool ends = ends_after(signal, next);
    if (ends || info->si_code > 0 || info->si_code == SI_TKILL) ccrash_report(signal, info, context, ends);
    pass_on(signal, info, context, next);
  }
  errno = saved;
}

/// The handler of a signal that the program had an action for before us: that one comes after us.
static void on_signal(int signal, siginfo_t *info, void *context) { handle(signal, info, context, &before[signal]); }

/// The handler of a signal whose default action comes after us.
static void on_default(int signal, siginfo_t *info, void *context) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  handle(signal, info, context, &standard);
}

/// A fault cannot be ignored, and ends the process.
static void on_ignored(int signal, siginfo_t *info, void *context) {
  if (info->si_code > 0) on_default(signal, info, context);
  else ccrash_answer(signal, info, context);
}

/// Not deferred: a fault in the handler is seen, and a recovery that jumps out leaves no mask behind. Restarted: for ccrash_answer.
#define OURS(function) {.sa_sigaction = function, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART}

const void *ccrash_stand_in(int signal, bool is_ignored) {
  static const struct sigaction standard = OURS(on_default), ignored = OURS(on_ignored);
  bool is_caught = false;
  for (int i = 0; i < CAUGHT; i++) is_caught |= caught[i] == signal;
  // A process that ignores SIGABRT and calls `abort` ends by the C library's own hand.
  if (!atomic_load(&is_installed) || !is_caught || (is_ignored && signal == SIGABRT)) return NULL;
  return is_ignored ? &ignored : &standard;
}

bool ccrash_owns(int signal) {
  struct sigaction now;
  if (sigaction(signal, NULL, &now) != 0 || !(now.sa_flags & SA_SIGINFO)) return false;
  return now.sa_sigaction == on_signal || now.sa_sigaction == on_default || now.sa_sigaction == on_ignored;
}

void ccrash_install(void) {
  if (atomic_exchange(&is_installed, true)) return;
  ccrash_stacks_prepare();
  ccrash_arm_thread();
  ccrash_report_prepare();
  for (int i = 0; i < CAUGHT; i++) {
    struct sigaction now, ours = OURS(on_signal);
    if (sigaction(caught[i], NULL, &now) != 0 || is_plain(&now, SIG_IGN)) continue;
    before[caught[i]] = now;
    Dl_info from;
    is_backtracer[caught[i]] = (now.sa_flags & SA_SIGINFO) && dladdr((void *)now.sa_sigaction, &from) && from.dli_fname &&
                               strstr(from.dli_fname, "libswiftCore");
    sigaction(caught[i], &ours, NULL);
  }
}
