// How many calls each body had: counted in the record of the thread that makes them, since a counter that every thread writes would move
// between the processors' caches.
#ifndef HKT_CALL_COUNTS_H
#define HKT_CALL_COUNTS_H

#include "HKTCalls.h"
#include "thread_records.h"

#include <stdatomic.h>

/// A place of a thread's counts is one of several bodies' at a time.
static inline HKTCount *hkt_count_of(HKTThread *t, const HKTBodyRecord *record) { return &t->counts[((uintptr_t)record >> 6) % HKT_COUNTS]; }

/// Gives the place to another record, and the former one what was counted there.
HKT_HIDDEN void hkt_take_count(HKTCount *count, HKTBodyRecord *record);

/// Counts one call of the body, on its own thread.
static inline __attribute__((always_inline)) void hkt_count_call(HKTThread *t, HKTBodyRecord *record) {
  HKTCount *count = hkt_count_of(t, record);
  if (__builtin_expect(atomic_load_explicit(&count->record, memory_order_relaxed) != record, 0)) hkt_take_count(count, record);
  // One instruction, which needs no lock: the thread alone writes it.
  atomic_store_explicit(&count->calls, atomic_load_explicit(&count->calls, memory_order_relaxed) + 1, memory_order_relaxed);
}

#endif
