// flow_steps.c — what one instruction does: which places it reads for their value, which it writes, what becomes of the stack pointer, and where
// it goes on.
//
// An instruction may name a register and care nothing for what is in it: `ignores_value` and `makes_constant` know those.
#include "flow_steps.h"

/// The place of a register; 0 for those that hold no values of calls.
static HKTPlaces place_of(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return 0;
  if (reg == ZYDIS_REGISTER_AH || reg == ZYDIS_REGISTER_CH || reg == ZYDIS_REGISTER_DH || reg == ZYDIS_REGISTER_BH)
    return HKT_GPR(reg - ZYDIS_REGISTER_AH);
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15) return HKT_GPR(whole - ZYDIS_REGISTER_RAX);
  switch (ZydisRegisterGetClass(whole)) {
    case ZYDIS_REGCLASS_XMM: case ZYDIS_REGCLASS_YMM: case ZYDIS_REGCLASS_ZMM: {
      int id = ZydisRegisterGetId(whole);
      return id < 16 ? HKT_XMM(id) : 0;
    }
    default: return 0;
  }
}

/// The operand is that register, in this size.
static bool is_register(const ZydisDecodedOperand *op, ZydisRegister reg) {
  return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == reg;
}
/// Both operands are registers, and the same one.
static bool same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b) {
  return a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_REGISTER && a->reg.value == b->reg.value;
}

/// The instruction's result does not depend on what its register operands held: a zero, all ones, a carry spread out.
static bool makes_constant(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  int last = in->operand_count_visible - 1;
  bool equal = last >= 1 && same_register(&op[last - 1], &op[last]);
  int64_t immediate = last >= 1 && op[last].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? op[last].imm.value.s : 1;
  switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_XOR: case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_PXOR: case ZYDIS_MNEMONIC_XORPS: case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_VPXOR: case ZYDIS_MNEMONIC_VXORPS: case ZYDIS_MNEMONIC_VXORPD:
    case ZYDIS_MNEMONIC_PCMPEQB: case ZYDIS_MNEMONIC_PCMPEQW: case ZYDIS_MNEMONIC_PCMPEQD: case ZYDIS_MNEMONIC_PCMPEQQ:
    case ZYDIS_MNEMONIC_VPCMPEQB: case ZYDIS_MNEMONIC_VPCMPEQW: case ZYDIS_MNEMONIC_VPCMPEQD: case ZYDIS_MNEMONIC_VPCMPEQQ:
    case ZYDIS_MNEMONIC_PSUBB: case ZYDIS_MNEMONIC_PSUBW: case ZYDIS_MNEMONIC_PSUBD: case ZYDIS_MNEMONIC_PSUBQ:
      return equal;
    case ZYDIS_MNEMONIC_OR: return immediate == -1;
    case ZYDIS_MNEMONIC_AND: return immediate == 0;
    default: return false;
  }
}

/// A vector instruction that combines its first operand's value with the others, lane by lane: not one that only keeps
/// lanes nobody wants.
static bool combines(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADDSS: case ZYDIS_MNEMONIC_ADDSD: case ZYDIS_MNEMONIC_ADDPS: case ZYDIS_MNEMONIC_ADDPD:
    case ZYDIS_MNEMONIC_SUBSS: case ZYDIS_MNEMONIC_SUBSD: case ZYDIS_MNEMONIC_SUBPS: case ZYDIS_MNEMONIC_SUBPD:
    case ZYDIS_MNEMONIC_MULSS: case ZYDIS_MNEMONIC_MULSD: case ZYDIS_MNEMONIC_MULPS: case ZYDIS_MNEMONIC_MULPD:
    case ZYDIS_MNEMONIC_DIVSS: case ZYDIS_MNEMONIC_DIVSD: case ZYDIS_MNEMONIC_DIVPS: case ZYDIS_MNEMONIC_DIVPD:
    case ZYDIS_MNEMONIC_MINSS: case ZYDIS_MNEMONIC_MINSD: case ZYDIS_MNEMONIC_MAXSS: case ZYDIS_MNEMONIC_MAXSD:
    case ZYDIS_MNEMONIC_ANDPS: case ZYDIS_MNEMONIC_ANDPD: case ZYDIS_MNEMONIC_XORPS: case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_PADDB: case ZYDIS_MNEMONIC_PADDW: case ZYDIS_MNEMONIC_PADDD: case ZYDIS_MNEMONIC_PADDQ:
    case ZYDIS_MNEMONIC_CMPSS: case ZYDIS_MNEMONIC_CMPSD: case ZYDIS_MNEMONIC_UCOMISS: case ZYDIS_MNEMONIC_UCOMISD:
    case ZYDIS_MNEMONIC_COMISS: case ZYDIS_MNEMONIC_COMISD:
      return true;
    default: return false;
  }
}

/// Operand `i` names a register whose value does not matter.
static bool ignores_value(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, int i) {
  switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_NOP: case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_XCHG: case ZYDIS_MNEMONIC_LEAVE:
      return op[i].type == ZYDIS_OPERAND_TYPE_REGISTER || in->mnemonic == ZYDIS_MNEMONIC_NOP;
    default: break;
  }
  HKTPlaces place = op[i].type == ZYDIS_OPERAND_TYPE_REGISTER ? place_of(op[i].reg.value) : 0;
  bool is_vector = place >> 16 != 0;
  // A destination that keeps some lanes; in the three-operand forms the second operand gives them.
  if (is_vector && i == 0 && !combines(in->mnemonic)) return true;
  if (is_vector && i == 1 && in->operand_count_visible == 3 && in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return true;
  return false;
}

/// What the instruction touches of the frame, by the stack or the frame pointer.
static void note_stack(Step *step, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM) return;
  if (op->mem.base != ZYDIS_REGISTER_RSP && op->mem.base != ZYDIS_REGISTER_RBP) return;
  if (op->mem.index != ZYDIS_REGISTER_NONE) {
    step->indexed_base = op->mem.base == ZYDIS_REGISTER_RSP ? 4 : 5;
    step->indexed_offset = (int32_t)op->mem.disp.value;
    return;
  }
  if (in->mnemonic == ZYDIS_MNEMONIC_PUSH && op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) return;
  if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) return;  // the slot a push, pop, call or return uses
  step->stack_base = op->mem.base == ZYDIS_REGISTER_RSP ? 4 : 5;
  step->stack_offset = (int32_t)op->mem.disp.value;
  step->stack_size = (uint8_t)(op->size / 8);
  if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ && !makes_constant(in, op)) step->reads_stack = true;
  if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) step->writes_stack = true;
}

/// What the instruction reaches of memory, and how.
static void note_memory(Step *step, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  if (in->mnemonic == ZYDIS_MNEMONIC_LEA || op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) return;
  bool is_frame = op->mem.base == ZYDIS_REGISTER_RSP || op->mem.base == ZYDIS_REGISTER_RBP;
  step->memory_offset = (int32_t)op->mem.disp.value;
  step->addresses |= place_of(op->mem.base) | place_of(op->mem.index);
  if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ && !is_frame) step->loads_elsewhere = true;
  if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && !is_frame) step->stores_elsewhere = true;
}

/// What the instruction does to rsp and rbp.
static void note_frame(Step *step, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  step->frame_lea = NO_OFFSET;
  bool writes_rsp = step->writes & HKT_GPR(4);
  switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_PUSH: step->rsp_change = -8; return;
    case ZYDIS_MNEMONIC_POP:
      step->rsp_change = is_register(&op[0], ZYDIS_REGISTER_RSP) ? NO_OFFSET : 8;
      return;
    case ZYDIS_MNEMONIC_PUSHFQ: step->rsp_change = -8; return;
    case ZYDIS_MNEMONIC_POPFQ: step->rsp_change = 8; return;
    case ZYDIS_MNEMONIC_LEAVE: step->frame_drop = true; step->rsp_change = 8; return;
    case ZYDIS_MNEMONIC_CALL: case ZYDIS_MNEMONIC_RET: case ZYDIS_MNEMONIC_JMP: step->rsp_change = 0; return;
    case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_ADD:
      if (writes_rsp && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        int64_t by = op[1].imm.value.s;
        step->rsp_change = (int32_t)(in->mnemonic == ZYDIS_MNEMONIC_SUB ? -by : by);
        return;
      }
      break;
    case ZYDIS_MNEMONIC_MOV:
      if (is_register(&op[0], ZYDIS_REGISTER_RBP) && is_register(&op[1], ZYDIS_REGISTER_RSP)) step->frame_set = true;
      if (is_register(&op[0], ZYDIS_REGISTER_RSP) && is_register(&op[1], ZYDIS_REGISTER_RBP)) {
        step->frame_drop = true;
        return;
      }
      break;
    case ZYDIS_MNEMONIC_LEA:
      // Async functions keep their context below the frame pointer.
      if (is_register(&op[0], ZYDIS_REGISTER_RBP) && op[1].mem.base == ZYDIS_REGISTER_RSP && op[1].mem.index == ZYDIS_REGISTER_NONE) {
        step->frame_set = true;
        step->frame_above = (int32_t)op[1].mem.disp.value;
      }
      if (is_register(&op[0], ZYDIS_REGISTER_RSP) && op[1].mem.index == ZYDIS_REGISTER_NONE) {
        if (op[1].mem.base == ZYDIS_REGISTER_RSP) { step->rsp_change = (int32_t)op[1].mem.disp.value; return; }
        if (op[1].mem.base == ZYDIS_REGISTER_RBP) { step->frame_lea = (int32_t)op[1].mem.disp.value; return; }
      }
      break;
    default: break;
  }
  if (writes_rsp) step->rsp_change = NO_OFFSET;
}

/// Where the instruction goes on.
static Kind kind_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  bool direct = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (in->meta.category) {
    case ZYDIS_CATEGORY_CALL: return direct ? CALL : CALL_ELSEWHERE;
    case ZYDIS_CATEGORY_UNCOND_BR: return direct ? JUMP : JUMP_ELSEWHERE;
    case ZYDIS_CATEGORY_COND_BR: return BRANCH;
    case ZYDIS_CATEGORY_RET: return END;
    default: break;
  }
  switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_UD2: case ZYDIS_MNEMONIC_UD0: case ZYDIS_MNEMONIC_UD1: case ZYDIS_MNEMONIC_INT3: case ZYDIS_MNEMONIC_HLT: return END;
    default: return NEXT;
  }
}

bool hkt_read_step(const ZydisDecoder *decoder, const HKTCode *code, uint64_t offset, Step *step) {
  ZydisDecodedInstruction in;
  ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code->bytes + offset, code->size - offset, &in, op))) return false;
  *step = (Step){.offset = (uint32_t)offset, .length = in.length, .kind = (uint8_t)kind_of(&in, op), .stack_base = -1,
                 .indexed_base = -1};
  bool constant = makes_constant(&in, op);
  for (int i = 0; i < in.operand_count; i++) {
    if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
      HKTPlaces place = place_of(op[i].reg.value);
      if (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ && !constant) step->names |= place;
      if (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ && !constant && !ignores_value(&in, op, i)) step->reads |= place;
      if (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) step->writes |= place;
    } else if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && in.mnemonic != ZYDIS_MNEMONIC_NOP) {
      step->reads |= place_of(op[i].mem.base) | place_of(op[i].mem.index);
      note_stack(step, &in, &op[i]);
      note_memory(step, &in, &op[i]);
      if (in.mnemonic == ZYDIS_MNEMONIC_LEA) step->leads_by = place_of(op[i].mem.base);
      else if (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ) {
        step->loads_by = step->loads ? 0 : place_of(op[i].mem.base);
        step->loads = true;
      }
    }
  }
  step->names |= step->reads;
  step->takes_flags = in.cpu_flags != NULL && in.cpu_flags->tested != 0;
  if (in.mnemonic == ZYDIS_MNEMONIC_CMP || in.mnemonic == ZYDIS_MNEMONIC_TEST) step->compares = step->reads & ~step->addresses;
  step->reads &= ~(HKT_GPR(4) | HKT_GPR(5));
  bool on_r12 = in.operand_count_visible == 2 && same_register(&op[0], &op[1]) && place_of(op[0].reg.value) == HKT_GPR(12);
  step->clears_r12 = on_r12 && in.mnemonic == ZYDIS_MNEMONIC_XOR;
  bool has_two = in.operand_count_visible == 2 && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
  bool with_itself = has_two && in.mnemonic == ZYDIS_MNEMONIC_TEST && same_register(&op[0], &op[1]);
  bool with_constant = has_two && in.mnemonic == ZYDIS_MNEMONIC_CMP && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  if (with_itself || with_constant) step->tested = place_of(op[0].reg.value);
  if (has_two && in.mnemonic == ZYDIS_MNEMONIC_MOV && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].size == 64) step->copied = place_of(op[1].reg.value);
  if (has_two && in.mnemonic == ZYDIS_MNEMONIC_MOV && is_register(&op[1], ZYDIS_REGISTER_R12)) step->copies_r12 = place_of(op[0].reg.value);
  bool stores = in.operand_count_visible == 2 && in.mnemonic == ZYDIS_MNEMONIC_MOV && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
  if (stores) step->stored = place_of(op[1].reg.value);
  if (has_two && in.mnemonic == ZYDIS_MNEMONIC_MOV && op[1].type == ZYDIS_OPERAND_TYPE_MEMORY && op[1].size == 64) step->loaded = place_of(op[0].reg.value);
  step->tests_memory = in.operand_count_visible == 2 && in.mnemonic == ZYDIS_MNEMONIC_CMP && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                       op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  step->tests_r12 = step->tested & HKT_GPR(12);
  note_frame(step, &in, op);
  if (has_two && in.mnemonic == ZYDIS_MNEMONIC_MOV && (is_register(&op[1], ZYDIS_REGISTER_RSP) || is_register(&op[1], ZYDIS_REGISTER_RBP)) &&
      !(step->writes & (HKT_GPR(4) | HKT_GPR(5))))
    step->copies_frame = true;
  if (in.mnemonic == ZYDIS_MNEMONIC_LEA && !(step->writes & (HKT_GPR(4) | HKT_GPR(5))) &&
      (op[1].mem.base == ZYDIS_REGISTER_RSP || op[1].mem.base == ZYDIS_REGISTER_RBP)) {
    step->takes_address = true;
    step->stack_base = op[1].mem.base == ZYDIS_REGISTER_RSP ? 4 : 5;
    step->stack_offset = (int32_t)op[1].mem.disp.value;
    step->stack_size = 0;
  }
  const ZydisDecodedOperand *source = &op[in.mnemonic == ZYDIS_MNEMONIC_JMP ? 0 : 1];
  // A load from one fixed address (an async function's, to jump there) reads no table.
  step->loads_table = (in.mnemonic == ZYDIS_MNEMONIC_MOVSXD || in.mnemonic == ZYDIS_MNEMONIC_JMP) &&
                      source->type == ZYDIS_OPERAND_TYPE_MEMORY && source->mem.base != ZYDIS_REGISTER_RIP &&
                      (in.mnemonic == ZYDIS_MNEMONIC_MOVSXD || source->mem.index != ZYDIS_REGISTER_NONE);
  if (step->kind == JUMP || step->kind == BRANCH || step->kind == CALL)
    step->target = code->address + offset + in.length + (uint64_t)op[0].imm.value.s;
  if (in.mnemonic == ZYDIS_MNEMONIC_LEA && op[1].mem.base == ZYDIS_REGISTER_RIP)
    step->target = code->address + offset + in.length + (uint64_t)op[1].mem.disp.value;
  return true;
}
