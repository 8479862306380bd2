// Counts of calls: what call_counts.h leaves to a function, and the sum over all threads.
#include "call_counts.h"

void hkt_take_count(HKTCount *count, HKTBodyRecord *record) {
  HKTBodyRecord *counted = atomic_load_explicit(&count->record, memory_order_relaxed);
  if (counted) atomic_fetch_add_explicit(&counted->calls, atomic_load_explicit(&count->calls, memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(&count->calls, 0, memory_order_relaxed);
  atomic_store_explicit(&count->record, record, memory_order_relaxed);
}

uint64_t hkt_record_calls(HKTBodyRecord *record) {
  uint64_t calls = atomic_load_explicit(&record->calls, memory_order_relaxed);
  for (HKTThread *t = atomic_load(&hkt_all_threads); t; t = t->next) {
    HKTCount *count = hkt_count_of(t, record);
    if (atomic_load_explicit(&count->record, memory_order_relaxed) == record)
      calls += atomic_load_explicit(&count->calls, memory_order_relaxed);
  }
  return calls;
}
