// Whether frames that would be left are in the middle of a change of an array, whose elements are meanwhile doubled, missing or destroyed.
//
// The library calls code of the program while it does that: the order of `sort`, the elements of `insert(contentsOf:)`. Nothing in the array
// tells, but the frames do:
//   - functions of the library that sort, by their names, in the library or in the program that has copies of its own. `sorted` sorts an array of
//     its own, a ContiguousArray; where optimised code does so with no name for it, the addresses in the frames decide.
//   - a function that has copied an array others share, and not yet put the copy into the variable: that has lost its part in the old one;
//   - any other function that comes from moving or destroying a block of elements, with no end of the access on the way: its code tells.
// They count where what they work on is being changed: a variable in the runtime's list of open accesses, or an array in it. Code with no
// name, of a program that is stripped, counts as sorting.
//
// Runs in the signal handler.
#define _GNU_SOURCE 1
#include "contain.h"

#include "HKTPeek.h"
#include "../Dispatch/stack_room.h"
#include "../Process/symbol_files.h"
#include "../Reading/call_order.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/// What the name of a function says. Each says more than those before it.
typedef enum Named { NAMELESS, OF_PROGRAM, OF_LIBRARY, COPIES_BUFFER, SORTS_COPY, SORTS_PERHAPS_COPY, SORTS } Named;

extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

// MARK: What is found once

static uint64_t array_class;  // what the classes of all arrays' buffers have as their type; 0: not known
static uint64_t moves[5], access_begins, access_ends;

void hkt_changes_prepare(void) {
  static const char *const names[] = {"memmove", "swift_arrayInitWithTakeNoAlias", "swift_arrayInitWithTakeFrontToBack",
                                      "swift_arrayInitWithTakeBackToFront", "swift_arrayDestroy"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) moves[i] = (uint64_t)dlsym(RTLD_DEFAULT, names[i]);
  access_begins = (uint64_t)dlsym(RTLD_DEFAULT, "swift_beginAccess");
  access_ends = (uint64_t)dlsym(RTLD_DEFAULT, "swift_endAccess");
  // The nominal type descriptor of Swift._ContiguousArrayStorage.
  array_class = (uint64_t)dlsym(RTLD_DEFAULT, "$ss23_ContiguousArrayStorageCMn");
}

// MARK: What is being changed

/// A buffer of an array. Of something else that looks like one nobody has an address inside.
static bool read_array(uint64_t object, HKTArray *array) {
  enum { DESCRIPTION = 40, ELEMENT_TYPE = 96, STRIDE = 72, FLAGS = 80, HAS_REFERENCES = 1 << 16 };
  struct { uint64_t class, references, count, capacity; } buffer;
  uint64_t description, type, witnesses, stride;
  uint32_t flags;
  if (object < 0x10000 || object % 8 != 0 || !hkt_peek(object, &buffer, sizeof buffer)) return false;
  if (buffer.class % 8 != 0 || !hkt_peek(buffer.class + DESCRIPTION, &description, 8) || (array_class && description != array_class)) return false;
  if (!hkt_peek(buffer.class + ELEMENT_TYPE, &type, 8) || !hkt_peek(type - 8, &witnesses, 8)) return false;
  if (!hkt_peek(witnesses + STRIDE, &stride, 8) || !hkt_peek(witnesses + FLAGS, &flags, 4)) return false;
  // The lowest bit of the capacity is a flag.
  uint64_t capacity = buffer.capacity >> 1;
  if (stride > UINT32_MAX || capacity > UINT32_MAX || buffer.count > capacity) return false;
  *array = (HKTArray){
    .low = object, .high = object + HKT_ARRAY_HEADER + capacity * stride, .first = object + HKT_ARRAY_HEADER, .class = buffer.class,
    .size = buffer.count * stride, .has_references = (flags & HAS_REFERENCES) != 0};
  return true;
}

/// Arrays in the words from there on, and where `depth` is not 0 those in their elements. True: there are some.
static bool note_arrays(HKTChanges *c, uint64_t at, uint64_t size, int depth) {
  enum { AT_ONCE = 16, MOST = 16 << 10 };
  uint64_t words[AT_ONCE];
  bool found = false;
  for (uint64_t done = 0; done < size; done += sizeof words) {
    uint64_t now = size - done < sizeof words ? size - done : sizeof words;
    if (!hkt_peek(at + done, words, now)) return found;
    for (uint64_t i = 0; i < now / 8; i++) {
      HKTArray array;
      if (!read_array(words[i], &array)) continue;
      // A slice is {buffer, where the element 0 would be, first, behind the last and a flag}.
      uint64_t room = (array.high - array.low - HKT_ARRAY_HEADER);
      if (i + 3 < now / 8 && room && words[i + 2] < room && words[i + 3] >> 1 > words[i + 2] && array.size) {
        struct { uint64_t class, references, count; } buffer;
        if (hkt_peek(array.low, &buffer, sizeof buffer) && buffer.count && words[i + 1] - array.low <= array.high - array.low)
          array.first = words[i + 1] + words[i + 2] * (array.size / buffer.count);
      }
      found = true;
      if (depth > 0 && array.has_references)
        array.has_arrays = note_arrays(c, array.low + HKT_ARRAY_HEADER, array.size < MOST ? array.size & ~UINT64_C(7) : MOST, depth - 1);
      if (c->array_count < HKT_MOST_ARRAYS) c->arrays[c->array_count++] = array;
    }
  }
  return found;
}

static bool has_same_elements(const HKTArray *a, const HKTArray *b) {
  enum { AT_ONCE = 64, MOST = 512 };
  uint8_t one[AT_ONCE], other[AT_ONCE];
  for (uint64_t done = 0; done < a->size && done < MOST; done += AT_ONCE) {
    uint64_t now = a->size - done < AT_ONCE ? a->size - done : AT_ONCE;
    if (!hkt_peek(a->low + HKT_ARRAY_HEADER + done, one, now) || !hkt_peek(b->low + HKT_ARRAY_HEADER + done, other, now)) return false;
    if (memcmp(one, other, now) != 0) return false;
  }
  return true;
}

/// Constant arrays lie in their image, and are never ended.
static bool is_constant(const HKTArray *array) {
  struct dl_find_object image;
  return _dl_find_object && _dl_find_object((void *)array->low, &image) == 0;
}

/// The word is an array that was copied to be changed: it equals one that is being changed, and lies elsewhere.
static bool is_copy(const HKTChanges *c, uint64_t word) {
  HKTArray array;
  if (!read_array(word, &array) || array.size == 0) return false;
  bool found = false;
  for (uint32_t i = 0; i < c->array_count; i++) {
    const HKTArray *changed = &c->arrays[i];
    if (changed->low == array.low) return false;
    found |= changed->class == array.class && changed->size == array.size && has_same_elements(changed, &array) && !is_constant(changed);
  }
  return found;
}

/// Notes what a word of a frame or a register tells of the arrays that are being changed.
static void note_word(HKTChanges *c, uint64_t word) {
  for (uint32_t i = 0; i < c->array_count && !c->holds_elements; i++) {
    const HKTArray *array = &c->arrays[i];
    if (word - array->low > array->high - array->low) continue;
    c->holds_array = true;
    c->holds_elements = array->has_arrays ? word == array->first : word >= array->low + HKT_ARRAY_HEADER;
  }
  for (uint32_t i = 0; i < c->count && !c->holds_array; i++) c->holds_array = word - c->changes[i].variable < HKT_VARIABLE_SIZE;
  if (!c->holds_copy && c->array_count) c->holds_copy = is_copy(c, word);
}

void hkt_note_changes(HKTChanges *c, const HKTLanding *landing, const greg_t *registers) {
  enum { CHANGES = 1, PAGE = 4096 };
  c->count = c->array_count = 0;
  c->holds_array = c->holds_elements = c->holds_copy = c->is_elsewhere = false;
  c->last = 0;
  c->sorting = NAMELESS;
  uint64_t at = *landing->accesses;
  for (int looked = 0; at && at != landing->open_accesses && looked < 1000 && c->count < HKT_MOST_CHANGES; looked++) {
    struct { uint64_t variable, code, next; } access;
    if (!hkt_peek(at, &access, sizeof access)) break;
    if (access.next & CHANGES && access.variable % 8 == 0) {
      c->changes[c->count++] = (HKTChange){access.variable, at};
      uint64_t rest = PAGE - access.variable % PAGE;
      note_arrays(c, access.variable, rest < HKT_VARIABLE_SIZE ? rest : HKT_VARIABLE_SIZE, 1);
      if (hkt_is_on_stack(landing->thread, at)) c->last = at > c->last ? at : c->last;
      else c->is_elsewhere = true;
    }
    at = access.next & ~(uint64_t)CHANGES;
  }
  static const int known[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8,
                              REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  for (size_t i = 0; c->count && i < sizeof known / sizeof *known; i++) note_word(c, (uint64_t)registers[known[i]]);
}

// MARK: What a frame is in the middle of

/// Answers that stay true: of the code at an address. {address, which of the questions, answer}
static _Atomic uint64_t answers[512];

enum { ASKS_NAME = 8, ASKS_MOVES = 16, ASKS_COPIES = 24, ANSWER = 7 };

/// What was answered before to a question about the code at an address. false: nobody asked. Runs in signal handlers.
static bool known_answer(uint64_t address, uint64_t question, uint64_t *answer) {
  uint64_t entry = atomic_load_explicit(&answers[(address ^ question) % 512], memory_order_relaxed);
  *answer = entry & ANSWER;
  return (entry & ~(uint64_t)ANSWER) == (address << 8 | question);
}

static uint64_t keep_answer(uint64_t address, uint64_t question, uint64_t answer) {
  atomic_store_explicit(&answers[(address ^ question) % 512], address << 8 | question | answer, memory_order_relaxed);
  return answer;
}

/// Of a mangled name: what stands in it first, for names of what the function was compiled with may follow.
static int judge_name(const char *name) {
  static const struct { const char *part; Named named; } parts[] = {
    {"_consumeAndCreateNew", COPIES_BUFFER}, {"6sorted", SORTS_COPY}, {"4sort2by", SORTS}, {"4sortyy", SORTS}, {"_stableSortImpl", SORTS_PERHAPS_COPY},
    {"_insertionSort", SORTS_PERHAPS_COPY}, {"_merge3low", SORTS_PERHAPS_COPY}, {"_mergeRuns", SORTS_PERHAPS_COPY},
    {"_mergeTopRuns", SORTS_PERHAPS_COPY}, {"_finalizeRuns", SORTS_PERHAPS_COPY}};
  if (strncmp(name, "$sS", 3) != 0 && strncmp(name, "$ss", 3) != 0) return OF_PROGRAM;
  const char *first = NULL;
  Named named = OF_LIBRARY;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const char *found = strstr(name, parts[i].part);
    if (!found || (first && first < found)) continue;
    first = found;
    named = parts[i].named;
  }
  return named == SORTS && strstr(first, "15ContiguousArrayV") ? SORTS_PERHAPS_COPY : named;
}

static Named name_of(uint64_t start) {
  uint64_t named;
  if (!known_answer(start, ASKS_NAME, &named)) named = keep_answer(start, ASKS_NAME, (uint64_t)hkt_judge_names(start, judge_name));
  return (Named)named;
}

/// Where a piece of the linker's goes on to another image: endbr64 or nothing, then jmp [rip + distance].
static uint64_t goes_on_to(uint64_t target) {
  uint8_t code[16];
  uint64_t found;
  int32_t distance;
  if (!hkt_peek(target, code, sizeof code)) return target;
  int i = memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;
  if (code[i] == 0xf2) i++;
  if (code[i] != 0xff || code[i + 1] != 0x25) return target;
  memcpy(&distance, code + i + 2, sizeof distance);
  return hkt_peek(target + (uint64_t)(i + 6) + (uint64_t)(int64_t)distance, &found, sizeof found) ? found : target;
}

static bool is_one_of(uint64_t address, const uint64_t *all, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (all[i] && all[i] == address) return true;
  return false;
}

static HKTOrder copying(uint64_t target) { return name_of(goes_on_to(target)) == COPIES_BUFFER ? HKT_ORDER_BEGINS : HKT_ORDER_NEITHER; }

static HKTOrder moving(uint64_t target) {
  uint64_t function = goes_on_to(target);
  if (is_one_of(function, moves, sizeof moves / sizeof *moves)) return HKT_ORDER_BEGINS;
  if (function && function == access_begins) return HKT_ORDER_OPENS;
  return function && function == access_ends ? HKT_ORDER_CLOSES : HKT_ORDER_NEITHER;
}

/// Asked of the code of the frame's function: has it come from such a call?
static bool is_behind(const HKTChangingFrame *f, uint64_t question) {
  enum { LARGEST = 256 << 10 };
  if (f->end <= f->start || f->end - f->start > LARGEST) return false;
  uint64_t answer;
  if (known_answer(f->counter, question, &answer)) return answer;
  HKTCallOrder order = {
    .code = {.bytes = (const uint8_t *)f->start, .size = f->end - f->start, .address = f->start}, .place = f->counter, .is_return = f->is_return,
    .callee = question == ASKS_COPIES ? copying : moving, .stores_close = question == ASKS_COPIES};
  return keep_answer(f->counter, question, hkt_is_behind_call(&order));
}

/// The frame began one of the changes.
static bool began(const HKTChanges *c, const HKTChangingFrame *f) {
  for (uint32_t i = 0; i < c->count; i++)
    if (c->changes[i].record - f->low < f->high - f->low) return true;
  return false;
}

/// The frame, or what it calls further in, sorts what is being changed.
static bool sorts(HKTChanges *c, const HKTChangingFrame *f) {
  Named named = name_of(f->start);
  switch (named) {
    case NAMELESS: return !f->is_library && c->holds_elements;
    case OF_LIBRARY: case COPIES_BUFFER: return false;
    case SORTS_COPY: c->sorting = NAMELESS; return false;
    case SORTS_PERHAPS_COPY: case SORTS: if (named > c->sorting) c->sorting = named; return false;
    case OF_PROGRAM: break;
  }
  // The caller of what sorts.
  Named sorting = c->sorting;
  c->sorting = NAMELESS;
  return sorting == SORTS || (sorting == SORTS_PERHAPS_COPY && (c->holds_elements || began(c, f)));
}

bool hkt_is_amid_change(HKTChanges *c, const HKTChangingFrame *f) {
  // Changes that all began further in are none of what this frame does.
  if (c->count == 0 || (!c->is_elsewhere && f->low > c->last)) return false;
  for (uint64_t at = f->low & ~UINT64_C(7); at < f->high; at += 8) note_word(c, *(const uint64_t *)at);
  if (!f->start || !f->is_swift) return false;
  if (sorts(c, f)) return true;
  // The library's own code puts a copy into the variable before it looks at anything else.
  if (c->holds_copy && !f->is_library && name_of(f->start) < SORTS_COPY && is_behind(f, ASKS_COPIES)) return true;
  return (c->holds_array || began(c, f)) && is_behind(f, ASKS_MOVES);
}
