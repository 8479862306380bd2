// Private to this target: taking published layer sets so that they are not freed meanwhile.
#ifndef HKT_LAYER_SETS_H
#define HKT_LAYER_SETS_H

#include "thread_records.h"

#include <pthread.h>

// Held while sets are looked for in use: who has no hazard slot left counts itself under it.
extern HKT_HIDDEN pthread_mutex_t hkt_retire_lock;

static inline bool hkt_is_unfenced(void) {
  return __builtin_expect(atomic_load_explicit(&hkt_process_is, memory_order_relaxed) & HKT_PROCESS_UNFENCED, 0);
}

/// Between writing a hazard slot and reading again what was published; retiring threads run a barrier on all threads.
static inline void hkt_hazard_fence(bool is_unfenced) {
  if (is_unfenced) atomic_thread_fence(memory_order_seq_cst);
  else atomic_signal_fence(memory_order_seq_cst);
}

/// Takes the published set of `record` by a hazard slot, the thread's next one, so that it cannot be freed before
/// `hkt_release_slot`. NULL: there is none, and the slot is taken.
static inline HKTLayers *hkt_protect_in_slot(HKTThread *t, HKTBodyRecord *record, uint32_t slot, bool is_unfenced) {
  t->holder[slot] = NULL;
  t->protected_count = slot + 1;
  for (;;) {
    HKTLayers *layers = __atomic_load_n(&record->layers, __ATOMIC_ACQUIRE);
    if (!layers) return NULL;
    atomic_store_explicit(&t->hazard[slot], layers, memory_order_relaxed);
    hkt_hazard_fence(is_unfenced);
    if (layers == __atomic_load_n(&record->layers, __ATOMIC_ACQUIRE)) return layers;
  }
}

/// Lets go of the set in the slot, the last one that was taken.
static inline void hkt_release_slot(HKTThread *t, uint32_t slot) {
  t->protected_count = slot;
  atomic_store_explicit(&t->hazard[slot], NULL, memory_order_release);
}

/// In place of a slot's number: the thread's `outermost`.
enum { HKT_OUTERMOST = UINT32_MAX };

/// Protects layers by the slot that takes no counting: of a call outside of all handlers, until its original begins.
static inline HKTLayers *hkt_protect_outermost(HKTThread *t, HKTBodyRecord *record) {
  for (;;) {
    HKTLayers *layers = __atomic_load_n(&record->layers, __ATOMIC_ACQUIRE);
    if (!layers) return NULL;
    atomic_store_explicit(&t->outermost, layers, memory_order_relaxed);
    hkt_hazard_fence(false);
    if (layers == __atomic_load_n(&record->layers, __ATOMIC_ACQUIRE)) return layers;
  }
}

/// Lets go of the set that the thread's outermost call runs through.
static inline void hkt_release_outermost(HKTThread *t) { atomic_store_explicit(&t->outermost, NULL, memory_order_release); }

/// Has the thread's next slot protect the layers of a call, which something else protects, too; answers its number, which may be none's.
static inline uint32_t hkt_take_slot_for(HKTThread *t, HKTCall *call) {
  uint32_t slot = t->protected_count;
  if (slot < HKT_HAZARDS) {
    t->holder[slot] = call;
    atomic_store_explicit(&t->hazard[slot], call->layers, memory_order_relaxed);
  }
  t->protected_count = slot + 1;
  return slot;
}

/// What the slot protects.
static inline const void *hkt_slot_layers(const HKTThread *t, uint32_t slot) {
  return atomic_load_explicit(&t->hazard[slot], memory_order_relaxed);
}

/// Has another slot protect what the outermost one does; answers its number, which may be none's (`hkt_release_layers`).
static inline uint32_t hkt_move_outermost(HKTThread *t, HKTCall *call) {
  uint32_t slot = hkt_take_slot_for(t, call);
  if (slot >= HKT_HAZARDS) atomic_fetch_add(&call->layers->kept.deep_users, 1);
  // After the other: whoever looks sees one of them.
  hkt_release_outermost(t);
  return slot;
}

/// Protects layers by a slot, or without one, until `hkt_release_layers`.
static inline HKTLayers *hkt_protect_layers(HKTThread *t, HKTBodyRecord *record) {
  uint32_t slot = t->protected_count;
  if (slot < HKT_HAZARDS) return hkt_protect_in_slot(t, record, slot, hkt_is_unfenced());
  t->protected_count = slot + 1;
  // Deeper than the slots: the outer calls' slots of this thread may not cover this set, so it is counted under the lock that
  // retiring takes.
  pthread_mutex_lock(&hkt_retire_lock);
  HKTLayers *layers = __atomic_load_n(&record->layers, __ATOMIC_ACQUIRE);
  if (layers) atomic_fetch_add(&layers->kept.deep_users, 1);
  pthread_mutex_unlock(&hkt_retire_lock);
  return layers;
}

/// - slot: the one they were taken by, `protected_count` before. What was taken since, and not given back, is not any more.
static inline void hkt_release_layers(HKTThread *t, HKTLayers *layers, uint32_t slot) {
  for (uint32_t above = slot + 1; __builtin_expect(above < t->protected_count && above < HKT_HAZARDS, 0); above++)
    atomic_store_explicit(&t->hazard[above], NULL, memory_order_release);
  if (slot < HKT_HAZARDS) return hkt_release_slot(t, slot);
  t->protected_count = slot;
  if (layers) atomic_fetch_sub(&layers->kept.deep_users, 1);
}

/// The word of the call that names self, 0 where the body does not tell.
static inline uint64_t hkt_self_of(const HKTBodyRecord *body, const HKTFrame *frame) {
  return body->self_at == HKT_SELF_UNKNOWN ? 0 : *(const uint64_t *)((const char *)frame + body->self_at);
}

/// The class of the object that the call is on, where it may be gone afterwards; 0 elsewhere.
static inline uint64_t hkt_class_to_note(const HKTBodyRecord *body, const HKTFrame *frame) {
  if (__builtin_expect(!(hkt_record_flags(body) & HKT_BODY_ENDS_SELF), 1)) return 0;
  uint64_t self = hkt_self_of(body, frame);
  return self ? *(const uint64_t *)self : 0;
}

/// The set of the object that the call is on, taken as above. NULL: it has none, and nothing is taken.
HKT_HIDDEN HKTLayers *hkt_protect_object_layers(HKTThread *t, HKTBodyRecord *record, const HKTFrame *frame);

/// The set that the call runs through. NULL: none, and still to be released.
static inline HKTLayers *hkt_protect_call_layers(HKTThread *t, HKTBodyRecord *record, const HKTFrame *frame) {
  if (__builtin_expect(__atomic_load_n(&record->objects, __ATOMIC_RELAXED) != NULL, 0)) {
    HKTLayers *layers = hkt_protect_object_layers(t, record, frame);
    if (layers) return layers;
  }
  return hkt_protect_layers(t, record);
}

#endif
