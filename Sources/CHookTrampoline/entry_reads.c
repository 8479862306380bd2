// Which argument registers a function uses, as far as its first straight line tells.
#include "HKTThunk.h"

#include <Zydis/Zydis.h>

static uint32_t argument_bit(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return 0;
  switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg)) {
    case ZYDIS_REGISTER_RDI: return 1;
    case ZYDIS_REGISTER_RSI: return 2;
    case ZYDIS_REGISTER_RDX: return 4;
    case ZYDIS_REGISTER_RCX: return 8;
    case ZYDIS_REGISTER_R8: return 16;
    case ZYDIS_REGISTER_R9: return 32;
    default: return 0;
  }
}

/// `xor %edi, %edi` reads nothing.
static bool only_clears(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  return (in->mnemonic == ZYDIS_MNEMONIC_XOR || in->mnemonic == ZYDIS_MNEMONIC_SUB) && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == op[1].reg.value;
}

uint32_t hkt_entry_reads(const uint8_t *code, uint64_t size) {
  ZydisDecoder decoder;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return 0;
  uint32_t read = 0, written = 0;
  for (uint64_t offset = 0; offset < size;) {
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + offset, size - offset, &in, op))) break;
    if (in.meta.category == ZYDIS_CATEGORY_CALL || in.meta.category == ZYDIS_CATEGORY_UNCOND_BR || in.meta.category == ZYDIS_CATEGORY_RET)
      break;
    uint32_t reads = 0, writes = 0;
    for (int i = 0; i < in.operand_count; i++) {
      if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY) reads |= argument_bit(op[i].mem.base) | argument_bit(op[i].mem.index);
      if (op[i].type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
      if (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ) reads |= argument_bit(op[i].reg.value);
      if (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) writes |= argument_bit(op[i].reg.value);
    }
    if (in.mnemonic == ZYDIS_MNEMONIC_NOP) reads = writes = 0;
    if (!only_clears(&in, op)) read |= reads & ~written;
    written |= writes;
    offset += in.length;
  }
  return read;
}
