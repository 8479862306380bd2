// CLuaShim — every C frame a Lua error may jump over, and nothing of Lua beyond it.
//
// A Lua error is a longjmp. Swift frames must never be jumped over: Swift would not
// run the releases and the accesses those frames still owe. So Swift calls only what
// is declared here, none of it raises, and a Swift function called from Lua answers
// with a status that C turns into a Lua error after Swift has returned.
//
// Reading the mark before each function: [-pops, +pushes, raises]
//   pops/pushes  what happens to the Lua stack of the scope (scopes drop it at their end)
//   raises       -  never. Every function of this header ends in "-".
// Inside the shim:  m  only when memory runs out    e  any Lua error
//
// Threads: a state may be used from any thread, one at a time inside; entering takes
// the state's own lock. `shl_unlock_all` gives it back while program code runs.
// "needs scope" = call it between enter/invoke and leave/end, or inside a callback,
// on that thread, while the lock is held.
//
// Lua itself is never linked: `shl_library_open` finds liblua5.4.so.0 at run time.
#ifndef C_LUA_SHIM_H
#define C_LUA_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CFrame.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------- outcomes

/// How a call into a state ended.
typedef enum SHLStatus {
  SHL_OK = 0,
  SHL_ERROR,                ///< the script raised; see the error record
  SHL_SYNTAX,               ///< the source does not compile
  SHL_REFUSED_SOURCE,       ///< binary chunk, UTF-16, NUL byte, too long, too complex
  SHL_KILLED_INSTRUCTIONS,  ///< the instruction budget ran out
  SHL_KILLED_TIME,          ///< the wall-clock budget ran out
  SHL_KILLED_MEMORY,        ///< the state's memory limit was passed
  SHL_NO_MEMORY,            ///< the system had no memory for us
  SHL_BUSY,                 ///< the lock was not free in time; nothing ran
  SHL_STACK_LOW,            ///< too little C stack left on this thread; nothing ran
  SHL_TOO_DEEP,             ///< native re-entry cap reached; nothing ran
  SHL_POISONED,             ///< the state was given up; nothing ran
  SHL_BAD_ARGUMENT,         ///< our caller's mistake: a value that cannot be pushed, a stale reference
  SHL_WAITING,              ///< the call stopped in the middle, see shl_start
  SHL_SLOW_PATH,            ///< no failure: shl_invoke_places leaves the call to shl_invoke; nothing ran
  SHL_STOPPING,             ///< what called it on this thread is being stopped; nothing ran
} SHLStatus;

// ---------------------------------------------------------------- values

typedef enum SHLTag {
  SHL_NIL = 0,
  SHL_BOOL,
  SHL_INT,
  SHL_NUMBER,
  SHL_STRING,    ///< `s`: bytes, any content. From Lua: valid until the scope (callback, invocation) ends
  SHL_HANDLE,    ///< `h` + `cls`: a userdata with three opaque words
  SHL_CALL,      ///< `call`: token of a running call
  SHL_CALL_HERE, ///< to Lua only, `host`: a call token that lives exactly as long as this invocation
  SHL_CONSTANT,  ///< `i`: a named constant (`swift.null`), see shl_constant
  SHL_TABLE,     ///< `slot`: a table on the scope's Lua stack
  SHL_FUNCTION,  ///< `slot`: a function on the scope's Lua stack
  SHL_OTHER,     ///< `slot`: anything else (a coroutine); can be kept or passed on, not looked into
  SHL_REF,       ///< to Lua only, `ref`: any value kept with shl_keep
} SHLTag;

/// One value crossing the border. 32 bytes, plain, owns nothing.
typedef struct SHLValue {
  SHLTag tag;
  uint32_t cls;                                  // SHL_HANDLE: class id
  union {
    bool b;
    int64_t i;
    double n;
    struct { const char *p; size_t n; } s;
    struct { uint64_t a, b, c; } h;
    uint64_t call;
    void *host;
    int32_t slot;
    int32_t ref;
  };
} SHLValue;
_Static_assert(sizeof(SHLValue) == 32, "SHLValue is copied as four words");

static inline SHLValue shl_nil(void) { SHLValue v = {.tag = SHL_NIL}; return v; }
static inline SHLValue shl_bool(bool b) { SHLValue v = {.tag = SHL_BOOL, .b = b}; return v; }
static inline SHLValue shl_int(int64_t i) { SHLValue v = {.tag = SHL_INT, .i = i}; return v; }
static inline SHLValue shl_number(double n) { SHLValue v = {.tag = SHL_NUMBER, .n = n}; return v; }
static inline SHLValue shl_string(const char *p, size_t n) { SHLValue v = {.tag = SHL_STRING, .s = {p, n}}; return v; }
static inline SHLValue shl_handle(uint32_t cls, uint64_t a, uint64_t b, uint64_t c) {
  SHLValue v = {.tag = SHL_HANDLE, .cls = cls, .h = {a, b, c}}; return v;
}
static inline SHLValue shl_call_value(uint64_t token) { SHLValue v = {.tag = SHL_CALL, .call = token}; return v; }
static inline SHLValue shl_call_here(void *host) { SHLValue v = {.tag = SHL_CALL_HERE, .host = host}; return v; }
static inline SHLValue shl_constant_value(int64_t id) { SHLValue v = {.tag = SHL_CONSTANT, .i = id}; return v; }
static inline SHLValue shl_ref_value(int32_t ref) { SHLValue v = {.tag = SHL_REF, .ref = ref}; return v; }

/// A value kept alive in a state's registry. 0 is never a reference.
typedef int32_t SHLRef;

/// What went wrong. Made by the shim with malloc; give it back with shl_error_free.
typedef struct SHLError {
  SHLStatus status;
  bool more_input;       ///< SHL_SYNTAX: the source ended too early; more input would help
  int32_t line;          ///< 1-based line in `source`, 0 when unknown
  char source[128];      ///< chunk name as shown ("hello.lua"), "" when unknown
  char message[1024];    ///< complete: "hello.lua:12: …"; one line, escaped, NUL-ended
  char traceback[2048];  ///< innermost first, one "file:line: in function 'name'" per line, NUL-ended
  bool inherited;        ///< SHL_KILLED_…: what ran out is the budget of the outermost call of the thread, not the call's own
  bool outside;          ///< SHL_KILLED_TIME: in native code that it called
  SHLValue value;        ///< the handle or constant that was raised (SHL_HANDLE, SHL_CONSTANT), else SHL_NIL.
                         ///< A handle is retained by `value_ref` until shl_error_free
  SHLRef value_ref;
} SHLError;

typedef struct SHLState SHLState;

// ---------------------------------------------------------------- library

/// Finds Lua 5.4 (dlopen RTLD_LOCAL, dlsym). NULL when ready, else a static sentence. Any thread; idempotent.
/// `path`: NULL for the system's liblua5.4.so.0; honoured by the first successful call only.
const char *shl_library_open(const char *path);

// ---------------------------------------------------------------- state

/// Limits of one state. 0 in a field means the default shown.
typedef struct SHLLimits {
  size_t memory;               ///< bytes; soft limit, passing it kills the call (16 MiB)
  int64_t call_instructions;   ///< per call (10,000,000); negative: no limit
  int64_t call_ns;             ///< per call: time of the thread without native code (100 ms); negative: no limit of time at all
  int64_t call_native_ns;      ///< per call: time of the thread with the native code it calls, but for the original (1 s)
  int64_t call_elapsed_ns;     ///< per call: by the clock on the wall, but for the original (2 s); it tells a call that waits
  int64_t load_instructions;   ///< loading and running a main chunk (100,000,000)
  int64_t load_ns;             ///< (1 s)
  int64_t load_native_ns;      ///< (60 s)
  int64_t load_elapsed_ns;     ///< (120 s)
  int64_t lock_ns;             ///< how long entering waits for the lock (200 ms); negative: for ever
  size_t source_bytes;         ///< longest source text (128 KiB)
  size_t string_bytes;         ///< longest string (4 MiB)
  size_t stack_bytes;          ///< C stack that must be left on entry (768 KiB)
  int32_t reentry;             ///< native re-entries per thread (1000)
  int32_t pool;                ///< idle coroutines kept (8)
  int64_t fail_allocation;     ///< tests: allocation number n (1-based) and no other fails; 0 none
} SHLLimits;

/// Limits of one call; 0 = the state's, negative = none (`wall_ns`: of the three of time). `lock_ns` 1 = do not wait.
typedef struct SHLBudget {
  int64_t instructions;
  int64_t wall_ns;
  int64_t lock_ns;
} SHLBudget;

/// [-0, +0, -] A new sandboxed state, or NULL with a static sentence in *why. Cost: tens of microseconds.
SHLState *shl_open(const SHLLimits *limits, const char **why);

/// [-0, +0, -] Ends a state. The caller guarantees that no other thread is inside or will enter.
/// Handles not yet collected are released before it returns. A poisoned state is leaked on purpose.
void shl_close(SHLState *state);

/// Gives a state up: every later entry answers SHL_POISONED and nothing in it is touched again. Any thread.
void shl_poison(SHLState *state);
bool shl_is_poisoned(const SHLState *state);

typedef struct SHLStatistics {
  size_t memory;           ///< bytes in use now
  size_t memory_peak;
  uint64_t allocations;    ///< since open (growing blocks count)
  uint64_t invocations;
  uint64_t kills;
  uint64_t instructions;   ///< charged so far, to about a thousand
  int32_t coroutines_made; ///< pool entries ever made
  int32_t releases_pending;
} SHLStatistics;
/// Any thread; figures may be a little old.
SHLStatistics shl_statistics(const SHLState *state);

/// Says whom a thread tells how long it waited for the lock of a state, in ticks of the processor's counter. Once, before states are used.
void shl_report_waits(void (*report)(uint64_t ticks));

/// Tests: the n-th allocation from now fails, once. 0 switches it off.
void shl_fail_allocation(SHLState *state, int64_t n);

/// Where `print` goes: one call per print, text without a newline, capped at 16 KiB. `text` valid during the call.
typedef void (*SHLSink)(void *ctx, const char *text, size_t length, const char *source, int32_t line);
void shl_set_sink(SHLState *state, SHLSink sink, void *ctx);

// ---------------------------------------------------------------- scopes

/// Something that holds the lock and a Lua stack: an invocation or a callback.
typedef struct SHLScope {
  SHLState *state;
  void *L;
} SHLScope;

/// One entry into a state. Lives on the host's stack; do not move it between begin and end.
typedef struct SHLInvocation {
  SHLScope scope;
  int32_t count;            ///< results of the last call (may exceed what was asked for); 0 = returned nothing
  int32_t open;             ///< still holding the lock
  SHLError *error;          ///< what failed, owned by the caller (shl_error_free). NULL on SHL_OK, when nothing ran
                            ///< (SHL_BUSY … SHL_BAD_ARGUMENT: shl_status_text says it all) and when memory ran out
  uint64_t reserved[36];
} SHLInvocation;

/// [-0, +0, -] The hot path: lock, take a pooled coroutine, push function and arguments, call, read results.
///
/// `fn`: from shl_keep or a callback. `args` may hold any tag except stack-bound ones (TABLE, FUNCTION, OTHER).
/// `results`: the first `max_results` values. Strings and tables among them are valid until shl_invoke_end,
/// until then the lock is held: read them and end, run no program code in between. When every result is a
/// scalar the lock is already free on return and shl_invoke_end does nothing, but must be called all the same.
/// `budget` NULL: the state's. On a status other than SHL_OK there is nothing to end (ending is harmless).
SHLStatus shl_invoke(SHLState *state, SHLRef fn, const SHLValue *args, int32_t nargs,
                     SHLValue *results, int32_t max_results, const SHLBudget *budget,
                     SHLInvocation *invocation);
/// The arguments of a native call, in the order Lua gets them.
typedef struct SHLPlaces {
  HKTFrame *frame;          ///< its stack arguments move when the handler of an async call waits
  const HKTValueSlot *slots;
  int32_t count;            ///< at most SHL_MOST_PLACES
} SHLPlaces;
enum { SHL_MOST_PLACES = 13 };

/// [-0, +0, -] As shl_invoke, for the arguments of a native call: the call token of `host`, then what is in each slot, without
/// a detour. SHL_SLOW_PATH: one of them is not to be had this way, or there are too many; nothing ran, and shl_invoke does it.
/// `result`: the first one; NULL: none is wanted, and `count` tells of none. `lock_ns`: how long to wait for the lock; 0: as the state's limits have
/// it; negative: for ever. The other limits are the state's.
SHLStatus shl_invoke_places(SHLState *state, SHLRef fn, void *host, const SHLPlaces *from, SHLValue *result, int64_t lock_ns,
                            SHLInvocation *invocation);

enum { SHL_MOST_STAGED = 8 };
/// What a native call's arguments are for its handler, and what the handler puts in their place, as far as that is bits alone: numbers,
/// Bools, and texts that lie in a Swift String's own two words. It is kept here until the host applies or forgets it.
typedef struct SHLArguments {
  uint64_t serial;          ///< tells the call from all others; handles to its arguments have it as third word
  SHLPlaces from;
  uint64_t borrowed;            ///< bit i: the script has a handle to argument i, which goes on showing what was passed
  bool readable;            ///< the arguments lie at their places
  bool changeable;          ///< and may be replaced here
  uint8_t staged;           ///< bit i: argument i has a new value
  uint64_t bits[SHL_MOST_STAGED][2];
} SHLArguments;

/// [-0, +0, -] Has handles of class `cls` read and changed by numbers without a call of the host where that can be, and the member
/// `member` of calls answer such a handle. From now on each `host` that a call token stands for begins with an SHLArguments.
SHLStatus shl_arguments_class(SHLState *state, uint32_t cls, int32_t member);

/// The slow half of shl_invoke_end.
void shl_invoke_finish(SHLInvocation *invocation);
static inline void shl_invoke_end(SHLInvocation *invocation) {
  if (invocation->open) shl_invoke_finish(invocation);
}

/// [-0, +0, -] Enters without calling anything: a scope to build tables, keep values, register, call.
/// End with shl_invoke_end. The budget spans everything run in the scope.
SHLStatus shl_enter(SHLState *state, const SHLBudget *budget, SHLInvocation *invocation);

void shl_error_free(SHLState *state, SHLError *error);

// ---------------------------------------------------------------- calls that wait

/// A call that stopped in the middle: a coroutine in nobody's hands. Goes on once, or is dropped once.
typedef struct SHLWaiting SHLWaiting;

/// [-0, +0, -] As shl_invoke, for a function that may wait: SHL_WAITING with the rest of the call in *waiting, the lock
/// free and nothing to end. At most 32 arguments.
SHLStatus shl_start(SHLState *state, SHLRef fn, const SHLValue *args, int32_t nargs,
                    SHLValue *results, int32_t max_results, const SHLBudget *budget,
                    SHLInvocation *invocation, SHLWaiting **waiting);
/// [-0, +0, -] Goes on, on any thread, with a budget of its own: what the function that waited named runs and answers in
/// its place. `host` is what call tokens made with SHL_CALL_HERE stand for from now on; while the call waited they
/// stood for nothing. On SHL_BUSY, SHL_STACK_LOW, SHL_TOO_DEEP and SHL_POISONED nothing ran and `waiting` is as it was.
SHLStatus shl_continue(SHLState *state, SHLWaiting *waiting, void *host,
                       SHLValue *results, int32_t max_results, const SHLBudget *budget,
                       SHLInvocation *invocation, SHLWaiting **again);
/// [-0, +0, -] Forgets the rest of a call. Takes the lock.
void shl_drop_waiting(SHLState *state, SHLWaiting *waiting);
/// The status as a lower-case phrase ("stopped: ran too long").
const char *shl_status_text(SHLStatus status);

/// [-0, +0, -] What runs in the state without a limit of time, and what begins to, is stopped at its next instructions; false takes
/// that back. Any thread, without waiting. Code of the program that a script called goes on to its end.
void shl_interrupt(SHLState *state, bool on);

// ---------------------------------------------------------------- loading

/// [-0, +0, -] Checks and compiles `bytes`; a function reference in *ref. `name` is shown in positions ("hello.lua").
/// Runs nothing. *error as in SHLInvocation.
SHLStatus shl_compile(SHLState *state, const char *name, const char *bytes, size_t length,
                      const SHLBudget *budget, SHLRef *ref, SHLError **error);
/// [-0, +0, -] Compiles and runs a main chunk under the load budget; results are dropped.
SHLStatus shl_load(SHLState *state, const char *name, const char *bytes, size_t length,
                   const SHLBudget *budget, SHLError **error);

// ---------------------------------------------------------------- host functions

/// What a host function sees of its call. Valid until it returns.
typedef struct SHLCallback {
  SHLScope scope;
  int32_t argc;            ///< arguments; for methods and handle operations argument 0 is the receiver
  int32_t field;           ///< index/newindex: id given to shl_members for this name, else -1
  void *host;              ///< receiver is a call token: the host pointer of that call
  const char *name;        ///< index/newindex/invoke with a string key: the name, else NULL
  size_t name_length;
  uint64_t reserved[6];
} SHLCallback;

/// A function of the host. Returns >= 0 (what was given to shl_return is the result) or < 0 after shl_fail/shl_raise.
/// It must return normally: it may not jump, and Lua cannot jump through it.
typedef int32_t (*SHLFunction)(void *ctx, SHLCallback *cb);

/// [-0, +0, -] Argument i (0-based); SHL_NIL beyond the end. Never raises, never allocates.
SHLValue shl_arg(SHLCallback *cb, int32_t i);
/// [-0, +0, -] Appends a result (at most 8; more is SHL_BAD_ARGUMENT). Bytes are copied at once.
SHLStatus shl_return(SHLCallback *cb, SHLValue value);
/// [-0, +0, -] The same for a Bool, an integer, a number's bits: in registers, where an SHLValue goes through memory.
SHLStatus shl_return_bits(SHLCallback *cb, SHLTag tag, uint64_t bits);
/// [-0, +0, -] index only: the result is a method of that name; calling it calls the class's `invoke`.
SHLStatus shl_return_method(SHLCallback *cb);
/// [-0, +0, -] The call fails with this text; the position of the Lua caller is put before it. Returns -1, so `return shl_fail(…)`.
int32_t shl_fail(SHLCallback *cb, const char *text, size_t length);
/// [-0, +0, -] The call fails with a value as the error object (a handle made of a Swift error). Returns -1.
int32_t shl_raise(SHLCallback *cb, SHLValue value);
/// [-0, +0, -] The call of this function may wait: it was started with shl_start, not inside a coroutine of the script's
/// own, and no native function stands between.
bool shl_can_wait(SHLCallback *cb);
/// [-0, +0, -] Makes it wait, after it has returned: `return shl_wait(cb, then, ctx)`. `then` answers in its place when the
/// call goes on, with no arguments and the host of the call's token. Only when shl_can_wait.
/// `counts`: what it waits for is its own wish, and is charged to it; false for the original.
int32_t shl_wait(SHLCallback *cb, SHLFunction then, void *ctx, bool counts);
/// [-0, +1, -] Argument i as text, as `tostring` gives it; an error in a metamethod gives the type name. Valid during the callback.
SHLValue shl_arg_text(SHLCallback *cb, int32_t i);
/// [-0, +1, -] The same of any value.
SHLValue shl_value_text(SHLScope *scope, SHLValue value);
/// [-0, +0, -] File and line of the Lua code that called this function; false when not called from Lua.
bool shl_caller(SHLCallback *cb, char *source, size_t capacity, int32_t *line);
/// [-0, +0, -] Replaces the words of the handle in argument i (to expire it, to make it strong).
bool shl_handle_set(SHLCallback *cb, int32_t i, uint64_t a, uint64_t b, uint64_t c);

/// [-0, +0, -] Makes a global function; "log.warn" makes or extends the global table `log`. Needs no scope (takes the lock).
/// `ctx` must outlive the state.
SHLStatus shl_register(SHLState *state, const char *name, SHLFunction fn, void *ctx);
/// A function, or of a class a member that index and newindex know by its number: `fn` is NULL then.
typedef struct SHLNamed { const char *name; SHLFunction fn; int32_t id; } SHLNamed;
/// [-0, +0, -] The same for many, which share their context, once for a state. Each is made when a text names it; the list must outlive the state.
SHLStatus shl_register_all(SHLState *state, const SHLNamed *functions, int32_t count, void *ctx);

// ---------------------------------------------------------------- native code inside a call

/// Gives the lock back completely, whatever its depth, while program code runs. Time until shl_relock counts for the native
/// limit and the elapsed one, and entries on this thread take part in the budget of the call. Between the two: no call with this scope.
typedef struct SHLUnlocked { void *reserved; } SHLUnlocked;
SHLUnlocked shl_unlock_all(SHLScope *scope);
/// As shl_unlock_all, for the original of a call the first time it runs: that would run without the script, so its time counts for nothing and
/// handlers inside it have budgets of their own.
SHLUnlocked shl_unlock_original(SHLScope *scope);
/// [-0, +0, -] For functions of the host that may have taken long: looks at the clock, and has the call stopped when its time is over.
void shl_spent(SHLCallback *cb);

/// Says how to learn of stacks that a thread has beside its own: the bounds of the one that an address is on; false for none. Once, at start.
void shl_set_stack_around(bool (*function)(uintptr_t address, uintptr_t *low, size_t *size));

/// [-0, +0, -] A function of the host has waited longer than a handler may, whoever measured it: has the call stopped when the function returns.
void shl_overdue(SHLCallback *cb);

/// How many calls into states are under way on this thread. May be asked in signal handlers.
uint64_t shl_calls_under_way(void);

/// What the host does for a script that takes longer the larger the program is. In a handler it counts for the native limit. While a script is
/// loaded and is exempt, it has limits of its own: SHL_LOAD_LOOKUPS_NS for all lookups of a load, the native limit for all hooks.
typedef enum SHLWork { SHL_WORK_LOOKUP, SHL_WORK_HOOKS, SHL_WORK_KINDS } SHLWork;
#define SHL_LOAD_LOOKUPS_NS 10000000000

/// [-0, +0, -] Such work begins on this thread. False: no script is charged for it, or it is part of one that was begun; do not end it.
bool shl_work_begin(int32_t kind);
/// [-0, +0, -] Asked every few hundred steps: the time of the call is over. It is stopped when the host function returns; the work is to be given up.
bool shl_work_is_over(void);
/// [-0, +0, -] It ends. `what` (NULL: it was not given up) is for the message of the call that is stopped.
void shl_work_end(const char *what, size_t length);
/// [-0, +0, -] The call that runs the host function is being stopped: what was found out may be half of it.
bool shl_is_stopped(SHLCallback *cb);
/// As shl_unlock_all, where nothing but the host works until shl_relock: its work is limited, too.
SHLUnlocked shl_unlock_working(SHLScope *scope);

/// [-0, +0, -] What this thread does between the two is the host's own work (finding out how a function is called), and no script is
/// charged for it. May be nested.
void shl_exempt_begin(void);
void shl_exempt_end(void);
/// Takes it again (waits as long as needed) and restores the depth. SHL_POISONED: return -1 at once; nothing else may be done.
SHLStatus shl_relock(SHLScope *scope, SHLUnlocked unlocked);

// ---------------------------------------------------------------- values in a scope

/// [-0, +0, -] A position on the scope's stack; shl_drop drops everything got since. Use it in loops.
int32_t shl_mark(SHLScope *scope);
void shl_drop(SHLScope *scope, int32_t mark);

/// [-0, +0, -] Keeps a value in the registry; 0 when memory ran out.
SHLRef shl_keep(SHLScope *scope, SHLValue value);
/// [-0, +0, -] Forgets a kept value. Any thread, no scope needed; never waits.
void shl_forget(SHLState *state, SHLRef ref);
/// [-0, +1, -] The value of a reference.
SHLValue shl_kept(SHLScope *scope, SHLRef ref);
/// [-0, +0, -] Whether a value (TABLE, FUNCTION, OTHER) is the very one that is kept.
bool shl_is_kept(SHLScope *scope, SHLValue value, SHLRef ref);

/// What a function declares and where it was written.
typedef struct SHLFunctionInfo {
  int32_t parameters;     ///< declared, without `...`; 0 for functions of the host
  bool variadic;
  bool native;
  int32_t line;           ///< of `function`, 0 for native
  int32_t last_line;
  char source[128];
} SHLFunctionInfo;
/// [-0, +0, -] false when `value` (FUNCTION or REF) is no function.
bool shl_function_info(SHLScope *scope, SHLValue value, SHLFunctionInfo *info);
/// [-0, +0, -] Argument i as a kept function: its reference (0: no function, or no memory) and facts.
SHLRef shl_arg_function_ref(SHLCallback *cb, int32_t i, SHLFunctionInfo *info);

/// [-0, +n, -] Calls a Lua function inside a scope, under the running budget. `fn`: FUNCTION, REF or callable value.
/// A killed call answers SHL_KILLED_…; return from the callback at once then.
SHLStatus shl_call(SHLScope *scope, SHLValue fn, const SHLValue *args, int32_t nargs,
                   SHLValue *results, int32_t max_results, int32_t *count, SHLError **error);

// Tables: raw access, no metamethods. `table` is TABLE, or REF to one. A wrong value answers nil, 0 or false.

/// [-0, +0, -] Border of the array part (`#` without metamethods).
int64_t shl_table_length(SHLScope *scope, SHLValue table);
/// [-0, +0|1, -]
SHLValue shl_table_at(SHLScope *scope, SHLValue table, int64_t index);
/// [-0, +0|1, -]
SHLValue shl_table_field(SHLScope *scope, SHLValue table, const char *name, size_t length);
/// [-0, +0|2, -] Iterates: start with *position = 0; false at the end. Do not change the table meanwhile.
bool shl_table_next(SHLScope *scope, SHLValue table, int32_t *position, SHLValue *key, SHLValue *value);
/// [-0, +1, -] A new table; SHL_NIL when memory ran out.
SHLValue shl_table_new(SHLScope *scope, int32_t array, int32_t fields);
/// [-0, +0, -]
SHLStatus shl_table_set(SHLScope *scope, SHLValue table, SHLValue key, SHLValue value);
SHLStatus shl_table_set_at(SHLScope *scope, SHLValue table, int64_t index, SHLValue value);
SHLStatus shl_table_set_field(SHLScope *scope, SHLValue table, const char *name, size_t length, SHLValue value);

/// [-0, +0, -] Sets a global, dotted names as in shl_register.
SHLStatus shl_set_global(SHLScope *scope, const char *name, SHLValue value);
/// [-0, +1, -] A host function as a value, for tables of methods. Its record lives as long as the state: make few.
SHLValue shl_function(SHLScope *scope, SHLFunction fn, void *ctx);

// ---------------------------------------------------------------- handles and calls

enum {
  SHL_CLASS_CALL = 0,        ///< the class of call tokens, always there
  SHL_CLASS_MAX = 64,
  SHL_UNIQUE = 1,            ///< flag: equal words give the same userdata while one lives (usable as table key)
};

/// What handles of a class can do. A missing operation is a Lua error that names the class.
typedef struct SHLClass {
  const char *name;          ///< shown in messages; copied
  uint32_t flags;
  uint32_t stands_in_for;    ///< 0, or a unique class: this unique class's live handles are given out instead of its new ones
                             ///< with the same first word
  void *ctx;                 ///< passed to every operation; must outlive the state
  SHLFunction index;         ///< (h, key): for keys that are not methods of shl_members
  SHLFunction newindex;      ///< (h, key, value)
  SHLFunction invoke;        ///< (h, …), name set: methods given out with shl_return_method
  SHLFunction call;          ///< (h, …)
  SHLFunction tostring;      ///< (h)
  SHLFunction equal;         ///< (x, y), one of them of this class; without it: same class and same words
  SHLFunction less;          ///< (x, y)
  SHLFunction less_equal;    ///< (x, y)
  SHLFunction length;        ///< (h)
  SHLFunction pairs;         ///< (h): returns an iterator, a state and a start, like __pairs
  /// What is said where a handle was raised and nobody caught it: a text of at most `room` bytes; answers its length, 0 where
  /// the class's name is all there is to say. Called with the lock; calls nothing of the shim.
  size_t (*words)(void *ctx, const SHLValue *raised, char *text, size_t room);
  /// The handle was collected. Called later, outside the collector, without the lock, on some thread that left the state.
  void (*release)(void *ctx, uint64_t a, uint64_t b, uint64_t c);
} SHLClass;

/// [-0, +0, -] Adds a class; its id (>= 1) in *cls. Takes the lock itself.
SHLStatus shl_class(SHLState *state, const SHLClass *description, uint32_t *cls);
/// [-0, +0|1, -] The live handle of a unique class with this first word, to be returned or kept; false when there is none.
bool shl_handle_find(SHLScope *scope, uint32_t cls, uint64_t a, SHLValue *found);
/// [-0, +0|1, -] Makes a handle now instead of when it is returned, so that what it owns has an owner; false: no memory.
bool shl_handle_make(SHLScope *scope, SHLValue handle, SHLValue *made);
/// [-0, +0, -] Sets the operations of call tokens (index, newindex, tostring).
SHLStatus shl_call_class(SHLState *state, const SHLClass *description);
/// [-0, +0, -] Names of the class's members. `h:name(…)` calls `fn` with the receiver as argument 0 (and cb->host for calls), without an allocation
/// per use; without `fn`, index/newindex see the name as `field` = id (>= 0), so that the host need not compare names. They are made with the
/// class's first handle; the list must outlive the state.
SHLStatus shl_members(SHLState *state, uint32_t cls, const SHLNamed *members, int32_t count, void *ctx);
/// [-0, +0, -] A constant such as `swift.null`: equal to itself only, `tostring` gives `shown`. `name` NULL: no global.
SHLStatus shl_constant(SHLState *state, int64_t id, const char *name, const char *shown);

/// [-0, +0, -] Says that bytes outside of Lua go with a handle that shl_handle_make made: they count for the state's limit of memory until it is
/// collected, or its words are cleared. Needs scope.
void shl_weigh(SHLScope *scope, const SHLValue *value, uint64_t bytes);
/// [-0, +0, -] The script keeps so many bytes more outside of Lua, or fewer. Any thread.
void shl_outside(SHLState *state, int64_t bytes);
/// [-0, +0, -] A function of the program was given bytes that it may keep: in one outermost call four times the limit at most. In a callback.
void shl_gave(SHLState *state, uint64_t bytes);

// ---------------------------------------------------------------- facts for tests and documentation

/// Names a script can reach, one per line with its reason, in the order of the manual. NULL-name ends.
typedef struct SHLAllowed { const char *library; const char *name; const char *reason; } SHLAllowed;
const SHLAllowed *shl_allow_list(void);

#ifdef __cplusplus
}
#endif
#endif
