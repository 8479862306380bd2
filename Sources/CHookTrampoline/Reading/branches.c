// Where functions go, and who names them.
#include "HKTPatching.h"
#include "HKTThunk.h"

#include "decoder.h"

#include <stdlib.h>
#include <string.h>

// MARK: Where a function goes

/// Notes an instruction that leaves the function of `size` bytes at `address`; false for all others.
static bool note_exit(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t next, uint64_t address, uint64_t size,
                      HKTExit *found) {
  bool jumps = in->meta.category == ZYDIS_CATEGORY_COND_BR || in->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
  if (in->mnemonic != ZYDIS_MNEMONIC_CALL && !jumps) return false;
  bool is_direct = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  *found = (HKTExit){.target = is_direct ? next + (uint64_t)op[0].imm.value.s : 0, .is_jump = jumps};
  return !jumps || !is_direct || found->target - address >= size;
}

typedef enum Found { END, EXIT, RETURN, NEITHER, UNKNOWN } Found;

/// As `note_exit`, of what the quick decoder tells: most instructions. UNKNOWN: it is for the decoder.
static Found note_exit_quickly(const uint8_t *code, uint64_t left, uint64_t here, uint64_t address, uint64_t size, uint8_t *length, HKTExit *found) {
  HKTQuickDecode seen;
  if (!hkt_quick_decode(code, left, &seen)) return UNKNOWN;
  *length = seen.length;
  uint64_t target = here + seen.length + (uint64_t)(int64_t)seen.distance;
  switch (seen.course) {
    case HKT_COURSE_RETURN: return RETURN;
    case HKT_COURSE_CALL: *found = (HKTExit){.target = target}; return EXIT;
    case HKT_COURSE_CALL_INDIRECT: *found = (HKTExit){0}; return EXIT;
    case HKT_COURSE_JUMP_INDIRECT: *found = (HKTExit){.is_jump = true}; return EXIT;
    case HKT_COURSE_JUMP: case HKT_COURSE_CONDITIONAL:
      *found = (HKTExit){.target = target, .is_jump = true};
      return target - address >= size ? EXIT : NEITHER;
    case HKT_COURSE_COUNTER: case HKT_COURSE_UNMOVABLE: return UNKNOWN;
    default: return NEITHER;
  }
}

/// Goes on from `offset` behind the next instruction that leaves the function or returns from it.
static Found next_exit(const ZydisDecoder *decoder, const uint8_t *code, uint64_t size, uint64_t address, uint64_t *offset, HKTExit *exit) {
  while (*offset < size) {
    uint8_t length;
    Found found = note_exit_quickly(code + *offset, size - *offset, address + *offset, address, size, &length, exit);
    if (found != UNKNOWN) {
      *offset += length;
      if (found == NEITHER) continue;
      return found;
    }
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code + *offset, size - *offset, &in, op))) return UNKNOWN;
    *offset += in.length;
    if (in.meta.category == ZYDIS_CATEGORY_RET) return RETURN;
    if (note_exit(&in, op, address + *offset, address, size, exit)) return EXIT;
  }
  return END;
}

size_t hkt_find_exits(const uint8_t *code, uint64_t size, uint64_t address, HKTExit *exits, size_t capacity) {
  ZydisDecoder decoder = hkt_decoder();
  size_t n = 0;
  uint64_t offset = 0;
  HKTExit exit;
  for (Found found; (found = next_exit(&decoder, code, size, address, &offset, &exit)) != END;) {
    if (found == UNKNOWN) return SIZE_MAX;
    if (found == RETURN) continue;
    if (n < capacity) exits[n] = exit;
    n++;
  }
  return n;
}

bool hkt_may_return(const uint8_t *code, uint64_t size, uint64_t address) {
  ZydisDecoder decoder = hkt_decoder();
  uint64_t offset = 0;
  HKTExit exit;
  for (Found found; (found = next_exit(&decoder, code, size, address, &offset, &exit)) != END;)
    if (found != EXIT || exit.is_jump) return true;
  return false;
}

// MARK: Who names a function

/// Sorted addresses, of which there is one at least, and a bit for each address from the first to the last one.
typedef struct Targets {
  const uint64_t *addresses;
  size_t count;
  uint64_t span;
  uint8_t *bits;  // NULL: they are looked for among the addresses
} Targets;

/// What targets may span with a table of bits (bytes): 32 MiB of table.
static const uint64_t longest_span = UINT64_C(256) << 20;

/// To be freed with `free(bits)`. Without memory it is slower.
static Targets make_targets(const uint64_t *addresses, size_t count) {
  Targets targets = {addresses, count, addresses[count - 1] - addresses[0], NULL};
  if (targets.span < longest_span) targets.bits = calloc(targets.span / 8 + 1, 1);
  for (size_t i = 0; targets.bits != NULL && i < count; i++) {
    uint64_t bit = addresses[i] - addresses[0];
    targets.bits[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
  return targets;
}

/// The address is one of the targets.
static inline bool is_target(const Targets *targets, uint64_t address) {
  uint64_t bit = address - targets->addresses[0];
  if (bit > targets->span) return false;
  if (targets->bits != NULL) return (targets->bits[bit / 8] >> bit % 8 & 1) != 0;
  size_t low = 0, high = targets->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (targets->addresses[middle] < address) low = middle + 1;
    else high = middle;
  }
  return targets->addresses[low] == address;
}

/// Where the four bytes of a direct branch at `i` begin; 0 when there is none.
static inline uint64_t branch_at(const uint8_t *code, uint64_t i) {
  bool conditional = i > 0 && code[i - 1] == 0x0F && (code[i] & 0xF0) == 0x80;
  return code[i] == 0xE8 || code[i] == 0xE9 || conditional ? i + 1 : 0;
}

/// Where the distance lies that the code at `i` names an address by: a lea's, or a branch's; 0 where it names none.
static inline uint64_t use_at(const uint8_t *code, uint64_t i) {
  return code[i] == 0x8D && (code[i + 1] & 0xC7) == 0x05 ? i + 2 : branch_at(code, i);
}

/// A jump of two bytes, to a function close by.
static inline bool is_short_jump(uint8_t opcode) { return opcode == 0xEB || (opcode & 0xF0) == 0x70; }

bool hkt_is_short_jump(uint8_t opcode) { return is_short_jump(opcode); }

size_t hkt_find_uses(const uint8_t *code, uint64_t size, uint64_t address, const uint64_t *targets, size_t count, HKTBranch *found,
                     size_t capacity) {
  size_t n = 0;
  if (count == 0) return 0;
  Targets all = make_targets(targets, count);
  for (uint64_t i = 0; i + 2 <= size; i++) {
    bool is_short = is_short_jump(code[i]);
    uint64_t at = is_short ? i + 1 : use_at(code, i), end = at + (is_short ? 1 : 4);
    if (at == 0 || end > size) continue;
    int32_t distance = (int8_t)code[at];
    if (!is_short) memcpy(&distance, code + at, 4);
    uint64_t target = address + end + (uint64_t)(int64_t)distance;
    if (!is_target(&all, target)) continue;
    if (n < capacity) found[n] = (HKTBranch){.from = address + i, .to = target};
    n++;
  }
  free(all.bits);
  return n;
}

bool hkt_has_instruction(const uint8_t *code, uint64_t size, uint64_t wanted) {
  ZydisDecoder decoder = hkt_decoder();
  uint64_t offset = 0;
  for (ZydisDecodedInstruction in; offset < wanted; offset += in.length)
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + offset, size - offset, &in))) return true;
  return offset == wanted;
}
