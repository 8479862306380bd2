// Which layers of a set a call runs through: filters, routes, layers that run once, calls that handlers make themselves.
#include "layer_choice.h"
#include "layer_sets.h"

#include <stdatomic.h>
#include <x86intrin.h>

// MARK: Conditions

/// An object begins with its class's metadata, whose second word is the superclass's. A switched class is the original's subclass.
static bool is_of_class(const HKTBodyRecord *body, uint64_t self, uint64_t wanted) {
  if (!self) return false;
  const uint64_t *class = (const uint64_t *)self;
  if (!(hkt_record_flags(body) & HKT_BODY_SELF_IS_CLASS)) class = *(const uint64_t *const *)self;
  for (; class; class = (const uint64_t *)class[1])
    if ((uint64_t)class == wanted) return true;
  return false;
}

/// Calls that arrive at the record go on to what layers of the route are for, or stand for calls that would: an object's own
/// class has no words for the hooks of the class that it was made of.
static bool is_on_the_way(uint8_t route, const HKTBodyRecord *body) {
  if (route == HKT_ROUTE_DYNAMIC) return hkt_record_flags(body) & HKT_BODY_RUNS_DYNAMIC;
  return route == HKT_ROUTE_VTABLE && body->route == HKT_ROUTE_CLASS_SWITCH;
}

/// False when another call was first.
static bool spend(HKTLayerState *state, HKTCall *call) {
  uint32_t armed = atomic_load_explicit(&state->once, memory_order_relaxed);
  if (armed == HKT_ONCE_SPENT || !atomic_compare_exchange_strong(&state->once, &armed, HKT_ONCE_SPENT)) return false;
  if (armed == HKT_ONCE_ARMED) hkt_set_state(call, HKT_CALL_SPENT);
  return true;
}

/// The thread's place for the layer's calls. Allocations are 32 bytes apart, at least.
static inline HKTLayerCount *count_of(HKTThread *t, const HKTLayerState *state) {
  return &t->layer_counts[((uintptr_t)state >> 5) % HKT_COUNTS];
}

/// In the thread's own record where there is a place: a counter that all threads write moves between the processors' caches.
static inline void count_layer(HKTLayerState *state) {
  // Not the call's, which an async call may have left.
  HKTThread *t = hkt_thread_here();
  HKTLayerCount *count = t ? count_of(t, state) : NULL;
  HKTLayerState *counted = count ? atomic_load_explicit(&count->state, memory_order_relaxed) : NULL;
  if (count && !counted) {
    atomic_store_explicit(&count->calls, 1, memory_order_relaxed);
    atomic_store_explicit(&count->state, state, memory_order_release);
  } else if (counted == state) {
    uint64_t calls = atomic_load_explicit(&count->calls, memory_order_relaxed);
    atomic_store_explicit(&count->calls, calls + 1, memory_order_relaxed);
  } else {
    atomic_fetch_add_explicit(&state->calls, 1, memory_order_relaxed);
  }
}

uint64_t hkt_layer_calls(HKTLayerState *state) {
  uint64_t calls = atomic_load_explicit(&state->calls, memory_order_relaxed);
  for (HKTThread *t = atomic_load(&hkt_all_threads); t; t = t->next) {
    HKTLayerCount *count = count_of(t, state);
    if (atomic_load_explicit(&count->state, memory_order_acquire) == state)
      calls += atomic_load_explicit(&count->calls, memory_order_relaxed);
  }
  return calls;
}

void hkt_layer_state_end(HKTLayerState *state) {
  for (HKTThread *t = atomic_load(&hkt_all_threads); t; t = t->next) {
    // Only the thread itself fills an empty place, and with this state no more.
    HKTLayerState *ended = state;
    atomic_compare_exchange_strong(&count_of(t, state)->state, &ended, NULL);
  }
}

/// One of so many, by chance: turns would fall in step with what the program repeats.
static bool is_chosen(uint32_t one_in) {
  uint64_t z = __rdtsc() + 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (z ^ z >> 31) % one_in == 0;
}

bool hkt_passes_conditions(HKTCall *call, HKTLayer *layer) {
  const HKTBodyRecord *body = call->body;
  if (layer->route && layer->route != body->route && !is_on_the_way(layer->route, body)) return false;
  if (layer->filter == HKT_FILTER_CLASS && !is_of_class(body, hkt_self_of(body, call->frame), layer->filter_value)) return false;
  if (layer->filter == HKT_FILTER_IMPORTER && !(body->importer & layer->filter_value)) return false;
  if (layer->one_in > 1 && !is_chosen(layer->one_in)) return false;
  HKTLayerState *state = layer->state;
  if (!state) return true;
  if (atomic_load_explicit(&state->once, memory_order_relaxed) != HKT_ONCE_NOT && !spend(state, call)) return false;
  count_layer(state);
  return true;
}

// MARK: A handler's own calls

HKTCall *hkt_find_handler(HKTCall *chain, const void *family) {
  while (chain && chain->body->family != family) chain = chain->up;
  return chain && hkt_is_set(chain, HKT_CALL_IN_HANDLER) ? chain : NULL;
}

/// The first layer in [from, upto) that is further in than `order`.
static uint32_t below(const HKTLayers *layers, uint32_t from, uint32_t upto, uint64_t order) {
  while (from < upto && layers->layer[from].order >= order) from++;
  return from;
}

static uint64_t running_order(const HKTCall *call) { return call->layers->layer[call->index].order; }

/// The innermost call of the selector on the same object, of the thread's chain; NULL: none.
static const HKTCall *call_on_same(const HKTCall *call, const HKTCall *running, uint64_t self) {
  for (const HKTCall *c = running; c; c = c->up)
    if (c->body->family == call->body->family && hkt_self_of(c->body, c->frame) == self) return c;
  return NULL;
}

void hkt_start_below(HKTCall *call, HKTCall *running) {
  const HKTLayers *layers = call->layers;
  if (layers == running->layers) {
    // One object's own set, or one without objects.
    call->first = running->index + 1;
    return;
  }
  uint32_t type = below(layers, layers->objects, layers->count, running_order(running));
  call->first = type;
  if (!layers->objects) return;
  const HKTCall *same = call_on_same(call, running, hkt_self_of(call->body, call->frame));
  uint32_t object = same && hkt_is_set(same, HKT_CALL_IN_HANDLER) ? below(layers, 0, layers->objects, running_order(same)) : 0;
  if (object == layers->objects) return;
  call->first = object;
  call->gap = layers->objects;
  call->gap_end = type;
}
