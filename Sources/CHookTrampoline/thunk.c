// Reads the thunks that the compiler leaves where it merged equal functions: a few moves of constants into argument
// registers, then a jump (or a call and return) to the merged body.
#include "HKTThunk.h"

#include <Zydis/Zydis.h>
#include <string.h>

enum { LONGEST_THUNK = 96 };

static int argument_index(ZydisRegister reg) {
  static const ZydisRegister order[HKT_THUNK_REGISTERS] = {
    ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_R8, ZYDIS_REGISTER_R9,
  };
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  for (int i = 0; i < HKT_THUNK_REGISTERS; i++)
    if (order[i] == whole) return i;
  return -1;
}

/// Notes what one instruction does to the argument registers; false when it is nothing a merge thunk holds.
static bool note(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t next, HKTThunk *thunk) {
  switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_NOP:
      return true;
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_XOR:
      break;
    default:
      return false;
  }
  if (op[0].type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
  int index = argument_index(op[0].reg.value);
  if (index < 0) return false;
  uint32_t bit = 1u << index;
  thunk->written |= bit;
  thunk->known &= ~bit;
  uint64_t value;
  if (in->mnemonic == ZYDIS_MNEMONIC_LEA && op[1].mem.base == ZYDIS_REGISTER_RIP) value = next + (uint64_t)op[1].mem.disp.value;
  else if (in->mnemonic == ZYDIS_MNEMONIC_MOV && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
    value = op[0].size == 32 ? (uint32_t)op[1].imm.value.u : op[1].imm.value.u;
  else if (in->mnemonic == ZYDIS_MNEMONIC_XOR && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].reg.value == op[0].reg.value) value = 0;
  else return true;  // written, with a value only a run can tell
  thunk->known |= bit;
  thunk->value[index] = value;
  return true;
}

bool hkt_read_thunk(const uint8_t *code, uint64_t size, uint64_t address, HKTThunk *thunk) {
  memset(thunk, 0, sizeof *thunk);
  if (size == 0 || size > LONGEST_THUNK) return false;
  ZydisDecoder decoder;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return false;
  uint64_t offset = 0;
  while (offset < size) {
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + offset, size - offset, &in, op))) return false;
    uint64_t next = address + offset + in.length;
    if (in.mnemonic == ZYDIS_MNEMONIC_JMP && op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      thunk->target = next + (uint64_t)op[0].imm.value.s;
      return thunk->target - address >= size;
    }
    bool frame = (in.mnemonic == ZYDIS_MNEMONIC_PUSH || in.mnemonic == ZYDIS_MNEMONIC_POP) && op[0].reg.value == ZYDIS_REGISTER_RBP;
    frame = frame || (in.mnemonic == ZYDIS_MNEMONIC_MOV && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == ZYDIS_REGISTER_RBP);
    if (!frame && !note(&in, op, next, thunk)) return false;
    offset += in.length;
  }
  return false;
}

/// Notes an instruction that leaves the function of `size` bytes at `address`; false for all others.
static bool note_exit(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t next, uint64_t address, uint64_t size,
                      HKTExit *found) {
  bool jumps = in->meta.category == ZYDIS_CATEGORY_COND_BR || in->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
  if (in->mnemonic != ZYDIS_MNEMONIC_CALL && !jumps) return false;
  bool is_direct = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  *found = (HKTExit){.target = is_direct ? next + (uint64_t)op[0].imm.value.s : 0, .is_jump = jumps};
  return !jumps || !is_direct || found->target - address >= size;
}

size_t hkt_find_exits(const uint8_t *code, uint64_t size, uint64_t address, HKTExit *found, size_t capacity) {
  ZydisDecoder decoder;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return SIZE_MAX;
  size_t n = 0;
  for (uint64_t offset = 0; offset < size;) {
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + offset, size - offset, &in, op))) return SIZE_MAX;
    offset += in.length;
    HKTExit exit;
    if (!note_exit(&in, op, address + offset, address, size, &exit)) continue;
    if (n < capacity) found[n] = exit;
    n++;
  }
  return n;
}

bool hkt_reads_word_at(const uint8_t *code, uint64_t size, int64_t displacement) {
  ZydisDecoder decoder;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return false;
  ZydisDecodedInstruction in;
  for (uint64_t offset = 0; offset < size; offset += in.length) {
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + offset, size - offset, &in, op))) return false;
    for (int i = 0; i < in.operand_count_visible; i++) {
      const ZydisDecodedOperand *o = &op[i];
      if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->size == 64 && (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) &&
          o->mem.disp.value == displacement && o->mem.base != ZYDIS_REGISTER_RSP && o->mem.base != ZYDIS_REGISTER_RBP &&
          o->mem.base != ZYDIS_REGISTER_RIP)
        return true;
    }
  }
  return false;
}

size_t hkt_find_branches(const uint8_t *code, uint64_t size, uint64_t address, const uint64_t *targets, size_t count,
                         HKTBranch *found, size_t capacity) {
  size_t n = 0;
  if (count == 0) return 0;
  for (uint64_t i = 0; i + 5 <= size; i++) {
    bool conditional = i > 0 && code[i - 1] == 0x0F && (code[i] & 0xF0) == 0x80;
    if (code[i] != 0xE8 && code[i] != 0xE9 && !conditional) continue;
    int32_t distance;
    memcpy(&distance, code + i + 1, 4);
    uint64_t target = address + i + 5 + (uint64_t)(int64_t)distance;
    if (target < targets[0] || target > targets[count - 1]) continue;
    size_t low = 0, high = count;
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (targets[middle] < target) low = middle + 1;
      else high = middle;
    }
    if (low == count || targets[low] != target) continue;
    if (n < capacity) found[n] = (HKTBranch){.from = address + i, .to = target};
    n++;
  }
  return n;
}
