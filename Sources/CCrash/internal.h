// Private to this target.
#ifndef CCRASH_INTERNAL_H
#define CCRASH_INTERNAL_H

#include "CCrash.h"

#include <signal.h>

#define CCRASH_HIDDEN __attribute__((visibility("hidden")))

/// Makes a page that nobody may touch; 0 or -1.
CCRASH_HIDDEN int ccrash_forbid(void *page, size_t size);
/// Once, before the first thread is armed.
CCRASH_HIDDEN void ccrash_stacks_prepare(void);
/// Answers another thread's question for the stack of this one; false when the signal is none. Async-signal-safe.
CCRASH_HIDDEN bool ccrash_answer(int signal, const siginfo_t *info, const void *context);
/// Whether the handler of ccrash_install is the signal's.
CCRASH_HIDDEN bool ccrash_owns(int signal);

/// The process's file; NULL: none, or a forked child.
extern CCrashFile *_Atomic ccrash_file;
/// The owner of a layer's context, 0 when nobody said.
uint32_t ccrash_owner_of(uint64_t context);

/// Reads memory that may be gone.
bool ccrash_read(uint64_t address, void *to, size_t count);
void ccrash_begin_lines(CCrashFile *file);
void ccrash_put_bytes(CCrashFile *file, const char *bytes, size_t length);
void ccrash_put(CCrashFile *file, const char *text);
void ccrash_put_number(CCrashFile *file, int64_t value);
void ccrash_put_hex(CCrashFile *file, uint64_t value);
void ccrash_put_unchecked_text(CCrashFile *file, uint64_t address, size_t most);

/// Puts the executable ranges of images into the report, and remembers all executable ones.
void ccrash_list_images(CCrashFile *file);
bool ccrash_is_code(uint64_t address);

/// One frame: where it goes on, the stack above it, and how it was found.
typedef struct CCrashFrame { uint64_t counter, stack; char how; } CCrashFrame;
/// The frames of the context's thread, the counter first; answers how many, at least 1.
int ccrash_walk(const void *context, CCrashFrame *frames, int room, bool may_unwind);
/// In a signal handler: leaves a walk of this thread that faulted. Answers false when there is none.
bool ccrash_leave_walk(void);
/// Asks all other threads for their stacks; those that do not answer in time have none.
void ccrash_ask_others(void (*visit)(int32_t thread, const CCrashFrame *frames, int count));

/// Why the fault was not contained; NULL: nothing to tell.
CCRASH_HIDDEN const char *ccrash_refusal(void);

void ccrash_report_prepare(void);
/// Writes the report; once at a time, and never waits for long.
void ccrash_report(int signal, const siginfo_t *info, const void *context, bool with_others);

#endif
