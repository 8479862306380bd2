// Looks at the stack it is called on.
#ifndef MARKS_H
#define MARKS_H
#include <stdint.h>
/// Prints the frames of the program and of this library, innermost first, as glibc's unwinder finds them.
int64_t mark(int64_t value);
/// Prints them as `mark` does; called through a pointer that an import slot gave before: no hook sees it.
int64_t mark_plainly(int64_t value);
/// Dies of a bad access.
int64_t crash(int64_t value);
/// From now on a signal interrupts whatever the process works at, a thousand times a second, and notes its stack.
void profile_begin(void);
/// How many stacks were noted so far.
int profile_count(void);
/// How many stacks were noted, and how many of them lead to a function with `name` in its own.
void profile_end(const char *name);
#endif
