// A state's life: opening, the coroutine pool, call token slots, deferred work, closing.
//
// The main Lua thread runs nothing after opening: an unprotected error on one OS thread would be re-thrown into
// the main thread's C stack. Every entry takes a coroutine of its own from the pool; those are anchored in the
// registry and never reach a script.
#include "../shl_internal.h"
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

/// An unprotected error is a breach of ours: say so, give the state up, let Lua abort.
static int panic(lua_State *L) {
  SHLState *S = shl_state_of(L);
  shl_poison(S);
  static const char text[] = "internal error: scripthost: unprotected Lua error; please report it\n";
  ssize_t ignored = write(2, text, sizeof text - 1);
  (void)ignored;
  return 0;
}

static int64_t or_default(int64_t value, int64_t standard) { return value == 0 ? standard : value; }

/// Fills in the defaults where nothing, or 0, was given. Times are in nanoseconds.
static void set_limits(SHLState *S, const SHLLimits *given) {
  SHLLimits l = given ? *given : (SHLLimits){0};
  if (!l.memory) l.memory = 16 << 20;
  l.call_instructions = or_default(l.call_instructions, 10000000);
  l.call_ns = or_default(l.call_ns, 100000000);
  l.call_native_ns = or_default(l.call_native_ns, 1000000000);
  l.call_elapsed_ns = or_default(l.call_elapsed_ns, 2000000000);
  l.load_native_ns = or_default(l.load_native_ns, 60000000000);
  l.load_elapsed_ns = or_default(l.load_elapsed_ns, 120000000000);
  l.load_instructions = or_default(l.load_instructions, 100000000);
  l.load_ns = or_default(l.load_ns, 1000000000);
  l.lock_ns = or_default(l.lock_ns, 200000000);
  if (!l.source_bytes) l.source_bytes = 128 << 10;
  if (!l.string_bytes) l.string_bytes = 4 << 20;
  if (!l.stack_bytes) l.stack_bytes = 768 << 10;
  l.reentry = (int32_t)or_default(l.reentry, 1000);
  l.pool = (int32_t)or_default(l.pool, 8);
  S->limits = l;
  SHL_WRITE(S->fail_at, l.fail_allocation);
}

/// The run of a state that nobody runs: it has no limits.
static SHLRun resting(SHLState *S) {
  return (SHLRun){.left = INT64_MAX / 2, .fuel = INT64_MAX / 2, .script_ns = -1, .L = S->main, .current = S->main};
}

/// [-0, +0, m] Everything that can raise at opening, under pcall of the opening thread; nobody else knows the state yet.
static int open_body(lua_State *L) {
  SHLState *S = lua_touserdata(L, 1);
  lua_settop(L, 0);
  lua_gc(L, LUA_GCSTOP);  // all that is made here stays
  shl_sandbox_open(L, S);
  shl_host_open(L, S);
  SHLEntry *entry = shl_entry_make(S, L);
  if (!entry) return luaL_error(L, "no memory");
  shl_entry_give(S, entry, false);
  lua_gc(L, LUA_GCRESTART);
  return 0;
}

/// Frees what functions and classes of the host have outside of Lua's memory.
static void free_host_memory(SHLState *S) {
  for (SHLHostFunction *f = S->functions, *next; f; f = next) next = f->next, free(f);
  for (uint32_t i = 0; i < S->class_count; i++) {
    SHLClassRecord *c = S->classes[i];
    if (!c) continue;
    for (SHLMemberList *list = c->lists, *next; list; list = next) next = list->next, free(list);
    free((void *)c->ops.name);
    free(c);
  }
  for (SHLEntry *e = S->idle, *next; e; e = next) next = e->next, free(e);
  SHLPending *p = atomic_load(&S->forgotten);
  for (SHLPending *next; p; p = next) next = p->next, free(p);
  while (S->reserve_count) free(S->reserve[--S->reserve_count]);
  free(S->slots);
  free(S->releases);
  free(S);
}

SHLState *shl_open(const SHLLimits *limits, const char **why) {
  const char *dummy;
  if (!why) why = &dummy;
  if ((*why = shl_library_open(NULL))) return NULL;
  *why = "no memory for a Lua state";
  SHLState *S = calloc(1, sizeof *S);
  if (!S) return NULL;
  shl_lock_make(&S->lock);
  set_limits(S, limits);
  S->hook_count = HOOK_COUNT;
  S->slot_free = UINT32_MAX;
  if (getrandom(&S->scramble, sizeof S->scramble, GRND_NONBLOCK) != sizeof S->scramble) S->scramble = (uint64_t)shl_now() * 0x9E3779B97F4A7C15u;
  lua_State *L = lua_newstate(shl_allocate, S);
  if (!L) {
    free(S);
    return NULL;
  }
  S->main = L;
  *(SHLState **)lua_getextraspace(L) = S;
  S->idle_run = resting(S);
  S->run = &S->idle_run;
  lua_atpanic(L, panic);
  lua_pushcfunction(L, open_body);
  lua_pushlightuserdata(L, S);
  int status = lua_pcall(L, 1, 0, 0);
  if (status != LUA_OK) {
    if (status != LUA_ERRMEM) *why = "this build of Lua 5.4 is laid out in an unknown way; install Debian's liblua5.4-0";
    lua_close(L);
    free_host_memory(S);
    return NULL;
  }
  *why = NULL;
  return S;
}

void shl_close(SHLState *S) {
  if (!S || shl_is_poisoned(S)) return;
  shl_lock(S, -1);
  S->run = &S->idle_run;
  SHL_WRITE(S->fail_at, 0);
  lua_close(S->main);  // collects every handle into the queue
  shl_unlock(S);
  shl_drain(S);
  free_host_memory(S);
}

void shl_poison(SHLState *S) { atomic_store(&S->lock.poisoned, 1); }
bool shl_is_poisoned(const SHLState *S) { return SHL_READ(((SHLState *)(uintptr_t)S)->lock.poisoned) != 0; }

SHLStatistics shl_statistics(const SHLState *state) {
  SHLState *S = (SHLState *)(uintptr_t)state;  // atomic loads want a mutable object
  return (SHLStatistics){
      .memory = SHL_READ(S->used) + SHL_READ(S->outside),
      .memory_peak = SHL_READ(S->peak),
      .allocations = SHL_READ(S->allocations),
      .invocations = SHL_READ(S->invocations),
      .kills = SHL_READ(S->kills),
      .instructions = SHL_READ(S->instructions),
      .coroutines_made = SHL_READ(S->entries_made),
      .releases_pending = SHL_READ(S->release_pending),
  };
}

void shl_fail_allocation(SHLState *S, int64_t n) { SHL_WRITE(S->fail_at, n); }

void shl_set_sink(SHLState *S, SHLSink sink, void *ctx) {
  shl_lock(S, -1);
  S->sink = sink;
  S->sink_ctx = ctx;
  shl_unlock(S);
}

// ---------------------------------------------------------------- the pool

typedef struct { SHLState *S; lua_State *made; SHLRef anchor; } Making;

/// [-1, +0, m] Makes a coroutine, gives it the message handler and the hook, anchors it.
static int make_body(lua_State *L) {
  Making *m = lua_touserdata(L, 1);
  lua_State *co = lua_newthread(L);
  lua_pushcfunction(co, shl_message_handler);
  m->anchor = luaL_ref(L, LUA_REGISTRYINDEX);
  m->made = co;
  return 0;
}

/// [-0, +0, -] A new pool entry, made on the stack of L (any thread of the state that is not running a script).
SHLEntry *shl_entry_make(SHLState *S, lua_State *L) {
  SHLEntry *entry = calloc(1, sizeof *entry);
  if (!entry) return NULL;
  Making m = {.S = S};
  entry->slot = shl_slot_make(S);
  if (entry->slot == UINT32_MAX) {
    free(entry);
    return NULL;
  }
  if (shl_protect(L, make_body, &m, 0, 0) != LUA_OK) {
    S->slots[entry->slot].next = S->slot_free;
    S->slot_free = entry->slot;
    free(entry);
    return NULL;
  }
  entry->L = m.made;
  entry->anchor = m.anchor;
  entry->hook_count = S->hook_count;
  lua_sethook(entry->L, shl_hook, LUA_MASKCOUNT, S->hook_count);
  SHL_WRITE(S->entries_made, SHL_READ(S->entries_made) + 1);
  return entry;
}

/// [-0, +0, -] Away with a coroutine that failed, or has no place in the pool. The lock is held.
void shl_entry_drop(SHLState *S, SHLEntry *entry) {
  luaL_unref(S->main, LUA_REGISTRYINDEX, entry->anchor);
  SHLSlot *slot = &S->slots[entry->slot];
  slot->host = NULL;
  slot->generation++;
  slot->next = S->slot_free;
  S->slot_free = entry->slot;
  free(entry);
}

// ---------------------------------------------------------------- call tokens

/// A slot of its own, UINT32_MAX when there is none left.
uint32_t shl_slot_make(SHLState *S) {
  if (S->slot_free != UINT32_MAX) {
    uint32_t i = S->slot_free;
    S->slot_free = S->slots[i].next;
    return i;
  }
  if (S->slot_count == S->slot_capacity) {
    uint32_t capacity = S->slot_capacity ? 2 * S->slot_capacity : 16;
    if (S->slot_count + 1 >= SLOT_CONSTANT) return UINT32_MAX;
    SHLSlot *grown = realloc(S->slots, capacity * sizeof *grown);
    if (!grown) return UINT32_MAX;
    S->slots = grown;
    S->slot_capacity = capacity;
  }
  S->slots[S->slot_count] = (SHLSlot){.generation = 1};
  return S->slot_count++;
}

// ---------------------------------------------------------------- work put off

/// Releases collected handles: outside the collector and without the lock, since it runs program code.
void shl_drain(SHLState *S) {
  while (SHL_READ(S->release_pending)) {
    if (!shl_lock(S, -1)) return;
    SHLRelease *list = S->releases;
    int32_t count = S->release_count;
    S->releases = NULL;
    S->release_count = S->release_capacity = 0;
    SHL_WRITE(S->release_pending, 0);
    shl_unlock(S);
    for (int32_t i = 0; i < count; i++) {
      SHLClassRecord *c = S->classes[list[i].cls];
      c->ops.release(c->ops.ctx, list[i].a, list[i].b, list[i].c);
    }
    free(list);
  }
}

void shl_forget(SHLState *S, SHLRef ref) {
  if (!S || ref <= 0 || shl_is_poisoned(S)) return;
  if (shl_lock(S, 1)) {
    luaL_unref(S->main, LUA_REGISTRYINDEX, ref);
    shl_unlock(S);
    return;
  }
  SHLPending *p = malloc(sizeof *p);
  if (!p) return;  // kept until the state closes
  p->ref = ref;
  p->next = atomic_load(&S->forgotten);
  while (!atomic_compare_exchange_weak(&S->forgotten, &p->next, p)) {}
}

/// [-0, +0, -] The lock is held.
void shl_drain_forgotten(SHLState *S) {
  SHLPending *p = atomic_exchange(&S->forgotten, NULL);
  for (SHLPending *next; p; p = next) {
    next = p->next;
    luaL_unref(S->main, LUA_REGISTRYINDEX, p->ref);
    free(p);
  }
}
