// The allocator of a state: accounting, a soft limit, refusals.
//
// Lua 5.4.4 can be led into a use after free when an allocation inside a table resize fails. So the limit never
// answers NULL while less than four times the limit is in use: it marks the state, and the next hook collects
// and, if that did not help, kills. NULL comes for what no limit can mend: a hash part so large that colliding
// keys would make one rehash take minutes, a string longer than strings may be, and the hard limit.
#include "../shl_internal.h"

/// Is this a hash part larger than the largest allowed? Sizes are HASH_NODE << k, and only such vectors have them
/// exactly (new objects other than vectors say so in `osize`).
static bool refused_hash(void *ptr, size_t osize, size_t nsize) {
  if (ptr || osize || nsize <= (size_t)HASH_NODE << HASH_LOG_MAX || nsize % HASH_NODE) return false;
  size_t nodes = nsize / HASH_NODE;
  return (nodes & (nodes - 1)) == 0;
}

/// What hooks should count to while such blocks live.
static int32_t hook_count(const SHLState *S) {
  return S->huge_blocks ? HOOK_COUNT_HUGE : S->large_blocks ? HOOK_COUNT_LARGE : HOOK_COUNT;
}

/// Keeps count of large blocks when one of `osize` bytes becomes one of `nsize` (0: none): the more there are, the finer the hook looks.
static void count_large(SHLState *S, size_t osize, size_t nsize) {
  S->large_blocks += (nsize >= LARGE) - (osize >= LARGE);
  S->huge_blocks += (nsize >= HUGE_BLOCK) - (osize >= HUGE_BLOCK);
  int32_t count = hook_count(S), before = S->hook_count;
  S->hook_count = count;
  // Finer at once, coarser when the hook next runs. Setting a hook changes no memory of Lua's.
  if (count < before && S->run && S->run->current) lua_sethook(S->run->current, shl_hook, LUA_MASKCOUNT, count);
}

/// Notes that the state has more memory than its limit; the next instruction looks at it.
static SHL_NOINLINE void passed_limit(SHLState *S) {
  S->over = true;
  if (S->run && S->run->current) lua_sethook(S->run->current, shl_hook, LUA_MASKCOUNT, 1);
}

/// Should this growth fail: for a test, for a refusal, at the hard limit? Marks the state at the soft one.
static inline bool must_fail(SHLState *S, void *ptr, size_t osize, size_t nsize, size_t now) {
  bool unfailing = S->unfailing && !ptr && nsize <= RESERVE_BYTES;
  int64_t fail = SHL_READ(S->fail_at);
  if (SHL_UNLIKELY(fail > 0)) {
    if (fail > 1 || !unfailing) SHL_WRITE(S->fail_at, fail - 1);
    if (fail == 1 && !unfailing) {
      S->refused = false;
      return true;
    }
  }
  if (SHL_UNLIKELY(nsize > LARGE)) {
    S->refused_string = !ptr && osize == LUA_TSTRING && nsize > S->limits.string_bytes + 64;
    S->refused = S->refused_string || refused_hash(ptr, osize, nsize);
    if (S->refused) return true;
  }
  if (SHL_UNLIKELY(now + SHL_READ(S->outside) > S->limits.memory)) {
    if (now > 4 * S->limits.memory + (1 << 20) && !unfailing) {
      S->hit_hard = true;
      S->refused = false;
      return true;
    }
    if (!S->over) passed_limit(S);
  }
  return false;
}

void *shl_allocate(void *ud, void *ptr, size_t osize, size_t nsize) {
  SHLState *S = ud;
  size_t old = ptr ? osize : 0;  // without a block, osize is the kind of the new object
  size_t used = SHL_READ(S->used);
  if (nsize == 0) {
    if (SHL_UNLIKELY(old >= LARGE)) count_large(S, old, 0);
    SHL_WRITE(S->used, used - old);
    free(ptr);
    return NULL;
  }
  size_t now = used - old + nsize;
  if (nsize > old) {
    SHL_WRITE(S->allocations, SHL_READ(S->allocations) + 1);
    if (must_fail(S, ptr, osize, nsize, now)) return NULL;
    if (now > SHL_READ(S->peak)) SHL_WRITE(S->peak, now);
  }
  void *block = ptr ? realloc(ptr, nsize) : malloc(nsize);
  if (SHL_UNLIKELY(!block)) {
    if (nsize <= old) return ptr;  // Lua counts on shrinking never failing
    if (!S->unfailing || ptr || nsize > RESERVE_BYTES || !S->reserve_count) return NULL;
    block = S->reserve[--S->reserve_count];
  }
  if (SHL_UNLIKELY((old | nsize) >= LARGE)) count_large(S, old, nsize);
  if (SHL_UNLIKELY(!S->first_block)) {
    S->first_block = block;
    S->first_size = nsize;
  }
  SHL_WRITE(S->used, now);
  return block;
}

void shl_outside(SHLState *S, int64_t bytes) {
  atomic_fetch_add_explicit(&S->outside, (size_t)bytes, memory_order_relaxed);
  // Without the lock somebody else may be inside: what runs next looks.
  if (bytes > 0 && SHL_READ(S->used) + SHL_READ(S->outside) > S->limits.memory && shl_lock_is_mine(&S->lock) && !S->over) passed_limit(S);
}

/// [-0, +0, -] Blocks put aside so that the next few small objects can be made without a protected call.
bool shl_reserve(SHLState *S) {
  while (S->reserve_count < RESERVE_BLOCKS) {
    void *block = malloc(RESERVE_BYTES);
    if (!block) return false;
    S->reserve[S->reserve_count++] = block;
  }
  return true;
}
