// spare_stack.h — see spare_stack.c.
#ifndef SPARE_STACK_H
#define SPARE_STACK_H

#include <stdbool.h>

#include "HKTCalls.h"

/// Runs `body` on this thread's stack where that has room for work of ours, such as planning a call; else on one of its own.
__attribute__((visibility("hidden"))) void hkt_with_room(const HKTThread *t, void (*body)(void *), void *context);

/// Calls `body` with the stack pointer at `top`, which is aligned to 16 bytes, and comes back to the caller's stack.
__attribute__((visibility("hidden"))) void hkt_run_on_stack(void (*body)(void *), void *context, void *top);

#endif
