// Private to this target.
#ifndef CCRASH_INTERNAL_H
#define CCRASH_INTERNAL_H

#include "CCrash.h"

#define CCRASH_HIDDEN __attribute__((visibility("hidden")))

/// Makes a page that nobody may touch; 0 or -1.
CCRASH_HIDDEN int ccrash_forbid(void *page, size_t size);
/// Once, before the first thread is armed.
CCRASH_HIDDEN void ccrash_stacks_prepare(void);

#endif
