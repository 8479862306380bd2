// HKTCalls — what happens between the trampoline and the handlers.
//
// Owns: the record of each thread, the record of each call in flight, the order
// in which layers run, the protection of layer sets that are in use. Leaves to
// Swift: which layers exist (HookRuntime/Dispatch) and what a handler does.
#ifndef HKT_CALLS_H
#define HKT_CALLS_H

#include "CHookTrampoline.h"
#include "HKTMeter.h"
#include "HKTThunk.h"

#include <stdatomic.h>

typedef enum HKTPhase : uint32_t {
  HKT_ENTER = 0,   // before the original
  HKT_AROUND = 1,  // instead of it; may call hkt_call_proceed
  HKT_EXIT = 2,    // after it; frame->results hold what it returned
  // Async bodies only, to an HKT_ON_AROUND layer that waits:
  HKT_RESUME = 3,  // what it waited for has returned
  HKT_DROP = 4,    // the call goes on without it: forget what was kept
} HKTPhase;

/// Which phases a layer takes part in, and what it needs: HKT_TIMED has calls note when they began. HKT_INTERRUPTS: it takes no memory
/// and waits for no lock, and may run in a signal handler.
enum { HKT_ON_ENTER = 1, HKT_ON_AROUND = 2, HKT_ON_EXIT = 4, HKT_TIMED = 8, HKT_INTERRUPTS = 16 };

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

/// Whose calls a layer takes part in.
typedef enum HKTFilter : uint8_t {
  HKT_FILTER_NONE = 0,   // everybody's
  HKT_FILTER_CLASS = 1,  // self is an instance of the class with the metadata `filter_value`, or of a subclass
  HKT_FILTER_IMPORTER = 2,  // the record has one of the bits of `filter_value` in its `importer`
} HKTFilter;

/// By what kind of site calls arrive. Layers asked for by a slot only see the calls that came through it.
typedef enum HKTRoute : uint8_t {
  HKT_ROUTE_ENTRY = 0,  // the entry of a body; for layers: any
  HKT_ROUTE_VTABLE = 1,
  HKT_ROUTE_CLASS_SWITCH = 2,
  HKT_ROUTE_DYNAMIC = 3,
  HKT_ROUTE_WITNESS = 4,
  HKT_ROUTE_IMPORT = 5,
} HKTRoute;

/// What calls write of a layer; lives as long as any set that holds it.
typedef struct HKTLayerState {
  _Atomic(uint64_t) calls;  // calls it took part in, but for those that threads keep count of (HKTThread.layer_counts)
  _Atomic(uint32_t) once;   // HKT_ONCE_*
} HKTLayerState;
enum {
  HKT_ONCE_NOT = 0,
  HKT_ONCE_ARMED = 1,
  HKT_ONCE_SPENT = 2,
  HKT_ONCE_QUIET = 3,  // armed; nobody is notified when it is spent, for the call may be one in which nothing can be done
};

/// Begins the state of a layer.

/// - once: one of HKT_ONCE_*.
static inline void hkt_layer_state_init(HKTLayerState *state, uint32_t once) {
  atomic_init(&state->calls, 0);
  atomic_init(&state->once, once);
}
static inline bool hkt_layer_is_spent(HKTLayerState *state) { return atomic_load(&state->once) == HKT_ONCE_SPENT; }
/// Calls that the layer took part in so far; one that begins at the same time may be missing.
uint64_t hkt_layer_calls(HKTLayerState *state);
/// Before the state's memory goes: no call uses it any more.
void hkt_layer_state_end(HKTLayerState *state);

/// A layer's place in the nest: greater is further out. The top bit is set for layers of one object.
static const uint64_t HKT_ORDER_OBJECT = 1ull << 63;

/// What is done at the runs of some layers.
enum {
  HKT_LAYER_IS_CONDITIONAL = 1,  // filter, route, state or one_in says more than nothing
  HKT_LAYER_IS_MEASURED = 2,     // all runs, or some of them
};

typedef struct HKTLayer {
  HKTLayerFunction function;
  void *context;
  uint32_t phases;
  uint8_t is_host_work;    // hooked functions the handler calls pass through unseen
  uint8_t special;         // HKT_LAYER_IS_…; set by hkt_layers_set
  uint8_t filter;          // HKTFilter
  uint8_t route;           // HKTRoute: 0 any, otherwise the call must have arrived at a site of that kind
  HKTLayerState *state;    // NULL: its calls are the selector's
  uint64_t filter_value;
  uint64_t order;
  HKTMeter *meter;         // there where its runs are measured
  uint32_t one_in;         // it takes part in one of so many calls, by chance; 0 and 1: in all
  uint32_t measuring;      // HKTMeasuring
} HKTLayer;

/// Something calls in flight may read: retired when it is unpublished, freed by hkt_reclaim when the last call left it.
typedef struct HKTKept {
  void (*on_free)(void *);      // called with `owner` before the memory goes; may be NULL
  void *owner;
  struct HKTKept *next_retired;
  _Atomic(int32_t) deep_users;  // users whose thread had no hazard slot left, and async calls
} HKTKept;

/// An immutable set of layers, outermost first; published in any number of HKTBodyRecord.layers and HKTObjects.
typedef struct HKTLayers {
  HKTKept kept;
  uint32_t count;
  uint32_t phases;   // all layers' phases, or-ed
  uint32_t objects;  // how many of them, the first ones, are for one object
  uint32_t is_single;  // one layer, which is over before the original; set by hkt_layers_set
  HKTLayer layer[];
} HKTLayers;

/// The sets of single objects. Read without a lock; written by one thread at a time. Replaced when it is half full.
typedef struct HKTObjectEntry {
  _Atomic(uint64_t) object;     // 0: never used
  _Atomic(uint64_t) identity;   // the object's second word
  _Atomic(HKTLayers *) layers;
} HKTObjectEntry;
typedef struct HKTObjects {
  HKTKept kept;
  uint64_t capacity;  // a power of two
  uint64_t used;      // entries that are not empty, removed ones included
  HKTObjectEntry entry[];
} HKTObjects;

/// A body that forwards its calls to another one of the same selector.
typedef struct HKTForwarder {
  uint64_t begin, end;
  const struct HKTBodyRecord *record;
} HKTForwarder;

/// What a call of a selector holds in one place when it enters a body that it shares.
typedef struct HKTGuard {
  uint32_t place;  // as HKTThunk.h numbers them
  uint32_t reserved;
  uint64_t mask;   // the bits that count
  uint64_t value;  // what they are
} HKTGuard;

/// What every call of a handler asks of a plan: the plan's own, and kept as long.
typedef struct HKTPlanFacts {
  const HKTValueSlot *slots;   // of each argument
  int32_t argument_count;
  int32_t plain_slots;         // how many of the first arguments have slots that hold numbers, Bools or Strings
  HKTValueSlot self;           // HKT_VALUE_OBJECT: self is an object whose reference lies there
  HKTValueSlot result;         // HKT_VALUE_NONE: not to be read or written there
  bool may_return_error;       // the error register may come back with one
  bool consumes_self;          // the callee ends it
  bool consumes_arguments;     // the callee ends some
} HKTPlanFacts;

/// What the dispatcher must know of one selector's use of a body. HKTSite.owner points at the first; a merged body
/// carries several selectors, distinguished by the constants their thunks pass.
typedef struct HKTBodyRecord {
  HKTLayers *layers;     // published with hkt_record_publish; NULL: calls pass through
  HKTObjects *objects;   // published with hkt_record_publish_objects: objects with sets of their own, type layers included
  struct HKTBodyRecord *next;  // another selector's record of the same body
  const HKTGuard *guard; // all of them tell the selector's calls from others; never freed
  uint32_t guard_count;
  uint16_t self_at;      // where in the HKTFrame the word is that filters take for self, or HKT_SELF_UNKNOWN; as of `plan`
  uint8_t route;         // HKTRoute: the kind of the site this record belongs to
  uint8_t reserved;
  uint64_t importer;     // of an import slot: bits that layers ask for, of the image that imports
  void *family;          // identity of the selector: its bodies share it, in whatever image they are
  void *owner;           // the Swift side's family that the record is part of
  void *plan;            // the Swift side's decoding plan of this body; NULL until it is needed, see hkt_set_planner
  const HKTPlanFacts *facts;  // of `plan`, and there as soon as that is
  uint32_t stack_bytes;  // size of the stack arguments, a multiple of 8 (an upper bound where the signature is not known); as of `plan`
  uint32_t flags;        // HKT_BODY_*
  /// Of a slot's record: the code it goes on to when that is a thunk, which calls the body as its own.
  uint64_t thunk_begin, thunk_end;
  /// The bodies of the same selector that hand their call on to this one: never freed, replaced by hkt_record_add_forwarders.
  uint32_t forwarder_count;
  const HKTForwarder *forwarder;
  _Atomic(uint64_t) calls;          // calls delivered, but for those threads still keep count of (HKTThread.counts)
  _Atomic(uint64_t) mismatched_calls;  // calls passed through because self was not of the type
} HKTBodyRecord;

enum {
  /// Results cannot be taken on return (coroutine): only HKT_ON_ENTER layers, left by a jump.
  HKT_BODY_ENTER_ONLY = 1,
  /// This body forwards its call to a sibling: that sibling's entry is the same call.
  HKT_BODY_FORWARDS = 2,
  /// The stack arguments are `stack_bytes` exactly.
  HKT_BODY_STACK_KNOWN = 4,
  /// Results may come on the x87 stack: they are Float80, or their type is not known.
  HKT_BODY_X87 = 8,
  /// Slots lead to this body: a call that a slot's record of the same family delivered goes on here, see HKT_BODY_SLOT.
  HKT_BODY_HAS_SLOTS = 16,
  /// The word at `self_at` is a class, not an object.
  HKT_BODY_SELF_IS_CLASS = 64,
  /// The word at `self_at` is an object that may be gone when the call is over.
  HKT_BODY_ENDS_SELF = 256,
  /// Of a slot's record: its calls go on to a function compiled `dynamic` whose variable is ours too. They run the layers
  /// asked for by that variable here, in their place, and pass it by.
  HKT_BODY_RUNS_DYNAMIC = 128,
  /// The record of a slot: what it delivered and forwards is the same call at every entry of its family. With HKT_BODY_FORWARDS.
  HKT_BODY_SLOT = 32,
  /// Calls have more to ask than these flags tell: there are guards, forwarders or objects' sets, or the route is
  /// HKT_ROUTE_DYNAMIC. Set before the first of these is, and kept.
  HKT_BODY_IS_ASKED = 512,
  /// There is a plan: what these flags say by it, they say already. Set by hkt_record_plan.
  HKT_BODY_HAS_PLAN = 1024,
  /// Its set is not one layer that is over before the original. Calls that come while it changes may find it otherwise.
  HKT_BODY_IS_LAYERED = 2048,
  /// An async body of which nothing tells whether it throws: what it leaves in r13 may be an error or anything else.
  HKT_BODY_MAY_THROW = 4096,
};

enum { HKT_SELF_UNKNOWN = UINT16_MAX };

enum {
  HKT_CALL_IN_HANDLER = 1,
  HKT_CALL_ORIGINAL_RAN = 2,
  HKT_CALL_FORWARDING = 4,
  HKT_CALL_MUST_RETURN = 8,
  HKT_CALL_SPENT = 16,  // a layer took part that does so once
  HKT_CALL_MISMATCHED = 32,  // it is counted as one of another type
  HKT_CALL_OUTERMOST = 64,  // the thread's `outermost` protects its layers
  HKT_CALL_REPLACED = 128,  // a layer inside another has put new arguments into the frame
  HKT_CALL_IN_ORIGINAL = 512,  // its original runs, called by the dispatcher
  HKT_CALL_ERROR_IS_NOT_CERTAIN = 1024,  // results.error may be what the original used the register for; see hkt_async_error_use
  HKT_CALL_MEASURED = 256,  // the layer that is at work is measured: what it goes on to is taken off
};

/// One call in flight; lives on the caller's stack.
typedef struct HKTCall {
  HKTFrame *frame;
  HKTSite *site;
  HKTBodyRecord *body;
  HKTLayers *layers;
  struct HKTThread *thread;  // the one it runs on
  struct HKTCall *up;      // the hooked call around this one, same thread
  uint32_t is_async;       // part of an HKTAsyncCall; on no stack
  int32_t error_number;    // errno of the program: as the caller left it, then as the original did; a handler may set it
  uint32_t gap;            // first of the layers it leaves out: type layers, further out than the handler's own
  uint32_t state;          // HKT_CALL_*
  // From here on 0 at the start of most calls, and cleared in few stores: a load that takes its bytes from two of them would wait.
  uint32_t gap_end;        // the first behind them
  uint32_t index;          // layer being run
  uint32_t first;          // first layer of this call (a handler's own call starts lower down)
  uint64_t began_ticks;    // time-stamp counter at entry; 0 when no layer is HKT_TIMED, or the call is left by a jump
  void *releases;          // values to release when the call is over (owned by Dispatch)
  void *scratch;           // owned by the layer functions' module, NULL at start
  uint64_t self_class;     // of an HKT_BODY_ENDS_SELF body: the class of self when the call began; 0 where that is not known
  uint64_t borrow_owner;   // names the call for values that are borrowed until it ends; owned by the layer functions' module, 0 at start
} HKTCall;

/// Calls of one body that a thread has delivered and not yet added to the body's own counter, which all threads share.
typedef struct HKTCount { _Atomic(HKTBodyRecord *) record; _Atomic(uint64_t) calls; } HKTCount;
/// Counts the calls of one layer. Whichever comes first has the place until its state ends; layers that find theirs taken count for all threads.
typedef struct HKTLayerCount { _Atomic(HKTLayerState *) state; _Atomic(uint64_t) calls; } HKTLayerCount;
enum { HKT_COUNTS = 64 };

/// One thread that has entered a hooked function. Never freed; reused after the thread ends.
typedef struct HKTThread {
  HKTCall *top;
  // Of two counters side by side that are counted together, compilers make one: a load that waits for two stores.
  uint32_t unseen;         // > 0: ScriptHost is at work in program code that it calls, too
  uint32_t host;           // > 0: ScriptHost is at work on this thread, hooks pass through
  int32_t tid;
  uint32_t at_work;        // how many handlers are: calls in the chain that are HKT_CALL_IN_HANDLER
  uint32_t protected_count;
  uint32_t unmeasured;     // runs of layers that are measured now and then, since one of them was
  int *errno_place;        // this thread's errno: asking for it is a call
  // Where there is room for a call's work on the stack that the thread is on. See stack_room.h, by which the rest of these go, too.
  uint64_t roomy_low, roomy_size;
  uint64_t stack_low, stack_high;  // of its own stack
  uint64_t spare_low, spare_high;  // of the one for calls that find too little there, below it; 0: it has none
  uint64_t spare_entered;          // where on its own stack it went over to the spare one last
  uint32_t interrupts;             // > 0: a signal handler runs, as of the latest call that asked
  bool has_no_spare;               // there was no memory for one
  /// The call of a forwarding body that was left by a jump, until its clone is entered.
  struct { const HKTBodyRecord *from; uint64_t stack, return_address, time; } forwarded;
  void *local;             // owned by the layer functions' module
  /// Old values that callers may look at still, owned by HookRuntime/Values: NULL at start. Where one of them is to be ended when a
  /// call begins further up the stack than this; UINT64_MAX: none.
  void *deferred;
  uint64_t deferred_end;
  uint64_t handler;        // names the innermost handler of HookRuntime/API at work here, 0 for none; owned by it
  uint64_t handlers;       // how many there were
  uint64_t onward_ticks;   // what measured handlers at work here let the program take, by going on
  uint64_t waited_ticks;   // and what they waited for other threads in their own script, beside that
  uint64_t host_ticks;     // what ScriptHost spent here while the program waited: analysis at first calls, and what layers add
  _Atomic(void *) hazard[64];
  HKTCall *holder[64];        // the calls whose slots those are; NULL before they begin
  _Atomic(void *) outermost;  // one more: of a call that no handler has made, until its original begins
  const HKTFrame *outermost_frame;  // that call's; set before it has the slot
  HKTCount counts[HKT_COUNTS];
  HKTLayerCount layer_counts[HKT_COUNTS];
  struct HKTThread *next;
  _Atomic(int32_t) in_use;
  struct HKTLanding *landing;  // the innermost contained call
  uint64_t *accesses;          // where the Swift runtime keeps this thread's list of open accesses; NULL: not looked for, or not found
} HKTThread;

/// Hooked calls around this one on its thread, while it is in flight.
static inline uint32_t hkt_call_depth(const HKTCall *call) {
  uint32_t depth = 0;
  while ((call = call->up)) depth++;
  return depth;
}

/// This thread's record, made on first use; NULL when memory runs out, and in a signal handler of a thread that has none yet.
HKTThread *hkt_thread(void);
/// This thread's record; NULL where it has none: none is made.
HKTThread *hkt_thread_if_known(void);

/// Says who makes the plan of a record that has none yet, with hkt_record_plan: asked at its first call, before any layer
/// runs, on the caller's thread, where hooks pass through meanwhile. Several threads may ask for one record.
void hkt_set_planner(void (*planner)(HKTBodyRecord *record));
/// The record's HKT_BODY_*, which others may be adding to.
static inline uint32_t hkt_record_flags(const HKTBodyRecord *record) { return __atomic_load_n(&record->flags, __ATOMIC_RELAXED); }
/// Sets flags of a record that calls may be reading.
static inline void hkt_record_add_flags(HKTBodyRecord *record, uint32_t flags) {
  __atomic_fetch_or(&record->flags, flags, __ATOMIC_RELAXED);
}
/// Gives the record its plan, with what the plan says of the stack and of self. False when it has one.
bool hkt_record_plan(HKTBodyRecord *record, void *plan, const HKTPlanFacts *facts, uint32_t stack_bytes, uint16_t self_at, uint32_t flags);

/// The handler of every site at the entry of a body.
HKTAction hkt_dispatch(HKTFrame *frame, HKTSite *site);
/// Dispatches calls of sites behind slots, whose records are always asked.
HKTAction hkt_dispatch_asking(HKTFrame *frame, HKTSite *site);

/// Runs the layers below the one being run, then the original. Only during HKT_AROUND.
void hkt_call_proceed(HKTCall *call);
/// Nanoseconds since the call began; 0 when no layer asked for it (HKT_TIMED) or the call is left by a jump.
uint64_t hkt_call_duration_ns(const HKTCall *call);
/// CLOCK_MONOTONIC in nanoseconds.
uint64_t hkt_now_ns(void);
/// The time-stamp counter, and its differences in nanoseconds (calibrated against CLOCK_MONOTONIC since start).
uint64_t hkt_ticks(void);
uint64_t hkt_ticks_to_ns(uint64_t ticks);
/// How far it has counted since then; 0 where another processor's was ahead of this one's.
uint64_t hkt_ticks_since(uint64_t began);

/// Says who puts back, when a layer is over, the arguments that it or layers inside it have replaced: those further out go on with
/// the ones they passed. Called for calls that are HKT_CALL_REPLACED, with the index of the layer. Set once at start.
void hkt_set_restore_arguments(void (*restore)(HKTCall *call, uint32_t index));

/// Called for every call that had `releases` (or `scratch`) set, after it ended. Set once at start.
void hkt_set_release_values(void (*release)(void *releases));
void hkt_set_release_scratch(void (*release)(void *scratch));

/// Ends those of a thread's old values that no caller can look at when a call begins at `stack`; all of them, UINT64_MAX, when the
/// thread ends. On that thread, hooks passing through. Set once at start.
void hkt_set_release_deferred(void (*release)(HKTThread *thread, uint64_t stack));

/// Marks ScriptHost at work on this thread: hooked functions it calls pass through unseen.
static inline void hkt_host_begin(HKTThread *t) { t->host++; }
static inline void hkt_host_end(HKTThread *t) { t->host--; }

/// Called after a call in which a layer took part that does so once, on the caller's thread, hooks passing through.
void hkt_set_spent(void (*spent)(void));

/// A set to be filled by hkt_layers_set, all of it, outermost first. NULL: no memory.
HKTLayers *hkt_layers_new(uint32_t count);
void hkt_layers_set(HKTLayers *layers, uint32_t index, HKTLayer layer);
/// Makes `layers` (may be NULL) the set that later calls start with; answers the former set.
HKTLayers *hkt_record_publish(HKTBodyRecord *record, HKTLayers *layers);
/// Publishes the table of objects in the same way.
HKTObjects *hkt_record_publish_objects(HKTBodyRecord *record, HKTObjects *objects);

/// Room for `count` objects and as many more. NULL: no memory.
HKTObjects *hkt_objects_new(uint64_t count);
/// Makes a table with what `from` holds.
HKTObjects *hkt_objects_copy(HKTObjects *from, uint64_t count);
/// Makes `layers` the set of the object, and answers the former one. False: the table is full.
bool hkt_objects_set(HKTObjects *objects, uint64_t object, uint64_t identity, HKTLayers *layers, HKTLayers **former);
/// Takes the object out; answers its set.
HKTLayers *hkt_objects_take(HKTObjects *objects, uint64_t object);

/// The context of the layer at `index`, when `function` is what it runs; NULL otherwise. While a call uses the set.
static inline void *hkt_layers_context(const HKTLayers *layers, uint32_t index, HKTLayerFunction function) {
  return layers->layer[index].function == function ? layers->layer[index].context : NULL;
}
/// Makes the layer of this order do nothing, in a set that may be in use.
void hkt_layers_mute(HKTLayers *layers, uint64_t order);

/// Makes the record the one that calls of the site are for: it is the only one, or the others' selectors have no layers.
static inline void hkt_site_give(HKTSite *site, HKTBodyRecord *record) {
  __atomic_store_n((HKTBodyRecord **)&site->owner, record, __ATOMIC_RELEASE);
}
/// Adds bodies that hand calls on to this one. False: no memory.
bool hkt_record_add_forwarders(HKTBodyRecord *record, const HKTForwarder *forwarders, uint32_t count);

/// Makes a list that several bodies have in common this one's; it is never freed. False: the body has one already.
bool hkt_record_share_forwarders(HKTBodyRecord *record, const HKTForwarder *forwarders, uint32_t count);

/// Adds a selector's record to a body. Records are never taken out; without layers they are passed by.
void hkt_site_add_record(HKTSite *site, HKTBodyRecord *record);

/// How many bytes above `stack` to copy so that a function has all its stack arguments, where their number is not known.
///
/// They lie in the caller's frame, below the record its rbp points at; at least `least` are copied, as rbp may hold any value in
/// optimised code. Where it leads to no record of a frame, a round number.
/// @param end where nothing can be read any more  @param stack_high the end of the stack, at `end` or above
size_t hkt_argument_bytes(const uint64_t *stack, uint64_t end, uint64_t stack_high, uint64_t rbp, size_t least);

/// Calls delivered so far; a call that begins at the same time may be missing.
uint64_t hkt_record_calls(HKTBodyRecord *record);
/// Notes a call that a layer passed by because its self is of another type; once, however many layers do.
static inline void hkt_count_receiver_mismatch(HKTCall *call) {
  if (call->state & HKT_CALL_MISMATCHED) return;
  call->state |= HKT_CALL_MISMATCHED;
  __atomic_fetch_add((uint64_t *)&call->body->mismatched_calls, 1, __ATOMIC_RELAXED);
}
/// How many calls at the body layers passed by, since their self was of another type.
static inline uint64_t hkt_record_receiver_mismatch(HKTBodyRecord *record) {
  return __atomic_load_n((uint64_t *)&record->mismatched_calls, __ATOMIC_RELAXED);
}
/// Notes what is to be freed when no call uses it any more. It must be unpublished everywhere. NULL: nothing.
void hkt_retire(HKTKept *kept);
/// Frees what was retired and is not in use. Costs a barrier on all threads.
void hkt_reclaim(void);
/// What was retired and waits for calls in flight to end.
uint32_t hkt_retired_waiting(void);

/// The hooked calls a thread is in, innermost first: pairs of a layer's context and 1 when its handler is at work, 0 when the call is
/// further in. Answers how many pairs, at most `room`. Async-signal-safe; of another thread it may be out of date.
int32_t hkt_calls_of_thread(int32_t tid, uint64_t *pairs, int32_t room);

/// After fork, in the child: every hooked function passes through until asked otherwise.
void hkt_set_passive(bool passive);

// MARK: Signal handlers and small stacks

/// Runs `body` where it has room, at the end of a thread: its own stack may be a small one, of which only destructors of the C library know.
void hkt_with_stack(void (*body)(void *), void *context);
/// Says how to learn whether a signal handler of the program runs on this thread, below whose frame `stack` lies: the address of that
/// frame, or 0. Async-signal-safe. Set once at start; without it none is known.
void hkt_set_signal_frame(uint64_t (*function)(uint64_t stack));
/// A signal handler of the program runs on this thread.
bool hkt_interrupts(void);
/// Called when one begins.
void hkt_signal_begins(void);
/// Calls that passed through, because they came in a signal handler where their hooks cannot run.
uint64_t hkt_calls_in_signals(void);
/// Counts one of them.
void hkt_count_in_signal(void);

/// The stack that the address is on, of this thread's two. False: neither, or the thread has no record.
bool hkt_stack_around(uintptr_t address, uintptr_t *low, size_t *size);

#include "HKTAsync.h"

#endif
