// The one file that writes words of the program's data: table entries that other threads read at any time.
//
// A word changes by one compare-and-exchange, so a reader sees the old or the new one, and a change that someone else
// makes at the same time is never lost. Pages that are read-only (RELRO) are made writable for that moment, and are never
// executable meanwhile; a write through /proc/self/mem promises no single step, so it serves only where mprotect is
// forbidden and no other thread can read.
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../Process/maps.h"
#include "../Process/threads.h"
#include "code_memory.h"
#include "rendezvous.h"
#include "word_memory.h"

#define PAGE 4096ul
/// What HKTSlot.protection holds besides PROT_*.
enum { SHARED = 1 << 16 };

// MARK: What may be done with a word

// Of glibc 2.35 and later. It takes no lock: the loader may be waiting for a thread that waits for ours.
extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

/// The word is data of an image that is loaded: the loader has mapped it privately, to be read. False where that is not certain.
static bool is_image_data(uint64_t word) {
  struct dl_find_object found, first;
  if (!_dl_find_object || _dl_find_object((void *)word, &found) != 0) return false;
  // The file's first byte, its header, is at the bias of all but programs at fixed addresses and what was linked in unusual ways.
  uint64_t bias = found.dlfo_link_map->l_addr;
  const char *image = (const char *)bias;
  if (_dl_find_object((void *)bias, &first) != 0 || first.dlfo_link_map != found.dlfo_link_map) return false;
  ElfW(Ehdr) header;
  memcpy(&header, image, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr))) return false;
  if (header.e_phoff + header.e_phnum * sizeof(ElfW(Phdr)) > PAGE) return false;
  for (uint32_t i = 0; i < header.e_phnum; i++) {
    ElfW(Phdr) part;
    memcpy(&part, image + header.e_phoff + i * sizeof part, sizeof part);
    if (part.p_type != PT_LOAD || word - (bias + part.p_vaddr) >= part.p_memsz) continue;
    return (part.p_flags & (PF_R | PF_X)) == PF_R;
  }
  return false;
}

/// Whether the page can be written to as it is: the kernel tries it, by adding nothing to the word in one step. An error code
/// where it does not say.
static int try_write(uint64_t word, bool *is_writable) {
  static uint32_t nobody_waits;
  long done = syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_OP_PRIVATE, 0, (void *)0, (void *)word,
                      FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_LT, 0));
  *is_writable = done >= 0;
  return done >= 0 || errno == EFAULT ? 0 : errno;
}

/// What may be done with the word, without reading the list of all mappings; false where that has to be read.
static bool look_quickly(HKTSlot *slot) {
  bool is_writable;
  if (!is_image_data(slot->word) || try_write(slot->word, &is_writable) != 0) return false;
  slot->protection = PROT_READ | (is_writable ? PROT_WRITE : 0);
  return true;
}

bool hkt_words_look(HKTSlot *slots, size_t count, HKTRefusal *refusal) {
  bool all = true;
  for (size_t i = 0; i < count; i++) {
    slots[i].protection = 0;
    all &= look_quickly(&slots[i]);
  }
  if (all) return true;
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

/// Refuses because the word's page cannot be written; false, for the caller to return.

/// - error: of the kernel.
static bool not_writable(const HKTSlot *slot, int error, HKTRefusal *refusal) {
  return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_WORD_NOT_WRITABLE, .error = error, .address = slot->word});
}

/// Refuses because the word holds something else than `expected`; false, for the caller to return.
static bool changed_elsewhere(const HKTSlot *slot, uint64_t found, uint64_t expected, HKTRefusal *refusal) {
  return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_CHANGED_ELSEWHERE, .address = slot->word, .value = found, .expected = expected});
}

/// The program reads its tables with plain loads: the thread sanitizer cannot know that each is one load of a whole word.
__attribute__((disable_sanitizer_instrumentation))
/// Puts `to` in the place of `from`, at once for all threads. false: something else is there, which stays.
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
