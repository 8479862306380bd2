// Entering a state, calling, leaving, and the error record.
//
// The hot path takes: one look at the thread record, the lock (shl_lock.h), a coroutine from the free list, the
// pushes, one lua_pcall, the reads, one store. Nothing is allocated, the hook stays installed on pooled
// coroutines, and the clock is not read unless the call lasts.
#include "../shl_internal.h"
#include "shl_place.h"
#include <stdio.h>

// ---------------------------------------------------------------- error records

/// Copies text for showing: control bytes and invalid UTF-8 as \xNN, capped, NUL-ended. Returns the length written.
size_t shl_escape(char *out, size_t capacity, const char *text, size_t length) {
  size_t n = 0;
  for (size_t i = 0; i < length;) {
    unsigned char c = (unsigned char)text[i];
    size_t width = c < 0x80 ? 1 : (c & 0xE0) == 0xC0 && c >= 0xC2 ? 2 : (c & 0xF0) == 0xE0 ? 3 : (c & 0xF8) == 0xF0 && c < 0xF5 ? 4 : 0;
    bool good = width && i + width <= length && (c >= 0x20 || c == '\t') && c != 0x7F;
    for (size_t k = 1; good && k < width; k++) good = ((unsigned char)text[i + k] & 0xC0) == 0x80;
    // U+0080-U+009F are controls, overlong three- and four-byte forms and surrogates are invalid.
    if (good && width == 2 && c == 0xC2 && (unsigned char)text[i + 1] < 0xA0) good = false;
    if (good && width == 3) {
      unsigned char d = (unsigned char)text[i + 1];
      if ((c == 0xE0 && d < 0xA0) || (c == 0xED && d >= 0xA0)) good = false;
    }
    if (good && width == 4) {
      unsigned char d = (unsigned char)text[i + 1];
      if ((c == 0xF0 && d < 0x90) || (c == 0xF4 && d >= 0x90)) good = false;
    }
    size_t need = good ? width : c == '\n' ? 2 : 4;
    if (n + need + 4 > capacity) {
      memcpy(out + n, "...", 3);
      n += 3;
      break;
    }
    if (good) memcpy(out + n, text + i, width);
    else if (c == '\n') memcpy(out + n, "\\n", 2);
    else snprintf(out + n, 5, "\\x%02X", c);
    n += need;
    i += good ? width : 1;
  }
  out[n] = 0;
  return n;
}

/// [-0, +0, m] File and line of the innermost Lua code at or above `level`, and up to 20 traceback lines.
static void describe_stack(lua_State *L, SHLError *e, int level) {
  lua_Debug ar;
  size_t n = 0;
  for (int lines = 0; lines < 20 && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sln", &ar);
    if (*ar.what == 'C' && !ar.name) continue;
    if (ar.currentline > 0 && !e->line) {
      e->line = ar.currentline;
      shl_escape(e->source, sizeof e->source, ar.short_src, strlen(ar.short_src));
    }
    char text[256], shown[512];
    const char *what = *ar.what == 'm' ? "in main chunk" : ar.name ? "in " : "in function";
    if (ar.currentline > 0) snprintf(text, sizeof text, "%s:%d: %s", ar.short_src, ar.currentline, what);
    else snprintf(text, sizeof text, "[native]: %s", what);
    size_t used = strlen(text);
    if (*ar.what != 'm' && ar.name)
      snprintf(text + used, sizeof text - used, "%s '%.100s'", *ar.namewhat ? ar.namewhat : "function", ar.name);
    size_t length = shl_escape(shown, sizeof shown, text, strlen(text));
    if (n + length + 2 > sizeof e->traceback) break;
    memcpy(e->traceback + n, shown, length);
    n += length;
    e->traceback[n++] = '\n';
    lines++;
  }
  e->traceback[n ? n - 1 : 0] = 0;
}

/// [-1, +1, m] At the error, with the stack still there: keeps where it happened. Runs nothing of the script's, since
/// hooks are off while a handler runs inside a killing hook.
int shl_message_handler(lua_State *L) {
  SHLState *S = shl_state_of(L);
  SHLRun *run = S->run;
  if (!run->error) run->error = calloc(1, sizeof *run->error);
  if (run->error) {
    run->error->line = 0;
    describe_stack(L, run->error, 1);
  }
  return 1;
}

static const char *const phrases[] = {
    [SHL_OK] = "ok",
    [SHL_ERROR] = "script error",
    [SHL_SYNTAX] = "does not compile",
    [SHL_REFUSED_SOURCE] = "source refused",
    [SHL_KILLED_INSTRUCTIONS] = "stopped: too many instructions in one call",
    [SHL_KILLED_TIME] = "stopped: ran too long",
    [SHL_KILLED_MEMORY] = "stopped: too much memory",
    [SHL_NO_MEMORY] = "no memory",
    [SHL_BUSY] = "busy: another thread is running this patch",
    [SHL_STACK_LOW] = "too little stack left on this thread",
    [SHL_TOO_DEEP] = "too many nested calls between scripts and the program",
    [SHL_POISONED] = "given up after an earlier failure",
    [SHL_BAD_ARGUMENT] = "a value cannot be passed",
    [SHL_WAITING] = "waits",
    [SHL_SLOW_PATH] = "left to the slow path",
    [SHL_STOPPING] = "the handler that called it is being stopped",
};
const char *shl_status_text(SHLStatus status) {
  return (size_t)status < sizeof phrases / sizeof *phrases ? phrases[status] : "unknown status";
}

/// What a Lua status means for the host.
SHLStatus shl_classify(SHLState *S, SHLRun *run, int status) {
  if (run->kill) return run->kill;
  if (status == LUA_ERRMEM && S->hit_hard) {
    S->hit_hard = false;
    return SHL_KILLED_MEMORY;
  }
  if (status == LUA_ERRMEM && !S->refused) return SHL_NO_MEMORY;
  return status == LUA_ERRSYNTAX ? SHL_SYNTAX : SHL_ERROR;
}

/// Keeps the raised handle alive for the error record; no memory just means that the record has no value.
static int keep_body(lua_State *L) {
  SHLError *e = lua_touserdata(L, 2);
  lua_pushvalue(L, 1);
  e->value_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

/// Does the text begin with the place of a call that was running? What a script wrote itself may look like one.
static bool has_own_place(const SHLError *e, const char *text, size_t length) {
  for (const char *line = e->traceback; *line;) {
    const char *end = strstr(line, ": ");
    if (!end) return false;
    size_t n = (size_t)(end + 2 - line);
    if (*line != '[' && n <= length && memcmp(line, text, n) == 0) return true;
    line = strchr(end, '\n');
    if (!line) return false;
    line++;
  }
  return false;
}

/// [-0, +0, -] The message of a call that was stopped while the host worked for it: `message` holds what that was.
static void describe_work(SHLError *e, const char *place, const SHLRun *whose, int cap) {
  long long limit = cap == SHL_CAP_LOOKUPS ? SHL_LOAD_LOOKUPS_NS : cap == SHL_CAP_ELAPSED ? whose->elapsed_ns : whose->native_ns;
  char shown[WORK_TEXT * 4];
  shl_escape(shown, sizeof shown, e->message, strnlen(e->message, WORK_TEXT));
  snprintf(e->message, sizeof e->message, "%sstopped: it was still %s when its lookups, and the functions it called, had taken %lld ms", place, shown,
           limit / 1000000);
}

/// [-0, +0, -] The record for the error object at `index`. Takes what the message handler kept. NULL: no memory.
SHLError *shl_error_make(SHLState *S, lua_State *L, SHLStatus status, int index) {
  SHLRun *run = S->run;
  SHLError *e = run->error ? run->error : calloc(1, sizeof *e);
  run->error = NULL;
  if (!e) return NULL;
  e->status = status;
  char place[160] = "";
  if (e->line) snprintf(place, sizeof place, "%s:%d: ", e->source, e->line);
  if (status >= SHL_KILLED_INSTRUCTIONS) {
    const char *detail = phrases[status];
    const SHLRun *whose = run->inherited ? run->root : run;
    e->inherited = run->inherited;
    e->outside = status == SHL_KILLED_TIME && run->cap != SHL_CAP_SCRIPT;
    // A script that used up its own time is told that, whatever the host was doing for it then.
    if (status == SHL_KILLED_TIME && *e->message && run->cap != SHL_CAP_SCRIPT) describe_work(e, place, whose, run->cap);
    else if (status == SHL_KILLED_TIME && whose->script_ns > 0) {
      static const char *const forms[] = {"%sstopped: %sran longer than %lld ms", "%sstopped: %sthe functions it called ran longer than %lld ms",
                                          "%sstopped: %swaited longer than %lld ms"};
      int64_t limit = run->cap == SHL_CAP_NATIVE ? whose->native_ns : run->cap == SHL_CAP_ELAPSED ? whose->elapsed_ns : whose->script_ns;
      snprintf(e->message, sizeof e->message, forms[run->cap], place, run->inherited ? "the handler that called it " : "", (long long)(limit / 1000000));
    }
    else if (status == SHL_KILLED_MEMORY && whose->gave_too_much)
      snprintf(e->message, sizeof e->message, "%sstopped: the functions it called were given more than %zu KiB to keep", place, 4 * S->limits.memory >> 10);
    else if (status == SHL_KILLED_MEMORY)
      snprintf(e->message, sizeof e->message, "%sstopped: uses more than %zu KiB of memory", place, S->limits.memory >> 10);
    else snprintf(e->message, sizeof e->message, "%s%s", place, detail);
    return e;
  }
  int type = index ? lua_type(L, index) : LUA_TNONE;
  if (type == LUA_TSTRING) {
    size_t n;
    const char *text = lua_tolstring(L, index, &n);  // a string already: no conversion, cannot raise
    if (S->refused && n == 17 && memcmp(text, "not enough memory", 17) == 0) {
      snprintf(e->message, sizeof e->message, "%s%s", place, S->refused_string ? "string too long" : "table has too many keys; a table holds at most 16,384 keys outside its array part");
      S->refused = false;
      return e;
    }
    size_t used = 0;
    if (status != SHL_SYNTAX && *place && !has_own_place(e, text, n)) used = shl_escape(e->message, sizeof place, place, strlen(place));
    shl_escape(e->message + used, ERROR_TEXT - used, text, n < 4096 ? n : 4096);
    if (status == SHL_SYNTAX && strcmp(e->message, "C stack overflow") == 0) {
      snprintf(e->message, sizeof e->message, "too many nested blocks, functions or parentheses (C stack overflow)");
    } else if (status == SHL_SYNTAX) {
      e->more_input = n >= 5 && memcmp(text + n - 5, "<eof>", 5) == 0 && !strstr(e->message, "unfinished string");
      // "name:line: what": the position is in the text, no code ran.
      const char *colon = e->message;
      while ((colon = strchr(colon, ':'))) {
        char *end;
        long line = strtol(colon + 1, &end, 10);
        if (end > colon + 1 && *end == ':') {
          e->line = (int32_t)line;
          snprintf(e->source, sizeof e->source, "%.*s", (int)(colon - e->message), e->message);
          break;
        }
        colon++;
      }
    }
    return e;
  }
  SHLValue v = index ? shl_read(L, index) : shl_nil();
  if (v.tag == SHL_HANDLE || v.tag == SHL_CONSTANT) {
    e->value = v;
    const SHLClass *ops = v.tag == SHL_HANDLE ? &S->classes[v.cls]->ops : NULL;
    char words[ERROR_TEXT / 2];
    size_t length = ops && ops->words ? ops->words(ops->ctx, &v, words, sizeof words) : 0;
    if (length) shl_escape(e->message + snprintf(e->message, sizeof place, "%s", place), ERROR_TEXT - sizeof place, words, length);
    else snprintf(e->message, sizeof e->message, "%serror object is a %s", place, ops ? ops->name : "constant");
    if (v.tag == SHL_HANDLE && lua_checkstack(L, 4)) {
      lua_pushvalue(L, index);
      if (shl_protect(L, keep_body, e, 1, 0) != LUA_OK) e->value = shl_nil();
    }
  } else if (type == LUA_TNUMBER) {
    if (lua_isinteger(L, index)) snprintf(e->message, sizeof e->message, "%s%lld", place, (long long)lua_tointeger(L, index));
    else snprintf(e->message, sizeof e->message, "%s%.14g", place, lua_tonumber(L, index));
  } else {
    const char *name = type == LUA_TNONE ? "missing" : lua_typename(L, type);
    snprintf(e->message, sizeof e->message, "%serror object is %s%s%s", place, type <= LUA_TNIL ? "" : "a ", name, type <= LUA_TNIL ? "" : " value");
  }
  return e;
}

void shl_error_free(SHLState *S, SHLError *error) {
  if (!error) return;
  if (error->value_ref) shl_forget(S, error->value_ref);
  free(error);
}

/// An error with a text alone; NULL when memory runs out.
static SHLError *plain_error(SHLStatus status, const char *text) {
  SHLError *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->status = status;
  snprintf(e->message, sizeof e->message, "%s", text);
  return e;
}

int shl_protect(lua_State *L, lua_CFunction body, void *ud, int nargs, int nresults) {
  if (!lua_checkstack(L, nresults + 4)) {
    lua_settop(L, -nargs - 1);
    return LUA_ERRMEM;
  }
  lua_pushcfunction(L, body);
  if (nargs) lua_rotate(L, -nargs - 1, 1);
  lua_pushlightuserdata(L, ud);
  int status = lua_pcall(L, nargs + 1, nresults, 0);
  if (SHL_UNLIKELY(status != LUA_OK)) lua_settop(L, -2);
  return status;
}

// ---------------------------------------------------------------- entering and leaving

/// The thread's bounds are asked for anew: there are fewer than `needed` bytes below `sp`, or `sp` is on another stack.
static SHL_NOINLINE bool stack_low(SHLThread *t, uintptr_t sp, size_t needed) {
  shl_thread_lookup(t);
  return sp - t->stack_low < needed || sp - t->stack_low >= t->stack_size;
}

/// Makes the state's first entry.
static SHL_NOINLINE SHLStatus entry_slow(SHLState *S, SHLEntry **entry) {
  *entry = shl_entry_make(S, S->main);
  return *entry ? SHL_OK : SHL_NO_MEMORY;
}

/// Takes the lock and a coroutine. On SHL_OK everything must be given back with `leave`.
/// `lock_ns`: how long to wait for the lock, whatever the budget says. `given`: a coroutine that waited, instead of one from the pool.
static inline __attribute__((always_inline)) SHLStatus enter_within(
    SHLState *S, const SHLBudget *b, int64_t lock_ns, bool load, SHLInvocation *inv, SHLEntry *given) {
  inv->scope.state = S;
  inv->count = 0;
  inv->open = 0;
  inv->error = NULL;
  // No SHL_UNLIKELY where the rare way is a return: the compiler takes a function that all ways leave by it for cold, and makes
  // it small instead of fast (Tests/Programs/warnings).
  if (SHL_READ(S->lock.poisoned)) return SHL_POISONED;
  SHLThread *t = &shl_thread;
  uintptr_t sp = (uintptr_t)__builtin_frame_address(0), room = sp - t->stack_low;
  if ((room < S->limits.stack_bytes || room >= t->stack_size) && stack_low(t, sp, S->limits.stack_bytes)) return SHL_STACK_LOW;
  if (t->reentry >= S->limits.reentry) return SHL_TOO_DEEP;
  // What is stopped unwinds through functions of the program, which call on: each handler they began would run for a while.
  if (SHL_UNLIKELY(t->run != NULL) && (t->run->kill || t->run->root->kill)) return SHL_STOPPING;
  if (!shl_lock(S, lock_ns)) return shl_is_poisoned(S) ? SHL_POISONED : SHL_BUSY;
  if (SHL_READ(S->lock.poisoned)) {
    shl_unlock(S);
    return SHL_POISONED;
  }
  SHLInner *in = shl_inner(inv);
  SHLEntry *entry = given ? given : S->idle;
  if (given) {
  } else if (SHL_LIKELY(entry != NULL)) {
    S->idle = entry->next;
    S->idle_count--;
  } else if (entry_slow(S, &entry) != SHL_OK) {
    shl_unlock(S);
    return SHL_NO_MEMORY;
  }
  if (SHL_UNLIKELY(entry->hook_count != S->hook_count)) {
    lua_sethook(entry->L, shl_hook, LUA_MASKCOUNT, S->hook_count);
    entry->hook_count = S->hook_count;
  }
  t->reentry++;
  in->entry = entry;
  in->thread = t;
  in->here = false;
  in->saved_run = S->run;
  SHLRun *run = &in->run;
  run->outer = S->run;
  run->left = load ? S->limits.load_instructions : S->limits.call_instructions;
  run->script_ns = load ? S->limits.load_ns : S->limits.call_ns;
  run->native_ns = load ? S->limits.load_native_ns : S->limits.call_native_ns;
  run->elapsed_ns = load ? S->limits.load_elapsed_ns : S->limits.call_elapsed_ns;
  if (SHL_UNLIKELY(b != NULL)) {
    if (b->instructions) run->left = b->instructions;
    if (b->wall_ns) run->script_ns = b->wall_ns;
    // A small budget is meant exactly: start counting at zero.
    if (run->left > 0 && run->left < 100000) lua_sethook(entry->L, shl_hook, LUA_MASKCOUNT, S->hook_count);
  }
  if (SHL_UNLIKELY(run->left < 0)) run->left = INT64_MAX / 2;
  run->fuel = FUEL;
  run->deadline = 0;
  run->mark = run->given = 0;
  run->error = NULL;
  run->kill = SHL_OK;
  run->nested = 0;
  run->cap = 0;
  run->inherited = run->gave_too_much = run->is_free = run->is_stuck = run->waits = run->host_works = false;
  run->frame = NULL;
  run->up = t->run;
  run->root = run;
  run->L = run->current = entry->L;
  t->run = run;
  if (SHL_UNLIKELY(run->up != NULL)) shl_inherit(S, run);
  S->run = run;
  inv->scope.L = entry->L;
  SHL_WRITE(S->invocations, SHL_READ(S->invocations) + 1);
  return SHL_OK;
}

static inline __attribute__((always_inline)) SHLStatus enter(SHLState *S, const SHLBudget *b, bool load, SHLInvocation *inv, SHLEntry *given) {
  return enter_within(S, b, b && b->lock_ns ? b->lock_ns : S->limits.lock_ns, load, inv, given);
}

/// After a kill or an error: the coroutine may carry a count-1 hook and a long stack.
static SHL_NOINLINE void mend(SHLState *S, SHLInner *in) {
  SHLEntry *entry = in->entry;
  lua_sethook(entry->L, shl_hook, LUA_MASKCOUNT, S->hook_count);
  entry->hook_count = S->hook_count;
  free(in->run.error);
}

/// - empty: nothing lies on the coroutine's stack but the message handler.
static inline __attribute__((always_inline)) void leave(SHLInvocation *inv, bool failed, bool empty) {
  SHLState *S = inv->scope.state;
  SHLInner *in = shl_inner(inv);
  SHLEntry *entry = in->entry;
  bool doomed = entry->doomed;
  if (!empty && !doomed) lua_settop(entry->L, 1);  // no to-be-closed slot is ever made at this level
  if (SHL_UNLIKELY(failed || in->run.kill || in->run.error)) mend(S, in);
  if (in->here) {
    S->slots[entry->slot].host = NULL;
    S->slots[entry->slot].generation++;
  }
  S->run = in->saved_run;
  in->thread->reentry--;
  in->thread->run = in->run.up;
  if (SHL_UNLIKELY(in->run.up != NULL)) shl_settle(&in->run);
  shl_entry_give(S, entry, doomed);
  inv->open = 0;
  if (SHL_UNLIKELY(SHL_READ(S->forgotten) != NULL)) shl_drain_forgotten(S);
  shl_unlock(S);
  if (SHL_UNLIKELY(SHL_READ(S->release_pending)) && !shl_lock_is_mine(&S->lock)) shl_drain(S);
}

SHL_HOT void shl_invoke_finish(SHLInvocation *inv) { leave(inv, false, false); }

SHLStatus shl_enter(SHLState *S, const SHLBudget *budget, SHLInvocation *inv) {
  SHLStatus status = enter(S, budget, false, inv, NULL);
  if (status == SHL_OK) inv->open = 1;
  return status;
}

// ---------------------------------------------------------------- for shl_wait.c

SHLStatus shl_enter_with(SHLState *S, const SHLBudget *budget, SHLEntry *given, SHLInvocation *inv) {
  return enter(S, budget, false, inv, given);
}
void shl_leave(SHLInvocation *inv, bool failed) { leave(inv, failed, false); }

void shl_leave_waiting(SHLInvocation *inv) {
  SHLState *S = inv->scope.state;
  SHLInner *in = shl_inner(inv);
  S->slots[in->entry->slot].host = NULL;  // the token comes back to life when the call goes on
  S->run = in->saved_run;
  in->thread->reentry--;
  in->thread->run = in->run.up;
  in->entry->left = in->run.left - WAIT_UNITS;
  if (in->run.up) shl_settle(&in->run);
  if (SHL_UNLIKELY(SHL_READ(S->forgotten) != NULL)) shl_drain_forgotten(S);
  shl_unlock(S);
  if (SHL_UNLIKELY(SHL_READ(S->release_pending)) && !shl_lock_is_mine(&S->lock)) shl_drain(S);
}

void shl_describe_failure(lua_State *L, SHLRun *run) {
  if (!run->error) run->error = calloc(1, sizeof *run->error);
  if (!run->error) return;
  run->error->line = 0;
  describe_stack(L, run->error, 0);  // of a coroutine that ended nothing is made, so nothing is raised
}

// ---------------------------------------------------------------- calling

typedef struct { SHLState *S; const SHLValue *fn; const SHLValue *args; int32_t nargs; } Pushing;

/// [-1, +n, e] Pushes what needs memory and calls, in one protected step.
static int push_and_call(lua_State *L) {
  Pushing *p = lua_touserdata(L, 1);
  lua_settop(L, 0);
  luaL_checkstack(L, p->nargs + 4, "too many arguments");
  shl_push(L, p->S, p->fn);
  shl_push_arguments(L, p->S, p->args, p->nargs);
  lua_call(L, p->nargs, LUA_MULTRET);
  return lua_gettop(L);
}

/// [-1, +1, m]
static int push_body(lua_State *L) {
  Pushing *p = lua_touserdata(L, 1);
  shl_push(L, p->S, p->fn);
  return 1;
}

/// [-0, +nargs, -] false: a value needs a protected call; what was pushed is dropped by the caller.
///
/// Short strings and handles are made without one: the allocator cannot refuse a block of RESERVE_BYTES while
/// `unfailing` is set, since as many as there can be arguments lie ready. A collection that such an allocation
/// starts runs only our own __gc, which allocates nothing of Lua's.
static inline bool push_all(lua_State *L, SHLState *S, const SHLValue *args, int32_t nargs, uint64_t here) {
  for (int32_t i = 0; i < nargs; i++) {
    const SHLValue *v = &args[i];
    switch (v->tag) {
      case SHL_NIL: lua_pushnil(L); break;
      case SHL_BOOL: lua_pushboolean(L, v->b); break;
      case SHL_INT: lua_pushinteger(L, v->i); break;
      case SHL_NUMBER: lua_pushnumber(L, v->n); break;
      case SHL_STRING:
        if (!shl_push_text_unprotected(L, S, v->s.p, v->s.n)) return false;
        break;
      case SHL_HANDLE: {
        if (v->cls == 0 || v->cls >= S->class_count || (S->classes[v->cls]->ops.flags & SHL_UNIQUE) || !S->classes[v->cls]->metatable ||
            (S->reserve_count < RESERVE_BLOCKS && !shl_reserve(S)))
          return false;
        S->unfailing = true;
        SHLHandle *h = lua_newuserdatauv(L, sizeof *h, 0);
        S->unfailing = false;
        *h = (SHLHandle){v->h.a, v->h.b, v->h.c, v->cls, 0};
        lua_rawgeti(L, LUA_REGISTRYINDEX, S->classes[v->cls]->metatable);
        lua_setmetatable(L, -2);
        if (S->classes[v->cls]->ops.release) shl_pace_collector(L, S);
        break;
      }
      case SHL_CALL: lua_pushlightuserdata(L, (void *)v->call); break;
      case SHL_CALL_HERE: lua_pushlightuserdata(L, (void *)here); break;
      default:
        if (!shl_push_plain(L, S, v)) return false;
    }
  }
  return true;
}

/// [-all, +0, -] Ends an invocation whose call failed with this status of Lua's, and keeps the error in it.
static SHL_NOINLINE SHLStatus failed_call(SHLState *S, SHLInvocation *inv, int status) {
  lua_State *L = inv->scope.L;
  SHLStatus result = shl_classify(S, &shl_inner(inv)->run, status);
  inv->error = shl_error_make(S, L, result, lua_gettop(L) > 1 ? lua_gettop(L) : 0);
  leave(inv, true, false);
  return result;
}

/// The token of the entry's own call, which stands for `host` until the call is left.
static inline uint64_t begin_here(SHLState *S, SHLInner *in, void *host) {
  SHLSlot *slot = &S->slots[in->entry->slot];
  slot->host = host;
  in->here = true;
  return shl_token(slot->generation, in->entry->slot);
}

/// Calls what was pushed above the message handler, reads the results and leaves, unless one of them needs the scope.
/// Without `results` Lua drops them.
static inline __attribute__((always_inline)) SHLStatus call_pushed(
    SHLState *S, lua_State *L, int32_t nargs, SHLValue *results, int32_t max_results, SHLInvocation *inv) {
  SHLInner *in = shl_inner(inv);
  in->run.frame = __builtin_frame_address(0);
  int outcome = lua_pcall(L, nargs, results ? LUA_MULTRET : 0, 1);
  if (outcome != LUA_OK || in->run.kill) return failed_call(S, inv, outcome != LUA_OK ? outcome : LUA_ERRRUN);
  if (!results) {
    leave(inv, false, true);
    return SHL_OK;
  }
  int32_t count = lua_gettop(L) - 1;
  inv->count = count;
  if (count == 0) {
    leave(inv, false, true);
    return SHL_OK;
  }
  bool plain = true;
  int32_t read = count < max_results ? count : max_results;
  for (int32_t i = 0; i < read; i++) {
    shl_read_to(L, i + 2, &results[i]);
    plain &= shl_is_plain(results[i].tag);
  }
  if (plain) leave(inv, false, false);
  else inv->open = 1;
  return SHL_OK;
}

SHLStatus shl_invoke(SHLState *S, SHLRef fn, const SHLValue *args, int32_t nargs, SHLValue *results, int32_t max_results,
                     const SHLBudget *budget, SHLInvocation *inv) {
  SHLStatus status = enter(S, budget, false, inv, NULL);
  if (status != SHL_OK) return status;
  SHLInner *in = shl_inner(inv);
  lua_State *L = inv->scope.L;
  uint64_t here = 0;
  for (int32_t i = 0; i < nargs; i++) {
    SHLTag tag = args[i].tag;
    if (tag >= SHL_TABLE && tag <= SHL_OTHER) {  // bound to another stack
      leave(inv, false, true);
      return SHL_BAD_ARGUMENT;
    }
    if (tag == SHL_CALL_HERE) here = begin_here(S, in, args[i].host);
  }
  if (nargs <= MOST_PUSHED) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, fn);
    if (push_all(L, S, args, nargs, here)) return call_pushed(S, L, nargs, results, max_results, inv);
    // The handles pushed so far are pushed again: only one of two equal ones may give back what it holds.
    for (int i = lua_gettop(L); i > 2; i--) {
      if (lua_type(L, i) != LUA_TUSERDATA) continue;
      lua_pushnil(L);
      lua_setmetatable(L, i);
    }
  }
  SHLValue target = shl_ref_value(fn);
  Pushing p = {S, &target, args, nargs};
  lua_settop(L, 1);
  lua_pushcfunction(L, push_and_call);
  lua_pushlightuserdata(L, &p);
  return call_pushed(S, L, 1, results, max_results, inv);
}

_Static_assert(SHL_MOST_PLACES < MOST_PUSHED, "the call token comes first");
SHL_HOT SHLStatus shl_invoke_places(SHLState *S, SHLRef fn, void *host, const SHLPlaces *from, SHLValue *result, int64_t lock_ns,
                            SHLInvocation *inv) {
  int32_t count = from->count;
  if (count > SHL_MOST_PLACES) {
    inv->open = 0;
    inv->error = NULL;
    return SHL_SLOW_PATH;
  }
  SHLStatus status = enter_within(S, NULL, lock_ns ? lock_ns : S->limits.lock_ns, false, inv, NULL);
  if (status != SHL_OK) return status;
  lua_State *L = inv->scope.L;
  lua_rawgeti(L, LUA_REGISTRYINDEX, fn);
  lua_pushlightuserdata(L, (void *)begin_here(S, shl_inner(inv), host));
  for (int32_t i = 0; i < count; i++) {
    if (shl_push_place(L, S, from->slots[i].kind, shl_place(from, i))) continue;
    leave(inv, false, false);
    return SHL_SLOW_PATH;
  }
  return call_pushed(S, L, count + 1, result, 1, inv);
}

SHLStatus shl_call(SHLScope *scope, SHLValue fn, const SHLValue *args, int32_t nargs, SHLValue *results,
                   int32_t max_results, int32_t *count, SHLError **error) {
  SHLState *S = scope->state;
  lua_State *L = scope->L;
  int32_t none;
  if (!count) count = &none;
  *count = 0;
  if (error) *error = NULL;
  if (S->run->kill) return S->run->kill;
  if (!lua_checkstack(L, 6)) return SHL_NO_MEMORY;
  int base = lua_gettop(L);
  // Stack-bound values must be copied by index from this very frame, so they are pushed here, not inside the pcall.
  Pushing p = {S, &fn, args, nargs};
  bool bound = fn.tag == SHL_FUNCTION || fn.tag == SHL_TABLE || fn.tag == SHL_OTHER;
  for (int32_t i = 0; i < nargs; i++) bound |= args[i].tag == SHL_TABLE || args[i].tag == SHL_FUNCTION || args[i].tag == SHL_OTHER;
  lua_pushcfunction(L, shl_message_handler);
  int outcome;
  if (!bound) {
    lua_pushcfunction(L, push_and_call);
    lua_pushlightuserdata(L, &p);
    outcome = lua_pcall(L, 1, LUA_MULTRET, base + 1);
  } else {
    if (!lua_checkstack(L, nargs + 6)) {
      lua_settop(L, base);
      return SHL_NO_MEMORY;
    }
    bool pushed = shl_push_plain(L, S, &fn);
    for (int32_t i = -1; i < nargs; i++) {
      const SHLValue *v = i < 0 ? &fn : &args[i];
      if (i < 0 && pushed) continue;
      if (shl_push_plain(L, S, v)) continue;
      Pushing one = {S, v, NULL, 0};
      if (shl_protect(L, push_body, &one, 0, 1) != LUA_OK) {
        lua_settop(L, base);
        return SHL_NO_MEMORY;
      }
    }
    outcome = lua_pcall(L, nargs, LUA_MULTRET, base + 1);
  }
  if (outcome != LUA_OK || S->run->kill) {
    SHLStatus status = shl_classify(S, S->run, outcome);
    SHLError *e = shl_error_make(S, L, status, lua_gettop(L) > base + 1 ? lua_gettop(L) : 0);
    lua_settop(L, base);
    if (error) *error = e;
    else shl_error_free(S, e);
    return status;
  }
  *count = lua_gettop(L) - base - 1;
  for (int32_t i = 0; i < *count && i < max_results; i++) shl_read_to(L, base + 2 + i, &results[i]);
  return SHL_OK;
}

// ---------------------------------------------------------------- loading

typedef struct { SHLState *S; const char *bytes; size_t length; const char *name; SHLRef ref; int status; } Compiling;

/// [-1, +0|1, e] Compiles; a reference in ref, or the message on top.
static int compile_body(lua_State *L) {
  Compiling *c = lua_touserdata(L, 1);
  lua_settop(L, 0);
  shl_make_globals(L, c->S, c->bytes, c->length);
  lua_pushfstring(L, "@%s", c->name);
  c->status = shl_load_text(L, c->bytes, c->length, lua_tostring(L, 1));
  if (c->status == LUA_OK) {
    c->ref = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
  }
  return 1;
}

/// Checks, compiles; with `run` also runs. The scope of `inv` is left when it answers.
static SHLStatus load(SHLState *S, const char *name, const char *bytes, size_t length, const SHLBudget *budget, bool run,
                      SHLRef *ref, SHLError **error) {
  SHLInvocation inv;
  SHLError *dummy;
  if (!error) error = &dummy;
  *error = NULL;
  *ref = 0;
  SHLStatus status = enter(S, budget, true, &inv, NULL);
  if (status != SHL_OK) goto done;
  char why[256], text[512];
  if (shl_check_source(S, &bytes, &length, why, sizeof why)) {
    snprintf(text, sizeof text, "%.200s%s%s", name, *why == ':' ? "" : ": ", why);
    inv.error = plain_error(status = SHL_REFUSED_SOURCE, text);
    if (inv.error) {
      snprintf(inv.error->source, sizeof inv.error->source, "%s", name);
      if (*why == ':') inv.error->line = (int32_t)strtol(why + 1, NULL, 10);
    }
    leave(&inv, false, false);
    goto done;
  }
  lua_State *L = inv.scope.L;
  Compiling c = {.S = S, .bytes = bytes, .length = length, .name = name};
  lua_pushcfunction(L, compile_body);
  lua_pushlightuserdata(L, &c);
  int outcome = lua_pcall(L, 1, LUA_MULTRET, 1);
  if (outcome == LUA_OK && c.status != LUA_OK) outcome = c.status == LUA_ERRMEM ? LUA_ERRMEM : LUA_ERRSYNTAX;
  if (outcome == LUA_OK && run) {
    lua_settop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, c.ref);
    luaL_unref(L, LUA_REGISTRYINDEX, c.ref);
    outcome = lua_pcall(L, 0, 0, 1);
  }
  if (outcome != LUA_OK || shl_inner(&inv)->run.kill) {
    status = failed_call(S, &inv, outcome);
    if (status == SHL_SYNTAX && inv.error && !inv.error->line) {  // no position in it: say at least where
      snprintf(text, sizeof text, "%.200s: %.300s", name, inv.error->message);
      snprintf(inv.error->message, sizeof inv.error->message, "%s", text);
    }
  } else {
    *ref = c.ref;
    leave(&inv, false, false);
  }
done:
  if (error != &dummy) *error = inv.error;
  else shl_error_free(S, inv.error);
  return status;
}

SHLStatus shl_compile(SHLState *S, const char *name, const char *bytes, size_t length, const SHLBudget *budget,
                      SHLRef *ref, SHLError **error) {
  return load(S, name, bytes, length, budget, false, ref, error);
}

SHLStatus shl_load(SHLState *S, const char *name, const char *bytes, size_t length, const SHLBudget *budget, SHLError **error) {
  SHLRef ref;
  return load(S, name, bytes, length, budget, true, &ref, error);
}
