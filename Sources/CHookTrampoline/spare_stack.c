// spare_stack.c — work of ours that needs more stack than the program's thread may have left runs on one that is made for it.
#define _GNU_SOURCE
#include "spare_stack.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NEEDED = 384 << 10, SPARE = 1 << 20 };

/// The thread is on the stack it was made with, with that much left. Of other stacks (of signals, of coroutines) the end is not known.
static bool has_room(const HKTThread *t) {
  uint64_t here = (uint64_t)__builtin_frame_address(0);
  return here >= t->stack_low && here < t->stack_high && here - t->stack_low >= NEEDED;
}

void hkt_with_room(const HKTThread *t, void (*body)(void *), void *context) {
  if (__builtin_expect(has_room(t), 1)) return body(context);
  size_t guard = (size_t)sysconf(_SC_PAGESIZE);
  char *memory = mmap(NULL, SPARE + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  // The page below faults where the work needs still more.
  bool is_made = memory != MAP_FAILED && mmap(memory, guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory;
  // Without memory for it the work has what is left.
  is_made ? hkt_run_on_stack(body, context, memory + guard + SPARE) : body(context);
  if (memory != MAP_FAILED) munmap(memory, SPARE + guard);
}
