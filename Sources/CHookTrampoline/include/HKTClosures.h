// HKTClosures — closures that ScriptHost makes, and calls of the program's closures.
#ifndef HKT_CLOSURES_H
#define HKT_CLOSURES_H

#include "CHookTrampoline.h"

struct HKTThread;

/// The code of every closure made here. The context in r13 is an object of the Swift side. Not callable from C.
void hkt_closure_entry(void);
/// Its address, which importers see as data.
void *hkt_closure_entry_address(void);

/// Runs a closure made here: leaves the results in frame->results. `thread` is NULL when memory ran out.
/// frame->results.error and self_register hold r12 and r13 of the entry.
typedef void (*HKTClosureHandler)(HKTFrame *frame, void *context, struct HKTThread *thread);
/// Set once, before the first closure is made.
void hkt_set_closure_handler(HKTClosureHandler handler);

/// hkt_invoke for code of the program that ScriptHost calls: hooks fire inside.
void hkt_call_program(HKTFrame *frame, void *target, size_t stack_bytes);

#endif
