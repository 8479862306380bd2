// The names of three metamethods, and who may know them.
//
// Scripts use their own tables as metatables, and may change them afterwards, as Lua programs do. Three events must not
// be theirs: a __gc runs with hooks off, so nothing can stop it; __mode makes collections quadratic and is a part of a
// use after free in Lua 5.4.4; a __call that is no function shifts the stack for ever inside one instruction.
//
// So in every state the VM looks these three up under names that only the shim knows: the state's own table of event
// names (25 pointers to interned strings, in Lua's memory block that we allocated) is found by its content and three
// entries are replaced before any metatable exists. A script's `__gc` and `__mode` are then words like any other. Its
// `__call` works through an entry that setmetatable adds under the secret name and that `next` never shows.
//
// This file alone writes into Lua's own structures. If the table is not found exactly once, opening fails.
#include "../shl_internal.h"
#include <stdio.h>

static const char *const events[] = {
    "__index", "__newindex", "__gc",   "__mode", "__len",  "__eq",  "__add", "__sub", "__mul",
    "__mod",   "__pow",      "__div",  "__idiv", "__band", "__bor", "__bxor", "__shl", "__shr",
    "__unm",   "__bnot",     "__lt",   "__le",   "__concat", "__call", "__close",
};
enum { EVENTS = sizeof events / sizeof *events, EVENT_GC = 2, EVENT_MODE = 3, EVENT_CALL = 23 };

/// [-0, +0, m] Makes a secret name, kept alive in the registry for as long as the state; its interned string.
static const void *make_name(lua_State *L, SHLState *S, char *name, const char *what, uint64_t salt) {
  uint64_t x = S->scramble ^ salt;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  snprintf(name, sizeof S->name_gc, "%s %016llx", what, (unsigned long long)(x ^ x >> 31));
  lua_pushstring(L, name);
  const void *string = lua_topointer(L, -1);
  luaL_ref(L, LUA_REGISTRYINDEX);
  return string;
}

/// [-0, +0, e]
void shl_names_open(lua_State *L, SHLState *S) {
  const void *names[EVENTS];
  for (int i = 0; i < EVENTS; i++) {
    lua_pushstring(L, events[i]);  // interned: the very strings the VM uses
    names[i] = lua_topointer(L, -1);
    lua_settop(L, -2);
    if (!names[i]) luaL_error(L, "unknown build of Lua");
  }
  const void **found = NULL;
  const void **p = S->first_block, **end = (const void **)((char *)S->first_block + S->first_size) - EVENTS;
  for (; p && p <= end; p++)
    if (memcmp(p, names, sizeof names) == 0) {
      if (found) luaL_error(L, "unknown build of Lua");
      found = p;
    }
  if (!found) luaL_error(L, "unknown build of Lua");
  found[EVENT_GC] = make_name(L, S, S->name_gc, "gc", 0x1F83D9ABFB41BD6Bu);
  found[EVENT_MODE] = make_name(L, S, S->name_mode, "mode", 0x5BE0CD19137E2179u);
  found[EVENT_CALL] = make_name(L, S, S->name_call, "call", 0x9B05688C2B3E6C1Fu);
  lua_pushstring(L, S->name_call);
  S->call_string = lua_topointer(L, -1);
  S->call_key = luaL_ref(L, LUA_REGISTRYINDEX);
}

/// [-0, +1, m] A new table with weak values, or weak keys and values.
void shl_push_weak_table(lua_State *L, SHLState *S, const char *mode) {
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, mode);
  lua_setfield(L, -2, S->name_mode);
  lua_setmetatable(L, -2);
}

// ---------------------------------------------------------------- __call of scripts

/// [-0, +0, -] The results of a call that waited lie on the stack already.
static int call_done(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  return lua_gettop(L);
}

/// What the VM calls for a script's callable table: looks `__call` up now, and insists on a function.
static int call_table(lua_State *L) {
  if (!lua_getmetatable(L, 1)) return luaL_error(L, "attempt to call a table value");
  lua_pushliteral(L, "__call");
  int type = lua_rawget(L, -2);
  if (type == LUA_TNIL) return luaL_error(L, "attempt to call a table value");
  if (type != LUA_TFUNCTION) return luaL_error(L, "'__call' must be a function");
  lua_copy(L, -1, -2);
  lua_settop(L, -2);
  lua_rotate(L, 1, 1);
  lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, call_done);
  return lua_gettop(L);
}

/// [-0, +0, m] Makes the table at `index` fit to be a metatable: its `__call` becomes visible to the VM. A function found
/// now is given to the VM directly; otherwise it is looked up at each call.
void shl_prepare_metatable(lua_State *L, SHLState *S, int index) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, S->call_key);
  lua_pushliteral(L, "__call");
  if (lua_rawget(L, index) != LUA_TFUNCTION) {
    lua_settop(L, -2);
    lua_pushcfunction(L, call_table);
  }
  lua_pushvalue(L, -2);
  lua_rawget(L, index);
  if (lua_rawequal(L, -1, -2)) {
    lua_settop(L, -4);
    return;
  }
  lua_settop(L, -2);
  lua_rawset(L, index);
}

/// `next`, without the entry under the secret name.
int shl_f_next(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  SHLState *S = shl_state_of(L);
  do {
    if (!lua_next(L, 1)) {
      lua_pushnil(L);
      return 1;
    }
    if (SHL_LIKELY(lua_type(L, -2) != LUA_TSTRING || lua_topointer(L, -2) != S->call_string)) return 2;
    lua_settop(L, -2);
  } while (true);
}

/// `pairs`: by `__pairs`, else with a `next` of ours.
int shl_f_pairs(lua_State *L) {
  luaL_checkany(L, 1);
  if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
    lua_settop(L, 1);
    return shl_stock.pairs(L);
  }
  lua_pushcfunction(L, shl_f_next);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}
