// HKTFrameRule — where a function that keeps no frame pointer has its return address, by the image's call frame information.
//
// The format is that of DWARF 4, 6.4, as the Linux Standard Base 10.6 has it in `.eh_frame` and `.eh_frame_hdr`.
#ifndef HKT_FRAME_RULE_H
#define HKT_FRAME_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A section of a file: its bytes, and where they are when the file is loaded at 0.
typedef struct HKTSection {
  const uint8_t *bytes;
  uint64_t size, address;
} HKTSection;

/// How to find the caller's frame at one instruction. The return address lies 8 bytes below the caller's stack pointer.
typedef struct HKTFrameRule {
  bool is_from_frame_pointer;  // the caller's stack pointer is rbp + `distance`, not rsp + `distance`
  bool is_frame_pointer_saved; // the caller's rbp lies `frame_pointer` bytes from the caller's stack pointer; else rbp still has it
  int64_t distance;            // bytes
  int64_t frame_pointer;       // bytes
} HKTFrameRule;

/// The rule at `counter`, an address of the file. `index` is its `.eh_frame_hdr`, `frames` its `.eh_frame`. false: the tables have none, or one
/// that needs more than a register and a distance. Trusts nothing in the tables; any thread, no locks.
bool hkt_frame_rule(const HKTSection *index, const HKTSection *frames, uint64_t counter, HKTFrameRule *rule);

#endif
