// Private to this target.
#ifndef CCRASH_INTERNAL_H
#define CCRASH_INTERNAL_H

#include "CCrash.h"

#define CCRASH_HIDDEN __attribute__((visibility("hidden")))

/// Makes a page that nobody may touch; 0 or -1.
CCRASH_HIDDEN int ccrash_forbid(void *page, size_t size);
/// Once, before the first thread is armed.
CCRASH_HIDDEN void ccrash_stacks_prepare(void);
/// Answers another thread's question for the stack of this one; false when the signal is none. Async-signal-safe.
CCRASH_HIDDEN bool ccrash_answer(int signal, const siginfo_t *info, const void *context);
/// Whether the handler of ccrash_install is the signal's.
CCRASH_HIDDEN bool ccrash_owns(int signal);

#endif
