// self_state — what one instruction of a method does with the references to its self.
//
// A state is the registers and own stack slots that hold the self the function was entered with, and the least and most of
// references taken so far. A release that the code spells out counts for certain, and so do retains. Where self goes to a place
// or a callee that may keep it, it may have been given up: the least sinks. So it does where self lies in a slot at the end of the
// frame that was filled since the last call: a callee that is not known may take it from there. self_ownership.c follows states
// through the code.
//
// Of a self that is passed by address, registers and slots with that address are followed, and those that may have the address of a
// part of it; "self" is then one word of the value, wherever it was read to. What ends or moves what is at the address, or writes
// there, counts like a release, for certain where it is certain that the word is among it.
#ifndef SELF_STATE_H
#define SELF_STATE_H

#include "HKTOwnership.h"

#include "decoder.h"
#include <stdlib.h>
#include <string.h>

enum { NO_OFFSET = INT32_MIN, SLOTS = 128, MOST_COPIES = 32 };

/// Value witnesses by their places in the table; and what is none of them, the first one included.
enum {
  NO_WITNESS = 0, DESTROY = 1, INITIALIZE_WITH_COPY = 2, ASSIGN_WITH_COPY = 3, INITIALIZE_WITH_TAKE = 4, ASSIGN_WITH_TAKE = 5,
  GET_ENUM_TAG_OF_PAYLOAD = 6, STORE_ENUM_TAG_OF_PAYLOAD = 7, GET_ENUM_TAG = 11, WITNESS_TABLE = 255,
};

/// Bit i: the 8 bytes at (i + 1) * 8 below the return address.
__extension__ typedef unsigned __int128 Slots;

static inline Slots self_slot(int64_t number) { return (Slots)1 << number; }

typedef struct State {
  uint16_t registers;    // that hold self
  uint16_t doubtful;     // that do so on some ways here, these too
  uint16_t classes;      // that hold self's class
  uint16_t exact;        // that hold self's address
  uint16_t inside;       // that may hold it, or one of a part of self; these too
  uint16_t masks;        // that hold a number with which no reference is left of one
  uint16_t wide_masks;   // and those with which all of it is left
  uint16_t halves[2];    // vectors whose lower, whose upper 8 bytes hold self
  uint16_t doubtful_halves[2];
  uint8_t witnesses[16]; // of each register: the number of the value witness that it holds
  uint32_t types[16];    // and the value that is the metadata of that witness's type
  uint32_t values[16];   // equal ones in registers whose contents are equal; 0: not known
  Slots exact_slots, inside_slots;
  Slots slots, doubtful_slots;
  Slots fresh;           // that may be stack arguments of the next call
  int32_t rsp, rbp;      // distance from rsp at entry; NO_OFFSET: unknown
  int8_t least, most;    // references taken; clamped
  bool is_prologue;      // nothing but pushes yet, which save registers
  bool may_fail;         // the last call that can may have failed
  bool fails;            // an error came up, or may have, that may be returned
  bool tests_error;      // the flags tell whether r12 has an error
} State;

typedef struct Instruction {
  ZydisDecodedInstruction in;
  ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
} Instruction;

/// Instructions that were decoded: a reading comes to each of them several times.
typedef struct Instructions {
  struct Instructions *before;
  uint32_t count;
  Instruction list[64];
} Instructions;

typedef struct DecodedCode {
  const Instruction **at;   // by offset; NULL: not decoded yet
  Instructions *newest;
} DecodedCode;

/// A call that copies a value into the own frame, to a place that nobody else is shown.
typedef struct FrameCopy {
  uint64_t call;         // its offset
  uint64_t computed;     // that of the instruction that computes the address
  int32_t place;         // from rsp at entry
} FrameCopy;

/// A function's code, and what is known of all of it.
typedef struct Reader {
  const HKTCode *code;
  const HKTOwnershipHost *host;
  HKTOwnedResults results;
  ZydisDecoder decoder;
  DecodedCode *decoded;
  uint32_t before;       // words of self that may come before the one that is followed
  Slots shown;           // own stack slots whose addresses are taken, and those where a self that lies there has the word
  Slots near;            // and those that may be parts of a value that has self in it
  Slots begins;          // those at whose addresses it is not known how much lies
  uint64_t prologue;     // offset of the first call or jump: up to there debuggers' copies of arguments are made
  FrameCopy copies[MOST_COPIES];
  uint32_t copy_count;
  int32_t word;          // of a self that is passed by address: where the word is that is followed
  bool is_certain;       // every self has the reference that is followed
  bool is_strict;        // a method whose code is out of reach may consume the self it is called on
} Reader;

typedef enum ErrorState { UNKNOWN_ERROR, NO_ERROR, ERROR } ErrorState;

/// Where an instruction leads.
typedef struct Step {
  uint64_t next[2];      // offsets
  int count;
  ErrorState error[2];   // of r12, by going that way
  uint64_t table;        // of distances from itself, to one of which it jumps; 0: none
  bool returns;          // out of the function
  bool is_unknown;       // and to places that cannot be known
} Step;

/// The instruction at `offset`, which lasts as long as the reader; NULL when there is none, or no memory for it.
const Instruction *self_decode(const Reader *r, uint64_t offset);
/// Those of integers.
extern const HKTPlaces SELF_ARGUMENTS;
/// Where a call or jump at `offset` leads; 0: where a register or a word says.
uint64_t self_target(const Reader *r, uint64_t offset, const Instruction *i);
/// What an instruction does to the state that calls nobody.
void self_move(const Reader *r, const Instruction *i, uint64_t offset, State *s);
/// A call or jump: whom it goes to, and what becomes of self there. Answers whether that is known by a value witness.
bool self_pass(const Reader *r, uint64_t offset, const Instruction *i, State *s, HKTCallee *callee);
/// References that the results hold are the caller's.
void self_give_results(const Reader *r, State *s);
/// The call or jump goes to a method of self's class, which is so far behind the class's address.
bool self_method(const Instruction *i, const State *s, int64_t *offset);
/// What the instruction does to the state.
Step self_step(const Reader *r, uint64_t offset, State *s);
/// The offset that the table's entry with this number leads to; false behind its end.
bool self_table_entry(const Reader *r, uint64_t table, uint32_t number, uint64_t *offset);
/// Whom a call or jump at `offset` goes to; unknown where a register or a word says.
HKTCallee self_callee(const Reader *r, uint64_t offset, const Instruction *i);
bool self_is_register(const ZydisDecodedOperand *op, ZydisRegister reg);
/// Bit i: the instruction reads the 8 bytes at 8 * i of the value at self's address; all: they cannot be known.
uint64_t self_words_read(const Instruction *i, const State *s);

#endif
