// HKTContain — calls whose traps do not end the program.
//
// Owns: the landing places of each thread, the judgement whether a fault may be contained, the way from the signal handler to the
// landing, and what the thread has to have as it was. Leaves to others: the signals themselves (CCrash asks `hkt_recover` first),
// what is answered instead of a result, and who is notified.
//
// The frames between the fault and the landing are left as they are: what they own is never released, what they were changing stays
// half changed. Locks, once-initialisers and tasks that they are in the middle of are reasons not to contain.
#ifndef HKT_CONTAIN_H
#define HKT_CONTAIN_H

#include "CHookTrampoline.h"

struct HKTCall;

enum { HKT_TRAP_FRAMES = 24, HKT_TRAP_MESSAGE = 512 };

/// A fault that was contained.
typedef struct HKTTrap {
  int32_t signal;                    // 0: none
  int32_t code;                      // si_code
  uint64_t address;                  // of a memory fault: what was accessed
  uint64_t counter;                  // the instruction
  uint32_t frame_count;
  uint32_t message_length;
  uint64_t frame[HKT_TRAP_FRAMES];   // return addresses, innermost first, up to the landing
  char message[HKT_TRAP_MESSAGE];    // what the Swift runtime said, without a NUL
} HKTTrap;

/// Finds what judging faults takes; more than once is once. Before the first contained call, not in signal handlers.
/// - depth_of_scripts: how many handlers of scripts are at work on the calling thread; async-signal-safe.
void hkt_contain_prepare(uint64_t (*depth_of_scripts)(void));

/// Runs `body`. True: it returned. False: it trapped, `trap` says how, and the thread's records are as they were before. Where nothing
/// can be contained (no memory, a runtime that is not known) the body runs as it would alone.
bool hkt_contain(void (*body)(void *context), void *context, HKTTrap *trap);
/// `hkt_invoke`, contained.
bool hkt_invoke_contained(HKTFrame *frame, void *target, size_t stack_bytes, HKTTrap *trap);
/// `hkt_call_program`, contained.
bool hkt_call_program_contained(HKTFrame *frame, void *target, size_t stack_bytes, HKTTrap *trap);
/// `hkt_call_proceed`, contained. Only during HKT_AROUND.
bool hkt_call_proceed_contained(struct HKTCall *call, HKTTrap *trap);

/// A contained call is running on this thread.
bool hkt_is_contained(void);
/// Goes to the innermost landing of this thread with a trap that was contained further in: its answer failed, or a handler was between.
/// Answers only when there is none.
void hkt_fall(const HKTTrap *trap);

/// For CCrash: contains the fault where that is possible. Runs in the signal handler.
bool hkt_recover(int signal, void *info, void *context);
/// Why the last fault of this thread inside a contained call was not; NULL: it was none.
const char *hkt_recover_refusal(void);

#endif
