// The program's signal handlers: see program_signals.c.
#ifndef PROGRAM_SIGNALS_H
#define PROGRAM_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/// Called when one begins, on its thread. Async-signal-safe.
typedef void (*ProgramSignalBegins)(void);
/// The action in the place of the default one, or of ignoring the signal; NULL: none. Async-signal-safe.
typedef const struct sigaction *(*ProgramSignalStandIn)(int signal, bool is_ignored);

/// What becomes of a signal: `scripthost_blocked_signal` answers one of these. Keep in step with CCrash's CCrashBlocked.
enum {
  PROGRAM_SIGNAL_COMES = 0,
  /// It was sent, and waits until the program unblocks it.
  PROGRAM_SIGNAL_WAITS = 1,
  /// A fault that the program has blocked: the kernel would end it.
  PROGRAM_SIGNAL_ENDS = 2,
};

/// Finds the functions of the C library, before any handler can run.
void program_signals_prepare(void);
/// From now on handlers are noted: the process is one that was meant.
void program_signals_begin(void);
/// The signals of faults that this thread has blocked, as the program sees it.
uint64_t program_signals_blocked(void);
/// A thread begins that runs the function: it has blocked what the one that made it had.
void program_signals_inherit(uint64_t signals, void *function);

#endif
