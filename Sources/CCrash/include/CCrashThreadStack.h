// CCrashThreadStack — where another thread of this process is, without stopping it for longer than that takes.
//
// A thread that runs is asked by a signal and walks its own stack. One that sleeps in the kernel is not disturbed, because its
// system call would be interrupted: its stack is read from outside.
#ifndef CCRASH_THREAD_STACK_H
#define CCRASH_THREAD_STACK_H

#include <stdbool.h>
#include <stdint.h>

enum {
  CCRASH_STACK_RECORDS = 128,
  CCRASH_STACK_WORDS = 1024,
  CCRASH_LONGEST_FRAME = 4 << 20,  // bytes: the longest distance between two frames that is believed
};

/// What of a thread's stack was read. Nothing here is proven to be code: whoever names addresses checks them. A thread that runs has gone on
/// since, and what its stack holds now may be of other calls: only what is here belongs together.
typedef struct CCrashThreadStack {
  uint64_t counter;       // the program counter
  uint64_t stack;         // the stack pointer
  uint64_t frame;         // the frame pointer; 0 of a thread that sleeps
  uint32_t is_asleep;     // in the kernel
  uint32_t record_count;  // frame records, innermost first
  uint64_t record_at[CCRASH_STACK_RECORDS];
  uint64_t return_to[CCRASH_STACK_RECORDS];
  uint32_t word_count;    // words from the stack pointer upwards
  uint32_t system_call;   // of a thread that sleeps; UINT32_MAX where there is none
  uint64_t words[CCRASH_STACK_WORDS];
} CCrashThreadStack;

/// Whether threads that run can be asked: by SIGFPE, sent with a mark, as long as the handler of ccrash_install is the one in place.
bool ccrash_stacks_can_be_asked(void);

/// Reads the stack of a thread, the caller's excepted. False: it is gone, did not answer within 100 ms, or cannot be asked here. One
/// thread at a time may ask (callers hold a lock of their own). Not in signal handlers.
bool ccrash_thread_stack(int32_t thread, CCrashThreadStack *stack);

/// The system call in which the thread sleeps; -1 while it runs, or where that is not known.
int32_t ccrash_thread_system_call(int32_t thread);

#endif
