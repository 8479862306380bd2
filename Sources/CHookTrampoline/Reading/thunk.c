// Reads the thunks that the compiler leaves where it merged equal functions: a few moves of constants into the argument
// registers and stack slots behind the function's own, then a jump to the merged body, or a call and a return.
//
// The thunk's instructions are followed with what each register and each word of its frame holds. What is not among
// those that such thunks are made of ends the reading.
#include "HKTThunk.h"

#include "decoder.h"

#include <string.h>

enum { LONGEST_THUNK = 512, FRAME_WORDS = 64, SLOTS = HKT_THUNK_SLOTS, FLOATS = HKT_THUNK_FLOATS };

_Static_assert(HKT_THUNK_PLACES == HKT_THUNK_REGISTERS + HKT_THUNK_SLOTS + HKT_THUNK_FLOATS, "as the header says");

typedef enum Kind : uint8_t { UNKNOWN, OWN, CONSTANT, LOADED, LOADED_HALF, STACK_ADDRESS } Kind;

/// What a register or a word holds: with OWN what the place numbered `n` held at entry, with STACK_ADDRESS rsp at entry plus `n`.
typedef struct Word {
  Kind kind;
  uint64_t n;
} Word;

/// Numbers of places, for OWN: general registers, halves of vector registers, stack slots.
enum { OWN_XMM = 16, OWN_SLOT = 64, NEVER_WRITTEN = 1000, PROTECTOR = 1001 };

typedef struct Machine {
  Word gpr[16];
  Word xmm[16][2];
  Word frame[FRAME_WORDS];  // downwards from the return address
  Word slot[SLOTS];         // upwards from it
  bool has_called;
  bool stored[16];    // the vector register was only there to fill the stack
  bool does_more;     // than forwarding: it writes memory that is not its frame
} Machine;

enum { RAX = 0, RBX = 3, RSP = 4, RBP = 5, R12 = 12, R13 = 13, R14 = 14, R15 = 15 };
static const uint8_t ARGUMENTS[HKT_THUNK_REGISTERS] = {7, 6, 2, 1, 8, 9};

static bool is_own(Word word, uint64_t place) { return word.kind == OWN && word.n == place; }

/// The machine as a function finds it: each register holds its own value.
static void start(Machine *m) {
  *m = (Machine){0};
  for (uint64_t i = 0; i < 16; i++) {
    m->gpr[i] = (Word){OWN, i};
    m->xmm[i][0] = (Word){OWN, OWN_XMM + 2 * i};
    m->xmm[i][1] = (Word){OWN, OWN_XMM + 2 * i + 1};
  }
  m->gpr[RSP] = (Word){STACK_ADDRESS, 0};
  for (uint64_t i = 0; i < SLOTS; i++) m->slot[i] = (Word){OWN, OWN_SLOT + i};
  for (uint64_t i = 0; i < FRAME_WORDS; i++) m->frame[i] = (Word){OWN, NEVER_WRITTEN};
}

// MARK: Operands

/// Number of a 64-bit register, or of a 32-bit one's whole when `size` says so; -1 for all others.
static int gpr_of(const ZydisDecodedOperand *op, int size) {
  if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || op->size != size) return -1;
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value);
  return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? whole - ZYDIS_REGISTER_RAX : -1;
}

/// The number of the operand's vector register; -1 where it is none.
static int xmm_of(const ZydisDecodedOperand *op) {
  bool is_xmm = op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value >= ZYDIS_REGISTER_XMM0 && op->reg.value <= ZYDIS_REGISTER_XMM15;
  return is_xmm ? op->reg.value - ZYDIS_REGISTER_XMM0 : -1;
}

/// The word of the stack at this distance from rsp at entry; NULL where none is followed.
static Word *word_at(Machine *m, int64_t distance) {
  if (distance % 8 != 0 || distance == 0) return NULL;
  if (distance > 0) return distance / 8 <= SLOTS ? &m->slot[distance / 8 - 1] : NULL;
  return -distance / 8 <= FRAME_WORDS ? &m->frame[-distance / 8 - 1] : NULL;
}

/// The distance from rsp at entry that a memory operand means; false when it is not on the stack.
static bool stack_distance(const Machine *m, const ZydisDecodedOperand *op, int64_t *distance) {
  if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.index != ZYDIS_REGISTER_NONE) return false;
  if (op->mem.base != ZYDIS_REGISTER_RSP && op->mem.base != ZYDIS_REGISTER_RBP) return false;
  Word base = m->gpr[op->mem.base - ZYDIS_REGISTER_RAX];
  if (base.kind != STACK_ADDRESS) return false;
  *distance = (int64_t)base.n + op->mem.disp.value;
  return true;
}

/// The operand lies at a distance from the code.
static bool is_rip_relative(const ZydisDecodedOperand *op) {
  return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RIP && op->mem.index == ZYDIS_REGISTER_NONE;
}

/// What an operand holds, as one word. Of a narrow one the other bits are nobody's: arguments keep no more in their slots.
static Word value_of(Machine *m, const ZydisDecodedOperand *op, uint64_t next) {
  int reg = gpr_of(op, 64);
  if (reg >= 0) return m->gpr[reg];
  reg = gpr_of(op, 32);
  // Constants are kept with all 64 bits.
  if (reg >= 0 && m->gpr[reg].kind == CONSTANT) return (Word){CONSTANT, (uint32_t)m->gpr[reg].n};
  if (reg >= 0 && m->gpr[reg].kind == OWN) return m->gpr[reg];
  int64_t distance;
  if (stack_distance(m, op, &distance)) {
    Word *word = word_at(m, distance);
    if (word && (op->size == 64 || word->kind == OWN)) return *word;
  }
  if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.segment == ZYDIS_REGISTER_FS) return (Word){OWN, PROTECTOR};
  if (op->size == 64 && is_rip_relative(op)) return (Word){LOADED, next + (uint64_t)op->mem.disp.value};
  return (Word){UNKNOWN, 0};
}

// MARK: Instructions

/// Stores `count` words on the stack; false where they are not followed.
static bool store(Machine *m, const ZydisDecodedOperand *op, const Word *words, int count) {
  int64_t distance;
  if (!stack_distance(m, op, &distance)) {
    m->does_more = true;
    return true;
  }
  for (int i = 0; i < count; i++) {
    Word *word = word_at(m, distance + 8 * i);
    if (!word) return false;
    *word = words[i];
  }
  return true;
}

/// Any other instruction: what it leaves in registers is not known.
static bool forget(Machine *m, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  for (int i = 0; i < in->operand_count; i++) {
    if (!(op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    int xmm = xmm_of(&op[i]);
    if (xmm >= 0) m->xmm[xmm][0] = m->xmm[xmm][1] = (Word){UNKNOWN, 0};
    else if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
      ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op[i].reg.value);
      if (whole == ZYDIS_REGISTER_RSP) return false;
      if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15) m->gpr[whole - ZYDIS_REGISTER_RAX] = (Word){UNKNOWN, 0};
    } else if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
      int64_t distance;
      if (stack_distance(m, &op[i], &distance)) return false;
      m->does_more = true;
    }
  }
  return true;
}

/// The number in the instruction, as wide as its operands.
static uint64_t immediate(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  return in->operand_width == 64 ? (uint64_t)op->imm.value.s : (uint32_t)op->imm.value.u;
}

static bool move(Machine *m, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t next) {
  Word value = op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? (Word){CONSTANT, immediate(in, &op[1])} : value_of(m, &op[1], next);
  int reg = gpr_of(&op[0], 64);
  if (reg < 0) reg = gpr_of(&op[0], 32);
  if (reg >= 0) {
    m->gpr[reg] = op[0].size == 64 || value.kind == CONSTANT || value.kind == OWN ? value : (Word){UNKNOWN, 0};
    return true;
  }
  // A constant of 4 bytes: callers look at no more of the slot.
  bool is_whole = op[0].size == 64 || value.kind == OWN || (op[0].size == 32 && value.kind == CONSTANT);
  if (op[0].type == ZYDIS_OPERAND_TYPE_REGISTER) return forget(m, in, op);
  return store(m, &op[0], is_whole ? &value : &(Word){UNKNOWN, 0}, 1);
}

/// 16 bytes between a vector register and memory, or another register.
static bool move_vector(Machine *m, const ZydisDecodedOperand *op) {
  Word words[2] = {{UNKNOWN, 0}, {UNKNOWN, 0}};
  int from = xmm_of(&op[1]), to = xmm_of(&op[0]);
  int64_t distance;
  if (from >= 0) memcpy(words, m->xmm[from], sizeof words);
  else if (stack_distance(m, &op[1], &distance))
    for (int i = 0; i < 2; i++) {
      Word *word = word_at(m, distance + 8 * i);
      if (word) words[i] = *word;
    }
  if (to < 0) {
    m->stored[from] = true;
    return store(m, &op[0], words, 2);
  }
  m->stored[to] = false;
  memcpy(m->xmm[to], words, sizeof words);
  return true;
}

/// A constant floating-point argument.
static bool load_float(Machine *m, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t next) {
  int to = xmm_of(&op[0]);
  if (to < 0 || !is_rip_relative(&op[1])) return forget(m, in, op);
  m->xmm[to][0] = (Word){op[1].size == 64 ? LOADED : LOADED_HALF, next + (uint64_t)op[1].mem.disp.value};
  m->xmm[to][1] = (Word){CONSTANT, 0};
  m->stored[to] = false;
  return true;
}

static bool move_stack(Machine *m, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t next) {
  Word *rsp = &m->gpr[RSP];
  if (rsp->kind != STACK_ADDRESS) return false;
  if (in->mnemonic == ZYDIS_MNEMONIC_PUSH) {
    Word value = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? (Word){CONSTANT, (uint64_t)op[0].imm.value.s} : value_of(m, &op[0], next);
    Word *word = word_at(m, (int64_t)rsp->n - 8);
    if (!word) return false;
    rsp->n -= 8;
    *word = value;
    return true;
  }
  if (in->mnemonic == ZYDIS_MNEMONIC_LEAVE) {
    if (m->gpr[RBP].kind != STACK_ADDRESS) return false;
    *rsp = m->gpr[RBP];
  }
  Word *word = word_at(m, (int64_t)rsp->n);
  int reg = in->mnemonic == ZYDIS_MNEMONIC_LEAVE ? RBP : gpr_of(&op[0], 64);
  if (!word || reg < 0 || reg == RSP) return false;
  m->gpr[reg] = *word;
  rsp->n += 8;
  return true;
}

/// `lea`, and additions to rsp.
static bool compute(Machine *m, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t next) {
  int reg = gpr_of(&op[0], 64);
  if (reg < 0) return forget(m, in, op);
  if (in->mnemonic != ZYDIS_MNEMONIC_LEA) {
    if (reg != RSP || m->gpr[RSP].kind != STACK_ADDRESS || op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return forget(m, in, op);
    int64_t by = op[1].imm.value.s;
    m->gpr[RSP].n += (uint64_t)(in->mnemonic == ZYDIS_MNEMONIC_SUB ? -by : by);
    return true;
  }
  int64_t distance;
  if (is_rip_relative(&op[1])) m->gpr[reg] = (Word){CONSTANT, next + (uint64_t)op[1].mem.disp.value};
  else if (stack_distance(m, &op[1], &distance)) m->gpr[reg] = (Word){STACK_ADDRESS, (uint64_t)distance};
  else m->gpr[reg] = (Word){UNKNOWN, 0};
  return true;
}

/// The short ways to make zeros and ones.
static bool make_constant(Machine *m, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  bool is_zero, is_ones = in->mnemonic == ZYDIS_MNEMONIC_OR && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[1].imm.value.s == -1;
  if (in->mnemonic == ZYDIS_MNEMONIC_XOR || in->mnemonic == ZYDIS_MNEMONIC_XORPS)
    is_zero = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].type == op[0].type && op[1].reg.value == op[0].reg.value;
  else is_zero = in->mnemonic == ZYDIS_MNEMONIC_AND && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[1].imm.value.s == 0;
  if (!is_zero && !is_ones) return false;
  Word word = {CONSTANT, is_zero ? 0 : op[0].size == 64 ? UINT64_MAX : UINT32_MAX};
  int xmm = xmm_of(&op[0]);
  if (xmm >= 0) m->xmm[xmm][0] = m->xmm[xmm][1] = word;
  if (xmm >= 0) return true;
  int reg = gpr_of(&op[0], (int)op[0].size);
  if (op[0].size < 32) return false;
  if (reg >= 0) m->gpr[reg] = word;
  return reg >= 0 || store(m, &op[0], &word, 1);
}

/// Follows one instruction; false when what it does to the stack is not understood.
static bool follow(Machine *m, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t next) {
  switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_ENDBR64: case ZYDIS_MNEMONIC_NOP: return true;
    case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX: return move(m, in, op, next);
    case ZYDIS_MNEMONIC_CMP: return true;  // of the stack protector
    case ZYDIS_MNEMONIC_MOVAPS: case ZYDIS_MNEMONIC_MOVUPS: case ZYDIS_MNEMONIC_MOVAPD: case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVDQA: case ZYDIS_MNEMONIC_MOVDQU:
      return move_vector(m, op);
    case ZYDIS_MNEMONIC_MOVSS: case ZYDIS_MNEMONIC_MOVSD: return load_float(m, in, op, next);
    case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_LEAVE: return move_stack(m, in, op, next);
    case ZYDIS_MNEMONIC_LEA: case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_SUB: return compute(m, in, op, next);
    case ZYDIS_MNEMONIC_XOR: case ZYDIS_MNEMONIC_AND: case ZYDIS_MNEMONIC_OR: case ZYDIS_MNEMONIC_XORPS:
      return make_constant(m, in, op) || forget(m, in, op);
    default: return forget(m, in, op);
  }
}

// MARK: What the target is passed

/// Notes that a place holds `word` where the thunk itself was entered with `own`.
static void note(HKTThunk *thunk, int place, Word word, uint64_t own) {
  if (is_own(word, own)) return;
  uint64_t bit = UINT64_C(1) << place;
  thunk->written |= bit;
  if (word.kind != CONSTANT && word.kind != LOADED && word.kind != LOADED_HALF) return;
  thunk->known |= bit;
  if (word.kind != CONSTANT) thunk->loaded |= bit;
  if (word.kind == LOADED_HALF) thunk->halves |= bit;
  thunk->value[place] = word.n;
}

/// The registers that belong to the caller hold what they held.
static bool gives_back(const Machine *m) { return is_own(m->gpr[RBX], RBX) && is_own(m->gpr[RBP], RBP) && is_own(m->gpr[R15], R15); }

/// What is passed when the thunk goes on; false when it forwards something else than what it was given.
static bool note_passed(Machine *m, HKTThunk *thunk, bool by_call) {
  if (m->gpr[RSP].kind != STACK_ADDRESS) return false;
  int64_t rsp = (int64_t)m->gpr[RSP].n;
  if (by_call ? rsp >= 0 : rsp != 0) return false;
  if (!is_own(m->gpr[R12], R12) || !is_own(m->gpr[R13], R13) || !is_own(m->gpr[R14], R14)) return false;
  if (!by_call && !gives_back(m)) return false;
  for (int i = 0; i < HKT_THUNK_REGISTERS; i++) note(thunk, i, m->gpr[ARGUMENTS[i]], ARGUMENTS[i]);
  for (int i = 0; i < FLOATS; i++) {
    if (m->stored[i]) continue;
    if (m->xmm[i][0].kind == UNKNOWN) return false;
    note(thunk, HKT_THUNK_REGISTERS + SLOTS + i, m->xmm[i][0], OWN_XMM + 2 * (uint64_t)i);
  }
  if (!by_call) {
    for (int i = 0; i < SLOTS; i++) note(thunk, HKT_THUNK_REGISTERS + i, m->slot[i], OWN_SLOT + (uint64_t)i);
    return true;
  }
  for (int i = 0; i < SLOTS && rsp + 8 * i < 0; i++) {
    Word *word = word_at(m, rsp + 8 * i);
    if (!word) return false;
    // A register that was saved, the stack protector, or space that nothing was stored in.
    if (word->kind == OWN && (word->n < OWN_SLOT || word->n >= NEVER_WRITTEN)) continue;
    // Its own arguments keep their slots.
    if (word->kind == OWN && !is_own(*word, OWN_SLOT + (uint64_t)i)) return false;
    note(thunk, HKT_THUNK_REGISTERS + i, *word, OWN_SLOT + (uint64_t)i);
  }
  return true;
}

/// After the call: nothing but its frame is taken down.
static bool only_returns(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_NOP: case ZYDIS_MNEMONIC_LEAVE: return true;
    case ZYDIS_MNEMONIC_POP: {
      // Those of the caller, or any that holds no result.
      int reg = gpr_of(&op[0], 64);
      return reg != R12 && reg != R13 && reg != R14;
    }
    case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_LEA: case ZYDIS_MNEMONIC_MOV: return gpr_of(&op[0], 64) == RSP;
    default: return false;
  }
}

/// The branch of the stack protector, to a call that does not return, at the function's end.
static bool is_protector(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const uint8_t *code, uint64_t size,
                         uint64_t end) {
  if (in->mnemonic != ZYDIS_MNEMONIC_JNZ) return false;
  uint64_t target = end + (uint64_t)op[0].imm.value.s;
  return target < size && target + 5 == size && code[target] == 0xE8;
}

/// Whether all that the function does is to go to one other function, as far as its branches tell: where that is.
static bool goes_to_one(const uint8_t *code, uint64_t size, uint64_t address, uint64_t *target) {
  HKTExit exits[3];
  size_t count = hkt_find_exits(code, size, address, exits, 3);
  // The last one may be the stack protector's.
  if (count == 0 || count > 2 || (count == 2 && (code[size - 5] != 0xE8 || exits[1].is_jump))) return false;
  *target = exits[0].target;
  return *target != 0;
}

/// What is passed on is what was given, and constants.
static bool adds_constants(const HKTThunk *thunk) { return thunk->written == thunk->known; }

HKTThunkKind hkt_read_thunk(const uint8_t *code, uint64_t size, uint64_t address, HKTThunk *thunk) {
  memset(thunk, 0, sizeof *thunk);
  uint64_t only;
  if (size == 0 || size > LONGEST_THUNK || !goes_to_one(code, size, address, &only)) return HKT_NO_THUNK;
  thunk->target = only;
  ZydisDecoder decoder = hkt_decoder();
  Machine m;
  start(&m);
  for (uint64_t offset = 0; offset < size;) {
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + offset, size - offset, &in, op))) return HKT_NO_THUNK;
    offset += in.length;
    uint64_t next = address + offset;
    if (in.mnemonic == ZYDIS_MNEMONIC_JMP || in.mnemonic == ZYDIS_MNEMONIC_CALL) {
      thunk->calls = m.has_called = in.mnemonic == ZYDIS_MNEMONIC_CALL;
      if (next + (uint64_t)op[0].imm.value.s != only) return HKT_NO_THUNK;  // a loop
      if (!note_passed(&m, thunk, m.has_called) || !adds_constants(thunk)) return HKT_NO_THUNK;
      if (!m.has_called) return HKT_THUNK;
    } else if (in.mnemonic == ZYDIS_MNEMONIC_RET) {
      return m.has_called && m.gpr[RSP].kind == STACK_ADDRESS && m.gpr[RSP].n == 0 && gives_back(&m) ? HKT_THUNK : HKT_UNREAD_THUNK;
    } else if (is_protector(&in, op, code, size, offset)) {
      continue;
    } else if (in.meta.category == ZYDIS_CATEGORY_COND_BR) {
      return HKT_NO_THUNK;
    } else if ((m.has_called && !only_returns(&in, op)) || !follow(&m, &in, op, next)) {
      return HKT_UNREAD_THUNK;
    }
    if (m.does_more) return HKT_NO_THUNK;
  }
  return HKT_NO_THUNK;
}
