// The sandbox is data: what a script can reach, one name per line, each with its reason.
//
// A name that is not here does not exist for scripts. Every state builds its own tables from this list, so a
// script can spoil nobody's but its own; of most it builds none, for they are made when a text names them.
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

/// [-0, +1, m] The value that scripts find under the name. `math`: where the stock functions of that library are.
static void push_value(lua_State *L, const Name *n, int math) {
  switch (n->kind) {
    case OWN: lua_pushcfunction(L, n->own); break;
    case STOCK: lua_pushcfunction(L, *n->stock); break;
    case MATH: lua_getfield(L, math, n->allowed.name); break;
  }
}

/// [-0, +1, m] The table by which Lua's argument errors know a library's functions: no script reaches it, so that a script with very many
/// globals does not make its errors slow.
static void push_function_names(lua_State *L, const char *library) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, library) == LUA_TNIL) {
    lua_settop(L, -2);
    lua_createtable(L, 0, 4);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, library);
  }
  lua_copy(L, -1, -2);
  lua_settop(L, -2);
}

/// [-1, +0, m] Gives the table at `table` the value on top.
static void put(lua_State *L, int table, const char *name) {
  lua_pushstring(L, name);
  lua_rotate(L, -2, 1);
  lua_rawset(L, table);
}

static int library_end(int i) {
  const char *library = names[i].allowed.library;
  // Names of one library share its text, as most compilers have it: the texts are compared where the library ends.
  while (i < NAME_COUNT && (names[i].allowed.library == library || strcmp(names[i].allowed.library, library) == 0)) i++;
  return i;
}

/// [-0, +0, m] All names of one library, which stand together from number `i` on, into the table at `table`.
static void fill(lua_State *L, int i, int table) {
  int end = library_end(i), base = lua_gettop(L);
  push_function_names(L, names[i].allowed.library);
  if (names[i].kind == MATH) luaopen_math(L);  // its random functions share a generator in this state
  for (; i < end; i++) {
    push_value(L, &names[i], base + 2);
    if (lua_type(L, -1) == LUA_TFUNCTION) {
      lua_pushvalue(L, -1);
      put(L, base + 1, names[i].allowed.name);
    }
    put(L, table, names[i].allowed.name);
  }
  lua_settop(L, base);
}

/// [-0, +0, m] The string metatable: a method table of its own that no script can reach, stock arithmetic, no way in.
static void set_string_metatable(lua_State *L) {
  lua_pushliteral(L, "");
  lua_createtable(L, 0, 10);
  int first = 0;
  while (strcmp(names[first].allowed.library, "string")) first++;
  lua_createtable(L, 0, library_end(first) - first);
  fill(L, first, lua_gettop(L));
  lua_setfield(L, -2, "__index");
  for (int i = 0; i < 8; i++) {
    lua_pushcfunction(L, shl_stock.arithmetic[i]);
    lua_setfield(L, -2, shl_arithmetic_names[i]);
  }
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_settop(L, -2);
}

// ---------------------------------------------------------------- globals that are made when they are named
//
// Most scripts name few of the globals there are. A script reaches a global by its name in a text, or by any string through `_G` and
// `_ENV`, which are names too; and every text comes by here before it runs. What was made is not made again: what a script puts in the
// place of a global stays, also where it put nil.

/// [-0, +0, m] Makes the global that a name of the list is, or is a field of.
static void make_listed(lua_State *L, int i) {
  const SHLAllowed *a = &names[i].allowed;
  int base = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  if (*a->library) {
    lua_createtable(L, 0, library_end(i) - i);
    fill(L, i, base + 2);
    if (strcmp(a->library, "utf8") == 0) {
      lua_pushlstring(L, "[\0-\x7F\xC2-\xFD][\x80-\xBF]*", 14);
      put(L, base + 2, "charpattern");
    }
    put(L, base + 1, a->library);
  } else {
    push_value(L, &names[i], 0);
    push_function_names(L, "_G");
    lua_pushvalue(L, base + 2);
    put(L, base + 3, a->name);
    lua_settop(L, base + 2);
    put(L, base + 1, a->name);
  }
  lua_settop(L, base);
}

/// The bit of a name in the filter of names; several names may have one. `length` is at least 1.
static uint32_t filter_bit(const char *name, size_t length) {
  return ((uint8_t)name[0] * 37u + (uint8_t)name[length - 1] * 11u + (uint32_t)length) % (FILTER_WORDS * 64);
}

void shl_filter_add(SHLState *S, const char *name) {
  uint32_t bit = filter_bit(name, strcspn(name, "."));
  S->filter[bit / 64] |= 1ull << bit % 64;
}

static bool is_made(const SHLState *S, int bit) { return S->made[bit / 64] >> bit % 64 & 1; }
static void set_made(SHLState *S, int bit) { S->made[bit / 64] |= 1ull << bit % 64; }

/// `word` is the name, or what stands before its dot. NULL: every word.
static bool begins(const char *name, const char *word, size_t length) {
  return !word || (*name == *word && strncmp(name, word, length) == 0 && (name[length] == 0 || name[length] == '.'));
}

/// [-0, +0, m] Makes what the word is the name of. NULL: everything.
static void make_word(lua_State *L, SHLState *S, const char *word, size_t length) {
  for (int i = 0; i < NAME_COUNT;) {
    const SHLAllowed *a = &names[i].allowed;
    if (!is_made(S, i) && begins(*a->library ? a->library : a->name, word, length)) {
      make_listed(L, i);
      set_made(S, i);
    }
    i = *a->library ? library_end(i) : i + 1;
  }
  for (int i = 0; i < S->named_count; i++) {
    if (is_made(S, NAME_COUNT + i) || !begins(S->named[i].name, word, length)) continue;
    S->make_named(L, &S->named[i]);
    set_made(S, NAME_COUNT + i);
  }
}
_Static_assert(NAME_COUNT + NAMED_MAX <= MADE_WORDS * 64, "a bit for each name");

static bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

void shl_make_globals(lua_State *L, SHLState *S, const char *text, size_t length) {
  luaL_checkstack(L, 24, NULL);
  // The word of each hash that was looked up last: most words of a text come again.
  struct { const char *word; size_t length; } last[64] = {0};
  for (const char *p = text, *end = text + length; p < end; p++) {
    const char *word = p;
    while (p < end && is_name(*p)) p++;
    size_t n = (size_t)(p - word);
    if (!n) continue;
    uint32_t bit = filter_bit(word, n);
    if (!(S->filter[bit / 64] >> bit % 64 & 1)) continue;
    if (last[bit % 64].length == n && memcmp(last[bit % 64].word, word, n) == 0) continue;
    last[bit % 64].word = word;
    last[bit % 64].length = n;
    if ((n == 2 && memcmp(word, "_G", n) == 0) || (n == 4 && memcmp(word, "_ENV", n) == 0)) make_word(L, S, NULL, 0);
    else make_word(L, S, word, n);
  }
}

/// [-0, +0, m] Makes the state's globals, a table of its own, so that compiled chunks get it by themselves.
void shl_sandbox_open(lua_State *L, SHLState *S) {
  shl_names_open(L, S);
  lua_createtable(L, 0, 4);
  lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_createtable(L, 0, 16);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "_G");
  lua_pushliteral(L, "Lua 5.4");
  lua_setfield(L, -2, "_VERSION");
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  set_string_metatable(L);
  for (int i = 0; i < NAME_COUNT; i++) shl_filter_add(S, *names[i].allowed.library ? names[i].allowed.library : names[i].allowed.name);
  shl_filter_add(S, "_G");
  shl_filter_add(S, "_ENV");

  lua_newthread(L);
  S->main_synthesized_method = luaL_ref(L, LUA_REGISTRYINDEX);
}
