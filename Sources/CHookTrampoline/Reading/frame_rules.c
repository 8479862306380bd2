// Call frame information: where the caller's frame is, at an instruction of a function that keeps no frame pointer.
#include "HKTFrameRule.h"

#include <string.h>

// MARK: Reading

/// What is read, from `at` on. Behind the end everything is 0, and `is_past` says so.
typedef struct Reader {
  const HKTSection *section;
  uint64_t at, end;  // offsets
  bool is_past;
} Reader;

static uint64_t read_word(Reader *reader, uint64_t size) {
  uint64_t word = 0;
  if (size > reader->end || reader->at > reader->end - size) {
    reader->is_past = true;
    return 0;
  }
  memcpy(&word, reader->section->bytes + reader->at, size);
  reader->at += size;
  return word;
}

static uint8_t read_byte(Reader *reader) { return (uint8_t)read_word(reader, 1); }

/// LEB128. Bits above the 64th are left out.
static uint64_t read_number(Reader *reader, bool is_signed) {
  uint64_t number = 0;
  unsigned shift = 0;
  uint8_t byte;
  do {
    byte = read_byte(reader);
    if (shift < 64) number |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80 && !reader->is_past);
  if (is_signed && byte & 0x40 && shift < 64) number |= ~UINT64_C(0) << shift;
  return number;
}

static void skip(Reader *reader, uint64_t size) {
  if (size > reader->end - reader->at) reader->is_past = true;
  else reader->at += size;
}

enum { POINTER_ABSOLUTE = 0x00, POINTER_RELATIVE = 0x10, POINTER_KIND = 0x70, POINTER_SIZE = 0x0f };

/// A pointer of an encoding that compilers use for x86-64: 4 or 8 bytes, absolute or relative to where it stands.
static uint64_t read_pointer(Reader *reader, uint8_t encoding) {
  uint64_t from = reader->section->address + reader->at, value;
  switch (encoding & POINTER_SIZE) {
    case 0x00: case 0x04: case 0x0c: value = read_word(reader, 8); break;
    case 0x03: value = read_word(reader, 4); break;
    case 0x0b: value = (uint64_t)(int64_t)(int32_t)read_word(reader, 4); break;
    default: reader->is_past = true; return 0;
  }
  switch (encoding & POINTER_KIND) {
    case POINTER_ABSOLUTE: return value;
    case POINTER_RELATIVE: return from + value;
    default: reader->is_past = true; return 0;
  }
}

// MARK: Which function

/// The offset in `frames` of the description of the last function that begins at `counter` or below; UINT64_MAX: there is none.
static uint64_t find_description(const HKTSection *index, const HKTSection *frames, uint64_t counter) {
  enum { VERSION = 1, COUNT_OF_4 = 0x03, TABLE_OF_INDEX = 0x3b, ROW = 8 };
  Reader reader = {index, 0, index->size, false};
  bool is_known = read_byte(&reader) == VERSION;
  uint8_t frames_encoding = read_byte(&reader);
  is_known = read_byte(&reader) == COUNT_OF_4 && is_known;
  is_known = read_byte(&reader) == TABLE_OF_INDEX && is_known;
  read_pointer(&reader, frames_encoding);
  uint64_t count = read_word(&reader, 4);
  if (!is_known || reader.is_past || count == 0 || count > (index->size - reader.at) / ROW) return UINT64_MAX;
  // Rows are sorted: the function, then its description, both as distances from the index.
  uint64_t low = 0, high = count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    Reader row = {index, reader.at + middle * ROW, index->size, false};
    if (index->address + (uint64_t)(int64_t)(int32_t)read_word(&row, 4) <= counter) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return UINT64_MAX;
  Reader row = {index, reader.at + (low - 1) * ROW + 4, index->size, false};
  return index->address + (uint64_t)(int64_t)(int32_t)read_word(&row, 4) - frames->address;
}

/// One entry of `frames`: what follows its length. It is past the end where there is none.
static Reader open_entry(const HKTSection *frames, uint64_t offset) {
  Reader reader = {frames, offset, frames->size, false};
  uint64_t length = read_word(&reader, 4);
  if (length == 0 || length >= 0xfffffff0 || reader.is_past || length > reader.end - reader.at) reader.is_past = true;
  else reader.end = reader.at + length;
  return reader;
}

/// What functions of one compilation have in common.
typedef struct Common {
  uint64_t code_unit;
  int64_t data_unit;
  uint8_t pointers;   // how addresses are written
  bool is_augmented;  // a description has data of its own
  Reader start;       // what holds at the start of each
} Common;

static bool read_common(const HKTSection *frames, uint64_t offset, Common *common) {
  Reader reader = open_entry(frames, offset);
  if (read_word(&reader, 4) != 0) return false;
  uint8_t version = read_byte(&reader);
  char augmentation[8] = {0};
  for (size_t i = 0; i < sizeof augmentation; i++)
    if ((augmentation[i] = (char)read_byte(&reader)) == 0) break;
  if (reader.is_past || (version != 1 && version != 3) || augmentation[sizeof augmentation - 1] != 0) return false;
  common->code_unit = read_number(&reader, false);
  common->data_unit = (int64_t)read_number(&reader, true);
  uint64_t return_column = version == 1 ? read_byte(&reader) : read_number(&reader, false);
  common->pointers = POINTER_ABSOLUTE;
  common->is_augmented = augmentation[0] == 'z';
  if (augmentation[0] != 0 && !common->is_augmented) return false;
  uint64_t size = common->is_augmented ? read_number(&reader, false) : 0;
  Reader data = reader;
  skip(&reader, size);
  for (const char *letter = augmentation + 1; common->is_augmented && *letter; letter++) {
    switch (*letter) {
      case 'R': common->pointers = read_byte(&data); break;
      case 'L': read_byte(&data); break;
      case 'P': {
        uint8_t encoding = read_byte(&data);
        read_pointer(&data, encoding & (uint8_t)~0x80);
        break;
      }
      default: return false;  // 'S': the frame of a signal handler
    }
  }
  common->start = reader;
  return !reader.is_past && !data.is_past && return_column == 16;
}

// MARK: The rule

enum { RBP = 6, RSP = 7, BACK = 16, NEITHER = 255, DEPTH = 8 };

typedef struct Row {
  uint8_t base;  // RBP, RSP, or NEITHER where the frame is at something computed
  bool is_saved;
  bool is_back_elsewhere;  // the return address is not where calls leave it, or there is none
  int64_t distance, frame_pointer;
} Row;

typedef struct Rows {
  Row now, first, stack[DEPTH];
  unsigned depth;
} Rows;

static void set_base(Row *row, uint64_t column) { row->base = column == RBP || column == RSP ? (uint8_t)column : NEITHER; }

static void set_saved(Row *row, uint64_t column, bool is_saved, int64_t at) {
  if (column == BACK) row->is_back_elsewhere = !is_saved || at != -8;
  if (column != RBP) return;
  row->is_saved = is_saved;
  row->frame_pointer = at;
}

/// What held at the start of functions holds again for the register.
static void restore(Rows *rows, uint64_t column) {
  if (column == BACK) rows->now.is_back_elsewhere = rows->first.is_back_elsewhere;
  else set_saved(&rows->now, column, rows->first.is_saved, rows->first.frame_pointer);
}

/// Runs the instructions as far as the one `wanted` bytes behind the function's start. false: there is one that is not known.
static bool run(Reader reader, const Common *common, uint64_t wanted, Rows *rows) {
  uint64_t place = 0;
  while (reader.at < reader.end && !reader.is_past) {
    uint8_t code = read_byte(&reader), low = code & 0x3f;
    Row *now = &rows->now;
    switch (code & 0xc0) {
      case 0x40: place += low * common->code_unit; break;
      case 0x80: set_saved(now, low, true, (int64_t)read_number(&reader, false) * common->data_unit); break;
      case 0xc0: restore(rows, low); break;
      default:
        switch (code) {
          case 0x00: break;  // nop
          case 0x02: place += read_word(&reader, 1) * common->code_unit; break;
          case 0x03: place += read_word(&reader, 2) * common->code_unit; break;
          case 0x04: place += read_word(&reader, 4) * common->code_unit; break;
          case 0x05: {  // offset_extended
            uint64_t column = read_number(&reader, false);
            set_saved(now, column, true, (int64_t)read_number(&reader, false) * common->data_unit);
            break;
          }
          case 0x06: restore(rows, read_number(&reader, false)); break;
          case 0x07: {  // undefined: nobody knows; of the return address, nobody called
            uint64_t column = read_number(&reader, false);
            if (column == RBP) return false;
            set_saved(now, column, false, 0);
            break;
          }
          case 0x08: set_saved(now, read_number(&reader, false), false, 0); break;
          case 0x0a:
            if (rows->depth == DEPTH) return false;
            rows->stack[rows->depth++] = *now;
            break;
          case 0x0b:
            if (rows->depth == 0) return false;
            *now = rows->stack[--rows->depth];
            break;
          case 0x0c:
            set_base(now, read_number(&reader, false));
            now->distance = (int64_t)read_number(&reader, false);
            break;
          case 0x0d: set_base(now, read_number(&reader, false)); break;
          case 0x0e: now->distance = (int64_t)read_number(&reader, false); break;
          case 0x0f:  // the frame is at what an expression says
            now->base = NEITHER;
            skip(&reader, read_number(&reader, false));
            break;
          case 0x10: case 0x16: {  // a register is at, or is, what an expression says
            uint64_t column = read_number(&reader, false);
            if (column == RBP) return false;
            set_saved(now, column, false, 0);
            skip(&reader, read_number(&reader, false));
            break;
          }
          case 0x11: {
            uint64_t column = read_number(&reader, false);
            set_saved(now, column, true, (int64_t)read_number(&reader, true) * common->data_unit);
            break;
          }
          case 0x12:
            set_base(now, read_number(&reader, false));
            now->distance = (int64_t)read_number(&reader, true) * common->data_unit;
            break;
          case 0x13: now->distance = (int64_t)read_number(&reader, true) * common->data_unit; break;
          case 0x2e: read_number(&reader, false); break;  // bytes of arguments
          default: return false;
        }
    }
    if (place > wanted) return true;
  }
  return !reader.is_past;
}

bool hkt_frame_rule(const HKTSection *index, const HKTSection *frames, uint64_t counter, HKTFrameRule *rule) {
  uint64_t offset = find_description(index, frames, counter);
  if (offset >= frames->size) return false;
  Reader reader = open_entry(frames, offset);
  uint64_t here = reader.at, back = read_word(&reader, 4);
  Common common;
  if (reader.is_past || back == 0 || back > here || !read_common(frames, here - back, &common)) return false;
  uint64_t start = read_pointer(&reader, common.pointers), size = read_word(&reader, (common.pointers & POINTER_SIZE) % 8 == 3 ? 4 : 8);
  if (reader.is_past || counter - start >= size) return false;
  if (common.is_augmented) skip(&reader, read_number(&reader, false));
  Rows rows = {.now = {.base = NEITHER}};
  if (!run(common.start, &common, UINT64_MAX, &rows)) return false;
  rows.first = rows.now;
  if (!run(reader, &common, counter - start, &rows) || rows.now.base == NEITHER || rows.now.is_back_elsewhere) return false;
  *rule = (HKTFrameRule){rows.now.base == RBP, rows.now.is_saved, rows.now.distance, rows.now.frame_pointer};
  return true;
}
