// Copies of class metadata, and the one word that makes an object wear one.
//
// Layout (swift/ABI/Metadata.h, no Objective-C): the superclass at +8, the metadata's size in bytes at +32 and how many of
// them lie before the address point at +36: the destructor and the value witness table are among those. A copy has the
// original as its superclass, so that casts, which walk up from an object's class, find it; everything else is as it was:
// descriptor, destructor, field offsets, the words of all slots.
#include <errno.h>
#include <string.h>

#include "stub_space.h"
#include "transaction.h"

enum { SUPERCLASS = 8, SIZE = 32, ADDRESS_POINT = 36, FIRST_MEMBER = 56, BIGGEST = 1 << 20 };

static uint32_t word_at(const uint8_t *metadata, int offset) {
  uint32_t value;
  memcpy(&value, metadata + offset, sizeof value);
  return value;
}

void *hkt_copy_class(const void *class, HKTRefusal *refusal) {
  const uint8_t *metadata = class;
  uint32_t size = word_at(metadata, SIZE), before = word_at(metadata, ADDRESS_POINT);
  if (before % 8 || before < 16 || size < before + FIRST_MEMBER || size > BIGGEST) {
    hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_WORD, .address = (uint64_t)class});
    return NULL;
  }
  hkt_lock();
  uint8_t *copy = hkt_record_allocate(size);
  hkt_unlock();
  if (!copy) {
    hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_MEMORY, .error = errno, .address = (uint64_t)class});
    return NULL;
  }
  memcpy(copy, metadata - before, size);
  memcpy(copy + before + SUPERCLASS, &class, sizeof class);
  return copy + before;
}

void hkt_set_copied_word(void *copy, uint32_t index, uint64_t value) { __atomic_store_n((uint64_t *)copy + index, value, __ATOMIC_RELEASE); }

/// The program reads an object's class with plain loads; see word_memory.c for the thread sanitizer.
__attribute__((disable_sanitizer_instrumentation))
bool hkt_switch_class(void *object, const void *from, const void *to, HKTRefusal *refusal) {
  const void *found = from;
  // Nobody reads both classes of one object at once: each read finds a whole class.
  if (__atomic_compare_exchange_n((const void **)object, &found, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return true;
  return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_CHANGED_ELSEWHERE, .address = (uint64_t)object, .value = (uint64_t)found,
                                          .expected = (uint64_t)from});
}
