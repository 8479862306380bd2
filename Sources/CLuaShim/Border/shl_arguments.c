// The arguments of the call that runs, by their numbers: read from where they lie, changed where the host will look for changes.
//
// Only what is bits alone. Whatever else it is, and whatever is wrong with it, the host is asked, which has the words for it.
#include "shl_place.h"

/// What the handle at index 1 stands for; NULL unless that is the call whose handler runs.
static SHLArguments *current(lua_State *L, SHLState *S, uint32_t cls) {
  const SHLHandle *h = lua_touserdata(L, 1);
  if (!h || h->cls != cls || S->run == &S->idle_run || S->run->kill) return NULL;
  const SHLInner *in = (const SHLInner *)S->run;  // SHLRun is the first member of SHLInner
  if (!in->here) return NULL;
  SHLArguments *a = S->slots[in->entry->slot].host;
  return a && a->serial == h->c ? a : NULL;
}

/// The argument that the number at index 2 means, from 0; -1 for none.
static inline int32_t position(lua_State *L, const SHLArguments *a) {
  lua_Integer i = lua_tointegerx(L, 2, NULL);
  return i >= 1 && i <= a->from.count ? (int32_t)i - 1 : -1;
}

/// Argument `i` has a new value.
static inline bool is_staged(const SHLArguments *a, int32_t i) { return i < SHL_MOST_STAGED && a->staged >> i & 1; }

bool shl_argument_push(lua_State *L, SHLState *S, uint32_t cls) {
  const SHLArguments *a = current(L, S, cls);
  int32_t i = a && a->readable ? position(L, a) : -1;
  if (i < 0) return false;
  return shl_push_place(L, S, a->from.slots[i].kind, is_staged(a, i) ? a->bits[i] : shl_place(&a->from, i));
}

/// The bits of an integer for a place of that kind. false: out of its range.
static inline bool integer_bits(HKTValueKind kind, int64_t value, uint64_t *bits) {
  *bits = (uint64_t)value;
  switch (kind) {
    case HKT_VALUE_INT64: return true;
    case HKT_VALUE_UINT64: return value >= 0;
    case HKT_VALUE_UINT32: return value == (uint32_t)value;
    case HKT_VALUE_UINT16: return value == (uint16_t)value;
    case HKT_VALUE_UINT8: return value == (uint8_t)value;
    case HKT_VALUE_INT32: *bits = (uint32_t)value; return value == (int32_t)value;
    case HKT_VALUE_INT16: *bits = (uint16_t)value; return value == (int16_t)value;
    case HKT_VALUE_INT8: *bits = (uint8_t)value; return value == (int8_t)value;
    default: return false;
  }
}

/// The bits of the value at index 3, which is exactly of that kind. false: it is not, or no such bits.
static inline bool bits_of(lua_State *L, HKTValueKind kind, uint64_t *bits) {
  switch (lua_type(L, 3)) {
    case LUA_TNUMBER:
      if (lua_isinteger(L, 3)) return integer_bits(kind, lua_tointegerx(L, 3, NULL), bits);
      if (kind != HKT_VALUE_DOUBLE) return false;
      lua_Number number = lua_tonumberx(L, 3, NULL);
      memcpy(bits, &number, sizeof number);
      return true;
    case LUA_TBOOLEAN:
      *bits = (uint64_t)lua_toboolean(L, 3);
      return kind == HKT_VALUE_BOOL;
    default: return false;
  }
}

bool shl_argument_change(lua_State *L, SHLState *S, uint32_t cls) {
  SHLArguments *a = current(L, S, cls);
  int32_t i = a && a->changeable ? position(L, a) : -1;
  if (i < 0 || i >= SHL_MOST_STAGED || a->borrowed >> i & 1) return false;
  uint64_t bits;
  if (!bits_of(L, a->from.slots[i].kind, &bits)) return false;
  a->bits[i][0] = bits;
  a->bits[i][1] = 0;
  a->staged |= (uint8_t)(1 << i);
  return true;
}

SHLStatus shl_arguments_class(SHLState *S, uint32_t cls, int32_t member) {
  if (!shl_lock(S, -1)) return SHL_POISONED;
  S->arguments_class = cls;
  S->arguments_member = member;
  shl_unlock(S);
  return SHL_OK;
}
