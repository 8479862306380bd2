// HKTPeek — reading memory of this process that may not be there.
#ifndef HKT_PEEK_H
#define HKT_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Copies `count` bytes at `address`; false, where any of them cannot be read. Where the process may not ask the kernel
/// (process_vm_readv forbidden by a sandbox), the address is trusted. Keeps errno; safe in signal handlers.
bool hkt_peek(uint64_t address, void *to, size_t count);

/// How many bytes can be read from there on, `most` at most. Quick for what images have brought; may wait for the loader.
size_t hkt_readable_bytes(const void *pointer, size_t most);
bool hkt_is_readable(const void *pointer, size_t wanted);
/// The address lies in what an image has brought.
bool hkt_is_image_memory(const void *pointer);
/// The address lies in an image's code.
bool hkt_is_image_code(const void *pointer);

/// Notes a file of ours that is mapped, so that the process survives its being cut short.
void hkt_note_mapping(const void *base, size_t size, bool is_written);
/// Forgets a mapping that is about to be unmapped.
void hkt_forget_mapping(const void *base);
/// There was a SIGBUS at the address: true, where it is in a noted mapping, of which the rest is empty memory from now on. Async-signal-safe.
bool hkt_mend_mapping(uint64_t address);
/// How often that was done.
uint32_t hkt_mended_mappings(void);

#endif
