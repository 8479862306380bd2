// Where functions go, and who names them.
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

typedef enum Found { END, EXIT, RETURN, UNKNOWN } Found;

/// Goes on from `offset` behind the next instruction that leaves the function or returns from it.
static Found next_exit(const ZydisDecoder *decoder, const uint8_t *code, uint64_t size, uint64_t address, uint64_t *offset, HKTExit *exit) {
  while (*offset < size) {
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

/// Sorted addresses, and a table of bits that tells most of the others at once.
typedef struct Targets {
  const uint64_t *addresses;
  size_t count;
  uint8_t *bits;  // NULL: without
  uint64_t mask;  // of the number of a bit
} Targets;

/// The bit of an address in the filter of targets.
static uint64_t bit_of(const Targets *targets, uint64_t address) { return (address ^ address >> 4 ^ address >> 21) & targets->mask; }

/// To be freed with `free(bits)`. Without memory it is slower.
static Targets make_targets(const uint64_t *addresses, size_t count) {
  uint64_t size = 4096;
  while (size < count * 16 && size < 1 << 24) size *= 2;
  Targets targets = {addresses, count, calloc(size / 8, 1), size - 1};
  for (size_t i = 0; targets.bits != NULL && i < count; i++) {
    uint64_t bit = bit_of(&targets, addresses[i]);
    targets.bits[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
  return targets;
}

/// The address is one of the targets, which are sorted: the filter leaves most others out first.
static inline bool is_target(const Targets *targets, uint64_t address) {
  if (address < targets->addresses[0] || address > targets->addresses[targets->count - 1]) return false;
  uint64_t bit = bit_of(targets, address);
  if (targets->bits != NULL && (targets->bits[bit / 8] >> bit % 8 & 1) == 0) return false;
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

static inline size_t find(uint64_t (*named_at)(const uint8_t *, uint64_t), const uint8_t *code, uint64_t size, uint64_t address,
                          const uint64_t *targets, size_t count, HKTBranch *found, size_t capacity) {
  size_t n = 0;
  if (count == 0) return 0;
  Targets all = make_targets(targets, count);
  for (uint64_t i = 0; i + 2 <= size; i++) {
    bool is_short = is_short_jump(code[i]);
    uint64_t at = is_short ? i + 1 : named_at(code, i), end = at + (is_short ? 1 : 4);
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

size_t hkt_find_branches(const uint8_t *code, uint64_t size, uint64_t address, const uint64_t *targets, size_t count,
                         HKTBranch *found, size_t capacity) {
  return find(branch_at, code, size, address, targets, count, found, capacity);
}

size_t hkt_find_uses(const uint8_t *code, uint64_t size, uint64_t address, const uint64_t *targets, size_t count, HKTBranch *found,
                     size_t capacity) {
  return find(use_at, code, size, address, targets, count, found, capacity);
}

bool hkt_has_instruction(const uint8_t *code, uint64_t size, uint64_t wanted) {
  ZydisDecoder decoder = hkt_decoder();
  uint64_t offset = 0;
  for (ZydisDecodedInstruction in; offset < wanted; offset += in.length)
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + offset, size - offset, &in))) return true;
  return offset == wanted;
}
