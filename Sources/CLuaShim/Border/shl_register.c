// Registration: host functions, classes of handles and their members, constants.
#include "../shl_internal.h"

typedef struct {
  SHLState *S;
  const char *name;
  SHLHostFunction *function;
  SHLClassRecord *record;
  int64_t id;
  const char *shown;
} Registering;

/// [-0, +0, -] The record of a host function, which the state frees when it is closed; NULL when memory runs out.
static SHLHostFunction *function_make(SHLState *S, const char *name, SHLFunction fn, void *ctx, int32_t cls) {
  size_t n = strlen(name) + 1;
  SHLHostFunction *h = malloc(sizeof *h + n);
  if (!h) return NULL;
  *h = (SHLHostFunction){fn, ctx, cls, S->functions};
  memcpy(h->name, name, n);
  S->functions = h;
  return h;
}

/// [-1, +1, m]
static int function_body(lua_State *L) {
  Registering *r = lua_touserdata(L, 1);
  lua_pushlightuserdata(L, r->function);
  lua_pushcclosure(L, shl_call_function, 1);
  return 1;
}

SHLValue shl_function(SHLScope *scope, SHLFunction fn, void *ctx) {
  Registering r = {.S = scope->state};
  r.function = function_make(scope->state, "function", fn, ctx, -1);
  if (!r.function || shl_protect(scope->L, function_body, &r, 0, 1) != LUA_OK) return shl_nil();
  return shl_read(scope->L, -1);
}

/// Registration is no script: no limits but memory, and it waits for the lock.
static const SHLBudget unlimited = {-1, -1, -1};

/// [-0, +0, m]
static void make_named(lua_State *L, const SHLNamed *one) {
  SHLState *S = shl_state_of(L);
  SHLHostFunction *function = function_make(S, one->name, one->fn, S->named_ctx, -1);
  if (!function) luaL_error(L, "no memory");
  lua_pushlightuserdata(L, function);
  lua_pushcclosure(L, shl_call_function, 1);
  shl_put_global(L, one->name);
}

SHLStatus shl_register_all(SHLState *S, const SHLNamed *functions, int32_t count, void *ctx) {
  if (S->named || count > NAMED_MAX) return SHL_BAD_ARGUMENT;
  for (int32_t i = 0; i < count; i++)
    if (!functions[i].name || !*functions[i].name) return SHL_BAD_ARGUMENT;
  if (!shl_lock(S, -1)) return SHL_POISONED;
  S->named = functions;
  S->named_count = count;
  S->named_ctx = ctx;
  S->make_named = make_named;
  for (int32_t i = 0; i < count; i++) shl_filter_add(S, functions[i].name);
  shl_unlock(S);
  return SHL_OK;
}

/// [-1, +0, m]
static int register_body(lua_State *L) {
  Registering *r = lua_touserdata(L, 1);
  // What is made later would take its place.
  shl_make_globals(L, r->S, r->name, strcspn(r->name, "."));
  lua_pushlightuserdata(L, r->function);
  lua_pushcclosure(L, shl_call_function, 1);
  shl_put_global(L, r->name);
  return 0;
}

SHLStatus shl_register(SHLState *S, const char *name, SHLFunction fn, void *ctx) {
  if (!name || !*name) return SHL_BAD_ARGUMENT;
  SHLInvocation inv;
  SHLStatus status = shl_enter(S, &unlimited, &inv);
  if (status != SHL_OK) {
    shl_error_free(S, inv.error);
    return status;
  }
  Registering r = {.S = S, .name = name, .function = function_make(S, name, fn, ctx, -1)};
  if (!r.function || shl_protect(inv.scope.L, register_body, &r, 0, 0) != LUA_OK) status = SHL_NO_MEMORY;
  shl_invoke_end(&inv);
  return status;
}

/// [-0, +0, m] Sets metatable[name] to a closure over (record, extra).
static void set_operation(lua_State *L, const char *name, lua_CFunction fn, void *record, void *extra) {
  lua_pushlightuserdata(L, record);
  lua_pushlightuserdata(L, extra);
  lua_pushcclosure(L, fn, 2);
  lua_setfield(L, -2, name);  // a fresh table without metatable: nothing but memory can fail
}

/// [-0, +1, m] Builds the metatable of a class; its members table goes to the registry.
static void push_metatable(lua_State *L, SHLState *S, SHLClassRecord *c) {
  SHLClass *o = &c->ops;
  lua_createtable(L, 0, 12);
  lua_createtable(L, 0, 8);
  lua_pushvalue(L, -1);
  c->members = luaL_ref(L, LUA_REGISTRYINDEX);
  for (int writing = 0; writing < 2; writing++) {
    lua_pushlightuserdata(L, c);
    lua_pushvalue(L, -2);
    for (int i = 0; i < RECENT_MEMBERS && !writing; i++) lua_pushnil(L);
    lua_pushcclosure(L, writing ? shl_handle_newindex : shl_handle_index, writing ? 2 : 2 + RECENT_MEMBERS);
    lua_setfield(L, -3, writing ? "__newindex" : "__index");
  }
  lua_settop(L, -2);
  if (o->call) set_operation(L, S->name_call, shl_handle_operation, c, &o->call);
  if (o->equal) set_operation(L, "__eq", shl_handle_operation, c, &o->equal);
  else set_operation(L, "__eq", shl_same_words, c, NULL);
  if (o->less) set_operation(L, "__lt", shl_handle_operation, c, &o->less);
  if (o->less_equal) set_operation(L, "__le", shl_handle_operation, c, &o->less_equal);
  if (o->length) set_operation(L, "__len", shl_handle_operation, c, &o->length);
  if (o->pairs) set_operation(L, "__pairs", shl_handle_operation, c, &o->pairs);
  if (o->tostring) set_operation(L, "__tostring", shl_handle_operation, c, &o->tostring);
  else set_operation(L, "__tostring", shl_plain_handle_text, c, NULL);
  if (o->release) {
    lua_pushcfunction(L, shl_collect_handle);
    lua_setfield(L, -2, S->name_gc);
  }
  lua_pushstring(L, o->name);
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
}

/// [-0, +0, m] A function, or a number, under a name of the class's members, whose table is made.
static void add_member(lua_State *L, SHLClassRecord *c, const char *name, SHLHostFunction *function, int64_t id) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->members);
  lua_pushstring(L, name);
  if (function) {
    lua_pushlightuserdata(L, function);
    lua_pushcclosure(L, shl_call_function, 1);
  } else {
    lua_pushinteger(L, id);
  }
  lua_rawset(L, -3);
  lua_settop(L, -2);
  memset(c->recent, 0, sizeof c->recent);
}

/// [-0, +0, m]
static void add_members(lua_State *L, SHLState *S, SHLClassRecord *c, const SHLMemberList *list) {
  for (int32_t i = 0; i < list->count; i++) {
    const SHLNamed *m = &list->members[i];
    SHLHostFunction *function = m->fn ? function_make(S, m->name, m->fn, list->ctx, (int32_t)c->id) : NULL;
    if (m->fn && !function) luaL_error(L, "no memory");
    add_member(L, c, m->name, function, m->id);
  }
}

/// [-0, +0, m] What Lua has of a class, made at its first handle or member: most patches use few of the classes there are.
void shl_make_tables(lua_State *L, SHLState *S, SHLClassRecord *c) {
  // That of calls is made while opening.
  if (SHL_LIKELY(c->metatable != 0) || c->id == SHL_CLASS_CALL) return;
  luaL_checkstack(L, RECENT_MEMBERS + 8, NULL);
  if (c->ops.flags & SHL_UNIQUE && !c->unique) {
    shl_push_weak_table(L, S, "v");
    c->unique = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  push_metatable(L, S, c);
  c->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
  for (SHLMemberList *list = c->lists; list; list = list->next) add_members(L, S, c, list);
}

/// The record of a class, with a name of its own; NULL when memory runs out.
static SHLClassRecord *record_make(const SHLClass *d, uint32_t id) {
  SHLClassRecord *c = calloc(1, sizeof *c);
  char *name = strdup(d->name ? d->name : "value");
  if (!c || !name) {
    free(c);
    free(name);
    return NULL;
  }
  c->ops = *d;
  c->ops.name = name;
  c->id = id;
  return c;
}

SHLStatus shl_class(SHLState *S, const SHLClass *d, uint32_t *cls) {
  if (shl_is_poisoned(S) || !shl_lock(S, -1)) return SHL_POISONED;
  SHLStatus status = SHL_BAD_ARGUMENT;
  if (S->class_count < SHL_CLASS_MAX && d->stands_in_for < S->class_count) {
    SHLClassRecord *record = record_make(d, S->class_count);
    status = record ? SHL_OK : SHL_NO_MEMORY;
    if (record) {
      S->classes[S->class_count] = record;
      if (d->stands_in_for) S->classes[d->stands_in_for]->synthesized_method = S->class_count;
      *cls = S->class_count++;
    }
  }
  shl_unlock(S);
  return status;
}

SHLStatus shl_call_class(SHLState *S, const SHLClass *d) {
  if (!shl_lock(S, -1)) return SHL_POISONED;
  SHLClassRecord *c = S->classes[SHL_CLASS_CALL];
  char *name = strdup(d->name ? d->name : "call");
  if (name) {
    free((void *)c->ops.name);
    c->ops = *d;
    c->ops.name = name;
  }
  shl_unlock(S);
  return name ? SHL_OK : SHL_NO_MEMORY;
}

/// [-1, +0, m]
static int members_body(lua_State *L) {
  Registering *r = lua_touserdata(L, 1);
  add_members(L, r->S, r->record, r->record->lists);
  return 0;
}

SHLStatus shl_members(SHLState *S, uint32_t cls, const SHLNamed *members, int32_t count, void *ctx) {
  SHLInvocation inv;
  SHLStatus status = shl_enter(S, &unlimited, &inv);
  if (status != SHL_OK) {
    shl_error_free(S, inv.error);
    return status;
  }
  SHLMemberList *list = cls < S->class_count ? malloc(sizeof *list) : NULL;
  if (list) {
    SHLClassRecord *record = S->classes[cls];
    *list = (SHLMemberList){members, count, ctx, record->lists};
    record->lists = list;
    Registering r = {.S = S, .record = record};
    // The tables of calls are there from the start.
    bool has_tables = record->metatable || cls == SHL_CLASS_CALL;
    if (has_tables && shl_protect(inv.scope.L, members_body, &r, 0, 0) != LUA_OK) status = SHL_NO_MEMORY;
  } else {
    status = cls < S->class_count ? SHL_NO_MEMORY : SHL_BAD_ARGUMENT;
  }
  shl_invoke_end(&inv);
  return status;
}

/// [-1, +0, m]
static int constant_body(lua_State *L) {
  Registering *r = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->S->constants);
  lua_pushstring(L, r->shown);
  lua_rawseti(L, -2, r->id);
  return 0;
}

SHLStatus shl_constant(SHLState *S, int64_t id, const char *name, const char *shown) {
  if (id < 0 || id >= (int64_t)1 << 47) return SHL_BAD_ARGUMENT;
  SHLInvocation inv;
  SHLStatus status = shl_enter(S, &unlimited, &inv);
  if (status != SHL_OK) {
    shl_error_free(S, inv.error);
    return status;
  }
  Registering r = {.S = S, .id = id, .shown = shown};
  if (shl_protect(inv.scope.L, constant_body, &r, 0, 0) != LUA_OK) status = SHL_NO_MEMORY;
  else if (name) status = shl_set_global(&inv.scope, name, shl_constant_value(id));
  shl_invoke_end(&inv);
  return status;
}

/// [-0, +0, m] Called once while opening: the class of calls and the tables registration needs.
void shl_host_open(lua_State *L, SHLState *S) {
  lua_createtable(L, 0, 8);
  S->methods = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_createtable(L, 0, 0);
  S->constants = luaL_ref(L, LUA_REGISTRYINDEX);
  shl_texts_open(L, S);
  SHLClass calls = {.name = "call"};
  SHLClassRecord *c = record_make(&calls, SHL_CLASS_CALL);
  if (!c) luaL_error(L, "no memory");
  S->classes[SHL_CLASS_CALL] = c;
  S->class_count = 1;
  lua_pushlightuserdata(L, NULL);
  push_metatable(L, S, c);
  lua_pushnil(L);
  lua_setfield(L, -2, "__eq");
  lua_pushcfunction(L, shl_light_text);
  lua_setfield(L, -2, "__tostring");
  lua_setmetatable(L, -2);  // of the type: every light userdata
  lua_settop(L, -2);
}
