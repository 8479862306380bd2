// String, utf8: the stock functions behind a charge, and the few that need their own bounds.
//
// A stock function is called in our own C frame, so its argument errors name the function as always.
#include "../shl_internal.h"

/// [-0, +0, e] Charges for the length of argument i, one unit for 2^shift bytes.
static inline void charge_length(lua_State *L, int i, int shift) {
  if (lua_type(L, i) == LUA_TSTRING) shl_charge(L, 2 + (int64_t)(lua_rawlen(L, i) >> shift));
}

int shl_f_lower(lua_State *L) {
  charge_length(L, 1, 3);
  return shl_stock.lower(L);
}
int shl_f_upper(lua_State *L) {
  charge_length(L, 1, 3);
  return shl_stock.upper(L);
}
int shl_f_reverse(lua_State *L) {
  charge_length(L, 1, 4);
  return shl_stock.reverse(L);
}

int shl_f_sub(lua_State *L) {
  int n = shl_stock.sub(L);
  shl_charge(L, 2 + (int64_t)(lua_rawlen(L, -1) >> 6));
  return n;
}

int shl_f_byte(lua_State *L) {
  int n = shl_stock.byte(L);
  if (n > 1) shl_charge(L, n / 4);
  return n;
}

int shl_f_char(lua_State *L) {
  int n = lua_gettop(L);
  if (n > 8) shl_charge(L, n / 4);
  return shl_stock.char_(L);
}

/// `string.rep`, refused where the text would be longer than a state allows.
int shl_f_rep(lua_State *L) {
  size_t l, ls;
  const char *s = luaL_checklstring(L, 1, &l);
  lua_Integer n = luaL_checkinteger(L, 2);
  const char *sep = luaL_optlstring(L, 3, "", &ls);
  size_t max = shl_state_of(L)->limits.string_bytes;
  if (n <= 0 || l + ls == 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  if (l + ls < l || l + ls > max || (size_t)n > max / (l + ls) + 1) return luaL_error(L, "resulting string too large");
  size_t total = (size_t)n * l + (size_t)(n - 1) * ls;
  if (total > max) return luaL_error(L, "resulting string too large");
  shl_charge(L, (int64_t)(total >> 6) + (ls || l < 64 ? n / 4 : n));
  luaL_Buffer b;
  char *p = luaL_buffinitsize(L, &b, total), *end = p + total;
  memcpy(p, s, l);
  char *filled = p + l;
  if (filled < end) {
    memcpy(filled, sep, ls);
    filled += ls;
  }
  while (filled < end) {  // doubles what is there; it starts with a whole number of s..sep
    size_t have = (size_t)(filled - p), left = (size_t)(end - filled);
    size_t copy = have < left ? have : left;
    memcpy(filled, p, copy);
    filled += copy;
  }
  luaL_pushresultsize(&b, total);
  return 1;
}

/// What the stock format does to objects is show addresses: they become text first, `%p` as well.
int shl_f_format(lua_State *L) {
  size_t length;
  const char *format = luaL_checklstring(L, 1, &length), *end = format + length;
  int top = lua_gettop(L), arg = 1;
  int64_t units = 5 + (int64_t)(length >> 2);
  bool pointers = false;
  for (const char *p = format; p < end; p++) {
    if (*p != '%') continue;
    if (++p < end && *p == '%') continue;
    while (p < end && strchr("-+ #0123456789.", *p) && *p) p++;
    if (++arg > top || p >= end) continue;
    int type = lua_type(L, arg);
    units += type == LUA_TSTRING ? (int64_t)(lua_rawlen(L, arg) >> (*p == 'q' ? 2 : 5)) : 10;
    if (*p == 's' && type != LUA_TSTRING && type != LUA_TNUMBER) {
      shl_push_text(L, arg);
      lua_copy(L, -1, arg);
      lua_settop(L, top);
      units += (int64_t)(lua_rawlen(L, arg) >> 5);
    } else if (*p == 'p') {
      const void *address = lua_topointer(L, arg);
      if (address) shl_push_address(L, address);
      else lua_pushliteral(L, "(null)");
      lua_copy(L, -1, arg);
      lua_settop(L, top);
      pointers = true;
    }
  }
  shl_charge(L, units);
  if (pointers) {  // the format as it was, with %s for %p
    luaL_Buffer b;
    char *out = luaL_buffinitsize(L, &b, length);
    memcpy(out, format, length);
    for (size_t i = 0; i + 1 < length; i++) {
      if (out[i] != '%') continue;
      if (out[++i] == '%') continue;
      while (i < length && strchr("-+ #0123456789.", out[i]) && out[i]) i++;
      if (i < length && out[i] == 'p') out[i] = 's';
    }
    luaL_pushresultsize(&b, length);
    lua_copy(L, -1, 1);
    lua_settop(L, top);
  }
  return shl_stock.format(L);
}

/// Sum of the sizes of `c` items in a pack format, saturated; padding for them is written byte by byte.
static uint64_t fixed_bytes(const char *p, size_t n) {
  uint64_t total = 0;
  for (size_t i = 0; i < n; i++) {
    if (p[i] != 'c') continue;
    uint64_t size = 0;
    while (i + 1 < n && p[i + 1] >= '0' && p[i + 1] <= '9') {
      size = size * 10 + (uint64_t)(p[++i] - '0');
      if (size > INT32_MAX) size = INT32_MAX;
    }
    total += size;
  }
  return total;
}

/// `string.pack`, refused where the fixed parts would be longer than a state allows.
int shl_f_pack(lua_State *L) {
  size_t n;
  const char *format = luaL_checklstring(L, 1, &n);
  uint64_t fixed = fixed_bytes(format, n);
  if (fixed > shl_state_of(L)->limits.string_bytes) return luaL_error(L, "resulting string too large");
  int64_t units = 2 + (int64_t)n + (int64_t)(fixed >> 3);
  for (int i = lua_gettop(L); i > 1; i--)
    if (lua_type(L, i) == LUA_TSTRING) units += (int64_t)(lua_rawlen(L, i) >> 4);
  shl_charge(L, units);
  return shl_stock.pack(L);
}

int shl_f_unpack(lua_State *L) {
  charge_length(L, 1, 0);
  charge_length(L, 2, 5);
  return shl_stock.unpack(L);
}

int shl_f_packsize(lua_State *L) {
  charge_length(L, 1, 0);
  return shl_stock.packsize(L);
}

// ---------------------------------------------------------------- utf8

int shl_f_utf8_char(lua_State *L) {
  int n = lua_gettop(L);
  if (n > 8) shl_charge(L, n / 2);
  return shl_stock.utf8_char(L);
}

int shl_f_utf8_len(lua_State *L) {
  charge_length(L, 1, 3);
  return shl_stock.utf8_len(L);
}

int shl_f_utf8_codepoint(lua_State *L) {
  int n = shl_stock.utf8_codepoint(L);
  if (n > 1) shl_charge(L, n);
  return n;
}

/// Charges after the fact: one walk over a string is short, many are not.
int shl_f_utf8_offset(lua_State *L) {
  lua_Integer n = lua_type(L, 2) == LUA_TNUMBER ? lua_tointeger(L, 2) : 0;
  int results = shl_stock.utf8_offset(L);
  size_t length = lua_rawlen(L, 1);
  uint64_t way = n < 0 ? (uint64_t)-n : (uint64_t)n;
  shl_charge(L, 2 + (int64_t)((way < 64 && length < 4096 ? way : length) >> 3));
  return results;
}

/// Charges for the continuation bytes the stock iterator is going to skip.
static int step(lua_State *L, lua_CFunction stock) {
  size_t length;
  const char *s = luaL_checklstring(L, 1, &length);
  lua_Integer at = lua_tointeger(L, 2);
  size_t i = at > 0 && (uint64_t)at <= length ? (size_t)at : length, start = i;
  while (i < length && (s[i] & 0xC0) == 0x80) i++;
  if (i - start > 16) shl_charge(L, (int64_t)(i - start) >> 2);
  return stock(L);
}
static int step_strict(lua_State *L) { return step(L, shl_stock.utf8_step); }
static int step_lax(lua_State *L) { return step(L, shl_stock.utf8_step_lax); }

/// `utf8.codes`, with a step that is charged.
int shl_f_utf8_codes(lua_State *L) {
  bool lax = lua_toboolean(L, 2);
  int n = shl_stock.utf8_codes(L);  // iterator, string, 0
  lua_pushcfunction(L, lax ? step_lax : step_strict);
  lua_copy(L, -1, -n - 1);
  lua_settop(L, -2);
  return n;
}
