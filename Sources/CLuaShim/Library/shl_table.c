// Table functions with bounded ranges, charged by what they walk.
//
// Metamethods are honoured as in the stock library; a length is asked for once and bounded before it is used.
#include "../shl_internal.h"

/// Does the table at index use plain access only? Then raw access gives the same, faster.
static bool plain_table(lua_State *L, int index) {
  if (!lua_getmetatable(L, index)) return true;
  static const char *const fields[] = {"__index", "__newindex", "__len"};
  bool plain = true;
  for (int i = 0; plain && i < 3; i++) {
    lua_pushstring(L, fields[i]);
    plain = lua_rawget(L, -2) == LUA_TNIL;
    lua_settop(L, -2);
  }
  lua_settop(L, -2);
  return plain;
}

/// Argument 1 must be a table, or a value with the metamethods for what is done to it.
static void check_table(lua_State *L, int index, bool reads, bool writes, bool length) {
  if (lua_type(L, index) == LUA_TTABLE) return;
  const char *needs[3] = {reads ? "__index" : NULL, writes ? "__newindex" : NULL, length ? "__len" : NULL};
  bool has = lua_getmetatable(L, index);
  for (int i = 0; has && i < 3; i++) {
    if (!needs[i]) continue;
    lua_pushstring(L, needs[i]);
    has = lua_rawget(L, -2) != LUA_TNIL;
    lua_settop(L, -2);
  }
  if (!has) luaL_checktype(L, index, LUA_TTABLE);
  lua_settop(L, -2);
}

/// [-0, +0, e] The length of the table at `index`, by `__len` where it has one.
static lua_Integer length_of(lua_State *L, int index) {
  return plain_table(L, index) && lua_type(L, index) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, index) : luaL_len(L, index);
}

/// [-0, +0, e] Refuses more than `most` elements at once.

/// - what: the function, for the message.
static void bound(lua_State *L, const char *what, lua_Integer n, lua_Integer most) {
  if (n > most) luaL_error(L, "%s: %I elements, at most %I are allowed at once", what, (LUAI_UACINT)n, (LUAI_UACINT)most);
}

/// `table.concat`, charged for its elements and for the text.
int shl_f_concat(lua_State *L) {
  check_table(L, 1, true, false, true);
  lua_Integer last = length_of(L, 1);
  size_t ls;
  const char *sep = luaL_optlstring(L, 2, "", &ls);
  lua_Integer i = luaL_optinteger(L, 3, 1);
  last = luaL_optinteger(L, 4, last);
  if (i > last) {
    lua_pushliteral(L, "");
    return 1;
  }
  if ((lua_Unsigned)last - (lua_Unsigned)i >= TABLE_MAX) bound(L, "table.concat", TABLE_MAX + 1, TABLE_MAX);
  bool plain = plain_table(L, 1) && lua_type(L, 1) == LUA_TTABLE;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (;; i++) {
    if (plain) lua_rawgeti(L, 1, i);
    else lua_geti(L, 1, i);
    if (!lua_isstring(L, -1)) return luaL_error(L, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(L, -1), (LUAI_UACINT)i);
    shl_charge(L, 3 + (int64_t)(((lua_type(L, -1) == LUA_TSTRING ? lua_rawlen(L, -1) : 8) + ls) >> 5));
    luaL_addvalue(&b);
    if (i == last) break;
    luaL_addlstring(&b, sep, ls);
  }
  luaL_pushresult(&b);
  return 1;
}

/// [-0, +0, e] t[to] = t[from]
static void shift(lua_State *L, bool plain, lua_Integer from, lua_Integer to) {
  if (plain) {
    lua_rawgeti(L, 1, from);
    lua_rawseti(L, 1, to);
  } else {
    lua_geti(L, 1, from);
    lua_seti(L, 1, to);
  }
}

/// `table.insert`, charged for the elements that move, of which there may be TABLE_MAX.
int shl_f_insert(lua_State *L) {
  check_table(L, 1, true, true, true);
  bool plain = plain_table(L, 1) && lua_type(L, 1) == LUA_TTABLE;
  lua_Integer e = (plain ? (lua_Integer)lua_rawlen(L, 1) : luaL_len(L, 1));
  e = (lua_Integer)((lua_Unsigned)e + 1);  // wraps as the stock library does
  lua_Integer position = e;
  int n = lua_gettop(L);
  if (n == 3) {
    position = luaL_checkinteger(L, 2);
    if ((lua_Unsigned)position - 1u >= (lua_Unsigned)e) luaL_argerror(L, 2, "position out of bounds");
    if (e - position > TABLE_MAX) bound(L, "table.insert", e - position, TABLE_MAX);
    shl_charge(L, 2 + (e - position));
    for (lua_Integer i = e; i > position; i--) {
      shift(L, plain, i - 1, i);
      if (!plain && (i & 255) == 0) shl_charge(L, 256);
    }
  } else if (n != 2) {
    return luaL_error(L, "wrong number of arguments to 'insert'");
  }
  if (plain) lua_rawseti(L, 1, position);
  else lua_seti(L, 1, position);
  return 0;
}

/// `table.remove`, charged for the elements that move, of which there may be TABLE_MAX.
int shl_f_remove(lua_State *L) {
  check_table(L, 1, true, true, true);
  bool plain = plain_table(L, 1) && lua_type(L, 1) == LUA_TTABLE;
  lua_Integer size = plain ? (lua_Integer)lua_rawlen(L, 1) : luaL_len(L, 1);
  lua_Integer position = luaL_optinteger(L, 2, size);
  if (position != size && !((lua_Unsigned)position - 1u <= (lua_Unsigned)size)) luaL_argerror(L, 1, "position out of bounds");
  if (size > position && size - position > TABLE_MAX) bound(L, "table.remove", size - position, TABLE_MAX);
  if (size > position) shl_charge(L, 2 + (size - position));
  lua_geti(L, 1, position);
  for (; position < size; position++) {
    shift(L, plain, position + 1, position);
    if (!plain && (position & 255) == 0) shl_charge(L, 256);
  }
  lua_pushnil(L);
  lua_seti(L, 1, position);
  return 1;
}

/// `table.move`, charged for its elements, of which there may be TABLE_MAX.
int shl_f_move(lua_State *L) {
  lua_Integer f = luaL_checkinteger(L, 2), e = luaL_checkinteger(L, 3), t = luaL_checkinteger(L, 4);
  int target = lua_type(L, 5) > LUA_TNIL ? 5 : 1;
  check_table(L, 1, true, false, false);
  check_table(L, target, false, true, false);
  if (e >= f) {
    if (!(f > 0 || e < LUA_MAXINTEGER + f)) luaL_argerror(L, 3, "too many elements to move");
    lua_Integer n = e - f + 1;
    if (t > LUA_MAXINTEGER - n + 1) luaL_argerror(L, 4, "destination wrap around");
    bound(L, "table.move", n, TABLE_MAX);
    shl_charge(L, 2 + n);
    bool upwards = t > e || t <= f || (target != 1 && !lua_compare(L, 1, target, LUA_OPEQ));
    for (lua_Integer k = 0; k < n; k++) {
      lua_Integer i = upwards ? k : n - 1 - k;
      lua_geti(L, 1, f + i);
      lua_seti(L, target, t + i);
      if ((k & 255) == 255) shl_charge(L, 64);
    }
  }
  lua_pushvalue(L, target);
  return 1;
}

/// `table.unpack`, for at most UNPACK_MAX values.
int shl_f_table_unpack(lua_State *L) {
  lua_Integer i = luaL_optinteger(L, 2, 1);
  lua_Integer e = lua_type(L, 3) > LUA_TNIL ? luaL_checkinteger(L, 3) : luaL_len(L, 1);
  if (i > e) return 0;
  lua_Unsigned n = (lua_Unsigned)e - (lua_Unsigned)i;
  if (n >= UNPACK_MAX || !lua_checkstack(L, (int)++n)) return luaL_error(L, "too many results to unpack");
  shl_charge(L, (int64_t)n / 2);
  for (; i < e; i++) lua_geti(L, 1, i);
  lua_geti(L, 1, e);
  return (int)n;
}

// ---------------------------------------------------------------- sort

/// Does the element at stack index a come before the one at b? Comparing long strings is charged by their length.
static bool before(lua_State *L, int a, int b) {
  int64_t units = 4;
  if (lua_type(L, 2) == LUA_TFUNCTION) {
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a);
    lua_pushvalue(L, b);
    shl_charge(L, units);
    lua_call(L, 2, 1);
    bool result = lua_toboolean(L, -1);
    lua_settop(L, -2);
    return result;
  }
  if (lua_type(L, a) == LUA_TSTRING && lua_type(L, b) == LUA_TSTRING) {
    size_t x = lua_rawlen(L, a), y = lua_rawlen(L, b);
    units += (int64_t)((x < y ? x : y) >> 2);
  }
  shl_charge(L, units);
  return lua_compare(L, a, b, LUA_OPLT);
}

/// Sorts a copy of the elements on the Lua stack by merging: n log n comparisons whatever the order function answers.
int shl_f_sort(lua_State *L) {
  check_table(L, 1, true, true, true);
  lua_Integer length = length_of(L, 1);
  if (length < 2) return 0;
  if (length >= INT32_MAX) luaL_argerror(L, 1, "array too big");
  bound(L, "table.sort", length, SORT_MAX);
  if (lua_type(L, 2) > LUA_TNIL) luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  int n = (int)length;
  luaL_checkstack(L, 2 * n + 8, "array too big");
  shl_charge(L, 2 * n);
  bool plain = plain_table(L, 1) && lua_type(L, 1) == LUA_TTABLE;
  for (int i = 1; i <= n; i++) {
    if (plain) lua_rawgeti(L, 1, i);
    else lua_geti(L, 1, i);
  }
  lua_settop(L, 2 + 2 * n);
  int from = 3, to = 3 + n;  // two areas of n slots
  // Runs of eight by insertion, then merging runs of doubling length.
  for (int low = 0; low < n; low += 8) {
    int high = low + 8 < n ? low + 8 : n;
    for (int i = low + 1; i < high; i++) {
      lua_pushvalue(L, from + i);
      int moving = lua_gettop(L), j = i;
      while (j > low && before(L, moving, from + j - 1)) {
        lua_copy(L, from + j - 1, from + j);
        j--;
      }
      lua_copy(L, moving, from + j);
      lua_settop(L, moving - 1);
    }
  }
  for (int width = 8; width < n; width *= 2) {
    for (int low = 0; low < n; low += 2 * width) {
      int middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
      int i = low, j = middle;
      for (int k = low; k < high; k++) {
        bool right = i >= middle || (j < high && before(L, from + j, from + i));
        lua_copy(L, from + (right ? j++ : i++), to + k);
      }
    }
    int swap = from;
    from = to;
    to = swap;
  }
  for (int i = 0; i < n; i++) {
    lua_pushvalue(L, from + i);
    if (plain) lua_rawseti(L, 1, i + 1);
    else lua_seti(L, 1, i + 1);
  }
  return 0;
}
