// HKTRuntime — functions of the Swift runtime that Swift itself may not name, each with its own convention.
//
// Inline, so that C programs that use the rest of this module need no Swift runtime.
#ifndef HKT_RUNTIME_H
#define HKT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The object's deinit runs or ran (its memory is still there).
extern bool swift_isDeallocating(const void *object);
static inline bool hkt_is_ending(const void *object) { return swift_isDeallocating(object); }

extern _Bool hkt_proxies_stand;
/// Objects that are read may be proxies (HookRuntime/NewTypes/Delegates). Set once, never taken back.
static inline void hkt_note_proxies(void) { __atomic_store_n(&hkt_proxies_stand, 1, __ATOMIC_RELAXED); }
static inline bool hkt_has_proxies(void) { return __atomic_load_n(&hkt_proxies_stand, __ATOMIC_RELAXED); }

/// Keeps the memory of an object that the caller retains, also where its end is no matter of counting: a function whose object the optimiser
/// saw escape nowhere ends and frees it without a look at its references, unless there is an unowned one. Once for each retain.
void hkt_keep_memory(const void *object);
/// Gives that back.
void hkt_release_memory(const void *object);

/// Where an object lies that more unowned references count than its own: see frame_objects.c.
bool hkt_lies_in_frame(const void *object);
/// Of `count` words, the first that points at an object on this thread's stack; NULL for none. Guesses right where nothing
/// tells the words' types.
const void *hkt_frame_object_among(const void *words, size_t count);

/// How many words of a closure's context can be looked at, `most` at most.
size_t hkt_context_words(const void *context, size_t most);

extern size_t swift_unownedRetainCount(const void *object);
extern size_t swift_retainCount(const void *object);
static inline size_t hkt_retain_count(const void *object) { return swift_retainCount(object); }
/// The object lies in the frame of a function that runs, and is gone when that returns, whoever retains it.
static inline bool hkt_is_in_frame(const void *object) {
  size_t unowned = swift_unownedRetainCount(object);
  // Objects that live for ever have all bits set.
  return unowned >= 2 && unowned < 0x7fffffff && hkt_lies_in_frame(object);
}

typedef struct HKTBox { void *object; void *value; } HKTBox;
extern HKTBox swift_allocBox(const void *type) __attribute__((swiftcall));
extern void swift_deallocBox(void *object);
/// A heap box for one value of a type, as indirect enum cases have it: retained, the value not yet made.
static inline HKTBox hkt_box_new(const void *type) { return swift_allocBox(type); }
/// Frees a box whose value was never made, or is gone.
static inline void hkt_box_free(void *object) { swift_deallocBox(object); }

#endif
