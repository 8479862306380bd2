#include "self_state.h"

enum { MOST = 100, STACK_ARGUMENTS = 32 };

static const HKTPlaces ARGUMENTS = HKT_GPR(7) | HKT_GPR(6) | HKT_GPR(2) | HKT_GPR(1) | HKT_GPR(8) | HKT_GPR(9);
static const HKTPlaces KEPT_BY_CALLS = HKT_GPR(3) | HKT_GPR(5) | HKT_GPR(12) | HKT_GPR(13) | HKT_GPR(14) | HKT_GPR(15);

static int number_of(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return -1;
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? whole - ZYDIS_REGISTER_RAX : -1;
}

/// Whether a place holds self: on no way there, on some, on all.
typedef enum Hold { NEVER, SOMETIMES, ALWAYS } Hold;

static Hold hold_of(const State *s, int reg) {
  if (reg < 0 || !(s->doubtful >> reg & 1)) return NEVER;
  return s->registers >> reg & 1 ? ALWAYS : SOMETIMES;
}
static void set(State *s, int reg, Hold hold) {
  if (reg < 0) return;
  s->registers = (uint16_t)((s->registers & ~(1 << reg)) | (hold == ALWAYS) << reg);
  s->doubtful = (uint16_t)((s->doubtful & ~(1 << reg)) | (hold != NEVER) << reg);
  s->classes = (uint16_t)(s->classes & ~(1 << reg));
}

static bool holds_class(const State *s, ZydisRegister reg) {
  int number = number_of(reg);
  return number >= 0 && s->classes >> number & 1;
}

static Hold hold_of_slot(const State *s, int slot) {
  if (slot < 0 || !(s->doubtful_slots >> slot & 1)) return NEVER;
  return s->slots >> slot & 1 ? ALWAYS : SOMETIMES;
}
static void set_slot(State *s, int slot, Hold hold) {
  if (slot < 0) return;
  s->slots = (s->slots & ~(UINT64_C(1) << slot)) | (uint64_t)(hold == ALWAYS) << slot;
  s->doubtful_slots = (s->doubtful_slots & ~(UINT64_C(1) << slot)) | (uint64_t)(hold != NEVER) << slot;
}

/// That many references are taken, or none where it is not self that is meant.
static void count(State *s, Hold hold, int least, int most) {
  if (hold == NEVER) return;
  if (hold == SOMETIMES) { least = least < 0 ? least : 0; most = most > 0 ? most : 0; }
  int low = s->least + least, high = s->most + most;
  s->least = (int8_t)(low < -MOST ? -MOST : low);
  s->most = (int8_t)(high > MOST ? MOST : high);
}

/// The own stack slot of eight bytes that the operand names; -1 for other memory, -2 for a part of the own frame that is not followed.
static int slot_of(const State *s, const ZydisDecodedOperand *op) {
  if (op->mem.base != ZYDIS_REGISTER_RSP && op->mem.base != ZYDIS_REGISTER_RBP) return -1;
  int32_t base = op->mem.base == ZYDIS_REGISTER_RSP ? s->rsp : s->rbp;
  if (base == NO_OFFSET) return op->mem.base == ZYDIS_REGISTER_RSP ? -2 : -1;
  int64_t below = -((int64_t)base + op->mem.disp.value);
  if (below <= 0) return -1;  // an argument's
  return below % 8 || below / 8 > SLOTS || op->mem.index != ZYDIS_REGISTER_NONE ? -2 : (int)(below / 8 - 1);
}

bool self_is_register(const ZydisDecodedOperand *op, ZydisRegister reg) {
  return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == reg;
}

/// What the instruction does to rsp and rbp, as far as functions do.
static void move_stack(const Instruction *i, State *s) {
  const ZydisDecodedOperand *op = i->op;
  int32_t by = NO_OFFSET;
  bool is_counted = self_is_register(op, ZYDIS_REGISTER_RSP) && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (i->in.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH: by = -8; break;
    case ZYDIS_MNEMONIC_POP: by = 8; break;
    case ZYDIS_MNEMONIC_SUB: if (is_counted) by = (int32_t)-op[1].imm.value.s; break;
    case ZYDIS_MNEMONIC_ADD: if (is_counted) by = (int32_t)op[1].imm.value.s; break;
    case ZYDIS_MNEMONIC_LEAVE: s->rsp = s->rbp == NO_OFFSET ? NO_OFFSET : s->rbp + 8; s->rbp = NO_OFFSET; return;
    case ZYDIS_MNEMONIC_MOV:
      if (self_is_register(op, ZYDIS_REGISTER_RBP) && self_is_register(op + 1, ZYDIS_REGISTER_RSP)) { s->rbp = s->rsp; return; }
      if (self_is_register(op, ZYDIS_REGISTER_RSP) && self_is_register(op + 1, ZYDIS_REGISTER_RBP)) { s->rsp = s->rbp; return; }
      break;
    case ZYDIS_MNEMONIC_LEA:
      if (op[1].mem.index != ZYDIS_REGISTER_NONE) break;
      if (self_is_register(op, ZYDIS_REGISTER_RSP) && (op[1].mem.base == ZYDIS_REGISTER_RSP || op[1].mem.base == ZYDIS_REGISTER_RBP)) {
        int32_t base = op[1].mem.base == ZYDIS_REGISTER_RSP ? s->rsp : s->rbp;
        s->rsp = base == NO_OFFSET ? NO_OFFSET : base + (int32_t)op[1].mem.disp.value;
        return;
      }
      break;
    default: break;
  }
  for (int k = 0; k < i->in.operand_count; k++) {
    if (op[k].type != ZYDIS_OPERAND_TYPE_REGISTER || !(op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    if (op[k].reg.value == ZYDIS_REGISTER_RSP) s->rsp = s->rsp == NO_OFFSET || by == NO_OFFSET ? NO_OFFSET : s->rsp + by;
    if (op[k].reg.value == ZYDIS_REGISTER_RBP) s->rbp = NO_OFFSET;
  }
}

/// What is put into the slot may be given away with a value that the code passes by its address.
static bool is_shown(const Reader *r, int slot, uint64_t offset) { return (offset < r->prologue ? r->shown : r->near) >> slot & 1; }

/// The most of what the registers that the instruction reads hold.
static Hold hold_of_read(const Instruction *i, const State *s) {
  Hold read = NEVER;
  for (int k = 0; k < i->in.operand_count_visible; k++) {
    const ZydisDecodedOperand *op = i->op + k;
    if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || !(op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)) continue;
    Hold hold = hold_of(s, number_of(op->reg.value));
    if (hold > read) read = hold;
  }
  return read;
}

/// The operand is self's first word, or a register that holds that.
static bool loads_class(const State *s, const ZydisDecodedOperand *op) {
  if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) return holds_class(s, op->reg.value);
  return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.disp.value == 0 && op->mem.index == ZYDIS_REGISTER_NONE &&
         op->mem.segment != ZYDIS_REGISTER_FS && hold_of(s, number_of(op->mem.base)) == ALWAYS;
}

/// Copies of self between registers and the own frame; its way to anywhere else.
static void move_values(const Reader *r, const Instruction *i, uint64_t offset, State *s) {
  const ZydisDecodedOperand *op = i->op;
  ZydisMnemonic name = i->in.mnemonic;
  if (name == ZYDIS_MNEMONIC_PUSH || name == ZYDIS_MNEMONIC_POP) {
    int32_t at = s->rsp == NO_OFFSET ? 1 : name == ZYDIS_MNEMONIC_PUSH ? s->rsp - 8 : s->rsp;
    int slot = at < 0 && -at / 8 <= SLOTS ? -at / 8 - 1 : -1;
    int reg = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op[0].reg.value) : -1;
    if (name == ZYDIS_MNEMONIC_POP) set(s, reg, hold_of_slot(s, slot));
    else {
      set_slot(s, slot, hold_of(s, reg));
      if (slot >= 0 && !s->is_prologue) s->fresh |= UINT64_C(1) << slot;
    }
    return;
  }
  if (!self_is_register(op, ZYDIS_REGISTER_RBP)) s->is_prologue = false;
  bool is_move = name == ZYDIS_MNEMONIC_MOV && op[0].size == 64;
  if (is_move && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
    Hold hold = NEVER;
    if (op[1].type == ZYDIS_OPERAND_TYPE_REGISTER) hold = hold_of(s, number_of(op[1].reg.value));
    if (op[1].type == ZYDIS_OPERAND_TYPE_MEMORY) hold = hold_of_slot(s, slot_of(s, op + 1));
    int to = number_of(op[0].reg.value);
    bool is_class = loads_class(s, op + 1);
    set(s, to, hold);
    if (is_class && to >= 0) s->classes |= (uint16_t)(1 << to);
    return;
  }
  if (op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && op[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
    Hold hold = is_move && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? hold_of(s, number_of(op[1].reg.value)) : NEVER;
    int slot = slot_of(s, op);
    set_slot(s, slot, hold);
    if (slot >= 0 && op[0].mem.base == ZYDIS_REGISTER_RSP) s->fresh |= UINT64_C(1) << slot;
    // Not copied but exchanged, as atomic variables are.
    if (!is_move) hold = hold_of_read(i, s);
    // Kept with a retain of its own, or given up.
    if (slot < 0 || is_shown(r, slot, offset)) count(s, hold, -1, 0);
    return;
  }
  Hold read = hold_of_read(i, s);
  bool compares = name == ZYDIS_MNEMONIC_CMP || name == ZYDIS_MNEMONIC_TEST;
  // By a choice self stays, or goes somewhere.
  bool chooses = name >= ZYDIS_MNEMONIC_CMOVB && name <= ZYDIS_MNEMONIC_CMOVZ;
  bool zeroes = name == ZYDIS_MNEMONIC_XOR && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == op[1].reg.value;
  // As the payload of an enum self is a number with more bits, which is not followed.
  bool computes = !compares && !chooses && !zeroes;
  for (int k = 0; k < i->in.operand_count; k++) {
    if (op[k].type != ZYDIS_OPERAND_TYPE_REGISTER || !(op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    int reg = number_of(op[k].reg.value);
    // In a vector, too, it is not followed.
    bool is_vector = reg < 0 && ZydisRegisterGetClass(op[k].reg.value) == ZYDIS_REGCLASS_XMM;
    if (computes && (reg >= 0 || is_vector)) count(s, read, -1, 0);
    set(s, reg, chooses && read != NEVER ? SOMETIMES : NEVER);
  }
}

/// Where a call or jump at `offset` leads; 0: where a register or a word says.
static uint64_t target_of(const Reader *r, uint64_t offset, const Instruction *i) {
  bool is_direct = i->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  return is_direct ? r->code->address + offset + i->in.length + (uint64_t)i->op[0].imm.value.s : 0;
}

static HKTCallee callee_at(const Reader *r, uint64_t target) {
  if (target && r->host && r->host->callee) return r->host->callee(r->host->context, target);
  return (HKTCallee){.kind = HKT_CALLEE_UNKNOWN, .unread = HKT_GPR(13), .may_fail = true};
}

HKTCallee self_callee(const Reader *r, uint64_t offset, const Instruction *i) { return callee_at(r, target_of(r, offset, i)); }

/// A word at a fixed distance from what a register holds: of a table of jumps the place in the table is added first.
static bool is_word_of_object(const ZydisDecodedOperand *op) {
  return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base != ZYDIS_REGISTER_NONE && op->mem.index == ZYDIS_REGISTER_NONE;
}

/// The same, where a word of self's class says where.
static HKTCallee callee_of(const Reader *r, uint64_t offset, const Instruction *i, const State *s) {
  const ZydisDecodedOperand *op = &i->op[0];
  if (is_word_of_object(op) && holds_class(s, op->mem.base) && r->host && r->host->method)
    return r->host->method(r->host->context, op->mem.disp.value);
  return self_callee(r, offset, i);
}

/// The slot of the own frame that is the callee's stack argument of that number.
static int slot_of_argument(const State *s, int number) {
  int64_t below = s->rsp == NO_OFFSET ? 0 : -((int64_t)s->rsp + 8 * number);
  return below <= 0 || below / 8 > SLOTS ? -1 : (int)(below / 8 - 1);
}

static void pass_on_stack(const HKTCallee *callee, State *s) {
  bool is_open = callee->kind == HKT_CALLEE_UNKNOWN || callee->kind == HKT_CALLEE_FOREIGN;
  for (int number = 0; number < STACK_ARGUMENTS; number++) {
    HKTPlaces place = HKT_STACK_SLOT(number);
    int slot = slot_of_argument(s, number);
    Hold hold = hold_of_slot(s, slot);
    if (callee->takes & place) count(s, hold, -1, -1);
    else if (callee->may_take & place) count(s, hold, -1, 0);
    else if (is_open && slot >= 0 && s->fresh >> slot & 1) count(s, hold, -1, callee->kind == HKT_CALLEE_FOREIGN);
  }
  s->fresh = 0;
}

/// A call of the function, or a jump there.
static void pass_to(const Reader *r, HKTCallee callee, State *s) {
  Hold first = hold_of(s, 7);
  Hold returned = NEVER;
  s->is_prologue = false;
  if (callee.may_fail) {
    // An error that nobody has asked for is one to be returned, whatever this call brings: `defer` runs other code beside it.
    s->fails |= s->may_fail;
    s->may_fail = true;
  }
  pass_on_stack(&callee, s);
  switch (callee.kind) {
    case HKT_CALLEE_RETAINS: count(s, first, 1, 1); returned = first; break;
    case HKT_CALLEE_RETAINS_SEVERAL: count(s, first, 1, MOST); returned = first; break;
    case HKT_CALLEE_RELEASES: count(s, first, -1, -1); break;
    case HKT_CALLEE_RELEASES_SEVERAL: count(s, first, -MOST, -1); break;
    default:
      for (int reg = 0; reg < 16; reg++) {
        HKTPlaces place = HKT_GPR(reg);
        Hold hold = hold_of(s, reg);
        if (!(place & (ARGUMENTS | HKT_GPR(13)))) continue;
        if (callee.takes & place) count(s, hold, -1, -1);
        else if (callee.may_take & place || (r->is_strict && callee.unread & place)) count(s, hold, -1, 0);
        // A method keeps the self it is called on, as all but a few do, where its own code cannot be read.
        else if (place == HKT_GPR(13)) continue;
        else if (callee.kind == HKT_CALLEE_UNKNOWN) count(s, hold, -1, 0);
        else if (callee.kind == HKT_CALLEE_FOREIGN) count(s, hold, -1, 1);
      }
  }
  for (int reg = 0; reg < 16; reg++)
    if (!(KEPT_BY_CALLS & HKT_GPR(reg))) set(s, reg, NEVER);
  set(s, 0, returned);
}

/// References that the results hold are the caller's.
static void give_results(const Reader *r, State *s) {
  bool is_certain = !(r->results.may_fail && (s->may_fail || s->fails));
  for (int reg = 0; reg < 16; reg++) {
    if (is_certain && r->results.certain & HKT_GPR(reg)) count(s, hold_of(s, reg), -1, -1);
    else if (r->results.possible & HKT_GPR(reg)) count(s, hold_of(s, reg), -1, 0);
  }
}

bool self_decode(const Reader *r, uint64_t offset, Instruction *i) {
  return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&r->decoder, r->code->bytes + offset, r->code->size - offset, &i->in, i->op));
}

/// Behind a call that never returns comes another function.
static void go_on(const Reader *r, uint64_t offset, Told told, Step *step) {
  if (offset >= r->code->size) return;
  step->told[step->count] = told;
  step->next[step->count++] = offset;
}

/// What the jump says of r12 on a way that one condition takes where it has no error, and the other where it has one.
static Told told(const State *s, ZydisMnemonic jump, ZydisMnemonic without, ZydisMnemonic with) {
  if (!s->tests_error) return UNTOLD;
  return jump == without ? NO_ERROR : jump == with ? ERROR : UNTOLD;
}

static Step branch(const Reader *r, const Instruction *i, uint64_t offset, State *s) {
  Step step = {0};
  uint64_t next = offset + i->in.length;
  uint64_t target = target_of(r, offset, i);
  bool is_direct = target != 0;
  bool is_inside = is_direct && target - r->code->address < r->code->size;
  switch (i->in.meta.category) {
    case ZYDIS_CATEGORY_CALL: {
      HKTCallee callee = callee_of(r, offset, i, s);
      pass_to(r, callee, s);
      if (!callee.never_returns) go_on(r, next, UNTOLD, &step);
      return step;
    }
    case ZYDIS_CATEGORY_COND_BR:
      step.is_unknown = !is_inside;
      if (is_inside) go_on(r, target - r->code->address, told(s, i->in.mnemonic, ZYDIS_MNEMONIC_JZ, ZYDIS_MNEMONIC_JNZ), &step);
      go_on(r, next, told(s, i->in.mnemonic, ZYDIS_MNEMONIC_JNZ, ZYDIS_MNEMONIC_JZ), &step);
      return step;
    default:
      if (is_inside) { go_on(r, target - r->code->address, UNTOLD, &step); return step; }
      // A table of jumps looks the same as a jump to a function whose address a register holds.
      step.is_unknown = !is_direct && !is_word_of_object(&i->op[0]);
      HKTCallee callee = callee_of(r, offset, i, s);
      pass_to(r, callee, s);
      give_results(r, s);
      step.returns = !callee.never_returns;
      return step;
  }
}

Step self_step(const Reader *r, uint64_t offset, State *s) {
  Step step = {0};
  Instruction i;
  if (!self_decode(r, offset, &i)) return (Step){.is_unknown = true};
  switch (i.in.meta.category) {
    case ZYDIS_CATEGORY_CALL: case ZYDIS_CATEGORY_COND_BR: case ZYDIS_CATEGORY_UNCOND_BR: return branch(r, &i, offset, s);
    case ZYDIS_CATEGORY_RET: give_results(r, s); return (Step){.returns = true};
    default: break;
  }
  switch (i.in.mnemonic) {
    case ZYDIS_MNEMONIC_UD2: case ZYDIS_MNEMONIC_INT3: case ZYDIS_MNEMONIC_HLT: return step;
    default: break;
  }
  if (i.in.mnemonic != ZYDIS_MNEMONIC_MOV && i.in.mnemonic != ZYDIS_MNEMONIC_LEA)
    s->tests_error = i.in.mnemonic == ZYDIS_MNEMONIC_TEST && self_is_register(&i.op[0], ZYDIS_REGISTER_R12) &&
                     self_is_register(&i.op[1], ZYDIS_REGISTER_R12);
  move_values(r, &i, offset, s);
  move_stack(&i, s);
  go_on(r, offset + i.in.length, UNTOLD, &step);
  return step;
}
