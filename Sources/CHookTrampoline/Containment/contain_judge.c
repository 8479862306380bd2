// Whether a fault may be contained: what faulted, and what the frames between it and the landing are in the middle of.
//
// Runs in a signal handler, on a thread of which anything may be damaged: no allocation, no lock, and a way out of the unwinder.
// Reading the loader's tables (_dl_find_object) takes no lock from glibc 2.35 on; where it is missing, nothing is contained.
#define _GNU_SOURCE 1
#include "contain.h"

#include "HKTPeek.h"
#include "../Dispatch/stack_room.h"

#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

// MARK: The runtime's message

/// Where the runtime keeps the text of a fatal error; it appends to what is there.
static _Atomic(const char *) *message_place;

void hkt_take_message(HKTTrap *trap) {
  trap->message_length = 0;
  const char *text = message_place ? atomic_exchange(message_place, NULL) : NULL;
  if (!text) return;
  char byte;
  uint32_t n = 0;
  while (n < sizeof trap->message && hkt_peek((uint64_t)text + n, &byte, 1) && byte) trap->message[n++] = byte;
  while (n > 0 && (trap->message[n - 1] == '\n' || trap->message[n - 1] == ' ')) n--;
  trap->message_length = n;
}

// MARK: Functions that must not be left

typedef struct Forbidden { uint64_t start; const char *why; } Forbidden;
enum { MOST_FORBIDDEN = 24 };
static Forbidden forbidden[MOST_FORBIDDEN];
static int forbidden_count;

/// Adds a function that may not be left, with the reason; `start` 0: it is not there.
static void forbid(uint64_t start, const char *why) {
  if (start && forbidden_count < MOST_FORBIDDEN) forbidden[forbidden_count++] = (Forbidden){start, why};
}

/// Where a function goes on by a jump, within its first bytes; 0: nowhere.
static uint64_t goes_on(uint64_t function) {
  uint8_t code[32];
  if (!function || !hkt_peek(function, code, sizeof code)) return 0;
  for (int i = 0; i + 5 <= (int)sizeof code; i++) {
    if (code[i] != 0xe9) continue;
    int32_t distance;
    memcpy(&distance, code + i + 1, 4);
    uint64_t target = function + (uint64_t)(i + 5) + (uint64_t)(int64_t)distance;
    // Where a byte of another instruction looks like a jump, no function begins.
    if ((uint64_t)_Unwind_FindEnclosingFunction((void *)(target + 1)) == target) return target;
  }
  return 0;
}

void hkt_judge_prepare(void) {
  static const char *const metadata[] = {
    "swift_getGenericMetadata", "swift_getSingletonMetadata", "swift_checkMetadataState", "swift_getForeignTypeMetadata",
    "swift_getAssociatedTypeWitness", "swift_getAssociatedConformanceWitness", "swift_getWitnessTable", "swift_getOpaqueTypeMetadata",
    "swift_getCanonicalSpecializedMetadata", "swift_getTupleTypeMetadata"};
  _Atomic(const char *) *(*place)(void) = (_Atomic(const char *) *(*)(void))dlsym(RTLD_DEFAULT, "swift_getFatalErrorMessageBuffer");
  if (place) message_place = place();
  static const char once_text[] = "a global or static variable is being initialised, which would never end for others";
  uint64_t once = (uint64_t)dlsym(RTLD_DEFAULT, "swift_once");
  forbid(once, once_text);
  forbid(goes_on(once), once_text);
  for (size_t i = 0; i < sizeof metadata / sizeof *metadata; i++)
    forbid((uint64_t)dlsym(RTLD_DEFAULT, metadata[i]), "the Swift runtime is making the metadata of a type");
  hkt_changes_prepare();
}

// MARK: Images

typedef enum Kind { UNKNOWN, SWIFT, RUNTIME, C_LIBRARY, LOADER, QUEUES, TASKS, SCRIPTS, HOST, OTHER } Kind;

static bool begins(const char *name, const char *with) { return strncmp(name, with, strlen(with)) == 0; }

/// The image is linked with the Swift runtime.
static bool needs_swift(const struct link_map *image) {
  const char *texts = NULL;
  for (const ElfW(Dyn) *d = image->l_ld; d && d->d_tag != DT_NULL; d++)
    if (d->d_tag == DT_STRTAB) texts = (const char *)d->d_un.d_ptr;
  if (!texts) return false;
  for (const ElfW(Dyn) *d = image->l_ld; d->d_tag != DT_NULL; d++)
    if (d->d_tag == DT_NEEDED && begins(texts + d->d_un.d_val, "libswiftCore.so")) return true;
  return false;
}

static Kind kind_at(uint64_t address) {
  static const struct { const char *name; Kind kind; } known[] = {
    {"libc.so", C_LIBRARY}, {"libc-", C_LIBRARY}, {"libpthread", C_LIBRARY}, {"ld-linux", LOADER}, {"libdispatch", QUEUES},
    {"libBlocksRuntime", QUEUES}, {"libswift_Concurrency", TASKS}, {"liblua", SCRIPTS}, {"libswiftCore", RUNTIME},
    {"libScriptHost", HOST}, {"libscripthost", HOST}};
  struct dl_find_object found;
  if (!_dl_find_object || _dl_find_object((void *)address, &found) != 0 || !found.dlfo_link_map) return UNKNOWN;
  const char *path = found.dlfo_link_map->l_name, *slash = path ? strrchr(path, '/') : NULL;
  const char *name = slash ? slash + 1 : path ? path : "";
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (begins(name, known[i].name)) return known[i].kind;
  return needs_swift(found.dlfo_link_map) ? SWIFT : OTHER;
}

/// Why a frame of such code may not be left; NULL where it may.
static const char *why_not(Kind kind) {
  switch (kind) {
    case SWIFT: case RUNTIME: case HOST: return NULL;
    case C_LIBRARY: return "the C library is in the middle of something, and may hold a lock";
    case LOADER: return "the loader is at work";
    case QUEUES: return "work of a dispatch queue is in between, which the queue would wait for";
    case TASKS: return "a task's work is in between, which would never end";
    case SCRIPTS: return "a script is at work in between";
    case OTHER: return "a library that is not Swift's is in between, and may hold a lock";
    case UNKNOWN: return "code that belongs to no library is in between";
  }
  return NULL;
}

// MARK: Frames

typedef struct Walk {
  uint64_t from, landing_stack;
  bool is_behind, has_left_library, is_abort;
  int32_t count;
  const char *reason;
  bool has_arrived;
  const HKTThread *thread;
  HKTTrap *trap;
  HKTCodeLocks *locks;
  HKTChanges *changes;     // NULL: nothing is
  HKTChangingFrame frame;  // the one that was visited last: where it ends the next one tells
} Walk;

enum { MOST_FRAMES = 200000 };

/// Why the frame may not be left; NULL where it may.
static const char *reason_of(Walk *w, struct _Unwind_Context *context, uint64_t counter) {
  Kind kind = kind_at(counter - 1);
  // An abort of the runtime's comes by the C library's own functions.
  if (w->is_abort && !w->has_left_library) {
    if (kind == C_LIBRARY) return NULL;
    w->has_left_library = true;
    if (kind != RUNTIME) return "it was not the Swift runtime that gave up";
  }
  uint64_t start = (uint64_t)_Unwind_GetRegionStart(context);
  for (int i = 0; i < forbidden_count; i++)
    if (start == forbidden[i].start) return forbidden[i].why;
  return why_not(kind);
}

/// libgcc's, which its header leaves out: the record of the function at an address, and where that begins.
struct dwarf_eh_bases { void *text, *data, *function; };
extern const void *_Unwind_Find_FDE(void *, struct dwarf_eh_bases *);

uint64_t hkt_end_of_function(uint64_t address, uint64_t *start) {
  struct dwarf_eh_bases bases = {0};
  const uint8_t *record = _Unwind_Find_FDE((void *)address, &bases);
  if (!record) return 0;
  // Records of the usual form: {length, cie, start, size}, each 32 bits.
  uint32_t words[4];
  memcpy(words, record, sizeof words);
  uint64_t begins = (uint64_t)record + 8 + (uint64_t)(int64_t)(int32_t)words[2];
  if (begins != (uint64_t)bases.function || words[3] == 0 || address - begins >= words[3]) return 0;
  if (start) *start = begins;
  return begins + words[3];
}

/// The frame that was visited last ends where the next one begins.
static const char *judge_last(Walk *w, uint64_t high) {
  w->frame.high = high;
  return w->changes && hkt_is_amid_change(w->changes, &w->frame) ? "an array is being changed in place, and parts of it would be missing or released twice" : NULL;
}

static void look_at(Walk *w, struct _Unwind_Context *context, uint64_t counter, bool is_return) {
  Kind kind = kind_at(counter - is_return);
  w->frame = (HKTChangingFrame){
    .start = (uint64_t)_Unwind_GetRegionStart(context), .end = hkt_end_of_function(counter - is_return, NULL), .counter = counter, .low = (uint64_t)_Unwind_GetCFA(context),
    .is_return = is_return, .is_swift = kind == SWIFT || kind == RUNTIME, .is_library = kind == RUNTIME};
  // Of code of the program: the runtime ends what it locks before it calls.
  if (w->frame.start && kind == SWIFT) hkt_read_code_locks(w->locks, w->thread, w->frame.start, w->frame.end);
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *opaque) {
  Walk *w = opaque;
  uint64_t counter = _Unwind_GetIP(context);
  if (!w->is_behind) {
    w->is_behind = counter == w->from;
    if (w->is_behind) look_at(w, context, counter, false);
    return _URC_NO_REASON;
  }
  w->reason = judge_last(w, (uint64_t)_Unwind_GetCFA(context));
  if (w->reason) return _URC_END_OF_STACK;
  if (counter == (uint64_t)hkt_landing_returns_here) {
    w->has_arrived = (uint64_t)_Unwind_GetCFA(context) == w->landing_stack;
    return _URC_END_OF_STACK;
  }
  if (!counter || ++w->count > MOST_FRAMES) return _URC_END_OF_STACK;
  if (w->trap->frame_count < HKT_TRAP_FRAMES) w->trap->frame[w->trap->frame_count++] = counter;
  w->reason = reason_of(w, context, counter);
  if (!w->reason) look_at(w, context, counter, true);
  return w->reason ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static __thread sigjmp_buf *way_out __attribute__((tls_model("initial-exec")));

/// Why the frames up to the landing may not be left; NULL where they may. Takes their addresses into the trap. Runs in signal handlers.
static const char *judge_frames(uint64_t from, const HKTLanding *landing, bool is_abort, HKTTrap *trap, HKTCodeLocks *locks,
                                HKTChanges *changes) {
  static const char unread[] = "the stack cannot be followed to the call";
  Walk w = {.from = from, .landing_stack = landing->stack, .is_abort = is_abort, .thread = landing->thread, .trap = trap, .locks = locks, .changes = changes};
  trap->frame_count = 0;
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) {
    way_out = NULL;
    return unread;
  }
  way_out = &here;
  _Unwind_Backtrace(visit, &w);
  way_out = NULL;
  return w.reason ? w.reason : w.has_arrived ? NULL : unread;
}

// MARK: The fault

/// Nothing of ours: what others sent, breakpoints.
static const char none[] = "";

/// Why the signal is not one that can be contained, by its kind and the instruction it came from; NULL where it is.
static const char *judge_instruction(int signal, const siginfo_t *info, uint64_t counter) {
  if (signal == SIGABRT) {
    if (info->si_code != SI_TKILL || info->si_pid != getpid()) return none;
    return message_place && atomic_load(message_place) ? NULL : "it was not the Swift runtime that gave up";
  }
  if (info->si_code <= 0 || signal == SIGTRAP) return none;
  uint8_t code[3] = {0};
  if (signal == SIGILL && (!hkt_peek(counter, code, 3) || !((code[0] == 0x0f && code[1] == 0x0b) || (code[0] == 0x67 && code[1] == 0x0f && code[2] == 0xb9))))
    return "the instruction is no trap of the compiler";
  Kind kind = kind_at(counter);
  if (kind == HOST) return "ScriptHost itself was at work";
  return why_not(kind);
}

/// The fault is an overflow of the stack: `stack`, or the address, is near the end of it.
static bool is_overflow(const HKTThread *t, const siginfo_t *info, uint64_t stack) {
  enum { NEAR = 64 << 10 };
  uint64_t address = (uint64_t)info->si_addr;
  uint64_t low, high;
  hkt_stack_bounds(t, stack, &low, &high);
  if (stack >= low && stack - low < NEAR) return true;
  return address < low + 4096 && address + (1 << 20) > low;
}

const char *hkt_judge(int signal, const siginfo_t *info, const void *opaque, const HKTLanding *landing, HKTTrap *trap) {
  if (way_out) siglongjmp(*way_out, 1);
  const greg_t *registers = ((const ucontext_t *)opaque)->uc_mcontext.gregs;
  uint64_t counter = (uint64_t)registers[REG_RIP], stack = (uint64_t)registers[REG_RSP];
  // A landing above which the stack has gone back was left.
  if ((uint64_t)landing < stack) return none;
  const char *reason = judge_instruction(signal, info, counter);
  if (reason) return reason;
  if ((signal == SIGSEGV || signal == SIGBUS) && is_overflow(landing->thread, info, stack)) return "the stack is full";
  if (hkt_scripts_at_work && hkt_scripts_at_work() != landing->scripts) return "a handler of a script is at work in between";
  HKTCodeLocks locks = {0};
  reason = hkt_moved_out(landing);
  if (reason) return reason;
  HKTChanges *changes = NULL;
  if (*landing->accesses != landing->open_accesses) {
    // The stack for signals may be a small one of the program's own.
    changes = mmap(NULL, sizeof *changes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (changes == MAP_FAILED) return "there is no memory to look at what is being changed";
    hkt_note_changes(changes, landing, registers);
  }
  reason = judge_frames(counter, landing, signal == SIGABRT, trap, &locks, changes);
  if (changes) munmap(changes, sizeof *changes);
  if (reason) return reason;
  return locks.is_held || hkt_holds_lock(registers, landing, locks.has_word_locks) ? "a lock is held that the frames in between know of, and it would stay taken" : NULL;
}
