// HKTAsync — calls of async functions: entered, suspended on one thread, resumed on another, left through a jump.
//
// Owns: the record of each async call in flight, the order in which its layers run. Leaves to Swift: what a handler
// does, and how it waits.
//
// How a call is followed. The caller of an async function allocates the callee's context {parent, resume parent, …},
// passes it in r14, and is resumed by the callee's jump to `resume parent` with r14 = that same context. While the
// original of a hooked call runs, both words are ours: `resume parent` is hkt_async_return, `parent` is the call's
// record, which begins with the two words that were there. So the record is found without a table, and whoever walks
// the chain of contexts (a backtrace) reaches the true parent through it.
#ifndef HKT_ASYNC_H
#define HKT_ASYNC_H

#include "HKTCalls.h"

/// What all async contexts begin with.
typedef struct HKTAsyncContext {
  struct HKTAsyncContext *parent;
  void *resume_parent;  // entered with r14 = the context this is in
} HKTAsyncContext;

/// How an activation of ours is left. Keep in step with trampoline_offsets.h.
typedef struct HKTAsyncMove {
  void *target;
  HKTFrame *frame;        // the registers to load
  int64_t pop;            // bytes by which the argument area on the stack shrinks (grows when negative), a multiple of 16
  const uint64_t *stack;  // what to write into it
  uint64_t words;
} HKTAsyncMove;

/// What belongs to one layer of one call.
typedef struct HKTAsyncLayer {
  void *state;     // the layer function's own
  HKTAsyncContext *proceeds;  // of the function that called hkt_async_proceed and goes on when what is below has returned
  uint32_t waits;  // it answered HKT_PROCEED or HKT_AWAIT and will be called with HKT_RESUME
  uint32_t passes; // it takes no part in this way down and up
} HKTAsyncLayer;

/// Another async function that a waiting layer calls in the same task. Made with hkt_async_callee_new.
typedef struct HKTAsyncCallee {
  HKTAsyncContext header;     // stands in its context's parent, as a call's record does
  uint32_t is_callee;         // 1
  uint32_t stack_bytes;       // of its arguments
  struct HKTAsyncCall *owner; // who waits; set when it is started. NULL: the function that entered hkt_async_run
  void *target;
  HKTAsyncContext *context;   // inside the same block
  const uint64_t *stack;      // room for the stack arguments, inside the same block
  uint64_t executor[2];       // where the handler runs: the call's own code expects to go on there
  HKTFrame frame;             // arguments in, results out; `stack` points at the room
} HKTAsyncCallee;

/// One async call in flight that cannot be left by a jump alone. Freed before its caller is resumed.
typedef struct HKTAsyncCall {
  HKTAsyncContext header;     // what the callee's context held when it was called
  uint32_t is_callee;         // 0
  uint32_t stack_bytes;       // size of `stack`
  HKTAsyncContext *context;   // the callee's
  uint64_t *stack;            // the stack arguments, copied when the thread is left
  HKTAsyncCallee *callee;     // set by a layer that answers HKT_AWAIT
  uint32_t runs;              // how often the original was entered
  const HKTAsyncContext *continued;  // of the body that the call went on to last, where that may hand it on once more; NULL: of none
  HKTAsyncContext continued_for;     // what that context held: of another call at the same place it holds something else
  const HKTBodyRecord *continues_at; // that body
  HKTCall call;
  HKTFrame frame;
  HKTAsyncLayer layer[];
} HKTAsyncCall;

/// The record of a call whose body is HKT_BODY_ASYNC. NULL while only `before` layers run and none asked for more.
static inline HKTAsyncCall *hkt_async_call(HKTCall *call) {
  return call->is_async ? (HKTAsyncCall *)((char *)call - offsetof(HKTAsyncCall, call)) : NULL;
}
/// What the layer being run keeps with this call.
static inline HKTAsyncLayer *hkt_async_layer(HKTCall *call) { return &hkt_async_call(call)->layer[call->index]; }
/// Hooked async calls around this one in its task. Walks the contexts.
uint32_t hkt_async_depth(HKTCall *call);
/// The task that runs on this thread, 0 for none. Its address, for telling tasks apart.
uint64_t hkt_async_task(void);
/// The number that the Swift runtime gave it, as debuggers show it; 0 for none.
uint64_t hkt_async_task_number(void);

/// Room for a call: `context_size` is the one its async function pointer names. NULL: no memory.
HKTAsyncCallee *hkt_async_callee_new(void *target, uint32_t context_size, uint32_t stack_bytes);
void hkt_async_callee_free(HKTAsyncCallee *callee);

/// The async function pointer of a function without arguments and result, for callees that a layer answered HKT_AWAIT for: runs
/// the layers below the one that waits, and the original. Entered with r13 = an object whose first word behind its header is the
/// call's HKTAsyncCall. Results are in the call's frame when it returns.
extern const int32_t hkt_async_proceed_pointer[2] __attribute__((visibility("hidden")));
static inline uint64_t hkt_async_proceed_address(void) { return (uint64_t)hkt_async_proceed_pointer; }

/// The async function pointer of a function without arguments and result: calls a callee in the task that awaits it. Entered with
/// r13 = an object whose first word behind its header is the HKTAsyncCallee. Results are in the callee's frame when it returns.
extern const int32_t hkt_async_run_pointer[2] __attribute__((visibility("hidden")));
static inline uint64_t hkt_async_run_address(void) { return (uint64_t)hkt_async_run_pointer; }

// From async_x86_64.S, not callable from C.
void hkt_async_entry(void);
void hkt_async_return(void);
void hkt_async_switched(void);

#endif
