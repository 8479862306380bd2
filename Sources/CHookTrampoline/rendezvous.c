#include "rendezvous.h"
#include <errno.h>
int hkt_thread_count(void) { return 1; }
bool hkt_live_begin(bool s, HKTRefusal *refusal) { (void)s; return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_MEMBARRIER, .error = ENOSYS}); }
bool hkt_sync_processors(HKTRefusal *refusal) { return hkt_live_begin(0, refusal); }
bool hkt_leave_windows(HKTPatch *const *patches, size_t count, HKTTransactionReport *report, HKTRefusal *refusal) { (void)patches; (void)count; (void)report; return hkt_live_begin(0, refusal); }
uint32_t hkt_trap_count(void) { return 0; }
void hkt_set_rendezvous_timeout(uint32_t ms) { (void)ms; }
void hkt_probe(HKTProbe *p) { (void)p; }
