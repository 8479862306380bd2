// Private to this target: the one writer of code.
#ifndef HKT_CODE_MEMORY_H
#define HKT_CODE_MEMORY_H

#include "patch_record.h"

/// Makes sure code can be written in this process, trying it on a page of ours the first time.
bool hkt_code_open(HKTRefusal *refusal);

/// Overwrites `count` bytes of code (or other private, readable memory). All or an error; hkt_code_open must have answered true.
bool hkt_code_write(uint64_t address, const void *bytes, size_t count, HKTRefusal *refusal);

/// The process this memory belongs to changed (fork): descriptors and shared stub space are the parent's.
bool hkt_is_forked_copy(void);

#endif
