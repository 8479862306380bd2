// Arming: how the replacement of a function compiled `dynamic` reaches the function's own body.
//
// Such a function asks swift_getFunctionReplacement first, which answers what its variable holds, unless the thread is
// armed: swift_getOrigOfReplaceable arms it for the next question. So calls that a replacement forwards go through a stub
// that arms the thread and enters the function. Between the two no code of the program or of a handler runs.
#include <errno.h>
#include <string.h>

#include "stub_space.h"
#include "transaction.h"

/// What the stub leaves in r11. Never freed, like the stub.
typedef struct Arming {
  void *entry;     // +0  hkt_arm_and_enter: the stub jumps through it
  void *function;  // +8  what is entered: arming_x86_64.S jumps there
} Arming;
_Static_assert(offsetof(Arming, entry) == 0 && offsetof(Arming, function) == 8, "arming_x86_64.S");

// What the Swift runtime has, where it is: this target links nothing of Swift's.
extern void *swift_getOrigOfReplaceable(void **function) __attribute__((weak));
extern void *swift_getFunctionReplacement(void **function, void *current) __attribute__((weak));

void hkt_arm_and_enter(void);

/// From arming_x86_64.S, with every register saved.
__attribute__((visibility("hidden"))) void hkt_arm(Arming *arming) { swift_getOrigOfReplaceable(&arming->function); }

void hkt_disarm(void) {
  // Asked about a function whose variable differs, the runtime answers and takes the arming back.
  void *other = (void *)1;
  if (swift_getFunctionReplacement) swift_getFunctionReplacement(&other, NULL);
}

uint64_t hkt_arming_stub(uint64_t function, HKTRefusal *refusal) {
  static struct Known { Arming arming; uint64_t stub; struct Known *next; } *known;
  HKTRefusal unused;
  if (!refusal) refusal = &unused;
  *refusal = (HKTRefusal){0};
  if (!swift_getOrigOfReplaceable) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_WORD, .address = function}), 0;
  hkt_lock();
  struct Known *k = known;
  while (k && k->arming.function != (void *)function) k = k->next;
  HKTStubPlace place;
  if (!k && hkt_stub_place(function, false, &place, refusal)) {
    k = hkt_record_allocate(sizeof *k);
    if (!k) hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_MEMORY, .error = errno, .address = function});
    uint8_t stub[HKT_STUB_HEAD];
    if (k) {
      *k = (struct Known){.arming = {(void *)hkt_arm_and_enter, (void *)function}, .stub = place.address, .next = known};
      hkt_write_stub_head(stub, &k->arming);
      if (hkt_stub_commit(place, stub, sizeof stub, refusal)) known = k;
      else k = NULL;
    }
  }
  hkt_unlock();
  return k ? k->stub : 0;
}
