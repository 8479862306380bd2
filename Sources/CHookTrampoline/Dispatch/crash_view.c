// The hooked calls of a thread, for the report of a crash: read in a signal handler, of a thread whose stack may be damaged.
#define _GNU_SOURCE 1
#include "HKTCalls.h"
#include "HKTPeek.h"
#include "calls_internal.h"
#include "thread_records.h"

int32_t hkt_calls_of_thread(int32_t tid, uint64_t *pairs, int32_t room) {
  HKTThread *t = atomic_load(&hkt_all_threads);
  while (t && (t->tid != tid || !atomic_load(&t->in_use))) t = t->next;
  int32_t count = 0;
  HKTCall *at = t ? t->top : NULL;
  for (int depth = 0; at && depth < 256; depth++) {
    HKTCall call;
    HKTLayers layers;
    HKTLayer layer;
    if (!hkt_peek((uint64_t)at, &call, sizeof call) || call.thread != t) break;
    bool is_known = call.layers && hkt_peek((uint64_t)call.layers, &layers, sizeof layers) && call.index < layers.count;
    if (is_known && count < room && hkt_peek((uint64_t)&call.layers->layer[call.index], &layer, sizeof layer)) {
      pairs[2 * count] = (uint64_t)layer.context;
      pairs[2 * count++ + 1] = hkt_is_set(&call, HKT_CALL_IN_HANDLER);
    }
    at = call.up;
  }
  return count;
}
