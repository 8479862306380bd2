// HKTPeek — reading memory of this process that may not be there.
#ifndef HKT_PEEK_H
#define HKT_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Copies `count` bytes at `address`; false, where any of them cannot be read. Where the process may not ask the kernel
/// (process_vm_readv forbidden by a sandbox), the address is trusted. Keeps errno; safe in signal handlers.
bool hkt_peek(uint64_t address, void *to, size_t count);

#endif
