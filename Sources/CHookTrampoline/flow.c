// Flow — follows the values a function is given.
//
// Owns the question "does this code take what is in that place?". A forward analysis over the function's instructions:
// the state is the set of places that hold, on every path, what they held at the start. An instruction that reads such a
// place takes the value: compilers emit no instruction for a value that does not exist. The exceptions, which name a
// register and care nothing for what is in it, are `ignores_value` below.
//
// Code that the analysis does not understand proves nothing.
//
// Leaves to the caller what a place means and which functions call which.
#include "HKTFlow.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_BODY = 1 << 20, MOST_TABLES = 512, MOST_TABLE_ENTRIES = 4096, NO_OFFSET = HKT_NO_OFFSET };

static const HKTPlaces PRESERVED_BY_CALLS =
  HKT_GPR(3) | HKT_GPR(4) | HKT_GPR(5) | HKT_GPR(13) | HKT_GPR(14) | HKT_GPR(15) | UINT64_C(0xffffffff00000000);
static const HKTPlaces RESULTS =
  HKT_GPR(0) | HKT_GPR(2) | HKT_GPR(1) | HKT_GPR(8) | HKT_XMM(0) | HKT_XMM(1) | HKT_XMM(2) | HKT_XMM(3);

// MARK: Instructions

typedef enum Kind { NEXT, JUMP, BRANCH, CALL, CALL_ELSEWHERE, JUMP_ELSEWHERE, END } Kind;

/// What one instruction does, in places.
typedef struct Step {
  uint32_t offset;
  uint8_t length;
  uint8_t kind;
  int8_t stack_base;       // 4 or 5: touches [rsp+…] or [rbp+…]; else -1
  bool reads_stack, writes_stack;
  bool clears_r12, tests_r12;
  HKTPlaces tested;        // a register compared with itself or a constant
  HKTPlaces copies_r12;    // the register that r12 is copied to
  HKTPlaces stored;        // the register that goes to memory
  bool takes_address;      // a lea of a place in the frame
  bool copies_frame;       // the stack or frame pointer, to another register
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

static bool is_register(const ZydisDecodedOperand *op, ZydisRegister reg) {
  return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == reg;
}
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

static void note_stack(Step *step, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM || op->mem.index != ZYDIS_REGISTER_NONE) return;
  if (op->mem.base != ZYDIS_REGISTER_RSP && op->mem.base != ZYDIS_REGISTER_RBP) return;
  if (in->mnemonic == ZYDIS_MNEMONIC_PUSH && op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) return;
  if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) return;  // the slot a push, pop, call or return uses
  step->stack_base = op->mem.base == ZYDIS_REGISTER_RSP ? 4 : 5;
  step->stack_offset = (int32_t)op->mem.disp.value;
  step->stack_size = (uint8_t)(op->size / 8);
  if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ && !makes_constant(in, op)) step->reads_stack = true;
  if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) step->writes_stack = true;
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

static bool read_step(const ZydisDecoder *decoder, const HKTCode *code, uint64_t offset, Step *step) {
  ZydisDecodedInstruction in;
  ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code->bytes + offset, code->size - offset, &in, op))) return false;
  *step = (Step){.offset = (uint32_t)offset, .length = in.length, .kind = (uint8_t)kind_of(&in, op), .stack_base = -1};
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
    }
  }
  step->names |= step->reads;
  step->reads &= ~(HKT_GPR(4) | HKT_GPR(5));
  bool on_r12 = in.operand_count_visible == 2 && same_register(&op[0], &op[1]) && place_of(op[0].reg.value) == HKT_GPR(12);
  step->clears_r12 = on_r12 && in.mnemonic == ZYDIS_MNEMONIC_XOR;
  bool has_two = in.operand_count_visible == 2 && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
  bool with_itself = has_two && in.mnemonic == ZYDIS_MNEMONIC_TEST && same_register(&op[0], &op[1]);
  bool with_constant = has_two && in.mnemonic == ZYDIS_MNEMONIC_CMP && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  if (with_itself || with_constant) step->tested = place_of(op[0].reg.value);
  if (has_two && in.mnemonic == ZYDIS_MNEMONIC_MOV && is_register(&op[1], ZYDIS_REGISTER_R12)) step->copies_r12 = place_of(op[0].reg.value);
  bool stores = in.operand_count_visible == 2 && in.mnemonic == ZYDIS_MNEMONIC_MOV && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
  if (stores) step->stored = place_of(op[1].reg.value);
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

// MARK: The function

typedef struct State {
  HKTPlaces held;   // hold the followed values on every path
  int32_t rsp;      // distance from its value at entry; NO_OFFSET: unknown
  int32_t rbp;      // the same for the frame register
  bool r12_clear;   // r12 was cleared and not written since
  bool is_reached, is_queued;
} State;

typedef struct Reading {
  const HKTCode *code;
  const HKTFlowHost *host;
  HKTFlow *flow;
  Step *steps;
  State *states;       // before each step
  uint32_t count;
  int32_t *at;         // step that starts at an offset, -1 where none does
  uint32_t *queue;     // steps whose state changed; each is in it once at most
  uint32_t queued;
  uint64_t tables[MOST_TABLES];
  uint32_t table_count;
  bool too_many_tables;
  bool has_tables;     // else a jump to a computed address leaves the function
  uint64_t call;       // offset of the call whose results are followed; UINT64_MAX: the entry's values
  bool is_whole;
  bool restores_r13;   // pops it
  bool is_possible;    // follows what may be held, on some path, instead of what is held on all
  HKTPlaces after;     // what is followed after the call; 0: its results
  int64_t variable;    // bytes above the stack pointer at the followed call, where a variable is whose uses after it are looked for
  uint32_t variable_size;  // 0: none is
  HKTVariableUse use;
  uint64_t returns_to; // offset the followed call returns to, which finds `call`; 0: `call` is known
} Reading;

/// A bit that nothing takes away again, of no place that is followed after a call.
static const HKTPlaces AFTERWARDS = HKT_STACK_SLOT(31);

static const State ENTRY = {.held = ~(HKT_GPR(4) | HKT_GPR(5)), .rbp = NO_OFFSET};

static bool is_inside(const HKTCode *code, uint64_t address) { return address - code->address < code->size; }

/// The stack slots above the return address that the step touches.
static HKTPlaces slots_of(const Reading *r, const Step *step, const State *state) {
  int32_t base = step->stack_base == 4 ? state->rsp : step->stack_base == 5 ? state->rbp : NO_OFFSET;
  if (base == NO_OFFSET) return 0;
  int64_t from = (int64_t)base + step->stack_offset - 8;
  int64_t to = from + (step->stack_size ? step->stack_size : 8);
  if (from < 0) return 0;
  HKTPlaces slots = 0;
  for (int64_t slot = from / 8; slot * 8 < to; slot++) {
    int64_t bit = slot - r->code->first_slot;
    if (bit >= 0 && bit < 32) slots |= HKT_STACK_SLOT(bit);
  }
  return slots;
}

static bool leaves(const Reading *r, const Step *step) {
  return (step->kind == JUMP || step->kind == BRANCH) && !is_inside(r->code, step->target);
}

/// What the function that the step calls or jumps to takes of what is still held.
static HKTPlaces taken_by(const Reading *r, const Step *step, const State *state) {
  if (!r->host || !r->host->taken || step->target == r->code->address) return 0;
  // Stack slots of this function are other slots of a callee, but its own after a jump with the stack as it came. r12 is
  // cleared for a callee that reports errors.
  bool keeps_slots = leaves(r, step) && state->rsp == 0 && r->code->first_slot == 0;
  HKTPlaces places = state->held & (keeps_slots ? ~UINT64_C(0) : UINT64_C(0xffffffff)) & ~HKT_GPR(12);
  return places ? places & r->host->taken(r->host->context, step->target) : 0;
}

/// What a step may take of what may be held before it.
static HKTPlaces possible(const Reading *r, const Step *step, const State *state) {
  // Saved for the caller at the start, to be had back at the end; any other push may pass an argument.
  const uint8_t *bytes = r->code->bytes + step->offset;
  bool saves = r->restores_r13 && step->offset < 24 && step->length == 2 && bytes[0] == 0x41 && bytes[1] == 0x55;
  HKTPlaces taken = saves ? 0 : step->names;
  bool calls = step->kind == CALL || step->kind == CALL_ELSEWHERE;
  if (calls || leaves(r, step) || step->kind == JUMP_ELSEWHERE) {
    bool is_known = (step->kind == CALL || leaves(r, step)) && r->host && r->host->possible && step->target != r->code->address;
    taken |= is_known ? r->host->possible(r->host->context, step->target) : ~UINT64_C(0);
  }
  return taken & state->held;
}

/// The register that the step copies r12 to is tested soon after, or put by for later.
static bool tests_copy(const Reading *r, const Step *step) {
  enum { NEAR = 12 };
  const Step *end = r->steps + r->count;
  for (const Step *next = step + 1; step->copies_r12 && next < end && next <= step + NEAR; next++) {
    if ((next->tested | next->stored) & step->copies_r12) return true;
    if (next->writes & step->copies_r12) return false;
  }
  return false;
}

/// Notes what a step takes in the state before it.
static void collect(const Reading *r, const Step *step, const State *state) {
  HKTFlow *flow = r->flow;
  if (r->is_possible) {
    flow->reads |= possible(r, step, state);
    if (leaves(r, step) || step->kind == END) flow->returned |= state->held;
    return;
  }
  HKTPlaces taken = step->reads & state->held;
  if (step->reads_stack) taken |= slots_of(r, step, state) & state->held;
  // Code without optimisation, or with a sanitizer's checks, puts what may be an error into its frame first.
  bool looks = step->tests_r12 || (r->returns_to && (step->stored & HKT_GPR(12) || tests_copy(r, step)));
  if (looks && state->held & HKT_GPR(12) && r->call != UINT64_MAX) flow->tests_error = true;
  bool is_followed = step->offset == r->call;
  if (!is_followed && (step->kind == CALL || leaves(r, step))) taken |= taken_by(r, step, state);
  if (is_followed && step->kind != CALL && step->kind != CALL_ELSEWHERE) flow->returned |= RESULTS;
  if (leaves(r, step) || step->kind == END) flow->returned |= state->held;
  flow->reads |= taken;
}

static void move_stack(const Step *step, State *state) {
  if (step->frame_drop) state->rsp = state->rbp;
  if (step->frame_lea != NO_OFFSET) state->rsp = state->rbp == NO_OFFSET ? NO_OFFSET : state->rbp + step->frame_lea;
  else if (step->rsp_change == NO_OFFSET) state->rsp = NO_OFFSET;
  else if (state->rsp != NO_OFFSET) state->rsp += step->rsp_change;
  if (step->frame_set) state->rbp = state->rsp == NO_OFFSET ? NO_OFFSET : state->rsp + step->frame_above;
  else if (step->writes & HKT_GPR(5)) state->rbp = NO_OFFSET;
}

/// Carries the state over one step.
static void pass(const Reading *r, const Step *step, State *state) {
  if (step->writes_stack) state->held &= ~slots_of(r, step, state);
  move_stack(step, state);
  state->held &= ~step->writes;
  bool was_clear = state->r12_clear;
  if (step->clears_r12) state->r12_clear = true;
  else if (step->writes & HKT_GPR(12)) state->r12_clear = false;
  if (step->kind != CALL && step->kind != CALL_ELSEWHERE) return;
  // Callees that throw nothing keep r12.
  state->held &= PRESERVED_BY_CALLS | (r->is_possible && r->returns_to ? HKT_GPR(12) : 0);
  state->r12_clear = false;
  if (step->offset == r->call) state->held = r->after ? r->after : RESULTS | (was_clear ? HKT_GPR(12) : 0);
}

static bool goes_on(const Step *step) { return step->kind != JUMP && step->kind != JUMP_ELSEWHERE && step->kind != END; }

// MARK: All paths

static bool code_at(const Reading *r, uint64_t offset, uint8_t first, uint8_t second) {
  return r->code->bytes[offset] == first && r->code->bytes[offset + 1] == second;
}

static bool read_steps(Reading *r, const ZydisDecoder *decoder) {
  memset(r->at, 0xff, r->code->size * sizeof *r->at);
  for (uint64_t offset = 0; offset < r->code->size;) {
    Step *step = &r->steps[r->count];
    if (!read_step(decoder, r->code, offset, step)) return false;
    r->at[offset] = (int32_t)r->count++;
    r->has_tables |= step->loads_table;
    r->restores_r13 |= step->length == 2 && code_at(r, offset, 0x41, 0x5d);
    if (step->kind == NEXT && step->target) {
      uint32_t k = 0;
      while (k < r->table_count && r->tables[k] != step->target) k++;
      if (k == MOST_TABLES) r->too_many_tables = true;
      else if (k == r->table_count) r->tables[r->table_count++] = step->target;
    }
    offset += step->length;
  }
  return true;
}

/// The state before step `to` knows no more than `state`.
static void arrive(Reading *r, uint32_t to, const State *state) {
  State *old = &r->states[to];
  State joined = *state;
  joined.is_reached = true;
  joined.is_queued = old->is_queued;
  if (old->is_reached) {
    joined.held = r->is_possible ? joined.held | old->held : joined.held & old->held;
    if (joined.rsp != old->rsp) joined.rsp = NO_OFFSET;
    if (joined.rbp != old->rbp) joined.rbp = NO_OFFSET;
    joined.r12_clear = joined.r12_clear && old->r12_clear;
    if (joined.held == old->held && joined.rsp == old->rsp && joined.rbp == old->rbp && joined.r12_clear == old->r12_clear) return;
  }
  *old = joined;
  if (old->is_queued) return;
  old->is_queued = true;
  r->queue[r->queued++] = to;
}

/// Arrives at an address of this function. A branch into the middle of an instruction is none we understand.
static void arrive_at(Reading *r, uint64_t address, const State *state) {
  if (!is_inside(r->code, address)) return;
  int32_t to = r->at[address - r->code->address];
  if (to < 0) r->is_whole = false;
  else arrive(r, (uint32_t)to, state);
}

/// Where a jump through a table may go: every table whose address the function computes and whose first entry lies in the
/// function is followed to its end. One too many only weakens what is known.
static void arrive_by_table(Reading *r, const State *state) {
  if (!r->has_tables) return;
  bool found = false;
  for (uint32_t t = 0; t < r->table_count && r->host && r->host->data; t++) {
    for (uint32_t entry = 0; entry < MOST_TABLE_ENTRIES; entry++) {
      const void *bytes = r->host->data(r->host->context, r->tables[t] + 4 * entry, 4);
      if (!bytes) break;
      int32_t distance;
      memcpy(&distance, bytes, 4);
      uint64_t address = r->tables[t] + (uint64_t)(int64_t)distance;
      if (!is_inside(r->code, address) || r->at[address - r->code->address] < 0) break;
      arrive_at(r, address, state);
      found = true;
    }
  }
  if (!found || r->too_many_tables) r->is_whole = false;
}

/// The address that step `at` takes outlives the next call: it is in a register that calls preserve, or was copied.
static bool keeps_address(const Reading *r, uint32_t at) {
  HKTPlaces lost = HKT_GPR(0) | HKT_GPR(1) | HKT_GPR(2) | HKT_GPR(6) | HKT_GPR(7) | HKT_GPR(8) | HKT_GPR(9) | HKT_GPR(10) | HKT_GPR(11);
  HKTPlaces taken = r->steps[at].writes;
  if (taken & ~lost) return true;
  for (uint32_t i = at + 1; i < r->count; i++) {
    const Step *step = &r->steps[i];
    if (step->kind == CALL || step->kind == CALL_ELSEWHERE) return false;
    if (step->kind != NEXT || step->names & taken & ~step->writes) return true;
    taken &= ~step->writes;
    if (!taken) return false;
  }
  return true;
}

/// Notes whether the step, which comes before the followed call, takes the variable's address for more than one call.
static void note_kept_address(Reading *r, uint32_t at, const State *state) {
  const Step *step = &r->steps[at];
  if (r->flow->rsp == NO_OFFSET || !(step->takes_address || step->copies_frame) || !keeps_address(r, at)) return;
  int32_t base = step->stack_base == 4 ? state->rsp : step->stack_base == 5 ? state->rbp : NO_OFFSET;
  int64_t from = r->flow->rsp + r->variable, place = (int64_t)base + step->stack_offset;
  bool is_elsewhere = step->takes_address && base != NO_OFFSET && (place >= from + r->variable_size || place + 4096 <= from);
  if (!is_elsewhere) r->use |= HKT_VARIABLE_MAY_BE_USED;
}

/// Notes whether the step, which may come after the followed call, loads the variable or may give its address away.
static void note_variable(Reading *r, const Step *step, const State *state) {
  if (!(state->held & AFTERWARDS) || r->flow->rsp == NO_OFFSET) return;
  int32_t base = step->stack_base == 4 ? state->rsp : step->stack_base == 5 ? state->rbp : NO_OFFSET;
  int64_t from = r->flow->rsp + r->variable, to = from + r->variable_size;
  if (step->stack_base >= 0) {
    if (base == NO_OFFSET) { r->use |= HKT_VARIABLE_MAY_BE_USED; return; }
    int64_t at = (int64_t)base + step->stack_offset, end = at + (step->stack_size ? step->stack_size : 8);
    if (step->takes_address ? at >= to || at + 4096 <= from : at >= to || end <= from) return;
    if (step->reads_stack) r->use |= HKT_VARIABLE_IS_LOADED;
    else if (step->takes_address) r->use |= HKT_VARIABLE_MAY_BE_USED;
  } else if (step->copies_frame) {
    r->use |= HKT_VARIABLE_MAY_BE_USED;
  }
}

/// Finds the state before every step that can be reached.
static void settle(Reading *r, const State *start) {
  arrive(r, 0, start);
  while (r->queued) {
    uint32_t at = r->queue[--r->queued];
    r->states[at].is_queued = false;
    const Step *step = &r->steps[at];
    State state = r->states[at];
    pass(r, step, &state);
    if (step->kind == JUMP || step->kind == BRANCH) arrive_at(r, step->target, &state);
    if (step->kind == JUMP_ELSEWHERE) arrive_by_table(r, &state);
    if (goes_on(step) && at + 1 < r->count) arrive(r, at + 1, &state);
  }
}

/// push and pop of r12 save it for the caller; whatever else names it uses it.
static void note_error_register(const Reading *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    const Step *step = &r->steps[i];
    const uint8_t *bytes = r->code->bytes + step->offset;
    bool pushes = step->length == 2 && bytes[0] == 0x41 && bytes[1] == 0x54;
    bool pops = step->length == 2 && bytes[0] == 0x41 && bytes[1] == 0x5c;
    if (pushes) r->flow->saves_r12 = true;
    else if (!pops && (step->reads | step->writes) & HKT_GPR(12)) r->flow->uses_r12 = true;
  }
}

static bool read_all_paths(Reading *r, const ZydisDecoder *decoder) {
  size_t n = r->code->size;  // no more steps than bytes
  r->steps = malloc(n * sizeof *r->steps);
  r->states = calloc(n, sizeof *r->states);
  r->at = malloc(n * sizeof *r->at);
  r->queue = malloc(n * sizeof *r->queue);
  bool done = r->steps && r->states && r->at && r->queue && read_steps(r, decoder);
  if (done && r->returns_to) {
    r->call = n;
    for (uint32_t i = 0; i < r->count; i++) {
      const Step *step = &r->steps[i];
      bool calls = step->kind == CALL || step->kind == CALL_ELSEWHERE;
      if (!calls || step->offset + step->length != r->returns_to) continue;
      r->call = step->offset;
      r->flow->is_direct = step->kind == CALL;
    }
    done = r->call < n;
  } else if (done && r->call != UINT64_MAX) {
    done = r->call < n && r->at[r->call] >= 0;
    Kind kind = done ? r->steps[r->at[r->call]].kind : NEXT;
    done = kind == CALL || kind == JUMP || kind == BRANCH;
  }
  if (done) {
    State nothing = {.rsp = 0, .rbp = NO_OFFSET};
    note_error_register(r);
    settle(r, r->call == UINT64_MAX ? &ENTRY : &nothing);
    r->flow->is_whole = r->is_whole;
    r->flow->reads = 0;
    r->flow->rsp = r->call == UINT64_MAX || !r->states[r->at[r->call]].is_reached ? NO_OFFSET : r->states[r->at[r->call]].rsp;
    for (uint32_t i = 0; r->is_whole && i < r->count; i++) {
      if (!r->states[i].is_reached) continue;
      if (r->variable_size) {
        note_kept_address(r, i, &r->states[i]);
        note_variable(r, &r->steps[i], &r->states[i]);
      } else collect(r, &r->steps[i], &r->states[i]);
    }
  }
  free(r->steps);
  free(r->states);
  free(r->at);
  free(r->queue);
  return done;
}

// MARK: The questions

/// Some bytes of the code could be a branch to its first `end` bytes, or to right behind them.
static bool may_go_back(const HKTCode *code, uint64_t end) {
  for (uint64_t i = 0; i + 2 <= code->size; i++) {
    uint8_t op = code->bytes[i];
    if ((op >= 0x70 && op <= 0x7f) || op == 0xeb || (op >= 0xe0 && op <= 0xe3)) {
      uint64_t target = i + 2 + (uint64_t)(int64_t)(int8_t)code->bytes[i + 1];
      if (target <= end) return true;
    }
    if (op != 0xe9 && !(i > 0 && code->bytes[i - 1] == 0x0f && op >= 0x80 && op <= 0x8f)) continue;
    if (i + 5 > code->size) continue;
    int32_t distance;
    memcpy(&distance, code->bytes + i + 1, 4);
    if (i + 5 + (uint64_t)(int64_t)distance <= end) return true;
  }
  return false;
}

/// The entry's first straight line: when nothing leads back to it, what it takes is taken whatever the rest does.
/// Answers whether that is all of `wanted`.
static bool read_first_line(Reading *r, const ZydisDecoder *decoder, HKTPlaces wanted) {
  State state = ENTRY;
  Step step;
  uint64_t offset = 0;
  for (; offset < r->code->size && wanted & ~r->flow->reads; offset += step.length) {
    if (!read_step(decoder, r->code, offset, &step)) return false;
    collect(r, &step, &state);
    if (step.kind != NEXT && step.kind != CALL && step.kind != CALL_ELSEWHERE) break;
    pass(r, &step, &state);
  }
  r->flow->returned = 0;
  return !(wanted & ~r->flow->reads) && !may_go_back(r->code, offset);
}

bool hkt_read_flow(const HKTCode *code, HKTPlaces wanted, const HKTFlowHost *host, HKTFlow *flow) {
  memset(flow, 0, sizeof *flow);
  ZydisDecoder decoder;
  if (code->size == 0 || code->size > LARGEST_BODY) return false;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return false;
  Reading r = {.code = code, .host = host, .flow = flow, .call = UINT64_MAX, .is_whole = true};
  // The error register is looked at in the whole function.
  if (!(wanted & HKT_GPR(12)) && read_first_line(&r, &decoder, wanted)) return true;
  return read_all_paths(&r, &decoder);
}

HKTPlaces hkt_read_possible(const HKTCode *code, const HKTFlowHost *host) {
  HKTFlow flow = {0};
  ZydisDecoder decoder;
  if (code->size == 0 || code->size > LARGEST_BODY) return ~UINT64_C(0);
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return ~UINT64_C(0);
  Reading r = {.code = code, .host = host, .flow = &flow, .call = UINT64_MAX, .is_whole = true, .is_possible = true};
  return read_all_paths(&r, &decoder) && flow.is_whole ? flow.reads : ~UINT64_C(0);
}

bool hkt_read_results(const HKTCode *code, uint64_t call, const HKTFlowHost *host, HKTFlow *flow) {
  memset(flow, 0, sizeof *flow);
  ZydisDecoder decoder;
  if (code->size == 0 || code->size > LARGEST_BODY) return false;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return false;
  Reading r = {.code = code, .host = host, .flow = flow, .call = call - code->address, .is_whole = true};
  return read_all_paths(&r, &decoder);
}

bool hkt_read_after_call(const HKTCode *code, uint64_t returns_to, const HKTFlowHost *host, bool is_possible, HKTFlow *flow) {
  memset(flow, 0, sizeof *flow);
  ZydisDecoder decoder;
  uint64_t offset = returns_to - code->address;
  if (offset == 0 || offset > code->size || code->size > LARGEST_BODY) return false;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return false;
  Reading r = {.code = code, .host = host, .flow = flow, .call = 0, .returns_to = offset, .is_whole = true, .is_possible = is_possible,
               .after = RESULTS | HKT_GPR(12)};
  return read_all_paths(&r, &decoder);
}

HKTVariableUse hkt_variable_use(const HKTCode *code, uint64_t returns_to, const HKTFlowHost *host, int64_t variable, uint32_t size) {
  HKTFlow flow = {0};
  ZydisDecoder decoder;
  uint64_t offset = returns_to - code->address;
  if (offset == 0 || offset > code->size || code->size > LARGEST_BODY || size == 0) return HKT_VARIABLE_MAY_BE_USED;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return HKT_VARIABLE_MAY_BE_USED;
  Reading r = {.code = code, .host = host, .flow = &flow, .call = 0, .returns_to = offset, .is_whole = true, .is_possible = true,
               .after = AFTERWARDS, .variable = variable, .variable_size = size};
  if (!read_all_paths(&r, &decoder) || !flow.is_whole || flow.rsp == NO_OFFSET) return HKT_VARIABLE_MAY_BE_USED;
  return r.use;
}

/// The branches of the function lead to step `to` from elsewhere.
static bool is_branched_to(const Reading *r, uint32_t to) {
  uint64_t address = r->code->address + r->steps[to].offset;
  for (uint32_t i = 0; i < r->count; i++)
    if ((r->steps[i].kind == JUMP || r->steps[i].kind == BRANCH) && r->steps[i].target == address) return true;
  return false;
}

/// Goes back from the call through its straight line. A register written and then read by nobody but the callee was written for
/// it: the compiler leaves no other write of a register that the call destroys. Others may have been meant for later.
static HKTPlaces written_before(const Reading *r, uint32_t call) {
  HKTPlaces written = 0, done = 0, named = 0;
  for (uint32_t i = call; i-- > 0 && !is_branched_to(r, i + 1) && r->steps[i].kind == NEXT;) {
    const Step *step = &r->steps[i];
    HKTPlaces fresh = step->writes & ~done;
    // An instruction with several results may have been meant for another one.
    if (fresh == step->writes && (fresh & (fresh - 1)) == 0) written |= fresh & ~named;
    done |= step->writes;
    named |= step->names;
  }
  return written;
}

/// The function may use, after the call, what the register held that the callee has kept.
static bool may_use_after(const HKTCode *code, uint64_t call, const HKTFlowHost *host, HKTPlaces kept) {
  HKTFlow flow = {0};
  ZydisDecoder decoder;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return true;
  Reading r = {.code = code, .host = host, .flow = &flow, .call = call, .is_whole = true, .is_possible = true, .after = kept};
  return !read_all_paths(&r, &decoder) || !flow.is_whole || flow.reads & kept;
}

bool hkt_read_call_site(const HKTCode *code, uint64_t call, const HKTFlowHost *host, HKTPlaces *written) {
  *written = 0;
  ZydisDecoder decoder;
  uint64_t offset = call - code->address;
  if (offset >= code->size) return false;
  if (code->size > LARGEST_BODY) return true;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return true;
  Reading r = {.code = code, .call = offset, .is_whole = true};
  r.steps = malloc(code->size * sizeof *r.steps);
  r.at = malloc(code->size * sizeof *r.at);
  bool is_read = r.steps && r.at && read_steps(&r, &decoder);
  Kind kind = is_read && r.at[offset] >= 0 ? r.steps[r.at[offset]].kind : NEXT;
  // The cases of a switch start where no branch tells.
  if ((kind == CALL || kind == JUMP) && !r.has_tables) *written = written_before(&r, (uint32_t)r.at[offset]);
  bool is_call = !is_read || kind == CALL || kind == JUMP || kind == BRANCH;
  free(r.steps);
  free(r.at);
  HKTPlaces self = *written & HKT_GPR(13);
  if (self && kind == CALL && may_use_after(code, offset, host, self)) self = 0;
  *written = (*written & ~PRESERVED_BY_CALLS) | self;
  return is_call;
}
