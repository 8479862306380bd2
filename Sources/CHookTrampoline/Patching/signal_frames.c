// Signal frames on the calling thread's stack.
//
// A thread may be inside another signal's handler when ours arrives; where it
// will go on afterwards is saved further up its stack. Such a frame is known by
// its first word, the return trampoline that the kernel was given at sigaction
// (the C library uses one for all signals; ours is read from our own frame), and
// by a user code segment at the place where the context has one.
#define _GNU_SOURCE
#include "signal_frames.h"

#include "../Dispatch/thread_records.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern void *__libc_stack_end;

/// Where no end of a stack is known (coroutines), this much is looked at.
#define UNKNOWN_STACK (256ul << 10)
/// Handlers interrupting handlers interrupting …
#define MAX_DEPTH 8
#define USER_CODE_SEGMENT 0x33

typedef struct Span {
  uint64_t start, end;
  bool known;  // all of it is mapped
} Span;

/// The part of the stack around `sp` that is in use.
static Span stack_from(uint64_t sp) {
  sp &= ~7ull;
  const HKTThread *t = hkt_this_thread;
  if (t && sp - t->spare_low < t->spare_high - t->spare_low) return (Span){sp, t->spare_high, true};
  stack_t alternate;
  if (sigaltstack(NULL, &alternate) == 0 && !(alternate.ss_flags & SS_DISABLE)) {
    uint64_t base = (uint64_t)alternate.ss_sp, end = base + alternate.ss_size;
    if (sp >= base && sp < end) return (Span){sp, end & ~7ull, true};
  }
  uint64_t top;
  if (syscall(SYS_gettid) == getpid()) top = (uint64_t)__libc_stack_end;
  else __asm__("mov %%fs:0, %0" : "=r"(top));  // glibc puts a thread's descriptor above its stack
  bool plausible = top > sp && top - sp < (1ul << 30);
  return (Span){sp, plausible ? top & ~7ull : sp + UNKNOWN_STACK, plausible};
}

/// Reads the calling process's memory without faulting.
static bool peek(uint64_t address, void *into, size_t size) {
  struct iovec local = {into, size}, remote = {(void *)address, size};
  return syscall(SYS_process_vm_readv, getpid(), &local, 1ul, &remote, 1ul, 0ul) == (long)size;
}

/// The first word in [from, to) that equals `wanted`, 0 when there is none. Stack words of other functions: not for sanitizers.
__attribute__((no_sanitize("address", "thread"))) static uint64_t find_word(uint64_t from, uint64_t to, uint64_t wanted) {
  for (const volatile uint64_t *w = (const volatile uint64_t *)from; (uint64_t)w < to; w++)
    if (*w == wanted) return (uint64_t)w;
  return 0;
}

static uint64_t find_word_carefully(uint64_t from, uint64_t to, uint64_t wanted) {
  uint64_t words[64];
  for (uint64_t at = from; at < to; at += sizeof words) {
    if (!peek(at, words, sizeof words)) return 0;
    uint64_t found = find_word((uint64_t)words, (uint64_t)(words + 64), wanted);
    if (found) return at + (found - (uint64_t)words);
  }
  return 0;
}

/// Reads the context behind the first word of a frame, up to the registers' end.
static bool read_context(uint64_t frame, ucontext_t *copy) {
  return peek(frame + 8, copy, offsetof(ucontext_t, uc_mcontext.fpregs)) && copy->uc_link == NULL &&
         (copy->uc_mcontext.gregs[REG_CSGSFS] & 0xffff) == USER_CODE_SEGMENT;
}

static uint64_t next_frame(uint64_t sp, uint64_t restorer, ucontext_t *copy);

/// On a spare stack there is none further up: the thread came there from its own.
static uint64_t next_on_own(Span span, uint64_t restorer, ucontext_t *copy) {
  const HKTThread *t = hkt_this_thread;
  return t && t->spare_high && span.end == t->spare_high ? next_frame(t->spare_entered, restorer, copy) : 0;
}

/// The nearest signal frame at or above `sp`, 0 when there is none.
static uint64_t next_frame(uint64_t sp, uint64_t restorer, ucontext_t *copy) {
  Span span = stack_from(sp);
  for (uint64_t at = span.start; at < span.end; at += 8) {
    at = span.known ? find_word(at, span.end, restorer) : find_word_carefully(at, span.end, restorer);
    if (!at) break;
    if (read_context(at, copy)) return at;
  }
  return next_on_own(span, restorer, copy);
}

void hkt_each_outer_context(ucontext_t *context, void (*visit)(ucontext_t *)) {
  // The kernel puts the return trampoline right before the context.
  uint64_t restorer = ((uint64_t *)context)[-1], sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
  for (int depth = 0; depth < MAX_DEPTH; depth++) {
    ucontext_t copy;
    uint64_t frame = next_frame(sp, restorer, &copy);
    if (!frame) return;
    visit((ucontext_t *)(frame + 8));
    sp = (uint64_t)copy.uc_mcontext.gregs[REG_RSP];
    // Outer frames lie above, unless the stack was changed in between; never look at one twice.
    if (sp <= frame && stack_from(sp).end == stack_from(frame).end) return;
  }
}
