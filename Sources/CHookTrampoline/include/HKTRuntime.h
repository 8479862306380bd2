// HKTRuntime — functions of the Swift runtime that Swift itself may not name, each with its own convention.
//
// Inline, so that C programs that use the rest of this module need no Swift runtime.
#ifndef HKT_RUNTIME_H
#define HKT_RUNTIME_H

#include <stdbool.h>

/// The object's deinit runs or ran (its memory is still there).
extern bool swift_isDeallocating(const void *object);
static inline bool hkt_is_ending(const void *object) { return swift_isDeallocating(object); }

typedef struct HKTBox { void *object; void *value; } HKTBox;
extern HKTBox swift_allocBox(const void *type) __attribute__((swiftcall));
extern void swift_deallocBox(void *object);
/// A heap box for one value of a type, as indirect enum cases have it: retained, the value not yet made.
static inline HKTBox hkt_box_new(const void *type) { return swift_allocBox(type); }
/// Frees a box whose value was never made, or is gone.
static inline void hkt_box_free(void *object) { swift_deallocBox(object); }

#endif
