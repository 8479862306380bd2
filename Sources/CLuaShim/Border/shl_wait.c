// Handlers that wait: a call into a state that stops in the middle and goes on later, on any thread.
//
// The pooled coroutine of the call is resumed instead of called; `shl_wait` makes the host function's call yield it.
// While it waits the lock is free, its call token is dead, and nothing of it is on a C stack. A coroutine of the script's own makes
// those that resumed it wait, too: shl_coroutine.c. All steps together
// have one budget of instructions, and one of the time in functions that it waited for itself, unless that is a single one.
//
// A coroutine that failed is never used again. What a failed one left open is closed; one that is dropped is left to the
// collector, which closes nothing.
#include "../shl_internal.h"

/// What a waiting coroutine may cost beyond the state's own limit: thousands wait at a time.
enum { ALLOWANCE = 4096 };

bool shl_can_wait(SHLCallback *cb) {
  lua_State *L = cb->scope.L;
  SHLRun *run = cb->scope.state->run;
  return (L == run->L || (L == run->current && !run->is_stuck)) && lua_isyieldable(L);
}

/// [-0, +0, -] Runs or goes on; what came out is in `inv`, and the scope is left unless results need it.
static SHLStatus step(SHLInvocation *inv, int32_t nargs, SHLValue *results, int32_t max_results, SHLWaiting **waiting) {
  SHLState *S = inv->scope.state;
  SHLInner *in = shl_inner(inv);
  lua_State *L = inv->scope.L;
  int count = 0;
  in->run.frame = __builtin_frame_address(0);
  int outcome = lua_resume(L, NULL, nargs, &count);
  if (outcome == LUA_YIELD && !in->run.kill) {
    S->limits.memory += ALLOWANCE;
    *waiting = (SHLWaiting *)in->entry;
    shl_leave_waiting(inv);
    return SHL_WAITING;
  }
  if (outcome != LUA_OK || in->run.kill) {
    in->entry->doomed = true;
    SHLStatus status = shl_classify(S, &in->run, outcome == LUA_OK || outcome == LUA_YIELD ? LUA_ERRRUN : outcome);
    shl_describe_failure(L, &in->run);
    inv->error = shl_error_make(S, L, status, lua_gettop(L));
    lua_resetthread(L);
    shl_leave(inv, true);
    return status;
  }
  count = lua_gettop(L) - 1;
  inv->count = count;
  bool plain = true;
  for (int32_t i = 0; i < count && i < max_results; i++) {
    shl_read_to(L, i + 2, &results[i]);
    plain &= shl_is_plain(results[i].tag);
  }
  if (plain) shl_leave(inv, false);
  else inv->open = 1;
  return SHL_OK;
}

typedef struct { SHLState *S; const SHLValue *values; int32_t count; lua_State *to; } Passing;

/// [-1, +0, e] Pushes the values and moves them to the coroutine.
static int pass_body(lua_State *L) {
  Passing *p = lua_touserdata(L, 1);
  lua_settop(L, 0);
  luaL_checkstack(L, p->count + 4, "too many values");
  shl_push_arguments(L, p->S, p->values, p->count);
  lua_xmove(L, p->to, p->count);
  return 0;
}

/// [-0, +count, -] Values onto a coroutine that is not running: made on the main thread, where an error can be caught.
static SHLStatus pass(SHLState *S, lua_State *to, const SHLValue *values, int32_t count) {
  if (!lua_checkstack(to, count + 4)) return SHL_NO_MEMORY;
  Passing p = {S, values, count, to};
  return shl_protect(S->main, pass_body, &p, 0, 0) == LUA_OK ? SHL_OK : SHL_NO_MEMORY;
}

SHLStatus shl_start(SHLState *S, SHLRef fn, const SHLValue *args, int32_t nargs, SHLValue *results, int32_t max_results,
                    const SHLBudget *budget, SHLInvocation *inv, SHLWaiting **waiting) {
  *waiting = NULL;
  SHLStatus status = shl_enter_with(S, budget, NULL, inv);
  if (status != SHL_OK) return status;
  SHLInner *in = shl_inner(inv);
  in->entry->waited_ns = 0;
  in->entry->waits = 0;
  enum { MOST = 32 };
  SHLValue all[MOST + 1];
  if (nargs > MOST) {
    shl_leave(inv, false);
    return SHL_BAD_ARGUMENT;
  }
  all[0] = shl_ref_value(fn);
  for (int32_t i = 0; i < nargs; i++) {
    all[i + 1] = args[i];
    if (args[i].tag != SHL_CALL_HERE) continue;
    SHLSlot *slot = &S->slots[in->entry->slot];
    slot->host = args[i].host;
    all[i + 1] = shl_call_value(shl_token(slot->generation, in->entry->slot));
    in->here = true;
  }
  status = pass(S, in->entry->L, all, nargs + 1);
  if (status != SHL_OK) {
    shl_leave(inv, false);
    return status;
  }
  return step(inv, nargs, results, max_results, waiting);
}

/// The budget goes on, too.
static void go_on_charged(SHLState *S, SHLRun *run, SHLEntry *entry) {
  run->left = run->granted = entry->left;
  if (run->left < 0) run->kill = SHL_KILLED_INSTRUCTIONS;
  if (!entry->waits_since) return;
  entry->waited_ns += shl_now() - entry->waits_since;
  if (++entry->waits < 2 || run->script_ns < 0 || entry->waited_ns <= run->elapsed_ns || run->kill) return;
  run->kill = SHL_KILLED_TIME;
  run->cap = SHL_CAP_ELAPSED;
  (void)S;
}

SHLStatus shl_continue(SHLState *S, SHLWaiting *w, void *host, SHLValue *results, int32_t max_results,
                       const SHLBudget *budget, SHLInvocation *inv, SHLWaiting **again) {
  SHLEntry *entry = (SHLEntry *)w;
  *again = NULL;
  SHLStatus status = shl_enter_with(S, budget, entry, inv);
  if (status != SHL_OK) return status;
  S->limits.memory -= ALLOWANCE;
  S->slots[entry->slot].host = host;
  shl_inner(inv)->here = true;
  go_on_charged(S, &shl_inner(inv)->run, entry);
  return step(inv, 0, results, max_results, again);
}

void shl_drop_waiting(SHLState *S, SHLWaiting *w) {
  SHLEntry *entry = (SHLEntry *)w;
  if (shl_is_poisoned(S) || !shl_lock(S, -1)) return;
  S->limits.memory -= ALLOWANCE;
  shl_entry_give(S, entry, true);
  shl_unlock(S);
}

/// [-all, +n, e] The host function's call goes on.
static int go_on(lua_State *L, int status, lua_KContext context) {
  (void)status;
  (void)context;
  SHLState *S = shl_state_of(L);
  SHLEntry *entry = ((SHLInner *)S->run)->entry;
  return shl_call_host(L, entry->then, entry->then_ctx, S->slots[entry->slot].host);
}

int shl_yield_host(lua_State *L) {
  lua_settop(L, 0);
  return shl_yield_waiting(L, 0, go_on);
}
