#include "self_state.h"

enum { MOST = 100, STACK_ARGUMENTS = 32, MOST_BEFORE = 3 };

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
  s->exact = (uint16_t)(s->exact & ~(1 << reg));
  s->inside = (uint16_t)(s->inside & ~(1 << reg));
  s->masks = (uint16_t)(s->masks & ~(1 << reg));
  s->witnesses[reg] = NO_WITNESS;
  s->types[reg] = s->values[reg] = 0;
}

static bool is_exact(const State *s, int reg) { return reg >= 0 && s->exact >> reg & 1; }
static bool is_inside(const State *s, int reg) { return reg >= 0 && s->inside >> reg & 1; }

static void set_address(State *s, int reg, bool exact, bool inside) {
  if (reg < 0) return;
  s->exact = (uint16_t)((s->exact & ~(1 << reg)) | exact << reg);
  s->inside = (uint16_t)((s->inside & ~(1 << reg)) | inside << reg);
}

static int vector_of(ZydisRegister reg) {
  if (reg >= ZYDIS_REGISTER_XMM0 && reg <= ZYDIS_REGISTER_XMM15) return reg - ZYDIS_REGISTER_XMM0;
  return reg >= ZYDIS_REGISTER_YMM0 && reg <= ZYDIS_REGISTER_YMM15 ? reg - ZYDIS_REGISTER_YMM0 : -1;
}
static Hold hold_of_half(const State *s, int vector, int half) {
  if (vector < 0 || !(s->doubtful_halves[half] >> vector & 1)) return NEVER;
  return s->halves[half] >> vector & 1 ? ALWAYS : SOMETIMES;
}
static void set_half(State *s, int vector, int half, Hold hold) {
  if (vector < 0) return;
  s->halves[half] = (uint16_t)((s->halves[half] & ~(1 << vector)) | (hold == ALWAYS) << vector);
  s->doubtful_halves[half] = (uint16_t)((s->doubtful_halves[half] & ~(1 << vector)) | (hold != NEVER) << vector);
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

static bool is_exact_slot(const State *s, int slot) { return slot >= 0 && s->exact_slots >> slot & 1; }
static bool is_inside_slot(const State *s, int slot) { return slot >= 0 && s->inside_slots >> slot & 1; }
static void set_slot_address(State *s, int slot, bool exact, bool inside) {
  if (slot < 0) return;
  s->exact_slots = (s->exact_slots & ~(UINT64_C(1) << slot)) | (uint64_t)exact << slot;
  s->inside_slots = (s->inside_slots & ~(UINT64_C(1) << slot)) | (uint64_t)inside << slot;
}

/// That many references are taken, or none where it is not self that is meant.
static void count(State *s, Hold hold, int least, int most) {
  if (hold == NEVER) return;
  if (hold == SOMETIMES) { least = least < 0 ? least : 0; most = most > 0 ? most : 0; }
  int low = s->least + least, high = s->most + most;
  s->least = (int8_t)(low < -MOST ? -MOST : low);
  s->most = (int8_t)(high > MOST ? MOST : high);
}

/// What is at self's address may be gone.
static void lose(State *s) { count(s, ALWAYS, -1, 0); }
/// Another value may be there, which is as good.
static void overwrite(State *s) { count(s, ALWAYS, -1, 1); }

/// The own stack slot of the eight bytes so far behind what the operand names; -1 for other memory, -2 for a part of the own frame that is
/// not followed.
static int slot_at(const State *s, const ZydisDecodedOperand *op, int extra) {
  if (op->mem.base != ZYDIS_REGISTER_RSP && op->mem.base != ZYDIS_REGISTER_RBP) return -1;
  int32_t base = op->mem.base == ZYDIS_REGISTER_RSP ? s->rsp : s->rbp;
  if (base == NO_OFFSET) return op->mem.base == ZYDIS_REGISTER_RSP ? -2 : -1;
  int64_t below = -((int64_t)base + op->mem.disp.value + extra);
  if (below <= 0) return -1;  // an argument's
  return below % 8 || below / 8 > SLOTS || op->mem.index != ZYDIS_REGISTER_NONE ? -2 : (int)(below / 8 - 1);
}

static int slot_of(const State *s, const ZydisDecodedOperand *op) { return slot_at(s, op, 0); }

/// The operand is memory that self's address leads to.
static bool is_at_address(const State *s, const ZydisDecodedOperand *op) {
  return op->type == ZYDIS_OPERAND_TYPE_MEMORY && (is_inside(s, number_of(op->mem.base)) || is_inside(s, number_of(op->mem.index)));
}

/// What the eight bytes so far behind the memory that the operand names hold.
static Hold hold_of_memory(const Reader *r, const State *s, const ZydisDecodedOperand *op, int extra) {
  if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type == ZYDIS_MEMOP_TYPE_AGEN) return NEVER;
  if (!is_at_address(s, op)) return hold_of_slot(s, slot_at(s, op, extra));
  if (op->mem.index != ZYDIS_REGISTER_NONE || !is_exact(s, number_of(op->mem.base))) return SOMETIMES;
  int64_t distance = op->mem.disp.value + extra - r->word;
  return distance == 0 ? ALWAYS : distance > -8 && distance < 8 ? SOMETIMES : NEVER;
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

/// The most of what the registers and the memory that the instruction reads hold.
static Hold hold_of_read(const Reader *r, const Instruction *i, const State *s) {
  Hold read = NEVER;
  for (int k = 0; k < i->in.operand_count_visible; k++) {
    const ZydisDecodedOperand *op = i->op + k;
    if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)) continue;
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
      int vector = vector_of(op->reg.value);
      Hold holds[] = {hold_of(s, number_of(op->reg.value)), hold_of_half(s, vector, 0), hold_of_half(s, vector, 1)};
      for (int each = 0; each < 3; each++)
        if (holds[each] > read) read = holds[each];
    }
    for (int at = 0; op->size >= 64 && at < op->size / 8; at += 8) {
      Hold hold = hold_of_memory(r, s, op, at);
      if (hold > read) read = hold;
    }
  }
  return read;
}

/// The instruction computes with self's address, or that of a part: LEA's operand is an address, that of others what is there.
static bool reads_address(const Instruction *i, const State *s) {
  for (int k = 0; k < i->in.operand_count; k++) {
    const ZydisDecodedOperand *op = i->op + k;
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->actions & ZYDIS_OPERAND_ACTION_MASK_READ && is_inside(s, number_of(op->reg.value)))
      return true;
    if (i->in.mnemonic == ZYDIS_MNEMONIC_LEA && is_at_address(s, op)) return true;
  }
  return false;
}

/// The operand is self's first word, or a register that holds that.
static bool loads_class(const State *s, const ZydisDecodedOperand *op) {
  if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) return holds_class(s, op->reg.value);
  return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.disp.value == 0 && op->mem.index == ZYDIS_REGISTER_NONE &&
         op->mem.segment != ZYDIS_REGISTER_FS && hold_of(s, number_of(op->mem.base)) == ALWAYS;
}

static void move_through_stack(const Reader *r, const Instruction *i, State *s) {
  const ZydisDecodedOperand *op = i->op;
  bool pushes = i->in.mnemonic == ZYDIS_MNEMONIC_PUSH;
  int32_t at = s->rsp == NO_OFFSET ? 1 : pushes ? s->rsp - 8 : s->rsp;
  int slot = at < 0 && -at / 8 <= SLOTS ? -at / 8 - 1 : -1;
  int reg = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op[0].reg.value) : -1;
  if (!pushes) {
    Hold hold = hold_of_slot(s, slot);
    bool exact = is_exact_slot(s, slot), inside = is_inside_slot(s, slot);
    set(s, reg, hold);
    set_address(s, reg, exact, inside);
    return;
  }
  int from = op[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? slot_of(s, op) : -1;
  Hold hold = reg >= 0 ? hold_of(s, reg) : hold_of_memory(r, s, op, 0);
  bool exact = reg >= 0 ? is_exact(s, reg) : is_exact_slot(s, from), inside = reg >= 0 ? is_inside(s, reg) : is_inside_slot(s, from);
  set_slot(s, slot, hold);
  set_slot_address(s, slot, exact, inside);
  if (slot < 0) {
    count(s, hold, -1, 0);
    if (inside) lose(s);
  } else if (!s->is_prologue) s->fresh |= UINT64_C(1) << slot;
}

/// A value witness, or a table of them, and the value that is the metadata of the type.
typedef struct Witness {
  uint8_t number;
  uint32_t type;
} Witness;

/// What the memory holds of value witnesses: metadata has their table right before it.
static Witness witness_in(const State *s, const ZydisDecodedOperand *from) {
  int base = number_of(from->mem.base);
  int64_t at = from->mem.disp.value;
  if (base < 0 || from->mem.index != ZYDIS_REGISTER_NONE || from->mem.segment == ZYDIS_REGISTER_FS) return (Witness){0};
  if (from->mem.base == ZYDIS_REGISTER_RSP || (from->mem.base == ZYDIS_REGISTER_RBP && s->rbp != NO_OFFSET)) return (Witness){0};
  if (at == -8 && s->values[base]) return (Witness){WITNESS_TABLE, s->values[base]};
  bool is_witness = s->witnesses[base] == WITNESS_TABLE && at > 0 && at % 8 == 0 && at / 8 < WITNESS_TABLE;
  return is_witness ? (Witness){(uint8_t)(at / 8), s->types[base]} : (Witness){0};
}

/// The same of a register or memory.
static Witness witness_at(const State *s, const ZydisDecodedOperand *from) {
  if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) return witness_in(s, from);
  int reg = from->type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(from->reg.value) : -1;
  return reg < 0 ? (Witness){0} : (Witness){s->witnesses[reg], s->types[reg]};
}

/// No address of an object has bits in common with the number.
static bool is_mask(uint64_t number) { return (number & UINT64_C(0x00007ffffffffff8)) == 0; }

/// What is left of a reference tells a case, or a text's form, and is no reference.
static bool tells_case(const Instruction *i, const State *s) {
  const ZydisDecodedOperand *op = i->op;
  bool by_number = op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  if (i->in.mnemonic == ZYDIS_MNEMONIC_BT) return true;
  if (i->in.mnemonic == ZYDIS_MNEMONIC_SHR) return by_number && op[1].imm.value.u >= 48;
  if (i->in.mnemonic != ZYDIS_MNEMONIC_AND) return false;
  // Addresses of objects are no small numbers.
  if (by_number) return op[1].imm.value.s >= 0 && op[1].imm.value.s < 0x1000;
  for (int k = 0; k < 2; k++) {
    int reg = op[k].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op[k].reg.value) : -1;
    if (reg >= 0 && s->masks >> reg & 1) return true;
  }
  return false;
}

static void load_word(const Reader *r, const Instruction *i, uint64_t offset, State *s) {
  const ZydisDecodedOperand *from = i->op + 1;
  int to = number_of(i->op[0].reg.value), reg = from->type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(from->reg.value) : -1;
  if (to < 0) return;
  int slot = from->type == ZYDIS_OPERAND_TYPE_MEMORY && !is_at_address(s, from) ? slot_of(s, from) : -1;
  bool is_class = loads_class(s, from);
  bool exact = reg >= 0 ? is_exact(s, reg) : is_exact_slot(s, slot), inside = reg >= 0 ? is_inside(s, reg) : is_inside_slot(s, slot);
  Witness witness = witness_at(s, from);
  uint32_t value = reg >= 0 ? s->values[reg] : (uint32_t)offset + 1;
  bool masked = reg >= 0 && s->masks >> reg & 1;
  set(s, to, reg >= 0 ? hold_of(s, reg) : hold_of_memory(r, s, from, 0));
  set_address(s, to, exact, inside);
  if (is_class) s->classes |= (uint16_t)(1 << to);
  s->witnesses[to] = witness.number;
  s->types[to] = witness.type;
  s->values[to] = value;
  bool masks = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? is_mask(from->imm.value.u) : masked;
  s->masks = (uint16_t)((s->masks & ~(1 << to)) | masks << to);
}

/// Eight bytes come to lie at the place that the operand names.
static void store_word(
  const Reader *r, const ZydisDecodedOperand *to, int extra, Hold hold, bool exact, bool inside, uint64_t offset, State *s
) {
  if (is_at_address(s, to) && hold_of_memory(r, s, to, extra) != NEVER) overwrite(s);
  int slot = is_at_address(s, to) ? -1 : slot_at(s, to, extra);
  set_slot(s, slot, hold);
  set_slot_address(s, slot, exact, inside);
  if (slot >= 0 && to->mem.base == ZYDIS_REGISTER_RSP) s->fresh |= UINT64_C(1) << slot;
  if (slot >= 0 && !is_shown(r, slot, offset)) return;
  // Kept with a retain of its own, or given up.
  count(s, hold, -1, 0);
  if (inside) lose(s);
}

/// The vector moves that compilers copy values with; false for any other instruction.
static bool move_vectors(const Reader *r, const Instruction *i, uint64_t offset, State *s) {
  const ZydisDecodedOperand *op = i->op;
  int bytes = 16;
  switch (i->in.mnemonic) {
    case ZYDIS_MNEMONIC_MOVUPS: case ZYDIS_MNEMONIC_MOVAPS: case ZYDIS_MNEMONIC_MOVUPD: case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVDQU: case ZYDIS_MNEMONIC_MOVDQA: case ZYDIS_MNEMONIC_VMOVUPS: case ZYDIS_MNEMONIC_VMOVAPS:
    case ZYDIS_MNEMONIC_VMOVDQU: case ZYDIS_MNEMONIC_VMOVDQA: break;
    case ZYDIS_MNEMONIC_MOVQ: bytes = 8; break;
    case ZYDIS_MNEMONIC_PUNPCKLQDQ: {
      int to = vector_of(op[0].reg.value), from = op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? vector_of(op[1].reg.value) : -1;
      if (to < 0 || from < 0) return false;
      count(s, hold_of_half(s, to, 1), -1, 0);
      set_half(s, to, 1, hold_of_half(s, from, 0));
      return true;
    }
    default: return false;
  }
  if (op[0].size > 128 || op[1].size > 128) return false;
  bool loads = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER, stores = op[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
  int to = loads ? vector_of(op[0].reg.value) : -1, from = op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? vector_of(op[1].reg.value) : -1;
  int word = from < 0 && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op[1].reg.value) : -1;
  if ((word >= 0 && is_inside(s, word)) || (op[1].type == ZYDIS_OPERAND_TYPE_MEMORY && !is_at_address(s, op + 1) &&
                                            (is_inside_slot(s, slot_of(s, op + 1)) || is_inside_slot(s, slot_at(s, op + 1, 8)))))
    lose(s);
  Hold halves[2] = {NEVER, NEVER};
  for (int half = 0; half < bytes / 8; half++)
    halves[half] = from >= 0 ? hold_of_half(s, from, half) : word >= 0 ? hold_of(s, word) : hold_of_memory(r, s, op + 1, 8 * half);
  if (stores) {
    for (int half = 0; half < bytes / 8; half++) store_word(r, op, 8 * half, halves[half], false, false, offset, s);
  } else if (to >= 0) {
    for (int half = 0; half < 2; half++) set_half(s, to, half, halves[half]);
  } else if (loads) {
    set(s, number_of(op[0].reg.value), halves[0]);
  }
  return true;
}

/// Copies of self between registers and the own frame; its way to anywhere else.
static void move_values(const Reader *r, const Instruction *i, uint64_t offset, State *s) {
  const ZydisDecodedOperand *op = i->op;
  ZydisMnemonic name = i->in.mnemonic;
  if (name == ZYDIS_MNEMONIC_PUSH || name == ZYDIS_MNEMONIC_POP) return move_through_stack(r, i, s);
  if (!self_is_register(op, ZYDIS_REGISTER_RBP)) s->is_prologue = false;
  bool is_move = name == ZYDIS_MNEMONIC_MOV && op[0].size == 64;
  if (is_move && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER) return load_word(r, i, offset, s);
  if (move_vectors(r, i, offset, s)) return;
  if (op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && op[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
    int from = is_move && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op[1].reg.value) : -1;
    // Not copied but exchanged, as atomic variables are.
    if (!is_move) {
      count(s, hold_of_read(r, i, s), -1, 0);
      if (reads_address(i, s)) lose(s);
    }
    store_word(r, op, 0, hold_of(s, from), is_exact(s, from), is_inside(s, from), offset, s);
    for (int extra = 8; op[0].size / 8 > extra; extra += 8) store_word(r, op, extra, NEVER, false, false, offset, s);
    return;
  }
  Hold read = hold_of_read(r, i, s);
  bool inside = reads_address(i, s);
  bool compares = name == ZYDIS_MNEMONIC_CMP || name == ZYDIS_MNEMONIC_TEST;
  // By a choice self stays, or goes somewhere.
  bool chooses = name >= ZYDIS_MNEMONIC_CMOVB && name <= ZYDIS_MNEMONIC_CMOVZ;
  bool zeroes = name == ZYDIS_MNEMONIC_XOR && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == op[1].reg.value;
  bool tells = tells_case(i, s);
  // The address of a field, as LEA computes it. (The low bits tell cases.)
  bool steps = name == ZYDIS_MNEMONIC_ADD && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[1].imm.value.s >= 16;
  // As the payload of an enum self is a number with more bits, which is not followed.
  bool computes = !compares && !chooses && !zeroes && !tells && !steps;
  // Strings of words are copied by them.
  if (inside && i->in.meta.category == ZYDIS_CATEGORY_STRINGOP) lose(s);
  for (int k = 0; k < i->in.operand_count; k++) {
    if (op[k].type != ZYDIS_OPERAND_TYPE_REGISTER || !(op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    int reg = number_of(op[k].reg.value);
    // In a vector, too, it is not followed.
    bool is_vector = reg < 0 && vector_of(op[k].reg.value) >= 0;
    if (computes && (reg >= 0 || is_vector)) count(s, read, -1, 0);
    if (is_vector) {
      if (inside) lose(s);
      for (int half = 0; half < 2; half++) set_half(s, vector_of(op[k].reg.value), half, NEVER);
    }
    if (reg < 0) continue;
    bool may_stay = chooses && (read != NEVER || hold_of(s, reg) != NEVER), was_inside = chooses && is_inside(s, reg);
    set(s, reg, may_stay ? SOMETIMES : NEVER);
    set_address(s, reg, false, (inside && !compares && !zeroes) || was_inside);
    s->values[reg] = chooses ? 0 : (uint32_t)offset + 1;
  }
}

uint64_t self_words_read(const Instruction *i, const State *s) {
  uint64_t words = 0;
  ZydisInstructionCategory kind = i->in.meta.category;
  if (kind == ZYDIS_CATEGORY_CALL || kind == ZYDIS_CATEGORY_UNCOND_BR) return 0;
  if (i->in.mnemonic == ZYDIS_MNEMONIC_CMP || i->in.mnemonic == ZYDIS_MNEMONIC_TEST || i->in.mnemonic == ZYDIS_MNEMONIC_LEA) return 0;
  for (int k = 0; k < i->in.operand_count; k++) {
    const ZydisDecodedOperand *op = i->op + k;
    if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || !(op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) || op->size < 64) continue;
    if (op->mem.index != ZYDIS_REGISTER_NONE || !is_exact(s, number_of(op->mem.base))) continue;
    int64_t at = op->mem.disp.value, end = at + op->size / 8;
    if (at < 0 || at % 8 || end > 8 * 64) return UINT64_MAX;
    for (; at < end; at += 8) words |= UINT64_C(1) << (at / 8);
  }
  return words;
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
  bool is_open = callee->kind == HKT_CALLEE_UNKNOWN || callee->kind == HKT_CALLEE_FOREIGN || callee->kind >= HKT_CALLEE_COPIES;
  for (int number = 0; number < STACK_ARGUMENTS; number++) {
    HKTPlaces place = HKT_STACK_SLOT(number);
    int slot = slot_of_argument(s, number);
    Hold hold = hold_of_slot(s, slot);
    bool is_fresh = slot >= 0 && s->fresh >> slot & 1;
    if (callee->takes & place) count(s, hold, -1, -1);
    else if (callee->may_take & place) count(s, hold, -1, 0);
    else if (is_open && is_fresh) count(s, hold, -1, callee->kind != HKT_CALLEE_UNKNOWN);
    if (is_inside_slot(s, slot) && ((callee->takes | callee->may_take) & place || (is_open && is_fresh))) lose(s);
  }
  s->fresh = 0;
}

/// What lies at the address in the register ends, or is moved away.
static void end_at_address(const Reader *r, int reg, State *s) {
  if (!is_inside(s, reg)) return;
  // How much of the value that is, no name tells; what begins it is among it.
  bool is_certain = is_exact(s, reg) && (r->word == 0 || r->word == HKT_NO_WORD);
  count(s, ALWAYS, -1, is_certain ? -1 : 0);
}

enum { RSI = 6, RDI = 7, RDX = 2 };

/// A value witness is called: whose, its metadata tells, which is an argument; false where it is another function.
static bool pass_to_witness(Witness witness, const Reader *r, State *s) {
  bool copies = witness.number >= INITIALIZE_WITH_COPY && witness.number <= ASSIGN_WITH_TAKE;
  bool reads = witness.number == DESTROY || witness.number == GET_ENUM_TAG;
  if (!witness.type || (!copies && !reads) || s->values[copies ? RDX : RSI] != witness.type) return false;
  if (witness.number == DESTROY) end_at_address(r, RDI, s);
  if (witness.number == INITIALIZE_WITH_TAKE || witness.number == ASSIGN_WITH_TAKE) end_at_address(r, RSI, s);
  if (copies && is_inside(s, RDI)) overwrite(s);
  return true;
}

/// What the callee's own code does with the word that is followed, which is in the register, or at the address there.
static HKTBalance use_of_passed(const Reader *r, const HKTCallee *callee, uint64_t target, int reg, bool is_address, bool is_certain) {
  if (callee->kind != HKT_CALLEE_UNKNOWN || !target || !r->host || !r->host->passed) return HKT_BALANCE_UNREAD;
  HKTSelf self = {.place = HKT_GPR(reg), .is_address = is_address, .word = is_address ? r->word : 0, .is_certain = is_certain,
                  .before = is_address ? r->before : MOST_BEFORE};
  return r->host->passed(r->host->context, target, self);
}

/// What self's address in an argument comes to.
static void pass_address(const Reader *r, const HKTCallee *callee, uint64_t target, int reg, State *s) {
  HKTPlaces place = HKT_GPR(reg);
  if (!is_inside(s, reg)) return;
  // Which words a callee reads is not asked, so that only one that is known is followed there.
  HKTBalance use = is_exact(s, reg) && r->word != HKT_NO_WORD ? use_of_passed(r, callee, target, reg, true, r->is_certain) : HKT_BALANCE_UNREAD;
  if (use == HKT_BALANCE_KEPT) return;
  if (use == HKT_BALANCE_CONSUMED) count(s, ALWAYS, -1, -1);
  else if (callee->takes & place) end_at_address(r, reg, s);
  else if (callee->may_take & place || callee->unread & place || callee->kind == HKT_CALLEE_UNKNOWN) lose(s);
  // C functions have no self.
  else if (callee->kind == HKT_CALLEE_FOREIGN && place != HKT_GPR(13)) count(s, ALWAYS, -1, 1);
}

/// What self in a register that may be an argument's comes to.
static void pass_word(const Reader *r, const HKTCallee *callee, uint64_t target, int reg, State *s) {
  HKTPlaces place = HKT_GPR(reg);
  Hold hold = hold_of(s, reg);
  if (hold == NEVER) return;
  HKTBalance use = use_of_passed(r, callee, target, reg, false, r->is_certain && hold == ALWAYS);
  if (use == HKT_BALANCE_KEPT) return;
  if (use == HKT_BALANCE_CONSUMED || callee->takes & place) count(s, hold, -1, -1);
  else if (callee->may_take & place || (r->is_strict && callee->unread & place)) count(s, hold, -1, 0);
  // A method keeps the self it is called on, as all but a few do, where its own code cannot be read.
  else if (place == HKT_GPR(13)) return;
  else if (callee->kind == HKT_CALLEE_UNKNOWN) count(s, hold, -1, 0);
  else if (callee->kind == HKT_CALLEE_FOREIGN) count(s, hold, -1, 1);
}

static void forget_registers(Hold returned, uint64_t offset, State *s) {
  for (int reg = 0; reg < 16; reg++)
    if (!(KEPT_BY_CALLS & HKT_GPR(reg))) set(s, reg, NEVER);
  for (int half = 0; half < 2; half++) s->halves[half] = s->doubtful_halves[half] = 0;
  set(s, 0, returned);
  s->values[0] = (uint32_t)offset + 1;
}

/// A call of the function, or a jump there.
/// - Parameter target: where its code is; 0: not known.
static void pass_to(const Reader *r, HKTCallee callee, uint64_t target, uint64_t offset, State *s) {
  Hold first = hold_of(s, 7);
  Hold returned = NEVER;
  bool projects = callee.projects && is_inside(s, RDI);
  s->is_prologue = false;
  if (callee.may_fail) {
    // An error that nobody has asked for is one to be returned, whatever this call brings: `defer` runs other code beside it.
    s->fails |= s->may_fail;
    s->may_fail = true;
  }
  pass_on_stack(&callee, s);
  // Copied through an address, a slot's content is retained: where the copy is not used, that is all that is meant.
  if ((callee.kind == HKT_CALLEE_COPIES || callee.kind == HKT_CALLEE_FOREIGN) && s->doubtful_slots & (r->shown | r->near))
    count(s, ALWAYS, 0, 1);
  switch (callee.kind) {
    case HKT_CALLEE_RETAINS: count(s, first, 1, 1); returned = first; break;
    case HKT_CALLEE_RETAINS_SEVERAL: count(s, first, 1, MOST); returned = first; break;
    case HKT_CALLEE_RELEASES: count(s, first, -1, -1); break;
    case HKT_CALLEE_RELEASES_SEVERAL: count(s, first, -MOST, -1); break;
    case HKT_CALLEE_COPIES:
      if (is_inside(s, RDI)) count(s, ALWAYS, 0, 1);
      if (is_inside(s, RSI)) overwrite(s);
      break;
    case HKT_CALLEE_MOVES:
      end_at_address(r, RDI, s);
      if (is_inside(s, RSI)) overwrite(s);
      break;
    case HKT_CALLEE_ENDS: end_at_address(r, RDI, s); break;
    case HKT_CALLEE_COPIES_WORDS: case HKT_CALLEE_ENDS_WORDS: {
      // Perhaps: how many words their type has is not told, and self may still be in the registers behind them.
      int least = callee.kind == HKT_CALLEE_ENDS_WORDS ? -1 : 0;
      for (int reg = 0; reg < 16; reg++)
        if (ARGUMENTS & HKT_GPR(reg)) count(s, hold_of(s, reg), least, least + 1);
      break;
    }
    default:
      // Where a result goes is written to.
      if (is_inside(s, 0)) overwrite(s);
      for (int reg = 0; reg < 16; reg++) {
        if (!(HKT_GPR(reg) & (ARGUMENTS | HKT_GPR(13)))) continue;
        pass_address(r, &callee, target, reg, s);
        pass_word(r, &callee, target, reg, s);
      }
  }
  forget_registers(returned, offset, s);
  if (projects) set_address(s, 0, false, true);
}

/// A call or jump: whom it goes to, and what becomes of self there. Answers whether that is told by a value witness.
static bool pass(const Reader *r, uint64_t offset, const Instruction *i, State *s, HKTCallee *callee) {
  Witness witness = witness_at(s, &i->op[0]);
  if (witness.number != NO_WITNESS && witness.number != WITNESS_TABLE && pass_to_witness(witness, r, s)) {
    *callee = (HKTCallee){.kind = HKT_CALLEE_KNOWN};
    // A copy of what lies in a slot is a reference of its own.
    if (s->doubtful_slots & (r->shown | r->near)) count(s, ALWAYS, 0, 1);
    s->is_prologue = false;
    forget_registers(NEVER, offset, s);
    return true;
  }
  *callee = callee_of(r, offset, i, s);
  pass_to(r, *callee, target_of(r, offset, i), offset, s);
  return false;
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

/// The table through which the jump at a register's address goes: `lea table, T; movslq (T, n, 4), R; add T, R; jmp R`. 0: none.
static uint64_t table_of(const Reader *r, const Instruction *i, const State *s) {
  int to = i->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(i->op[0].reg.value) : -1;
  if (to < 0 || s->values[to] == 0 || s->values[to] > r->code->size) return 0;
  Instruction sum, address;
  if (!self_decode(r, s->values[to] - 1, &sum) || sum.in.mnemonic != ZYDIS_MNEMONIC_ADD || sum.op[1].type != ZYDIS_OPERAND_TYPE_REGISTER) return 0;
  int table = number_of(sum.op[1].reg.value);
  if (table < 0 || table == to || s->values[table] == 0 || s->values[table] > r->code->size) return 0;
  uint64_t at = s->values[table] - 1;
  if (!self_decode(r, at, &address) || address.in.mnemonic != ZYDIS_MNEMONIC_LEA || address.op[1].mem.base != ZYDIS_REGISTER_RIP) return 0;
  return r->code->address + at + address.in.length + (uint64_t)address.op[1].mem.disp.value;
}

bool self_table_entry(const Reader *r, uint64_t table, uint32_t number, uint64_t *offset) {
  int32_t distance;
  const void *bytes = r->host && r->host->data ? r->host->data(r->host->context, table + 4 * number, sizeof distance) : NULL;
  if (!bytes) return false;
  memcpy(&distance, bytes, sizeof distance);
  *offset = table + (uint64_t)(int64_t)distance - r->code->address;
  return *offset < r->code->size;
}

static Step branch(const Reader *r, const Instruction *i, uint64_t offset, State *s) {
  Step step = {0};
  uint64_t next = offset + i->in.length;
  uint64_t target = target_of(r, offset, i);
  bool is_direct = target != 0;
  bool is_inside = is_direct && target - r->code->address < r->code->size;
  switch (i->in.meta.category) {
    case ZYDIS_CATEGORY_CALL: {
      HKTCallee callee;
      pass(r, offset, i, s, &callee);
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
      step.table = table_of(r, i, s);
      if (step.table && self_table_entry(r, step.table, 0, &next)) return step;
      HKTCallee callee;
      bool is_witness = pass(r, offset, i, s, &callee);
      // A table of jumps looks the same as a jump to a function whose address a register holds.
      step.is_unknown = !is_direct && !is_witness && !is_word_of_object(&i->op[0]);
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
