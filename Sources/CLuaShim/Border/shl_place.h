// Numbers, Bools and texts of native calls, pushed from where they lie. For shl_invoke.c and shl_arguments.c, in line.
#ifndef SHL_PLACE_H
#define SHL_PLACE_H
#include "../shl_internal.h"

/// [-0, +1, -] A short string, without a protected call; false for a longer one.
static inline bool shl_push_text_unprotected(lua_State *L, SHLState *S, const char *bytes, size_t length) {
  if (length > RESERVE_STRING || (S->reserve_count < RESERVE_BLOCKS && !shl_reserve(S))) return false;
  S->unfailing = true;
  shl_push_bytes(L, S, bytes, length);
  S->unfailing = false;
  return true;
}

/// [-0, +1, -] A Swift String's two words. false: a form that only Swift reads, or one too long to be pushed unprotected.
static inline bool shl_push_swift_text(lua_State *L, SHLState *S, const uint64_t *words) {
  // As StringBits reads them: small ones are in the words themselves, native ones 32 bytes behind the object's address.
  if (words[1] >> 61 & 1) return shl_push_text_unprotected(L, S, (const char *)words, words[1] >> 56 & 0xF);
  if ((words[1] >> 60 & 3) || !(words[0] >> 60 & 1) || !(words[1] << 4)) return false;
  return shl_push_text_unprotected(L, S, (const char *)(words[1] & 0x0FFFFFFFFFFFFFFF) + 32, words[0] & 0xFFFFFFFFFFFF);
}

/// Where argument `i` lies.
static inline const void *shl_place(const SHLPlaces *from, int32_t i) { return hkt_frame_at(from->frame, from->slots[i].place); }

/// [-0, +1, -] The value of that kind that lies there. false: nothing was pushed.
static inline bool shl_push_place(lua_State *L, SHLState *S, HKTValueKind kind, const void *at) {
  switch (kind) {
    case HKT_VALUE_INT64: lua_pushinteger(L, *(const int64_t *)at); return true;
    case HKT_VALUE_DOUBLE: lua_pushnumber(L, *(const double *)at); return true;
    case HKT_VALUE_BOOL: lua_pushboolean(L, *(const uint8_t *)at & 1); return true;
    case HKT_VALUE_TEXT: return shl_push_swift_text(L, S, at);
    case HKT_VALUE_INT8: lua_pushinteger(L, *(const int8_t *)at); return true;
    case HKT_VALUE_INT16: lua_pushinteger(L, *(const int16_t *)at); return true;
    case HKT_VALUE_INT32: lua_pushinteger(L, *(const int32_t *)at); return true;
    case HKT_VALUE_UINT8: lua_pushinteger(L, *(const uint8_t *)at); return true;
    case HKT_VALUE_UINT16: lua_pushinteger(L, *(const uint16_t *)at); return true;
    case HKT_VALUE_UINT32: lua_pushinteger(L, *(const uint32_t *)at); return true;
    case HKT_VALUE_UINT64:
      if (*(const int64_t *)at < 0) return false;
      lua_pushinteger(L, *(const int64_t *)at);
      return true;
    case HKT_VALUE_FLOAT: lua_pushnumber(L, *(const float *)at); return true;
    default: return false;
  }
}

#endif
