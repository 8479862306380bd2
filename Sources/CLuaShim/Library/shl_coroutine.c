// Coroutines of scripts.
//
// A coroutine that runs fewer instructions than the hook counts never meets the hook: so making and resuming one is
// charged. A kill inside one goes on in whoever resumed it. Pooled coroutines of the host never reach a script;
// `running` answers a synthesized method for them.
//
// A handler that waits inside a coroutine of its own stops that coroutine and all that resumed it, each with a mark on top of its
// stack, up to the pooled one. When it goes on, each resumes the next one again. Others cannot resume a coroutine with the mark: what it
// waits for is another call's.
#include "../shl_internal.h"

enum { CREATE_UNITS = 200, RESUME_UNITS = 150, RESET_NESTING = 8 };
/// What `resume` answers in place of a number of results.
enum { FAILED = -1, WAITS = -2 };

/// Its address is the mark; no script holds it.
static const char waiting_mark;

/// [-0, +0, -] See shl_internal.h.
int shl_yield_waiting(lua_State *L, lua_KContext context, lua_KFunction go_on) {
  SHLRun *run = shl_state_of(L)->run;
  if (L == run->L) return lua_yieldk(L, 0, context, go_on);
  run->waits = true;
  lua_pushlightuserdata(L, (void *)(uintptr_t)&waiting_mark);
  return lua_yieldk(L, 1, context, go_on);
}

/// It waits with its handler.
static inline bool is_waiting(lua_State *co) {
  return lua_status(co) == LUA_YIELD && lua_gettop(co) > 0 && lua_touserdata(co, -1) == (void *)(uintptr_t)&waiting_mark;
}

/// [-0, +0, v] The coroutine at index 1.
static lua_State *check_coroutine(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  if (!co) luaL_typeerror(L, 1, "thread");
  return co;
}

/// [-0, +0, -] The value at `index` is what stands for the coroutine of the handler itself.
static bool is_synthesized_method(lua_State *L, int index) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, shl_state_of(L)->main_synthesized_method);
  bool same = lua_rawequal(L, -1, index);
  lua_settop(L, -2);
  return same;
}

/// `coroutine.create`; the coroutine has the budget of who makes it.
int shl_f_create(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  shl_charge(L, CREATE_UNITS);
  lua_State *co = lua_newthread(L);  // copies our hook
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  return 1;
}

/// [-0, +n, e] Runs a coroutine with the arguments on its stack; number of results on L, FAILED with the error object on L, or WAITS. Goes
/// on with a kill.
static int run_coroutine(lua_State *L, lua_State *co, int nargs) {
  SHLState *S = shl_state_of(L);
  SHLRun *run = S->run;
  lua_State *outer = run->current;
  bool was_stuck = run->is_stuck;
  int nresults = 0;
  run->current = co;
  run->is_stuck = was_stuck || !lua_isyieldable(L);
  int status = lua_resume(co, L, nargs, &nresults);
  run->current = outer;
  run->is_stuck = was_stuck;
  if (SHL_UNLIKELY(run->kill)) shl_kill(L, run->kill);
  if (SHL_UNLIKELY(run->waits)) return WAITS;
  if (SHL_LIKELY(status == LUA_OK || status == LUA_YIELD)) {
    if (!lua_checkstack(L, nresults + 1)) {
      lua_settop(co, -nresults - 1);
      lua_pushliteral(L, "too many results to resume");
      return FAILED;
    }
    lua_xmove(co, L, nresults);
    return nresults;
  }
  if (status == LUA_ERRMEM && S->hit_hard) {
    S->hit_hard = false;
    shl_kill(L, SHL_KILLED_MEMORY);
  }
  lua_xmove(co, L, 1);
  return FAILED;
}

/// [-nargs, +n, e] Resumes for a script; answers as run_coroutine does.
static int resume(lua_State *L, lua_State *co, int nargs) {
  shl_charge(L, RESUME_UNITS);
  if (SHL_UNLIKELY(is_waiting(co))) {
    lua_pushliteral(L, "cannot resume a coroutine that waits for an async function");
    return FAILED;
  }
  if (!lua_checkstack(co, nargs)) {
    lua_pushliteral(L, "too many arguments to resume");
    return FAILED;
  }
  lua_xmove(L, co, nargs);
  return run_coroutine(L, co, nargs);
}

/// [-0, +n, e] What the handler waited for is there: on with the coroutine that waits for it.
static int go_on(lua_State *L, lua_State *co) {
  if (!is_waiting(co)) {  // somebody closed it meanwhile
    lua_pushliteral(L, "cannot resume dead coroutine");
    return FAILED;
  }
  lua_settop(co, -2);
  return run_coroutine(L, co, 0);
}

static int resume_again(lua_State *L, int status, lua_KContext context);

/// [-n, +n, e] The results of coroutine.resume.
static int resumed(lua_State *L, int n) {
  if (SHL_UNLIKELY(n == WAITS)) return shl_yield_waiting(L, 0, resume_again);
  if (n < 0) {
    lua_pushboolean(L, 0);
    lua_rotate(L, -2, 1);
    return 2;
  }
  lua_pushboolean(L, 1);
  lua_rotate(L, -(n + 1), 1);
  return n + 1;
}

/// [-0, +n, e] `coroutine.resume` goes on when what the handler waited for is there.
static int resume_again(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  return resumed(L, go_on(L, lua_tothread(L, 1)));
}

/// `coroutine.resume`, which does not catch that a script is stopped.
int shl_f_resume(lua_State *L) {
  lua_State *co = check_coroutine(L);
  if (is_synthesized_method(L, 1)) {
    lua_pushboolean(L, 0);
    lua_pushliteral(L, "cannot resume non-suspended coroutine");
    return 2;
  }
  return resumed(L, resume(L, co, lua_gettop(L) - 1));
}

/// [-0, +1, -] Closes what a failed coroutine left open; the error object, maybe a new one, on L. Nested closing is
/// bounded: in Lua 5.4.4 it does not count C levels.
static void close_failed(lua_State *L, SHLState *S, lua_State *co) {
  int status = lua_status(co);
  if (status == LUA_OK || status == LUA_YIELD || S->reset_depth >= RESET_NESTING) return;
  SHLRun *run = S->run;
  lua_State *outer = run->current;
  lua_pushvalue(L, -1);
  lua_xmove(L, co, 1);  // the error object belongs on the coroutine's stack while it closes
  run->current = co;
  S->reset_depth++;
  status = lua_resetthread(co);
  S->reset_depth--;
  run->current = outer;
  if (status != LUA_OK && lua_gettop(co) > 0) {
    lua_xmove(co, L, 1);
    lua_rotate(L, -2, 1);
    lua_settop(L, -2);
  }
}

static int call_again(lua_State *L, int status, lua_KContext context);

/// [-n, +n, e] The results of a function that coroutine.wrap made.
static int called(lua_State *L, lua_State *co, int n) {
  SHLState *S = shl_state_of(L);
  if (SHL_LIKELY(n >= 0)) return n;
  if (n == WAITS) return shl_yield_waiting(L, 0, call_again);
  close_failed(L, S, co);
  if (SHL_UNLIKELY(S->run->kill)) shl_kill(L, S->run->kill);
  if (lua_type(L, -1) == LUA_TSTRING) {  // the position of the call goes before the message
    luaL_where(L, 1);
    lua_rotate(L, -2, 1);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/// [-0, +n, e] What `coroutine.wrap` returned goes on in the same way.
static int call_again(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  return called(L, co, go_on(L, co));
}

/// [-all, +n, e] What `coroutine.wrap` returns, called.
static int wrapped(lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  return called(L, co, resume(L, co, lua_gettop(L)));
}

/// `coroutine.wrap`.
int shl_f_wrap(lua_State *L) {
  shl_f_create(L);
  lua_pushcclosure(L, wrapped, 1);
  return 1;
}

/// `coroutine.yield`, not out of a handler itself.
int shl_f_yield(lua_State *L) {
  if (L == shl_state_of(L)->run->L) return luaL_error(L, "attempt to yield from outside a coroutine");
  return lua_yield(L, lua_gettop(L));
}

int shl_f_status(lua_State *L) {
  check_coroutine(L);
  if (!is_synthesized_method(L, 1)) return shl_stock.co_status(L);
  lua_pushstring(L, L == shl_state_of(L)->run->L ? "running" : "normal");
  return 1;
}

/// `coroutine.running`; a handler itself has a value of ours for its coroutine.
int shl_f_running(lua_State *L) {
  SHLState *S = shl_state_of(L);
  bool main = L == S->run->L;
  if (main) lua_rawgeti(L, LUA_REGISTRYINDEX, S->main_synthesized_method);
  else lua_pushthread(L);
  lua_pushboolean(L, main);
  return 2;
}

int shl_f_isyieldable(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  if (co && is_synthesized_method(L, 1)) {
    lua_pushboolean(L, 0);
    return 1;
  }
  return shl_stock.isyieldable(L);
}
