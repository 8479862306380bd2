// Private to this target: changing code while other threads run it.
#ifndef HKT_RENDEZVOUS_H
#define HKT_RENDEZVOUS_H

#include "patch_record.h"

/// Makes sure that breakpoints are safe to write: processors can be synchronised, traps are handled, no thread blocks them.
/// `signals` also readies the rendezvous signal.
bool hkt_live_begin(bool signals, HKTRefusal *refusal);

/// When it returns, every thread of the process executes the code that was written before.
bool hkt_sync_processors(HKTRefusal *refusal);

/// Waits until no thread's program counter is inside a window of `patches` (sorted by address), moving those that are.
/// Their first bytes must be breakpoints, and the processors in step.
bool hkt_leave_windows(HKTPatch *const *patches, size_t count, HKTTransactionReport *report, HKTRefusal *refusal);

/// Whether a handler still reads the patches of the last rendezvous: their list must then not be unmapped.
bool hkt_windows_in_use(void);

/// Whether live changes are possible; installs nothing. `signal`: the one in use, 0 before the first change.
bool hkt_live_probe(int *signal, HKTRefusal *refusal);

/// Calls that met a temporary breakpoint, since the start of the process.
uint32_t hkt_trap_count(void);

#endif
