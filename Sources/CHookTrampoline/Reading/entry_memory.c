// entry_memory — follows the address of a variable through a function, and what is read and written there.
//
// A forward analysis: the state before an instruction says which registers and own stack slots hold an address in the
// variable, how far from its start, on every path, and which of its bytes are written on every path. Where paths meet with
// different addresses, neither is followed further.
#include "HKTEntryMemory.h"

#include "decoder.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_BODY = 1 << 16, SLOTS = 64, WORDS = HKT_ENTRY_BYTES / 64, RAX = 0, RSP = 4, RBP = 5, R13 = 13 };
static const int16_t NOWHERE = INT16_MIN;
static const int32_t NO_OFFSET = HKT_NO_OFFSET;

typedef struct State {
  int16_t registers[16];   // bytes from the variable's start, or NOWHERE
  int16_t slots[SLOTS];    // the same of the words below the return address
  int32_t rsp, rbp;        // from the stack pointer at the entry, or NO_OFFSET
  uint64_t written[WORDS];
  bool has_entry_r13;      // r13 is as it came
  bool is_reached, is_queued;
} State;

typedef struct Instruction {
  ZydisDecodedInstruction in;
  ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
} Instruction;

typedef struct Reading {
  const HKTCode *code;
  const HKTMemoryHost *host;
  HKTEntryMemory *found;
  ZydisDecoder decoder;
  State *states;           // by the offset of the instruction
  uint32_t *queue;
  uint32_t queued;
  uint64_t kept, loaded;   // own slots that the address is put into, and that are loaded from
  bool returns;
  bool has_tables;         // reads tables of jumps
  State at_jump;           // before every jump to a computed address
} Reading;

static int number_of(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return -1;
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? whole - ZYDIS_REGISTER_RAX : -1;
}

static bool has(const uint64_t *bytes, int64_t at) { return bytes[at / 64] >> (at % 64) & 1; }

static void add(uint64_t *bytes, int64_t from, int64_t count) {
  for (int64_t at = from < 0 ? 0 : from; at < from + count && at < HKT_ENTRY_BYTES; at++) bytes[at / 64] |= UINT64_C(1) << (at % 64);
}

static void note_read(Reading *r, const State *s, int64_t from, int64_t count) {
  for (int64_t at = from < 0 ? 0 : from; at < from + count && at < HKT_ENTRY_BYTES; at++)
    if (!has(s->written, at)) add(r->found->read, at, 1);
}

// MARK: Operands

/// How far from the variable's start the memory lies that the operand names; NOWHERE when it is other memory.
/// @param is_exact false where an index is added
static int64_t distance(const State *s, const ZydisDecodedOperand *op, bool *is_exact) {
  int base = number_of(op->mem.base), index = number_of(op->mem.index);
  *is_exact = index < 0;
  if (base >= 0 && s->registers[base] != NOWHERE) return s->registers[base] + op->mem.disp.value;
  if (index < 0 || s->registers[index] == NOWHERE) return NOWHERE;
  *is_exact = false;
  return s->registers[index];
}

/// The own slot that the operand names; -1 for other memory.
static int slot_of(const State *s, const ZydisDecodedOperand *op) {
  int base = number_of(op->mem.base);
  int32_t from = base == RSP ? s->rsp : base == RBP ? s->rbp : NO_OFFSET;
  if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || from == NO_OFFSET || op->mem.index != ZYDIS_REGISTER_NONE) return -1;
  int64_t below = -((int64_t)from + op->mem.disp.value);
  return below <= 0 || below % 8 || below / 8 > SLOTS ? -1 : (int)(below / 8 - 1);
}

static bool holds(const State *s, const ZydisDecodedOperand *op) {
  int reg = op->type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op->reg.value) : -1;
  return reg >= 0 && s->registers[reg] != NOWHERE;
}

// MARK: One instruction

/// Notes reads and writes of the variable's bytes.
static void touch(Reading *r, const Instruction *i, State *s) {
  for (int k = 0; k < i->in.operand_count; k++) {
    const ZydisDecodedOperand *op = i->op + k;
    if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
    bool is_exact;
    int64_t at = distance(s, op, &is_exact);
    if (at == NOWHERE) continue;
    // Strings of bytes, and elements by a number: which of them is not followed.
    bool is_unknown = !is_exact || i->in.meta.category == ZYDIS_CATEGORY_STRINGOP;
    if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) note_read(r, s, is_unknown ? 0 : at, is_unknown ? HKT_ENTRY_BYTES : op->size / 8);
    if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) r->found->is_written = true;
    if (op->actions & ZYDIS_OPERAND_ACTION_WRITE && !is_unknown) add(s->written, at, op->size / 8);
  }
}

static void move_stack(const Instruction *i, State *s) {
  const ZydisDecodedOperand *op = i->op;
  bool by_number = op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  int to = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op[0].reg.value) : -1;
  int from = op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op[1].reg.value) : -1;
  switch (i->in.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH: if (s->rsp != NO_OFFSET) s->rsp -= 8; return;
    case ZYDIS_MNEMONIC_POP:
      if (s->rsp != NO_OFFSET) s->rsp += 8;
      if (to == RBP) s->rbp = NO_OFFSET;
      return;
    case ZYDIS_MNEMONIC_LEAVE: s->rsp = s->rbp == NO_OFFSET ? NO_OFFSET : s->rbp + 8; s->rbp = NO_OFFSET; return;
    case ZYDIS_MNEMONIC_CALL: case ZYDIS_MNEMONIC_RET: return;
    default: break;
  }
  if (to != RSP && to != RBP) return;
  int32_t made = NO_OFFSET, base = to == RSP ? s->rsp : s->rbp;
  if (i->in.mnemonic == ZYDIS_MNEMONIC_MOV && (from == RSP || from == RBP)) made = from == RSP ? s->rsp : s->rbp;
  else if (i->in.mnemonic == ZYDIS_MNEMONIC_SUB && by_number && base != NO_OFFSET) made = base - (int32_t)op[1].imm.value.s;
  else if (i->in.mnemonic == ZYDIS_MNEMONIC_ADD && by_number && base != NO_OFFSET) made = base + (int32_t)op[1].imm.value.s;
  else if (i->in.mnemonic == ZYDIS_MNEMONIC_LEA && op[1].mem.index == ZYDIS_REGISTER_NONE) {
    int by = number_of(op[1].mem.base);
    int32_t start = by == RSP ? s->rsp : by == RBP ? s->rbp : NO_OFFSET;
    if (start != NO_OFFSET) made = start + (int32_t)op[1].mem.disp.value;
  }
  if (i->in.mnemonic == ZYDIS_MNEMONIC_CMP || i->in.mnemonic == ZYDIS_MNEMONIC_TEST) return;
  if (to == RSP) s->rsp = made;
  else s->rbp = made;
}

static int16_t narrowed(int64_t distance) { return distance < -4096 || distance > 4096 ? NOWHERE : (int16_t)distance; }

/// Where the instruction puts an address in the variable: into registers and own slots it is followed.
static void move_address(Reading *r, const Instruction *i, State *s) {
  const ZydisDecodedOperand *op = i->op;
  ZydisMnemonic name = i->in.mnemonic;
  int to = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op[0].reg.value) : -1;
  int16_t made = NOWHERE;
  bool is_exact, is_whole_register = to >= 0 && op[0].size == 64;
  if (name == ZYDIS_MNEMONIC_PUSH) {
    int slot = s->rsp == NO_OFFSET || s->rsp <= -8 * SLOTS ? -1 : (-s->rsp) / 8;
    int16_t pushed = to >= 0 ? s->registers[to] : NOWHERE;
    // r13 is saved for the caller before it is anything else.
    if (slot >= 0 && slot < SLOTS) s->slots[slot] = pushed;
    else if (pushed != NOWHERE) r->found->is_given_away = true;
    return;
  }
  if (name == ZYDIS_MNEMONIC_POP) {
    int slot = s->rsp == NO_OFFSET ? -1 : (-s->rsp) / 8 - 1;
    if (to >= 0) s->registers[to] = slot >= 0 && slot < SLOTS ? s->slots[slot] : NOWHERE;
    return;
  }
  if (name == ZYDIS_MNEMONIC_MOV && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
    int from = op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].size == 64 ? number_of(op[1].reg.value) : -1;
    int slot = slot_of(s, op);
    int16_t stored = from >= 0 ? s->registers[from] : NOWHERE;
    if (slot >= 0) s->slots[slot] = stored;
    if (stored == NOWHERE) return;
    if (slot < 0) r->found->is_given_away = true;
    else r->kept |= UINT64_C(1) << slot;
    return;
  }
  if (name == ZYDIS_MNEMONIC_MOV && is_whole_register) {
    if (op[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
      int from = number_of(op[1].reg.value);
      made = from >= 0 ? s->registers[from] : NOWHERE;
    } else if (slot_of(s, op + 1) >= 0) {
      made = s->slots[slot_of(s, op + 1)];
    }
    s->registers[to] = made;
    return;
  }
  if (name == ZYDIS_MNEMONIC_LEA && is_whole_register) {
    int64_t at = distance(s, op + 1, &is_exact);
    if (at != NOWHERE && !is_exact) r->found->is_given_away = true;
    s->registers[to] = at == NOWHERE || !is_exact ? NOWHERE : narrowed(at);
    return;
  }
  bool adds = name == ZYDIS_MNEMONIC_ADD || name == ZYDIS_MNEMONIC_SUB;
  if (adds && is_whole_register && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && s->registers[to] != NOWHERE) {
    int64_t by = op[1].imm.value.s;
    s->registers[to] = narrowed(s->registers[to] + (name == ZYDIS_MNEMONIC_ADD ? by : -by));
    return;
  }
  bool compares = name == ZYDIS_MNEMONIC_CMP || name == ZYDIS_MNEMONIC_TEST;
  for (int k = 0; k < i->in.operand_count && !compares; k++) {
    if (op[k].actions & ZYDIS_OPERAND_ACTION_MASK_READ && holds(s, op + k) && i->in.operand_count_visible > k && name != ZYDIS_MNEMONIC_XOR)
      r->found->is_given_away = true;
  }
  for (int k = 0; k < i->in.operand_count; k++) {
    if (!(op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    int reg = op[k].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op[k].reg.value) : -1;
    if (reg >= 0) s->registers[reg] = NOWHERE;
    int slot = slot_of(s, op + k);
    for (int64_t at = 0; slot >= 0 && at < op[k].size / 8 && slot - at / 8 >= 0; at += 8) s->slots[slot - at / 8] = NOWHERE;
  }
}

static void note_loads(Reading *r, const Instruction *i, const State *s) {
  for (int k = 0; k < i->in.operand_count; k++) {
    int slot = i->op[k].actions & ZYDIS_OPERAND_ACTION_MASK_READ ? slot_of(s, i->op + k) : -1;
    if (slot >= 0) r->loaded |= UINT64_C(1) << slot;
  }
}

// MARK: Calls and ways on

/// What a call, or a jump out of the function, does with addresses in the registers that arguments travel in.
/// r13 is preserved by calls: as it came it is an argument only where the callee is known to take it.
static void hand_over(Reading *r, bool is_direct, uint64_t target, State *s) {
  static const int ARGUMENTS[] = {7, 6, 2, 1, 8, 9, R13, RAX};
  for (unsigned k = 0; k < sizeof ARGUMENTS / sizeof *ARGUMENTS; k++) {
    int16_t at = s->registers[ARGUMENTS[k]];
    if (at == NOWHERE || (ARGUMENTS[k] == R13 && !is_direct && s->has_entry_r13)) continue;
    HKTEntryMemory callee = {0};
    bool is_known = is_direct && r->host && r->host->callee && r->host->callee(r->host->context, target, ARGUMENTS[k], &callee);
    if (!is_known || callee.is_given_away) { r->found->is_given_away = true; continue; }
    r->found->is_written |= callee.is_written;
    for (int64_t byte = 0; byte < HKT_ENTRY_BYTES; byte++) {
      if (has(callee.read, byte)) note_read(r, s, at + byte, 1);
      if (has(callee.written, byte) && at + byte >= 0) add(s->written, at + byte, 1);
    }
  }
}

static void after_call(State *s) {
  static const uint16_t PRESERVED = 1 << 3 | 1 << RSP | 1 << RBP | 1 << 12 | 1 << R13 | 1 << 14 | 1 << 15;
  for (int reg = 0; reg < 16; reg++)
    if (!(PRESERVED >> reg & 1)) s->registers[reg] = NOWHERE;
}

/// What is the same on the path that arrives stays; whether anything changed.
static bool joined(State *old, const State *new) {
  bool changed = false;
  for (int k = 0; k < 16; k++)
    if (old->registers[k] != new->registers[k] && old->registers[k] != NOWHERE) { old->registers[k] = NOWHERE; changed = true; }
  for (int k = 0; k < SLOTS; k++)
    if (old->slots[k] != new->slots[k] && old->slots[k] != NOWHERE) { old->slots[k] = NOWHERE; changed = true; }
  for (int k = 0; k < WORDS; k++) {
    uint64_t both = old->written[k] & new->written[k];
    changed |= both != old->written[k];
    old->written[k] = both;
  }
  if (old->rsp != new->rsp && old->rsp != NO_OFFSET) { old->rsp = NO_OFFSET; changed = true; }
  if (old->rbp != new->rbp && old->rbp != NO_OFFSET) { old->rbp = NO_OFFSET; changed = true; }
  if (old->has_entry_r13 && !new->has_entry_r13) { old->has_entry_r13 = false; changed = true; }
  return changed;
}

static void arrive(Reading *r, uint64_t offset, const State *state) {
  if (offset >= r->code->size) return;
  State *old = &r->states[offset];
  if (!old->is_reached) {
    bool is_queued = old->is_queued;
    *old = *state;
    old->is_reached = true;
    old->is_queued = is_queued;
  } else if (!joined(old, state)) {
    return;
  }
  if (old->is_queued) return;
  old->is_queued = true;
  r->queue[r->queued++] = (uint32_t)offset;
}

/// A path ends where the function returns, or jumps to another.
static void leave(Reading *r, const State *s) {
  for (int k = 0; k < WORDS; k++) r->found->written[k] = r->returns ? r->found->written[k] & s->written[k] : s->written[k];
  r->returns = true;
}

static bool step(Reading *r, uint64_t offset) {
  Instruction i;
  State s = r->states[offset];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&r->decoder, r->code->bytes + offset, r->code->size - offset, &i.in, i.op))) return false;
  uint64_t next = offset + i.in.length, target = 0;
  bool is_direct = i.op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && i.op[0].imm.is_relative;
  if (is_direct) target = r->code->address + next + i.op[0].imm.value.u;
  bool is_inside = is_direct && target - r->code->address < r->code->size;
  touch(r, &i, &s);
  note_loads(r, &i, &s);
  switch (i.in.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      hand_over(r, is_direct, target, &s);
      after_call(&s);
      arrive(r, next, &s);
      return true;
    case ZYDIS_CATEGORY_RET: leave(r, &s); return true;
    case ZYDIS_CATEGORY_UNCOND_BR:
      if (is_inside) { arrive(r, target - r->code->address, &s); return true; }
      if (!is_direct && r->has_tables) {
        if (r->at_jump.is_reached) joined(&r->at_jump, &s);
        else r->at_jump = s;
        r->at_jump.is_reached = true;
        return true;
      }
      hand_over(r, is_direct, target, &s);
      leave(r, &s);
      return true;
    case ZYDIS_CATEGORY_COND_BR:
      if (is_inside) arrive(r, target - r->code->address, &s);
      else { State gone = s; hand_over(r, true, target, &gone); leave(r, &gone); }
      arrive(r, next, &s);
      return true;
    default: break;
  }
  if (i.in.mnemonic == ZYDIS_MNEMONIC_UD2 || i.in.mnemonic == ZYDIS_MNEMONIC_INT3) return true;
  move_address(r, &i, &s);
  move_stack(&i, &s);
  for (int k = 0; k < i.in.operand_count; k++)
    if (i.op[k].type == ZYDIS_OPERAND_TYPE_REGISTER && i.op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && number_of(i.op[k].reg.value) == R13)
      s.has_entry_r13 = false;
  arrive(r, next, &s);
  return true;
}

static bool follow(Reading *r) {
  while (r->queued) {
    uint32_t offset = r->queue[--r->queued];
    r->states[offset].is_queued = false;
    if (!step(r, offset)) return false;
  }
  return true;
}

/// The instruction reads an entry of a table of jumps.
static bool reads_table(const Instruction *i) {
  return i->in.mnemonic == ZYDIS_MNEMONIC_MOVSXD && i->op[1].type == ZYDIS_OPERAND_TYPE_MEMORY && i->op[1].mem.index != ZYDIS_REGISTER_NONE;
}

/// Looks at each instruction once, in their order. With `arrives`, code that nothing else leads to is where tables lead.
static bool look(Reading *r, bool arrives) {
  bool is_end = false;
  for (uint64_t offset = 0; offset < r->code->size;) {
    Instruction i;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&r->decoder, r->code->bytes + offset, r->code->size - offset, &i.in, i.op))) return false;
    if (!arrives) r->has_tables |= reads_table(&i);
    else if (is_end && !r->states[offset].is_reached) {
      arrive(r, offset, &r->at_jump);
      if (!follow(r)) return false;
    }
    is_end = i.in.meta.category == ZYDIS_CATEGORY_UNCOND_BR || i.in.meta.category == ZYDIS_CATEGORY_RET || i.in.mnemonic == ZYDIS_MNEMONIC_UD2;
    offset += i.in.length;
  }
  return true;
}

static bool read_all(Reading *r, int reg) {
  State entry = {.rsp = 0, .rbp = NO_OFFSET, .has_entry_r13 = reg == R13};
  for (int k = 0; k < 16; k++) entry.registers[k] = k == reg ? 0 : NOWHERE;
  for (int k = 0; k < SLOTS; k++) entry.slots[k] = NOWHERE;
  if (!look(r, false)) return false;
  arrive(r, 0, &entry);
  return follow(r) && (!r->at_jump.is_reached || look(r, true));
}

void hkt_read_entry_memory(const HKTCode *code, int reg, const HKTMemoryHost *host, HKTEntryMemory *found) {
  memset(found, 0, sizeof *found);
  Reading r = {.code = code, .host = host, .found = found, .decoder = hkt_decoder()};
  bool is_small = code->size > 0 && code->size <= LARGEST_BODY;
  r.states = is_small ? calloc(code->size, sizeof *r.states) : NULL;
  r.queue = is_small ? calloc(code->size, sizeof *r.queue) : NULL;
  bool is_understood = r.states && r.queue && read_all(&r, reg);
  free(r.states);
  free(r.queue);
  // Kept for nobody but a debugger: code without optimisation.
  if (!is_understood || r.kept & ~r.loaded) found->is_given_away = true;
  if (!r.returns) memset(found->written, 0, sizeof found->written);
}
