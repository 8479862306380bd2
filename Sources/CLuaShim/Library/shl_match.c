// The pattern matcher, with a budget.
//
// Lua's patterns: single characters, classes, sets, `.`, the repetitions * + - ?, anchors, captures, positions,
// back references, %b and %f. The reference manual defines them (6.4.1); tests compare every answer and every
// message with the stock library's. Different from it in one way: each step is charged, so that a pattern that
// backtracks for ever meets the call's budget instead of the program's patience.
//
// Recursion is spent only where the outcome of the rest decides (repetitions, captures), and is bounded like the
// stock matcher's, with the same message.
#include "../shl_internal.h"
#include <ctype.h>
#include <stdio.h>

enum { CAPTURES_MAX = 32, DEPTH_MAX = 200, OPEN = -1, POSITION = -2 };

typedef struct { const char *start; ptrdiff_t length; } Capture;

typedef struct {
  lua_State *L;
  const char *begin, *end;       // subject
  const char *pattern_end;
  int64_t fuel;                  // steps until the next charge
  int depth;                     // recursion left
  int level;                     // captures made, finished or not
  Capture captures[CAPTURES_MAX];
} Matcher;

enum { STEPS = 1024 };

/// [-0, +0, e] Charges the script for the steps that were taken, and gives the matcher new ones.
static SHL_NOINLINE void refuel(Matcher *m) {
  int64_t used = STEPS - m->fuel;
  m->fuel = STEPS;
  shl_charge(m->L, used);
}
/// [-0, +0, e] Takes so many steps from the matcher.
static inline void spend(Matcher *m, int64_t steps) {
  if (SHL_UNLIKELY((m->fuel -= steps) < 0)) refuel(m);
}
/// Charges what a matcher used and was not charged for.
static void settle(Matcher *m) {
  shl_charge(m->L, 5 + STEPS - m->fuel);
  m->fuel = STEPS;
}

/// Makes a matcher of a subject of `ls` bytes and a pattern of `lp`; both have to stay until it is done.
static void prepare(Matcher *m, lua_State *L, const char *s, size_t ls, const char *p, size_t lp) {
  m->L = L;
  m->begin = s;
  m->end = s + ls;
  m->pattern_end = p + lp;
  m->fuel = STEPS;
  m->depth = DEPTH_MAX;
  m->level = 0;
}

// ---------------------------------------------------------------- single characters

/// One past the single-character item at p: `x`, `.`, `%x`, `[set]`.
static const char *item_end(Matcher *m, const char *p) {
  char c = *p++;
  if (c == '%') {
    if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (ends with '%%')");
    return p + 1;
  }
  if (c != '[') return p;
  if (p < m->pattern_end && *p == '^') p++;
  const char *first = p;
  for (;;) {  // a `]` right at the start is a member
    if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (missing ']')");
    c = *p++;
    if (c == ']' && p - 1 != first) break;
    if (c == '%') {
      if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (missing ']')");
      p++;
    }
  }
  spend(m, (p - first) >> 4);
  return p;
}

/// Is c in the class of the letter after `%`? Any other character stands for itself.
static bool in_class(unsigned char c, unsigned char letter) {
  bool in;
  switch (letter | 0x20) {
    case 'a': in = isalpha(c); break;
    case 'c': in = iscntrl(c); break;
    case 'd': in = isdigit(c); break;
    case 'g': in = isgraph(c); break;
    case 'l': in = islower(c); break;
    case 'p': in = ispunct(c); break;
    case 's': in = isspace(c); break;
    case 'u': in = isupper(c); break;
    case 'w': in = isalnum(c); break;
    case 'x': in = isxdigit(c); break;
    case 'z': in = c == 0; break;  // deprecated, still there
    default: return letter == c;
  }
  if (!isalpha(letter)) return letter == c;
  return isupper(letter) ? !in : in;
}

/// Is c in the set between `open` (its '[') and `close` (its ']')?
static bool in_set(Matcher *m, unsigned char c, const char *open, const char *close) {
  const unsigned char *p = (const unsigned char *)open + 1, *end = (const unsigned char *)close;
  bool negated = *p == '^';
  if (negated) p++;
  spend(m, (end - p) >> 3);
  while (p < end) {
    if (*p == '%') {
      if (in_class(c, p[1])) return !negated;
      p += 2;
    } else if (p + 2 < end && p[1] == '-') {
      if (p[0] <= c && c <= p[2]) return !negated;
      p += 3;
    } else if (*p++ == c) {
      return !negated;
    }
  }
  return negated;
}

/// Does the item [p, ep) match the character at s?
static bool matches_one(Matcher *m, const char *s, const char *p, const char *ep) {
  if (s >= m->end) return false;
  unsigned char c = (unsigned char)*s;
  switch (*p) {
    case '.': return true;
    case '%': return in_class(c, (unsigned char)p[1]);
    case '[': return in_set(m, c, p, ep - 1);
    default: return (unsigned char)*p == c;
  }
}

// ---------------------------------------------------------------- composed items

static const char *run(Matcher *m, const char *s, const char *p);

/// %bxy at s; one past the balanced text, or NULL.
static const char *balanced(Matcher *m, const char *s, const char *p) {
  if (m->pattern_end - p < 2) luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
  if (s >= m->end || *s != p[0]) return NULL;
  char open = p[0], close = p[1];
  int64_t nesting = 1;
  for (const char *q = s + 1; q < m->end; q++) {
    if (((q - s) & 255) == 0) spend(m, 64);
    if (*q == close) {
      if (--nesting == 0) {
        spend(m, ((q - s) & 255) >> 2);
        return q + 1;
      }
    } else if (*q == open) {
      nesting++;
    }
  }
  spend(m, ((m->end - s) & 255) >> 2);
  return NULL;
}

/// As many as possible, then fewer until the rest matches.
static const char *greedy(Matcher *m, const char *s, const char *p, const char *ep, ptrdiff_t least) {
  ptrdiff_t n = 0;
  while (matches_one(m, s + n, p, ep))
    if ((++n & 7) == 0) spend(m, 1);
  for (; n >= least; n--) {
    const char *e = run(m, s + n, ep + 1);
    if (e) return e;
  }
  return NULL;
}

/// Matches the rest of the pattern behind as few repeats as possible; NULL: there is no match.
static const char *lazy(Matcher *m, const char *s, const char *p, const char *ep) {
  for (;;) {
    const char *e = run(m, s, ep + 1);
    if (e) return e;
    if (!matches_one(m, s, p, ep)) return NULL;
    s++;
  }
}

/// [-0, +0, e] Begins a capture and matches the rest; NULL: there is no match.

/// - kind: OPEN, or that of a position.
static const char *open_capture(Matcher *m, const char *s, const char *p, ptrdiff_t kind) {
  if (m->level >= CAPTURES_MAX) luaL_error(m->L, "too many captures");
  m->captures[m->level] = (Capture){s, kind};
  m->level++;
  const char *e = run(m, s, p);
  if (!e) m->level--;
  return e;
}

/// [-0, +0, e] Ends the innermost open capture and matches the rest; NULL: there is no match.
static const char *close_capture(Matcher *m, const char *s, const char *p) {
  int i = m->level - 1;
  while (i >= 0 && m->captures[i].length != OPEN) i--;
  if (i < 0) luaL_error(m->L, "invalid pattern capture");
  m->captures[i].length = s - m->captures[i].start;
  const char *e = run(m, s, p);
  if (!e) m->captures[i].length = OPEN;
  return e;
}

/// %1 to %9: the text of a finished capture again.
static const char *back_reference(Matcher *m, const char *s, unsigned char digit) {
  int i = digit - '1';
  if (i < 0 || i >= m->level || m->captures[i].length == OPEN)
    luaL_error(m->L, "invalid capture index %%%d", i + 1);
  size_t n = (size_t)m->captures[i].length;
  spend(m, (int64_t)(n < (size_t)(m->end - s) ? n >> 6 : 0));
  if ((size_t)(m->end - s) < n || memcmp(m->captures[i].start, s, n) != 0) return NULL;
  return s + n;
}

/// %f[set] between s[-1] and s; the set's end, or NULL. Both ends of the subject count as '\0'.
static const char *frontier(Matcher *m, const char *s, const char *p) {
  if (p >= m->pattern_end || *p != '[') luaL_error(m->L, "missing '[' after '%%f' in pattern");
  const char *ep = item_end(m, p);
  unsigned char before = s == m->begin ? 0 : (unsigned char)s[-1], here = s < m->end ? (unsigned char)*s : 0;
  return !in_set(m, before, p, ep - 1) && in_set(m, here, p, ep - 1) ? ep : NULL;
}

/// Matches the pattern from p on at s: one past the match, or NULL.
static const char *run(Matcher *m, const char *s, const char *p) {
  if (m->depth-- == 0) luaL_error(m->L, "pattern too complex");
  const char *result = NULL;
  for (;;) {
    spend(m, 1);
    if (p == m->pattern_end) {
      result = s;
      break;
    }
    if (*p == '(') {
      bool position = p + 1 < m->pattern_end && p[1] == ')';
      result = open_capture(m, s, p + (position ? 2 : 1), position ? POSITION : OPEN);
      break;
    }
    if (*p == ')') {
      result = close_capture(m, s, p + 1);
      break;
    }
    if (*p == '$' && p + 1 == m->pattern_end) {
      result = s == m->end ? s : NULL;
      break;
    }
    if (*p == '%' && p + 1 < m->pattern_end) {
      unsigned char kind = (unsigned char)p[1];
      if (kind == 'b') {
        if (!(s = balanced(m, s, p + 2))) break;
        p += 4;
        continue;
      }
      if (kind == 'f') {
        if (!(p = frontier(m, s, p + 2))) break;
        continue;
      }
      if (isdigit(kind)) {
        if (!(s = back_reference(m, s, kind))) break;
        p += 2;
        continue;
      }
    }
    const char *ep = item_end(m, p);
    char suffix = ep < m->pattern_end ? *ep : 0;
    bool one = matches_one(m, s, p, ep);
    if (!one && (suffix == '*' || suffix == '-' || suffix == '?')) {  // none is enough
      p = ep + 1;
      continue;
    }
    if (!one) break;
    if (suffix == '*' || suffix == '+') {
      result = greedy(m, s, p, ep, suffix == '+');
      break;
    }
    if (suffix == '-') {
      result = lazy(m, s, p, ep);
      break;
    }
    if (suffix == '?') {
      if ((result = run(m, s + 1, ep + 1))) break;
      p = ep + 1;
      continue;
    }
    s++;
    p = ep;
  }
  m->depth++;
  return result;
}

// ---------------------------------------------------------------- results

/// [-0, +1, e] Capture i; the whole match [s, e) stands in for the first when there are none.
static void push_capture(Matcher *m, int i, const char *s, const char *e) {
  lua_State *L = m->L;
  if (i >= m->level) {
    if (i != 0) luaL_error(L, "invalid capture index %%%d", i + 1);
    lua_pushlstring(L, s, (size_t)(e - s));
    spend(m, (e - s) >> 6);
    return;
  }
  Capture *c = &m->captures[i];
  if (c->length == OPEN) luaL_error(L, "unfinished capture");
  if (c->length == POSITION) {
    lua_pushinteger(L, c->start - m->begin + 1);
  } else {
    lua_pushlstring(L, c->start, (size_t)c->length);
    spend(m, c->length >> 6);
  }
}

/// [-0, +n, e] All captures, or the whole match if there are none and `s` is given.
static int push_captures(Matcher *m, const char *s, const char *e) {
  int n = m->level == 0 && s ? 1 : m->level;
  luaL_checkstack(m->L, n, "too many captures");
  for (int i = 0; i < n; i++) push_capture(m, i, s, e);
  return n;
}

/// Lua's start positions: from 1, negative from the end. Answers an offset from 0, which may lie beyond the end.
static size_t start_offset(lua_Integer position, size_t length) {
  if (position > 0) return (size_t)position - 1;
  if (position == 0 || position < -(lua_Integer)length) return 0;
  return length + (size_t)position;
}

/// The pattern of `n` bytes has a character with a meaning.
static bool has_specials(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] && strchr("^$*+?.([%-", p[i])) return true;
  return false;
}

/// [-0, +n, e] `string.find` and `string.match`.
static int find_or_match(lua_State *L, bool find) {
  size_t ls, lp;
  const char *s = luaL_checklstring(L, 1, &ls), *p = luaL_checklstring(L, 2, &lp);
  size_t start = start_offset(luaL_optinteger(L, 3, 1), ls);
  if (start > ls) {
    lua_pushnil(L);
    return 1;
  }
  if (find && (lua_toboolean(L, 4) || !has_specials(p, lp))) {
    shl_charge(L, 2 + (int64_t)((lp + ls - start) >> 4));
    const char *at = lp ? memmem(s + start, ls - start, p, lp) : s + start;  // linear, whatever the strings
    if (!at) {
      lua_pushnil(L);
      return 1;
    }
    lua_pushinteger(L, at - s + 1);
    lua_pushinteger(L, at - s + (lua_Integer)lp);
    return 2;
  }
  Matcher m;
  bool anchored = lp && *p == '^';
  if (anchored) p++, lp--;
  prepare(&m, L, s, ls, p, lp);
  for (const char *at = s + start;; at++) {
    m.level = 0;
    m.depth = DEPTH_MAX;
    const char *e = run(&m, at, p);
    if (e) {
      int n;
      if (find) {
        lua_pushinteger(L, at - s + 1);
        lua_pushinteger(L, e - s);
        n = 2 + push_captures(&m, NULL, NULL);
      } else {
        n = push_captures(&m, at, e);
      }
      settle(&m);
      return n;
    }
    if (anchored || at >= m.end) break;
  }
  settle(&m);
  lua_pushnil(L);
  return 1;
}

int shl_f_find(lua_State *L) { return find_or_match(L, true); }
int shl_f_match(lua_State *L) { return find_or_match(L, false); }

/// The iterator of gmatch. Upvalues: subject, pattern, next offset, end of the last match (-1 none).
static int next_match(lua_State *L) {
  size_t ls, lp;
  const char *s = lua_tolstring(L, lua_upvalueindex(1), &ls), *p = lua_tolstring(L, lua_upvalueindex(2), &lp);
  size_t at = (size_t)lua_tointeger(L, lua_upvalueindex(3));
  lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
  Matcher m;
  prepare(&m, L, s, ls, p, lp);
  for (; at <= ls; at++) {
    m.level = 0;
    m.depth = DEPTH_MAX;
    const char *e = run(&m, s + at, p);
    if (!e || e - s == last) continue;
    lua_pushinteger(L, e - s);
    lua_copy(L, -1, lua_upvalueindex(3));
    lua_copy(L, -1, lua_upvalueindex(4));
    int n = push_captures(&m, s + at, e);
    settle(&m);
    return n;
  }
  settle(&m);
  return 0;
}

/// `string.gmatch`, by a matcher that is charged for its steps.
int shl_f_gmatch(lua_State *L) {
  size_t ls;
  luaL_checklstring(L, 1, &ls);
  luaL_checklstring(L, 2, NULL);
  size_t start = start_offset(luaL_optinteger(L, 3, 1), ls);
  if (start > ls) start = ls + 1;
  lua_settop(L, 2);
  lua_pushinteger(L, (lua_Integer)start);
  lua_pushinteger(L, -1);
  lua_pushcclosure(L, next_match, 4);
  return 1;
}

/// [-0, +0, e] Appends the replacement template with %0-%9 filled in.
static void add_template(Matcher *m, luaL_Buffer *b, const char *s, const char *e) {
  lua_State *L = m->L;
  size_t n;
  const char *t = lua_tolstring(L, 3, &n), *end = t + n;
  spend(m, (int64_t)(n >> 4));
  while (t < end) {
    const char *percent = memchr(t, '%', (size_t)(end - t));
    if (!percent) percent = end;
    luaL_addlstring(b, t, (size_t)(percent - t));
    if (percent == end) break;
    t = percent + 1;
    unsigned char c = t < end ? (unsigned char)*t : 0;
    t++;
    if (c == '%') {
      luaL_addchar(b, '%');
    } else if (c == '0') {
      luaL_addlstring(b, s, (size_t)(e - s));
    } else if (isdigit(c)) {
      int i = c - '1';
      push_capture(m, i, s, e);
      if (lua_type(L, -1) == LUA_TNUMBER) lua_tolstring(L, -1, NULL);
      luaL_addvalue(b);
    } else {
      luaL_error(L, "invalid use of '%c' in replacement string", '%');
    }
  }
}

/// [-0, +0, e] Appends what replaces the match [s, e); false: the match stays as it is.
static bool add_replacement(Matcher *m, luaL_Buffer *b, const char *s, const char *e, int type) {
  lua_State *L = m->L;
  if (type == LUA_TFUNCTION) {
    lua_pushvalue(L, 3);
    int n = push_captures(m, s, e);
    spend(m, 10);
    lua_call(L, n, 1);
  } else if (type == LUA_TTABLE) {
    push_capture(m, 0, s, e);
    lua_gettable(L, 3);
  } else {
    add_template(m, b, s, e);
    return true;
  }
  if (!lua_toboolean(L, -1)) {
    lua_settop(L, -2);
    luaL_addlstring(b, s, (size_t)(e - s));
    return false;
  }
  if (!lua_isstring(L, -1)) luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  spend(m, (int64_t)(lua_type(L, -1) == LUA_TSTRING ? lua_rawlen(L, -1) >> 5 : 1));
  luaL_addvalue(b);
  return true;
}

/// `string.gsub`, by a matcher that is charged for its steps.
int shl_f_gsub(lua_State *L) {
  size_t ls, lp;
  const char *s = luaL_checklstring(L, 1, &ls), *p = luaL_checklstring(L, 2, &lp);
  int type = lua_type(L, 3);
  lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)ls + 1), count = 0;
  if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TTABLE && type != LUA_TFUNCTION)
    luaL_typeerror(L, 3, "string/function/table");
  if (type == LUA_TNUMBER) lua_tolstring(L, 3, NULL);  // as text, once
  bool anchored = lp && *p == '^', changed = false;
  if (anchored) p++, lp--;
  Matcher m;
  luaL_Buffer b;
  prepare(&m, L, s, ls, p, lp);
  luaL_buffinit(L, &b);
  const char *at = s, *last = NULL;
  while (count < most) {
    m.level = 0;
    m.depth = DEPTH_MAX;
    const char *e = run(&m, at, p);
    if (e && e != last) {
      count++;
      changed |= add_replacement(&m, &b, at, e, type);
      at = last = e;
    } else if (at < m.end) {
      luaL_addchar(&b, *at);
      at++;
    } else {
      break;
    }
    if (anchored) break;
  }
  settle(&m);
  if (!changed) {
    lua_pushvalue(L, 1);
  } else {
    luaL_addlstring(&b, at, (size_t)(m.end - at));
    luaL_pushresult(&b);
  }
  lua_pushinteger(L, count);
  return 2;
}
