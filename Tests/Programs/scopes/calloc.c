// An allocator that has no memory for blocks of one size, when it is asked to. Loaded before `engine-cases --no-memory`.
#include <stddef.h>

extern void *__libc_calloc(size_t count, size_t size);

static size_t missing;

/// From here on there is no memory for such blocks; 0: there is for all.
void cases_without(size_t size) { missing = size; }

void *calloc(size_t count, size_t size) { return missing && count * size == missing ? NULL : __libc_calloc(count, size); }
