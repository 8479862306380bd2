// HKTMeter — how long the handlers of hooks take: their own time, without what they let the call go on to.
//
// This is measured in one place, around the function of a layer (hkt_run_measured), whoever reads it. Of a layer whose handler tells of
// itself one run in HKT_SAMPLE_EVERY is measured at any time; of those that somebody watches, each run.
#ifndef HKT_METER_H
#define HKT_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct HKTMeter {
  _Atomic(uint64_t) runs;      // that were measured
  _Atomic(uint64_t) ticks;     // what they took
  _Atomic(uint64_t) waited;    // beside that, ticks in which they waited for other threads in their own script
  _Atomic(uint64_t) longest;   // one of them, in ticks
  _Atomic(uint64_t) *buckets;  // how many took so long, by hkt_meter_bucket; NULL until somebody watches
} HKTMeter;
enum { HKT_METER_BUCKETS = 64 };

/// Which runs of a layer are measured.
typedef enum HKTMeasuring : uint32_t {
  HKT_MEASURE_NONE = 0,
  HKT_MEASURE_SOME = 1,  // one of a thread's in HKT_SAMPLE_EVERY
  HKT_MEASURE_ALL = 2,
} HKTMeasuring;
/// Odd, so that layers and phases which take turns are all measured.
enum { HKT_SAMPLE_EVERY = 61 };

/// NULL: no memory.
HKTMeter *hkt_meter_new(void);
/// When no call can use it any more.
void hkt_meter_free(HKTMeter *meter);
/// Counts runs by their time from now on; without memory for it they are not. One thread at a time.
void hkt_meter_count_buckets(HKTMeter *meter);
/// One run took so many ticks. Any thread, also in a signal handler.
void hkt_meter_add(HKTMeter *meter, uint64_t ticks);

typedef struct HKTMeterReading {
  uint64_t runs, ticks, waited, longest;
} HKTMeterReading;
/// What was measured so far.
/// - buckets: HKT_METER_BUCKETS numbers, all 0 where nobody watched.
HKTMeterReading hkt_meter_read(const HKTMeter *meter, uint64_t *buckets);

/// The handler at work on this thread has waited so many ticks for another thread that was in its script: no time of its own.
void hkt_note_waited(uint64_t ticks);

/// Two buckets for each power of two, from 32 ticks on.
uint32_t hkt_meter_bucket(uint64_t ticks);
/// The least number of ticks that belongs to a bucket.
uint64_t hkt_meter_bucket_start(uint32_t bucket);

#endif
