// Private to this target: signal frames on the stack of the calling thread.
#ifndef HKT_SIGNAL_FRAMES_H
#define HKT_SIGNAL_FRAMES_H

#include <ucontext.h>

#include "patch_record.h"

/// Calls `visit` with the context of every interrupted signal handler below which `context` runs.
/// It may be called only inside a signal handler, with the handler's own context.
void hkt_each_outer_context(ucontext_t *context, void (*visit)(ucontext_t *outer));

#endif
