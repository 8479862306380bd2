// Threads of the program: see program_threads.c.
#ifndef PROGRAM_THREADS_H
#define PROGRAM_THREADS_H

/// Called on each new thread before its function.
typedef void (*ProgramThreadBegins)(void);

/// Finds the function of the C library.
void program_threads_prepare(void);

#endif
