// meter.c — see HKTMeter.h.
#define _GNU_SOURCE 1
#include "calls_internal.h"

#include <stdlib.h>

HKTMeter *hkt_meter_new(void) { return calloc(1, sizeof(HKTMeter)); }

void hkt_meter_free(HKTMeter *meter) {
  free(meter->buckets);
  free(meter);
}

void hkt_meter_count_buckets(HKTMeter *meter) {
  if (meter->buckets) return;
  // Runs may be noted at the same time.
  __atomic_store_n(&meter->buckets, calloc(HKT_METER_BUCKETS, sizeof *meter->buckets), __ATOMIC_RELEASE);
}

uint32_t hkt_meter_bucket(uint64_t ticks) {
  enum { FIRST = 2 * 5, LAST = HKT_METER_BUCKETS - 1 };
  if (ticks < 32) return 0;
  uint32_t power = 63 - (uint32_t)__builtin_clzll(ticks);
  uint32_t bucket = 2 * power + (uint32_t)(ticks >> (power - 1) & 1) - FIRST;
  return bucket > LAST ? LAST : bucket;
}

uint64_t hkt_meter_bucket_start(uint32_t bucket) {
  if (bucket == 0) return 0;
  uint32_t power = bucket / 2 + 5;
  return (UINT64_C(1) << power) + (bucket % 2 ? UINT64_C(1) << (power - 1) : 0);
}

void hkt_meter_add(HKTMeter *meter, uint64_t ticks) {
  atomic_fetch_add_explicit(&meter->runs, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&meter->ticks, ticks, memory_order_relaxed);
  _Atomic(uint64_t) *buckets = __atomic_load_n(&meter->buckets, __ATOMIC_ACQUIRE);
  if (buckets) atomic_fetch_add_explicit(&buckets[hkt_meter_bucket(ticks)], 1, memory_order_relaxed);
  uint64_t longest = atomic_load_explicit(&meter->longest, memory_order_relaxed);
  while (ticks > longest && !atomic_compare_exchange_weak_explicit(&meter->longest, &longest, ticks, memory_order_relaxed, memory_order_relaxed)) {}
}

HKTMeterReading hkt_meter_read(const HKTMeter *meter, uint64_t *buckets) {
  for (uint32_t i = 0; i < HKT_METER_BUCKETS; i++)
    buckets[i] = meter->buckets ? atomic_load_explicit(&meter->buckets[i], memory_order_relaxed) : 0;
  return (HKTMeterReading){
    .runs = atomic_load_explicit(&meter->runs, memory_order_relaxed), .ticks = atomic_load_explicit(&meter->ticks, memory_order_relaxed),
    .waited = atomic_load_explicit(&meter->waited, memory_order_relaxed),
    .longest = atomic_load_explicit(&meter->longest, memory_order_relaxed),
  };
}

void hkt_note_waited(uint64_t ticks) {
  HKTThread *t = hkt_thread();
  if (t) t->waited_ticks += ticks;
}

HKTOutcome hkt_run_measured(HKTCall *call, HKTLayer *layer, HKTPhase phase) {
  HKTThread *t = call->thread;
  uint64_t outer = t->onward_ticks, outer_waited = t->waited_ticks;
  t->onward_ticks = t->waited_ticks = 0;
  hkt_set_state(call, HKT_CALL_MEASURED);
  uint64_t began = hkt_ticks();
  HKTOutcome outcome = layer->function(call, layer->context, phase);
  uint64_t all = hkt_ticks_since(began), waited = t->waited_ticks, elsewhere = t->onward_ticks + waited;
  hkt_clear_state(call, HKT_CALL_MEASURED);
  t->onward_ticks = outer;
  t->waited_ticks = outer_waited;
  if (waited) atomic_fetch_add_explicit(&layer->meter->waited, waited, memory_order_relaxed);
  hkt_meter_add(layer->meter, all > elsewhere ? all - elsewhere : 0);
  return outcome;
}
