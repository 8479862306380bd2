// The SIGTRAP handler: sends calls that met a temporary breakpoint to the stub.
//
// It is installed by the first live transaction and stays, because a trap may be
// delivered to its thread at any time after the breakpoint was removed. Traps
// that are not ours go to the handler that was there before.
#define _GNU_SOURCE
#include "trap.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rendezvous.h"
#include "transaction.h"

#define BREAKPOINT 0xcc

static _Atomic uint32_t traps;
uint32_t hkt_trap_count(void) { return atomic_load_explicit(&traps, memory_order_relaxed); }

// MARK: Who was there before

/// The handlers we replaced: the first one, and the latest when someone put his own above ours.
static struct sigaction before[2];
static _Atomic int replaced;
/// Depth of chaining on this thread: a handler above ours may chain back to us.
static __thread int depth __attribute__((tls_model("initial-exec")));

static void die_of_trap(void) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(SIGTRAP, &standard, NULL);
  // Blocked while the handler runs; takes effect when it returns.
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGTRAP);
}

/// Does what the program asked for with a breakpoint that is none of ours.
static void pass_on(int signal, siginfo_t *info, void *context) {
  struct sigaction *next = &before[depth == 0 && atomic_load(&replaced) > 1 ? 1 : 0];
  bool by_processor = info->si_code > 0;
  if (!(next->sa_flags & SA_SIGINFO) && next->sa_handler == SIG_DFL) return die_of_trap();
  if (!(next->sa_flags & SA_SIGINFO) && next->sa_handler == SIG_IGN) {
    if (by_processor) die_of_trap();  // the kernel does not let a breakpoint be ignored either
    return;
  }
  depth++;
  if (next->sa_flags & SA_SIGINFO) next->sa_sigaction(signal, info, context);
  else next->sa_handler(signal);
  depth--;
}

// MARK: The handler

/// Where a thread that trapped at `address` goes on; 0 when the trap is not ours.
static uint64_t continuation(uint64_t address) {
  HKTPatch *p = hkt_book_find(address);
  if (!p) return 0;
  for (int look = 0; look < 2; look++) {
    // The breakpoint may be gone by now: then the instruction there is run.
    if (*(const volatile uint8_t *)address != BREAKPOINT) return address;
    if (atomic_load_explicit(&p->state, memory_order_seq_cst) == HKT_CHANGING) return hkt_stub_of(p);
    // Settled, and yet a breakpoint: the change may have ended between the two looks; if not, it is someone else's.
  }
  return 0;
}

/// The handler of breakpoints: of one of ours the thread goes on where the patch says.
static void on_trap(int signal, siginfo_t *info, void *opaque) {
  int saved = errno;
  ucontext_t *context = opaque;
  uint64_t next = info->si_code == SI_KERNEL ? continuation((uint64_t)context->uc_mcontext.gregs[REG_RIP] - 1) : 0;
  if (next) {
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)next;
    atomic_fetch_add_explicit(&traps, 1, memory_order_relaxed);
  } else {
    // The others expect the mask they were registered with, more or less: all but ours is as it was.
    sigset_t mask = context->uc_sigmask;
    sigaddset(&mask, SIGTRAP);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    pass_on(signal, info, opaque);
  }
  errno = saved;
}

bool hkt_trap_begin(HKTRefusal *refusal) {
  struct sigaction now;
  sigaction(SIGTRAP, NULL, &now);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_trap) return true;
  struct sigaction ours = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  // No rendezvous while a trap is handled: the counter behind a breakpoint that was hit looks like one inside the window.
  sigfillset(&ours.sa_mask);
  int place = atomic_load(&replaced) ? 1 : 0;
  before[place] = now;
  atomic_store(&replaced, place + 1);
  return sigaction(SIGTRAP, &ours, NULL) == 0 ||
         hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_FREE_SIGNAL, .error = errno});
}
