// Whether a thread that faulted holds a lock that the frames it would leave know of.
//
// Nobody lists the locks of a thread, but a pthread mutex (of NSLock, too) names its owner: {state, depth, owner's thread id, users, kind}.
// What the abandoned frames and the registers point at is looked at, and what its first words point at. A read-write lock names its writer.
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

#include <string.h>
#include <ucontext.h>

enum {
  MOST_WORDS = 4096,    // of the stack, innermost first
  LOOKED_AT = 128,      // bytes behind a pointer
};

static bool is_pthread_mutex(const uint32_t *words, uint32_t thread) {
  enum { KINDS = 0x1ff };
  return (words[0] == 1 || words[0] == 2) && words[2] == thread && words[3] >= 1 && words[3] < 10000 && (words[4] & ~(uint32_t)KINDS) == 0;
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

static bool leads_to_lock(const HKTThread *t, uint64_t at, uint32_t thread) {
  uint32_t words[7];
  return is_pointer(t, at) && !is_in_record(t, at) && look(at, words, sizeof words) == sizeof words &&
         (is_pthread_mutex(words, thread) || is_write_lock(words, thread));
}

/// What the C library knows of the thread, and its thread-local variables: the runtime keeps the thread's id in one.
static bool is_of_thread(uint64_t at) {
  enum { LOCALS = 16 << 10, RECORD = 4096 };
  uint64_t thread = (uint64_t)__builtin_thread_pointer();
  return at > thread - LOCALS && at < thread + RECORD;
}

static bool holds_at(const HKTThread *t, uint64_t at, uint32_t thread, bool has_word_locks) {
  uint32_t words[LOOKED_AT / 4] = {0};
  size_t count = look(at, words, sizeof words) / 4;
  for (size_t i = 0; i < count; i++) {
    if (is_in_record(t, at + i * sizeof *words)) continue;
    if (i + 5 <= count && is_pthread_mutex(words + i, thread)) return true;
    if (i + 7 <= count && is_write_lock(words + i, thread)) return true;
    if (has_word_locks && is_word_lock(words[i], thread) && !is_of_thread(at)) return true;
    uint64_t next;
    if (i % 2 != 0 || i + 2 > count) continue;
    memcpy(&next, words + i, sizeof next);
    if (leads_to_lock(t, next, thread)) return true;
  }
  return false;
}

bool hkt_holds_lock(const greg_t *registers, const HKTLanding *landing, bool has_word_locks) {
  const HKTThread *t = landing->thread;
  static const int known[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8,
                              REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  uint32_t thread = (uint32_t)t->tid;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    uint64_t word = (uint64_t)registers[known[i]];
    if (is_pointer(t, word) && holds_at(t, word, thread, has_word_locks)) return true;
  }
  uint64_t last = 0;
  const uint64_t *from = (const uint64_t *)((uint64_t)registers[REG_RSP] & ~UINT64_C(7)), *end = (const uint64_t *)landing->stack;
  for (int looked = 0; from < end && looked < MOST_WORDS; from++, looked++) {
    uint64_t word = *from;
    if (word == last || !is_pointer(t, word)) continue;
    last = word;
    if (holds_at(t, word, thread, has_word_locks)) return true;
  }
  return false;
}

// MARK: Code that takes locks of one word

enum {
  PIECE = 1024,             // read at once
  OVERLAP = 16,             // the longest instruction
  MOST_OF_ONE = 64 << 10,
  MOST_OF_ALL = 4 << 20,
};

/// Whether a `lock cmpxchg` of 32 bits begins here; `fixed` gets the address where the code names it, else 0.
static bool takes_word(const uint8_t *code, uint64_t at, uint64_t *fixed) {
  *fixed = 0;
  if (code[0] != 0xf0) return false;
  int i = (code[1] & 0xf8) == 0x40 ? 2 : 1;
  if (code[i] != 0x0f || code[i + 1] != 0xb1) return false;
  uint8_t how = code[i + 2];
  if (how >= 0xc0) return false;
  if ((how & 0xc7) == 0x05) {
    int32_t distance;
    memcpy(&distance, code + i + 3, 4);
    *fixed = at + (uint64_t)(i + 7) + (uint64_t)(int64_t)distance;
  }
  return true;
}

void hkt_read_word_locks(HKTWordLocks *locks, uint64_t start, uint64_t end, uint32_t thread) {
  for (int i = 0; i < HKT_SEEN_FUNCTIONS; i++)
    if (locks->seen[i] == start) return;
  locks->seen[locks->next++ % HKT_SEEN_FUNCTIONS] = start;
  uint64_t size = end > start ? end - start : UINT64_MAX;
  if (size > MOST_OF_ONE || locks->looked_at + size > MOST_OF_ALL) {
    locks->has_some = true;
    return;
  }
  locks->looked_at += (uint32_t)size;
  uint8_t code[PIECE + OVERLAP];
  for (uint64_t at = start; at < start + size; at += PIECE) {
    // The end of the code may come first.
    size_t got = PIECE + OVERLAP;
    while (got > OVERLAP && !hkt_peek(at, code, got)) got /= 2;
    for (size_t i = 0; i + OVERLAP <= got && at + i < end; i++) {
      uint64_t fixed;
      uint32_t word;
      if (!takes_word(code + i, at + i, &fixed)) continue;
      locks->has_some = true;
      if (fixed && hkt_peek(fixed, &word, sizeof word) && is_word_lock(word, thread)) locks->is_held = true;
    }
    if (got < PIECE + OVERLAP) return;
  }
}
