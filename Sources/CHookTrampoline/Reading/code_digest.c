// A number for the code of a function that does not depend on where it lies.
#include "HKTCodeDigest.h"

#include "decoder.h"

#include <string.h>

uint64_t hkt_digest_bytes(uint64_t digest, const void *bytes, uint64_t size) {
  const uint8_t *each = bytes;
  for (uint64_t i = 0; i < size; i++) digest = (digest ^ each[i]) * UINT64_C(0x100000001b3);
  return digest;
}

static uint64_t digest_word(uint64_t digest, uint64_t word) { return hkt_digest_bytes(digest, &word, sizeof word); }

/// The operand's target where the instruction names it by its distance; false for all other operands.
static bool find_target(const ZydisDecodedOperand *op, uint64_t next, uint64_t *target) {
  if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative) *target = next + (uint64_t)op->imm.value.s;
  else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RIP) *target = next + (uint64_t)op->mem.disp.value;
  else return false;
  return true;
}

bool hkt_digest_code(const HKTCode *code, const HKTDigestHost *host, uint64_t *digest) {
  ZydisDecoder decoder = hkt_decoder();
  ZydisDecodedInstruction in;
  ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
  for (uint64_t offset = 0; offset < code->size; offset += in.length) {
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code->bytes + offset, code->size - offset, &in, op))) return false;
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    memcpy(bytes, code->bytes + offset, in.length);
    for (int i = 0; i < in.operand_count_visible; i++) {
      uint64_t target;
      if (!find_target(&op[i], code->address + offset + in.length, &target)) continue;
      bool is_memory = op[i].type == ZYDIS_OPERAND_TYPE_MEMORY, is_address = is_memory && op[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN;
      uint8_t at = is_memory ? in.raw.disp.offset : in.raw.imm[0].offset, bits = is_memory ? in.raw.disp.size : in.raw.imm[0].size;
      if (target - code->address < code->size) {
        *digest = digest_word(*digest, target - code->address);
      } else {
        *digest = digest_word(*digest, host->named(host->context, target, is_memory && !is_address ? op[i].size / 8 : 0));
      }
      memset(bytes + at, 0, bits / 8);
    }
    *digest = hkt_digest_bytes(*digest, bytes, in.length);
  }
  return true;
}
