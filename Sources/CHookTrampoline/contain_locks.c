// Whether a thread that faulted holds a lock that the frames it would leave know of.
//
// Nobody lists the locks of a thread, but a pthread mutex (of NSLock, too) names its owner: {state, depth, owner's thread id, users, kind}.
// What the abandoned frames and the registers point at is looked at, and what its first words point at. A Mutex of Synchronization is
// one word with that id, which the records of running tasks have as well: it cannot be told.
// A lock that a caller further out holds, and frames further in know of, too, looks the same: then nothing is contained.
//
// Runs in the signal handler.
#define _GNU_SOURCE 1
#include "contain.h"

#include "HKTPeek.h"

#include <string.h>
#include <ucontext.h>

enum {
  MOST_WORDS = 4096,    // of the stack, innermost first
  LOOKED_AT = 64,       // bytes behind a pointer
};

static bool is_pthread_mutex(const uint32_t *words, uint32_t thread) {
  enum { KINDS = 0x1ff };
  return (words[0] == 1 || words[0] == 2) && words[2] == thread && words[3] >= 1 && words[3] < 10000 && (words[4] & ~(uint32_t)KINDS) == 0;
}

static bool is_pointer(const HKTThread *t, uint64_t word) {
  if (word < 0x10000 || word >= UINT64_C(0x7ffffffff000) || word % 4 != 0) return false;
  return word < t->stack_low || word >= t->stack_high;
}

/// What can be read from there on, at most `room` bytes.
static size_t look(uint64_t at, void *to, size_t room) {
  size_t page = 4096 - at % 4096, size = page < room ? page : room;
  return hkt_peek(at, to, size) ? size : 0;
}

static bool leads_to_mutex(const HKTThread *t, uint64_t at, uint32_t thread) {
  uint32_t words[5];
  return is_pointer(t, at) && look(at, words, sizeof words) == sizeof words && is_pthread_mutex(words, thread);
}

static bool holds_at(const HKTThread *t, uint64_t at, uint32_t thread) {
  uint32_t words[LOOKED_AT / 4] = {0};
  size_t count = look(at, words, sizeof words) / 4;
  for (size_t i = 0; i < count; i++) {
    if (i + 5 <= count && is_pthread_mutex(words + i, thread)) return true;
    uint64_t next;
    if (i % 2 != 0 || i + 2 > count) continue;
    memcpy(&next, words + i, sizeof next);
    if (leads_to_mutex(t, next, thread)) return true;
  }
  return false;
}

bool hkt_holds_lock(const greg_t *registers, const HKTLanding *landing) {
  const HKTThread *t = landing->thread;
  static const int known[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8,
                              REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  uint32_t thread = (uint32_t)t->tid;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    uint64_t word = (uint64_t)registers[known[i]];
    if (is_pointer(t, word) && holds_at(t, word, thread)) return true;
  }
  uint64_t last = 0;
  const uint64_t *from = (const uint64_t *)((uint64_t)registers[REG_RSP] & ~UINT64_C(7)), *end = (const uint64_t *)landing->stack;
  for (int looked = 0; from < end && looked < MOST_WORDS; from++, looked++) {
    uint64_t word = *from;
    if (word == last || !is_pointer(t, word)) continue;
    last = word;
    if (holds_at(t, word, thread)) return true;
  }
  return false;
}
