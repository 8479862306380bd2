// Private to this folder: what one instruction does, in places.
#ifndef HKT_FLOW_STEPS_H
#define HKT_FLOW_STEPS_H

#include "HKTFlow.h"

#include "decoder.h"

enum { NO_OFFSET = HKT_NO_OFFSET };

typedef enum Kind { NEXT, JUMP, BRANCH, CALL, CALL_ELSEWHERE, JUMP_ELSEWHERE, END } Kind;

typedef struct Step {
  uint32_t offset;
  uint8_t length;
  uint8_t kind;
  int8_t stack_base;       // 4 or 5: touches [rsp+…] or [rbp+…]; else -1
  bool reads_stack, writes_stack;
  bool clears_r12, tests_r12;
  HKTPlaces tested;        // a register compared with itself or a constant
  bool tests_memory;       // memory is compared with a constant
  HKTPlaces copies_r12;    // the register that r12 is copied to
  HKTPlaces stored;        // the register that goes to memory
  HKTPlaces loaded;        // the register that comes from memory, in all its bits
  bool takes_address;      // a lea of a place in the frame
  int8_t indexed_base;     // 4 or 5: touches [rsp+…] or [rbp+…] with an index, from `indexed_offset` on; else -1
  int32_t indexed_offset;
  bool copies_frame;       // the stack or frame pointer, to another register
  bool loads;              // reads memory …
  HKTPlaces loads_by;      // … by the address in that register; 0: by none, or by several
  bool loads_elsewhere, stores_elsewhere;  // reads, writes memory that no stack or frame pointer leads to
  int32_t memory_offset;   // the distance at which it loads or writes memory
  bool takes_flags;        // what it does depends on them
  HKTPlaces compares;      // registers it compares or tests
  HKTPlaces addresses;     // registers by which it reaches memory
  HKTPlaces leads_by;      // the register that a lea computes an address from
  HKTPlaces copied;        // the register of which all 64 bits are copied to another
  bool loads_table;        // reads an entry of a table that may be one of jumps
  uint8_t stack_size;      // bytes touched there
  int32_t stack_offset;
  HKTPlaces reads;         // registers read for their value
  HKTPlaces names;         // registers read in any way
  HKTPlaces writes;
  int32_t rsp_change;      // NO_OFFSET: unknown
  bool frame_set, frame_drop;  // mov rbp, rsp or lea rbp, [rsp+n]; mov rsp, rbp or leave
  int32_t frame_above;     // that n
  int32_t frame_lea;       // lea rsp, [rbp+n]; NO_OFFSET when it is none
  uint64_t target;         // JUMP, BRANCH, CALL: where to; NEXT: what a lea computes from rip, or 0
} Step;

/// Reads the instruction at an offset of the code. False where it is none that is known.
__attribute__((visibility("hidden"))) bool hkt_read_step(const ZydisDecoder *decoder, const HKTCode *code, uint64_t offset, Step *step);

#endif
