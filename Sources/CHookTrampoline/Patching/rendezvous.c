// The rendezvous: every thread shows where it is, and leaves the windows.
//
// When it starts, each window begins with a breakpoint that every processor
// sees: nobody can enter. A thread that is inside leaves by itself or is moved to
// the same instruction of the copy. A thread created later cannot be inside. So
// the rendezvous is over when each thread of the list has, since it started,
//
//   answered a signal, or been seen asleep in the kernel outside every window, or ended.
//
// Threads asleep are not disturbed: they would see their system calls interrupted.
// Threads that block the rendezvous signal get SIGSYS, if the program leaves it
// alone: dispatch workers, and with them Swift's tasks, block all others that are
// not taken. SIGTRAP would not do: a pending one swallows the trap of a breakpoint.
#define _GNU_SOURCE
#include "rendezvous.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "signal_frames.h"
#include "../Process/threads.h"
#include "trap.h"

static uint32_t timeout_milliseconds = 1000;
void hkt_set_rendezvous_timeout(uint32_t milliseconds) { timeout_milliseconds = milliseconds; }

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}
static uint64_t deadline(void) { return now() + timeout_milliseconds * 1000000ull; }
static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL); }
static int32_t self(void) { return (int32_t)syscall(SYS_gettid); }

// MARK: Processors in step

bool hkt_sync_processors(HKTRefusal *refusal) {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0) return true;
  if (errno == EPERM && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0 &&
      syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0)
    return true;
  return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_MEMBARRIER, .error = errno});
}

// MARK: What the handler sees

/// The windows of the rendezvous that is going on. Written before `generation` is set and after it was cleared.
static struct {
  HKTPatch *const *patches;
  size_t count;
} windows;
/// 0: no rendezvous.
static _Atomic uint64_t generation;
/// Handlers that may be reading `windows`.
static _Atomic uint32_t inside;
static _Atomic uint32_t moved;

typedef enum Step : uint8_t { NEW, SIGNALED, DONE } Step;

typedef struct Seat {
  _Atomic int32_t thread;
  _Atomic uint64_t answered;  // the generation of the last answer
  Step step;                  // the coordinator's
} Seat;

/// One seat per thread. A bigger table replaces a full one; the old one stays, a late handler may be reading it.
typedef struct Table {
  uint32_t capacity;
  _Atomic uint32_t count;
  Seat seats[];
} Table;
static _Atomic(Table *) table;

/// The copy of the instruction at `counter`, or `counter` itself when it is inside no window.
static uint64_t outside_windows(uint64_t counter) {
  size_t low = 0, high = windows.count;
  while (low < high) {  // the last body at or below the counter
    size_t middle = (low + high) / 2;
    if (windows.patches[middle]->site.body <= counter) low = middle + 1; else high = middle;
  }
  if (!low) return counter;
  const HKTPatch *p = windows.patches[low - 1];
  uint64_t offset = counter - p->site.body;
  if (offset == 0 || offset >= p->site.window) return counter;  // byte 0 is the breakpoint: it will trap
  for (int i = 0; i < p->count; i++)
    if (p->from[i] == offset) return hkt_moved_code(p) + p->to[i];
  return counter;
}

/// Moves a thread that is inside a window that is to be written to where it goes on safely.
static void move_counter(ucontext_t *context) {
  uint64_t counter = (uint64_t)context->uc_mcontext.gregs[REG_RIP], better = outside_windows(counter);
  if (better == counter) return;
  context->uc_mcontext.gregs[REG_RIP] = (greg_t)better;
  atomic_fetch_add_explicit(&moved, 1, memory_order_relaxed);
}

/// Moves the interrupted counters of the calling thread out of the windows and answers, if there is a rendezvous.
static void answer(ucontext_t *context) {
  atomic_fetch_add(&inside, 1);
  uint64_t g = atomic_load(&generation);
  if (g) {
    move_counter(context);
    hkt_each_outer_context(context, move_counter);
    Table *t = atomic_load(&table);
    int32_t me = self();
    uint32_t n = atomic_load(&t->count);
    for (uint32_t i = 0; i < n; i++)
      if (atomic_load(&t->seats[i].thread) == me) {
        atomic_store(&t->seats[i].answered, g);
        break;
      }
  }
  atomic_fetch_sub(&inside, 1);
}

bool hkt_windows_in_use(void) { return atomic_load(&inside) != 0; }

// MARK: The signals

/// The signals in use: a real-time one, and SIGSYS for threads that block it. 0: none.
static _Atomic int chosen, second;

/// The handler of our signals: answers with where the thread is. `errno` is as it was.
static void on_signal(int signal, siginfo_t *info, void *context) {
  int saved = errno;
  if (signal == SIGSYS && info->si_code != SI_TKILL) {
    // A forbidden system call: die of it, as without us.
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(SIGSYS, &standard, NULL);
    syscall(SYS_tgkill, getpid(), self(), SIGSYS);
  } else {
    answer(context);
  }
  errno = saved;
}

static bool is_ours(int signal) {
  struct sigaction a;
  return signal && sigaction(signal, NULL, &a) == 0 && (a.sa_flags & SA_SIGINFO) && a.sa_sigaction == on_signal;
}

static bool is_free(int signal) {
  struct sigaction a;
  return sigaction(signal, NULL, &a) == 0 && !(a.sa_flags & SA_SIGINFO) && a.sa_handler == SIG_DFL;
}

/// A real-time signal nobody handles, from the top: libraries count from the bottom. 0: none.
static int free_signal(void) {
  for (int s = SIGRTMAX - 1; s > SIGRTMIN; s--)
    if (is_free(s)) return s;
  return 0;
}

/// Our handler stays for ever: a thread that blocks the signal may take it hours later, and must not die of it.
static bool take(int signal) {
  struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  return sigaction(signal, &ours, NULL) == 0;
}

/// Takes the signals by which threads are asked, where they are not ours any more. false: refused.
static bool choose_signals(HKTRefusal *refusal) {
  if (!is_ours(atomic_load(&chosen))) {
    int s = free_signal();
    if (!s || !take(s)) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_FREE_SIGNAL});
    atomic_store(&chosen, s);
  }
#if !__has_feature(thread_sanitizer)  // which runs SIGSYS handlers at once, and ends the process when one comes to its own thread
  if (!is_ours(SIGSYS)) atomic_store(&second, is_free(SIGSYS) && take(SIGSYS) ? SIGSYS : 0);
#endif
  return true;
}

// MARK: Before breakpoints are written

/// Refuses because of a thread, which is named where it still has a name; false, for the caller to return.
static bool refuse_thread(HKTReason reason, int32_t thread, HKTRefusal *refusal) {
  HKTRefusal facts = {.reason = reason, .thread = thread};
  HKTThreadStatus status;
  if (hkt_thread_status(thread, &status)) __builtin_memcpy(facts.thread_name, status.name, sizeof facts.thread_name);
  return hkt_refuse(refusal, facts);
}

typedef struct TrapBlocker {
  uint64_t deadline;
  int32_t thread;  // 0: none
} TrapBlocker;

/// The C library blocks everything for moments (while it creates threads, say): waits for those to end.
static bool accepts_traps(int32_t thread, void *context) {
  TrapBlocker *blocker = context;
  HKTThreadStatus status;
  while (hkt_thread_status(thread, &status) && !hkt_is_over(&status) && hkt_blocks(&status, SIGTRAP)) {
    if (now() > blocker->deadline) {
      blocker->thread = thread;
      return false;
    }
    rest();
  }
  return true;
}

/// A breakpoint kills a thread that blocks SIGTRAP. Threads created from here on inherit a mask that was looked at.
static bool nobody_blocks_traps(HKTRefusal *refusal) {
  TrapBlocker blocker = {.deadline = deadline()};
  if (!hkt_each_thread(accepts_traps, &blocker))
    return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_TASK_LIST, .error = errno});
  return !blocker.thread || refuse_thread(HKT_THREAD_BLOCKS_TRAP, blocker.thread, refusal);
}

bool hkt_live_begin(bool signals, HKTRefusal *refusal) {
  return hkt_sync_processors(refusal) && hkt_trap_begin(refusal) && (!signals || choose_signals(refusal)) &&
         nobody_blocks_traps(refusal);
}

// MARK: The coordinator

typedef struct Round {
  uint64_t generation;
  uint64_t start;       // in clock ticks: threads born in a later one never were in a window
  HKTTransactionReport *report;
  int32_t waiting_for;  // a thread that has not answered, 0: none
  bool more;            // a thread was seen for the first time that may be older than the rendezvous
  bool no_memory;
} Round;

/// The thread's seat, a new one where it has none; NULL when memory runs out, which the round notes.
static Seat *seat_of(int32_t thread, Round *round) {
  Table *t = atomic_load(&table);
  uint32_t n = t ? atomic_load(&t->count) : 0;
  for (uint32_t i = 0; i < n; i++)
    if (atomic_load(&t->seats[i].thread) == thread) return &t->seats[i];
  if (!t || n == t->capacity) {
    uint32_t capacity = t ? t->capacity * 4 : 1024;
    Table *bigger = hkt_system.map(NULL, sizeof(Table) + capacity * sizeof(Seat), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bigger == MAP_FAILED) {
      round->no_memory = true;
      return NULL;
    }
    bigger->capacity = capacity;
    for (uint32_t i = 0; i < n; i++) {
      atomic_store(&bigger->seats[i].thread, atomic_load(&t->seats[i].thread));
      bigger->seats[i].step = t->seats[i].step;
    }
    atomic_store(&bigger->count, n);
    atomic_store(&table, bigger);
    // Answers given between the copy and here went to the old table; they are asked for again.
    for (uint32_t i = 0; i < n; i++)
      if (bigger->seats[i].step == SIGNALED) bigger->seats[i].step = NEW;
    t = bigger;
  }
  Seat *seat = &t->seats[n];
  atomic_store(&seat->answered, 0);
  seat->step = NEW;
  atomic_store(&seat->thread, thread);
  atomic_store(&t->count, n + 1);
  return seat;
}

/// A thread that blocks signals may do so because it handles one, and goes on elsewhere afterwards.
static bool may_be_in_handler(const HKTThreadStatus *status) {
#if __has_feature(thread_sanitizer)  // whose own thread blocks what we have to ask it with for ever, and runs nothing of the program
  if (hkt_blocks(status, atomic_load(&chosen))) return false;
#endif
  return status->blocked != 0;
}

/// Whether the thread sleeps in the kernel outside every window, and cannot be inside a signal handler.
/// The count of switches tells that it did not run between the looks.
static bool is_asleep_outside(int32_t thread, const HKTThreadStatus *status) {
  uint64_t counter;
  HKTThreadStatus after;
  return status->state == 'S' && !may_be_in_handler(status) && hkt_thread_parked_at(thread, &counter) &&
         outside_windows(counter) == counter && hkt_thread_status(thread, &after) && after.state == 'S' &&
         after.switches == status->switches && !may_be_in_handler(&after);
}

/// Finds out about a thread, or asks it.
static void call_in(Seat *seat, int32_t thread, Round *round) {
  HKTThreadStatus status;
  if (!hkt_thread_status(thread, &status) || hkt_is_over(&status)) {
    seat->step = DONE;
    return;
  }
  if (is_asleep_outside(thread, &status)) {
    seat->step = DONE;
    round->report->threads_asleep++;
    return;
  }
  int signal = atomic_load(&chosen);
  if (hkt_blocks(&status, signal)) signal = atomic_load(&second);
  if (!signal || hkt_blocks(&status, signal)) return;  // for a moment only, or until the time is over
  if (syscall(SYS_tgkill, getpid(), thread, signal) == 0) {
    seat->step = SIGNALED;
    round->report->threads_signaled++;
  } else if (errno == ESRCH) {
    seat->step = DONE;
  }  // else the signal queue is full: later
}

/// For hkt_each_thread: calls the thread in, or sees how far it is. false: memory ran out.
static bool visit(int32_t thread, void *context) {
  Round *round = context;
  if (thread == self()) return true;
  Seat *seat = seat_of(thread, round);
  if (!seat) return false;
  if (seat->step == NEW && hkt_thread_birth(thread) > round->start) seat->step = DONE;
  if (seat->step == NEW) {
    round->more = true;
    call_in(seat, thread, round);
  }
  if (seat->step == SIGNALED && atomic_load(&seat->answered) == round->generation) seat->step = DONE;
  if (seat->step != DONE) round->waiting_for = thread;
  return true;
}

/// All threads that were called in have answered this round.
static bool all_answered(const Round *round) {
  Table *t = atomic_load(&table);
  for (uint32_t k = 0; k < atomic_load(&t->count); k++)
    if (t->seats[k].step != DONE && atomic_load(&t->seats[k].answered) != round->generation) return false;
  return true;
}

/// Gives threads a moment to answer before the list is read again: first spinning, for those that run now, then asleep,
/// for those that wait for a processor (yielding would cost a whole time slice each).
static void await_answers(const Round *round) {
  for (int i = 0; i < 2000; i++) {
    if ((i & 15) == 0 && all_answered(round)) return;
    __builtin_ia32_pause();
  }
  for (int i = 0; i < 20 && !all_answered(round); i++) rest();
}

/// Waits until every thread of the process has answered. false: refused, since one did not in time.
static bool everyone(Round *round, HKTRefusal *refusal) {
  // The kernel may cut a list short when a thread ends meanwhile: two lists in a row must tell nothing new.
  int quiet = 0;
  for (uint64_t end = deadline();; await_answers(round)) {
    round->waiting_for = 0;
    round->more = false;
    if (!hkt_each_thread(visit, round))
      return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_TASK_LIST, .error = errno});
    if (round->no_memory) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_MEMORY, .error = ENOMEM});
    quiet = round->waiting_for || round->more ? 0 : quiet + 1;
    if (quiet == 2) return true;
    if (round->waiting_for && now() > end) return refuse_thread(HKT_THREAD_SILENT, round->waiting_for, refusal);
  }
}

/// Waits for handlers that read `windows`; they are a few instructions long, unless their thread does not run.
static bool handlers_are_out(void) {
  for (uint64_t end = deadline(); hkt_windows_in_use(); rest())
    if (now() > end) return false;
  return true;
}

bool hkt_leave_windows(HKTPatch *const *patches, size_t count, HKTTransactionReport *report, HKTRefusal *refusal) {
  static uint64_t last;
  if (!handlers_are_out()) return refuse_thread(HKT_THREAD_SILENT, 0, refusal);
  Table *t = atomic_load(&table);
  if (t) atomic_store(&t->count, 0);
  windows.patches = patches;
  windows.count = count;
  atomic_store(&moved, 0);
  Round round = {.generation = ++last, .start = hkt_ticks_now(), .report = report};
  // Publish a table before anyone may answer.
  if (!t && !seat_of(0, &round)) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_MEMORY, .error = ENOMEM});
  if (!t) atomic_store(&atomic_load(&table)->count, 0);
  atomic_store(&generation, round.generation);
  bool ok = everyone(&round, refusal);
  atomic_store(&generation, 0);
  report->counters_moved = atomic_load(&moved);
  if (!ok) handlers_are_out();
  return ok;
}

// MARK: Probe

/// Whether live changes are possible, without installing anything.
bool hkt_live_probe(int *signal, HKTRefusal *refusal) {
  *signal = is_ours(atomic_load(&chosen)) ? atomic_load(&chosen) : 0;
  if (!hkt_sync_processors(refusal)) return false;
  if (hkt_thread_count() < 0) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_TASK_LIST, .error = errno});
  if (!*signal && !free_signal()) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_FREE_SIGNAL});
  return true;
}
