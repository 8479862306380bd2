// The table of Lua functions found at run time, under Lua's own names.
//
// After this header `lua_pushnil(L)` calls through the table; nothing here makes the linker look for
// liblua. Only lua.h's types, constants and macros are used.
#ifndef SHL_LUA_H
#define SHL_LUA_H

#include <lua5.4/lua.h>
#include <lua5.4/lauxlib.h>
#include <lua5.4/lualib.h>

_Static_assert(LUA_VERSION_NUM == 504, "the shim follows the stack rules and the allocator's sizes of Lua 5.4");

#define SHL_LUA_FUNCTIONS(X)                                                                      \
  X(lua_absindex) X(lua_atpanic) X(lua_callk) X(lua_checkstack) X(lua_close) X(lua_compare)       \
  X(lua_concat) X(lua_copy) X(lua_createtable) X(lua_error) X(lua_gc) X(lua_getfield)             \
  X(lua_gethookcount) X(lua_geti) X(lua_getinfo) X(lua_getmetatable) X(lua_getstack)              \
  X(lua_gettable) X(lua_gettop) X(lua_isinteger)                                                  \
  X(lua_isstring) X(lua_isyieldable) X(lua_load) X(lua_newstate) X(lua_newthread)                                    \
  X(lua_newuserdatauv) X(lua_next) X(lua_pcallk) X(lua_pushboolean) X(lua_pushcclosure)           \
  X(lua_pushfstring) X(lua_pushinteger) X(lua_pushlightuserdata) X(lua_pushlstring)               \
  X(lua_pushnil) X(lua_pushnumber) X(lua_pushstring) X(lua_pushthread) X(lua_pushvalue)           \
  X(lua_rawequal) X(lua_rawget) X(lua_rawgeti) X(lua_rawgetp) X(lua_rawlen) X(lua_rawset)         \
  X(lua_rawseti) X(lua_rawsetp) X(lua_resetthread) X(lua_resume) X(lua_rotate) X(lua_setfield)    \
  X(lua_sethook) X(lua_seti) X(lua_setmetatable) X(lua_settop) X(lua_status)                      \
  X(lua_setupvalue) X(lua_toboolean) X(lua_tocfunction) X(lua_tointegerx)                         \
  X(lua_tolstring) X(lua_tonumberx) X(lua_topointer) X(lua_tothread) X(lua_touserdata)            \
  X(lua_type) X(lua_typename) X(lua_version) X(lua_xmove) X(lua_yieldk)                           \
  X(luaL_addlstring) X(luaL_addvalue) X(luaL_argerror) X(luaL_buffinit) X(luaL_buffinitsize)      \
  X(luaL_callmeta) X(luaL_checkany) X(luaL_checkinteger) X(luaL_checklstring)                     \
  X(luaL_checkstack) X(luaL_checktype) X(luaL_error) X(luaL_getmetafield)                         \
  X(luaL_len) X(luaL_loadbufferx) X(luaL_newstate) X(luaL_openlibs)                               \
  X(luaL_optinteger) X(luaL_optlstring) X(luaL_prepbuffsize) X(luaL_pushresult)                   \
  X(luaL_pushresultsize) X(luaL_ref) X(luaL_tolstring) X(luaL_typeerror) X(luaL_unref)            \
  X(luaL_where) X(luaopen_math)

#define SHL_FIELD(name) __typeof__(name) *name;
typedef struct SHLLua { SHL_LUA_FUNCTIONS(SHL_FIELD) } SHLLua;
#undef SHL_FIELD

/// Filled once by shl_library_open, read-only afterwards.
extern SHLLua shl_lua __attribute__((visibility("hidden")));

#ifndef SHL_LUA_DEFINES_TABLE
#define lua_absindex shl_lua.lua_absindex
#define lua_atpanic shl_lua.lua_atpanic
#define lua_callk shl_lua.lua_callk
#define lua_checkstack shl_lua.lua_checkstack
#define lua_close shl_lua.lua_close
#define lua_compare shl_lua.lua_compare
#define lua_concat shl_lua.lua_concat
#define lua_copy shl_lua.lua_copy
#define lua_createtable shl_lua.lua_createtable
#define lua_error shl_lua.lua_error
#define lua_gc shl_lua.lua_gc
#define lua_getfield shl_lua.lua_getfield
#define lua_gethookcount shl_lua.lua_gethookcount
#define lua_geti shl_lua.lua_geti
#define lua_getinfo shl_lua.lua_getinfo
#define lua_getmetatable shl_lua.lua_getmetatable
#define lua_getstack shl_lua.lua_getstack
#define lua_gettable shl_lua.lua_gettable
#define lua_gettop shl_lua.lua_gettop
#define lua_isinteger shl_lua.lua_isinteger
#define lua_isstring shl_lua.lua_isstring
#define lua_isyieldable shl_lua.lua_isyieldable
#define lua_load shl_lua.lua_load
#define lua_newstate shl_lua.lua_newstate
#define lua_newthread shl_lua.lua_newthread
#define lua_newuserdatauv shl_lua.lua_newuserdatauv
#define lua_next shl_lua.lua_next
#define lua_pcallk shl_lua.lua_pcallk
#define lua_pushboolean shl_lua.lua_pushboolean
#define lua_pushcclosure shl_lua.lua_pushcclosure
#define lua_pushfstring shl_lua.lua_pushfstring
#define lua_pushinteger shl_lua.lua_pushinteger
#define lua_pushlightuserdata shl_lua.lua_pushlightuserdata
#define lua_pushlstring shl_lua.lua_pushlstring
#define lua_pushnil shl_lua.lua_pushnil
#define lua_pushnumber shl_lua.lua_pushnumber
#define lua_pushstring shl_lua.lua_pushstring
#define lua_pushthread shl_lua.lua_pushthread
#define lua_pushvalue shl_lua.lua_pushvalue
#define lua_rawequal shl_lua.lua_rawequal
#define lua_rawget shl_lua.lua_rawget
#define lua_rawgeti shl_lua.lua_rawgeti
#define lua_rawgetp shl_lua.lua_rawgetp
#define lua_rawlen shl_lua.lua_rawlen
#define lua_rawset shl_lua.lua_rawset
#define lua_rawseti shl_lua.lua_rawseti
#define lua_rawsetp shl_lua.lua_rawsetp
#define lua_resetthread shl_lua.lua_resetthread
#define lua_resume shl_lua.lua_resume
#define lua_rotate shl_lua.lua_rotate
#define lua_setfield shl_lua.lua_setfield
#define lua_sethook shl_lua.lua_sethook
#define lua_seti shl_lua.lua_seti
#define lua_setmetatable shl_lua.lua_setmetatable
#define lua_settop shl_lua.lua_settop
#define lua_setupvalue shl_lua.lua_setupvalue
#define lua_status shl_lua.lua_status
#define lua_toboolean shl_lua.lua_toboolean
#define lua_tocfunction shl_lua.lua_tocfunction
#define lua_tointegerx shl_lua.lua_tointegerx
#define lua_tolstring shl_lua.lua_tolstring
#define lua_tonumberx shl_lua.lua_tonumberx
#define lua_topointer shl_lua.lua_topointer
#define lua_tothread shl_lua.lua_tothread
#define lua_touserdata shl_lua.lua_touserdata
#define lua_type shl_lua.lua_type
#define lua_typename shl_lua.lua_typename
#define lua_version shl_lua.lua_version
#define lua_xmove shl_lua.lua_xmove
#define lua_yieldk shl_lua.lua_yieldk
#define luaL_addlstring shl_lua.luaL_addlstring
#define luaL_addvalue shl_lua.luaL_addvalue
#define luaL_argerror shl_lua.luaL_argerror
#define luaL_buffinit shl_lua.luaL_buffinit
#define luaL_buffinitsize shl_lua.luaL_buffinitsize
#define luaL_callmeta shl_lua.luaL_callmeta
#define luaL_checkany shl_lua.luaL_checkany
#define luaL_checkinteger shl_lua.luaL_checkinteger
#define luaL_checklstring shl_lua.luaL_checklstring
#define luaL_checkstack shl_lua.luaL_checkstack
#define luaL_checktype shl_lua.luaL_checktype
#define luaL_error shl_lua.luaL_error
#define luaL_getmetafield shl_lua.luaL_getmetafield
#define luaL_len shl_lua.luaL_len
#define luaL_loadbufferx shl_lua.luaL_loadbufferx
#define luaL_newstate shl_lua.luaL_newstate
#define luaL_openlibs shl_lua.luaL_openlibs
#define luaL_optinteger shl_lua.luaL_optinteger
#define luaL_optlstring shl_lua.luaL_optlstring
#define luaL_prepbuffsize shl_lua.luaL_prepbuffsize
#define luaL_pushresult shl_lua.luaL_pushresult
#define luaL_pushresultsize shl_lua.luaL_pushresultsize
#define luaL_ref shl_lua.luaL_ref
#define luaL_tolstring shl_lua.luaL_tolstring
#define luaL_typeerror shl_lua.luaL_typeerror
#define luaL_unref shl_lua.luaL_unref
#define luaL_where shl_lua.luaL_where
#define luaopen_math shl_lua.luaopen_math
#endif
#endif
