// What the shim's files share. Nothing here is for Swift.
//
// Owners:
//   shl_library.c   the dlsym table, stock functions
//   shl_lock.c      the state's lock
//   shl_thread.c    thread records, C stack bounds, the clock
//   shl_memory.c    the allocator: accounting, soft limit, refusals
//   shl_budget.c    the count hook, charging, the kill
//   shl_state.c     open, close, coroutine pool, statistics
//   shl_invoke.c    entering, calling, leaving, error records
//   shl_wait.c      calls that stop in the middle
//   shl_value.c     values to and from Lua, tables, references
//   shl_host.c      where Lua calls the program: host functions, members, call tokens
//   shl_handle.c    handles: one for the same words, queued for release when they are collected
//   shl_register.c  host functions, classes and constants as the program tells of them
//   shl_arguments.c arguments of the call that runs, without a call of the host
//   shl_load.c      source checks and compiling
//   shl_sandbox.c   the allow-list and the environment
//   shl_names.c     the metamethods scripts must not reach
//   shl_base.c shl_coroutine.c shl_match.c shl_string.c shl_table.c   what scripts call
//
// Only frames of these files, of liblua, and of nothing else may be jumped over by a Lua error.
#ifndef SHL_INTERNAL_H
#define SHL_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CLuaShim.h"
#include "Lua/shl_lock.h"
#include "Lua/shl_lua.h"
#include "Lua/shl_thread.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

enum {
  HOOK_COUNT = 1000,        // instructions between looks at the clock
  HOOK_COUNT_LARGE = 100,   // while a block of 64 KiB or more lives: one instruction may take long
  HOOK_COUNT_HUGE = 30,     // while a block of 1 MiB or more lives
  FUEL = 2000,              // library units between looks at the clock
  LARGE = 64 << 10,
  HUGE_BLOCK = 1 << 20,
  HASH_NODE = 24,           // bytes of one node of a table's hash part
  HASH_LOG_MAX = 14,        // larger hash parts are refused: colliding keys make one rehash quadratic
  TABLE_MAX = 1000000,      // longest range a table function walks
  NESTED_UNITS = 200,       // what an entry inside another costs the outer one
  WAIT_UNITS = 1000,        // what waiting costs
  LOOK_TICKS = 4000000,     // about a millisecond: native calls look at the clock when so much has passed
  SORT_MAX = 100000,
  UNPACK_MAX = 10000,
  RESULTS_MAX = 8,
  SLOT_BITS = 20,           // of a call token: so many calls may wait in a state
  SLOT_CONSTANT = (1 << SLOT_BITS) - 1,  // call tokens with this slot are constants
  ERROR_TEXT = 1000,
  RESERVE_BYTES = 128,      // a handle, or a string of up to RESERVE_STRING bytes
  RESERVE_STRING = 96,
  RESERVE_BLOCKS = 16,
  RECENT_MEMBERS = 8,       // of one class: a power of two
  SHORT_NAME = 40,          // longest string that Lua keeps once
  WORK_TEXT = 200,          // of what the host was doing when a call was stopped
  RECENT_TEXTS = 8,         // a power of two
  MOST_PUSHED = 14,         // arguments that fit a coroutine's stack as it is
  NAMED_MAX = 128,          // functions of the host that are made when they are named
  MADE_WORDS = 4,           // bits for these, and for 128 names of the sandbox
  FILTER_WORDS = 16,
};

/// Which limit of time a run passed.
typedef enum SHLCap { SHL_CAP_SCRIPT, SHL_CAP_NATIVE, SHL_CAP_ELAPSED, SHL_CAP_LOOKUPS } SHLCap;

/// One running call into a state. Lives in the SHLInvocation on the host's stack.
typedef struct SHLRun {
  struct SHLRun *outer;     // what this thread was running in this state before
  // In the order of SHLLimits, so that the four are copied by two moves.
  int64_t left;             // instructions left
  int64_t script_ns;        // the thread's time that the script itself may take; negative: no limit of time at all
  int64_t native_ns;        // and with the functions it calls
  int64_t elapsed_ns;       // by the clock on the wall
  int64_t fuel;             // library units until the next look at clock and budget
  // From here to `frame` a run begins with zeros.
  int64_t deadline;         // when one of the three may be over first; 0: the clock was not looked at yet
  uint64_t mark;            // when a native call last looked at the counter, 0: never
  uint64_t given;           // of a root: bytes that functions it called may have kept
  SHLError *error;          // what the message handler collected; `message` holds what the host was doing when the run was stopped
  SHLStatus kill;           // not SHL_OK: sticky, uncatchable
  uint32_t nested;          // of a root: entries below it
  uint8_t cap;              // SHLCap: which limit of time was passed
  bool inherited;           // what stopped it is the outermost's budget
  bool gave_too_much;       // of a root: `given` was passed
  bool is_free;             // away in the original
  bool is_stuck;            // one of the coroutines below the one that runs cannot wait
  bool waits;               // the handler waits, from inside a coroutine of its own
  bool host_works;          // away, and what runs meanwhile is the host's
  void *frame;              // where Lua was entered: what that function's frame pointer holds; NULL where it does not tell
  struct SHLRun *up;        // what this thread was running in any state before; NULL: this is the outermost
  struct SHLRun *root;      // the outermost
  lua_State *L;             // the pooled coroutine
  lua_State *current;       // the coroutine that runs now
  int64_t granted;          // `left` at the start
  int64_t looked_at;        // when the clock was looked at first, by the clock, by the processor's counter, by the thread's own time
  uint64_t looked_ticks;
  int64_t looked_cpu;
  uint64_t exempt_at;       // what the thread had of exempt time then
  uint64_t away_ticks;      // time since then in functions the script called
  uint64_t free_ticks;      // in the original, which runs without the script too
  uint64_t away_since;
  int64_t work_ns[SHL_WORK_KINDS];  // work of the host since then while a script is loaded, by kind
  uint32_t away_depth;      // of the lock, while it is given back
} SHLRun;

/// A coroutine of the pool; stack slot 1 holds the message handler.
typedef struct SHLEntry {
  lua_State *L;
  struct SHLEntry *next;
  SHLRef anchor;
  int32_t hook_count;       // what its hook was set to
  uint32_t slot;            // its own call token slot
  bool doomed;              // not reusable
  int64_t left;             // while it waits: instructions left
  int64_t waited_ns;        // time in functions it waited for
  int64_t waits_since;      // when it began to wait for one; 0: it waits for its original
  uint32_t waits;           // how often it waited for one
  SHLFunction then;         // while it waits: what the function that waits goes on with
  void *then_ctx;
} SHLEntry;

/// A call token's target. Valid while `host` is set and generations match.
typedef struct SHLSlot {
  uint64_t generation;
  void *host;
  uint32_t next;            // free list
} SHLSlot;

/// A host function made known to Lua.
typedef struct SHLHostFunction {
  SHLFunction fn;
  void *ctx;
  int32_t cls;              // receiver class a method demands, -1 for plain functions
  struct SHLHostFunction *next;
  char name[];
} SHLHostFunction;

/// A name looked up in `members` before, by its string object: short ones are there once, and this one for ever. `field` -1: a function.
typedef struct SHLMember { const void *name; int32_t field; } SHLMember;

/// Members that a class was given.
typedef struct SHLMemberList { const SHLNamed *members; int32_t count; void *ctx; struct SHLMemberList *next; } SHLMemberList;

typedef struct SHLClassRecord {
  SHLClass ops;
  uint32_t id;
  SHLRef metatable;         // 0: not made yet, nor what follows
  SHLRef members;           // name -> function or integer id
  SHLMember recent[RECENT_MEMBERS];
  struct SHLMemberList *lists;  // members that its tables are made with
  SHLRef unique;            // weak values: first word -> userdata
  int32_t unique_count;     // made since the table is new
  uint32_t synthesized_method;        // the class whose live handles are given out instead, 0: none
} SHLClassRecord;

typedef struct SHLRelease { uint32_t cls; uint64_t a, b, c; } SHLRelease;
typedef struct SHLPending { struct SHLPending *next; SHLRef ref; } SHLPending;

/// Payload of a handle's userdata. The only full userdata a script can hold.
/// - weight: what goes with it outside of Lua, in units of WEIGHT bytes; part of `outside`.
typedef struct SHLHandle { uint64_t a, b, c; uint32_t cls; uint32_t weight; } SHLHandle;
enum { WEIGHT = 64 };

/// A short string that came twice in a row, in the place that its bytes choose. Kept by `ref`, so that `bytes` stay.
typedef struct SHLText { uint64_t mark; const char *bytes; size_t length; SHLRef ref; } SHLText;

struct SHLState {
  SHLLock lock;
  // hot
  lua_State *main;
  SHLRun *run;                  // what runs now; never NULL while Lua code runs
  SHLEntry *idle;
  int32_t idle_count;
  int32_t hook_count;           // what hooks should be set to now
  SHLSlot *slots;
  uint32_t slot_count, slot_capacity, slot_free;
  SHLLimits limits;
  _Atomic uint64_t invocations;
  // memory
  _Atomic size_t used;
  _Atomic size_t peak;
  _Atomic size_t outside;       // what the program keeps because the script does
  _Atomic uint64_t allocations;
  _Atomic int64_t fail_at;
  int32_t large_blocks, huge_blocks;
  bool over;                    // the limit was passed; the hook will look
  _Atomic bool interrupted;     // somebody asked that what runs stops; any thread, by SHL_READ and SHL_WRITE
  bool refused;                 // the last NULL was a refusal, not a limit
  bool refused_string;
  bool hit_hard;                // the last NULL was the hard limit
  bool unfailing;               // small objects must not fail now: no protected call is around
  int32_t reserve_count;
  void *reserve[RESERVE_BLOCKS];
  // rest
  _Atomic uint64_t kills;
  _Atomic uint64_t instructions;
  _Atomic int32_t entries_made;
  SHLRun idle_run;              // stands in when no call runs
  SHLClassRecord *classes[SHL_CLASS_MAX];
  uint32_t class_count;
  uint32_t arguments_class;     // 0: there is none
  int32_t arguments_member;     // of calls: what answers a handle of that class
  SHLHostFunction *functions;
  const SHLNamed *named;        // functions of the host that are made when a text names them
  int32_t named_count;
  void *named_ctx;
  void (*make_named)(lua_State *L, const SHLNamed *one);  // [-0, +0, m]
  uint64_t made[MADE_WORDS];    // the globals that were made: a bit for each name of the sandbox, then for each of `named`
  uint64_t filter[FILTER_WORDS];  // a bit for each hash that a global's name has, for most words of a text have none of them
  SHLRef methods;               // name -> closure that invokes it
  void *first_block;            // Lua's own block, with the table of event names
  size_t first_size;
  char name_gc[32], name_mode[32], name_call[32];  // what the VM calls __gc, __mode and __call here
  SHLRef call_key;
  const void *call_string;      // the interned name_call
  SHLRef main_synthesized_method;         // what coroutine.running answers outside script coroutines
  SHLRef constants;             // id -> shown text
  SHLText texts[RECENT_TEXTS];
  uint64_t scramble;            // hides addresses in tostring
  int32_t reset_depth;
  SHLSink sink;
  void *sink_ctx;
  SHLRelease *releases;
  int32_t release_count, release_capacity;
  int32_t owning_handles;       // made since the collector was notified
  _Atomic int32_t release_pending;
  _Atomic(SHLPending *) forgotten;
};

/// What an SHLInvocation's reserved words hold.
typedef struct SHLInner {
  SHLRun run;
  SHLEntry *entry;
  SHLThread *thread;
  SHLRun *saved_run;
  bool here;                    // the entry's own call token was given out
} SHLInner;
_Static_assert(sizeof(SHLInner) <= sizeof(((SHLInvocation *)0)->reserved), "SHLInner lives in SHLInvocation.reserved");
/// What is ours of an invocation; the host has room for it in `reserved`.
static inline SHLInner *shl_inner(SHLInvocation *i) { return (SHLInner *)i->reserved; }

/// Every Lua thread's extra space holds its state (new threads copy it from the main one).
static inline SHLState *shl_state_of(lua_State *L) { return *(SHLState **)lua_getextraspace(L); }

// ---- shl_library.c
/// Stock C functions without upvalues, by where scripts find them in the stock library.
typedef struct SHLStock {
  lua_CFunction assert, error, ipairs, next, pairs, rawequal, rawget, rawset, rawlen, select, tonumber, type;
  lua_CFunction byte, char_, format, len, lower, upper, reverse, sub, pack, unpack, packsize;
  lua_CFunction table_pack, utf8_char, utf8_codepoint, utf8_codes, utf8_len, utf8_offset;
  lua_CFunction utf8_step, utf8_step_lax;
  lua_CFunction time, clock, date, difftime, co_status, isyieldable;
  lua_CFunction arithmetic[8];
} SHLStock;
extern SHLStock shl_stock;
extern const char *const shl_arithmetic_names[8];

// ---- shl_lock.h
static inline bool shl_lock(SHLState *S, int64_t wait_ns) { return shl_lock_take(&S->lock, wait_ns); }
static inline __attribute__((always_inline)) void shl_unlock(SHLState *S) { shl_lock_give(&S->lock); }

// ---- shl_memory.c
/// [-0, +0, -] What the handle weighed is gone, or somebody else's.
static inline void shl_lighten(SHLState *S, SHLHandle *h) {
  if (SHL_LIKELY(!h->weight)) return;
  atomic_fetch_sub_explicit(&S->outside, (size_t)h->weight * WEIGHT, memory_order_relaxed);
  h->weight = 0;
}
void *shl_allocate(void *ud, void *ptr, size_t osize, size_t nsize);
bool shl_reserve(SHLState *S);

// ---- shl_budget.c
void shl_hook(lua_State *L, lua_Debug *ar);
_Noreturn void shl_kill(lua_State *L, SHLStatus why);
_Noreturn void shl_rethrow(lua_State *L);
void shl_charge_slow(lua_State *L);
/// [-0, +0, -] Looks at the clock where nothing may be raised: marks the run, and the trampoline stops it.
void shl_look(SHLState *S, SHLRun *run);
/// [-0, +0, -] A run inside another of its thread: it takes part in the outermost's budget.
void shl_inherit(SHLState *S, SHLRun *run);
/// [-0, +0, -] What it used is its outer run's, too.
void shl_settle(SHLRun *run);
/// [-0, +0, e] Charges library work: one unit is about one VM instruction.
static inline void shl_charge(lua_State *L, int64_t units) {
  SHLRun *run = shl_state_of(L)->run;
  if (SHL_UNLIKELY((run->fuel -= units) < 0)) shl_charge_slow(L);
}

// ---- shl_state.c
SHLEntry *shl_entry_make(SHLState *S, lua_State *L);
void shl_entry_drop(SHLState *S, SHLEntry *entry);
/// [-0, +0, -] Back to the pool, or away when it failed or the pool is full. The lock is held.
static inline __attribute__((always_inline)) void shl_entry_give(SHLState *S, SHLEntry *entry, bool failed) {
  if (failed || S->idle_count >= S->limits.pool) {
    shl_entry_drop(S, entry);
    return;
  }
  entry->next = S->idle;
  S->idle = entry;
  S->idle_count++;
}
uint32_t shl_slot_make(SHLState *S);
void shl_drain(SHLState *S);
void shl_drain_forgotten(SHLState *S);

// ---- shl_invoke.c
int shl_message_handler(lua_State *L);
SHLError *shl_error_make(SHLState *S, lua_State *L, SHLStatus status, int index);
SHLStatus shl_classify(SHLState *S, SHLRun *run, int outcome);
size_t shl_escape(char *out, size_t capacity, const char *text, size_t length);
/// [-nargs, +nresults, -] Runs `body` under pcall with the top `nargs` values and then `ud` as a light userdata.
/// On failure nothing is pushed.
int shl_protect(lua_State *L, lua_CFunction body, void *ud, int nargs, int nresults);

/// Takes the lock and `given`, or a coroutine of the pool. On SHL_OK: leave with one of the two below.
SHLStatus shl_enter_with(SHLState *S, const SHLBudget *budget, SHLEntry *given, SHLInvocation *inv);
void shl_leave(SHLInvocation *inv, bool failed);
/// Leaves the coroutine as it is, in nobody's hands.
void shl_leave_waiting(SHLInvocation *inv);
/// [-0, +0, -] Keeps where a failed coroutine failed, which no message handler saw.
void shl_describe_failure(lua_State *L, SHLRun *run);

// ---- shl_wait.c
/// Ends a host function's call by making its coroutine wait. Does not return when it can.
int shl_yield_host(lua_State *L);

/// [-all, +n, e] Calls a host function in the place of one that waited.
int shl_call_host(lua_State *L, SHLFunction fn, void *ctx, void *host);

// ---- shl_coroutine.c
/// Makes the coroutine wait with the handler; what is on its stack stays for `go_on`. Does not return when it can.
int shl_yield_waiting(lua_State *L, lua_KContext context, lua_KFunction go_on);

// ---- shl_value.c
/// [-0, +1, -] Pushes what needs no memory; false: it needs some, or cannot be pushed.
bool shl_push_plain(lua_State *L, SHLState *S, const SHLValue *v);
/// [-0, +1, m] Pushes a string. One of the program's that comes again and again, as names and states do, is not made anew.
void shl_push_bytes(lua_State *L, SHLState *S, const char *bytes, size_t length);
/// [-0, +0, m] Called once while opening.
void shl_texts_open(lua_State *L, SHLState *S);
/// [-0, +1, m] Pushes any value; a bad one is an error.
void shl_push(lua_State *L, SHLState *S, const SHLValue *v);
/// Values that a function is called with; an error says which one cannot be passed. May raise.
void shl_push_arguments(lua_State *L, SHLState *S, const SHLValue *values, int32_t count);
/// [-1, +0, m] Sets a dotted global, making tables on the way. Raw: what scripts put there is not run.
void shl_put_global(lua_State *L, const char *name);
SHLValue shl_read(lua_State *L, int index);
void shl_read_to(lua_State *L, int index, SHLValue *v);
static inline bool shl_is_plain(SHLTag tag) { return tag <= SHL_NUMBER || tag == SHL_CALL || tag == SHL_CONSTANT; }

// ---- shl_host.c
void shl_push_handle(lua_State *L, SHLState *S, const SHLValue *v);
/// [-0, +0, -] A handle that owns something was made: small for Lua, maybe large for the program. The collector is notified of it as of
/// two kilobytes, so that what handles own is let go in proportion to how many were made.
void shl_pace_collector(lua_State *L, SHLState *S);
int shl_collect_handle(lua_State *L);
void shl_host_open(lua_State *L, SHLState *S);
/// [-0, +0, m] What Lua has of a class, made at its first handle or member.
void shl_make_tables(lua_State *L, SHLState *S, SHLClassRecord *c);

// What registration makes closures of. Each tells its upvalues.
int shl_call_function(lua_State *L);
int shl_handle_index(lua_State *L);
int shl_handle_newindex(lua_State *L);
int shl_handle_operation(lua_State *L);
int shl_same_words(lua_State *L);
int shl_plain_handle_text(lua_State *L);
int shl_light_text(lua_State *L);
/// The highest bit is set, which no address has: a handle is never taken for a call.
static inline uint64_t shl_token(uint64_t generation, uint32_t slot) { return 1ull << 63 | generation << SLOT_BITS | slot; }
static inline uint32_t shl_token_slot(uint64_t token) { return token & SLOT_CONSTANT; }
/// What `shl_token` was given, without its highest bits.
static inline uint64_t shl_token_generation(uint64_t token) { return token << 1 >> (SLOT_BITS + 1); }
/// What the token stands for; NULL when the call is over, or it is none.
static inline void *shl_token_host(const SHLState *S, uint64_t token) {
  uint32_t slot = shl_token_slot(token);
  return slot < S->slot_count && shl_token(S->slots[slot].generation, slot) == token ? S->slots[slot].host : NULL;
}

// ---- shl_arguments.c
/// [-0, +0|1, -] (handle, number): the argument. false: it is for the host to tell; nothing was pushed.
bool shl_argument_push(lua_State *L, SHLState *S, uint32_t cls);
/// [-0, +0, -] (handle, number, value): replaces the argument. false: it is for the host to do, or to refuse.
bool shl_argument_change(lua_State *L, SHLState *S, uint32_t cls);

// ---- shl_sandbox.c and what scripts call
void shl_sandbox_open(lua_State *L, SHLState *S);
/// [-0, +0, m] Makes the globals that a text names and that were not made yet; all of them where it names `_G` or `_ENV`.
void shl_make_globals(lua_State *L, SHLState *S, const char *text, size_t length);
/// [-0, +0, -] Texts may name it from now on.
void shl_filter_add(SHLState *S, const char *name);
void shl_names_open(lua_State *L, SHLState *S);
void shl_push_weak_table(lua_State *L, SHLState *S, const char *mode);
void shl_prepare_metatable(lua_State *L, SHLState *S, int index);
void shl_push_text(lua_State *L, int index);  // [-0, +1, e] tostring without addresses
void shl_push_address(lua_State *L, const void *p);  // [-0, +1, m]
const char *shl_check_source(SHLState *S, const char **bytes, size_t *length, char *why, size_t capacity);
int shl_load_text(lua_State *L, const char *bytes, size_t length, const char *chunkname);

int shl_f_getmetatable(lua_State *L), shl_f_setmetatable(lua_State *L), shl_f_pcall(lua_State *L),
    shl_f_xpcall(lua_State *L), shl_f_print(lua_State *L), shl_f_tostring(lua_State *L), shl_f_tonumber(lua_State *L),
    shl_f_load(lua_State *L), shl_f_collectgarbage(lua_State *L), shl_f_rawequal(lua_State *L), shl_f_select(lua_State *L),
    shl_f_next(lua_State *L), shl_f_pairs(lua_State *L);
int shl_f_create(lua_State *L), shl_f_resume(lua_State *L), shl_f_wrap(lua_State *L), shl_f_yield(lua_State *L),
    shl_f_status(lua_State *L), shl_f_running(lua_State *L), shl_f_isyieldable(lua_State *L);
int shl_f_byte(lua_State *L), shl_f_char(lua_State *L), shl_f_format(lua_State *L), shl_f_lower(lua_State *L),
    shl_f_upper(lua_State *L), shl_f_reverse(lua_State *L), shl_f_sub(lua_State *L), shl_f_rep(lua_State *L),
    shl_f_pack(lua_State *L), shl_f_unpack(lua_State *L), shl_f_packsize(lua_State *L);
int shl_f_find(lua_State *L), shl_f_match(lua_State *L), shl_f_gmatch(lua_State *L), shl_f_gsub(lua_State *L);
int shl_f_concat(lua_State *L), shl_f_insert(lua_State *L), shl_f_remove(lua_State *L), shl_f_move(lua_State *L),
    shl_f_sort(lua_State *L), shl_f_table_unpack(lua_State *L);
int shl_f_utf8_codepoint(lua_State *L), shl_f_utf8_codes(lua_State *L), shl_f_utf8_len(lua_State *L),
    shl_f_utf8_offset(lua_State *L), shl_f_utf8_char(lua_State *L), shl_f_date(lua_State *L);

#pragma GCC visibility pop
#endif
