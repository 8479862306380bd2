// Who called whom: the return addresses on a stack.
//
// The crashed thread asks the unwinder, which knows frames without frame pointers; it runs behind a way out, for what it reads may be
// damaged. Where it stops, and for other threads, frame pointers are followed with checked reads, and where those end at once, the
// stack is searched for addresses behind call instructions. Behind the stack of an async function come those that wait for it.
#define _GNU_SOURCE 1
#include "internal.h"

#include <setjmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

static sigjmp_buf way_out;
static volatile int32_t unwinding_thread;

bool ccrash_leave_walk(void) {
  if (!unwinding_thread || unwinding_thread != (int32_t)syscall(SYS_gettid)) return false;
  unwinding_thread = 0;
  siglongjmp(way_out, 1);
}

typedef struct Unwinding {
  CCrashFrame *frames;
  int room;
  volatile int count;
  uint64_t from;
  bool is_behind;  // the handler's own frames are behind
  uint64_t *candidates;  // what the register of async contexts was in each frame, without repetitions
  volatile int candidate_count;
} Unwinding;

enum { CANDIDATES = 32 };

/// Takes one frame of the unwinder. Those up to the one that the signal interrupted are the handler's own.
static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *opaque) {
  Unwinding *all = opaque;
  uint64_t counter = _Unwind_GetIP(context);
  if (!all->is_behind) {
    all->is_behind = counter == all->from;
    return _URC_NO_REASON;
  }
  if (!counter || all->count == all->room) return _URC_END_OF_STACK;
  all->frames[all->count] = (CCrashFrame){counter, _Unwind_GetCFA(context), 'u'};
  all->count++;
  uint64_t register_14 = _Unwind_GetGR(context, 14);
  int known = all->candidate_count;
  if (known < CANDIDATES && (known == 0 || all->candidates[known - 1] != register_14)) {
    all->candidates[known] = register_14;
    all->candidate_count = known + 1;
  }
  return _URC_NO_REASON;
}

static bool follows_call(uint64_t address) {
  uint8_t code[7];
  if (!ccrash_is_code(address - 1) || !ccrash_read(address - 7, code, sizeof code)) return false;
  if (code[2] == 0xe8) return true;
  for (int length = 2; length <= 7; length++)  // call through a register or memory: ff /2
    if (code[7 - length] == 0xff && (code[8 - length] >> 3 & 7) == 2) return true;
  return false;
}

/// Follows frame pointers from `frame` up the stack; answers how many frames it found, at most `room`.
static int follow_pointers(uint64_t frame, uint64_t stack, CCrashFrame *frames, int room) {
  int count = 0;
  while (count < room && frame >= stack && frame % 8 == 0 && frame - stack < (256u << 20)) {
    uint64_t words[2];
    if (!ccrash_read(frame, words, sizeof words) || !ccrash_is_code(words[1])) break;
    frames[count++] = (CCrashFrame){words[1], frame + 16, 'f'};
    words[0] &= ~(UINT64_C(1) << 60);
    if (words[0] <= frame) break;
    frame = words[0];
  }
  return count;
}

/// Looks for return addresses in the words from `stack` on; answers how many it found, at most `room`. What it finds may be stale.
static int search_stack(uint64_t stack, CCrashFrame *frames, int room) {
  enum { WORDS = 64, PIECES = 64 };
  int count = 0;
  stack &= ~UINT64_C(7);
  for (int piece = 0; piece < PIECES && count < room; piece++, stack += WORDS * 8) {
    uint64_t words[WORDS];
    if (!ccrash_read(stack, words, sizeof words)) break;
    for (int i = 0; i < WORDS && count < room; i++)
      if (follows_call(words[i])) frames[count++] = (CCrashFrame){words[i], stack + (uint64_t)i * 8 + 8, 's'};
  }
  return count;
}

/// - candidates: room for what the unwinder finds beside the frames; NULL: it is not asked.
static int walk_stack(const void *opaque, CCrashFrame *frames, int room, uint64_t *candidates, int *candidate_count) {
  const ucontext_t *context = opaque;
  const greg_t *registers = context->uc_mcontext.gregs;
  uint64_t counter = (uint64_t)registers[REG_RIP], stack = (uint64_t)registers[REG_RSP];
  frames[0] = (CCrashFrame){counter, stack, 'p'};
  if (candidates) {
    Unwinding all = {frames + 1, room - 1, 0, counter, false, candidates, 0};
    if (sigsetjmp(way_out, 0) == 0) {
      unwinding_thread = (int32_t)syscall(SYS_gettid);
      _Unwind_Backtrace(note_frame, &all);
    }
    unwinding_thread = 0;
    *candidate_count = all.candidate_count;
    if (all.count >= 2) return all.count + 1;
  }
  // A call to an address that is no code: its return address is the newest word.
  int count = 1;
  uint64_t top;
  if (!ccrash_is_code(counter) && ccrash_read(stack, &top, sizeof top) && follows_call(top)) frames[count++] = (CCrashFrame){top, stack + 8, 's'};
  int followed = follow_pointers((uint64_t)registers[REG_RBP], stack, frames + count, room - count);
  if (followed < 2) followed = search_stack(stack, frames + count, room - count < 24 ? room - count : 24);
  return count + followed;
}

/// Whether this is the context of an async function that others wait for: each context begins with that of who waits and with where
/// that one goes on, and the last one has none. Of anything else the words are no such thing.
static bool is_awaited(uint64_t context) {
  uint64_t link[2];
  for (int links = 0; links < 512; links++) {
    if (context % 8 || !ccrash_read(context, link, sizeof link) || !ccrash_is_code(link[1])) return false;
    if (!link[0]) return links > 0;
    context = link[0];
  }
  return false;
}

/// The context of the innermost async function on a stack: in the register that holds it, as it was in each frame, or below a saved
/// frame pointer. 0: none.
static uint64_t find_context(const greg_t *registers, const uint64_t *candidates, int count) {
  if (is_awaited((uint64_t)registers[REG_R14])) return (uint64_t)registers[REG_R14];
  uint64_t frame = (uint64_t)registers[REG_RBP], stack = (uint64_t)registers[REG_RSP], words[2];  // the context, the saved frame pointer
  for (int depth = 0; depth < 64 && frame >= stack && frame % 8 == 0 && frame - stack < (256u << 20) && ccrash_read(frame - 8, words, sizeof words); depth++) {
    if (is_awaited(words[0])) return words[0];
    if (words[1] <= frame) break;
    frame = words[1];
  }
  for (int i = 0; i < count; i++)
    if (is_awaited(candidates[i])) return candidates[i];
  return 0;
}

int ccrash_walk(const void *opaque, CCrashFrame *frames, int room, bool may_unwind) {
  uint64_t candidates[CANDIDATES], link[2];
  int candidate_count = 0, count = walk_stack(opaque, frames, room, may_unwind ? candidates : NULL, &candidate_count);
  uint64_t context = find_context(((const ucontext_t *)opaque)->uc_mcontext.gregs, candidates, candidate_count);
  while (count < room && context && ccrash_read(context, link, sizeof link) && ccrash_is_code(link[1])) {
    frames[count++] = (CCrashFrame){link[1], context, 'a'};
    context = link[0];
  }
  return count;
}
