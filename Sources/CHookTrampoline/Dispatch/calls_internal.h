// Private to this target: what async.c and meter.c share with calls.c.
#ifndef HKT_CALLS_INTERNAL_H
#define HKT_CALLS_INTERNAL_H

#include "CHookTrampoline.h"

#include <pthread.h>

// `state` is written as the whole word it is read as: a compiler that narrows `&=` to one byte makes the next read
// wait for the store.
static inline uint32_t hkt_state(const HKTCall *call) { return __atomic_load_n(&call->state, __ATOMIC_RELAXED); }
static inline bool hkt_is_set(const HKTCall *call, uint32_t bits) { return hkt_state(call) & bits; }
static inline void hkt_set_state(HKTCall *call, uint32_t bits) { __atomic_store_n(&call->state, hkt_state(call) | bits, __ATOMIC_RELAXED); }
static inline void hkt_clear_state(HKTCall *call, uint32_t bits) { __atomic_store_n(&call->state, hkt_state(call) & ~bits, __ATOMIC_RELAXED); }

/// Calls may come to this body that were delivered at another one.
static inline bool hkt_is_reached_twice(const HKTBodyRecord *body) {
  return __atomic_load_n(&body->forwarder_count, __ATOMIC_RELAXED) != 0 || (hkt_record_flags(body) & HKT_BODY_HAS_SLOTS);
}

/// Work of ours takes locks, and the end of a thread that is cancelled in its midst would leave them taken for ever: until hkt_let_cancel
/// the thread is not cancelled.
/// @return what hkt_let_cancel is to be given.
static inline int hkt_hold_cancel(void) {
  int state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  return state;
}
static inline void hkt_let_cancel(int state) { pthread_setcancelstate(state, NULL); }

/// Hooks do not fire on this thread now.
bool hkt_passes_through(HKTThread *t);
bool hkt_is_call_of(const HKTBodyRecord *record, const HKTFrame *frame);
/// Puts back the arguments that the layer of that index and those inside it have replaced. The call is HKT_CALL_REPLACED.
void hkt_restore_arguments(HKTCall *call, uint32_t index);

/// The set the call runs through, kept from being freed on every thread until it is let go. NULL: there is none.
HKTLayers *hkt_layers_hold(HKTThread *t, HKTBodyRecord *record, const HKTFrame *frame);
void hkt_layers_let_go(HKTLayers *layers);

/// Makes the lock of plans new: a forked child calls it, whose other threads are gone.
void hkt_plan_lock_reset(void);
void hkt_make_plan(HKTThread *t, HKTBodyRecord *record);
/// What is read of a call, and how much of its stack the original takes, stands in the plan.
static inline void hkt_need_plan(HKTThread *t, HKTBodyRecord *record) {
  if (__builtin_expect(!__atomic_load_n(&record->plan, __ATOMIC_ACQUIRE), 0)) hkt_make_plan(t, record);
}

/// The next run of the layer on this thread is measured.
static inline __attribute__((always_inline)) bool hkt_is_due(HKTThread *t, const HKTLayer *layer) {
  if (layer->measuring != HKT_MEASURE_SOME) return layer->measuring;
  if (__builtin_expect(++t->unmeasured < HKT_SAMPLE_EVERY, 1)) return false;
  t->unmeasured = 0;
  return true;
}
/// Runs the layer's function and notes its own time in the layer's meter.
__attribute__((noinline, visibility("hidden"))) HKTOutcome hkt_run_measured(HKTCall *call, HKTLayer *layer, HKTPhase phase);

/// Runs one layer with the call as the innermost of its thread, which is set. Linked only meanwhile.
HKTOutcome hkt_run_layer(HKTCall *call, HKTLayer *layer, HKTPhase phase);
/// Ends what the call kept alive, and tells of layers that are spent.
void hkt_release_kept(HKTCall *call);

/// Ends old values that no caller can look at; UINT64_MAX: all.
void hkt_end_deferred(HKTThread *t, uint64_t stack);

#endif
