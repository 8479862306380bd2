// Source text: checks before the compiler sees it, and compiling under the budget.
#include "../shl_internal.h"
#include <stdio.h>

/// Longest chain of `.name`, `[…]` and `:name` links in one expression: Lua 5.4.4 recurses over such a chain, on the C
/// stack, when it makes an error message.
enum { CHAIN_MAX = 200, NESTING_MAX = 256 };

typedef struct { const char *p, *end; int line; } Scanner;

/// At `[`: length of a long bracket's opening (`[[`, `[==[`), 0 when it is none.
static size_t long_opening(const Scanner *s) {
  const char *p = s->p + 1;
  while (p < s->end && *p == '=') p++;
  return p < s->end && *p == '[' ? (size_t)(p - s->p + 1) : 0;
}

/// Goes behind a long bracket that opens with so many bytes, to the end of the text where it does not close.
static void skip_long(Scanner *s, size_t opening) {
  size_t level = opening - 2;
  for (s->p += opening; s->p < s->end; s->p++) {
    if (*s->p == '\n') s->line++;
    if (*s->p != ']') continue;
    const char *p = s->p + 1;
    size_t n = 0;
    while (p < s->end && *p == '=') p++, n++;
    if (n == level && p < s->end && *p == ']') {
      s->p = p + 1;
      return;
    }
  }
}

/// Goes behind a quoted text, to the end of its line where it does not close.
static void skip_quoted(Scanner *s) {
  char quote = *s->p++;
  while (s->p < s->end && *s->p != quote) {
    if (*s->p == '\n') return;  // unfinished; the compiler will say so
    if (*s->p == '\\' && s->p + 1 < s->end) {
      s->p++;
      if (*s->p == 'z') {
        s->p++;
        while (s->p < s->end && strchr(" \t\r\n\f\v", *s->p) && *s->p) {
          if (*s->p == '\n') s->line++;
          s->p++;
        }
        continue;
      }
      if (*s->p == '\n') s->line++;
    }
    s->p++;
  }
  if (s->p < s->end) s->p++;
}

static bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Line of the first expression with too many links, 0 when there is none.
/// Brackets and grouping parentheses keep the count of what stands around them; whatever else is no link ends a chain.
static int long_chain(const char *bytes, size_t length) {
  Scanner s = {bytes, bytes + length, 1};
  int saved[NESTING_MAX], depth = 0, links = 0;
  bool operand = false;  // the last token ended an operand: `(` calls, `[` indexes
  while (s.p < s.end) {
    char c = *s.p;
    if (c == '\n') {
      s.line++;
      s.p++;
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      s.p++;
    } else if (c == '-' && s.p + 1 < s.end && s.p[1] == '-') {
      s.p += 2;
      size_t opening = s.p < s.end && *s.p == '[' ? long_opening(&s) : 0;
      if (opening) skip_long(&s, opening);
      else while (s.p < s.end && *s.p != '\n') s.p++;
    } else if (c == '"' || c == '\'') {
      skip_quoted(&s);
      links = 0;  // alone, or the argument of a call, whose result starts anew
      operand = true;
    } else if (c == '[' && long_opening(&s)) {
      skip_long(&s, long_opening(&s));
      links = 0;
      operand = true;
    } else if ((c == '.' || c == ':') && s.p + 1 < s.end && s.p[1] != '.' && s.p[1] != ':' &&
               !(c == '.' && s.p[1] >= '0' && s.p[1] <= '9') && (s.p == bytes || s.p[-1] != '.')) {
      if (++links > CHAIN_MAX) return s.line;
      s.p++;
    } else if (is_name(c)) {
      const char *start = s.p;
      bool number = c >= '0' && c <= '9';
      while (s.p < s.end && (is_name(*s.p) || (number && *s.p == '.'))) s.p++;
      bool linked = start > bytes && links;
      for (const char *q = start; linked && q > bytes;) {  // a name after a link continues the chain
        q--;
        if (*q == '.' || *q == ':') break;
        if (*q != ' ' && !(*q >= '\t' && *q <= '\r')) linked = false;
        if (start - q > 64) break;  // far apart: keep counting, which errs on the safe side
      }
      if (!linked) links = 0;
      operand = true;
    } else if (c == '(' || c == '[' || c == '{') {
      if (depth < NESTING_MAX) saved[depth++] = links | (operand << 16) | ((c == '(') << 17);
      links = 0;
      operand = false;
      s.p++;
    } else if (c == ')' || c == ']' || c == '}') {
      int before = depth > 0 ? saved[--depth] : 0;
      bool after_operand = before >> 16 & 1, paren = before >> 17 & 1;
      if (c == ']' && after_operand) {
        links = (before & 0xFFFF) + 1;
        if (links > CHAIN_MAX) return s.line;
      } else if (paren && after_operand) {
        links = 0;  // a call's result starts anew
      } else if (!paren) {
        links = 0;
      }
      operand = true;
      s.p++;
    } else {
      links = 0;
      operand = false;
      s.p += c == '.' && s.p + 1 < s.end && s.p[1] == '.' ? 2 : 1;
    }
  }
  return 0;
}

/// Looks at the bytes before compiling. Returns why when they are refused (also written to `why`; it starts with ":line:"
/// when a line is known); else NULL, with a byte-order mark and a `#!` line taken off.
const char *shl_check_source(SHLState *S, const char **bytes, size_t *length, char *why, size_t capacity) {
  const char *p = *bytes;
  size_t n = *length;
  *why = 0;
  if (n > S->limits.source_bytes) {
    snprintf(why, capacity, "the file has %zu bytes, at most %zu are allowed; split it", n, S->limits.source_bytes);
    return why;
  }
  if (n >= 2 && ((p[0] == '\xFF' && p[1] == '\xFE') || (p[0] == '\xFE' && p[1] == '\xFF'))) {
    snprintf(why, capacity, "the file is UTF-16; save it as UTF-8");
    return why;
  }
  if (n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) p += 3, n -= 3;
  if (n && *p == 0x1B) {
    snprintf(why, capacity, "binary chunks are not allowed; load the source text");
    return why;
  }
  if (n == 0) {
    snprintf(why, capacity, "the file is empty");
    return why;
  }
  const char *nul = memchr(p, 0, n);
  if (nul) {
    int line = 1;
    for (const char *q = p; q < nul; q++) line += *q == '\n';
    snprintf(why, capacity, ":%d: NUL byte in the source%s", line, n > 3 && (p[1] == 0 || p[0] == 0) ? "; the file looks like UTF-16, save it as UTF-8" : "; is this a text file?");
    return why;
  }
  if (*p == '#') while (n && *p != '\n') p++, n--;  // the line's end stays, so that lines keep their numbers
  int line = long_chain(p, n);
  if (line) {
    snprintf(why, capacity, ":%d: expression too complex: more than %d fields or indexes in a row", line, CHAIN_MAX);
    return why;
  }
  *bytes = p;
  *length = n;
  return NULL;
}

typedef struct { const char *p; size_t left; bool started; } Feed;

/// Hands the compiler 256 bytes at a time, so that a long compilation meets the clock. May raise: lua_load protects itself.
static const char *feed(lua_State *L, void *ud, size_t *size) {
  Feed *f = ud;
  if (f->started) shl_charge(L, 400);
  f->started = true;
  *size = f->left < 256 ? f->left : 256;
  const char *p = f->p;
  f->p += *size;
  f->left -= *size;
  return *size ? p : NULL;
}

/// [-0, +1, -] Compiles text; the function or the message on top. Answers a Lua status.
int shl_load_text(lua_State *L, const char *bytes, size_t length, const char *chunkname) {
  Feed f = {bytes, length, false};
  return lua_load(L, feed, &f, chunkname, "t");
}
