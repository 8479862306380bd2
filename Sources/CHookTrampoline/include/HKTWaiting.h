// HKTWaiting — calls of scripts into the program that are under way, for a thread that watches how long they take.
#ifndef HKT_WAITING_H
#define HKT_WAITING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/// What one thread is in. In a list that only grows; used again when its thread has ended.
typedef struct HKTWaiting {
  _Atomic(uint32_t) state;     // waiting_calls.c
  uint32_t since;              // hkt_waiting_tick when the call began
  uint32_t reported;           // the watcher's
  int32_t thread;
  const void *what;            // of whom calls: theirs while the call lasts
  const void *patch;
  const void *around;
  struct HKTWaiting *next;
  _Atomic(int32_t) in_use;
} HKTWaiting;

/// The watcher's clock: counts while it watches.
extern _Atomic(uint32_t) hkt_waiting_tick;
/// The watcher watches: set by it, cleared when there was nothing to see for a while.
extern _Atomic(uint32_t) hkt_waiting_watched;

static inline uint32_t hkt_waiting_now(void) { return atomic_load_explicit(&hkt_waiting_tick, memory_order_relaxed); }
static inline void hkt_waiting_advance(void) { atomic_fetch_add_explicit(&hkt_waiting_tick, 1, memory_order_relaxed); }
static inline bool hkt_waiting_is_watched(void) { return atomic_load_explicit(&hkt_waiting_watched, memory_order_relaxed); }
/// Answers what it was before.
static inline bool hkt_waiting_set_watched(bool on) { return atomic_exchange(&hkt_waiting_watched, on); }

/// This thread's record; NULL: no memory.
HKTWaiting *hkt_waiting_here(void);
HKTWaiting *hkt_waiting_first(void);
/// The calling thread's record; NULL: it has none. Async-signal-safe.
const HKTWaiting *hkt_waiting_if_known(void);

/// A call begins: `what`, `patch`, `around` and `since` are set.
void hkt_waiting_begin(HKTWaiting *waiting);
/// It is over, or one in it begins: nobody looks at the record any more. Waits for who does, and for a signal on its way.
void hkt_waiting_end(HKTWaiting *waiting);

/// For the watcher: keeps the thread in its call. False: it is in none.
bool hkt_waiting_look(HKTWaiting *waiting);
void hkt_waiting_looked(HKTWaiting *waiting);
/// Has what the thread sleeps in end early, with EINTR, where that is a wait for time or for its standard input, or with EIO where it only reads
/// again since. True: the thread may leave its call then, and the record is not looked at any more. With the record looked at.
bool hkt_waiting_wake(HKTWaiting *waiting);

#endif
