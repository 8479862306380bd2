// The dispatcher: from a trampoline to the layers of a selector and back.
//
// The ways a call takes, from the quick one to the one that every call may take:
//
//   hkt_dispatch ──► dispatch_single ──────► deliver_single     one layer that is over before the original (`before`), outside of all handlers;
//        │                 │                       │            the original comes by the jump back
//        │                 │                       └► deliver_changed      the handler kept something: the rest of such a call
//        ├─────────► dispatch_layered ─────► deliver            several layers, or one around or behind the original
//        │                 │                    ▲
//        └─────────► hkt_dispatch_asking ───────┘               threads without a record, calls inside of handlers, bodies that other selectors
//                                                               share, that calls are forwarded to, that need a plan
//   hkt_synthesized_method ──► deliver                          entries of tables made at run time
//   async.c ─► hkt_run_layer                                    layers of async calls, one at a time
//
// A way that meets what it does not handle goes on by the next one. Deliveries end in end_delivery; deliver_single alone has an end of its
// own, which leaves out what does not come up there. Counting is in call_counts.c, time in clock.c, what handlers take in meter.c, which
// entries continue a call in forwarded_calls.h, which layers take part in layer_choice.c.
//
// Invariants
//   1. `thread->top` is the innermost hooked call of the thread; records live on
//      the stack of that call and are unlinked before it returns.
//   2. A call runs the layers of one set, which it has taken (layer_sets.h).
//   3. Nothing here allocates on the path of a call, except a thread's first
//      record and the undo copy of a handler's first change.
#define _GNU_SOURCE 1
#include "HKTCalls.h"
#include "call_counts.h"
#include "calls_internal.h"
#include "forwarded_calls.h"
#include "layer_choice.h"
#include "layer_sets.h"
#include "abandoned_calls.h"
#include "stack_room.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

static void (*release_values)(void *releases);
static void (*release_scratch)(void *scratch);
void hkt_set_release_values(void (*release)(void *)) { release_values = release; }
void hkt_set_release_scratch(void (*release)(void *)) { release_scratch = release; }
static void (*restore_arguments)(HKTCall *call, uint32_t index);
void hkt_set_restore_arguments(void (*restore)(HKTCall *, uint32_t)) { restore_arguments = restore; }
void hkt_restore_arguments(HKTCall *call, uint32_t index) { restore_arguments(call, index); }
static void (*layer_spent)(void);
void hkt_set_spent(void (*spent)(void)) { layer_spent = spent; }

static void (*release_deferred)(HKTThread *, uint64_t);
void hkt_set_release_deferred(void (*release)(HKTThread *, uint64_t)) { release_deferred = release; }

__attribute__((noinline)) void hkt_end_deferred(HKTThread *t, uint64_t stack) {
  bool is_own = stack == UINT64_MAX || hkt_is_on_stack(t, stack);
  // What ends may have a deinit: none runs in a signal handler.
  if (!is_own || (t->interrupts && stack != UINT64_MAX) || !t->deferred || !release_deferred || t->host) return;
  int saved_errno = *t->errno_place;
  t->host++;
  release_deferred(t, stack);
  t->host--;
  *t->errno_place = saved_errno;
}

/// A call begins, or is over, at `frame`: frames further down the stack are gone.
static inline void note_depth(HKTThread *t, const HKTFrame *frame) {
  if (__builtin_expect((uint64_t)frame->stack > t->deferred_end, 0)) hkt_end_deferred(t, (uint64_t)frame->stack);
}

void hkt_set_passive(bool value) {
  if (value) atomic_fetch_or(&hkt_process_is, HKT_PROCESS_PASSIVE);
  else atomic_fetch_and(&hkt_process_is, ~(uint32_t)HKT_PROCESS_PASSIVE);
}
bool hkt_is_passive(void) { return atomic_load_explicit(&hkt_process_is, memory_order_relaxed) & HKT_PROCESS_PASSIVE; }

// MARK: Running a call

static inline __attribute__((always_inline)) HKTOutcome run_handler(HKTCall *call, HKTLayer *layer, HKTPhase phase) {
  HKTThread *t = call->thread;
  uint32_t is_host_work = layer->is_host_work;
  hkt_set_state(call, HKT_CALL_IN_HANDLER);
  uint32_t at_work = t->at_work;
  t->at_work = at_work + 1;
  t->host += is_host_work;
  HKTOutcome outcome =
      __builtin_expect(hkt_is_due(t, layer), 0) ? hkt_run_measured(call, layer, phase) : layer->function(call, layer->context, phase);
  t->host -= is_host_work;
  t->at_work = at_work;
  t->top = call;
  hkt_clear_state(call, HKT_CALL_IN_HANDLER);
  *t->errno_place = call->error_number;
  return outcome;
}

/// Frame records lie one above the other: {the next one's address, return address}. The last has 0, those of async functions bit 60.
static bool is_frame_record(uint64_t at, uint64_t stack_high) {
  uint64_t next = *(const uint64_t *)at & ~(UINT64_C(1) << 60);
  return next == 0 || (next > at && next < stack_high && next % 8 == 0);
}

size_t hkt_argument_bytes(const uint64_t *stack, uint64_t end, uint64_t stack_high, uint64_t rbp, size_t least) {
  enum { NO_FRAME_POINTER = 8192 };
  uint64_t from = (uint64_t)stack, all = end - from;
  bool is_inside = rbp % 8 == 0 && rbp > from && rbp < end && end - rbp >= 16;
  uint64_t bytes = is_inside && is_frame_record(rbp, stack_high) ? rbp - from : NO_FRAME_POINTER;
  if (bytes < least) bytes = least;
  return (bytes < all ? bytes : all) & ~(uint64_t)7;
}

/// Bytes of stack arguments to copy for the original.
static size_t stack_bytes_of(const HKTCall *call) {
  const HKTBodyRecord *body = call->body;
  if (__builtin_expect(hkt_record_flags(body) & HKT_BODY_STACK_KNOWN, 1)) return body->stack_bytes;
  enum { HEADROOM = 64 * 1024 };
  const HKTThread *t = call->thread;
  const uint64_t *stack = call->frame->stack;
  uint64_t from = (uint64_t)stack, rbp = stack[-2];  // the trampoline has pushed it
  // Where a stack ends that is not the thread's own is not known: reading too far is worse there than an unlikely frame pointer.
  if (!hkt_is_on_stack(t, from)) return hkt_argument_bytes(stack, from + body->stack_bytes, UINT64_MAX, rbp, 0);
  uint64_t here = (uint64_t)__builtin_frame_address(0), low, high;
  hkt_stack_bounds(t, from, &low, &high);
  size_t bytes = hkt_argument_bytes(stack, high, t->stack_high, rbp, body->stack_bytes);
  // A frame of that size is no list of arguments; the copy must not consume the stack.
  hkt_stack_bounds(t, here, &low, &high);
  uint64_t room = here - low;
  return bytes > body->stack_bytes && bytes + HEADROOM > room ? body->stack_bytes : bytes;
}

/// Runs the original with the frame's arguments, outside of the host's own time, and takes its results and errno.
static void run_original(HKTCall *call) {
  HKTThread *t = call->thread;
  uint32_t host = t->host, at_work = t->at_work;
  t->host = 0;
  hkt_set_state(call, hkt_record_flags(call->body) & HKT_BODY_FORWARDS ? HKT_CALL_FORWARDING | HKT_CALL_IN_ORIGINAL : HKT_CALL_IN_ORIGINAL);
  // Handlers around this ran in between, or still do.
  *t->errno_place = call->error_number;
  hkt_invoke(call->frame, call->site->original, stack_bytes_of(call));
  call->error_number = *t->errno_place;
  if (__builtin_expect(hkt_record_flags(call->body) & HKT_BODY_X87, 0)) hkt_x87_take(call->frame);
  hkt_clear_state(call, HKT_CALL_FORWARDING | HKT_CALL_IN_ORIGINAL);
  hkt_set_state(call, HKT_CALL_ORIGINAL_RAN);
  // Calls that it made may have been left.
  t->host = host;
  t->at_work = at_work;
  t->top = call;
}

/// Runs the layers from `index` on that take part, and the original in the middle of them.
static void run_from(HKTCall *call, uint32_t index) {
  index = hkt_next_layer(call, index);
  if (index == call->layers->count) { run_original(call); return; }
  HKTLayer *layer = &call->layers->layer[index];
  uint32_t outer = call->index;
  uint32_t outer_ran = hkt_is_set(call, HKT_CALL_ORIGINAL_RAN) ? HKT_CALL_ORIGINAL_RAN : 0;
  call->index = index;
  if (layer->phases & HKT_ON_AROUND) {
    hkt_clear_state(call, HKT_CALL_ORIGINAL_RAN);
    if (run_handler(call, layer, HKT_AROUND) != HKT_HANDLED && !hkt_is_set(call, HKT_CALL_ORIGINAL_RAN)) {
      run_from(call, index + 1);
    }
  } else {
    if (layer->phases & HKT_ON_ENTER) run_handler(call, layer, HKT_ENTER);
    run_from(call, index + 1);
    call->index = index;
    hkt_set_state(call, HKT_CALL_ORIGINAL_RAN);  // or a layer below stood in for it: what a call consumes is gone
    if (layer->phases & HKT_ON_EXIT) run_handler(call, layer, HKT_EXIT);
  }
  if (__builtin_expect(hkt_is_set(call, HKT_CALL_REPLACED), 0)) hkt_restore_arguments(call, index);
  hkt_set_state(call, outer_ran);
  call->index = outer;
}

void hkt_call_proceed(HKTCall *call) {
  uint32_t at_work = call->thread->at_work;
  // Layers below this one are measured by themselves.
  uint32_t measured = hkt_state(call) & HKT_CALL_MEASURED;
  uint64_t began = __builtin_expect(measured != 0, 0) ? hkt_ticks() : 0;
  hkt_clear_state(call, HKT_CALL_IN_HANDLER | HKT_CALL_MEASURED);
  call->thread->at_work = at_work - 1;
  if (call->index + 1 == call->layers->count) run_original(call);
  else run_from(call, call->index + 1);
  call->thread->at_work = at_work;
  if (__builtin_expect(measured != 0, 0)) call->thread->onward_ticks += hkt_ticks_since(began);
  hkt_set_state(call, HKT_CALL_IN_HANDLER | HKT_CALL_ORIGINAL_RAN | measured);
}

/// The call runs one layer, whatever it is on.
static inline bool has_one_layer(const HKTCall *call) {
  return call->layers->count == 1 && call->first == 0 && !(call->layers->layer[0].special & HKT_LAYER_IS_CONDITIONAL);
}

/// Runs the original inside the one layer of a call, as run_from does for several.
static inline __attribute__((always_inline)) void run_around_original(HKTCall *call, HKTLayer *layer) {
  if (layer->phases & HKT_ON_AROUND) {
    if (run_handler(call, layer, HKT_AROUND) != HKT_HANDLED && !hkt_is_set(call, HKT_CALL_ORIGINAL_RAN)) run_original(call);
    return;
  }
  if (layer->phases & HKT_ON_ENTER) run_handler(call, layer, HKT_ENTER);
  run_original(call);
  if (layer->phases & HKT_ON_EXIT) run_handler(call, layer, HKT_EXIT);
}

/// The layers of a call that is left by a jump.
static void run_entering(HKTCall *call) {
  for (uint32_t i = call->first; (i = hkt_next_layer(call, i)) < call->layers->count; i++) {
    HKTLayer *layer = &call->layers->layer[i];
    call->index = i;
    if (layer->phases & HKT_ON_ENTER) run_handler(call, layer, HKT_ENTER);
  }
}

/// What one of the places of HKTThunk.h holds.
static inline uint64_t word_at(const HKTFrame *frame, uint32_t place) {
  if (place < HKT_THUNK_REGISTERS) return frame->integer[place];
  place -= HKT_THUNK_REGISTERS;
  if (place < HKT_THUNK_SLOTS) return frame->stack[place];
  uint64_t low;
  memcpy(&low, frame->xmm[place - HKT_THUNK_SLOTS], sizeof low);
  return low;
}

/// Whether the call is this record's selector's: its thunk's constants are among the arguments.
static inline bool is_call_of(const HKTBodyRecord *record, const HKTFrame *frame) {
  for (uint32_t i = 0; i < record->guard_count; i++) {
    const HKTGuard *guard = &record->guard[i];
    if ((word_at(frame, guard->place) ^ guard->value) & guard->mask) return false;
  }
  return true;
}

static void (*planner)(HKTBodyRecord *);
static pthread_mutex_t plan_lock = PTHREAD_MUTEX_INITIALIZER;

void hkt_set_planner(void (*function)(HKTBodyRecord *)) { __atomic_store_n(&planner, function, __ATOMIC_RELEASE); }

void hkt_plan_lock_reset(void) { plan_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; }

bool hkt_record_plan(HKTBodyRecord *record, void *plan, const HKTPlanFacts *facts, uint32_t stack_bytes, uint16_t self_at, uint32_t flags) {
  pthread_mutex_lock(&plan_lock);
  bool is_first = !record->plan;
  if (is_first) {
    record->stack_bytes = stack_bytes;
    record->self_at = self_at;
    record->facts = facts;
    hkt_record_add_flags(record, flags);
    __atomic_store_n(&record->plan, plan, __ATOMIC_RELEASE);
    __atomic_fetch_or(&record->flags, HKT_BODY_HAS_PLAN, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&plan_lock);
  return is_first;
}

static void run_planner(void *record) { __atomic_load_n(&planner, __ATOMIC_ACQUIRE)(record); }

__attribute__((noinline, visibility("hidden"))) void hkt_make_plan(HKTThread *t, HKTBodyRecord *body) {
  if (!__atomic_load_n(&planner, __ATOMIC_ACQUIRE)) return;
  int saved_errno = *t->errno_place;
  uint64_t began = hkt_ticks();
  int cancel = hkt_hold_cancel();
  t->host++;
  hkt_with_room(t, run_planner, body);
  t->host--;
  hkt_let_cancel(cancel);
  t->host_ticks += hkt_ticks_since(began);
  *t->errno_place = saved_errno;
}

/// The call kept something that is to be released, or has one of the bits in its state.
static inline bool leaves(const HKTCall *call, uint32_t bits) {
  uintptr_t kept = (uintptr_t)call->releases | (uintptr_t)call->scratch;
  return __builtin_expect((kept | (call->state & bits)) != 0, 0);
}

// A signal handler's calls find the outermost slot taken: `at_work` is 1 as long as it is.

static inline void leave_outermost(HKTThread *t) {
  hkt_release_outermost(t);
  atomic_signal_fence(memory_order_seq_cst);
  t->at_work = 0;
}

/// The call's layers are over: lets go of them, and of what the call kept.
/// - by_jump: the original comes now, by the jump back from the trampoline.
static inline __attribute__((always_inline)) HKTAction end_delivery(HKTCall *call, uint32_t slot, bool is_outermost, bool by_jump) {
  HKTThread *t = call->thread;
  t->top = call->up;
  if (is_outermost) leave_outermost(t);
  else hkt_release_layers(t, call->layers, slot);
  if (leaves(call, HKT_CALL_SPENT)) hkt_release_kept(call);
  note_depth(t, call->frame);
  if (!by_jump) {
    // Nothing but the way back to the caller comes after it.
    if (__builtin_expect(hkt_record_flags(call->body) & HKT_BODY_X87, 0)) hkt_x87_give(call->frame);
    return HKT_RETURN;
  }
  if (hkt_record_flags(call->body) & HKT_BODY_FORWARDS) hkt_note_forwarded(t, call->body, call->frame);
  return HKT_CONTINUE;
}

/// Runs the call's layers and the original. `layers` are protected, and released here.
/// - running: the call whose handler makes this one, of the same selector; NULL: all layers run.
static HKTAction deliver(HKTThread *t, HKTFrame *frame, HKTSite *site, HKTBodyRecord *body, HKTLayers *layers, HKTCall *running) {
  HKTCall call = {
    .frame = frame, .site = site, .body = body, .layers = layers, .thread = t, .up = t->top, .gap = UINT32_MAX,
    .error_number = *t->errno_place, .self_class = hkt_class_to_note(body, frame),
  };
  if (running) hkt_start_below(&call, running);
  uint32_t slot = t->protected_count - 1;
  if (slot < HKT_HAZARDS) t->holder[slot] = &call;
  t->top = &call;
  hkt_count_call(t, body);
  if (__builtin_expect(hkt_record_flags(body) & HKT_BODY_X87, 0)) frame->x87_count = 0;
  // The original of a call that a handler makes is distinguished from the handler itself by the record, which has to stay.
  bool may_jump = !running || (hkt_record_flags(body) & HKT_BODY_ENTER_ONLY);
  bool by_jump = !(layers->phases & (HKT_ON_AROUND | HKT_ON_EXIT)) && may_jump;
  if (by_jump) {
    run_entering(&call);
    if (hkt_is_set(&call, HKT_CALL_MUST_RETURN) && !(hkt_record_flags(body) & HKT_BODY_ENTER_ONLY)) {
      run_original(&call);
      by_jump = false;
    }
  } else {
    if (layers->phases & HKT_TIMED) call.began_ticks = __rdtsc();
    // A replaced call returns r12 and r13 as a callee would, as they came in: the trampoline has put them there.
    if (has_one_layer(&call)) run_around_original(&call, layers->layer);
    else run_from(&call, call.first);
  }
  return end_delivery(&call, slot, false, by_jump);
}

/// The rest of a call of `deliver_single` that its handler changed.
static __attribute__((noinline)) HKTAction deliver_changed(HKTCall *call, uint32_t slot) {
  HKTThread *t = call->thread;
  hkt_clear_state(call, HKT_CALL_IN_HANDLER);
  bool by_jump = !hkt_is_set(call, HKT_CALL_MUST_RETURN) || (hkt_record_flags(call->body) & HKT_BODY_ENTER_ONLY);
  if (!by_jump) {
    if (slot == HKT_OUTERMOST) {
      // Calls that the original makes need that one.
      slot = hkt_move_outermost(t, call);
      hkt_clear_state(call, HKT_CALL_OUTERMOST);
      atomic_signal_fence(memory_order_seq_cst);
      t->at_work = 0;
    }
    run_original(call);
  }
  return end_delivery(call, slot, slot == HKT_OUTERMOST, by_jump);
}

/// There is something to note of calls at the body before they begin.
enum { NOTED_BEFORE = HKT_BODY_X87 | HKT_BODY_ENDS_SELF };

/// What `deliver_single` takes from `deliver`, at bodies that are not NOTED_BEFORE: the call was not made by a handler, either.
static inline bool is_single(const HKTThread *t, const HKTLayers *layers) { return layers->is_single > t->at_work; }

/// Runs the one layer of a call before the original, where its conditions let it.
static __attribute__((noinline)) void run_conditional(HKTCall *call, HKTLayer *only) {
  if (!hkt_passes_conditions(call, only)) return;
  if (hkt_is_due(call->thread, only)) hkt_run_measured(call, only, HKT_ENTER);
  else only->function(call, only->context, HKT_ENTER);
}

/// Delivers what most calls are, as `deliver` does for all: calls of one layer, which is over before the original, outside of all handlers. What is counted
/// up and down is written, not read again: each reading would wait for the writing before it. What is 0 is not made 0: the time is in
/// the stores.
/// - slot: the hazard slot that protects the layers, or HKT_OUTERMOST, and `at_work` is 1: then the body is none that forwards its calls.
static inline __attribute__((always_inline)) HKTAction deliver_single(
    HKTThread *t, HKTFrame *frame, HKTSite *site, HKTBodyRecord *body, HKTLayers *layers, uint32_t slot) {
  HKTLayer *only = layers->layer;
  HKTCall call = {
    .frame = frame, .site = site, .body = body, .layers = layers, .thread = t, .up = t->top, .gap = UINT32_MAX,
    .error_number = *t->errno_place, .state = HKT_CALL_IN_HANDLER | (slot == HKT_OUTERMOST ? HKT_CALL_OUTERMOST : 0),
  };
  t->top = &call;
  if (slot != HKT_OUTERMOST) t->holder[slot] = &call;
  if (slot != HKT_OUTERMOST) t->at_work = 1;
  if (only->is_host_work) t->host = 1;
  hkt_count_call(t, body);
  if (__builtin_expect(only->special & HKT_LAYER_IS_CONDITIONAL, 0)) run_conditional(&call, only);
  else if (only->special && __builtin_expect(hkt_is_due(t, only), 0)) hkt_run_measured(&call, only, HKT_ENTER);
  else only->function(&call, only->context, HKT_ENTER);
  if (t->host) t->host = 0;
  if (slot != HKT_OUTERMOST) t->at_work = 0;
  if (*t->errno_place != call.error_number) *t->errno_place = call.error_number;
  if (leaves(&call, HKT_CALL_SPENT | HKT_CALL_MUST_RETURN)) return deliver_changed(&call, slot);
  // What end_delivery does, for a call that holds one slot, kept nothing, and goes on by the jump.
  t->top = call.up;
  if (slot == HKT_OUTERMOST) {
    leave_outermost(t);
    return HKT_CONTINUE;
  }
  hkt_release_slot(t, slot);
  if (hkt_record_flags(body) & HKT_BODY_FORWARDS) hkt_note_forwarded(t, body, frame);
  return HKT_CONTINUE;
}

/// The record of the site's body; NULL before it is published.
static inline HKTBodyRecord *record_of(const HKTSite *site) {
  return __atomic_load_n((HKTBodyRecord *const *)&site->owner, __ATOMIC_ACQUIRE);
}

/// Calls of this thread run no layers now: they are the host's own, or the process is passive.
static bool passes_through(const HKTThread *t) {
  // No __builtin_expect where the rare way is a return: the compiler takes the function that all ways leave by it for cold, and
  // makes it small instead of fast (Tests/Programs/warnings).
  return !t || t->host || hkt_is_passive();
}

/// A signal handler's call can be delivered: all that is made at first calls is there, and the layers are of those that take no memory.
static bool may_interrupt(const HKTThread *t, const HKTBodyRecord *body, const HKTLayers *layers) {
  if (!t->local || !__atomic_load_n(&body->plan, __ATOMIC_ACQUIRE)) return false;
  for (uint32_t i = 0; i < layers->count; i++)
    if (!(layers->layer[i].phases & HKT_INTERRUPTS)) return false;
  return true;
}

// Calls at bodies of which there is more to ask, and in processes and threads where there is.
static __attribute__((noinline)) HKTAction dispatch_asking(HKTFrame *frame, HKTSite *site) {
  HKTThread *t = hkt_thread_here();
  if (passes_through(t)) return HKT_CONTINUE;
  note_depth(t, frame);
  HKTBodyRecord *body = record_of(site);
  if (body->guard_count != 0) {
    while (body && !is_call_of(body, frame)) body = body->next;
    if (!body) return HKT_CONTINUE;
  }
  hkt_drop_left(t, frame);
  if (hkt_continues_delivered_call(t, frame, site, body)) return HKT_CONTINUE;

  uint32_t slot = t->protected_count;
  HKTLayers *layers = hkt_protect_call_layers(t, body, frame);
  if (layers && __builtin_expect(t->interrupts, 0) && !may_interrupt(t, body, layers)) {
    hkt_release_layers(t, layers, slot);
    hkt_count_in_signal();
    return HKT_CONTINUE;
  }
  if (!layers) { hkt_release_layers(t, NULL, slot); return HKT_CONTINUE; }
  // A replacement that was loaded later forwards its calls with the flag armed: what handlers call must not take that.
  if (body->route == HKT_ROUTE_DYNAMIC) hkt_disarm();
  hkt_need_plan(t, body);
  if (slot < HKT_HAZARDS && is_single(t, layers) && !(hkt_record_flags(body) & NOTED_BEFORE))
    return deliver_single(t, frame, site, body, layers, slot);
  return deliver(t, frame, site, body, layers, hkt_handler_of(t, body->family));
}

typedef struct Dispatch {
  HKTFrame *frame;
  HKTSite *site;
  HKTAction (*run)(HKTFrame *, HKTSite *);
  HKTAction action;
} Dispatch;

static void run_dispatch(void *context) {
  Dispatch *dispatch = context;
  dispatch->action = dispatch->run(dispatch->frame, dispatch->site);
}

/// Dispatches on the thread's spare stack, since its own has little room.
static HKTAction dispatch_on_spare(HKTThread *t, HKTFrame *frame, HKTSite *site, HKTAction (*run)(HKTFrame *, HKTSite *)) {
  Dispatch dispatch = {frame, site, run, HKT_CONTINUE};
  hkt_run_on_spare(t, run_dispatch, &dispatch);
  return dispatch.action;
}

/// A call that finds little room on its stack, or runs in a signal handler.
static __attribute__((noinline)) HKTAction dispatch_narrow(HKTThread *t, HKTFrame *frame, HKTSite *site, HKTAction (*run)(HKTFrame *, HKTSite *)) {
  switch (hkt_find_room(t)) {
    case HKT_ROOM_HERE: return run(frame, site);
    case HKT_ROOM_SPARE: return dispatch_on_spare(t, frame, site, run);
    case HKT_ROOM_NONE: break;
  }
  hkt_count_in_signal();
  return HKT_CONTINUE;
}

HKTAction hkt_dispatch_asking(HKTFrame *frame, HKTSite *site) {
  HKTThread *t = hkt_thread_here();
  if (passes_through(t)) return HKT_CONTINUE;
  return hkt_is_narrow(t) ? dispatch_narrow(t, frame, site, dispatch_asking) : dispatch_asking(frame, site);
}

/// Calls of which nothing is to be asked but who takes part.
static __attribute__((noinline)) HKTAction dispatch_layered(HKTFrame *frame, HKTSite *site, HKTThread *t, HKTBodyRecord *body) {
  uint32_t slot = t->protected_count;
  if (slot >= HKT_HAZARDS || t->at_work || hkt_has_left(t, frame)) return dispatch_asking(frame, site);
  HKTLayers *layers = hkt_protect_in_slot(t, body, slot, false);
  if (!layers) { hkt_release_slot(t, slot); return HKT_CONTINUE; }
  return deliver(t, frame, site, body, layers, NULL);
}

/// Dispatches a call in which one layer takes part that is over before the original.
static inline __attribute__((always_inline)) HKTAction dispatch_single(HKTFrame *frame, HKTSite *site, HKTThread *t, HKTBodyRecord *body) {
  if (t->at_work || hkt_has_left(t, frame)) return dispatch_asking(frame, site);
  t->at_work = 1;
  t->outermost_frame = frame;
  atomic_signal_fence(memory_order_seq_cst);
  HKTLayers *layers = hkt_protect_outermost(t, body);
  if (layers && layers->is_single) return deliver_single(t, frame, site, body, layers, HKT_OUTERMOST);
  // There is another set by now, or none.
  leave_outermost(t);
  return layers ? dispatch_asking(frame, site) : HKT_CONTINUE;
}

HKTAction hkt_dispatch(HKTFrame *frame, HKTSite *site) {
  enum { ASKED = NOTED_BEFORE | HKT_BODY_FORWARDS | HKT_BODY_IS_ASKED | HKT_BODY_HAS_SLOTS };
  HKTThread *t = hkt_this_thread;
  if (!t) return hkt_dispatch_asking(frame, site);
  if (t->host) return HKT_CONTINUE;
  if (hkt_is_narrow(t)) return dispatch_narrow(t, frame, site, dispatch_asking);
  note_depth(t, frame);
  HKTBodyRecord *body = record_of(site);
  uint32_t flags = __atomic_load_n(&body->flags, __ATOMIC_ACQUIRE);
  bool is_plain = (flags & (ASKED | HKT_BODY_HAS_PLAN)) == HKT_BODY_HAS_PLAN;
  if (!is_plain || atomic_load_explicit(&hkt_process_is, memory_order_relaxed)) return dispatch_asking(frame, site);
  return flags & HKT_BODY_IS_LAYERED ? dispatch_layered(frame, site, t, body) : dispatch_single(frame, site, t, body);
}

static HKTAction synthesized_method(HKTFrame *frame, HKTSite *site) {
  HKTThread *t = hkt_this_thread;
  HKTBodyRecord *body = record_of(site);
  hkt_drop_left(t, frame);
  uint32_t slot = t->protected_count;
  HKTLayers *layers = hkt_protect_layers(t, body);
  if (!layers) { hkt_release_layers(t, NULL, slot); return HKT_CONTINUE; }
  return deliver(t, frame, site, body, layers, NULL);
}

HKTAction hkt_synthesized_method(HKTFrame *frame, HKTSite *site) {
  HKTThread *t = hkt_thread();
  if (!t) return HKT_CONTINUE;
  if (!hkt_is_narrow(t)) return synthesized_method(frame, site);
  // There is nothing else that answers it: without more room it runs here.
  return hkt_find_room(t) == HKT_ROOM_SPARE ? dispatch_on_spare(t, frame, site, synthesized_method) : synthesized_method(frame, site);
}

// MARK: For async.c

bool hkt_passes_through(HKTThread *t) { return passes_through(t); }
bool hkt_is_call_of(const HKTBodyRecord *record, const HKTFrame *frame) { return is_call_of(record, frame); }

HKTLayers *hkt_layers_hold(HKTThread *t, HKTBodyRecord *record, const HKTFrame *frame) {
  uint32_t slot = t->protected_count;
  HKTLayers *layers = hkt_protect_call_layers(t, record, frame);
  if (layers) atomic_fetch_add(&layers->kept.deep_users, 1);
  hkt_release_layers(t, layers, slot);
  return layers;
}
void hkt_layers_let_go(HKTLayers *layers) { atomic_fetch_sub(&layers->kept.deep_users, 1); }

HKTOutcome hkt_run_layer(HKTCall *call, HKTLayer *layer, HKTPhase phase) {
  HKTThread *t = call->thread;
  hkt_drop_left(t, (HKTFrame *)__builtin_frame_address(0));
  call->up = t->top;
  // Async calls keep their layers otherwise; the slot tells where this one is.
  uint32_t slot = hkt_take_slot_for(t, call);
  t->top = call;
  call->error_number = *t->errno_place;
  HKTOutcome outcome = run_handler(call, layer, phase);
  t->top = call->up;
  if (slot < HKT_HAZARDS) hkt_release_slot(t, slot);
  else t->protected_count = slot;
  return outcome;
}

void hkt_release_kept(HKTCall *call) {
  bool is_spent = call->state & HKT_CALL_SPENT;
  if (!call->releases && !call->scratch && !is_spent) return;
  HKTThread *t = call->thread;
  int saved_errno = *t->errno_place;
  t->host++;
  if (call->releases) release_values(call->releases);
  if (call->scratch) release_scratch(call->scratch);
  if (is_spent && layer_spent) layer_spent();
  t->host--;
  *t->errno_place = saved_errno;
}
