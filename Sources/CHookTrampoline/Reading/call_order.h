// Private to this target: which calls a function has made before it comes to a place.
#ifndef HKT_CALL_ORDER_H
#define HKT_CALL_ORDER_H

#include "HKTFlow.h"

/// What a callee is to the one who asks. Ways that begin with one end with one of another kind; between them may be pairs of others.
typedef enum HKTOrder : uint8_t { HKT_ORDER_NEITHER, HKT_ORDER_BEGINS, HKT_ORDER_OPENS, HKT_ORDER_CLOSES } HKTOrder;

typedef struct HKTCallOrder {
  HKTCode code;
  uint64_t place;        // the instruction there, or the call that returns to it
  bool is_return;
  bool stores_close;     // a register that is put into memory beyond the frame closes, too
  /// Of a function, or of a piece of code that goes on to it.
  HKTOrder (*callee)(uint64_t target);
} HKTCallOrder;

/// Whether a way leads from a call of what begins to the place, without a call of what closes more than was opened on the way. True as well where
/// that cannot be told for jumps to computed places, or for want of memory. Runs in signal handlers.
__attribute__((visibility("hidden"))) bool hkt_is_behind_call(const HKTCallOrder *order);

#endif
