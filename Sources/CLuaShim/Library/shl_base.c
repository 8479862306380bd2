// Basic functions of scripts that differ from the stock ones, and why: see the allow-list.
#include "../shl_internal.h"
#include <stdio.h>

// ---------------------------------------------------------------- text of values

/// A stable synthesized method for an address: one to one, keyed per state.
static uint64_t scrambled(SHLState *S, const void *p) {
  const uint64_t mask = ((uint64_t)1 << 48) - 1;
  uint64_t x = (uint64_t)(uintptr_t)p & mask;
  x = (x ^ S->scramble) * 0x9E3779B97F4A7C15u & mask;  // an odd factor keeps it one to one
  x ^= x >> 24;
  return (x ^ S->scramble >> 16) * 0xD1B54A32D192ED03u & mask;
}

void shl_push_address(lua_State *L, const void *p) {
  char text[32];
  snprintf(text, sizeof text, "0x%012llx", (unsigned long long)scrambled(shl_state_of(L), p));
  lua_pushstring(L, text);
}

void shl_push_text(lua_State *L, int index) {
  index = lua_absindex(L, index);
  luaL_checkstack(L, 6, NULL);
  switch (lua_type(L, index)) {
    case LUA_TSTRING: lua_pushvalue(L, index); return;
    case LUA_TNUMBER:
      lua_pushvalue(L, index);
      lua_tolstring(L, -1, NULL);  // converts our copy in place
      return;
    case LUA_TNIL: lua_pushliteral(L, "nil"); return;
    case LUA_TBOOLEAN: lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false"); return;
    default: break;
  }
  int top = lua_gettop(L);
  if (luaL_callmeta(L, index, "__tostring")) {
    if (!lua_isstring(L, -1)) luaL_error(L, "'__tostring' must return a string");
    if (lua_type(L, -1) == LUA_TNUMBER) lua_tolstring(L, -1, NULL);
    return;
  }
  const char *name = lua_typename(L, lua_type(L, index));
  if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING) name = lua_tostring(L, -1);
  shl_push_address(L, lua_topointer(L, index));
  lua_pushfstring(L, "%s: %s", name, lua_tostring(L, -1));
  lua_copy(L, -1, top + 1);
  lua_settop(L, top + 1);
}

/// `tostring`: by `__tostring`, else the type and what stands for its address.
int shl_f_tostring(lua_State *L) {
  luaL_checkany(L, 1);
  shl_push_text(L, 1);
  return 1;
}

/// `print`: one line for the host, cut at PRINT_MAX bytes.
int shl_f_print(lua_State *L) {
  enum { PRINT_MAX = 16 << 10 };
  SHLState *S = shl_state_of(L);
  if (S->run->kill) shl_rethrow(L);
  int n = lua_gettop(L);
  luaL_Buffer b;
  size_t used = 0;
  bool full = false;
  luaL_buffinit(L, &b);
  for (int i = 1; i <= n; i++) {
    if (i > 1) luaL_addchar(&b, '\t'), used++;
    // The buffer may keep its box on the stack: the text goes above it and is taken off again.
    shl_push_text(L, i);
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    size_t take = length <= PRINT_MAX - used ? length : PRINT_MAX - used;
    full |= take < length;
    if (take == length) {
      luaL_addvalue(&b);
    } else {
      lua_pushlstring(L, text, take);
      lua_rotate(L, -2, 1);
      lua_settop(L, -2);
      luaL_addvalue(&b);
    }
    used += take;
    shl_charge(L, 20 + (int64_t)take / 16);
    if (full || used >= PRINT_MAX) break;
  }
  if (full) luaL_addlstring(&b, "...", 3);
  luaL_pushresult(&b);
  if (S->sink) {
    lua_Debug ar;
    const char *source = "";
    int line = 0;
    if (lua_getstack(L, 1, &ar)) {
      lua_getinfo(L, "Sl", &ar);
      source = ar.short_src;
      line = ar.currentline;
    }
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    S->sink(S->sink_ctx, text, length, source, line > 0 ? line : 0);
  }
  return 0;
}

// ---------------------------------------------------------------- metatables

/// `getmetatable`, for tables alone: those of handles and strings are the host's.
int shl_f_getmetatable(lua_State *L) {
  luaL_checkany(L, 1);
  if (lua_type(L, 1) != LUA_TTABLE || !lua_getmetatable(L, 1)) {
    lua_pushnil(L);
    return 1;
  }
  luaL_getmetafield(L, 1, "__metatable");  // pushes nothing when there is none
  return 1;
}

/// `setmetatable` without finalizers and weak modes, which are refused.
int shl_f_setmetatable(lua_State *L) {
  int type = lua_type(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  if (type != LUA_TNIL && type != LUA_TTABLE) return luaL_typeerror(L, 2, "nil or table");
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) return luaL_error(L, "cannot change a protected metatable");
  lua_settop(L, 2);
  if (type == LUA_TTABLE) {
    // Words without a meaning here; better an error than a surprise.
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, 2) != LUA_TNIL) return luaL_error(L, "'__gc' is not available to scripts; release things when done with them");
    lua_pushliteral(L, "__mode");
    if (lua_rawget(L, 2) != LUA_TNIL) return luaL_error(L, "'__mode' is not available to scripts; remove entries when done with them");
    lua_settop(L, 2);
    shl_prepare_metatable(L, shl_state_of(L), 2);
  }
  lua_setmetatable(L, 1);
  lua_settop(L, 1);
  return 1;
}

// ---------------------------------------------------------------- protected calls

/// After a failed protected call: a kill goes on, and a memory error is looked at, since the limit may be behind it.
static void look_at_failure(lua_State *L, int status) {
  SHLState *S = shl_state_of(L);
  if (SHL_UNLIKELY(S->run->kill)) shl_rethrow(L);
  if (status != LUA_ERRMEM) return;
  if (S->hit_hard) {
    S->hit_hard = false;
    shl_kill(L, SHL_KILLED_MEMORY);
  }
  shl_charge(L, 20000);  // Lua collected everything before it gave up
  if (S->refused) {
    lua_pushstring(L, S->refused_string ? "string too long" : "table has too many keys");
    lua_copy(L, -1, -2);
    lua_settop(L, -2);
    S->refused = false;
  }
}

/// [… , +n, e] Results of pcall and xpcall: what is above the first `extra` values, with `true` put in already.
static int finish_pcall(lua_State *L, int status, lua_KContext extra) {
  if (SHL_UNLIKELY(status != LUA_OK && status != LUA_YIELD)) {
    look_at_failure(L, status);
    lua_pushboolean(L, 0);
    lua_pushvalue(L, -2);
    return 2;
  }
  return lua_gettop(L) - (int)extra;
}

/// `pcall`, which does not catch that a script is stopped.
int shl_f_pcall(lua_State *L) {
  luaL_checkany(L, 1);
  lua_pushboolean(L, 1);
  lua_rotate(L, 1, 1);
  int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, finish_pcall);
  return finish_pcall(L, status, 0);
}

/// The message handler of xpcall. Upvalue 1: the script's handler. Inside a kill no script code runs.
static int guarded_handler(lua_State *L) {
  if (shl_state_of(L)->run->kill) return 1;
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_rotate(L, 1, 1);
  lua_call(L, 1, 1);
  return 1;
}

/// `xpcall`, which does not catch that a script is stopped, nor runs its handler then.
int shl_f_xpcall(lua_State *L) {
  int n = lua_gettop(L);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  // f, handler, args… -> f, guarded, true, f, args…
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, guarded_handler, 1);
  lua_copy(L, -1, 2);
  lua_settop(L, n);
  lua_pushboolean(L, 1);
  lua_pushvalue(L, 1);
  lua_rotate(L, 3, 2);
  int status = lua_pcallk(L, n - 2, LUA_MULTRET, 2, 2, finish_pcall);
  return finish_pcall(L, status, 2);
}

// ---------------------------------------------------------------- the rest

/// `load` of a string: a text, never bytecode or a reader function.
int shl_f_load(lua_State *L) {
  SHLState *S = shl_state_of(L);
  if (lua_type(L, 1) == LUA_TFUNCTION) return luaL_error(L, "'load' takes a string here, not a reader function");
  size_t length;
  const char *bytes = luaL_checklstring(L, 1, &length);
  const char *name = luaL_optlstring(L, 2, bytes, NULL);
  const char *mode = luaL_optlstring(L, 3, "bt", NULL);
  bool env = lua_type(L, 4) != LUA_TNONE;
  char why[256];
  shl_charge(L, 200 + (int64_t)length / 4);
  if (length && *bytes == 0x1B) {
    lua_pushnil(L);
    lua_pushliteral(L, "binary chunks are not allowed; load the source text");
    return 2;
  }
  if (!strchr(mode, 't')) {
    lua_pushnil(L);
    lua_pushfstring(L, "attempt to load a text chunk (mode is '%s')", mode);
    return 2;
  }
  const char *text = bytes;
  size_t left = length;
  if (length && shl_check_source(S, &text, &left, why, sizeof why)) {
    lua_pushnil(L);
    lua_pushstring(L, *why == ':' ? why + 1 : why);
    return 2;
  }
  // A string as chunk has no byte-order mark or `#!` line to take off: only the check was wanted.
  shl_make_globals(L, S, bytes, length);
  int status = shl_load_text(L, bytes, length, name);
  if (status != LUA_OK) {
    look_at_failure(L, status);
    lua_pushnil(L);
    lua_rotate(L, -2, 1);
    return 2;
  }
  if (env) {
    lua_pushvalue(L, 4);
    if (!lua_setupvalue(L, -2, 1)) lua_settop(L, -2);
  }
  return 1;
}

/// `collectgarbage("count")`, the kilobytes the state has; nothing else.
int shl_f_collectgarbage(lua_State *L) {
  const char *what = luaL_optlstring(L, 1, "collect", NULL);
  if (strcmp(what, "count") != 0) return luaL_error(L, "only collectgarbage('count') is available to scripts");
  lua_pushnumber(L, (lua_Number)SHL_READ(shl_state_of(L)->used) / 1024.0);
  return 1;
}

/// [-0, +0, e] Charges for the length of the argument if it is a string.
static inline void charge_argument(lua_State *L, int i, int shift) {
  if (lua_type(L, i) == LUA_TSTRING) shl_charge(L, 1 + (int64_t)(lua_rawlen(L, i) >> shift));
}

int shl_f_rawequal(lua_State *L) {
  charge_argument(L, 1, 6);
  return shl_stock.rawequal(L);
}

int shl_f_tonumber(lua_State *L) {
  charge_argument(L, 1, 2);
  return shl_stock.tonumber(L);
}

int shl_f_select(lua_State *L) {
  int n = lua_gettop(L);
  if (SHL_UNLIKELY(n > 64)) shl_charge(L, n / 8);
  return shl_stock.select(L);
}

int shl_f_date(lua_State *L) {
  charge_argument(L, 1, 0);
  return shl_stock.date(L);
}
