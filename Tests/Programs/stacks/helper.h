#pragma once
#include <stdint.h>
typedef int64_t (*Counted)(int64_t);
// Runs `body` once on each of `threads` threads with stacks of so many bytes; answers the sum.
int64_t on_threads(Counted body, int threads, long stack);
// Runs `body` in a handler of SIGUSR1, on an alternate stack of so many bytes (0: on the thread's own); `times` times. Answers what it answered last.
int64_t in_signal(Counted body, long stack, int times);
// Has SIGALRM call the bodies, one after the other, every so many microseconds; until it is called with 0.
void on_alarm(const Counted *bodies, int count, int microseconds);
// Leaves a handler of SIGUSR2 by a jump, `times` times, after it called `body`.
void out_of_signal(Counted body, int times);
int64_t alarms(void);
// Runs `body` on a thread that was cancelled already and ends at its next cancellation point; answers what it answered, negative where the thread did
// not come to its end: `body` has no such point.
int64_t cancelled(Counted body);
