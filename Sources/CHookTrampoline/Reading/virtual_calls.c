// Whether a function forwards its call by a slot of its self's virtual table.
//
// The code is read from its start, along the way that takes no branch. Registers hold what was read from self: its first word is its
// class, where it goes by address the object comes before that. Nothing is followed through memory: such functions keep self where it is.
#include "HKTThunk.h"

#include "decoder.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R13 = 13, REGISTERS = 16 };

typedef enum Kind : uint8_t {
  OTHER,
  BOUNDS,   // what the word of the class's bounds says
  DISTANCE, // the slot's offset, as a number
  READ,     // self, read `depth` times: itself, or an object's class, or the class of the object that self's address leads to
  MEMBERS,  // the same, moved on by the bounds
  PLACE,    // the address of the slot in it
  CODE,     // what is in the slot
} Kind;

typedef struct Value { Kind kind; uint8_t depth; } Value;
static const Value NOTHING = {OTHER, 0};
enum { DEEPEST = 2 };

typedef struct Reader {
  const HKTVirtualSlot *slot;
  uint64_t next;  // address behind the instruction
  Value value[REGISTERS];
} Reader;

static int number_of(ZydisRegister reg) {
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? whole - ZYDIS_REGISTER_RAX : -1;
}

/// What the register holds; NOTHING for those that are none of the general ones.
static Value value_in(const Reader *r, ZydisRegister reg) {
  int number = number_of(reg);
  return number < 0 ? NOTHING : r->value[number];
}

/// The address is one of these.
static bool is_among(const uint64_t *addresses, size_t count, uint64_t address) {
  for (size_t i = 0; i < count; i++)
    if (addresses[i] == address) return true;
  return false;
}

/// Self is what the slot's function will be called on: it is where it was, or was read from its address.
static bool passes_self(const Reader *r, uint8_t depth) {
  Value self = r->value[R13];
  if (self.kind != READ) return false;
  return depth == 0 ? r->slot->is_static && self.depth == 0 : self.depth == depth - 1;
}

/// The value whose slot lies at base + index + displacement; NOTHING where that is no slot.
static Value place_at(const Reader *r, const ZydisDecodedOperandMem *at) {
  if (at->disp.value != r->slot->offset) return NOTHING;
  Value base = value_in(r, at->base), index = value_in(r, at->index);
  if (at->index == ZYDIS_REGISTER_NONE) return base.kind == (r->slot->bounds ? MEMBERS : READ) ? (Value){PLACE, base.depth} : NOTHING;
  if (!r->slot->bounds || at->scale != 1) return NOTHING;
  if (base.kind == READ && index.kind == BOUNDS) return (Value){PLACE, base.depth};
  return base.kind == BOUNDS && index.kind == READ ? (Value){PLACE, index.depth} : NOTHING;
}

/// What eight bytes of memory hold.
static Value loaded(const Reader *r, const ZydisDecodedOperandMem *at) {
  if (at->base == ZYDIS_REGISTER_RIP)
    return r->slot->bounds && r->next + (uint64_t)at->disp.value == r->slot->bounds ? (Value){BOUNDS, 0} : NOTHING;
  Value place = place_at(r, at);
  if (place.kind == PLACE) return (Value){CODE, place.depth};
  Value base = value_in(r, at->base);
  if (at->index != ZYDIS_REGISTER_NONE || at->disp.value != 0) return NOTHING;
  if (base.kind == PLACE) return (Value){CODE, base.depth};
  return base.kind == READ && base.depth < DEEPEST ? (Value){READ, (uint8_t)(base.depth + 1)} : NOTHING;
}

/// The operand is the number of bytes from the table's start to the slot.
static bool is_distance(const Reader *r, const ZydisDecodedOperand *op) {
  return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.value.s == r->slot->offset;
}

/// What an operand of eight bytes holds.
static Value value_of(const Reader *r, const ZydisDecodedOperand *op) {
  switch (op->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER: return value_in(r, op->reg.value);
    case ZYDIS_OPERAND_TYPE_MEMORY: return loaded(r, &op->mem);
    default: return is_distance(r, op) ? (Value){DISTANCE, 0} : NOTHING;
  }
}

static Value sum(const Reader *r, Value a, Value b) {
  Kind table = r->slot->bounds ? MEMBERS : READ;
  if (a.kind == table && b.kind == DISTANCE) return (Value){PLACE, a.depth};
  if (b.kind == table && a.kind == DISTANCE) return (Value){PLACE, b.depth};
  if (a.kind == READ && b.kind == BOUNDS) return (Value){MEMBERS, a.depth};
  return a.kind == BOUNDS && b.kind == READ ? (Value){MEMBERS, b.depth} : NOTHING;
}

static Value result_of(const Reader *r, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  bool moves = in->mnemonic == ZYDIS_MNEMONIC_MOV;
  // Numbers are put into the lower half, which clears the other.
  if (moves && op[0].size >= 32 && is_distance(r, &op[1])) return (Value){DISTANCE, 0};
  if (op[0].size != 64) return NOTHING;
  if (moves) return value_of(r, &op[1]);
  if (in->mnemonic == ZYDIS_MNEMONIC_LEA) return place_at(r, &op[1].mem);
  return in->mnemonic == ZYDIS_MNEMONIC_ADD ? sum(r, value_in(r, op[0].reg.value), value_of(r, &op[1])) : NOTHING;
}

/// What the instruction leaves in registers.
static void follow(Reader *r, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  bool is_register = in->operand_count_visible > 0 && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
  Value result = is_register ? result_of(r, in, op) : NOTHING;
  for (int i = 0; i < in->operand_count; i++) {
    if (op[i].type != ZYDIS_OPERAND_TYPE_REGISTER || !(op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    int number = number_of(op[i].reg.value);
    if (number >= 0) r->value[number] = i == 0 ? result : NOTHING;
  }
}

/// An async function's slot holds where its pointer is: code is reached by a distance that is read there.
static bool reads_async_pointer(const Reader *r, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op) {
  if (in->mnemonic != ZYDIS_MNEMONIC_MOVSXD || op[1].type != ZYDIS_OPERAND_TYPE_MEMORY) return false;
  Value from = value_in(r, op[1].mem.base);
  return from.kind == CODE && op[1].mem.index == ZYDIS_REGISTER_NONE && op[1].mem.disp.value == 0 && passes_self(r, from.depth);
}

/// The operand is code that was read from the slot, and self is passed to it.
static bool goes_through_slot(const Reader *r, const ZydisDecodedOperand *op) {
  Value to = value_of(r, op);
  return to.kind == CODE && passes_self(r, to.depth);
}

/// Forgets the registers that a callee need not leave as they are.
static void forget_what_calls_change(Reader *r) {
  static const uint8_t changed[] = {RAX, RCX, RDX, RSI, RDI, 8, 9, 10, 11};
  for (size_t i = 0; i < sizeof changed; i++) r->value[changed[i]] = NOTHING;
}

/// A branch away leads to nothing but a sanitizer's report.
static bool only_reports(
    const ZydisDecoder *decoder, const uint8_t *code, uint64_t size, uint64_t address, uint64_t to, const HKTVirtualSlot *slot) {
  enum { MOST = 8 };
  for (int i = 0; i < MOST && to - address < size; i++) {
    uint64_t offset = to - address;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code + offset, size - offset, &in, op))) return false;
    to += in.length;
    if (in.mnemonic == ZYDIS_MNEMONIC_CALL)
      return op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && is_among(slot->reports, slot->report_count, to + (uint64_t)op[0].imm.value.s);
    if (in.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) return false;
  }
  return false;
}

bool hkt_goes_by_slot(const uint8_t *code, uint64_t size, uint64_t address, const HKTVirtualSlot *slot) {
  enum { MOST = 256 };  // instructions: these functions are small
  ZydisDecoder decoder = hkt_decoder();
  Reader r = {.slot = slot};
  r.value[R13] = (Value){READ, 0};
  uint64_t offset = 0;
  for (int i = 0; i < MOST && offset < size; i++) {
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + offset, size - offset, &in, op))) return false;
    offset += in.length;
    r.next = address + offset;
    bool calls = in.mnemonic == ZYDIS_MNEMONIC_CALL, jumps = in.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    bool branches = in.meta.category == ZYDIS_CATEGORY_COND_BR;
    if (!calls && !jumps && !branches) {
      if (in.meta.category == ZYDIS_CATEGORY_RET) return false;
      if (reads_async_pointer(&r, &in, op)) return true;
      follow(&r, &in, op);
      continue;
    }
    if (op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return !branches && goes_through_slot(&r, &op[0]);
    uint64_t to = r.next + (uint64_t)op[0].imm.value.s;
    if (branches) {
      if (!only_reports(&decoder, code, size, address, to, slot)) return false;
    } else if (is_among(slot->dispatchers, slot->dispatcher_count, to)) {
      return passes_self(&r, 1) || passes_self(&r, DEEPEST);
    } else if (calls) {
      forget_what_calls_change(&r);
    } else {
      if (to - address >= size || to - address < offset) return false;
      offset = to - address;
    }
  }
  return false;
}
