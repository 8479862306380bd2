// self_holds — where a state has self, its address and what belongs to that: read and set, place by place.
#ifndef SELF_HOLDS_H
#define SELF_HOLDS_H

#include "self_state.h"

enum { MOST = 100, RSI = 6, RDI = 7, RDX = 2 };


static inline int number_of(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return -1;
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? whole - ZYDIS_REGISTER_RAX : -1;
}

/// Whether a place holds self: on no way there, on some, on all.
typedef enum Hold { NEVER, SOMETIMES, ALWAYS } Hold;

/// Whether the general register of that number holds self; negative numbers, which stand for no such register, never do.
static inline Hold hold_of(const State *s, int reg) {
  if (reg < 0 || !(s->doubtful >> reg & 1)) return NEVER;
  return s->registers >> reg & 1 ? ALWAYS : SOMETIMES;
}
/// Puts self, or something else, into a register: all else that was known of what it held is forgotten.
static inline void set(State *s, int reg, Hold hold) {
  if (reg < 0) return;
  s->registers = (uint16_t)((s->registers & ~(1 << reg)) | (hold == ALWAYS) << reg);
  s->doubtful = (uint16_t)((s->doubtful & ~(1 << reg)) | (hold != NEVER) << reg);
  s->classes = (uint16_t)(s->classes & ~(1 << reg));
  s->exact = (uint16_t)(s->exact & ~(1 << reg));
  s->inside = (uint16_t)(s->inside & ~(1 << reg));
  s->masks = (uint16_t)(s->masks & ~(1 << reg));
  s->wide_masks = (uint16_t)(s->wide_masks & ~(1 << reg));
  s->witnesses[reg] = NO_WITNESS;
  s->types[reg] = s->values[reg] = 0;
}

/// The register holds self's address.
static inline bool is_exact(const State *s, int reg) { return reg >= 0 && s->exact >> reg & 1; }
/// The register may hold self's address, or that of a part of self.
static inline bool is_inside(const State *s, int reg) { return reg >= 0 && s->inside >> reg & 1; }

/// Notes of a register that it holds self's address (`exact`), or may hold it or that of a part of self (`inside`).
static inline void set_address(State *s, int reg, bool exact, bool inside) {
  if (reg < 0) return;
  s->exact = (uint16_t)((s->exact & ~(1 << reg)) | exact << reg);
  s->inside = (uint16_t)((s->inside & ~(1 << reg)) | inside << reg);
}

static inline int vector_of(ZydisRegister reg) {
  if (reg >= ZYDIS_REGISTER_XMM0 && reg <= ZYDIS_REGISTER_XMM15) return reg - ZYDIS_REGISTER_XMM0;
  return reg >= ZYDIS_REGISTER_YMM0 && reg <= ZYDIS_REGISTER_YMM15 ? reg - ZYDIS_REGISTER_YMM0 : -1;
}
/// Whether half of a vector register, 0 for the lower eight bytes, holds self.
static inline Hold hold_of_half(const State *s, int vector, int half) {
  if (vector < 0 || !(s->doubtful_halves[half] >> vector & 1)) return NEVER;
  return s->halves[half] >> vector & 1 ? ALWAYS : SOMETIMES;
}
/// Puts self, or something else, into half of a vector register.
static inline void set_half(State *s, int vector, int half, Hold hold) {
  if (vector < 0) return;
  s->halves[half] = (uint16_t)((s->halves[half] & ~(1 << vector)) | (hold == ALWAYS) << vector);
  s->doubtful_halves[half] = (uint16_t)((s->doubtful_halves[half] & ~(1 << vector)) | (hold != NEVER) << vector);
}

/// The register holds self's class.
static inline bool holds_class(const State *s, ZydisRegister reg) {
  int number = number_of(reg);
  return number >= 0 && s->classes >> number & 1;
}

/// Whether a word of the frame holds self; negative numbers, which stand for no word that is followed, never do.
static inline Hold hold_of_slot(const State *s, int slot) {
  if (slot < 0 || !(s->doubtful_slots >> slot & 1)) return NEVER;
  return s->slots >> slot & 1 ? ALWAYS : SOMETIMES;
}
/// Puts self, or something else, into a word of the frame.
static inline void set_slot(State *s, int slot, Hold hold) {
  if (slot < 0) return;
  s->slots = (s->slots & ~(self_slot(slot))) | (Slots)(hold == ALWAYS) << slot;
  s->doubtful_slots = (s->doubtful_slots & ~(self_slot(slot))) | (Slots)(hold != NEVER) << slot;
}

/// The word of the frame holds self's address.
static inline bool is_exact_slot(const State *s, int slot) { return slot >= 0 && s->exact_slots >> slot & 1; }
/// The word of the frame may hold self's address, or that of a part of self.
static inline bool is_inside_slot(const State *s, int slot) { return slot >= 0 && s->inside_slots >> slot & 1; }
/// Notes of a word of the frame what `set_address` notes of a register.
static inline void set_slot_address(State *s, int slot, bool exact, bool inside) {
  if (slot < 0) return;
  s->exact_slots = (s->exact_slots & ~(self_slot(slot))) | (Slots)exact << slot;
  s->inside_slots = (s->inside_slots & ~(self_slot(slot))) | (Slots)inside << slot;
}

/// That many references are taken, or none where it is not self that is meant.
static inline void count(State *s, Hold hold, int least, int most) {
  if (hold == NEVER) return;
  if (hold == SOMETIMES) { least = least < 0 ? least : 0; most = most > 0 ? most : 0; }
  int low = s->least + least, high = s->most + most;
  s->least = (int8_t)(low < -MOST ? -MOST : low);
  s->most = (int8_t)(high > MOST ? MOST : high);
}

/// What is followed goes where it is not followed: from there it may be given up as often as there are references.
static inline void lose_track(State *s, Hold hold) { count(s, hold, -MOST, 0); }
/// What is at self's address may be gone.
static inline void lose(State *s) { count(s, ALWAYS, -1, 0); }
/// Another value may be there, which is as good.
static inline void overwrite(State *s) { count(s, ALWAYS, -1, 1); }

/// A value witness, or a table of them, and the value that is the metadata of the type.
typedef struct Witness {
  uint8_t number;
  uint32_t type;
} Witness;

/// What the memory holds of value witnesses: metadata has their table right before it.
static inline Witness witness_in(const State *s, const ZydisDecodedOperand *from) {
  int base = number_of(from->mem.base);
  int64_t at = from->mem.disp.value;
  if (base < 0 || from->mem.index != ZYDIS_REGISTER_NONE || from->mem.segment == ZYDIS_REGISTER_FS) return (Witness){0};
  if (from->mem.base == ZYDIS_REGISTER_RSP || (from->mem.base == ZYDIS_REGISTER_RBP && s->rbp != NO_OFFSET)) return (Witness){0};
  if (at == -8 && s->values[base]) return (Witness){WITNESS_TABLE, s->values[base]};
  bool is_witness = s->witnesses[base] == WITNESS_TABLE && at > 0 && at % 8 == 0 && at / 8 < WITNESS_TABLE;
  return is_witness ? (Witness){(uint8_t)(at / 8), s->types[base]} : (Witness){0};
}

/// The witness that a register or a word of memory holds.
static inline Witness witness_at(const State *s, const ZydisDecodedOperand *from) {
  if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) return witness_in(s, from);
  int reg = from->type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(from->reg.value) : -1;
  return reg < 0 ? (Witness){0} : (Witness){s->witnesses[reg], s->types[reg]};
}

/// A word at a fixed distance from what a register holds: of a table of jumps the place in the table is added first.
static inline bool is_word_of_object(const ZydisDecodedOperand *op) {
  return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base != ZYDIS_REGISTER_NONE && op->mem.index == ZYDIS_REGISTER_NONE;
}

#endif
