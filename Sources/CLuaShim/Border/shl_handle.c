// Handles: userdata that name something of the program's.
#include "../shl_internal.h"

/// __gc, run by the collector with hooks off: only queues. The queue is host memory, so nothing here can raise.
int shl_collect_handle(lua_State *L) {
  SHLState *S = shl_state_of(L);
  SHLHandle *h = lua_touserdata(L, 1);
  if (!h) return 0;
  shl_lighten(S, h);
  if (S->release_count == S->release_capacity) {
    int32_t capacity = S->release_capacity ? 2 * S->release_capacity : 32;
    SHLRelease *grown = realloc(S->releases, (size_t)capacity * sizeof *grown);
    if (!grown) return 0;  // leaked rather than released at a bad moment
    S->releases = grown;
    S->release_capacity = capacity;
  }
  S->releases[S->release_count++] = (SHLRelease){h->cls, h->a, h->b, h->c};
  SHL_WRITE(S->release_pending, S->release_count);
  return 0;
}

/// [-0, +0|1, -] The live handle of a unique class with this first word.
static bool push_live(lua_State *L, SHLState *S, uint32_t cls, uint64_t a) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, S->classes[cls]->unique);
  lua_rawgetp(L, -1, (void *)a);
  const SHLHandle *h = lua_touserdata(L, -1);
  if (!h || h->a != a) {  // none, or one that was let go
    lua_settop(L, -3);
    return false;
  }
  lua_rotate(L, -2, 1);
  lua_settop(L, -2);
  return true;
}

void shl_pace_collector(lua_State *L, SHLState *S) {
  enum { AT_ONCE = 8, KILOBYTES_EACH = 2 };
  if (++S->owning_handles < AT_ONCE) return;
  S->owning_handles = 0;
  lua_gc(L, LUA_GCSTEP, AT_ONCE * KILOBYTES_EACH);
}

/// [-0, +1, m] A new userdata, or for unique classes the one that lives with the same words.
void shl_push_handle(lua_State *L, SHLState *S, const SHLValue *v) {
  if (v->cls == 0 || v->cls >= S->class_count) luaL_error(L, "unknown handle class %d", (int)v->cls);
  SHLClassRecord *c = S->classes[v->cls];
  bool unique = c->ops.flags & SHL_UNIQUE;
  luaL_checkstack(L, 5, NULL);
  shl_make_tables(L, S, c);
  if (SHL_UNLIKELY(c->synthesized_method && S->classes[c->synthesized_method]->unique_count) && push_live(L, S, c->synthesized_method, v->h.a)) return;
  if (unique) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->unique);
    lua_rawgetp(L, -1, (void *)v->h.a);
    const SHLHandle *h = lua_touserdata(L, -1);
    if (h && h->a == v->h.a && h->b == v->h.b && h->c == v->h.c) {
      lua_rotate(L, -2, 1);
      lua_settop(L, -2);
      return;
    }
    lua_settop(L, -2);
  }
  SHLHandle *h = lua_newuserdatauv(L, sizeof *h, 0);
  *h = (SHLHandle){v->h.a, v->h.b, v->h.c, v->cls, 0};
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->metatable);
  lua_setmetatable(L, -2);
  if (unique) {
    if (++c->unique_count > 12000) {  // hash parts are bounded; older handles stay equal, only not identical
      shl_push_weak_table(L, S, "v");
      lua_pushvalue(L, -1);
      lua_rawseti(L, LUA_REGISTRYINDEX, c->unique);
      lua_copy(L, -1, -3);
      lua_settop(L, -2);
      c->unique_count = 1;
    }
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, (void *)v->h.a);
    lua_rotate(L, -2, 1);
    lua_settop(L, -2);
  }
  if (c->ops.release) shl_pace_collector(L, S);
}

bool shl_handle_find(SHLScope *scope, uint32_t cls, uint64_t a, SHLValue *found) {
  SHLState *S = scope->state;
  if (cls == 0 || cls >= S->class_count || !S->classes[cls]->unique || !lua_checkstack(scope->L, 3)) return false;
  if (!push_live(scope->L, S, cls, a)) return false;
  *found = (SHLValue){.tag = SHL_OTHER, .slot = lua_gettop(scope->L)};
  return true;
}
