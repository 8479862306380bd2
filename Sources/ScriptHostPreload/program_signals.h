// The program's signal handlers: see program_signals.c.
#ifndef PROGRAM_SIGNALS_H
#define PROGRAM_SIGNALS_H

#include <stdint.h>

/// Called when one begins, on its thread. Async-signal-safe.
typedef void (*ProgramSignalBegins)(void);

/// Finds the functions of the C library, before any handler can run.
void program_signals_prepare(void);
/// From now on handlers are noted: the process is one that was meant.
void program_signals_begin(void);

#endif
