// HKTCalls — what happens between the trampoline and the handlers.
//
// Owns: the record of each thread, the record of each call in flight, the order
// in which layers run, the protection of layer sets that are in use. Leaves to
// Swift: which layers exist (HookRuntime/Dispatch) and what a handler does.
#ifndef HKT_CALLS_H
#define HKT_CALLS_H

#include "CHookTrampoline.h"

typedef enum HKTPhase : uint32_t {
  HKT_ENTER = 0,   // before the original
  HKT_AROUND = 1,  // instead of it; may call hkt_call_proceed
  HKT_EXIT = 2,    // after it; frame->results hold what it returned
  // Async bodies only, to an HKT_ON_AROUND layer that waits:
  HKT_RESUME = 3,  // what it waited for has returned
  HKT_DROP = 4,    // the call goes on without it: forget what was kept
} HKTPhase;

/// Which phases a layer takes part in, and what it needs: HKT_TIMED has calls note when they began.
enum { HKT_ON_ENTER = 1, HKT_ON_AROUND = 2, HKT_ON_EXIT = 4, HKT_TIMED = 8 };

typedef enum HKTOutcome : int32_t {
  HKT_HANDLED = 0,
  /// The handler failed, and left arguments and results as it found them: the original runs if it did not run yet.
  HKT_FAILED = 1,
  // Async bodies only, answers to HKT_AROUND and HKT_RESUME:
  HKT_PROCEED = 2,  // run the layers below and the original, then call me with HKT_RESUME
  HKT_AWAIT = 3,    // run HKTAsyncCall.callee, then call me with HKT_RESUME
} HKTOutcome;

struct HKTCall;
typedef HKTOutcome (*HKTLayerFunction)(struct HKTCall *call, void *context, HKTPhase phase);

typedef struct HKTLayer {
  HKTLayerFunction function;
  void *context;
  uint32_t phases;
  uint32_t is_host_work;  // hooked functions the handler calls pass through unseen
} HKTLayer;

/// An immutable set of layers, outermost first. Published in HKTBodyRecord.layers; freed by hkt_layers_retire
/// once no call that started with it is in flight.
typedef struct HKTLayers {
  uint32_t count;
  uint32_t phases;              // all layers' phases, or-ed
  _Atomic(int32_t) deep_users;  // users whose thread had no hazard slot left
  uint32_t reserved;
  void (*on_free)(void *);      // called with `owner` before the memory goes
  void *owner;
  struct HKTLayers *next_retired;
  HKTLayer layer[];
} HKTLayers;

/// A body that hands its calls on to another one of the same selector.
typedef struct HKTForwarder {
  uint64_t begin, end;
  const struct HKTBodyRecord *record;
} HKTForwarder;

/// What a call of a selector holds in one place when it enters a body that it shares.
typedef struct HKTGuard {
  uint32_t place;  // 0-5: argument register; 6 + n: stack slot n
  uint32_t reserved;
  uint64_t mask;   // the bits that count
  uint64_t value;  // what they are
} HKTGuard;

/// What the dispatcher must know of one selector's use of a body. HKTSite.owner points at the first; a merged body
/// carries several selectors, told apart by the constants their thunks pass.
typedef struct HKTBodyRecord {
  HKTLayers *layers;     // published with hkt_record_publish; NULL: calls pass through
  struct HKTBodyRecord *next;  // another selector's record of the same body
  const HKTGuard *guard; // all of them tell the selector's calls from others; never freed
  uint32_t guard_count;
  uint32_t reserved;
  void *family;          // identity of the selector: bodies of one family share it
  void *plan;            // the Swift side's decoding plan of this body; NULL until it is needed, see hkt_set_planner
  uint32_t stack_bytes;  // size of the stack arguments, a multiple of 8 (an upper bound where the signature is not known); as of `plan`
  uint32_t flags;        // HKT_BODY_*
  /// The bodies of the same family that hand their call on to this one: never freed.
  uint32_t forwarder_count;
  const HKTForwarder *forwarder;
  _Atomic(uint64_t) calls;          // calls delivered, but for those threads still keep count of (HKTThread.counts)
  _Atomic(uint64_t) foreign_calls;  // calls passed through because self was not of the type
} HKTBodyRecord;

enum {
  /// Results cannot be taken on return (coroutine): only HKT_ON_ENTER layers, left by a jump.
  HKT_BODY_ENTER_ONLY = 1,
  /// This body hands its call on to a sibling: that sibling's entry is the same call.
  HKT_BODY_FORWARDS = 2,
  /// The stack arguments are `stack_bytes` exactly.
  HKT_BODY_STACK_KNOWN = 4,
  /// Results may come on the x87 stack: they are Float80, or their type is not known.
  HKT_BODY_X87 = 8,
};

enum { HKT_CALL_IN_HANDLER = 1, HKT_CALL_ORIGINAL_RAN = 2, HKT_CALL_FORWARDING = 4, HKT_CALL_MUST_RETURN = 8 };

/// One call in flight; lives on the caller's stack.
typedef struct HKTCall {
  HKTFrame *frame;
  HKTSite *site;
  HKTBodyRecord *body;
  HKTLayers *layers;
  struct HKTThread *thread;  // the one it runs on
  struct HKTCall *up;      // the hooked call around this one, same thread
  uint32_t index;          // layer being run
  uint32_t state;          // HKT_CALL_*
  uint32_t depth;          // hooked calls around this one on the thread
  uint32_t first;          // first layer of this call (a handler's own call starts lower down)
  uint32_t is_async;       // part of an HKTAsyncCall; on no stack
  uint64_t began_ticks;    // time-stamp counter at entry; 0 when no layer is HKT_TIMED, or the call is left by a jump
  void *releases;          // values to release when the call is over (owned by Dispatch)
  void *scratch;           // owned by the layer functions' module, NULL at start
  uint64_t lender;         // names the call for values that are lent until it ends; owned by the layer functions' module, 0 at start
} HKTCall;

/// Calls of one body that a thread has delivered and not yet added to the body's own counter, which all threads share.
typedef struct HKTCount { _Atomic(HKTBodyRecord *) record; _Atomic(uint64_t) calls; } HKTCount;
enum { HKT_COUNTS = 64 };

/// One thread that has entered a hooked function. Never freed; reused after the thread ends.
typedef struct HKTThread {
  HKTCall *top;
  uint32_t depth;
  uint32_t host;           // > 0: ScriptHost is at work on this thread, hooks pass through
  uint32_t protected_count;
  int32_t tid;
  int *errno_place;        // this thread's errno: asking for it is a call
  uint64_t stack_low, stack_high;
  /// The call of a forwarding body that was left by a jump, until its clone is entered.
  struct { const HKTBodyRecord *from; uint64_t stack, return_address; } forwarded;
  void *local;             // owned by the layer functions' module
  _Atomic(void *) hazard[64];
  HKTCount counts[HKT_COUNTS];
  struct HKTThread *next;
  _Atomic(int32_t) in_use;
} HKTThread;

/// This thread's record, made on first use; NULL only when memory runs out.
HKTThread *hkt_thread(void);
/// Same, without making one.
HKTThread *hkt_thread_if_known(void);

/// Says who makes the plan of a record that has none yet, with hkt_record_plan: asked at its first call, before any layer
/// runs, on the caller's thread, where hooks pass through meanwhile. Several threads may ask for one record.
void hkt_set_planner(void (*planner)(HKTBodyRecord *record));
/// Gives the record its plan, with what the plan says of the stack. False when it has one.
bool hkt_record_plan(HKTBodyRecord *record, void *plan, uint32_t stack_bytes, uint32_t flags);

/// The handler of every site.
HKTAction hkt_dispatch(HKTFrame *frame, HKTSite *site);

/// Runs the layers below the one being run, then the original. Only during HKT_AROUND.
void hkt_call_proceed(HKTCall *call);
/// Nanoseconds since the call began; 0 when no layer asked for it (HKT_TIMED) or the call is left by a jump.
uint64_t hkt_call_duration_ns(const HKTCall *call);
/// CLOCK_MONOTONIC in nanoseconds.
uint64_t hkt_now_ns(void);
/// The time-stamp counter, and its differences in nanoseconds (calibrated against CLOCK_MONOTONIC since start).
uint64_t hkt_ticks(void);
uint64_t hkt_ticks_to_ns(uint64_t ticks);

/// Called for every call that had `releases` (or `scratch`) set, after it ended. Set once at start.
void hkt_set_release_values(void (*release)(void *releases));
void hkt_set_release_scratch(void (*release)(void *scratch));

/// Marks ScriptHost at work on this thread: hooked functions it calls pass through unseen.
static inline void hkt_host_begin(HKTThread *t) { t->host++; }
static inline void hkt_host_end(HKTThread *t) { t->host--; }

HKTLayers *hkt_layers_new(uint32_t count);
/// Makes `layers` (may be NULL) the set that later calls start with; answers the former set.
HKTLayers *hkt_record_publish(HKTBodyRecord *record, HKTLayers *layers);
/// Adds a selector's record to a body. Records are never taken out; without layers they are passed by.
void hkt_site_add_record(HKTSite *site, HKTBodyRecord *record);
static inline void hkt_layers_set(HKTLayers *layers, uint32_t index, HKTLayer layer) { layers->layer[index] = layer; }
/// Calls delivered so far; a call that begins at the same time may be missing.
uint64_t hkt_record_calls(HKTBodyRecord *record);
/// Notes a call that a layer passed by because its self is of another type.
static inline void hkt_count_foreign(HKTCall *call) {
  __atomic_fetch_add((uint64_t *)&call->body->foreign_calls, 1, __ATOMIC_RELAXED);
}
static inline uint64_t hkt_record_foreign(HKTBodyRecord *record) {
  return __atomic_load_n((uint64_t *)&record->foreign_calls, __ATOMIC_RELAXED);
}
/// Frees `layers` when no call uses it any more (now, or at a later retire). It must be unpublished everywhere.
void hkt_layers_retire(HKTLayers *layers);
/// Sets waiting for calls in flight to end.
uint32_t hkt_layers_waiting(void);
/// After fork, in the child: every hooked function passes through until asked otherwise.
void hkt_set_passive(bool passive);

#include "HKTAsync.h"

#endif
