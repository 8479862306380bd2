// The clock of calls: the processor's counter, and what its ticks are in nanoseconds.
#define _GNU_SOURCE 1
#include "HKTCalls.h"

#include <stdatomic.h>
#include <time.h>
#include <x86intrin.h>

static uint64_t start_ns, start_ticks;

uint64_t hkt_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((constructor)) static void note_start(void) {
  start_ns = hkt_now_ns();
  start_ticks = __rdtsc();
}

uint64_t hkt_ticks(void) { return __rdtsc(); }

uint64_t hkt_ticks_since(uint64_t began) {
  uint64_t now = __rdtsc();
  return now > began ? now - began : 0;
}

static inline uint64_t to_ns(uint64_t ticks, uint64_t now) {
  // The ratio gets better with the age of the process; it is good to 1% after 10 microseconds.
  static _Atomic(double) ns_per_tick;
  static _Atomic(uint64_t) measured_over;
  uint64_t age = now - start_ticks;
  if (age > 2 * atomic_load_explicit(&measured_over, memory_order_relaxed)) {
    double ratio = (double)(hkt_now_ns() - start_ns) / (double)age;
    atomic_store_explicit(&ns_per_tick, ratio, memory_order_relaxed);
    atomic_store_explicit(&measured_over, age, memory_order_relaxed);
  }
  return (uint64_t)((double)ticks * atomic_load_explicit(&ns_per_tick, memory_order_relaxed));
}

uint64_t hkt_ticks_to_ns(uint64_t ticks) { return to_ns(ticks, __rdtsc()); }

uint64_t hkt_call_duration_ns(const HKTCall *call) {
  uint64_t now = __rdtsc();
  return call->began_ticks && now > call->began_ticks ? to_ns(now - call->began_ticks, now) : 0;
}
