// Private to this target: which layers of its set a call runs through.
#ifndef HKT_LAYER_CHOICE_H
#define HKT_LAYER_CHOICE_H

#include "calls_internal.h"

/// Whether a conditional layer takes part in the call: asked once per way down, before the original, which may end self.
/// A layer that does so once is spent by it.
bool hkt_passes_conditions(HKTCall *call, HKTLayer *layer);

/// The first layer from `index` on that takes part; the number of layers for none.
static inline uint32_t hkt_next_layer(HKTCall *call, uint32_t index) {
  const HKTLayers *layers = call->layers;
  for (; index < layers->count; index++) {
    if (__builtin_expect(index == call->gap, 0)) index = call->gap_end;
    if (index == layers->count) break;
    HKTLayer *layer = (HKTLayer *)&layers->layer[index];
    if (__builtin_expect(!(layer->special & HKT_LAYER_IS_CONDITIONAL), 1) || hkt_passes_conditions(call, layer)) break;
  }
  return index;
}

HKTCall *hkt_find_handler(HKTCall *chain, const void *family);
/// The call of the selector whose handler makes the call that begins now, itself or by what it calls: the innermost one, if
/// it is in a handler. NULL: none, all layers run.
static inline HKTCall *hkt_handler_of(const HKTThread *t, const void *family) {
  return __builtin_expect(t->at_work == 0, 1) ? NULL : hkt_find_handler(t->top, family);
}

/// Chooses where a call starts that the handler which `running` is in has made, to the method it handles: with the next layer
/// down. Sets first, gap, gap_end.
///
/// Down is by order, for the set may be another one: of another object, or of a later time. The layers of an object that
/// no handler of this thread is at work on are not among those the handler was called by: they all run.
void hkt_start_below(HKTCall *call, HKTCall *running);

#endif
