// The stacks that are made here: spare ones of threads, on which calls go on, and those for one piece of work.
//
// Invariants
//   1. `roomy_low` and `roomy_size` say where there is room on the stack that the thread is on. They may be wrong after a jump (longjmp) or
//      a signal, which is seen at the next call: it is outside of them, and asks.
//   2. A thread goes to its spare stack from its own alone: a call that comes on its own one finds nothing in use on the spare one.
#define _GNU_SOURCE 1
#include "stack_room.h"
#include "HKTRuntime.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

enum { PAGE = 4096, LEAST = 2 << 20, USUAL = 16 << 20, KEPT = 1 << 20, TIMES = 64, LEAST_IN_SIGNALS = 64 << 10 };
/// What planning a call may need, and a stack for that alone.
enum { WORK_NEEDED = 384 << 10, WORK_SIZE = 1 << 20 };
static const uint64_t MOST = UINT64_C(1) << 30, FAR = UINT64_C(64) << 20, FURTHEST = 64 * FAR;

/// stack_room_x86_64.S
HKT_HIDDEN void hkt_run_on_stack(void (*body)(void *), void *context, uint64_t top);

static uint64_t (*signal_frame)(uint64_t stack);
void hkt_set_signal_frame(uint64_t (*function)(uint64_t)) { __atomic_store_n(&signal_frame, function, __ATOMIC_RELEASE); }

bool hkt_interrupts(void) {
  uint64_t (*function)(uint64_t) = __atomic_load_n(&signal_frame, __ATOMIC_ACQUIRE);
  return function && function((uint64_t)__builtin_frame_address(0)) != 0;
}

void hkt_signal_begins(void) {
  if (hkt_this_thread) hkt_this_thread->roomy_size = 0;
}

static _Atomic(uint64_t) calls_in_signals;
void hkt_count_in_signal(void) { atomic_fetch_add_explicit(&calls_in_signals, 1, memory_order_relaxed); }
uint64_t hkt_calls_in_signals(void) { return atomic_load_explicit(&calls_in_signals, memory_order_relaxed); }

/// From the first byte that may be used to behind the last one; both 0: there was no memory. A page below it nobody can touch.
typedef struct Stack { uint64_t low, high; } Stack;

static void give_back(Stack stack) {
  if (stack.low) munmap((void *)(stack.low - PAGE), stack.high - stack.low + PAGE);
}

/// Notes that the thread is on the stack between these addresses, so that most questions for room are two instructions.
static void be_on(HKTThread *t, uint64_t low, uint64_t high) {
  bool has_room = high - low > HKT_ROOM_NEEDED;
  t->roomy_low = low + HKT_ROOM_NEEDED;
  t->roomy_size = has_room ? high - t->roomy_low : 0;
}

void hkt_room_begin(HKTThread *t) {
  t->interrupts = 0;
  t->has_no_spare = false;
  t->spare_low = t->spare_high = t->spare_entered = 0;
  // A stack of which nothing is known is taken as it is.
  if (t->stack_high) be_on(t, t->stack_low, t->stack_high);
  else t->roomy_low = 0, t->roomy_size = UINT64_MAX;
}

void hkt_room_end(HKTThread *t) {
  Stack spare = {t->spare_low, t->spare_high};
  t->spare_low = t->spare_high = 0;
  give_back(spare);
}

/// Maps a stack there or elsewhere, without memory until it is used; MAP_FAILED: there is none.
static char *reserve_at(uint64_t place, uint64_t size) {
  return mmap((void *)(place & ~(uint64_t)(PAGE - 1)), size, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
}

/// `size` bytes of memory below the address `high`, or MAP_FAILED. Where the system's choice lies above it, places further and further
/// down are asked for: threads that begin together, with stacks beside each other, ask for the same ones.
static char *reserve_below(uint64_t high, uint64_t size) {
  char *low = reserve_at(0, size);
  for (uint64_t distance = FAR; low != MAP_FAILED && (uint64_t)low >= high; distance += FAR) {
    munmap(low, size);
    if (distance > FURTHEST || high < size + distance) return MAP_FAILED;
    low = reserve_at(high - size - distance, size);
  }
  return low;
}

/// A stack of `size` bytes, a multiple of the page's, below the address `high`.
static Stack make_stack(uint64_t high, uint64_t size) {
  char *low = reserve_below(high, size + PAGE);
  if (low == MAP_FAILED) return (Stack){0, 0};
  void *guard = mmap(low, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (guard == MAP_FAILED) {
    munmap(low, size + PAGE);
    return (Stack){0, 0};
  }
  // One page at a time: most of them are little used.
  madvise(low, size + PAGE, MADV_NOHUGEPAGE);
  return (Stack){(uint64_t)low + PAGE, (uint64_t)low + PAGE + size};
}

/// The thread has a spare stack, below its own.
static bool have_spare(HKTThread *t) {
  if (t->spare_low) return true;
  if (t->has_no_spare) return false;
  int saved = errno;
  uint64_t own = t->stack_high - t->stack_low, size = own > MOST / TIMES ? MOST : own * TIMES;
  if (size < USUAL) size = USUAL;
  for (; !t->spare_low && size >= LEAST; size /= 2) {
    Stack made = make_stack(t->stack_low, size & ~(uint64_t)(PAGE - 1));
    t->spare_high = made.high;
    t->spare_low = made.low;
  }
  t->has_no_spare = !t->spare_low;
  errno = saved;
  return t->spare_low;
}

static bool is_on_signal_stack(void) {
  stack_t now;
  int saved = errno;
  bool is_on = sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_ONSTACK);
  errno = saved;
  return is_on;
}

HKTRoom hkt_find_room(HKTThread *t) {
  uint64_t here = (uint64_t)__builtin_frame_address(0);
  t->interrupts = hkt_interrupts();
  bool is_own = here - t->stack_low < t->stack_high - t->stack_low, is_spare = here - t->spare_low < t->spare_high - t->spare_low;
  // Of other stacks (coroutines) the bounds are not known.
  if (!is_own && !is_spare) return is_on_signal_stack() ? HKT_ROOM_NONE : HKT_ROOM_HERE;
  // The next call asks, too. A spare stack is not made between any two instructions.
  if (t->interrupts) return here - (is_own ? t->stack_low : t->spare_low) < LEAST_IN_SIGNALS ? HKT_ROOM_NONE : HKT_ROOM_HERE;
  be_on(t, is_own ? t->stack_low : t->spare_low, is_own ? t->stack_high : t->spare_high);
  return is_own && here - t->stack_low < HKT_ROOM_NEEDED && have_spare(t) ? HKT_ROOM_SPARE : HKT_ROOM_HERE;
}

/// Memory far down was used once: the system can have it back.
static void trim(const HKTThread *t) {
  const uint64_t *words = (const uint64_t *)(t->spare_high - KEPT - PAGE);
  uint64_t used = 0;
  for (int i = 0; i < PAGE / 8; i += 4) used |= words[i];
  if (!used) return;
  int saved = errno;
  madvise((void *)t->spare_low, t->spare_high - KEPT - t->spare_low, MADV_DONTNEED);
  errno = saved;
}

void hkt_run_on_spare(HKTThread *t, void (*body)(void *), void *context) {
  t->spare_entered = (uint64_t)__builtin_frame_address(0);
  be_on(t, t->spare_low, t->spare_high);
  hkt_run_on_stack(body, context, t->spare_high);
  be_on(t, t->stack_low, t->stack_high);
  trim(t);
}

/// Of other stacks (of signals, of coroutines) the end is not known, and the spare one may be in use.
static void on_other_stack(void (*body)(void *), void *context) {
  int saved = errno;
  Stack other = make_stack(UINT64_MAX, WORK_SIZE);
  other.low ? hkt_run_on_stack(body, context, other.high) : body(context);
  give_back(other);
  errno = saved;
}

void hkt_with_stack(void (*body)(void *), void *context) {
  hkt_this_thread ? hkt_with_room(hkt_this_thread, body, context) : on_other_stack(body, context);
}

void hkt_with_room(HKTThread *t, void (*body)(void *), void *context) {
  uint64_t here = (uint64_t)__builtin_frame_address(0), low, high;
  if (__builtin_expect(hkt_is_on_stack(t, here), 1)) {
    hkt_stack_bounds(t, here, &low, &high);
    if (__builtin_expect(here - low >= WORK_NEEDED, 1)) return body(context);
    if (low == t->stack_low && !t->interrupts && have_spare(t)) return hkt_run_on_spare(t, body, context);
  }
  on_other_stack(body, context);
}

bool hkt_stack_around(uintptr_t address, uintptr_t *low, size_t *size) {
  const HKTThread *t = hkt_this_thread;
  if (!t || !hkt_is_on_stack(t, address)) return false;
  uint64_t first, high;
  hkt_stack_bounds(t, address, &first, &high);
  *low = first;
  *size = high - first;
  return true;
}
