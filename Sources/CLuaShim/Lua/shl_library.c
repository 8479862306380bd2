// The dlsym table — finds the stock Lua library at run time.
//
// RTLD_LOCAL keeps its names out of the program's scope, and dlsym on the handle never answers a Lua the
// program brought itself. Everything here is written once, under one mutex, and read-only afterwards.
#define SHL_LUA_DEFINES_TABLE 1
#include "../shl_internal.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

SHLLua shl_lua;
SHLStock shl_stock;
const char *const shl_arithmetic_names[8] = {"__add", "__sub", "__mul", "__mod", "__pow", "__div", "__idiv", "__unm"};

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool ready;
static char sentence[512];

/// Fills the table; NULL or the first name that is missing.
static const char *fill(void *library) {
#define SHL_FIND(name)                                                            \
  if (!(*(void **)&shl_lua.name = dlsym(library, #name))) return #name;
  SHL_LUA_FUNCTIONS(SHL_FIND)
#undef SHL_FIND
  return NULL;
}

/// [-0, +0, e] The C function at library.name of an opened stock state.
static lua_CFunction stock(lua_State *L, const char *library, const char *name) {
  lua_CFunction f = NULL;
  shl_lua.lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  if (library) shl_lua.lua_getfield(L, -1, library);
  if (shl_lua.lua_type(L, -1) == LUA_TTABLE) {
    shl_lua.lua_getfield(L, -1, name);
    f = shl_lua.lua_tocfunction(L, -1);
  }
  shl_lua.lua_settop(L, 0);
  return f;
}

/// [-0, +0, e] Collects the stock functions scripts get, directly or behind a charge.
static int collect(lua_State *L) {
  shl_lua.luaL_openlibs(L);
  SHLStock *s = &shl_stock;
  s->assert = stock(L, NULL, "assert"), s->error = stock(L, NULL, "error"), s->ipairs = stock(L, NULL, "ipairs");
  s->next = stock(L, NULL, "next"), s->pairs = stock(L, NULL, "pairs"), s->rawequal = stock(L, NULL, "rawequal");
  s->rawget = stock(L, NULL, "rawget"), s->rawset = stock(L, NULL, "rawset"), s->rawlen = stock(L, NULL, "rawlen");
  s->select = stock(L, NULL, "select"), s->tonumber = stock(L, NULL, "tonumber"), s->type = stock(L, NULL, "type");
  s->byte = stock(L, "string", "byte"), s->char_ = stock(L, "string", "char"), s->format = stock(L, "string", "format");
  s->len = stock(L, "string", "len"), s->lower = stock(L, "string", "lower"), s->upper = stock(L, "string", "upper");
  s->reverse = stock(L, "string", "reverse"), s->sub = stock(L, "string", "sub"), s->pack = stock(L, "string", "pack");
  s->unpack = stock(L, "string", "unpack"), s->packsize = stock(L, "string", "packsize");
  s->table_pack = stock(L, "table", "pack");
  s->utf8_char = stock(L, "utf8", "char"), s->utf8_codepoint = stock(L, "utf8", "codepoint");
  s->utf8_codes = stock(L, "utf8", "codes"), s->utf8_len = stock(L, "utf8", "len"), s->utf8_offset = stock(L, "utf8", "offset");
  s->time = stock(L, "os", "time"), s->clock = stock(L, "os", "clock"), s->date = stock(L, "os", "date");
  s->difftime = stock(L, "os", "difftime");
  s->co_status = stock(L, "coroutine", "status"), s->isyieldable = stock(L, "coroutine", "isyieldable");
  // The two iterators utf8.codes answers, strict and lax.
  for (int lax = 0; lax < 2; lax++) {
    shl_lua.lua_pushcclosure(L, s->utf8_codes, 0);
    shl_lua.lua_pushstring(L, "a");
    shl_lua.lua_pushboolean(L, lax);
    shl_lua.lua_callk(L, 2, 1, 0, NULL);
    *(lax ? &s->utf8_step_lax : &s->utf8_step) = shl_lua.lua_tocfunction(L, -1);
    shl_lua.lua_settop(L, 0);
  }
  shl_lua.lua_pushstring(L, "");
  if (shl_lua.lua_getmetatable(L, -1))
    for (int i = 0; i < 8; i++) {
      shl_lua.lua_getfield(L, 2, shl_arithmetic_names[i]);
      s->arithmetic[i] = shl_lua.lua_tocfunction(L, -1);
      shl_lua.lua_settop(L, 2);
    }
  return 0;
}

/// Opens Lua's library; NULL, or a sentence that says why it cannot be, in memory of this file's own.
static const char *open_library(const char *path) {
  const char *name = path ? path : "liblua5.4.so.0";
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(sentence, sizeof sentence, "Lua 5.4 was not found: '%s' cannot be opened (%s); install liblua5.4-0", name, dlerror());
    return sentence;
  }
  const char *missing = fill(library);
  if (missing) {
    snprintf(sentence, sizeof sentence, "'%s' is not a usable Lua 5.4: it has no '%s'; install liblua5.4-0", name, missing);
    goto refuse;
  }
  lua_State *L = shl_lua.luaL_newstate();
  if (!L) {
    snprintf(sentence, sizeof sentence, "no memory for a Lua state");
    goto refuse;
  }
  lua_Number version = shl_lua.lua_version(L);
  if (version != LUA_VERSION_NUM) {
    snprintf(sentence, sizeof sentence, "'%s' is Lua version %.0f, expected %d; install liblua5.4-0", name, (double)version, LUA_VERSION_NUM);
    shl_lua.lua_close(L);
    goto refuse;
  }
  shl_lua.lua_pushcclosure(L, collect, 0);
  int status = shl_lua.lua_pcallk(L, 0, 0, 0, 0, NULL);
  shl_lua.lua_close(L);
  for (size_t i = 0; status == LUA_OK && i < sizeof shl_stock / sizeof(lua_CFunction); i++)
    if (!((lua_CFunction *)&shl_stock)[i]) status = LUA_ERRRUN;
  if (status == LUA_OK) return NULL;
  snprintf(sentence, sizeof sentence, "'%s' lacks part of the standard library; install liblua5.4-0", name);
refuse:
  dlclose(library);
  return sentence;
}

const char *shl_library_open(const char *path) {
  if (atomic_load_explicit(&ready, memory_order_acquire)) return NULL;
  pthread_mutex_lock(&opening);
  const char *why = NULL;
  if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
    why = open_library(path);
    if (!why) atomic_store_explicit(&ready, true, memory_order_release);
  }
  pthread_mutex_unlock(&opening);
  return why;
}
