// stock_lua.c — see stock_lua.h.
#include "stock_lua.h"

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <string.h>
#include <time.h>

typedef struct { char *out; size_t capacity, used; } Output;

static void append(Output *o, const char *text, size_t n) {
  if (o->used + n < o->capacity) memcpy(o->out + o->used, text, n), o->out[o->used + n] = 0;
  o->used += n;
}

/// print, into the output. Upvalue 1: the Output.
static int collect_print(lua_State *L) {
  Output *o = lua_touserdata(L, lua_upvalueindex(1));
  int n = lua_gettop(L);
  for (int i = 1; i <= n; i++) {
    size_t length;
    const char *text = luaL_tolstring(L, i, &length);
    if (i > 1) append(o, "\t", 1);
    append(o, text, length);
    lua_settop(L, -2);
  }
  append(o, "\n", 1);
  return 0;
}

typedef struct { const char *source; size_t length; Output *out; } Job;

static int stock_body(lua_State *L) {
  Job *job = lua_touserdata(L, 1);
  luaL_openlibs(L);
  lua_pushlightuserdata(L, job->out);
  lua_pushcclosure(L, collect_print, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, "print");
  if (luaL_loadbufferx(L, job->source, job->length, "@test", "t") != LUA_OK) return lua_error(L);
  lua_call(L, 0, 0);
  return 0;
}

size_t stock_lua_run(const char *source, size_t length, char *out, size_t capacity) {
  Output o = {out, capacity, 0};
  if (capacity) *out = 0;
  lua_State *L = luaL_newstate();
  if (!L) return 0;
  Job job = {source, length, &o};
  lua_pushcfunction(L, stock_body);
  lua_pushlightuserdata(L, &job);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
    size_t n;
    const char *text = lua_tolstring(L, -1, &n);
    append(&o, "error: ", 7);
    append(&o, text ? text : "?", text ? n : 1);
  }
  lua_close(L);
  return o.used;
}

static void no_hook(lua_State *L, lua_Debug *ar) { (void)L, (void)ar; }

/// CLOCK_MONOTONIC, nanoseconds.
static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

double stock_lua_time_pcall(int64_t rounds, bool hook) {
  enum { HOOK_COUNT = 1000 };
  if (rounds <= 0) return -1;
  lua_State *L = luaL_newstate();
  if (!L) return -1;
  lua_State *T = lua_newthread(L);
  static const char source[] = "return function(a, b) return a + b end";
  if (luaL_loadbufferx(T, source, sizeof source - 1, "=bench", "t") != LUA_OK || lua_pcall(T, 0, 1, 0) != LUA_OK) {
    lua_close(L);
    return -1;
  }
  if (hook) lua_sethook(T, no_hook, LUA_MASKCOUNT, HOOK_COUNT);
  int64_t start = now();
  lua_Integer sum = 0;
  for (int64_t i = 0; i < rounds; i++) {
    lua_pushvalue(T, 1);
    lua_pushinteger(T, i);
    lua_pushinteger(T, 1);
    lua_pcall(T, 2, 1, 0);
    sum += lua_tointeger(T, -1);
    lua_settop(T, 1);
  }
  int64_t end = now();
  lua_close(L);
  return sum ? (double)(end - start) / (double)rounds : -1;
}
