// Layer sets and tables of objects: published, taken by calls, freed when the last call has left them.
//
// Invariant: what was published is freed only when it is unpublished and no hazard slot and no deep user names it.
// Entering threads store the slot, then read the published pointer again; retiring threads unpublish, run a barrier on
// all threads (membarrier), then read the slots.
#define _GNU_SOURCE 1
#include "layer_sets.h"
#include "calls_internal.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(HKTLayer) == 64, "HookRuntime/Dispatch writes layers");

pthread_mutex_t hkt_retire_lock = PTHREAD_MUTEX_INITIALIZER;
static HKTKept *retired;
static uint32_t retired_count;

// MARK: Sets

HKTLayers *hkt_layers_new(uint32_t count) {
  HKTLayers *layers = calloc(1, sizeof(HKTLayers) + count * sizeof(HKTLayer));
  if (layers) layers->count = count;
  return layers;
}

void hkt_layers_set(HKTLayers *layers, uint32_t index, HKTLayer layer) {
  // There was no memory for the meter.
  if (!layer.meter) layer.measuring = HKT_MEASURE_NONE;
  bool is_conditional = layer.filter || layer.route || layer.state || layer.one_in > 1;
  layer.special = (is_conditional ? HKT_LAYER_IS_CONDITIONAL : 0) | (layer.measuring != HKT_MEASURE_NONE ? HKT_LAYER_IS_MEASURED : 0);
  layers->layer[index] = layer;
  layers->phases |= layer.phases;
  if (layer.order & HKT_ORDER_OBJECT) layers->objects++;
  layers->is_single = layers->count == 1 && (layer.phases & (HKT_ON_ENTER | HKT_ON_AROUND | HKT_ON_EXIT)) == HKT_ON_ENTER;
}

void hkt_layers_mute(HKTLayers *layers, uint64_t order) {
  __atomic_store_n(&layers->is_single, 0, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < layers->count; i++)
    if (layers->layer[i].order == order) __atomic_store_n(&layers->layer[i].phases, 0, __ATOMIC_RELAXED);
}

HKTLayers *hkt_record_publish(HKTBodyRecord *record, HKTLayers *layers) {
  // No more than a hint: calls look at the set that they get.
  if (layers && !layers->is_single) hkt_record_add_flags(record, HKT_BODY_IS_LAYERED);
  else __atomic_fetch_and(&record->flags, ~(uint32_t)HKT_BODY_IS_LAYERED, __ATOMIC_RELAXED);
  return __atomic_exchange_n(&record->layers, layers, __ATOMIC_ACQ_REL);
}

HKTObjects *hkt_record_publish_objects(HKTBodyRecord *record, HKTObjects *objects) {
  if (objects) hkt_record_add_flags(record, HKT_BODY_IS_ASKED);
  return __atomic_exchange_n(&record->objects, objects, __ATOMIC_ACQ_REL);
}

bool hkt_record_add_forwarders(HKTBodyRecord *record, const HKTForwarder *forwarders, uint32_t count) {
  uint32_t before = record->forwarder_count;
  HKTForwarder *list = malloc((before + count) * sizeof *list);
  if (!list) return false;
  if (before) memcpy(list, record->forwarder, before * sizeof *list);
  memcpy(list + before, forwarders, count * sizeof *list);
  hkt_record_add_flags(record, HKT_BODY_IS_ASKED);
  // Calls read the number first: what they see of the list is never shorter. The old list may be in use.
  __atomic_store_n(&record->forwarder, list, __ATOMIC_RELEASE);
  __atomic_store_n(&record->forwarder_count, before + count, __ATOMIC_RELEASE);
  return true;
}

bool hkt_record_share_forwarders(HKTBodyRecord *record, const HKTForwarder *forwarders, uint32_t count) {
  if (record->forwarder_count) return false;
  hkt_record_add_flags(record, HKT_BODY_IS_ASKED);
  // The list is stored first: calls read the number first, and what they see of the list is never shorter.
  __atomic_store_n(&record->forwarder, forwarders, __ATOMIC_RELEASE);
  __atomic_store_n(&record->forwarder_count, count, __ATOMIC_RELEASE);
  return true;
}

void hkt_site_add_record(HKTSite *site, HKTBodyRecord *record) {
  record->next = __atomic_load_n((HKTBodyRecord **)&site->owner, __ATOMIC_ACQUIRE);
  __atomic_store_n((HKTBodyRecord **)&site->owner, record, __ATOMIC_RELEASE);
}

// MARK: Objects

enum { REMOVED = 1 };  // no object's address

/// Where the search for an object's set begins.
static uint64_t slot_of(const HKTObjects *o, uint64_t object) { return (object * 0x9e3779b97f4a7c15ull >> 24) & (o->capacity - 1); }

HKTObjects *hkt_objects_new(uint64_t count) {
  uint64_t capacity = 8;
  while (capacity < 4 * count) capacity *= 2;
  HKTObjects *o = calloc(1, sizeof *o + capacity * sizeof o->entry[0]);
  if (o) o->capacity = capacity;
  return o;
}

/// The entry of the object, or the empty one where the search for it ends.
static HKTObjectEntry *find(HKTObjects *o, uint64_t object) {
  for (uint64_t i = slot_of(o, object);; i = (i + 1) & (o->capacity - 1)) {
    uint64_t found = atomic_load_explicit(&o->entry[i].object, memory_order_acquire);
    if (found == object || !found) return &o->entry[i];
  }
}

bool hkt_objects_set(HKTObjects *o, uint64_t object, uint64_t identity, HKTLayers *layers, HKTLayers **former) {
  HKTObjectEntry *e = find(o, object);
  *former = NULL;
  if (!e->object) {
    if (2 * (o->used + 1) > o->capacity) return false;
    o->used++;
    atomic_store_explicit(&e->identity, identity, memory_order_relaxed);
    atomic_store_explicit(&e->layers, layers, memory_order_release);
    atomic_store_explicit(&e->object, object, memory_order_release);
    return true;
  }
  *former = e->layers;
  if (e->identity != identity) {
    atomic_store_explicit(&e->layers, NULL, memory_order_release);
    atomic_store_explicit(&e->identity, identity, memory_order_release);
  }
  atomic_store_explicit(&e->layers, layers, memory_order_release);
  return true;
}

HKTLayers *hkt_objects_take(HKTObjects *o, uint64_t object) {
  HKTObjectEntry *e = find(o, object);
  if (!e->object) return NULL;
  HKTLayers *former = e->layers;
  atomic_store_explicit(&e->layers, NULL, memory_order_release);
  atomic_store_explicit(&e->object, REMOVED, memory_order_release);
  return former;
}

HKTObjects *hkt_objects_copy(HKTObjects *from, uint64_t count) {
  HKTObjects *o = hkt_objects_new(count);
  HKTLayers *none;
  for (uint64_t i = 0; o && i < from->capacity; i++) {
    HKTObjectEntry *e = &from->entry[i];
    if (e->object > REMOVED) hkt_objects_set(o, e->object, e->identity, e->layers, &none);
  }
  return o;
}

/// Looks in the table, which cannot go meanwhile. NULL: nothing there for this object.
static HKTLayers *look_up(HKTObjects *o, uint64_t self, HKTObjectEntry **entry) {
  HKTObjectEntry *e = find(o, self);
  *entry = e;
  if (!atomic_load_explicit(&e->object, memory_order_relaxed)) return NULL;
  // The object's second word names its side table, which is no other object's while a weak reference of ours is there.
  if (((const uint64_t *)self)[1] != atomic_load_explicit(&e->identity, memory_order_acquire)) return NULL;
  return atomic_load_explicit(&e->layers, memory_order_acquire);
}

/// Where no second slot is left: nothing is freed under the lock.
static HKTLayers *protect_deep(HKTThread *t, HKTBodyRecord *record, uint64_t self) {
  HKTObjectEntry *e;
  pthread_mutex_lock(&hkt_retire_lock);
  HKTObjects *o = __atomic_load_n(&record->objects, __ATOMIC_ACQUIRE);
  HKTLayers *layers = o ? look_up(o, self, &e) : NULL;
  if (layers) {
    uint32_t slot = t->protected_count;
    if (slot < HKT_HAZARDS) {
      t->holder[slot] = NULL;
      atomic_store(&t->hazard[slot], layers);
    } else {
      atomic_fetch_add(&layers->kept.deep_users, 1);
    }
    t->protected_count = slot + 1;
  }
  pthread_mutex_unlock(&hkt_retire_lock);
  return layers;
}

HKTLayers *hkt_protect_object_layers(HKTThread *t, HKTBodyRecord *record, const HKTFrame *frame) {
  // Where self is, the plan says; a record that came after the object's hooks may have none yet.
  hkt_need_plan(t, record);
  uint64_t self = hkt_self_of(record, frame);
  if (self < 4096) return NULL;
  uint32_t slot = t->protected_count, table_slot = slot + 1;
  if (table_slot >= HKT_HAZARDS) return protect_deep(t, record, self);
  HKTLayers *layers;
  // Both are taken before they are used: a signal handler's calls take others.
  t->holder[slot] = t->holder[table_slot] = NULL;
  t->protected_count = table_slot + 1;
  atomic_signal_fence(memory_order_seq_cst);
  for (;;) {
    // What was found before and is not there any more is not to be used.
    layers = NULL;
    HKTObjects *o = __atomic_load_n(&record->objects, __ATOMIC_ACQUIRE);
    if (!o) break;
    atomic_store_explicit(&t->hazard[table_slot], o, memory_order_relaxed);
    hkt_hazard_fence(hkt_is_unfenced());
    if (o != __atomic_load_n(&record->objects, __ATOMIC_ACQUIRE)) continue;
    HKTObjectEntry *e;
    layers = look_up(o, self, &e);
    if (!layers) break;
    atomic_store_explicit(&t->hazard[slot], layers, memory_order_relaxed);
    hkt_hazard_fence(hkt_is_unfenced());
    // Still the table that is written to, and still the object's set.
    HKTObjectEntry *again;
    if (o == __atomic_load_n(&record->objects, __ATOMIC_ACQUIRE) && layers == look_up(o, self, &again) && e == again) break;
  }
  atomic_store_explicit(&t->hazard[table_slot], NULL, memory_order_release);
  if (!layers) atomic_store_explicit(&t->hazard[slot], NULL, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst);
  t->protected_count = layers ? table_slot : slot;
  return layers;
}

// MARK: Reclaiming

/// Some thread runs layers of the set, so that it cannot be freed yet.
static bool in_use(HKTKept *kept) {
  for (HKTThread *t = atomic_load(&hkt_all_threads); t; t = t->next) {
    if (atomic_load_explicit(&t->outermost, memory_order_acquire) == kept) return true;
    for (int i = 0; i < HKT_HAZARDS; i++)
      if (atomic_load_explicit(&t->hazard[i], memory_order_acquire) == kept) return true;
  }
  // Last: an async call counts itself before it gives its thread's slot back.
  return atomic_load(&kept->deep_users) > 0;
}

void hkt_retire(HKTKept *kept) {
  if (!kept) return;
  pthread_mutex_lock(&hkt_retire_lock);
  kept->next_retired = retired;
  retired = kept;
  retired_count++;
  pthread_mutex_unlock(&hkt_retire_lock);
}

void hkt_reclaim(void) {
  HKTThread *self = hkt_thread();
  if (self) self->host++;
  hkt_threads_prepare();
  HKTKept *to_free = NULL;
  bool is_sure = true;
  pthread_mutex_lock(&hkt_retire_lock);
  if (retired) {
    if (atomic_load(&hkt_process_is) & HKT_PROCESS_UNFENCED) {
      atomic_thread_fence(memory_order_seq_cst);
    } else if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
      // It worked once; the program has closed it since. Calls fence for themselves from here on, and nothing is freed this time.
      atomic_fetch_or(&hkt_process_is, HKT_PROCESS_UNFENCED);
      is_sure = false;
    }
  }
  for (HKTKept **link = &retired; is_sure && *link;) {
    HKTKept *each = *link;
    if (in_use(each)) { link = &each->next_retired; continue; }
    *link = each->next_retired;
    each->next_retired = to_free;
    to_free = each;
    retired_count--;
  }
  pthread_mutex_unlock(&hkt_retire_lock);
  while (to_free) {  // outside the lock: on_free may retire others
    HKTKept *next = to_free->next_retired;
    if (to_free->on_free) to_free->on_free(to_free->owner);
    free(to_free);
    to_free = next;
  }
  if (self) self->host--;
}

uint32_t hkt_retired_waiting(void) {
  pthread_mutex_lock(&hkt_retire_lock);
  uint32_t n = retired_count;
  pthread_mutex_unlock(&hkt_retire_lock);
  return n;
}
