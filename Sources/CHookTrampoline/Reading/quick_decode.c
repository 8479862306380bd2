// Quick decoding of an instruction: how long it is and where it goes.
//
// Every body that is diverted is looked through for jumps into its window, instruction by instruction; a decoder that names
// operands takes a hundred times what that needs. Here are the instructions of 64-bit code that compilers write, by opcode.
//
// What must stay true: the quick decoder says what the full decoder says, or nothing. Opcodes that are not in the tables, prefixes that they
// do not take and forms that are no instructions are left to it. Tests/Fixtures/intercept-cases/corpus.c holds the two against
// each other, on real code and on random bytes.
#include <string.h>

#include "HKTPatching.h"

// MARK: Tables

enum {
  // Prefixes that the opcode takes: no other meaning, no other validity with them. 0: left to the decoder.
  BARE = 1,
  P66 = 2,
  PF3 = 4,
  PF2 = 8,
  SIZED = BARE | P66,
  EVERY = BARE | P66 | PF3 | PF2,

  MODRM = 1 << 4,
  MEMORY = 1 << 5 | MODRM,    // no register operand
  REGISTER = 1 << 6 | MODRM,  // no memory operand

  // Kinds of immediates, with how long they are without prefixes.
  SIZE_SHIFT = 24,
  IMM8 = 1 << 8 | 1 << SIZE_SHIFT,
  IMM16 = 2 << 8 | 2 << SIZE_SHIFT,
  IMMZ = 3 << 8 | 4 << SIZE_SHIFT,  // as wide as the operand, four bytes at most
  IMMV = 4 << 8 | 4 << SIZE_SHIFT,  // as wide as the operand
  IMM_TEST = 5 << 8,  // of the first form of the group only: one byte
  IMM_TESTZ = 6 << 8, // the same, as wide as the operand, four bytes at most
  IMM_MASK = 7 << 8,

  COURSE_SHIFT = 12,
  COURSE_MASK = 0xf << COURSE_SHIFT,
  GROUP_SHIFT = 16,
  GROUP_MASK = 0xf << GROUP_SHIFT,
  PREFIX = 1 << 20,
  REX = 1 << 21,
  ESCAPE = 1 << 22,
};
#define COURSE(c) ((c) << COURSE_SHIFT)

/// Which forms of a group there are, by bits 3 to 5 of the byte behind the opcode.
enum Group : uint32_t { ALL, SHIFTS, FIRST, UNARY, STEP, CALLS, BITS, WORD_SHIFTS, LONG_SHIFTS, HINTS };
static const uint8_t group_forms[] = {
    [ALL] = 0xff, [SHIFTS] = 0xbf, [FIRST] = 0x01, [UNARY] = 0xfd, [STEP] = 0x03,
    [CALLS] = 0x57, [BITS] = 0xf0, [WORD_SHIFTS] = 0x54, [LONG_SHIFTS] = 0xcc, [HINTS] = 0x0f,
};
#define GROUP(g) ((g) << GROUP_SHIFT)
#define KIND(entry) (((entry) & IMM_MASK) >> 8)

#define ARITHMETIC(op) \
  [op] = BARE | MODRM, [op + 1] = SIZED | MODRM, [op + 2] = BARE | MODRM, [op + 3] = SIZED | MODRM, [op + 4] = BARE | IMM8, [op + 5] = SIZED | IMMZ

/// Opcodes of one byte.
static const uint32_t one_byte[256] = {
    ARITHMETIC(0x00), ARITHMETIC(0x08), ARITHMETIC(0x10), ARITHMETIC(0x18),
    ARITHMETIC(0x20), ARITHMETIC(0x28), ARITHMETIC(0x30), ARITHMETIC(0x38),
    [0x0f] = ESCAPE,
    [0x26] = PREFIX, [0x2e] = PREFIX, [0x36] = PREFIX, [0x3e] = PREFIX, [0x64] = PREFIX, [0x65] = PREFIX,
    [0x66] = PREFIX, [0xf2] = PREFIX, [0xf3] = PREFIX,
    [0x40 ... 0x4f] = REX,
    [0x50 ... 0x5f] = BARE,                          // push, pop
    [0x63] = BARE | MODRM,                           // movsxd
    [0x68] = BARE | IMMZ, [0x69] = SIZED | MODRM | IMMZ, [0x6a] = BARE | IMM8, [0x6b] = SIZED | MODRM | IMM8,
    [0x70 ... 0x7f] = BARE | IMM8 | COURSE(HKT_COURSE_CONDITIONAL),
    [0x80] = BARE | MODRM | IMM8, [0x81] = SIZED | MODRM | IMMZ, [0x83] = SIZED | MODRM | IMM8,
    [0x84] = BARE | MODRM, [0x85] = SIZED | MODRM,   // test
    [0x86] = BARE | MODRM, [0x87] = SIZED | MODRM,   // xchg
    [0x88] = BARE | MODRM, [0x89] = SIZED | MODRM, [0x8a] = BARE | MODRM, [0x8b] = SIZED | MODRM,
    [0x8d] = SIZED | MEMORY,                         // lea
    [0x90] = SIZED, [0x91 ... 0x97] = SIZED, [0x98] = SIZED, [0x99] = SIZED,
    [0xa8] = BARE | IMM8, [0xa9] = SIZED | IMMZ,     // test
    [0xb0 ... 0xb7] = BARE | IMM8, [0xb8 ... 0xbf] = SIZED | IMMV,
    [0xc0] = BARE | MODRM | IMM8 | GROUP(SHIFTS), [0xc1] = SIZED | MODRM | IMM8 | GROUP(SHIFTS),
    [0xc2] = BARE | IMM16 | COURSE(HKT_COURSE_RETURN), [0xc3] = BARE | COURSE(HKT_COURSE_RETURN),
    [0xc6] = BARE | MODRM | IMM8 | GROUP(FIRST), [0xc7] = SIZED | MODRM | IMMZ | GROUP(FIRST),
    [0xc9] = BARE,                                   // leave
    [0xcc] = BARE | COURSE(HKT_COURSE_BREAKPOINT),
    [0xd0] = BARE | MODRM | GROUP(SHIFTS), [0xd1] = SIZED | MODRM | GROUP(SHIFTS),
    [0xd2] = BARE | MODRM | GROUP(SHIFTS), [0xd3] = SIZED | MODRM | GROUP(SHIFTS),
    [0xe8] = BARE | IMMZ | COURSE(HKT_COURSE_CALL), [0xe9] = BARE | IMMZ | COURSE(HKT_COURSE_JUMP), [0xeb] = BARE | IMM8 | COURSE(HKT_COURSE_JUMP),
    [0xf5] = BARE, [0xf8] = BARE, [0xf9] = BARE, [0xfc] = BARE, [0xfd] = BARE,
    [0xf6] = BARE | MODRM | IMM_TEST | GROUP(UNARY), [0xf7] = SIZED | MODRM | IMM_TESTZ | GROUP(UNARY),
    [0xfe] = BARE | MODRM | GROUP(STEP), [0xff] = BARE | MODRM | GROUP(CALLS),
};

/// Those behind 0f.
static const uint32_t two_bytes[256] = {
    [0x0b] = BARE | COURSE(HKT_COURSE_TRAP),             // ud2
    [0x10] = EVERY | MODRM, [0x11] = EVERY | MODRM,
    [0x12] = BARE | PF3 | PF2 | MODRM, [0x13] = SIZED | MEMORY, [0x14] = SIZED | MODRM, [0x15] = SIZED | MODRM,
    [0x16] = BARE | PF3 | MODRM, [0x17] = SIZED | MEMORY,
    [0x18] = BARE | MEMORY | GROUP(HINTS),           // prefetch
    [0x1f] = SIZED | MODRM | GROUP(FIRST),           // nop
    [0x28] = SIZED | MODRM, [0x29] = SIZED | MODRM, [0x2a] = PF3 | PF2 | MODRM, [0x2b] = SIZED | MEMORY,
    [0x2c] = PF3 | PF2 | MODRM, [0x2d] = PF3 | PF2 | MODRM, [0x2e] = SIZED | MODRM, [0x2f] = SIZED | MODRM,
    [0x40 ... 0x4f] = SIZED | MODRM,                 // cmov
    [0x50] = SIZED | REGISTER, [0x51] = EVERY | MODRM, [0x52] = BARE | PF3 | MODRM, [0x53] = BARE | PF3 | MODRM,
    [0x54 ... 0x57] = SIZED | MODRM, [0x58 ... 0x5a] = EVERY | MODRM, [0x5b] = SIZED | PF3 | MODRM, [0x5c ... 0x5f] = EVERY | MODRM,
    [0x60 ... 0x6e] = P66 | MODRM, [0x6f] = P66 | PF3 | MODRM,
    [0x70] = P66 | PF3 | PF2 | MODRM | IMM8,
    [0x71] = P66 | REGISTER | IMM8 | GROUP(WORD_SHIFTS), [0x72] = P66 | REGISTER | IMM8 | GROUP(WORD_SHIFTS),
    [0x73] = P66 | REGISTER | IMM8 | GROUP(LONG_SHIFTS),
    [0x74 ... 0x76] = P66 | MODRM, [0x7c] = P66 | PF2 | MODRM, [0x7d] = P66 | PF2 | MODRM,
    [0x7e] = P66 | PF3 | MODRM, [0x7f] = P66 | PF3 | MODRM,
    [0x80 ... 0x8f] = BARE | IMMZ | COURSE(HKT_COURSE_CONDITIONAL),
    [0x90 ... 0x9f] = BARE | MODRM,                  // setcc
    [0xa3] = SIZED | MODRM, [0xab] = SIZED | MODRM, [0xb3] = SIZED | MODRM, [0xbb] = SIZED | MODRM,  // bt, bts, btr, btc
    [0xa4] = SIZED | MODRM | IMM8, [0xa5] = SIZED | MODRM, [0xac] = SIZED | MODRM | IMM8, [0xad] = SIZED | MODRM,
    [0xaf] = SIZED | MODRM,                          // imul
    [0xb0] = BARE | MODRM, [0xb1] = SIZED | MODRM,   // cmpxchg
    [0xb6] = SIZED | MODRM, [0xb7] = SIZED | MODRM, [0xbe] = SIZED | MODRM, [0xbf] = SIZED | MODRM,
    [0xb8] = PF3 | MODRM,                            // popcnt
    [0xba] = SIZED | MODRM | IMM8 | GROUP(BITS), [0xbc] = SIZED | PF3 | MODRM, [0xbd] = SIZED | PF3 | MODRM,
    [0xc0] = BARE | MODRM, [0xc1] = SIZED | MODRM,   // xadd
    [0xc2] = EVERY | MODRM | IMM8, [0xc3] = BARE | MEMORY, [0xc4] = P66 | MODRM | IMM8, [0xc5] = P66 | REGISTER | IMM8,
    [0xc6] = SIZED | MODRM | IMM8,
    [0xc8 ... 0xcf] = BARE,                          // bswap
    [0xd1 ... 0xd5] = P66 | MODRM, [0xd6] = P66 | MODRM, [0xd7] = P66 | REGISTER, [0xd8 ... 0xe5] = P66 | MODRM,
    [0xe6] = P66 | PF3 | PF2 | MODRM, [0xe7] = P66 | MEMORY, [0xe8 ... 0xef] = P66 | MODRM,
    [0xf0] = PF2 | MEMORY, [0xf1 ... 0xf6] = P66 | MODRM, [0xf8 ... 0xfe] = P66 | MODRM,
};

// MARK: Reading

/// Bytes that name memory behind the byte that says how, by its upper and lower bits.
static const uint8_t address_sizes[4][8] = {{0, 0, 0, 0, 1, 4, 0, 0}, {1, 1, 1, 1, 2, 1, 1, 1}, {4, 4, 4, 4, 5, 4, 4, 4}, {0}};

/// How wide an immediate is, by its kind, with bit 0 for a prefix that narrows operands and bit 1 for one that widens them.
static const uint8_t immediate_sizes[8][4] = {
    [KIND(IMM8)] = {1, 1, 1, 1}, [KIND(IMM16)] = {2, 2, 2, 2}, [KIND(IMMZ)] = {4, 2, 4, 4}, [KIND(IMMV)] = {4, 2, 8, 8},
    [KIND(IMM_TEST)] = {1, 1, 1, 1}, [KIND(IMM_TESTZ)] = {4, 2, 4, 4},
};

static inline bool is_direct(uint32_t course) {
  return course == HKT_COURSE_CONDITIONAL || course == HKT_COURSE_JUMP || course == HKT_COURSE_CALL;
}

static inline uint32_t prefix_bit(uint8_t byte) { return byte == 0x66 ? P66 : byte == 0xf3 ? PF3 : byte == 0xf2 ? PF2 : 0; }

__attribute__((always_inline)) static inline bool quick_decode(const uint8_t *code, uint64_t left, HKTQuickDecode *seen) {
  const uint32_t limit = left < 15 ? (uint32_t)left : 15;
  uint32_t at = 0, prefixes = 0, entry;
  bool is_wide = false;
  // Each read is below the limit: it is checked after each step.
  if (limit == 0) return false;
  while ((entry = one_byte[code[at]]) & PREFIX) {
    prefixes |= prefix_bit(code[at]);
    if (++at == limit) return false;
  }
  if (entry & REX) {
    is_wide = code[at] & 8;
    if (++at == limit) return false;
    entry = one_byte[code[at]];
  }
  bool is_narrow = prefixes & P66;
  if (entry & ESCAPE) {
    if (++at == limit) return false;
    entry = two_bytes[code[at]];
  }
  // Left to the decoder: unknown, behind two of these prefixes or one that it does not take, or a prefix behind rex.
  if (prefixes == 0) prefixes = BARE;
  if (prefixes & (prefixes - 1) || !(entry & prefixes)) return false;

  uint8_t course = entry >> COURSE_SHIFT & 0xf, form = 0;
  seen->opcode = code[at];
  seen->relative_at = 0;
  at++;
  if (entry & MODRM) {
    if (at == limit) return false;
    uint8_t modrm = code[at], mod = modrm >> 6, rm = modrm & 7;
    form = modrm >> 3 & 7;
    if (entry & (mod == 3 ? MEMORY : REGISTER) & ~MODRM) return false;
    uint32_t group = entry >> GROUP_SHIFT & 0xf;
    if (!(group_forms[group] >> form & 1)) return false;
    if (group == CALLS && form == 2) course = HKT_COURSE_CALL_INDIRECT;
    if (group == CALLS && form == 4) course = HKT_COURSE_JUMP_INDIRECT;
    at++;
    if (mod == 0 && rm == 5) seen->relative_at = (uint8_t)at;
    // Where the byte that tells it is not there any more, the length is past the limit.
    if (mod == 0 && rm == 4 && at < limit && (code[at] & 7) == 5) at += 4;
    at += address_sizes[mod][rm];
  }
  uint32_t kind = KIND(entry), immediate = immediate_sizes[kind][(uint32_t)is_narrow | (uint32_t)is_wide << 1];
  if (kind >= KIND(IMM_TEST) && form != 0) immediate = 0;
  uint32_t length = at + immediate;
  if (length > limit) return false;
  seen->length = (uint8_t)length;
  seen->course = (HKTCourse)course;
  seen->distance = 0;
  if (is_direct(course)) {
    if (immediate == 1) seen->distance = (int8_t)code[at];
    else memcpy(&seen->distance, code + at, 4);
  }
  return true;
}

bool hkt_quick_decode(const uint8_t *code, uint64_t left, HKTQuickDecode *seen) { return quick_decode(code, left, seen); }

// MARK: Walking

/// The longest instruction that `plain_length` tells, and one byte more, which it may read.
#define PLAIN_MAX 16

/// The length of an instruction that is known by its opcode and the byte behind: without prefixes but rex, of no group, with an
/// immediate that rex does not widen. 0: quick_decode tells more. PLAIN_MAX bytes may be read.
__attribute__((always_inline)) static inline uint32_t plain_length(const uint8_t *code, uint32_t *entry) {
  uint32_t at = (code[0] & 0xf0) == 0x40;
  uint32_t e = one_byte[code[at]];
  if (e & ESCAPE) e = two_bytes[code[++at]];
  *entry = e;
  if ((e & (BARE | GROUP_MASK)) != BARE || KIND(e) == KIND(IMMV)) return 0;
  uint32_t length = at + 1 + (e >> SIZE_SHIFT);
  if (!(e & MODRM)) return length;
  uint8_t modrm = code[at + 1];
  if (e & (modrm >= 0xc0 ? MEMORY : REGISTER) & ~MODRM) return 0;
  if ((modrm & 0xc7) == 4 && (code[at + 2] & 7) == 5) length += 4;
  return length + 1 + address_sizes[modrm >> 6][modrm & 7];
}

/// Decodes where fewer bytes than an instruction may have can be read.
static inline uint32_t last_length(const uint8_t *code, uint64_t left, uint32_t *entry) {
  uint8_t rest[PLAIN_MAX] = {0};
  memcpy(rest, code, left);
  uint32_t length = plain_length(rest, entry);
  return length <= left ? length : 0;
}

/// Whether what `seen` says of an instruction at `from` is that it goes to none of the first `window` bytes.
static inline bool keeps_out(const HKTQuickDecode *seen, uint64_t from, uint32_t window) {
  if (seen->course == HKT_COURSE_JUMP_INDIRECT) return false;
  return !is_direct(seen->course) || from + seen->length + (uint64_t)(int64_t)seen->distance >= window;
}

uint64_t hkt_quick_decode_over(const uint8_t *code, uint64_t from, uint64_t size, uint32_t window) {
  while (from < size) {
    uint32_t entry, length = size - from >= PLAIN_MAX ? plain_length(code + from, &entry) : last_length(code + from, size - from, &entry);
    if (length && is_direct(entry >> COURSE_SHIFT & 0xf)) {
      int32_t distance = (int8_t)code[from + length - 1];
      if (KIND(entry) != KIND(IMM8)) memcpy(&distance, code + from + length - 4, 4);
      if (from + length + (uint64_t)(int64_t)distance < window) return from;
    } else if (!length) {
      HKTQuickDecode seen;
      if (!quick_decode(code + from, size - from, &seen) || !keeps_out(&seen, from, window)) return from;
      length = seen.length;
    }
    from += length;
  }
  return from;
}
