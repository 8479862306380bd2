// The sandbox is data: what a script can reach, one name per line, each with its reason.
//
// A name that is not here does not exist for scripts. Every state builds its own tables from this list, so a
// script can spoil nobody's but its own.
#include "../shl_internal.h"

/// Where a name's value comes from.
typedef enum { OWN, STOCK, MATH } Kind;
typedef struct { SHLAllowed allowed; Kind kind; lua_CFunction own; lua_CFunction *stock; } Name;

#define OWN_FN(lib, name, fn, why) {{lib, name, why}, OWN, fn, NULL}
#define STOCK_FN(lib, name, field, why) {{lib, name, why}, STOCK, NULL, &shl_stock.field}
#define MATH_VALUE(name, why) {{"math", name, why}, MATH, NULL, NULL}

static const Name names[] = {
    STOCK_FN("", "assert", assert, "raises only; no loop"),
    OWN_FN("", "collectgarbage", shl_f_collectgarbage, "answers 'count' only: a script must not steer the collector"),
    STOCK_FN("", "error", error, "raises only"),
    OWN_FN("", "getmetatable", shl_f_getmetatable, "answers for tables only: metatables of strings and handles are not shown"),
    STOCK_FN("", "ipairs", ipairs, "constant time; the loop runs in the VM"),
    OWN_FN("", "load", shl_f_load, "text from strings only, checked like a file; no reader functions, no bytecode"),
    OWN_FN("", "next", shl_f_next, "bounded by the size of tables; does not show the shim's own entry"),
    OWN_FN("", "pairs", shl_f_pairs, "constant time; gives our next"),
    OWN_FN("", "pcall", shl_f_pcall, "passes a kill on"),
    OWN_FN("", "print", shl_f_print, "writes to the host's sink, bounded"),
    OWN_FN("", "rawequal", shl_f_rawequal, "charges for long strings"),
    STOCK_FN("", "rawget", rawget, "constant time"),
    STOCK_FN("", "rawlen", rawlen, "constant time"),
    STOCK_FN("", "rawset", rawset, "constant time"),
    OWN_FN("", "select", shl_f_select, "charges for what it copies"),
    OWN_FN("", "setmetatable", shl_f_setmetatable, "no __gc, no __mode; __call functions only, whenever they are set"),
    OWN_FN("", "tonumber", shl_f_tonumber, "charges for long strings"),
    OWN_FN("", "tostring", shl_f_tostring, "shows no addresses"),
    STOCK_FN("", "type", type, "constant time"),
    OWN_FN("", "xpcall", shl_f_xpcall, "passes a kill on without running the script's handler"),

    OWN_FN("coroutine", "create", shl_f_create, "charges, since short coroutines outrun the count hook"),
    OWN_FN("coroutine", "isyieldable", shl_f_isyieldable, "constant time"),
    OWN_FN("coroutine", "resume", shl_f_resume, "charges; passes a kill on"),
    OWN_FN("coroutine", "running", shl_f_running, "never answers a pooled coroutine of the host"),
    OWN_FN("coroutine", "status", shl_f_status, "constant time"),
    OWN_FN("coroutine", "wrap", shl_f_wrap, "charges; passes a kill on; closes with bounded nesting"),
    OWN_FN("coroutine", "yield", shl_f_yield, "constant time"),

    OWN_FN("string", "byte", shl_f_byte, "charges for what it copies"),
    OWN_FN("string", "char", shl_f_char, "charges for what it copies"),
    OWN_FN("string", "find", shl_f_find, "budgeted matcher"),
    OWN_FN("string", "format", shl_f_format, "charges; shows no addresses"),
    OWN_FN("string", "gmatch", shl_f_gmatch, "budgeted matcher"),
    OWN_FN("string", "gsub", shl_f_gsub, "budgeted matcher"),
    STOCK_FN("string", "len", len, "constant time"),
    OWN_FN("string", "lower", shl_f_lower, "charges for the length"),
    OWN_FN("string", "match", shl_f_match, "budgeted matcher"),
    OWN_FN("string", "pack", shl_f_pack, "charges; bounded padding"),
    OWN_FN("string", "packsize", shl_f_packsize, "charges for the format"),
    OWN_FN("string", "rep", shl_f_rep, "bounded length, no empty loops"),
    OWN_FN("string", "reverse", shl_f_reverse, "charges for the length"),
    OWN_FN("string", "sub", shl_f_sub, "charges for what it copies"),
    OWN_FN("string", "unpack", shl_f_unpack, "charges for the format"),
    OWN_FN("string", "upper", shl_f_upper, "charges for the length"),

    OWN_FN("table", "concat", shl_f_concat, "bounded range, charges"),
    OWN_FN("table", "insert", shl_f_insert, "bounded range, charges"),
    OWN_FN("table", "move", shl_f_move, "bounded range, charges"),
    STOCK_FN("table", "pack", table_pack, "bounded by the stack"),
    OWN_FN("table", "remove", shl_f_remove, "bounded range, charges"),
    OWN_FN("table", "sort", shl_f_sort, "bounded range, charges every comparison, n log n whatever the order function"),
    OWN_FN("table", "unpack", shl_f_table_unpack, "bounded range, charges"),

    MATH_VALUE("abs", "constant time"), MATH_VALUE("acos", "constant time"), MATH_VALUE("asin", "constant time"),
    MATH_VALUE("atan", "constant time"), MATH_VALUE("ceil", "constant time"), MATH_VALUE("cos", "constant time"),
    MATH_VALUE("deg", "constant time"), MATH_VALUE("exp", "constant time"), MATH_VALUE("floor", "constant time"),
    MATH_VALUE("fmod", "constant time"), MATH_VALUE("huge", "a number"), MATH_VALUE("log", "constant time"),
    MATH_VALUE("max", "bounded by the stack"), MATH_VALUE("maxinteger", "a number"), MATH_VALUE("min", "bounded by the stack"),
    MATH_VALUE("mininteger", "a number"), MATH_VALUE("modf", "constant time"), MATH_VALUE("pi", "a number"),
    MATH_VALUE("rad", "constant time"), MATH_VALUE("random", "the state's own generator"),
    MATH_VALUE("randomseed", "the state's own generator"), MATH_VALUE("sin", "constant time"), MATH_VALUE("sqrt", "constant time"),
    MATH_VALUE("tan", "constant time"), MATH_VALUE("tointeger", "constant time"), MATH_VALUE("type", "constant time"),
    MATH_VALUE("ult", "constant time"),

    OWN_FN("utf8", "char", shl_f_utf8_char, "charges for what it copies"),
    OWN_FN("utf8", "codepoint", shl_f_utf8_codepoint, "charges for the range"),
    OWN_FN("utf8", "codes", shl_f_utf8_codes, "its iterator charges for what it skips"),
    OWN_FN("utf8", "len", shl_f_utf8_len, "charges for the range"),
    OWN_FN("utf8", "offset", shl_f_utf8_offset, "charges for the way"),

    STOCK_FN("os", "clock", clock, "reads the processor time"),
    OWN_FN("os", "date", shl_f_date, "charges; the stock function checks its format"),
    STOCK_FN("os", "difftime", difftime, "arithmetic"),
    STOCK_FN("os", "time", time, "reads the clock"),
};
enum { NAME_COUNT = sizeof names / sizeof *names };

/// Values that are not functions.
static const SHLAllowed values[] = {
    {"", "_G", "the patch's own environment"},
    {"", "_VERSION", "a string"},
    {"utf8", "charpattern", "a string"},
};
enum { VALUE_COUNT = sizeof values / sizeof *values };

const SHLAllowed *shl_allow_list(void) {
  static SHLAllowed list[NAME_COUNT + VALUE_COUNT + 1];
  static _Atomic int state;
  int expected = 0;
  if (atomic_compare_exchange_strong(&state, &expected, 1)) {
    for (int i = 0; i < NAME_COUNT; i++) list[i] = names[i].allowed;
    memcpy(list + NAME_COUNT, values, sizeof values);
    atomic_store(&state, 2);
  }
  while (atomic_load(&state) != 2) {}
  return list;
}

enum { ENVIRONMENT = 1, STOCK_MATH, FUNCTION_NAMES, STRING_METHODS, LIBRARY, LIBRARY_NAMES };

/// [-0, +1, m] The value that scripts find under the name.
static void push_value(lua_State *L, const Name *n) {
  switch (n->kind) {
    case OWN: lua_pushcfunction(L, n->own); break;
    case STOCK: lua_pushcfunction(L, *n->stock); break;
    case MATH: lua_getfield(L, STOCK_MATH, n->allowed.name); break;
  }
}

/// [-0, +0, m] Gives `table` the name at `name` and the value above it.
static inline void put(lua_State *L, int table, int name) {
  lua_pushvalue(L, name);
  lua_pushvalue(L, name + 1);
  lua_rawset(L, table);
}

/// [-0, +0, m] All names of one library, which stand together from number `i` on, into its tables. Answers the number behind them.
static int fill_library(lua_State *L, int i) {
  const char *library = names[i].allowed.library;
  int end = i;
  while (end < NAME_COUNT && strcmp(names[end].allowed.library, library) == 0) end++;
  lua_settop(L, STRING_METHODS);
  if (*library) lua_createtable(L, 0, end - i);
  else lua_pushvalue(L, ENVIRONMENT);
  lua_createtable(L, 0, end - i);
  bool is_string = strcmp(library, "string") == 0;
  for (; i < end; i++) {
    lua_pushstring(L, names[i].allowed.name);
    push_value(L, &names[i]);
    put(L, LIBRARY, LIBRARY_NAMES + 1);
    if (is_string) put(L, STRING_METHODS, LIBRARY_NAMES + 1);
    if (lua_type(L, -1) == LUA_TFUNCTION) put(L, LIBRARY_NAMES, LIBRARY_NAMES + 1);
    lua_settop(L, LIBRARY_NAMES);
  }
  lua_setfield(L, FUNCTION_NAMES, *library ? library : "_G");
  if (*library) lua_setfield(L, ENVIRONMENT, library);
  return end;
}

/// [-1, +0, m] The string metatable: a method table of its own that no script can reach, stock arithmetic, no way in.
static void set_string_metatable(lua_State *L) {
  lua_pushliteral(L, "");
  lua_createtable(L, 0, 10);
  lua_pushvalue(L, STRING_METHODS);
  lua_setfield(L, -2, "__index");
  for (int i = 0; i < 8; i++) {
    lua_pushcfunction(L, shl_stock.arithmetic[i]);
    lua_setfield(L, -2, shl_arithmetic_names[i]);
  }
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
}

/// [-0, +0, m] Builds the environment and makes it the state's globals, so that compiled chunks get it by themselves.
void shl_sandbox_open(lua_State *L, SHLState *S) {
  lua_settop(L, 0);
  shl_names_open(L, S);
  lua_createtable(L, 0, 48);
  luaopen_math(L);  // its random functions share a generator in this state
  // Lua's argument errors look for a function's name in the table of loaded modules. This one is a copy that no script reaches, so
  // that a script with very many globals does not make its errors slow.
  lua_createtable(L, 0, 8);
  lua_createtable(L, 0, 20);
  for (int i = 0; i < NAME_COUNT;) i = fill_library(L, i);
  lua_pushvalue(L, ENVIRONMENT);
  lua_setfield(L, ENVIRONMENT, "_G");
  lua_pushliteral(L, "Lua 5.4");
  lua_setfield(L, ENVIRONMENT, "_VERSION");
  lua_getfield(L, ENVIRONMENT, "utf8");
  lua_pushlstring(L, "[\0-\x7F\xC2-\xFD][\x80-\xBF]*", 14);
  lua_setfield(L, -2, "charpattern");
  set_string_metatable(L);
  lua_settop(L, FUNCTION_NAMES);
  lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_settop(L, ENVIRONMENT);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);

  lua_newthread(L);
  S->main_synthesized_method = luaL_ref(L, LUA_REGISTRYINDEX);
}
