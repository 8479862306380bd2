// What instructions that call nobody do with self: they move it, compute with it, and put it where it is not followed.
#include "self_holds.h"

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

/// The memory is a field whose place the metadata says, a word of 32 bits: what every value has at the same place lies before all such fields.
static bool is_generic_field(const Reader *r, const State *s, const ZydisDecodedOperand *op) {
  int index = number_of(op->mem.index);
  if (index < 0 || op->mem.scale != 1 || op->mem.disp.value != 0 || !is_exact(s, number_of(op->mem.base))) return false;
  if (s->values[index] == 0 || s->values[index] > r->code->size) return false;
  const Instruction *i = self_decode(r, s->values[index] - 1);
  return i && i->in.mnemonic == ZYDIS_MNEMONIC_MOVSXD && i->op[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
}

/// What the eight bytes so far behind the memory that the operand names hold.
static Hold hold_of_memory(const Reader *r, const State *s, const ZydisDecodedOperand *op, int extra) {
  if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type == ZYDIS_MEMOP_TYPE_AGEN) return NEVER;
  if (!is_at_address(s, op)) return hold_of_slot(s, slot_at(s, op, extra));
  if (r->is_certain && is_generic_field(r, s, op)) return NEVER;
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
    lose_track(s, hold);
    if (inside) lose_track(s, ALWAYS);
  } else if (!s->is_prologue) s->fresh |= self_slot(slot);
}

/// The bits that addresses of objects have.
static const uint64_t ADDRESS_BITS = UINT64_C(0x00007ffffffffff8);

static bool is_mask(uint64_t number) { return (number & ADDRESS_BITS) == 0; }
static bool is_wide_mask(uint64_t number) { return (number & ADDRESS_BITS) == ADDRESS_BITS; }

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

/// What tells the case goes out of a reference, or into one: it refers to the same object.
static bool keeps_address(const Instruction *i, const State *s) {
  const ZydisDecodedOperand *op = i->op;
  if (op[0].type != ZYDIS_OPERAND_TYPE_REGISTER || op[0].size != 64) return false;
  bool by_number = op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  int from = op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op[1].reg.value) : -1, to = number_of(op[0].reg.value);
  uint16_t both = (uint16_t)((to >= 0 ? 1 << to : 0) | (from >= 0 ? 1 << from : 0));
  switch (i->in.mnemonic) {
    case ZYDIS_MNEMONIC_AND: return by_number ? is_wide_mask((uint64_t)op[1].imm.value.s) : (s->wide_masks & both) != 0;
    case ZYDIS_MNEMONIC_OR: return by_number ? is_mask((uint64_t)op[1].imm.value.s) : (s->masks & both) != 0;
    case ZYDIS_MNEMONIC_BTS: case ZYDIS_MNEMONIC_BTR: case ZYDIS_MNEMONIC_BTC:
      return by_number && is_mask(UINT64_C(1) << (op[1].imm.value.u & 63));
    default: return false;
  }
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
  bool masked = reg >= 0 && s->masks >> reg & 1, masked_widely = reg >= 0 && s->wide_masks >> reg & 1;
  set(s, to, reg >= 0 ? hold_of(s, reg) : hold_of_memory(r, s, from, 0));
  set_address(s, to, exact, inside);
  if (is_class) s->classes |= (uint16_t)(1 << to);
  s->witnesses[to] = witness.number;
  s->types[to] = witness.type;
  s->values[to] = value;
  bool masks = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? is_mask(from->imm.value.u) : masked;
  bool masks_widely = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? is_wide_mask(from->imm.value.u) : masked_widely;
  s->masks = (uint16_t)((s->masks & ~(1 << to)) | masks << to);
  s->wide_masks = (uint16_t)((s->wide_masks & ~(1 << to)) | masks_widely << to);
}

/// Eight bytes come to lie at the place that the operand names.
static void store_word(
  const Reader *r, const ZydisDecodedOperand *to, int extra, Hold hold, bool exact, bool inside, uint64_t offset, State *s
) {
  if (is_at_address(s, to) && hold_of_memory(r, s, to, extra) != NEVER) overwrite(s);
  int slot = is_at_address(s, to) ? -1 : slot_at(s, to, extra);
  set_slot(s, slot, hold);
  set_slot_address(s, slot, exact, inside);
  if (slot >= 0 && to->mem.base == ZYDIS_REGISTER_RSP) s->fresh |= self_slot(slot);
  if (slot >= 0 && !is_shown(r, slot, offset)) return;
  if (slot == -2) {
    lose_track(s, hold);
    if (inside) lose_track(s, ALWAYS);
    return;
  }
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

/// What is computed from it may be self, in another form: as the payload of an enum it is a number with more bits.
static Hold part_of(Hold hold) { return hold == NEVER ? NEVER : SOMETIMES; }

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
    // Not copied but exchanged, as atomic variables are, or computed with.
    Hold hold = is_move ? hold_of(s, from) : part_of(hold_of_read(r, i, s));
    if (!is_move && reads_address(i, s)) lose(s);
    bool exchanges = name == ZYDIS_MNEMONIC_XCHG || name == ZYDIS_MNEMONIC_CMPXCHG || name == ZYDIS_MNEMONIC_XADD;
    if (exchanges) count(s, hold, -1, 0);
    store_word(r, op, 0, hold, is_exact(s, from), is_inside(s, from), offset, s);
    for (int extra = 8; op[0].size / 8 > extra; extra += 8) store_word(r, op, extra, hold == ALWAYS ? NEVER : hold, false, false, offset, s);
    for (int k = 0; exchanges && k < i->in.operand_count; k++)
      if (op[k].type == ZYDIS_OPERAND_TYPE_REGISTER && op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) set(s, number_of(op[k].reg.value), hold);
    return;
  }
  Hold read = hold_of_read(r, i, s);
  bool inside = reads_address(i, s);
  bool compares = name == ZYDIS_MNEMONIC_CMP || name == ZYDIS_MNEMONIC_TEST;
  // By a choice self stays, or goes somewhere.
  bool chooses = name >= ZYDIS_MNEMONIC_CMOVB && name <= ZYDIS_MNEMONIC_CMOVZ;
  bool is_xor = name == ZYDIS_MNEMONIC_XOR || name == ZYDIS_MNEMONIC_XORPS || name == ZYDIS_MNEMONIC_PXOR;
  bool zeroes = is_xor && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == op[1].reg.value;
  bool tells = tells_case(i, s), stays = keeps_address(i, s);
  // The address of a field, as LEA computes it. (The low bits tell cases.)
  bool steps = name == ZYDIS_MNEMONIC_ADD && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[1].imm.value.s >= 16;
  bool computes = !compares && !chooses && !zeroes && !tells && !steps && !stays;
  // Strings of words are copied by them.
  if (inside && i->in.meta.category == ZYDIS_CATEGORY_STRINGOP) lose(s);
  for (int k = 0; k < i->in.operand_count; k++) {
    if (op[k].type != ZYDIS_OPERAND_TYPE_REGISTER || !(op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    int reg = number_of(op[k].reg.value);
    bool is_vector = reg < 0 && vector_of(op[k].reg.value) >= 0;
    if (is_vector) {
      if (inside) lose(s);
      for (int half = 0; half < 2; half++) set_half(s, vector_of(op[k].reg.value), half, zeroes ? NEVER : part_of(read));
    }
    if (reg < 0) continue;
    bool may_stay = chooses && (read != NEVER || hold_of(s, reg) != NEVER), was_inside = chooses && is_inside(s, reg);
    set(s, reg, stays ? read : computes ? part_of(read) : may_stay ? SOMETIMES : NEVER);
    set_address(s, reg, false, (inside && !compares && !zeroes) || was_inside);
    s->values[reg] = chooses ? 0 : (uint32_t)offset + 1;
  }
}

void self_move(const Reader *r, const Instruction *i, uint64_t offset, State *s) {
  move_values(r, i, offset, s);
  move_stack(i, s);
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
