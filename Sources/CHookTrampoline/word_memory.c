// The one file that writes words of the program's data: table entries that other threads read at any time.
//
// A word changes by one compare-and-exchange, so a reader sees the old or the new one, and a change that someone else
// makes at the same time is never lost. Pages that are read-only (RELRO) are made writable for that moment, and are never
// executable meanwhile; a write through /proc/self/mem promises no single step, so it serves only where mprotect is
// forbidden and no other thread can read.
#include <errno.h>
#include <sys/mman.h>

#include "code_memory.h"
#include "maps.h"
#include "rendezvous.h"
#include "word_memory.h"

#define PAGE 4096ul
/// What HKTSlot.protection holds besides PROT_*.
enum { SHARED = 1 << 16 };

bool hkt_words_look(HKTSlot *slots, size_t count, HKTRefusal *refusal) {
  for (size_t i = 0; i < count; i++) slots[i].protection = 0;
  HKTMaps maps;
  if (!hkt_maps_open(&maps)) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_WORD_NOT_WRITABLE, .error = errno});
  HKTMapping m;
  while (hkt_maps_next(&maps, &m))
    for (size_t i = 0; i < count; i++)
      if (slots[i].word >= m.start && slots[i].word < m.end) slots[i].protection = (uint32_t)m.protection | (m.is_private ? 0 : SHARED);
  hkt_maps_close(&maps);
  return true;
}

bool hkt_word_read(const HKTSlot *slot, uint64_t *value, HKTRefusal *refusal) {
  if (!(slot->protection & PROT_READ)) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_WORD, .address = slot->word});
  *value = __atomic_load_n((const uint64_t *)slot->word, __ATOMIC_ACQUIRE);
  return true;
}

static bool not_writable(const HKTSlot *slot, int error, HKTRefusal *refusal) {
  return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_WORD_NOT_WRITABLE, .error = error, .address = slot->word});
}

static bool changed_elsewhere(const HKTSlot *slot, uint64_t found, uint64_t expected, HKTRefusal *refusal) {
  return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_CHANGED_ELSEWHERE, .address = slot->word, .value = found, .expected = expected});
}

static bool exchange(const HKTSlot *slot, uint64_t from, uint64_t to, HKTRefusal *refusal) {
  uint64_t found = from;
  return __atomic_compare_exchange_n((uint64_t *)slot->word, &found, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
         changed_elsewhere(slot, found, from, refusal);
}

/// For a process that may not change protections: nobody else reads while this thread writes.
static bool write_alone(const HKTSlot *slot, uint64_t from, uint64_t to, int error, HKTRefusal *refusal) {
  if (hkt_thread_count() != 1) return not_writable(slot, error, refusal);
  uint64_t found;
  if (!hkt_word_read(slot, &found, refusal)) return false;
  if (found != from) return changed_elsewhere(slot, found, from, refusal);
  return (hkt_code_open(refusal) && hkt_code_write(slot->word, &to, sizeof to, refusal)) || not_writable(slot, error, refusal);
}

bool hkt_word_change(const HKTSlot *slot, uint64_t from, uint64_t to, HKTRefusal *refusal) {
  if (!(slot->protection & PROT_READ)) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_WORD, .address = slot->word});
  if (slot->protection & SHARED) return not_writable(slot, 0, refusal);
  if (slot->protection & PROT_WRITE) return exchange(slot, from, to, refusal);
  if (slot->protection & PROT_EXEC) return not_writable(slot, 0, refusal);
  void *page = (void *)(slot->word & ~(PAGE - 1));
  if (hkt_system.protect(page, PAGE, PROT_READ | PROT_WRITE) != 0) return write_alone(slot, from, to, errno, refusal);
  bool ok = exchange(slot, from, to, refusal);
  // A page that stays writable harms nobody who reads it.
  (void)hkt_system.protect(page, PAGE, PROT_READ);
  return ok;
}
