// Private to this target: calls that meet a temporary breakpoint.
#ifndef HKT_TRAP_H
#define HKT_TRAP_H

#include <ucontext.h>

#include "patch_record.h"

/// Makes our SIGTRAP handler the first one. It stays: a trap may reach its thread long after the breakpoint is gone.
bool hkt_trap_begin(HKTRefusal *refusal);

#endif
