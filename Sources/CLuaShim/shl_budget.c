// Budgets and the kill.
//
// The clock starts at a call's first hook or charge, at most a thousand instructions after the call began, so a
// short handler never pays for reading it. A kill is sticky: the run carries the reason, the hook fires on every
// instruction of every coroutine it meets, and our pcall, xpcall, resume and wrap pass the error on. Nothing a
// script can call answers while a kill is on.
#include "shl_internal.h"

/// Its address is the error object of a kill; a script never holds it, only closers see it before they die too.
static const char kill_mark;

_Noreturn void shl_rethrow(lua_State *L) {
  lua_checkstack(L, 1);
  lua_pushlightuserdata(L, (void *)(uintptr_t)&kill_mark);
  lua_error(L);
  __builtin_unreachable();
}

_Noreturn SHL_NOINLINE void shl_kill(lua_State *L, SHLStatus why) {
  SHLState *S = shl_state_of(L);
  if (!S->run->kill) {
    S->run->kill = why;
    SHL_WRITE(S->kills, SHL_READ(S->kills) + 1);
  }
  // Setting a hook walks the call chain: once per coroutine is enough.
  if (lua_gethookcount(L) != 1) lua_sethook(L, shl_hook, LUA_MASKCOUNT, 1);
  shl_rethrow(L);
}

/// Collects everything; kills if the state is still over its limit.
static void look_at_memory(lua_State *L, SHLState *S) {
  if (SHL_READ(S->used) > S->limits.memory) {
    lua_gc(L, LUA_GCCOLLECT);
    size_t used = SHL_READ(S->used);
    if (used > S->limits.memory) shl_kill(L, SHL_KILLED_MEMORY);
    // Start the next collection before the limit, not at twice the use.
    int pause = (int)(S->limits.memory / 100 * 95 / (used / 100 + 1));
    lua_gc(L, LUA_GCSETPAUSE, pause < 105 ? 105 : pause > 200 ? 200 : pause);
  }
  S->over = false;
}

/// Asking the clock at each call into the program would cost a tenth of it; the two clocks together tell what a tick is.
static int64_t away_ns(const SHLRun *run, int64_t now) {
  uint64_t ticks = shl_ticks() - run->looked_ticks;
  if (run->away_ticks >= ticks) return now - run->looked_at;
  return (int64_t)((double)(now - run->looked_at) * ((double)run->away_ticks / (double)ticks));
}

static void look_at_clock(lua_State *L, SHLState *S, SHLRun *run) {
  if (run->wall_ns < 0) return;
  int64_t now = shl_now();
  if (run->deadline == 0) {
    run->deadline = now + run->wall_ns;
    run->looked_at = now;
    run->looked_ticks = shl_ticks();
    run->away_ticks = 0;
    if (!SHL_READ(S->started)) SHL_WRITE(S->started, now);
  } else if (now > run->deadline && now - away_ns(run, now) > run->deadline) {
    shl_kill(L, SHL_KILLED_TIME);
  }
}

static void spend(lua_State *L, SHLState *S, SHLRun *run, int64_t units) {
  SHL_WRITE(S->instructions, SHL_READ(S->instructions) + (uint64_t)units);
  if (SHL_UNLIKELY(run->kill != SHL_OK)) shl_kill(L, run->kill);
  if ((run->left -= units) < 0) shl_kill(L, SHL_KILLED_INSTRUCTIONS);
  if (SHL_UNLIKELY(S->over)) look_at_memory(L, S);
  look_at_clock(L, S, run);
}

void shl_hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  SHLState *S = shl_state_of(L);
  int count = lua_gethookcount(L);
  spend(L, S, S->run, count);
  if (count != S->hook_count) lua_sethook(L, shl_hook, LUA_MASKCOUNT, S->hook_count);
}

SHL_NOINLINE void shl_charge_slow(lua_State *L) {
  SHLState *S = shl_state_of(L);
  SHLRun *run = S->run;
  int64_t units = FUEL - run->fuel;
  run->fuel = FUEL;
  spend(L, S, run, units);
}

int64_t shl_running_ms(const SHLState *state) {
  int64_t started = SHL_READ(((SHLState *)(uintptr_t)state)->started);
  return started ? (shl_now() - started) / 1000000 : 0;
}
