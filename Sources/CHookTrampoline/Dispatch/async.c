// The dispatcher of async calls: down through the layers at entry, up through them when the callee has returned.
//
// Invariants
//   1. A record is linked in a thread's chain of calls only while one of its handlers runs: never across a suspension.
//   2. A layer set is held by every record that outlives its entry; the holder lets go before the caller is resumed.
//   3. The callee's context holds our two words exactly while the original runs; handlers find it as the caller made it.
//   4. The stack arguments lie where the caller put them until the thread is left for the first time, and in
//      `HKTAsyncCall.stack` from then on.
//   5. Nothing here is taken from the task's allocator: the callee's blocks would no longer be freed in order.
#include "HKTAsync.h"
#include "call_counts.h"
#include "calls_internal.h"
#include "forwarded_calls.h"
#include "layer_choice.h"
#include "layer_sets.h"
#include "abandoned_calls.h"
#include "stack_room.h"
#include "trampoline_offsets.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#define MOVE(field, offset) \
  _Static_assert(offsetof(HKTAsyncMove, field) == (offset), "HKTAsyncMove." #field " moved: change trampoline_offsets.h")
MOVE(target, HKT_MOVE_TARGET);
MOVE(frame, HKT_MOVE_FRAME);
MOVE(pop, HKT_MOVE_POP);
MOVE(stack, HKT_MOVE_STACK);
MOVE(words, HKT_MOVE_WORDS);
_Static_assert(sizeof(HKTAsyncMove) == HKT_MOVE_SIZE, "async_x86_64.S reserves exactly one move");
_Static_assert(offsetof(HKTAsyncCall, is_callee) == offsetof(HKTAsyncCallee, is_callee), "told apart by it");

static _Atomic(int64_t) callees_in_flight;

// MARK: The chain of contexts

/// The record in the context's parent word, NULL when the context is not in our hands.
static inline HKTAsyncCall *record_of(const HKTAsyncContext *context) {
  return context->resume_parent == (void *)hkt_async_return ? (HKTAsyncCall *)context->parent : NULL;
}

uint32_t hkt_async_depth(HKTCall *call) {
  uint32_t depth = 0;
  for (HKTAsyncContext *c = call->frame ? (HKTAsyncContext *)call->frame->async_context : NULL; c; c = c->parent) {
    HKTAsyncCall *record = record_of(c);
    if (record && !record->is_callee) depth++;
  }
  return depth;
}

// What the Swift runtime has, where it is: this target links nothing of Swift's.
extern void *swift_task_getCurrent(void) __attribute__((weak));
typedef struct Executor { uint64_t identity, implementation; } Executor;
extern Executor swift_task_getCurrentExecutor(void) __attribute__((weak));
/// (r14 context, rdi resume function, rsi and rdx executor): an async function itself.
extern void swift_task_switch(void) __attribute__((weak));

extern uint64_t swift_task_getJobTaskId(void *job) __attribute__((weak));

uint64_t hkt_async_task_number(void) {
  void *task = swift_task_getCurrent ? swift_task_getCurrent() : NULL;
  return task && swift_task_getJobTaskId ? swift_task_getJobTaskId(task) : 0;
}

uint64_t hkt_async_task(void) { return swift_task_getCurrent ? (uint64_t)swift_task_getCurrent() : 0; }

// MARK: The argument area

/// Bytes above the return address that a function with these stack arguments takes off the stack when it leaves.
static inline int64_t area(uint32_t stack_bytes) { return ((int64_t)stack_bytes + 7) / 16 * 16 + 8; }
/// The area of a function without stack arguments, which every resume function is.
enum { NO_ARGUMENTS = 8 };

/// Keeps the stack arguments before the thread is left.
static void keep_stack(HKTAsyncCall *r, HKTThread *t) {
  if (r->frame.stack == r->stack) return;
  uint64_t bytes = r->stack_bytes, from = (uint64_t)r->frame.stack;
  // The size may be an upper bound: nothing is read beyond the stack.
  uint64_t low, high;
  hkt_stack_bounds(t, from, &low, &high);
  if (from >= low && from < high && bytes > high - from) bytes = high - from;
  memcpy(r->stack, r->frame.stack, bytes);
  r->frame.stack = r->stack;
}

// MARK: Leaving

typedef struct Activation {
  HKTFrame *here;     // the registers as they came, on this stack
  HKTAsyncMove *move;
  int64_t area;       // of the function that was entered or returned to
} Activation;

/// Has the thread go on with the original, with the call's arguments, and come back to hkt_async_return.
static void enter_original(HKTAsyncCall *r, const Activation *a) {
  bool in_place = r->frame.stack != r->stack;
  keep_stack(r, r->call.thread);
  r->runs++;
  r->frame.results.error = 0;
  r->context->parent = &r->header;
  r->context->resume_parent = (void *)hkt_async_return;
  *a->move = (HKTAsyncMove){.target = r->call.site->original, .frame = &r->frame, .pop = 0};
  if (in_place) return;
  a->move->pop = a->area - area(r->stack_bytes);
  a->move->stack = r->stack;
  a->move->words = r->stack_bytes / 8;
}

/// Has the thread go on with a callee, and come back to hkt_async_return.
/// - resume: what `parent` goes on with, as whoever walks the contexts is to see it.
static void start_callee(HKTAsyncCallee *c, HKTAsyncCall *owner, HKTAsyncContext *parent, void *resume, const Activation *a) {
  c->owner = owner;
  c->header = (HKTAsyncContext){.parent = parent, .resume_parent = resume};
  c->context->parent = &c->header;
  c->context->resume_parent = (void *)hkt_async_return;
  c->frame.async_context = (uint64_t)c->context;
  if (swift_task_getCurrentExecutor && swift_task_switch) {
    Executor here = swift_task_getCurrentExecutor();
    c->executor[0] = here.identity;
    c->executor[1] = here.implementation;
  }
  *a->move = (HKTAsyncMove){
    .target = c->target, .frame = &c->frame, .pop = a->area - area(c->stack_bytes), .stack = c->stack, .words = c->stack_bytes / 8,
  };
}

/// Has the thread go on with the function that the handler awaits.
static void enter_callee(HKTAsyncCall *r, const Activation *a) {
  keep_stack(r, r->call.thread);
  start_callee(r->callee, r, r->context, r->header.resume_parent, a);
}

/// Puts results where the caller, which is resumed, looks for them. An error goes by r13 there.
static void put_results(HKTFrame *here, const HKTResults *results) {
  memcpy(here->integer, results->integer, sizeof results->integer);
  memcpy(here->xmm, results->xmm, sizeof results->xmm);
  here->self_register = results->error;
}

/// Takes the results that a callee resumed us with into the call's frame.
static void take_results(HKTFrame *frame, const HKTFrame *here) {
  memcpy(frame->results.integer, here->integer, sizeof frame->results.integer);
  memcpy(frame->results.xmm, here->xmm, sizeof frame->results.xmm);
  frame->results.error = here->self_register;
}

/// Decides whether there is an error where the function's type does not say that it throws. 1 stands for one of a type of its own.
static void settle_error(HKTAsyncCall *r) {
  r->call.state &= ~(uint32_t)HKT_CALL_ERROR_IS_NOT_CERTAIN;
  uint64_t left = r->frame.results.error;
  if (!left) return;
  HKTErrorUse use = hkt_async_error_use(&r->call);
  if (use == HKT_ERROR_IS_READ) return;
  if (use == HKT_ERROR_USE_UNKNOWN && (left == 1 || hkt_may_be_error(left))) r->call.state |= HKT_CALL_ERROR_IS_NOT_CERTAIN;
  else r->frame.results.error = 0;
}

/// Ends the record of an async call, and what it keeps.
static void free_record(HKTAsyncCall *r) {
  hkt_layers_let_go(r->call.layers);
  hkt_release_kept(&r->call);
  free(r);
}

/// Has the thread go on with the caller, with the call's results. The record is gone afterwards.
static void resume_caller(HKTAsyncCall *r, const Activation *a) {
  put_results(a->here, &r->frame.results);
  a->here->async_context = (uint64_t)r->context;
  *a->move = (HKTAsyncMove){.target = r->header.resume_parent, .frame = a->here, .pop = a->area - NO_ARGUMENTS};
  free_record(r);
}

/// Back into the function that ran what is below its layer.
static void resume_proceeding(HKTAsyncCall *r, const Activation *a) {
  HKTAsyncLayer *mine = hkt_async_layer(&r->call);
  HKTAsyncContext *context = mine->proceeds;
  mine->proceeds = NULL;
  r->call.state |= HKT_CALL_ORIGINAL_RAN;
  a->here->async_context = (uint64_t)context;
  *a->move = (HKTAsyncMove){.target = context->resume_parent, .frame = a->here, .pop = a->area - NO_ARGUMENTS};
}

// MARK: Through the layers

/// Notes whether the original ran for the layer that is at work.
static inline void note_ran(HKTCall *call, bool ran) {
  if (ran) call->state |= HKT_CALL_ORIGINAL_RAN;
  else call->state &= ~(uint32_t)HKT_CALL_ORIGINAL_RAN;
}

/// On the way down, at a layer. True: the way is up now, with the layer's own result.
static HKTOutcome go_down(HKTCall *call, HKTLayer *layer) {
  if (layer->phases & HKT_ON_AROUND) {
    note_ran(call, false);
    return hkt_run_layer(call, layer, HKT_AROUND);
  }
  if (layer->phases & HKT_ON_ENTER) hkt_run_layer(call, layer, HKT_ENTER);
  return HKT_FAILED;  // what comes below runs
}

/// On the way up, at a layer: results are there.
static HKTOutcome go_up(HKTCall *call, HKTLayer *layer) {
  HKTAsyncLayer *mine = hkt_async_layer(call);
  note_ran(call, true);
  if (mine->waits) {
    mine->waits = 0;
    return hkt_run_layer(call, layer, hkt_is_passive() ? HKT_DROP : HKT_RESUME);
  }
  if ((layer->phases & HKT_ON_EXIT) && !hkt_is_passive()) hkt_run_layer(call, layer, HKT_EXIT);
  return HKT_HANDLED;
}

/// The next layer below that takes part, and a note on those that do not.
static uint32_t next_down(HKTAsyncCall *r, uint32_t at) {
  uint32_t next = hkt_next_layer(&r->call, at);
  for (; at < next; at++) r->layer[at].passes = 1;
  if (next < r->call.layers->count) r->layer[next].passes = 0;
  return next;
}

/// The next layer above that takes part, as next_down noted; the first layer of the call when there is none.
static uint32_t next_up(const HKTAsyncCall *r, uint32_t at) {
  while (at > r->call.first && r->layer[at - 1].passes) at--;
  return at;
}

/// Runs layers until the call has to leave this thread's hands. `at`: the first layer below (down) or the one under the
/// next (up).
static void advance(HKTAsyncCall *r, uint32_t at, bool up, const Activation *a) {
  HKTCall *call = &r->call;
  for (;;) {
    at = up ? next_up(r, at) : next_down(r, at);
    if (up && at == call->first) return resume_caller(r, a);
    if (!up && at == call->layers->count) return enter_original(r, a);
    call->index = up ? at - 1 : at;
    HKTLayer *layer = &call->layers->layer[call->index];
    if (up && hkt_is_set(call, HKT_CALL_REPLACED)) hkt_restore_arguments(call, call->index + 1);
    if (up && hkt_async_layer(call)->proceeds) return resume_proceeding(r, a);
    HKTOutcome outcome = up ? go_up(call, layer) : go_down(call, layer);
    if (outcome == HKT_PROCEED || outcome == HKT_AWAIT) hkt_async_layer(call)->waits = 1;
    if (outcome == HKT_AWAIT) return enter_callee(r, a);
    if (outcome == HKT_PROCEED) {
      at = call->index + 1;
      up = false;
    } else if (up) {
      at--;
    } else if (outcome == HKT_HANDLED) {
      up = true;
    } else {
      at++;
    }
  }
}

// MARK: Entry

/// The call goes on in that body, which may hand it on once more.
static void note_continued(HKTAsyncCall *record, const HKTAsyncContext *own, const HKTBodyRecord *body) {
  record->continued = hkt_hands_on(body) ? own : NULL;
  record->continued_for = *own;
  record->continues_at = body;
}

/// The call that `own` belongs to was delivered two or more bodies before: each of them awaits the next, and `body` is the last.
static bool continues_along(const HKTAsyncContext *own, const HKTBodyRecord *body) {
  enum { MOST_BODIES = 8 };
  const HKTAsyncContext *context = own->parent;
  for (int n = 0; context && n < MOST_BODIES; n++, context = context->parent) {
    HKTAsyncCall *record = record_of(context);
    if (!record) continue;
    const HKTAsyncContext *last = own->parent;
    if (record->is_callee || record->continued != last || last->parent != record->continued_for.parent ||
        last->resume_parent != record->continued_for.resume_parent || !hkt_hands_on_to(record->continues_at, body))
      return false;
    note_continued(record, own, body);
    return true;
  }
  return false;
}

/// The entry continues a call of the same selector that was delivered already: a base that awaits its clone, a slot's stub
/// that jumped here, a thunk behind a slot that awaits the body.
static bool continues_delivered_call(const HKTFrame *frame, const HKTBodyRecord *body) {
  if (!hkt_is_reached_twice(body)) return false;
  const HKTAsyncContext *own = (HKTAsyncContext *)frame->async_context;
  HKTAsyncCall *record = record_of(own);
  bool is_by_slot = record && (hkt_record_flags(record->call.body) & HKT_BODY_SLOT);
  if (is_by_slot && !record->is_callee && hkt_hands_on_to(record->call.body, body)) return true;
  record = own->parent ? record_of(own->parent) : NULL;
  if (!record) return own->parent && continues_along(own, body);
  if (record->is_callee || !hkt_hands_on_to(record->call.body, body)) return false;
  // A body that was entered by a slot's stub and awaits itself runs anew. A replaceable function awaits its replacement.
  if (hkt_record_flags(record->call.body) & HKT_BODY_SLOT && !record->call.body->thunk_end && body->route != HKT_ROUTE_DYNAMIC) return false;
  note_continued(record, own, body);
  return true;
}

/// The call whose handler awaits this one, of the same selector: the layers below that handler run. NULL: all do.
static HKTCall *awaiting(const HKTFrame *frame, const HKTBodyRecord *body, const HKTThread *t) {
  HKTCall *handler = hkt_handler_of(t, body->family);
  if (handler) return handler;
  if (atomic_load_explicit(&callees_in_flight, memory_order_relaxed) == 0) return NULL;
  for (HKTAsyncContext *c = (HKTAsyncContext *)frame->async_context; c; c = c->parent) {
    HKTAsyncCall *record = record_of(c);
    if (!record) continue;
    HKTAsyncCall *owner = record->is_callee ? ((HKTAsyncCallee *)record)->owner : NULL;
    return owner && owner->call.body->family == body->family ? &owner->call : NULL;
  }
  return NULL;
}

/// The record of an async call, on the heap since the call leaves this stack; NULL when memory runs out.
static HKTAsyncCall *make_record(const HKTCall *call) {
  uint32_t count = call->layers->count, stack_bytes = call->body->stack_bytes;
  HKTAsyncCall *r = malloc(sizeof *r + count * sizeof r->layer[0] + stack_bytes);
  if (!r) return NULL;
  HKTAsyncContext *context = (HKTAsyncContext *)call->frame->async_context;
  r->header = *context;
  r->is_callee = 0;
  r->stack_bytes = stack_bytes;
  r->context = context;
  r->stack = (uint64_t *)&r->layer[count];
  r->callee = NULL;
  r->runs = 0;
  r->continued = NULL;
  r->call = *call;
  r->call.frame = &r->frame;
  r->call.is_async = 1;
  memcpy(&r->frame, call->frame, offsetof(HKTFrame, results));
  memset(&r->frame.results, 0, sizeof r->frame.results);
  memset(r->layer, 0, count * sizeof r->layer[0]);
  return r;
}

/// Layers that run before the call, on its own frame. True: something has to be released afterwards.
static bool run_enter_only(HKTCall *call) {
  for (uint32_t i = call->first; (i = hkt_next_layer(call, i)) < call->layers->count; i++) {
    call->index = i;
    HKTLayer *layer = &call->layers->layer[i];
    if (layer->phases & HKT_ON_ENTER) hkt_run_layer(call, layer, HKT_ENTER);
  }
  return call->releases || call->scratch;
}

__attribute__((visibility("hidden"))) void hkt_async_enter(HKTFrame *here, HKTAsyncMove *move, HKTSite *site) {
  *move = (HKTAsyncMove){.target = site->original, .frame = here};
  HKTThread *t = hkt_thread();
  if (hkt_passes_through(t)) return;
  HKTBodyRecord *body = __atomic_load_n((HKTBodyRecord **)&site->owner, __ATOMIC_ACQUIRE);
  while (body && !hkt_is_call_of(body, here)) body = body->next;
  if (!body || continues_delivered_call(here, body)) return;
  HKTLayers *layers = hkt_layers_hold(t, body, here);
  if (!layers) return;
  if (body->route == HKT_ROUTE_DYNAMIC) hkt_disarm();
  hkt_need_plan(t, body);
  hkt_count_call(t, body);

  here->indirect_result = here->integer[0];  // where the plan says the result's address is
  here->results.error = here->error_register = 0;  // 0 is no error; r12 itself stays as it is
  HKTCall call = {
    .frame = here, .site = site, .body = body, .layers = layers, .thread = t, .gap = UINT32_MAX,
    .self_class = hkt_class_to_note(body, here),
  };
  hkt_drop_left(t, here);
  HKTCall *handler = awaiting(here, body, t);
  if (handler) hkt_start_below(&call, handler);
  bool enter_only = !(layers->phases & (HKT_ON_AROUND | HKT_ON_EXIT));
  if (enter_only && !run_enter_only(&call) && !(hkt_record_flags(body) & HKT_BODY_FORWARDS)) {
    hkt_release_kept(&call);
    return hkt_layers_let_go(layers);
  }

  Activation a = {here, move, area(body->stack_bytes)};
  HKTAsyncCall *r = make_record(&call);
  if (!r) {
    // The call goes on unseen; what a `before` handler kept alive is needed for longer than we could tell.
    return hkt_layers_let_go(layers);
  }
  if (layers->phases & HKT_TIMED) r->call.began_ticks = __rdtsc();
  if (enter_only) enter_original(r, &a);
  else advance(r, call.first, false, &a);
}

// MARK: Return

/// A call that a handler awaited is over: back to where it was made, as every caller goes.
static void callee_returned(HKTAsyncCallee *c, HKTFrame *here, HKTAsyncMove *move) {
  take_results(&c->frame, here);
  *move = (HKTAsyncMove){.target = (void *)hkt_async_switched, .frame = here};
  if (!swift_task_getCurrentExecutor || !swift_task_switch) return;
  move->target = (void *)swift_task_switch;
  here->integer[0] = (uint64_t)hkt_async_switched;
  here->integer[1] = c->executor[0];
  here->integer[2] = c->executor[1];
}

/// The handler goes on.
static void handler_goes_on(HKTAsyncCallee *c, HKTThread *t, const Activation *a) {
  HKTAsyncCall *r = c->owner;
  r->call.thread = t;
  bool ran = r->call.state & HKT_CALL_ORIGINAL_RAN;
  // As on the way up, but what the original left is what it was.
  HKTLayer *layer = &r->call.layers->layer[r->call.index];
  HKTAsyncLayer *mine = hkt_async_layer(&r->call);
  mine->waits = 0;
  HKTOutcome outcome = hkt_run_layer(&r->call, layer, hkt_is_passive() ? HKT_DROP : HKT_RESUME);
  uint32_t at = r->call.index;
  switch (outcome) {
    case HKT_AWAIT:
      mine->waits = 1;
      return enter_callee(r, a);
    case HKT_PROCEED:
      mine->waits = 1;
      return advance(r, at + 1, false, a);
    case HKT_HANDLED: return advance(r, at, true, a);
    case HKT_FAILED: return ran ? advance(r, at, true, a) : advance(r, at + 1, false, a);
  }
}

__attribute__((visibility("hidden"))) void hkt_async_returned(HKTFrame *here, HKTAsyncMove *move) {
  HKTAsyncContext *context = (HKTAsyncContext *)here->async_context;
  HKTAsyncCall *r = (HKTAsyncCall *)context->parent;
  HKTThread *t = hkt_thread();
  Activation a = {here, move, NO_ARGUMENTS};
  if (r->is_callee) return callee_returned((HKTAsyncCallee *)r, here, move);
  *context = r->header;
  if (!t) {  // no memory even for a thread's record: the caller gets its result, our record is lost
    *move = (HKTAsyncMove){.target = context->resume_parent, .frame = here};
    return;
  }
  take_results(&r->frame, here);
  r->call.thread = t;
  if (hkt_record_flags(r->call.body) & HKT_BODY_MAY_THROW) settle_error(r);
  advance(r, r->call.layers->count, true, &a);
}

enum { OBJECT_HEADER = 2 };  // words

/// A task calls a callee that no layer waits for.
__attribute__((visibility("hidden"))) void hkt_async_runs(HKTFrame *here, HKTAsyncMove *move) {
  HKTAsyncContext *own = (HKTAsyncContext *)here->async_context;
  Activation a = {here, move, NO_ARGUMENTS};
  start_callee(((HKTAsyncCallee **)here->self_register)[OBJECT_HEADER], NULL, own, own->resume_parent, &a);
}

/// A callee of a waiting layer runs what is below it.
__attribute__((visibility("hidden"))) void hkt_async_proceeds(HKTFrame *here, HKTAsyncMove *move) {
  HKTAsyncCall *r = ((HKTAsyncCall **)here->self_register)[OBJECT_HEADER];
  Activation a = {here, move, NO_ARGUMENTS};
  hkt_async_layer(&r->call)->proceeds = (HKTAsyncContext *)here->async_context;
  r->call.thread = hkt_thread();
  advance(r, r->call.index + 1, false, &a);
}

/// Back into the function of the task that called it.
static void task_goes_on(HKTAsyncCallee *c, const Activation *a) {
  a->here->async_context = (uint64_t)c->header.parent;
  *a->move = (HKTAsyncMove){.target = c->header.resume_parent, .frame = a->here, .pop = a->area - NO_ARGUMENTS};
}

/// On the executor of the handler that awaited a call.
__attribute__((visibility("hidden"))) void hkt_async_go_on(HKTFrame *here, HKTAsyncMove *move) {
  HKTAsyncContext *context = (HKTAsyncContext *)here->async_context;
  Activation a = {here, move, NO_ARGUMENTS};
  HKTAsyncCallee *callee = (HKTAsyncCallee *)context->parent;
  if (callee->owner) handler_goes_on(callee, hkt_thread(), &a);
  else task_goes_on(callee, &a);
}

// MARK: Calling in

HKTAsyncCallee *hkt_async_callee_new(void *target, uint32_t context_size, uint32_t stack_bytes) {
  size_t context_at = (sizeof(HKTAsyncCallee) + stack_bytes + 15) / 16 * 16;
  HKTAsyncCallee *c = calloc(1, context_at + (context_size < 16 ? 16 : context_size));
  if (!c) return NULL;
  c->is_callee = 1;
  c->stack_bytes = stack_bytes;
  c->target = target;
  c->context = (HKTAsyncContext *)((char *)c + context_at);
  c->stack = (const uint64_t *)(c + 1);
  c->frame.stack = (uint64_t *)(c + 1);
  atomic_fetch_add(&callees_in_flight, 1);
  return c;
}

void hkt_async_callee_free(HKTAsyncCallee *callee) {
  if (!callee) return;
  free(callee);
  atomic_fetch_sub(&callees_in_flight, 1);
}
