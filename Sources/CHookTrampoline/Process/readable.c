// What of this process's memory can be read without asking the kernel each time: the loaded images.
//
// The ranges are kept sorted, and collected anew when an address is in none of them and images have come or gone since. Other memory
// (descriptors made at run time lie in the heap) is asked for with hkt_peek.
#define _GNU_SOURCE 1
#include "HKTPeek.h"

#include <link.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct Range { uint64_t low, high; bool is_code; } Range;
enum { MOST = 4096 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static Range *ranges;
static uint32_t count;
static unsigned long long collected_at = 0;

typedef struct Collecting { Range *ranges; uint32_t count; unsigned long long changes; } Collecting;

static int note_changes(struct dl_phdr_info *info, size_t size, void *changes) {
  (void)size;
  *(unsigned long long *)changes = info->dlpi_adds + info->dlpi_subs;
  return 1;
}

static int collect(struct dl_phdr_info *info, size_t size, void *opaque) {
  (void)size;
  Collecting *all = opaque;
  for (int i = 0; i < info->dlpi_phnum && all->count < MOST; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_R)) continue;
    uint64_t low = info->dlpi_addr + p->p_vaddr;
    // What the file does not have of the last page is there, too, but nothing is looked for in it.
    all->ranges[all->count++] = (Range){low, low + p->p_memsz, p->p_flags & PF_X};
  }
  return 0;
}

static int by_address(const void *a, const void *b) {
  uint64_t x = ((const Range *)a)->low, y = ((const Range *)b)->low;
  return x < y ? -1 : x > y;
}

/// The range that the address is in. With the lock.
static const Range *find(uint64_t address) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (ranges[middle].high <= address) low = middle + 1;
    else high = middle;
  }
  return low < count && ranges[low].low <= address ? &ranges[low] : NULL;
}

/// Collects again if images have changed; false if not.
static bool refresh(void) {
  unsigned long long changes = 0;
  dl_iterate_phdr(note_changes, &changes);
  if (changes == __atomic_load_n(&collected_at, __ATOMIC_ACQUIRE)) return false;
  Collecting all = {malloc(MOST * sizeof(Range)), 0, changes};
  if (!all.ranges) return false;
  dl_iterate_phdr(collect, &all);
  qsort(all.ranges, all.count, sizeof(Range), by_address);
  pthread_rwlock_wrlock(&lock);
  Range *old = ranges;
  ranges = all.ranges;
  count = all.count;
  __atomic_store_n(&collected_at, changes, __ATOMIC_RELEASE);
  pthread_rwlock_unlock(&lock);
  free(old);
  return true;
}

/// The range that holds the address, from a list that is made anew where it has none and images changed. Any thread.
static bool look_up(uint64_t address, Range *found) {
  for (int turn = 0; turn < 2; turn++) {
    pthread_rwlock_rdlock(&lock);
    const Range *range = find(address);
    if (range) *found = *range;
    pthread_rwlock_unlock(&lock);
    if (range) return true;
    if (turn || !refresh()) return false;
  }
  return false;
}

size_t hkt_readable_bytes(const void *pointer, size_t most) {
  uint64_t address = (uint64_t)pointer;
  Range range;
  if (most == 0) return 0;
  if (look_up(address, &range)) {
    uint64_t rest = range.high - address;
    return rest < most ? rest : most;
  }
  // Page by page, so that what is asked for may be more than there is.
  size_t known = 0;
  while (known < most) {
    uint8_t byte;
    uint64_t at = address + known;
    if (at < address || !hkt_peek(at, &byte, 1)) break;
    known += 4096 - at % 4096;
  }
  return known < most ? known : most;
}

bool hkt_is_readable(const void *pointer, size_t wanted) { return hkt_readable_bytes(pointer, wanted) == wanted; }

bool hkt_is_image_memory(const void *pointer) {
  Range range;
  return look_up((uint64_t)pointer, &range);
}

bool hkt_is_image_code(const void *pointer) {
  Range range;
  return look_up((uint64_t)pointer, &range) && range.is_code;
}
