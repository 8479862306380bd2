// Private to this target: executable memory near a body.
#ifndef HKT_STUB_SPACE_H
#define HKT_STUB_SPACE_H

#include "patch_record.h"

/// The most one stub takes.
#define HKT_STUB_MAX (HKT_STUB_HEAD + 160)

/// A place for one stub; it is taken by hkt_stub_commit, and not before.
typedef struct HKTStubPlace {
  struct HKTArena *arena;
  uint64_t address;  // where it will run
} HKTStubPlace;

/// Finds HKT_STUB_MAX bytes that a five-byte jump at `body` reaches, as near as possible when `near` is set
/// (a new arena beside the image, where an earlier arena was too far for an operand).
bool hkt_stub_place(uint64_t body, bool near, HKTStubPlace *place, HKTRefusal *refusal);

/// Writes the stub's bytes and takes the place for ever.
bool hkt_stub_commit(HKTStubPlace place, const uint8_t *bytes, uint32_t length, HKTRefusal *refusal);

/// Whether stubs live in memory that is mapped twice; false when they are written like code.
bool hkt_stub_space_is_shared(void);

/// The first HKT_STUB_HEAD bytes of a stub: a jump to the address in the record's first word, with the record in r11. A
/// site's first word is its entry.
void hkt_write_stub_head(uint8_t stub[HKT_STUB_HEAD], const void *record);

/// Never freed, zeroed records in ordinary memory. NULL when there is no memory.
void *hkt_record_allocate(size_t size);

void hkt_stub_totals(HKTTotals *totals);

#endif
