// The probe: what this process permits, tried on our own memory.
#include <string.h>
#include <sys/prctl.h>

#include "code_memory.h"
#include "relocate.h"
#include "rendezvous.h"
#include "stub_space.h"
#include "transaction.h"

#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif

void hkt_probe(HKTProbe *probe) {
  *probe = (HKTProbe){0};
  HKTStubPlace place;
  int signal;
  hkt_lock();
  hkt_code_open(&probe->code_write);
  hkt_stub_place((uint64_t)(uintptr_t)hkt_trampoline, false, &place, &probe->stub_space);
  probe->stubs_in_memfd = hkt_stub_space_is_shared();
  hkt_live_probe(&signal, &probe->live);
  hkt_unlock();
  probe->rendezvous_signal = signal;
  probe->deny_write_execute = prctl(PR_GET_MDWE, 0, 0, 0, 0) > 0;
  probe->shadow_stack = hkt_shadow_stack();
}
