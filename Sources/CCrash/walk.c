// Who called whom: the return addresses on a stack.
//
// The crashed thread asks the unwinder, which knows frames without frame pointers; it runs behind a way out, for what it reads may be
// damaged. Where it stops, and for other threads, frame pointers are followed with checked reads, and where those end at once, the
// stack is searched for addresses behind call instructions.
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
} Unwinding;

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

int ccrash_walk(const void *opaque, CCrashFrame *frames, int room, bool may_unwind) {
  const ucontext_t *context = opaque;
  const greg_t *registers = context->uc_mcontext.gregs;
  uint64_t counter = (uint64_t)registers[REG_RIP], stack = (uint64_t)registers[REG_RSP];
  frames[0] = (CCrashFrame){counter, stack, 'p'};
  if (may_unwind) {
    Unwinding all = {frames + 1, room - 1, 0, counter, false};
    if (sigsetjmp(way_out, 0) == 0) {
      unwinding_thread = (int32_t)syscall(SYS_gettid);
      _Unwind_Backtrace(note_frame, &all);
    }
    unwinding_thread = 0;
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
