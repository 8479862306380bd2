// Whether frames that would be left have moved a dictionary, a set or a Data out of the variable that they change.
//
// While an element is changed in place (`table["k"]![9] = 1`), optimised code holds the table in its frame. In the variable lies meanwhile the
// word by which the library says that there is none: the top bit alone. Left so, the variable is garbage for everybody who reads it.
// Variables that are being changed are in the runtime's list of open accesses. Behind the address of one are the fields of a struct, of a
// size that nobody tells; its first word may be an array, whose elements are looked at where their type can hold references.
// A number of the same word there (-0.0, the lowest integer) looks the same, and then nothing is contained.
//
// Data changes its bytes in the same way, at -Onone, too: meanwhile the variable says that it is empty, in two words. One that was empty
// before looks the same, and so do the numbers 0.0 and -2.0 in a row.
//
// Runs in the signal handler.
#define _GNU_SOURCE 1
#include "contain.h"

#include "HKTPeek.h"

/// The runtime's record of an open access. The lowest bit of `next` says that it is a change.
typedef struct Access { uint64_t address, code, next; } Access;

enum { PAGE = 4096 };

typedef enum Mark { NO_MARK, TABLE_MARK, DATA_MARK } Mark;

/// Which of the marks is among the `bytes` from there on; they must be aligned.
static Mark find_mark(uint64_t at, uint64_t bytes) {
  const uint64_t MOVED_OUT = UINT64_C(1) << 63, EMPTY_DATA = UINT64_C(3) << 62;
  uint64_t before = 1;
  uint64_t words[64];
  while (bytes >= sizeof *words) {
    // The next page may not be there.
    uint64_t count = PAGE - at % PAGE;
    if (count > bytes) count = bytes;
    if (count > sizeof words) count = sizeof words;
    if (!hkt_peek(at, words, count)) return NO_MARK;
    for (uint64_t i = 0; i < count / sizeof *words; i++) {
      if (words[i] == MOVED_OUT) return TABLE_MARK;
      if (words[i] == EMPTY_DATA && before == 0) return DATA_MARK;
      before = words[i];
    }
    at += count;
    bytes -= count;
  }
  return NO_MARK;
}

static uint64_t word_at(uint64_t address) {
  uint64_t word;
  return address >= PAGE && address % sizeof word == 0 && hkt_peek(address, &word, sizeof word) ? word : 0;
}

/// Of a buffer of an array {class, references, count, capacity, elements}: the mark that an element has. Of objects that are no buffers the
/// words say nothing, and what is found in them is a mark of nobody's.
static Mark mark_of_elements(uint64_t buffer) {
  enum { ELEMENT_TYPE = 12 * 8, STRIDE = 9 * 8, FLAGS = 10 * 8, HAS_REFERENCES = 1 << 16, COUNT = 16, ELEMENTS = 32, MOST = 64 << 10, LARGEST = 4096 };
  uint64_t class = word_at(buffer), type = class ? word_at(class + ELEMENT_TYPE) : 0, witnesses = type ? word_at(type - 8) : 0;
  if (!witnesses || (word_at(witnesses + FLAGS) & HAS_REFERENCES) == 0) return NO_MARK;
  uint64_t stride = word_at(witnesses + STRIDE), count = word_at(buffer + COUNT);
  if (stride == 0 || stride > LARGEST || stride % 8 != 0 || count > UINT32_MAX) return NO_MARK;
  return find_mark(buffer + ELEMENTS, count * stride < MOST ? count * stride : MOST);
}

static Mark mark_of(uint64_t variable) {
  enum { LOOKED_AT = 64 };
  if (variable % 8 != 0) return NO_MARK;
  uint64_t rest = PAGE - variable % PAGE;
  Mark mark = find_mark(variable, rest < LOOKED_AT ? rest : LOOKED_AT);
  return mark ? mark : mark_of_elements(word_at(variable));
}

const char *hkt_moved_out(const HKTLanding *landing) {
  enum { MOST_ACCESSES = 1000, CHANGES = 1 };
  uint64_t at = *landing->accesses;
  for (int looked = 0; at && at != landing->open_accesses && looked < MOST_ACCESSES; looked++) {
    Access access;
    if (!hkt_peek(at, &access, sizeof access)) return NULL;
    Mark mark = (access.next & CHANGES) != 0 ? mark_of(access.address) : NO_MARK;
    if (mark == TABLE_MARK) return "a dictionary or a set is being changed, and its variable would be left without it";
    if (mark == DATA_MARK) return "the bytes of a Data are being changed, and its variable would be left without them";
    at = access.next & ~(uint64_t)CHANGES;
  }
  return NULL;
}
