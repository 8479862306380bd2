// Whether a thread that faulted holds a lock that the frames it would leave know of.
//
// Nobody lists the locks of a thread, but a pthread mutex (of NSLock, too) names its owner.
// What the abandoned frames and the registers point at is looked at, what that points at (an object with a lock in its tail), and what that
// does (a lock of Foundation in an object). A read-write lock names its writer.
// A lock that a function took that has returned may be known to none of them: variables at fixed places are looked at which the code of the
// frames, or that of functions they call, names.
// A Mutex of Synchronization is one word with that id, which records of running tasks and fields of programs have as well: such a word
// counts where the code of an abandoned frame takes locks as a Mutex is taken (`lock cmpxchg` on 32 bits; it is inlined at each use). One at
// a fixed place (a global) is found by that instruction itself.
// A lock that a caller further out holds, and frames further in know of, too, looks the same: then nothing is contained.
//
// Runs in the signal handler.
#define _GNU_SOURCE 1
#include "contain.h"

#include "HKTPeek.h"
#include "HKTWaiting.h"
#include "../Dispatch/stack_room.h"

#include <dlfcn.h>
#include <string.h>
#include <ucontext.h>

extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

enum {
  MOST_WORDS = 4096,    // of the stack, innermost first
  LOOKED_AT = 128,      // bytes behind a pointer, in which a lock begins
  REST = 20,            // of a mutex, behind the first words of it
};

/// The words are those of a pthread mutex that the thread holds, by glibc's layout: {state, depth, owner, users, kind, spins, list, list}, of
/// which the lists are two words each, and the users the owner and who waits for a condition with it. All of it is looked at: thread ids are
/// small in a container, and small numbers are everywhere.
static bool is_pthread_mutex(const uint32_t *words, uint32_t thread) {
  enum { TYPE = 3, RECURSIVE = 1, ADAPTIVE = 3, LISTED = 0x70, ELIDED = 0x100, KINDS = 0x1ff, MOST_USERS = 512, MOST_DEPTH = 10000 };
  uint32_t kind = words[4], type = kind & TYPE;
  if ((words[0] != 1 && words[0] != 2) || words[2] != thread || (kind & ~(uint32_t)KINDS) != 0) return false;
  if (words[3] < 1 || words[3] >= MOST_USERS || (type == RECURSIVE ? words[1] < 1 || words[1] >= MOST_DEPTH : words[1] != 0)) return false;
  if (words[5] != 0 && type != ADAPTIVE && !(kind & ELIDED)) return false;
  return (kind & LISTED) != 0 || (words[6] | words[7] | words[8] | words[9]) == 0;
}

/// {readers and two bits, writers, the phase's futex, the writers' futex, 0, 0, the writer's thread id}: of one that is held for writing, both
/// bits are set and both futexes odd.
static bool is_write_lock(const uint32_t *words, uint32_t thread) {
  return words[6] == thread && (words[0] & 3) == 3 && words[0] < 80000 && words[1] < 10000 && (words[2] | 2) == 3 && (words[3] | 2) == 3 &&
         words[4] == 0 && words[5] == 0;
}

static bool is_word_lock(uint32_t word, uint32_t thread) {
  // Set by the kernel while others wait.
  const uint32_t WAITERS = UINT32_C(1) << 31;
  return (word & ~WAITERS) == thread;
}

static bool is_pointer(const HKTThread *t, uint64_t word) {
  if (word < 0x10000 || word >= UINT64_C(0x7ffffffff000) || word % 4 != 0) return false;
  return !hkt_is_on_stack(t, word);
}

/// What can be read from there on, at most `room` bytes.
static size_t look(uint64_t at, void *to, size_t room) {
  size_t page = 4096 - at % 4096;
  if (hkt_peek(at, to, room)) return room;
  return page < room && hkt_peek(at, to, page) ? page : 0;
}

/// The host's own records of the thread: in one of them counters lie around the thread's id as those of a mutex do.
static bool is_in_record(const HKTThread *t, uint64_t at) {
  const HKTWaiting *w = hkt_waiting_if_known();
  return at - (uint64_t)t < sizeof *t || (w && at - (uint64_t)w < sizeof *w);
}

/// What the C library knows of the thread, and its thread-local variables: the runtime keeps the thread's id in one.
static bool is_of_thread(uint64_t at) {
  enum { LOCALS = 16 << 10, RECORD = 4096 };
  uint64_t thread = (uint64_t)__builtin_thread_pointer();
  return at > thread - LOCALS && at < thread + RECORD;
}

typedef struct Search {
  const HKTThread *t;
  uint32_t thread;        // its id
  bool has_word_locks;
  uint32_t looks;         // so far
  uint64_t seen[64];      // addresses that were looked at, with the level in the lowest bits
} Search;

/// What was found in a frame, what that points at, and what that does.
enum { IN_FRAME = 0, BEHIND = 1, LAST = 2, MOST_LOOKS = 20000 };

/// The address was looked at, at this level or an outer one. A table of 64: what is forgotten is looked at again.
static bool was_seen(Search *s, uint64_t at, int level) {
  uint64_t *place = &s->seen[(at >> 3) % (sizeof s->seen / sizeof *s->seen)], entry = at | (uint64_t)level;
  if (*place >> 2 == at >> 2 && (*place & 3) <= (uint64_t)level) return true;
  *place = entry;
  return false;
}

/// A lock that the thread holds lies among the first bytes there, or at the places that these point at.
static bool holds_at(Search *s, uint64_t at, int level) {
  static const size_t looked_at[] = {LOOKED_AT, LOOKED_AT / 2, 28};
  if (!is_pointer(s->t, at) || was_seen(s, at, level) || ++s->looks > MOST_LOOKS) return false;
  // What cannot be read of a lock's rest counts as 0.
  uint32_t words[(LOOKED_AT + REST) / 4] = {0};
  size_t got = look(at, words, looked_at[level] + REST), count = (got < looked_at[level] ? got : looked_at[level]) / 4;
  for (size_t i = 0; i < count; i++) {
    if (is_in_record(s->t, at + i * sizeof *words)) continue;
    if (i + 5 <= count && is_pthread_mutex(words + i, s->thread)) return true;
    if (i + 7 <= count && is_write_lock(words + i, s->thread)) return true;
    if (level == IN_FRAME && s->has_word_locks && is_word_lock(words[i], s->thread) && !is_of_thread(at)) return true;
    uint64_t next;
    if (level == LAST || i % 2 != 0 || i + 2 > count) continue;
    memcpy(&next, words + i, sizeof next);
    if (holds_at(s, next, level + 1)) return true;
  }
  return false;
}

bool hkt_holds_lock(const greg_t *registers, const HKTLanding *landing, bool has_word_locks) {
  static const int known[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8,
                              REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  Search s = {.t = landing->thread, .thread = (uint32_t)landing->thread->tid, .has_word_locks = has_word_locks};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (holds_at(&s, (uint64_t)registers[known[i]], IN_FRAME)) return true;
  const uint64_t *from = (const uint64_t *)((uint64_t)registers[REG_RSP] & ~UINT64_C(7)), *end = (const uint64_t *)landing->stack;
  for (int looked = 0; from < end && looked < MOST_WORDS; from++, looked++)
    if (holds_at(&s, *from, IN_FRAME)) return true;
  return false;
}

// MARK: Code that names locks

enum {
  PIECE = 256,              // read at once
  OVERLAP = 16,             // the longest instruction
  MOST_OF_ONE = 64 << 10,
  MOST_OF_ALL = 4 << 20,
  MOST_REFERENCES = 20000,
  CALLEES = 2,              // how many calls on: a function that locks, and one that it asks for the place of a variable
  SHORT = 192,              // what is read of a function that has no record, which calls nothing that throws exceptions
};

/// What the code names with a distance from itself at `i`, the last byte before that.
static uint64_t named_at(const uint8_t *code, uint64_t at, size_t i) {
  int32_t distance;
  memcpy(&distance, code + i + 1, sizeof distance);
  return at + i + 5 + (uint64_t)(int64_t)distance;
}

/// Whether a `lock cmpxchg` of 32 bits begins here; `fixed` gets the address where the code names it, else 0.
static bool takes_word(const uint8_t *code, uint64_t at, uint64_t *fixed) {
  *fixed = 0;
  if (code[0] != 0xf0) return false;
  int i = (code[1] & 0xf8) == 0x40 ? 2 : 1;
  if (code[i] != 0x0f || code[i + 1] != 0xb1) return false;
  uint8_t how = code[i + 2];
  if (how >= 0xc0) return false;
  if ((how & 0xc7) == 0x05) *fixed = named_at(code, at, (size_t)i + 2);
  return true;
}

/// One function that is read: the thread's, of an image.
typedef struct Reading {
  HKTCodeLocks *locks;
  const HKTThread *t;
  uint32_t thread;
  uint64_t image, image_end;
} Reading;

/// A lock at the place, or in what the variable there points at.
static void look_at_variable(const Reading *r, uint64_t place) {
  if (place % 4 != 0 || place - r->image >= r->image_end - r->image || ++r->locks->references > MOST_REFERENCES) return;
  enum { SHORTEST = 20, WRITE_LOCK = 28, MUTEX = 40 };
  uint32_t words[MUTEX / 4] = {0};
  size_t got = look(place, words, sizeof words);
  if (got >= SHORTEST && is_pthread_mutex(words, r->thread)) r->locks->is_held = true;
  if (got >= WRITE_LOCK && is_write_lock(words, r->thread)) r->locks->is_held = true;
  uint64_t word;
  memcpy(&word, words, sizeof word);
  // Other parts of the image hold no locks of their own.
  if (got < sizeof word || word - r->image < r->image_end - r->image) return;
  Search s = {.t = r->t, .thread = r->thread};
  if (holds_at(&s, word, BEHIND)) r->locks->is_held = true;
}

/// The function's code was read. What is forgotten is read again.
static bool is_read(HKTCodeLocks *locks, uint64_t start) {
  uint64_t *place = &locks->seen[(start >> 4) % HKT_SEEN_FUNCTIONS];
  if (*place == start) return true;
  *place = start;
  return false;
}

/// `callees`: how many calls on the functions are read that it calls.
static void read_function(const Reading *r, uint64_t start, uint64_t end, int callees) {
  HKTCodeLocks *locks = r->locks;
  bool is_of_frame = callees == CALLEES;
  if (is_read(locks, start)) return;
  uint64_t size = end > start ? end - start : UINT64_MAX;
  if (size > MOST_OF_ONE || locks->looked_at + size > MOST_OF_ALL) {
    if (is_of_frame) locks->has_word_locks = true;
    return;
  }
  locks->looked_at += (uint32_t)size;
  uint8_t code[PIECE + OVERLAP];
  for (uint64_t at = start; at < start + size; at += PIECE) {
    // The end of the code may come first.
    size_t got = PIECE + OVERLAP;
    while (got > OVERLAP && !hkt_peek(at, code, got)) got /= 2;
    for (size_t i = 0; i + OVERLAP <= got && at + i < end && !locks->is_held; i++) {
      uint64_t fixed;
      uint32_t word;
      if (is_of_frame && takes_word(code + i, at + i, &fixed)) {
        locks->has_word_locks = true;
        if (fixed && hkt_peek(fixed, &word, sizeof word) && is_word_lock(word, r->thread)) locks->is_held = true;
      }
      // Bytes that are something else lead to what is no lock, and to what is no function.
      if ((code[i] & 0xc7) == 0x05) look_at_variable(r, named_at(code, at, i));
      if (callees == 0 || (code[i] & 0xfe) != 0xe8) continue;
      // A call, or a jump to what the function goes on to.
      uint64_t target = named_at(code, at, i), begins = target;
      if (target - r->image >= r->image_end - r->image || target - start < size) continue;
      uint64_t ends = hkt_end_of_function(target, &begins);
      if (begins == target) read_function(r, target, ends ? ends : target + SHORT, callees - 1);
    }
    if (got < PIECE + OVERLAP) return;
  }
}

void hkt_read_code_locks(HKTCodeLocks *locks, const HKTThread *thread, uint64_t start, uint64_t end) {
  struct dl_find_object image;
  if (!_dl_find_object || _dl_find_object((void *)start, &image) != 0) return;
  Reading reading = {locks, thread, (uint32_t)thread->tid, (uint64_t)image.dlfo_map_start, (uint64_t)image.dlfo_map_end};
  read_function(&reading, start, end, CALLEES);
}
