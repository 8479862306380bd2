// Host functions, handles, call tokens: where Lua calls the program.
//
// Only `run_host` calls the host. When it has answered, no Swift frame of that call is left, and only then does C
// raise. Before anything else the state is put right: a recovery point may have cut the call short while the
// lock was given back or while it was inside another entry.
#include "../shl_internal.h"
#include <stdio.h>

/// The trampoline's own frame around what the host sees. Arrays are written only when used.
typedef struct Frame {
  SHLCallback cb;
  int32_t nresults;
  int32_t failed;             // 1: text, 2: value
  bool method;                // the answer is a method of the name that was asked for
  bool waits;                 // the coroutine waits; it goes on with what shl_continue passes
  uint32_t text_used;
  SHLValue results[RESULTS_MAX];
  SHLValue raised;
  char text[1024];            // results' short strings, or the failure's text
} Frame;
_Static_assert(offsetof(Frame, cb) == 0, "the host's SHLCallback is our Frame");
static inline Frame *frame_of(SHLCallback *cb) { return (Frame *)cb; }

// ---------------------------------------------------------------- what the host calls

SHLValue shl_arg(SHLCallback *cb, int32_t i) {
  if (i < 0 || i >= cb->argc) return shl_nil();
  return shl_read(cb->scope.L, i + 1);
}

typedef struct { SHLState *S; const SHLValue *value; } Pushing;

/// [-1, +1, m]
static int push_body(lua_State *L) {
  Pushing *p = lua_touserdata(L, 1);
  shl_push(L, p->S, p->value);
  return 1;
}

/// Makes a value safe to hold until the host has returned: bytes and handles get a home of their own.
static SHLStatus hold(Frame *f, SHLValue *value) {
  lua_State *L = f->cb.scope.L;
  if (value->tag == SHL_STRING && value->s.n <= sizeof f->text - f->text_used) {
    char *copy = f->text + f->text_used;
    if (value->s.n) memcpy(copy, value->s.p, value->s.n);
    f->text_used += (uint32_t)value->s.n;
    value->s.p = copy;
    return SHL_OK;
  }
  if (value->tag == SHL_REF) {
    // Who keeps it may forget it before the host has returned: its number is another value's then.
    if (!lua_checkstack(L, 1)) return SHL_NO_MEMORY;
    lua_rawgeti(L, LUA_REGISTRYINDEX, value->ref);
    value->tag = SHL_OTHER;
    value->slot = lua_gettop(L);
    return SHL_OK;
  }
  if (value->tag != SHL_STRING) return SHL_OK;  // handles own nothing until pushed; the rest is plain
  Pushing p = {f->cb.scope.state, value};
  if (shl_protect(L, push_body, &p, 0, 1) != LUA_OK)
    return value->s.n > f->cb.scope.state->limits.string_bytes ? SHL_BAD_ARGUMENT : SHL_NO_MEMORY;
  value->tag = SHL_OTHER;
  value->slot = lua_gettop(L);
  return SHL_OK;
}

SHL_HOT SHLStatus shl_return(SHLCallback *cb, SHLValue value) {
  Frame *f = frame_of(cb);
  if (f->nresults >= RESULTS_MAX) return SHL_BAD_ARGUMENT;
  SHLStatus status = hold(f, &value);
  if (status == SHL_OK) f->results[f->nresults++] = value;
  return status;
}

SHL_HOT SHLStatus shl_return_bits(SHLCallback *cb, SHLTag tag, uint64_t bits) {
  Frame *f = frame_of(cb);
  if (f->nresults >= RESULTS_MAX) return SHL_BAD_ARGUMENT;
  SHLValue *value = &f->results[f->nresults++];
  value->tag = tag;
  value->i = (int64_t)bits;
  return SHL_OK;
}

SHLStatus shl_return_method(SHLCallback *cb) {
  if (!cb->name) return SHL_BAD_ARGUMENT;
  frame_of(cb)->method = true;
  return SHL_OK;
}

int32_t shl_fail(SHLCallback *cb, const char *text, size_t length) {
  Frame *f = frame_of(cb);
  if (f->failed) return -1;
  f->failed = 1;
  f->text_used = (uint32_t)(length < sizeof f->text ? length : sizeof f->text);
  memcpy(f->text, text, f->text_used);
  return -1;
}

int32_t shl_raise(SHLCallback *cb, SHLValue value) {
  Frame *f = frame_of(cb);
  if (f->failed) return -1;
  f->text_used = 0;
  if (hold(f, &value) != SHL_OK) return shl_fail(cb, "no memory", 9);
  f->raised = value;
  f->failed = 2;
  return -1;
}

/// [-2, +1, e] (value, ud)
static int text_body(lua_State *L) {
  lua_settop(L, 1);
  shl_push_text(L, 1);
  return 1;
}

SHLValue shl_arg_text(SHLCallback *cb, int32_t i) {
  lua_State *L = cb->scope.L;
  SHLValue plain = shl_arg(cb, i);
  if (plain.tag == SHL_STRING) return plain;
  if (lua_checkstack(L, 4)) {
    if (i >= 0 && i < cb->argc) lua_pushvalue(L, i + 1);
    else lua_pushnil(L);
    if (shl_protect(L, text_body, NULL, 1, 1) == LUA_OK) return shl_read(L, -1);
  }
  const char *name = lua_typename(L, i >= 0 && i < cb->argc ? lua_type(L, i + 1) : LUA_TNIL);
  return shl_string(name, strlen(name));
}

SHLValue shl_value_text(SHLScope *scope, SHLValue value) {
  lua_State *L = scope->L;
  Pushing p = {scope->state, &value};
  if (lua_checkstack(L, 4) && shl_protect(L, push_body, &p, 0, 1) == LUA_OK && shl_protect(L, text_body, NULL, 1, 1) == LUA_OK)
    return shl_read(L, -1);
  return shl_nil();
}

/// Level 0 is the host function itself. 'S' and 'l' need no memory.
bool shl_caller(SHLCallback *cb, char *source, size_t capacity, int32_t *line) {
  lua_Debug ar;
  for (int level = 1; level < 20 && lua_getstack(cb->scope.L, level, &ar); level++) {
    lua_getinfo(cb->scope.L, "Sl", &ar);
    if (ar.currentline <= 0) continue;
    if (source && capacity > 8) shl_escape(source, capacity, ar.short_src, strlen(ar.short_src));
    if (line) *line = ar.currentline;
    return true;
  }
  if (source && capacity) *source = 0;
  if (line) *line = 0;
  return false;
}

bool shl_handle_set(SHLCallback *cb, int32_t i, uint64_t a, uint64_t b, uint64_t c) {
  if (i < 0 || i >= cb->argc || lua_type(cb->scope.L, i + 1) != LUA_TUSERDATA) return false;
  SHLHandle *h = lua_touserdata(cb->scope.L, i + 1);
  if (!a) shl_lighten(cb->scope.state, h);
  h->a = a, h->b = b, h->c = c;
  return true;
}

void shl_weigh(SHLScope *scope, const SHLValue *value, uint64_t bytes) {
  if (value->tag != SHL_OTHER || lua_type(scope->L, value->slot) != LUA_TUSERDATA) return;
  SHLHandle *h = lua_touserdata(scope->L, value->slot);
  uint64_t weight = (bytes + WEIGHT - 1) / WEIGHT;
  // What it weighed before, it keeps: it was somebody else's meanwhile, or has grown.
  if (weight > UINT32_MAX) weight = UINT32_MAX;
  if (weight <= h->weight) return;
  uint64_t more = (weight - h->weight) * WEIGHT;
  h->weight = (uint32_t)weight;
  shl_outside(scope->state, (int64_t)more);
}

SHLRef shl_arg_function_ref(SHLCallback *cb, int32_t i, SHLFunctionInfo *info) {
  SHLValue v = shl_arg(cb, i);
  SHLFunctionInfo unused;
  if (!info) info = &unused;
  if (v.tag != SHL_FUNCTION || !shl_function_info(&cb->scope, v, info)) return 0;
  return shl_keep(&cb->scope, v);
}

// ---------------------------------------------------------------- the lock during native code

// What must come back is in the run: a struct of several words would be written in parts and read as a whole, which waits.
SHL_HOT SHLUnlocked shl_unlock_all(SHLScope *scope) {
  SHLState *S = scope->state;
  SHLRun *run = S->run;
  run->away_depth = S->lock.depth;
  if (SHL_UNLIKELY(run->deadline != 0)) run->away_since = shl_ticks();
  else if (run->mark == 0) run->mark = shl_ticks();
  S->run = &S->idle_run;
  S->lock.depth = 1;
  shl_unlock(S);
  return (SHLUnlocked){run};
}

SHL_HOT SHLStatus shl_relock(SHLScope *scope, SHLUnlocked u) {
  SHLState *S = scope->state;
  SHLRun *run = u.reserved;
  if (!shl_lock(S, -1)) return SHL_POISONED;
  S->lock.depth = run->away_depth;
  S->run = run;
  run->host_works = false;
  shl_thread.run = run;
  // The original is no time of the script's: nothing to look at.
  uint64_t now = run->is_free && !run->deadline ? 0 : shl_ticks();
  if (SHL_UNLIKELY(run->deadline != 0)) *(run->is_free ? &run->free_ticks : &run->away_ticks) += now - run->away_since;
  if (run->is_free) run->is_free = false, run->mark = 0;
  else if (SHL_UNLIKELY(now - run->mark > LOOK_TICKS)) shl_look(S, run);
  return SHL_READ(S->lock.poisoned) ? SHL_POISONED : SHL_OK;
}

SHL_HOT SHLUnlocked shl_unlock_original(SHLScope *scope) {
  SHLState *S = scope->state;
  SHLRun *run = S->run;
  run->away_depth = S->lock.depth;
  if (SHL_UNLIKELY(run->deadline != 0)) run->away_since = shl_ticks();
  run->is_free = true;
  shl_thread.run = NULL;
  S->run = &S->idle_run;
  S->lock.depth = 1;
  shl_unlock(S);
  return (SHLUnlocked){run};
}

SHLUnlocked shl_unlock_working(SHLScope *scope) {
  SHLUnlocked unlocked = shl_unlock_all(scope);
  ((SHLRun *)unlocked.reserved)->host_works = true;
  return unlocked;
}

bool shl_is_stopped(SHLCallback *cb) { return cb->scope.state->run->kill != SHL_OK; }

void shl_spent(SHLCallback *cb) {
  SHLState *S = cb->scope.state;
  SHLRun *run = S->run;
  shl_look(S, run);
}

/// Back to what was current before program code ran: the lock's depth, the run, and its coroutine.
static void restore(SHLState *S, uint32_t depth, SHLRun *run, lua_State *current) {
  S->lock.depth = depth;
  S->run = run;
  run->current = current;
  run->host_works = false;
  shl_thread.work = NULL;
  shl_thread.run = run == &S->idle_run ? NULL : run;
}

int32_t shl_wait(SHLCallback *cb, SHLFunction then, void *ctx, bool counts) {
  SHLEntry *entry = ((SHLInner *)cb->scope.state->run)->entry;
  entry->then = then;
  entry->then_ctx = ctx;
  entry->waits_since = counts ? shl_now() : 0;
  frame_of(cb)->waits = true;
  return 0;
}

// ---------------------------------------------------------------- the trampoline

/// The host's frames are gone: raise what it asked for, text with the position of the Lua caller before it.
static _Noreturn SHL_NOINLINE void raise_failure(lua_State *L, SHLState *S, Frame *f) {
  luaL_checkstack(L, 4, NULL);
  if (f->failed == 2) {
    shl_push(L, S, &f->raised);
    lua_error(L);
  }
  luaL_where(L, 1);
  if (f->failed) lua_pushlstring(L, f->text, f->text_used);
  else lua_pushliteral(L, "a function of the program failed without a reason");
  lua_concat(L, 2);
  lua_error(L);
  __builtin_unreachable();
}

/// A recovery point may have left the call anywhere: take the lock again, forget entries it was inside.
static SHL_NOINLINE void put_right(SHLState *S, uint32_t depth, SHLRun *run, lua_State *current) {
  if (!shl_lock_is_mine(&S->lock)) shl_lock(S, -1);
  restore(S, depth, run, current);
}

/// [-0, +results, e] Calls the host with the arguments on the stack of L, then pushes or raises what it answered.
static inline __attribute__((always_inline)) int run_host(lua_State *L, SHLState *S, SHLFunction fn, void *ctx, Frame *f) {
  f->cb.scope.state = S;
  f->cb.scope.L = L;
  f->nresults = 0;
  f->failed = 0;
  f->method = false;
  f->waits = false;
  f->text_used = 0;
  SHLRun *run = S->run;
  if (SHL_UNLIKELY(run->kill)) shl_rethrow(L);  // a host function as __close of a script that is being stopped
  lua_State *current = run->current;
  uint32_t depth = S->lock.depth;
  // Lua is built without frame pointers. Profilers and crash reporters that follow them go on where Lua was entered; the
  // word is put back before this function's end takes it for Lua's.
  void *volatile *below = __builtin_frame_address(0);
  void *lua_register = *below;
  if (SHL_LIKELY(run->frame != NULL)) *below = run->frame;
  int32_t answer = fn(ctx, &f->cb);
  *below = lua_register;
  if (SHL_UNLIKELY(S->run != run || !shl_lock_is_mine(&S->lock) || S->lock.depth != depth))
    put_right(S, depth, run, current);
  if (SHL_UNLIKELY(run->kill)) shl_kill(L, run->kill);
  if (SHL_UNLIKELY(answer < 0 || f->failed)) raise_failure(L, S, f);
  if (f->method) return -1;
  if (SHL_UNLIKELY(f->waits)) return shl_yield_host(L);
  int32_t n = f->nresults;
  if (n == 0) return 0;
  // A C function has room for LUA_MINSTACK values beyond its arguments.
  if (n > 1 || lua_gettop(L) > f->cb.argc + LUA_MINSTACK / 2) luaL_checkstack(L, n + 2, NULL);
  for (int32_t i = 0; i < n; i++) {
    const SHLValue *v = &f->results[i];
    if (SHL_LIKELY(v->tag == SHL_INT)) lua_pushinteger(L, v->i);
    else if (v->tag == SHL_NUMBER) lua_pushnumber(L, v->n);
    else shl_push(L, S, v);
  }
  return n;
}

/// The live host pointer of a call token; NULL for all else.
static inline void *live_call(lua_State *L, SHLState *S, int index) { return shl_token_host(S, (uint64_t)lua_touserdata(L, index)); }

/// The call of a token, or an error that tells what is wrong with it.
static void *call_target(lua_State *L, SHLState *S, int index) {
  void *host = live_call(L, S, index);
  if (SHL_LIKELY(host != NULL)) return host;
  if (shl_token_slot((uint64_t)lua_touserdata(L, index)) == SLOT_CONSTANT) luaL_error(L, "this value has no fields");
  luaL_error(L, "this call is over; take what is needed from 'call' while the handler runs");
  return NULL;
}

/// [-0, +0, -] The record of the handle's class.
static inline SHLClassRecord *class_of(SHLState *S, const SHLHandle *h) { return S->classes[h->cls]; }

/// Checks the receiver of a method of class `cls` and answers its host pointer (calls) or NULL (handles).
static SHL_NOINLINE void *receiver(lua_State *L, SHLState *S, int32_t cls, const char *name) {
  int type = lua_type(L, 1);
  if (cls == SHL_CLASS_CALL) {
    if (type == LUA_TLIGHTUSERDATA) return call_target(L, S, 1);
  } else if (type == LUA_TUSERDATA && (int32_t)((SHLHandle *)lua_touserdata(L, 1))->cls == cls) {
    return NULL;
  }
  luaL_error(L, "'%s' is a method of a %s, called on a %s value; write 'value:%s(...)' with a colon", name,
             S->classes[cls]->ops.name, lua_typename(L, type), name);
  return NULL;
}

/// Host functions and methods. Upvalue 1: its record.
SHL_HOT int shl_call_function(lua_State *L) {
  SHLHostFunction *h = lua_touserdata(L, lua_upvalueindex(1));
  SHLState *S = shl_state_of(L);
  Frame f;
  f.cb.host = h->cls == SHL_CLASS_CALL ? live_call(L, S, 1) : NULL;
  if (h->cls >= 0 && !f.cb.host) f.cb.host = receiver(L, S, h->cls, h->name);
  f.cb.argc = lua_gettop(L);
  f.cb.field = -1;
  f.cb.name = NULL;
  f.cb.name_length = 0;
  return run_host(L, S, h->fn, h->ctx, &f);
}

int shl_call_host(lua_State *L, SHLFunction fn, void *ctx, void *host) {
  Frame f;
  lua_settop(L, 0);
  f.cb.host = host;
  f.cb.argc = 0;
  f.cb.field = -1;
  f.cb.name = NULL;
  f.cb.name_length = 0;
  return run_host(L, shl_state_of(L), fn, ctx, &f);
}

/// A method given out by shl_return_method. Upvalue 1: its name.
static int call_named(lua_State *L) {
  SHLState *S = shl_state_of(L);
  Frame f;
  f.cb.name = lua_tolstring(L, lua_upvalueindex(1), &f.cb.name_length);
  f.cb.host = NULL;
  SHLClassRecord *c = NULL;
  int type = lua_type(L, 1);
  if (type == LUA_TUSERDATA) c = class_of(S, lua_touserdata(L, 1));
  else if (type == LUA_TLIGHTUSERDATA) f.cb.host = call_target(L, S, 1), c = S->classes[SHL_CLASS_CALL];
  if (!c || !c->ops.invoke)
    return luaL_error(L, "'%s' is a method, called on a %s value; write 'value:%s(...)' with a colon", f.cb.name,
                      c ? c->ops.name : lua_typename(L, type), f.cb.name);
  f.cb.argc = lua_gettop(L);
  f.cb.field = -1;
  return run_host(L, S, c->ops.invoke, c->ops.ctx, &f);
}

/// [-0, +1, m] The one closure that invokes the method `name` (on the stack at `index`), made at first use.
static int push_named(lua_State *L, SHLState *S, int index) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, S->methods);
  lua_pushvalue(L, index);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_settop(L, -2);
    lua_pushvalue(L, index);
    lua_pushvalue(L, index);
    lua_pushcclosure(L, call_named, 1);
    lua_rawset(L, -3);
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
  }
  return 1;
}

enum { UPVALUE_CLASS = 1, UPVALUE_MEMBERS, UPVALUE_RECENT };

/// The place of a name among the members that were looked up last, by its address: texts of the same bytes are one in Lua.
static inline int recent_place(const void *name) { return ((uintptr_t)name >> 4 ^ (uintptr_t)name >> 8) & (RECENT_MEMBERS - 1); }

/// [-0, +1, e] What the members table has for the string at index 2: a function or an id; nil for none. Remembers it.
static SHL_NOINLINE int find_member(lua_State *L, SHLClassRecord *c, size_t length) {
  lua_pushvalue(L, 2);
  int type = lua_rawget(L, lua_upvalueindex(UPVALUE_MEMBERS));
  if (type == LUA_TNIL || length > SHORT_NAME) return type;
  const void *name = lua_topointer(L, 2);
  int place = recent_place(name);
  c->recent[place] = (SHLMember){name, type == LUA_TNUMBER ? (int32_t)lua_tointeger(L, -1) : -1};
  lua_copy(L, -1, lua_upvalueindex(UPVALUE_RECENT + place));
  return type;
}

/// [-0, +1, e] The handle to the arguments of the call at index 1.
static int push_arguments(lua_State *L, SHLState *S) {
  const SHLArguments *arguments = call_target(L, S, 1);
  if (SHL_UNLIKELY(S->run->kill)) shl_rethrow(L);
  SHLValue handle = shl_handle(S->arguments_class, 0, 0, arguments->serial);
  shl_push_handle(L, S, &handle);
  return 1;
}

/// [-1, +0, e] The key is on top.
static SHL_NOINLINE int no_member(lua_State *L, SHLClassRecord *c, bool writing) {
  const char *key = lua_tostring(L, -1);
  if (writing) return luaL_error(L, "'%s' of a %s cannot be set", key, c->ops.name);
  char known[400] = "";
  size_t used = 0;
  for (SHLMemberList *list = c->lists; list; list = list->next) {
    for (int32_t i = 0; i < list->count && used < sizeof known - 80; i++)
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%.60s%s", used ? ", " : "; it has ", list->members[i].name, list->members[i].fn ? "()" : "");
  }
  return luaL_error(L, "'%s' is no member of a %s%s", key, c->ops.name, known);
}

/// index and newindex of handles and calls. Upvalues: class record, members, what was found of the recent members.
static inline int access_member(lua_State *L, bool writing) {
  SHLClassRecord *c = lua_touserdata(L, lua_upvalueindex(UPVALUE_CLASS));
  SHLState *S = shl_state_of(L);
  if (c->id == S->arguments_class && lua_isinteger(L, 2)) {
    if (writing ? shl_argument_change(L, S, c->id) : shl_argument_push(L, S, c->id)) return !writing;
  }
  Frame f;
  f.cb.field = -1;
  f.cb.name = NULL;
  f.cb.name_length = 0;
  const void *key = writing ? NULL : lua_topointer(L, 2);
  const SHLMember *known = &c->recent[recent_place(key)];
  if (key && known->name == key) {
    if (known->field < 0) {
      lua_pushvalue(L, lua_upvalueindex(UPVALUE_RECENT + (int)(known - c->recent)));
      return 1;  // it checks its receiver itself
    }
    f.cb.field = known->field;
    f.cb.name = lua_tolstring(L, 2, &f.cb.name_length);
  } else if (lua_type(L, 2) == LUA_TSTRING) {
    f.cb.name = lua_tolstring(L, 2, &f.cb.name_length);
    int type;
    if (writing) lua_pushvalue(L, 2), type = lua_rawget(L, lua_upvalueindex(UPVALUE_MEMBERS));
    else type = find_member(L, c, f.cb.name_length);
    if (type == LUA_TFUNCTION && !writing) return 1;
    if (type == LUA_TNUMBER) f.cb.field = (int32_t)lua_tointeger(L, -1);
    lua_settop(L, writing ? 3 : 2);
  }
  if (c->id == SHL_CLASS_CALL && !writing && S->arguments_class && f.cb.field == S->arguments_member) return push_arguments(L, S);
  f.cb.host = c->id == SHL_CLASS_CALL ? call_target(L, S, 1) : NULL;
  SHLFunction fn = writing ? c->ops.newindex : c->ops.index;
  if (SHL_UNLIKELY(!fn)) {
    shl_push_text(L, 2);
    return no_member(L, c, writing);
  }
  f.cb.argc = writing ? 3 : 2;
  int n = run_host(L, S, fn, c->ops.ctx, &f);
  return n < 0 ? push_named(L, S, 2) : n;
}
SHL_HOT int shl_handle_index(lua_State *L) { return access_member(L, false); }
int shl_handle_newindex(lua_State *L) { return access_member(L, true); }

/// The remaining operations. Upvalues: class record, the host function as an address inside the record.
int shl_handle_operation(lua_State *L) {
  SHLClassRecord *c = lua_touserdata(L, lua_upvalueindex(1));
  SHLFunction *fn = lua_touserdata(L, lua_upvalueindex(2));
  SHLState *S = shl_state_of(L);
  Frame f;
  f.cb.host = c->id == SHL_CLASS_CALL && lua_type(L, 1) == LUA_TLIGHTUSERDATA ? call_target(L, S, 1) : NULL;
  f.cb.argc = lua_gettop(L);
  f.cb.field = -1;
  f.cb.name = NULL;
  f.cb.name_length = 0;
  return run_host(L, S, *fn, c->ops.ctx, &f);
}

/// __eq without an operation of the class: same class, same words.
int shl_same_words(lua_State *L) {
  const SHLHandle *x = lua_touserdata(L, 1), *y = lua_touserdata(L, 2);
  lua_pushboolean(L, x && y && x->cls == y->cls && x->a == y->a && x->b == y->b && x->c == y->c);
  return 1;
}

int shl_plain_handle_text(lua_State *L) {
  SHLClassRecord *c = lua_touserdata(L, lua_upvalueindex(1));
  lua_pushstring(L, c->ops.name);
  return 1;
}

/// tostring of light userdata: a constant's text, or the call's.
int shl_light_text(lua_State *L) {
  SHLState *S = shl_state_of(L);
  uint64_t token = (uint64_t)lua_touserdata(L, 1);
  if (shl_token_slot(token) == SLOT_CONSTANT) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, S->constants);
    lua_rawgeti(L, -1, (lua_Integer)shl_token_generation(token));
    if (lua_type(L, -1) != LUA_TSTRING) lua_pushliteral(L, "constant");
    return 1;
  }
  SHLClassRecord *c = S->classes[SHL_CLASS_CALL];
  void *host = shl_token_host(S, token);
  if (!host) lua_pushliteral(L, "call (over)");
  else if (!c->ops.tostring) lua_pushstring(L, c->ops.name);
  else {
    Frame f;
    f.cb.host = host;
    f.cb.argc = 1;
    f.cb.field = -1;
    f.cb.name = NULL;
    f.cb.name_length = 0;
    return run_host(L, S, c->ops.tostring, c->ops.ctx, &f);
  }
  return 1;
}
