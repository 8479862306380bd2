// Values to and from Lua, references, tables.
//
// Everything Swift calls here answers without raising: what could raise runs in a C function under pcall.
#include "../shl_internal.h"

SHL_HOT bool shl_push_plain(lua_State *L, SHLState *S, const SHLValue *v) {
  switch (v->tag) {
    case SHL_NIL: lua_pushnil(L); return true;
    case SHL_BOOL: lua_pushboolean(L, v->b); return true;
    case SHL_INT: lua_pushinteger(L, v->i); return true;
    case SHL_NUMBER: lua_pushnumber(L, v->n); return true;
    case SHL_CALL: lua_pushlightuserdata(L, (void *)v->call); return true;
    case SHL_CALL_HERE: {
      // The token of the entry that runs; shl_invoke has set its host.
      SHLInner *in = (SHLInner *)S->run;  // SHLRun is the first member of SHLInner
      if (S->run == &S->idle_run) return false;
      uint32_t slot = in->entry->slot;
      if (S->slots[slot].host != v->host) {
        S->slots[slot].host = v->host;
        in->here = true;
      }
      lua_pushlightuserdata(L, (void *)shl_token(S->slots[slot].generation, slot));
      return true;
    }
    case SHL_CONSTANT: lua_pushlightuserdata(L, (void *)shl_token((uint64_t)v->i, SLOT_CONSTANT)); return true;
    case SHL_REF: lua_rawgeti(L, LUA_REGISTRYINDEX, v->ref); return true;
    case SHL_TABLE: case SHL_FUNCTION: case SHL_OTHER:
      if (v->slot < 1 || v->slot > lua_gettop(L)) return false;
      lua_pushvalue(L, v->slot);
      return true;
    case SHL_STRING: case SHL_HANDLE: return false;
  }
  return false;
}
_Static_assert(offsetof(SHLInner, run) == 0, "a run is found in its invocation");

// ---------------------------------------------------------------- strings

void shl_texts_open(lua_State *L, SHLState *S) {
  for (int i = 0; i < RECENT_TEXTS; i++) {
    lua_pushboolean(L, 0);
    S->texts[i].ref = luaL_ref(L, LUA_REGISTRYINDEX);
  }
}

/// What tells most strings of at least eight bytes apart.
static inline uint64_t text_mark(const char *bytes, size_t length) {
  uint64_t first, last;
  memcpy(&first, bytes, sizeof first);
  memcpy(&last, bytes + length - sizeof last, sizeof last);
  return (first ^ (last << 21 | last >> 43) ^ length) * 0x9E3779B97F4A7C15;
}

SHL_HOT void shl_push_bytes(lua_State *L, SHLState *S, const char *bytes, size_t length) {
  // Lua hashes each byte of a short string; longer ones it only copies.
  if (length < sizeof(uint64_t) || length > SHORT_NAME) {
    lua_pushlstring(L, bytes ? bytes : "", length);
    return;
  }
  uint64_t mark = text_mark(bytes, length);
  SHLText *text = &S->texts[mark >> 32 & (RECENT_TEXTS - 1)];
  if (text->length == length && memcmp(text->bytes, bytes, length) == 0) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, text->ref);
    return;
  }
  lua_pushlstring(L, bytes, length);
  if (text->mark == mark) {
    lua_pushvalue(L, -1);
    lua_rawseti(L, LUA_REGISTRYINDEX, text->ref);  // the key is there: needs no memory
    text->bytes = lua_tolstring(L, -1, NULL);
    text->length = length;
  }
  text->mark = mark;
}

SHL_HOT void shl_push(lua_State *L, SHLState *S, const SHLValue *v) {
  if (v->tag == SHL_STRING) {
    if (v->s.n > S->limits.string_bytes) luaL_error(L, "string of %I bytes is longer than the limit of %I", (LUAI_UACINT)v->s.n, (LUAI_UACINT)S->limits.string_bytes);
    shl_push_bytes(L, S, v->s.p, v->s.n);
  } else if (v->tag == SHL_HANDLE) {
    shl_push_handle(L, S, v);
  } else if (!shl_push_plain(L, S, v)) {
    luaL_error(L, "a value cannot be passed here");
  }
}

void shl_push_arguments(lua_State *L, SHLState *S, const SHLValue *values, int32_t count) {
  // Behind its call, a handler's first argument is the first.
  int32_t before = count > 0 && values[0].tag == SHL_CALL_HERE;
  for (int32_t i = 0; i < count; i++) {
    const SHLValue *v = &values[i];
    if (v->tag == SHL_STRING && v->s.n > S->limits.string_bytes)
      luaL_error(L, "argument %d is a text of %I bytes, which is longer than the limit of %I", (int)(i + 1 - before), (LUAI_UACINT)v->s.n,
                 (LUAI_UACINT)S->limits.string_bytes);
    shl_push(L, S, v);
  }
}

/// Fills *v field by field: a 32-byte copy right behind smaller stores would stall the reader.
SHL_HOT void shl_read_to(lua_State *L, int index, SHLValue *v) {
  v->cls = 0;
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) {
        v->tag = SHL_INT;
        v->i = lua_tointegerx(L, index, NULL);
      } else {
        v->tag = SHL_NUMBER;
        v->n = lua_tonumberx(L, index, NULL);
      }
      return;
    case LUA_TBOOLEAN:
      v->tag = SHL_BOOL;
      v->i = lua_toboolean(L, index);
      return;
    case LUA_TSTRING:
      v->tag = SHL_STRING;
      v->s.p = lua_tolstring(L, index, &v->s.n);  // a string already: no conversion, cannot raise
      return;
    case LUA_TLIGHTUSERDATA: {
      uint64_t token = (uint64_t)lua_touserdata(L, index);
      if (shl_token_slot(token) == SLOT_CONSTANT) {
        v->tag = SHL_CONSTANT;
        v->i = (int64_t)shl_token_generation(token);
      } else {
        v->tag = SHL_CALL;
        v->call = token;
      }
      return;
    }
    case LUA_TUSERDATA: {
      const SHLHandle *h = lua_touserdata(L, index);
      v->tag = SHL_HANDLE;
      v->cls = h->cls;
      v->h.a = h->a, v->h.b = h->b, v->h.c = h->c;
      return;
    }
    case LUA_TTABLE: v->tag = SHL_TABLE; break;
    case LUA_TFUNCTION: v->tag = SHL_FUNCTION; break;
    case LUA_TTHREAD: v->tag = SHL_OTHER; break;
    default:
      v->tag = SHL_NIL;
      v->i = 0;
      return;
  }
  v->slot = lua_absindex(L, index);
}

SHLValue shl_read(lua_State *L, int index) {
  SHLValue v;
  shl_read_to(L, index, &v);
  return v;
}

// ---------------------------------------------------------------- scope stack

int32_t shl_mark(SHLScope *scope) { return lua_gettop(scope->L); }

void shl_drop(SHLScope *scope, int32_t mark) {
  if (mark >= 0 && mark < lua_gettop(scope->L)) lua_settop(scope->L, mark);  // nothing to be closed up here
}

/// Reads the top value; scalars need not stay on the stack.
static SHLValue take(lua_State *L) {
  SHLValue v = shl_read(L, -1);
  if (shl_is_plain(v.tag)) lua_settop(L, -2);
  return v;
}

typedef struct { SHLState *S; const SHLValue *value; const char *name; size_t length; int64_t index; SHLRef ref; } Work;

/// [-1, +1, m]
static int push_body(lua_State *L) {
  Work *w = lua_touserdata(L, 1);
  shl_push(L, w->S, w->value);
  return 1;
}

/// [-0, +1, -] Pushes any value; false and nothing pushed when it cannot be.
static bool push_any(SHLScope *scope, const SHLValue *v) {
  if (!lua_checkstack(scope->L, 4)) return false;
  if (shl_push_plain(scope->L, scope->state, v)) return true;
  Work w = {.S = scope->state, .value = v};
  return shl_protect(scope->L, push_body, &w, 0, 1) == LUA_OK;
}

bool shl_handle_make(SHLScope *scope, SHLValue handle, SHLValue *made) {
  if (handle.tag != SHL_HANDLE || !push_any(scope, &handle)) return false;
  *made = (SHLValue){.tag = SHL_OTHER, .slot = lua_gettop(scope->L)};
  return true;
}

/// [-2, +0, m] (value, work)
static int keep_body(lua_State *L) {
  Work *w = lua_touserdata(L, 2);
  lua_settop(L, 1);
  w->ref = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

SHLRef shl_keep(SHLScope *scope, SHLValue value) {
  Work w = {.S = scope->state};
  if (!push_any(scope, &value)) return 0;
  if (lua_type(scope->L, -1) == LUA_TNIL) {  // luaL_ref has no reference for nil
    lua_settop(scope->L, -2);
    return 0;
  }
  return shl_protect(scope->L, keep_body, &w, 1, 0) == LUA_OK ? w.ref : 0;
}

SHLValue shl_kept(SHLScope *scope, SHLRef ref) {
  if (ref <= 0 || !lua_checkstack(scope->L, 1)) return shl_nil();
  lua_rawgeti(scope->L, LUA_REGISTRYINDEX, ref);
  return take(scope->L);
}

bool shl_is_kept(SHLScope *scope, SHLValue value, SHLRef ref) {
  lua_State *L = scope->L;
  bool is_bound = value.tag == SHL_TABLE || value.tag == SHL_FUNCTION || value.tag == SHL_OTHER;
  if (ref <= 0 || !is_bound || value.slot < 1 || value.slot > lua_gettop(L) || !lua_checkstack(L, 1)) return false;
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
  bool is_same = lua_rawequal(L, -1, value.slot);
  lua_settop(L, -2);
  return is_same;
}

/// [-1, +0, m] (function, info): facts of a function.
static int info_body(lua_State *L) {
  SHLFunctionInfo *info = lua_touserdata(L, 2);
  lua_Debug ar;
  lua_settop(L, 1);
  lua_getinfo(L, ">Su", &ar);
  info->parameters = ar.nparams;
  info->variadic = ar.isvararg;
  info->native = *ar.what == 'C';
  info->line = ar.linedefined > 0 ? ar.linedefined : 0;
  info->last_line = ar.lastlinedefined > 0 ? ar.lastlinedefined : 0;
  shl_escape(info->source, sizeof info->source, ar.short_src, strlen(ar.short_src));
  return 0;
}

bool shl_function_info(SHLScope *scope, SHLValue value, SHLFunctionInfo *info) {
  memset(info, 0, sizeof *info);
  if (value.tag != SHL_FUNCTION && value.tag != SHL_REF) return false;
  lua_State *L = scope->L;
  if (!lua_checkstack(L, 4)) return false;
  shl_push_plain(L, scope->state, &value);
  if (lua_type(L, -1) != LUA_TFUNCTION) {
    lua_settop(L, -2);
    return false;
  }
  return shl_protect(L, info_body, info, 1, 0) == LUA_OK;
}

// ---------------------------------------------------------------- tables

/// [-0, +0|1, -] The stack index of a table; pushes it when it is a reference. 0: not a table.
static int table_index(SHLScope *scope, const SHLValue *table, bool *pushed) {
  lua_State *L = scope->L;
  *pushed = false;
  if (!lua_checkstack(L, 6)) return 0;
  if (table->tag == SHL_TABLE && lua_type(L, table->slot) == LUA_TTABLE) return table->slot;
  if (table->tag != SHL_REF) return 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, table->ref);
  if (lua_type(L, -1) == LUA_TTABLE) {
    *pushed = true;
    return lua_gettop(L);
  }
  lua_settop(L, -2);
  return 0;
}

/// [-1, +0|1, -] Takes the top value as a result and drops the table below it if it was pushed.
static SHLValue take_from(lua_State *L, bool pushed) {
  if (pushed) lua_rotate(L, -2, 1), lua_settop(L, -2);
  return take(L);
}

int64_t shl_table_length(SHLScope *scope, SHLValue table) {
  bool pushed;
  int t = table_index(scope, &table, &pushed);
  int64_t n = t ? (int64_t)lua_rawlen(scope->L, t) : 0;
  if (pushed) lua_settop(scope->L, -2);
  return n;
}

SHLValue shl_table_at(SHLScope *scope, SHLValue table, int64_t index) {
  bool pushed;
  int t = table_index(scope, &table, &pushed);
  if (!t) return shl_nil();
  lua_rawgeti(scope->L, t, index);
  return take_from(scope->L, pushed);
}

/// [-2, +1, m] (table, work)
static int field_body(lua_State *L) {
  Work *w = lua_touserdata(L, 2);
  lua_pushlstring(L, w->name, w->length);
  lua_rawget(L, 1);
  return 1;
}

SHLValue shl_table_field(SHLScope *scope, SHLValue table, const char *name, size_t length) {
  bool pushed;
  int t = table_index(scope, &table, &pushed);
  if (!t) return shl_nil();
  Work w = {.name = name, .length = length};
  if (!pushed) lua_pushvalue(scope->L, t);
  if (shl_protect(scope->L, field_body, &w, 1, 1) != LUA_OK) return shl_nil();
  return take(scope->L);
}

/// [-3, +1|2, e] (table, key, work)
static int next_body(lua_State *L) { return shl_f_next(L); }

bool shl_table_next(SHLScope *scope, SHLValue table, int32_t *position, SHLValue *key, SHLValue *value) {
  lua_State *L = scope->L;
  bool pushed;
  if (*position == 0) {  // reserve key and value
    if (!lua_checkstack(L, 8)) return false;
    lua_pushnil(L);
    lua_pushnil(L);
    *position = lua_gettop(L) - 1;
  }
  int at = *position;
  lua_settop(L, at + 1);
  int t = table_index(scope, &table, &pushed);
  if (!t) return false;
  if (!pushed) lua_pushvalue(L, t);
  lua_pushvalue(L, at);
  int base = at + 1;
  if (shl_protect(L, next_body, NULL, 2, LUA_MULTRET) != LUA_OK || lua_gettop(L) != base + 2) {
    lua_settop(L, at - 1);
    return false;
  }
  lua_copy(L, base + 1, at);
  lua_copy(L, base + 2, at + 1);
  lua_settop(L, base);
  *key = shl_read(L, at);
  *value = shl_read(L, at + 1);
  return true;
}

/// [-1, +1, m]
static int new_body(lua_State *L) {
  Work *w = lua_touserdata(L, 1);
  lua_createtable(L, (int)w->index, (int)w->length);
  return 1;
}

SHLValue shl_table_new(SHLScope *scope, int32_t array, int32_t fields) {
  Work w = {.index = array > 0 ? array : 0, .length = fields > 0 ? (size_t)fields : 0};
  if (w.index > TABLE_MAX) w.index = TABLE_MAX;
  if (w.length > (1 << HASH_LOG_MAX)) w.length = 1 << HASH_LOG_MAX;
  if (shl_protect(scope->L, new_body, &w, 0, 1) != LUA_OK) return shl_nil();
  return shl_read(scope->L, -1);
}

/// [-4, +0, e] (table, key, value, work); nil and NaN keys are errors.
static int set_body(lua_State *L) {
  lua_settop(L, 3);
  lua_rawset(L, 1);
  return 0;
}

SHLStatus shl_table_set(SHLScope *scope, SHLValue table, SHLValue key, SHLValue value) {
  lua_State *L = scope->L;
  bool pushed;
  int base = lua_gettop(L), t = table_index(scope, &table, &pushed);
  if (!t || key.tag == SHL_NIL) {
    lua_settop(L, base);
    return SHL_BAD_ARGUMENT;
  }
  if (!pushed) lua_pushvalue(L, t);
  SHLStatus status = SHL_OK;
  if (!push_any(scope, &key) || !push_any(scope, &value)) status = SHL_NO_MEMORY;
  else {
    int outcome = shl_protect(L, set_body, NULL, 3, 0);
    if (outcome != LUA_OK) status = outcome == LUA_ERRMEM ? SHL_NO_MEMORY : SHL_BAD_ARGUMENT;
  }
  lua_settop(L, base);
  return status;
}

SHLStatus shl_table_set_at(SHLScope *scope, SHLValue table, int64_t index, SHLValue value) {
  return shl_table_set(scope, table, shl_int(index), value);
}

SHLStatus shl_table_set_field(SHLScope *scope, SHLValue table, const char *name, size_t length, SHLValue value) {
  return shl_table_set(scope, table, shl_string(name, length), value);
}

// ---------------------------------------------------------------- globals

void shl_put_global(lua_State *L, const char *name) {
  int value = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  const char *dot;
  while ((dot = strchr(name, '.'))) {
    lua_pushlstring(L, name, (size_t)(dot - name));
    lua_pushvalue(L, -1);
    if (lua_rawget(L, -3) != LUA_TTABLE) {
      lua_settop(L, -2);
      lua_createtable(L, 0, 4);
      lua_pushvalue(L, -2);
      lua_pushvalue(L, -2);
      lua_rawset(L, -5);
    }
    name = dot + 1;
  }
  lua_pushstring(L, name);
  lua_pushvalue(L, value);
  lua_rawset(L, -3);
  lua_settop(L, value - 1);
}

/// [-2, +0, m] (value, work)
static int set_global_body(lua_State *L) {
  Work *w = lua_touserdata(L, 2);
  lua_settop(L, 1);
  // What is made later would take its place.
  shl_make_globals(L, shl_state_of(L), w->name, strcspn(w->name, "."));
  shl_put_global(L, w->name);
  return 0;
}

SHLStatus shl_set_global(SHLScope *scope, const char *name, SHLValue value) {
  Work w = {.name = name};
  if (!name || !*name) return SHL_BAD_ARGUMENT;
  if (!push_any(scope, &value)) return SHL_NO_MEMORY;
  return shl_protect(scope->L, set_global_body, &w, 1, 0) == LUA_OK ? SHL_OK : SHL_NO_MEMORY;
}
