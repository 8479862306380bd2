// Contained calls: the landing is made, the body runs, and after a trap the thread's records are what they were.
//
// Invariants
//   1. A landing lies on the stack of its hkt_contain and is unlinked before that returns. One that is left by longjmp is dropped by the
//      next, and never landed at: the judgement finds each landing among the frames of the fault.
//   2. Only the thread itself reads and writes its landings.
#define _GNU_SOURCE 1
#include "contain.h"

#include "../Dispatch/layer_sets.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(HKTLanding, stack) == 0 && offsetof(HKTLanding, frame) == 8, "contain_x86_64.S reads them there");
_Static_assert(offsetof(HKTLanding, mxcsr) == 16 && offsetof(HKTLanding, x87_control) == 20, "contain_x86_64.S reads them there");

uint64_t (*hkt_scripts_at_work)(void);

// MARK: The list of open accesses

// The runtime keeps it in a word of its thread-local memory: {address, code, next}, newest first. An access of ours, begun on memory of
// our own, is at its head.

static void (*begin_access)(const void *, void *, uintptr_t, const void *);
static void (*end_access)(void *);

typedef struct Block {
  const void *inside;  // an address in the image
  uint64_t *words;     // this thread's block of the image
  size_t count;
} Block;

static int find_block(struct dl_phdr_info *info, size_t size, void *opaque) {
  (void)size;
  Block *block = opaque;
  bool is_it = false;
  size_t bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && (uintptr_t)block->inside - (info->dlpi_addr + p->p_vaddr) < p->p_memsz) is_it = true;
    if (p->p_type == PT_TLS) bytes = p->p_memsz;
  }
  if (!is_it) return 0;
  block->words = info->dlpi_tls_data;
  block->count = bytes / sizeof(uint64_t);
  return 1;
}

/// For threads whose list was looked for and not found: nothing is contained there.
static uint64_t unknown_list;
/// For processes that keep no list: what is noted and put back is nothing.
static uint64_t no_list;

/// Where this thread's list begins.
static uint64_t *find_accesses(void) {
  if (!begin_access || !end_access) return &unknown_list;
  static char place[8];
  uint64_t record[4] = {0};
  enum { TRACKED_READ = 0x20 };
  begin_access(place, record, TRACKED_READ, NULL);
  if (!record[0]) return &no_list;
  Block block = {(const void *)(uintptr_t)begin_access, NULL, 0};
  dl_iterate_phdr(find_block, &block);
  uint64_t *found = &unknown_list;
  for (size_t i = 0; block.words && i < block.count; i++)
    if (block.words[i] == (uint64_t)record) found = &block.words[i];
  end_access(record);
  return found;
}

void hkt_contain_prepare(uint64_t (*depth_of_scripts)(void)) {
  static atomic_flag is_done = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&is_done)) return;
  hkt_scripts_at_work = depth_of_scripts;
  // The runtime's own entry points, as compilers call them.
  begin_access = (void (*)(const void *, void *, uintptr_t, const void *))dlsym(RTLD_DEFAULT, "swift_beginAccess");
  end_access = (void (*)(void *))dlsym(RTLD_DEFAULT, "swift_endAccess");
  hkt_judge_prepare();
}

// MARK: One call

void __asan_handle_no_return(void) __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void *, size_t) __attribute__((weak));

/// The sanitizer forgets what it noted of the frames that were left. By itself it does so from the stack pointer of today upwards, as for
/// those who leave by longjmp and tell it before.
static void forget_frames(const HKTLanding *l) {
  enum { RED_ZONE = 128 };
  uint64_t here = (uint64_t)__builtin_frame_address(0), from = l->deepest - RED_ZONE;
  if (__asan_handle_no_return) __asan_handle_no_return();
  if (__asan_unpoison_memory_region && l->deepest && from < here) __asan_unpoison_memory_region((void *)from, here - from);
}

/// Landings below the frame were left.
static void drop_left(HKTThread *t, const void *frame) {
  while (t->landing && (const void *)t->landing < frame) t->landing = t->landing->up;
}

/// Notes how the thread stands, so that it can be put back when what the landing contains is left.
static void note(HKTLanding *l, HKTThread *t, HKTTrap *trap) {
  l->up = t->landing;
  l->thread = t;
  l->trap = trap;
  l->scripts = hkt_scripts_at_work ? hkt_scripts_at_work() : 0;
  l->top = t->top;
  l->unseen = t->unseen;
  l->host = t->host;
  l->at_work = t->at_work;
  l->protected_count = t->protected_count;
  l->handler = t->handler;
  l->windows = hkt_windows();
  l->deepest = 0;
  l->accesses = t->accesses;
  l->open_accesses = *t->accesses;
  l->has_outermost = atomic_load_explicit(&t->outermost, memory_order_relaxed) != NULL;
}

/// Puts back what calls that were left have changed.
static void restore(const HKTLanding *l) {
  HKTThread *t = l->thread;
  if (t->protected_count > l->protected_count) hkt_release_layers(t, NULL, l->protected_count);
  if (!l->has_outermost && atomic_load_explicit(&t->outermost, memory_order_relaxed)) hkt_release_outermost(t);
  t->top = l->top;
  t->unseen = l->unseen;
  t->host = l->host;
  t->at_work = l->at_work;
  t->handler = l->handler;
  t->forwarded.from = NULL;
  hkt_windows_set(l->windows);
  *l->accesses = l->open_accesses;
}

bool hkt_contain(void (*body)(void *), void *context, HKTTrap *trap) {
  trap->signal = 0;
  HKTThread *t = hkt_thread();
  if (t && !t->accesses) t->accesses = find_accesses();
  if (!t || t->accesses == &unknown_list) {
    body(context);
    return true;
  }
  drop_left(t, __builtin_frame_address(0));
  HKTLanding landing;
  note(&landing, t, trap);
  t->landing = &landing;
  int32_t status = hkt_land_call(&landing, body, context);
  t->landing = landing.up;
  if (status == 0) return true;
  forget_frames(&landing);
  restore(&landing);
  return false;
}

typedef struct Invocation { HKTFrame *frame; void *target; size_t stack_bytes; } Invocation;

static void invoke(void *context) {
  Invocation *i = context;
  hkt_invoke(i->frame, i->target, i->stack_bytes);
}

bool hkt_invoke_contained(HKTFrame *frame, void *target, size_t stack_bytes, HKTTrap *trap) {
  Invocation invocation = {frame, target, stack_bytes};
  return hkt_contain(invoke, &invocation, trap);
}

static void call_program(void *context) {
  Invocation *i = context;
  hkt_call_program(i->frame, i->target, i->stack_bytes);
}

bool hkt_call_program_contained(HKTFrame *frame, void *target, size_t stack_bytes, HKTTrap *trap) {
  Invocation invocation = {frame, target, stack_bytes};
  return hkt_contain(call_program, &invocation, trap);
}

static void proceed(void *call) { hkt_call_proceed(call); }

bool hkt_call_proceed_contained(HKTCall *call, HKTTrap *trap) {
  uint32_t index = call->index, state = call->state;
  if (hkt_contain(proceed, call, trap)) return true;
  call->index = index;
  call->state = state;
  // As the trampoline had it: a call that is answered leaves no error of a layer below, and gives self back.
  call->frame->results.error = call->frame->error_register;
  call->frame->results.self_register = call->frame->self_register;
  return false;
}

bool hkt_is_contained(void) {
  HKTThread *t = hkt_thread_if_known();
  if (!t || !t->landing) return false;
  drop_left(t, __builtin_frame_address(0));
  // One that was left, and lies above the frames of today: what its body returned to is written over.
  while (t->landing && *(const uint64_t *)(t->landing->stack - 8) != (uint64_t)hkt_landing_returns_here) t->landing = t->landing->up;
  return t->landing != NULL;
}

void hkt_fall(const HKTTrap *trap) {
  if (!hkt_is_contained()) return;
  HKTLanding *landing = hkt_thread_if_known()->landing;
  *landing->trap = *trap;
  landing->deepest = (uint64_t)__builtin_frame_address(0);
  hkt_land(landing);
}

// MARK: The signal

static __thread const char *refusal __attribute__((tls_model("initial-exec")));
const char *hkt_recover_refusal(void) { return refusal; }

bool hkt_recover(int signal, void *details, void *opaque) {
  const siginfo_t *info = details;
  HKTThread *t = hkt_thread_if_known();
  refusal = NULL;
  if (!t || !t->landing) return false;
  HKTLanding *landing = t->landing;
  HKTTrap *trap = landing->trap;
  int saved_errno = errno;
  const char *reason = hkt_judge(signal, info, opaque, landing, trap);
  errno = saved_errno;
  if (reason) {
    refusal = *reason ? reason : NULL;
    return false;
  }
  ucontext_t *context = opaque;
  greg_t *registers = context->uc_mcontext.gregs;
  trap->code = info->si_code;
  trap->address = signal == SIGSEGV || signal == SIGBUS ? (uint64_t)info->si_addr : 0;
  trap->counter = (uint64_t)registers[REG_RIP];
  hkt_take_message(trap);
  trap->signal = signal;
  landing->deepest = (uint64_t)registers[REG_RSP];
  registers[REG_RSP] = (greg_t)landing->stack;
  registers[REG_RBP] = (greg_t)landing->frame;
  registers[REG_RDI] = (greg_t)landing;
  context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)hkt_landing_place;
  return true;
}
