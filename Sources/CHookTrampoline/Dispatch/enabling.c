// Where the stub of a site leads: to the trampoline, or past it.
#include "CHookTrampoline.h"

#include <stdatomic.h>

#include "HKTAsync.h"

static _Atomic(uint64_t) enabling_time;
uint64_t hkt_enabling_time(void) { return atomic_load_explicit(&enabling_time, memory_order_acquire); }

void hkt_enable(struct HKTSite *site) {
  void *entry = site->flags & HKT_SITE_ASYNC ? (void *)hkt_async_entry : (void *)hkt_trampoline;
  if (!hkt_is_enabled(site)) __atomic_store_n(&site->enabled_at, atomic_fetch_add(&enabling_time, 1) + 1, __ATOMIC_RELEASE);
  __atomic_store_n(&site->entry, entry, __ATOMIC_RELEASE);
}
void hkt_disable(struct HKTSite *site) { __atomic_store_n(&site->entry, site->original, __ATOMIC_RELEASE); }
bool hkt_is_enabled(const struct HKTSite *site) {
  return __atomic_load_n(&site->entry, __ATOMIC_ACQUIRE) != site->original;
}
