// The stub through which calls that a replacement forwards enter the function's own body (Dispatch/arming.c).
#include <errno.h>
#include <string.h>

#include "../Dispatch/arming.h"
#include "stub_space.h"
#include "transaction.h"

uint64_t hkt_arming_stub(uint64_t function, HKTRefusal *refusal) {
  static struct Known { HKTArming arming; uint64_t stub; struct Known *next; } *known;
  HKTRefusal unused;
  if (!refusal) refusal = &unused;
  *refusal = (HKTRefusal){0};
  if (!hkt_can_arm()) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_WORD, .address = function}), 0;
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
