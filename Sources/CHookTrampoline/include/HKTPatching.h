// HKTPatching — diverting bodies: prepare a site, install it, take it out again.
//
// A site goes through three states:
//
//   prepare    a stub and a moved copy of the body's first instructions exist; no
//              byte of the program has changed
//   install    the body's first five bytes are a jump to the stub
//   unpatch    the body's first bytes are what they were; stub and site live on
//
// Whether calls reach the handler is a separate matter: the stub jumps to
// site->entry, which hkt_enable and hkt_disable swap. A prepared site is disabled.
//
// All functions may be called from any thread and serialise among themselves,
// except inside signal handlers. None of them allocates with malloc.
#ifndef HKT_PATCHING_H
#define HKT_PATCHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdint.h>

struct HKTSite;

/// Bytes that are overwritten at a body's entry: a jump with a 32-bit displacement.
#define HKT_DIVERSION_SIZE 5
/// The longest window: four bytes and an instruction of fifteen.
#define HKT_WINDOW_MAX 19

/// Why a body cannot be diverted, or a transaction was undone.
/// The words for each are in HookRuntime/Model/InterceptRefusal.swift.
typedef enum HKTReason : int32_t {
  HKT_OK = 0,

  // About the body (hkt_prepare).
  /// Five bytes do not fit before the next symbol, or what follows the body is not padding. value: bytes there are.
  HKT_TOO_SHORT,
  /// `address` holds no instruction the decoder knows.
  HKT_UNDECODABLE,
  /// The instruction at `address` jumps to `value`, which lies inside the window.
  HKT_JUMP_INTO_WINDOW,
  /// The instruction at `address` jumps back to the body's first byte: a loop would look like calls.
  HKT_JUMP_TO_ENTRY,
  /// Memory at `address` differs from the file: someone else changed the code. value: the byte found, expected: the file's.
  HKT_DIFFERS_FROM_FILE,
  /// The instruction at `address` refers to `value`, out of reach of any stub space there is.
  HKT_OPERAND_OUT_OF_REACH,
  /// The call at `address` returns into the five bytes a diversion overwrites.
  HKT_CALL_RETURNS_INTO_WINDOW,
  /// The instruction at `address` has no equivalent at another place.
  HKT_UNMOVABLE,
  /// The window has code behind an unconditional jump, and the body has jump tables that may reach it.
  HKT_HIDDEN_JUMP_TARGET,
  /// The window holds a call, and the processor checks return addresses (shadow stack).
  HKT_SHADOW_STACK,
  /// No free address range for stubs within reach of the body. error: the last errno.
  HKT_NO_STUB_SPACE,
  /// The kernel gave no memory. error: errno.
  HKT_NO_MEMORY,

  // About the process (install, unpatch, probe).
  /// Writing code is not permitted here. error: errno, or 0 when the write had no effect.
  HKT_CODE_NOT_WRITABLE,
  /// Processors cannot be synchronised (membarrier). error: errno.
  HKT_NO_MEMBARRIER,
  /// Every real-time signal is in use.
  HKT_NO_FREE_SIGNAL,
  /// The task list of the process cannot be read. error: errno.
  HKT_NO_TASK_LIST,
  /// Thread `thread` did not answer in time.
  HKT_THREAD_SILENT,
  /// Thread `thread` blocks SIGTRAP: it would die on the temporary breakpoint.
  HKT_THREAD_BLOCKS_TRAP,
  /// The bytes at `address` are not the ones this site left there. value: found, expected: ours (first 8 bytes, little-endian).
  /// `body` 0: the word of a slot.
  HKT_CHANGED_ELSEWHERE,
  /// Two sites of one transaction, `address` and `value`, overlap.
  HKT_OVERLAP,
  /// Undoing a failed transaction failed as well; diverted bodies keep working through the trap handler. error: errno.
  HKT_NOT_UNDONE,

  // About the word of a slot (hkt_prepare_slot, hkt_write_slots).
  /// There is no memory at `address`, or it is not a word's.
  HKT_NO_WORD,
  /// The word at `address` cannot be changed here. error: errno, or 0 when others share its memory or run it.
  HKT_WORD_NOT_WRITABLE,
} HKTReason;

/// The facts of a refusal. Fields a reason does not mention are 0.
typedef struct HKTRefusal {
  HKTReason reason;
  int32_t error;
  int32_t thread;
  char thread_name[16];
  uint64_t body;
  uint64_t address;
  uint64_t value;
  uint64_t expected;
} HKTRefusal;

/// A body as the symbol table tells it.
typedef struct HKTBody {
  uint64_t address;
  /// Bytes, as the symbol says.
  uint64_t size;
  /// Bytes up to the next symbol or the end of the section, at least `size`; 0 means `size`.
  uint64_t available;
  /// `size` bytes from the image's file, or NULL to trust memory.
  const uint8_t *file_bytes;
} HKTBody;

/// Makes the site of a body, or answers the one made earlier for the same address. NULL with the facts in `refusal`.
struct HKTSite *hkt_prepare(const HKTBody *body, HKTRefusal *refusal);

/// The site prepared for a body's address, or NULL. Safe in signal handlers.
struct HKTSite *hkt_find_site(uint64_t body);

/// How a transaction went, for reports and tests.
typedef struct HKTTransactionReport {
  uint32_t live;             // 1: other threads existed and were synchronised
  uint32_t threads_signaled; // rendezvous signals sent
  uint32_t threads_asleep;   // threads found outside every window without a signal
  uint32_t counters_moved;   // program counters moved out of windows
  uint32_t traps;            // calls that met the temporary breakpoint (so far, this process)
  uint64_t nanoseconds;
} HKTTransactionReport;

/// Writes the diversions of all sites, or of none. Sites already installed and sites of slots are left alone. `report` may be NULL.
bool hkt_install(struct HKTSite *const *sites, size_t count, HKTRefusal *refusal, HKTTransactionReport *report);

/// Restores the original bytes of all sites, or of none. Sites that are not installed and sites of slots are left alone. `report` may be NULL.
bool hkt_unpatch(struct HKTSite *const *sites, size_t count, HKTRefusal *refusal, HKTTransactionReport *report);

/// Whether the body's first bytes are this site's diversion, by this process's books. Never for sites of slots.
bool hkt_is_installed(const struct HKTSite *site);
/// False, with the facts, when the body was diverted and someone else has changed its first bytes since. Bytes that are the
/// original's again are nobody's: the next hkt_install diverts the body anew.
bool hkt_check_site(const struct HKTSite *site, HKTRefusal *refusal);

/// Routes calls of the site through the trampoline to site->handler, which must be set before. A single store.
void hkt_enable(struct HKTSite *site);
/// Counts how often a site was enabled, of all there are: what was noted at a lower count was noted before.
uint64_t hkt_enabling_time(void);
/// Routes calls of the site to the original. A single store; calls already inside the handler finish there.
void hkt_disable(struct HKTSite *site);
/// Whether calls go through the trampoline.
bool hkt_is_enabled(const struct HKTSite *site);

/// How long a live transaction waits for the threads, in milliseconds (default 1000).
void hkt_set_rendezvous_timeout(uint32_t milliseconds);

/// What this process permits, found by trying on our own memory.
typedef struct HKTProbe {
  HKTRefusal code_write;     // HKT_OK: code can be written
  HKTRefusal stub_space;     // HKT_OK: executable stubs can be made (near this library)
  HKTRefusal live;           // HKT_OK: bodies can be diverted while threads run
  bool stubs_in_memfd;       // false: private memory, written like code
  bool deny_write_execute;   // PR_SET_MDWE is on
  bool shadow_stack;         // the processor checks return addresses
  int32_t rendezvous_signal; // the signal a live transaction uses, 0 if none chosen yet
} HKTProbe;

/// Tries everything once and reports. Changes nothing that stays, except one private page of stub space.
void hkt_probe(HKTProbe *probe);

/// Totals since the start of the process.
typedef struct HKTTotals {
  uint64_t sites, installed, stub_bytes, arenas, record_bytes;
} HKTTotals;
void hkt_totals(HKTTotals *totals);

/// What an instruction does to the program counter.
typedef enum HKTCourse : uint8_t {
  HKT_COURSE_NEXT,           // goes on with the next instruction
  HKT_COURSE_JUMP,           // jmp rel8/rel32
  HKT_COURSE_CONDITIONAL,    // jcc rel8/rel32
  HKT_COURSE_COUNTER,        // loop, loope, loopne, jrcxz: rel8 only
  HKT_COURSE_CALL,           // call rel32
  HKT_COURSE_CALL_INDIRECT,  // call reg/mem
  HKT_COURSE_JUMP_INDIRECT,  // jmp reg/mem
  HKT_COURSE_RETURN,         // ret
  HKT_COURSE_TRAP,           // ud2, hlt: never goes on
  HKT_COURSE_BREAKPOINT,     // int3
  HKT_COURSE_UNMOVABLE,      // xbegin, far transfers: no equivalent at another place
} HKTCourse;

/// An instruction's length and where it goes.
typedef struct HKTQuickDecode {
  uint8_t length;
  HKTCourse course;
  uint8_t opcode;       // its last byte
  uint8_t relative_at;  // where four bytes say at which distance from rip an operand lies; 0: there is none
  int32_t distance;     // of direct jumps and calls: from the next instruction
} HKTQuickDecode;

/// Looks at an instruction of which `left` bytes may be read: a fraction of what decoding costs. False where it is for the decoder:
/// what compilers rarely write, and everything that may be no instruction.
bool hkt_quick_decode(const uint8_t *code, uint64_t left, HKTQuickDecode *seen);
/// Where the first instruction from offset `from` on is that goes to one of the first `window` bytes, that jumps to where an operand
/// says, or that the quick decoder does not tell; `size` where there is none.
uint64_t hkt_quick_decode_over(const uint8_t *code, uint64_t from, uint64_t size, uint32_t window);

/// A window moved to another place, for tools and tests that check the relocator: nothing is written anywhere.
typedef struct HKTMovedWindow {
  uint32_t window;            // bytes of the body that were moved (or overwritten padding)
  uint32_t length;            // bytes of the moved code
  uint32_t count;             // instructions moved
  uint8_t from[8];            // offset of each instruction in the body
  uint8_t to[8];              // offset of its copy in the moved code
  uint8_t bytes[160];
} HKTMovedWindow;

/// Moves the window of `body` as if its copy were placed at `destination`.
bool hkt_move_window(const HKTBody *body, uint64_t destination, HKTMovedWindow *moved, HKTRefusal *refusal);

/// The kernel calls that may fail, replaceable by tests. Never NULL.
typedef struct HKTSystem {
  void *(*map)(void *address, size_t length, int protection, int flags, int fd, long offset);
  int (*memfd)(const char *name, unsigned flags);
  int (*open_code)(const char *path, int flags);
  long (*write_code)(int fd, const void *bytes, size_t count, long offset);
  int (*protect)(void *address, size_t length, int protection);
} HKTSystem;
extern HKTSystem hkt_system;

#endif
