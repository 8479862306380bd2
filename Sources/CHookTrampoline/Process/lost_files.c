// Files of ours that are cut short while they are mapped.
//
// Reading or writing what a file does not have any more is a SIGBUS, in the middle of the program. Of mappings that are noted here the rest is
// replaced by empty memory: readers find zeros, writers write what nobody reads. The program goes on.
#define _GNU_SOURCE 1
#include "HKTPeek.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { MOST = 1024, PAGE = 4096 };
/// `high` is 0 while there is none, and 1 while it is written.
static struct { _Atomic(uint64_t) low, high; _Atomic(bool) is_written; } mappings[MOST];
static _Atomic(uint32_t) lost;

void hkt_note_mapping(const void *base, size_t size, bool is_written) {
  for (int i = 0; i < MOST; i++) {
    uint64_t none = 0;
    if (atomic_load_explicit(&mappings[i].high, memory_order_relaxed) || !atomic_compare_exchange_strong(&mappings[i].high, &none, 1)) continue;
    atomic_store(&mappings[i].low, (uint64_t)base);
    atomic_store(&mappings[i].is_written, is_written);
    atomic_store(&mappings[i].high, (uint64_t)base + size);
    return;
  }
}

void hkt_forget_mapping(const void *base) {
  for (int i = 0; i < MOST; i++)
    if (atomic_load_explicit(&mappings[i].high, memory_order_relaxed) > 1 && atomic_load(&mappings[i].low) == (uint64_t)base) {
      atomic_store(&mappings[i].low, 0);
      atomic_store(&mappings[i].high, 0);
      return;
    }
}

bool hkt_mend_mapping(uint64_t address) {
  for (int i = 0; i < MOST; i++) {
    uint64_t high = atomic_load(&mappings[i].high), low = atomic_load(&mappings[i].low);
    if (high <= 1 || address < low || address >= high) continue;
    uint64_t page = address & ~(uint64_t)(PAGE - 1);
    int protection = atomic_load(&mappings[i].is_written) ? PROT_READ | PROT_WRITE : PROT_READ;
    void *at = (void *)page;
    if (mmap(at, high - page, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != at) return false;
    atomic_fetch_add(&lost, 1);
    return true;
  }
  return false;
}

uint32_t hkt_mended_mappings(void) { return atomic_load(&lost); }
