// Signals that would end the process without a word: SIGINT, SIGTERM and SIGHUP, held until what is left to say was said.
#ifndef CCRASH_ENDINGS_H
#define CCRASH_ENDINGS_H

#include <stdbool.h>
#include <stdint.h>

/// Before the other functions are called.
void ccrash_prepare_endings(void);

/// Catches those of the three whose action is the default one: the thread that gets it waits for ccrash_end_by, at most half a second
/// (the code that it came into may hold locks that others need to end well) and goes on then. Actions that the program sets later
/// replace this one. Forked children end at once. Once per process; a thread must be waiting or come to wait for it.
void ccrash_hold_endings(void);

/// Waits for such a signal. Answers its number, or 0 when so many nanoseconds have passed; UINT64_MAX: no limit. One thread.
int ccrash_await_ending(uint64_t nanoseconds);

/// Ends the process by the signal that came, with the status it would have had.
void ccrash_end_by(int signal);

#endif
