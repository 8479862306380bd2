// Private to this target: calls that were left without returning.
#ifndef HKT_LEFT_CALLS_H
#define HKT_LEFT_CALLS_H

#include "calls_internal.h"
#include "layer_sets.h"

/// The innermost record is of a frame that was left without returning (longjmp, a foreign exception), or on another stack.
static inline bool hkt_has_left(const HKTThread *t, const HKTFrame *frame) {
  // No record is at 0, which is greater than any when one is taken away.
  return __builtin_expect((uint64_t)t->top - 1 < (uint64_t)frame - 1, 0);
}

HKT_HIDDEN void hkt_drop_abandoned_calls(HKTThread *t, const HKTFrame *frame);

/// Before anything is read of the calls around one that begins in `frame`: takes those out that are not there any more.
static inline void hkt_drop_left(HKTThread *t, const HKTFrame *frame) {
  if (t->top || t->outermost) hkt_drop_abandoned_calls(t, frame);
}

#endif
