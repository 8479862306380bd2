// Where a function goes on elsewhere, and whether the second and third argument are zero there: of `swift_task_switch` these are
// the executor. Both are zero for none, the third for a default actor.
#include "HKTThunk.h"

#include "decoder.h"

/// The general register's bit; 0 for others.
static uint32_t bit_of(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE || ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg) < 32) return 0;
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) return 0;
  return UINT32_C(1) << (whole - ZYDIS_REGISTER_RAX);
}

/// Registers the instruction may write, of any width.
static uint32_t written(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  uint32_t bits = 0;
  for (int i = 0; i < in->operand_count; i++) {
    if (op[i].type != ZYDIS_OPERAND_TYPE_REGISTER || !(op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    bits |= bit_of(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op[i].reg.value));
  }
  return bits;
}

/// Registers that are zero after the instruction, of those that it writes.
static uint32_t zeroed(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint32_t zero) {
  if (in->operand_count_visible != 2 || op[0].type != ZYDIS_OPERAND_TYPE_REGISTER || op[1].type != ZYDIS_OPERAND_TYPE_REGISTER) return 0;
  uint32_t target = bit_of(op[0].reg.value), source = bit_of(op[1].reg.value);
  if (in->mnemonic == ZYDIS_MNEMONIC_XOR && op[0].reg.value == op[1].reg.value) return target;
  return in->mnemonic == ZYDIS_MNEMONIC_MOV && source & zero ? target : 0;
}

size_t hkt_find_exit_jumps(const uint8_t *code, uint64_t size, uint64_t address, HKTExitJump *found, size_t capacity) {
  ZydisDecoder decoder = hkt_decoder();
  size_t count = 0;
  uint32_t zero = 0;
  for (uint64_t offset = 0; offset < size;) {
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + offset, size - offset, &in, op))) break;
    bool jumps = in.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    ZyanU64 target = 0;
    if (jumps && op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&in, &op[0], address + offset, &target)) && target - address >= size) {
      if (count < capacity) found[count] = (HKTExitJump){target, (zero >> 6 & 1) != 0, (zero >> 2 & 1) != 0};
      count++;
    }
    if (jumps || in.meta.category == ZYDIS_CATEGORY_CALL || in.meta.category == ZYDIS_CATEGORY_RET) {
      zero = 0;
    } else {
      uint32_t now = zeroed(&in, op, zero);
      zero = (zero & ~written(&in, op)) | now;
    }
    offset += in.length;
  }
  return count;
}
