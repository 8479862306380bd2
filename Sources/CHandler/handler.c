// The way of a call: in, past the breaker and the class of self, through the Lua state, out.
#include "CHandler.h"

#include "CCrash.h"

#define RARELY(condition) __builtin_expect(!!(condition), 0)

static CHandlerHost host;

void chandler_set_host(const CHandlerHost *functions) { host = *functions; }

/// The hook is an object of Swift: its first field lies behind its class and its reference count (ABI: HeapObject.h, 16 bytes).
static inline const CHandler *handler_of(const void *hook) { return *(const CHandler *const *)((const char *)hook + 16); }

/// self is not of the handler's class: another class's call can arrive here when bodies are shared.
static inline bool is_mismatch(const CHandler *handler, void *hook, HKTCall *call, const HKTPlanFacts *plan) {
  uint64_t expected = chandler_receiver_class(handler);
  if (expected == CHANDLER_CLASS_ANY) return false;
  if (plan->self.kind == HKT_VALUE_OBJECT && !(plan->consumes_self && call->state & HKT_CALL_ORIGINAL_RAN)) {
    const uint64_t *object = *(const uint64_t *const *)hkt_frame_at(call->frame, plan->self.place);
    if (!object || *object == expected) return false;
  }
  return host.is_mismatch(hook, call);
}

/// What the host keeps for the call's thread, which is this one; made at its first call.
static inline CHandlerThread *thread_of(HKTCall *call) {
  void *known = call->thread->local;
  return RARELY(!known) ? host.make_thread(call->thread) : known;
}

/// The handler went around the original and changed nothing else: what it returned, if anything, is what the original did, or takes its place
/// where the caller is known to read it. False, with nothing changed: the host decides.
static inline bool returns_bits(const CHandler *handler, const CHandlerCall *script, const HKTPlanFacts *plan, int32_t count, const SHLValue *result) {
  if (script->original_runs <= 0 || script->did_trap || script->changes || script->arguments.staged) return false;
  if (count == 0) return true;
  HKTFrame *frame = script->call->frame;
  if (plan->may_return_error && frame->results.error != frame->error_register) return false;
  uint64_t *place = hkt_frame_at(frame, plan->result.place), old = *place, new;
  switch (plan->result.kind) {
    case HKT_VALUE_INT64:
      if (result->tag != SHL_INT) return false;
      new = (uint64_t)result->i;
      break;
    case HKT_VALUE_DOUBLE:
      if (result->tag != SHL_NUMBER) return false;
      new = *(const uint64_t *)&result->n;
      break;
    case HKT_VALUE_BOOL:
      if (result->tag != SHL_BOOL) return false;
      new = result->b;
      old &= 1;  // the rest of the register may hold anything
      break;
    case HKT_VALUE_VOID: return true;
    default: return false;
  }
  if (new == old) return true;
  // stack[-1]: what the call returns to
  if (script->call->is_async || frame->stack[-1] != chandler_settled_result(handler)) return false;
  *place = new;
  if (handler->crash_owner) ccrash_note_change(handler->crash_owner);
  return true;
}

/// Runs the function with the arguments that lie in the frame; where one of them is more than bits the host does it.
static inline HKTOutcome invoke(const CHandler *handler, CHandlerCall *script, const HKTPlanFacts *plan) {
  int32_t count = handler->wanted < plan->argument_count ? handler->wanted : plan->argument_count;
  if (RARELY(count > plan->plain_slots || !script->arguments.readable)) return host.invoke(script->hook, script, count);
  SHLPlaces from = {script->arguments.from.frame, script->arguments.from.slots, count};
  SHLInvocation invocation;
  SHLValue result;
  bool wants_result = handler->wants_result;
  SHLStatus status =
      shl_invoke_places(handler->state, handler->function, script, &from, wants_result ? &result : NULL, handler->lock_ns, &invocation);
  if (RARELY(status == SHL_SLOW_PATH)) return host.invoke(script->hook, script, count);
  if (status == SHL_OK && (wants_result ? returns_bits(handler, script, plan, invocation.count, &result)
                                        : !script->changes && !script->arguments.staged)) {
    shl_invoke_end(&invocation);
    return HKT_HANDLED;
  }
  return host.ended(script->hook, script, status, &result, &invocation);
}

HKTOutcome chandler_run(HKTCall *call, void *hook, HKTPhase phase) {
  const CHandler *handler = handler_of(hook);
  const HKTPlanFacts *plan = call->body->facts;
  if (RARELY(chandler_cause(handler->off)) || RARELY(is_mismatch(handler, hook, call, plan))) {
    host.pass(hook, call, phase);
    return HKT_HANDLED;
  }
  ccrash_note_call(handler->crash_owner);
  CHandlerThread *thread = thread_of(call);
  // But for the room for new arguments, which holds nothing as long as `staged` says so: a call that changes nothing does not write it.
  CHandlerCall script;
  bool is_before = phase != HKT_EXIT;
  script.arguments.serial = chandler_serial(call, thread);
  script.arguments.from = (SHLPlaces){call->frame, plan->slots, plan->argument_count};
  script.arguments.borrowed = 0;
  script.arguments.readable = is_before || !plan->consumes_arguments;
  script.arguments.changeable = is_before;
  script.arguments.staged = 0;
  script.call = call;
  script.phase = phase;
  script.original_runs = !is_before;
  script.did_trap = false;
  script.changes = NULL;
  script.hook = hook;
  script.patch = handler->patch;
  script.up = thread->top;
  script.typed_error_box = 0;
  script.async = NULL;
  script.borrows = NULL;
  thread->top = &script;
  HKTOutcome outcome = invoke(handler, &script, plan);
  thread->top = script.up;
  if (RARELY(script.changes || script.borrows)) host.end(&script);
  if (RARELY(outcome == HKT_FAILED && script.did_trap)) host.fall(call);
  return outcome;
}
