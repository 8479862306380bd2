// Budgets and the kill.
//
// The clock starts at a call's first hook or charge, at most a thousand instructions after the call began, or at a native call
// that took long; a short handler never pays for reading it. There are three limits of time: for the script itself and for it with
// the functions it calls, both by the time the thread ran, and a larger one by the clock on the wall. The original that a handler
// stands around counts for none. A run inside another one of its thread is charged to that one, too: the outermost's budget is for
// all of them. A kill is sticky: the run carries the reason, the hook fires on every
// instruction of every coroutine it meets, and our pcall, xpcall, resume and wrap pass the error on. Nothing a
// script can call answers while a kill is on.
#include "../shl_internal.h"

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
  size_t outside = SHL_READ(S->outside);
  if (SHL_READ(S->used) + outside > S->limits.memory) {
    lua_gc(L, LUA_GCCOLLECT);
    size_t used = SHL_READ(S->used) + SHL_READ(S->outside);
    if (used > S->limits.memory) shl_kill(L, SHL_KILLED_MEMORY);
    // Start the next collection before the limit, not at twice the use.
    int pause = (int)(S->limits.memory / 100 * 95 / (used / 100 + 1));
    lua_gc(L, LUA_GCSETPAUSE, pause < 105 ? 105 : pause > 200 ? 200 : pause);
  }
  S->over = false;
}

/// Asking the clock at each call into the program would cost a tenth of it; the two clocks together tell what a tick is.
static int64_t in_ns(int64_t elapsed, uint64_t ticks, uint64_t part) {
  if (part >= ticks) return elapsed;
  return (int64_t)((double)elapsed * ((double)part / (double)ticks));
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/// From `now` (nanoseconds) on the run's times are counted.
static void start_clock(SHLRun *run, int64_t now) {
  run->looked_at = now;
  run->looked_ticks = run->away_since = shl_ticks();
  run->looked_cpu = shl_cpu();
  run->exempt_at = shl_thread.exempt_ticks;
  run->away_ticks = run->free_ticks = 0;
  for (int kind = 0; kind < SHL_WORK_KINDS; kind++) run->work_ns[kind] = 0;
  run->deadline = now + least(run->script_ns, least(run->native_ns, run->elapsed_ns));
}

/// Is one of the three limits passed? What a busy machine takes away is no time of the thread's, so only the third, which is much
/// larger, counts it. Time away is known by the clock alone: more of it is taken off than the thread can have used, never less.
/// `away_since`: when what is no time of the script's own began, and lasts; 0: it does not.
static bool passed(SHLRun *run, int64_t now, uint64_t away_since) {
  if (now <= run->deadline) return false;
  uint64_t counter = shl_ticks(), ticks = counter - run->looked_ticks;
  int64_t elapsed = now - run->looked_at;
  int64_t free_ns = in_ns(elapsed, ticks, run->free_ticks + (shl_thread.exempt_ticks - run->exempt_at));
  int64_t away_ns = in_ns(elapsed, ticks, run->away_ticks + (away_since ? counter - away_since : 0));
  int64_t all = shl_cpu() - run->looked_cpu - free_ns, script = all - away_ns;
  int64_t wall = elapsed - free_ns;
  if (script > run->script_ns) run->cap = SHL_CAP_SCRIPT;
  else if (all > run->native_ns) run->cap = SHL_CAP_NATIVE;
  else if (wall > run->elapsed_ns) run->cap = SHL_CAP_ELAPSED;
  else {
    int64_t rest = least(least(run->script_ns - script, run->native_ns - all), run->elapsed_ns - wall);
    run->deadline = now + (rest < 1000000 ? 1000000 : rest);
    return false;
  }
  return true;
}

/// Did this run, or the outermost one of the thread, use up its time?
static bool is_over_away(SHLRun *run, uint64_t away_since) {
  int64_t now = shl_now();
  if (run->script_ns >= 0) {
    if (run->deadline == 0) start_clock(run, now);
    else if (passed(run, now, away_since)) return true;
  }
  SHLRun *root = run->root;
  if (root == run || root->script_ns < 0) return false;
  if (root->deadline == 0) {
    start_clock(root, now);
    return false;
  }
  if (!passed(root, now, root->away_since)) return false;
  run->cap = root->cap;
  run->inherited = true;
  for (SHLRun *r = run->up; r; r = r->up) {
    if (r->kill) continue;
    r->kill = SHL_KILLED_TIME;
    r->cap = root->cap;
    r->inherited = r != root;
  }
  return true;
}

static bool is_over(SHLRun *run) { return is_over_away(run, 0); }

/// [-0, +0, e] Stops a run whose time is over.
static void look_at_clock(lua_State *L, SHLRun *run) {
  if (is_over(run)) shl_kill(L, SHL_KILLED_TIME);
}

/// Notes why the run is stopped; the first reason stays. `S` NULL: the stop is not counted.
static void mark_killed(SHLState *S, SHLRun *run, SHLStatus why) {
  if (run->kill) return;
  run->kill = why;
  if (S) SHL_WRITE(S->kills, SHL_READ(S->kills) + 1);
}

void shl_gave(SHLState *S, uint64_t bytes) {
  enum { TIMES = 4 };
  SHLRun *run = S->run, *root = run->root;
  if (run == &S->idle_run || !root) return;
  root->given += bytes;
  if (root->given <= TIMES * (uint64_t)S->limits.memory || run->kill) return;
  // All that is inside the outermost call ends, and it gives no more.
  mark_killed(S, run, SHL_KILLED_MEMORY);
  run->inherited = run != root;
  root->gave_too_much = true;
}

void shl_overdue(SHLCallback *cb) {
  SHLState *S = cb->scope.state;
  if (S->run == &S->idle_run || S->run->kill || S->run->script_ns < 0) return;
  S->run->cap = SHL_CAP_ELAPSED;
  mark_killed(S, S->run, SHL_KILLED_TIME);
}

SHL_NOINLINE void shl_look(SHLState *S, SHLRun *run) {
  run->mark = shl_ticks();
  if (!run->kill && is_over(run)) mark_killed(S, run, SHL_KILLED_TIME);
}

SHL_NOINLINE void shl_inherit(SHLState *S, SHLRun *run) {
  SHLRun *up = run->up;
  run->root = up->root;
  up->left -= NESTED_UNITS;
  if (run->left > up->left) {
    run->left = up->left;
    run->inherited = true;
  }
  run->granted = run->left;
  // Many short runs never look at the clock themselves.
  if ((++run->root->nested & 15) == 0 && is_over(run)) mark_killed(S, run, SHL_KILLED_TIME);
}

SHL_NOINLINE void shl_settle(SHLRun *run) {
  SHLRun *up = run->up;
  up->left -= run->granted - run->left;
  if (up->left >= 0 || up->kill) return;
  mark_killed(shl_state_of(up->L), up, SHL_KILLED_INSTRUCTIONS);
  up->inherited = up != up->root;
}

// MARK: Long work of the host

/// What this thread works for: the innermost run, whose host function is under way. NULL: functions of the program run, or an original.
static SHLRun *worked_for(SHLThread *t) {
  SHLRun *run = t->run;
  return run && (run->host_works || shl_lock_is_mine(&shl_state_of(run->L)->lock)) ? run : NULL;
}

bool shl_work_begin(int32_t kind) {
  SHLThread *t = &shl_thread;
  SHLRun *run = worked_for(t);
  if (!run || t->work == run || kind < 0 || kind >= SHL_WORK_KINDS) return false;
  if (run->deadline == 0) start_clock(run, shl_now());
  t->work = run;
  t->work_kind = kind;
  t->work_since = shl_ticks();
  t->work_is_exempt = t->exempt_depth != 0;
  // Only a load has a native limit above that of its lookups.
  t->work_cpu = t->work_is_exempt || run->native_ns > SHL_LOAD_LOOKUPS_NS ? shl_cpu() : 0;
  return true;
}

/// While a script is loaded, its lookups have a limit of their own, and hooks one beside what is charged.
static bool load_is_over(SHLThread *t, SHLRun *run) {
  int64_t limit = t->work_kind == SHL_WORK_LOOKUP ? SHL_LOAD_LOOKUPS_NS : run->native_ns;
  if (run->work_ns[t->work_kind] + shl_cpu() - t->work_cpu <= limit) return false;
  run->cap = t->work_kind == SHL_WORK_LOOKUP ? SHL_CAP_LOOKUPS : SHL_CAP_NATIVE;
  return true;
}

bool shl_work_is_over(void) {
  SHLThread *t = &shl_thread;
  SHLRun *run = t->run;
  if (!run || t->work != run) return false;
  if (run->kill) return true;
  SHLState *S = shl_state_of(run->L);
  bool is_over;
  if (run->script_ns < 0) is_over = SHL_READ(S->interrupted);
  else if (t->work_cpu && load_is_over(t, run)) is_over = true;
  else is_over = !t->work_is_exempt && is_over_away(run, run->host_works ? run->away_since : t->work_kind == SHL_WORK_LOOKUP ? t->work_since : 0);
  // The state may be another thread's while the host works without its lock: then its figures are left alone.
  if (is_over) mark_killed(run->host_works ? NULL : S, run, SHL_KILLED_TIME);
  return is_over;
}

void shl_work_end(const char *what, size_t length) {
  SHLThread *t = &shl_thread;
  SHLRun *run = t->run;
  bool is_ours = run && t->work == run;
  t->work = NULL;
  if (!is_ours) return;
  if (t->work_cpu) run->work_ns[t->work_kind] += shl_cpu() - t->work_cpu;
  // Hooks are put in in the script's own time, of which it could use any number.
  if (t->work_kind == SHL_WORK_LOOKUP && !t->work_is_exempt && !run->host_works) run->away_ticks += shl_ticks() - t->work_since;
  if (!what || !run->kill) return;
  if (!run->error) run->error = calloc(1, sizeof *run->error);
  if (!run->error) return;
  size_t n = length < WORK_TEXT - 1 ? length : WORK_TEXT - 1;
  memcpy(run->error->message, what, n);
  run->error->message[n] = 0;
}

/// [-0, +0, e] Takes so many units, about an instruction each, from the run, and stops it where it has none left.
static void spend(lua_State *L, SHLState *S, SHLRun *run, int64_t units) {
  SHL_WRITE(S->instructions, SHL_READ(S->instructions) + (uint64_t)units);
  if (SHL_UNLIKELY(run->kill != SHL_OK)) shl_kill(L, run->kill);
  // Handlers that other threads run in the state have limits of time, and end by those.
  if (SHL_UNLIKELY(SHL_READ(S->interrupted)) && run->script_ns < 0) shl_kill(L, SHL_KILLED_TIME);
  if ((run->left -= units) < 0) shl_kill(L, SHL_KILLED_INSTRUCTIONS);
  if (SHL_UNLIKELY(S->over)) look_at_memory(L, S);
  look_at_clock(L, run);
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

void shl_interrupt(SHLState *state, bool on) { SHL_WRITE(state->interrupted, on); }
