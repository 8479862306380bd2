// HKTEntryMemory — which bytes of a variable, passed by its address, a function reads as its caller left them.
//
// A caller compiled together with the function leaves out stores of what the function does not read: neither Swift's
// optimiser nor LLVM's keeps them (dead store elimination with the callee's effects; LLVM's `writeonly` and `initializes`).
// So a byte is certainly there at the entry only where code reads it, or where the address goes to code that is not known.
#ifndef HKT_ENTRY_MEMORY_H
#define HKT_ENTRY_MEMORY_H

#include "HKTFlow.h"

enum { HKT_ENTRY_BYTES = 256 };

/// Bytes from the variable's start, as bits; those behind HKT_ENTRY_BYTES are not followed.
typedef struct HKTEntryMemory {
  uint64_t read[HKT_ENTRY_BYTES / 64];     // read on some path, before they are certainly written
  uint64_t written[HKT_ENTRY_BYTES / 64];  // written on every path that returns
  bool is_written;     // some instruction may write there: the variable is the caller's, and not borrowed for reading alone
  bool is_given_away;  // the address, or part of it, goes to code or memory that is not followed; or the code is not understood
} HKTEntryMemory;

typedef struct HKTMemoryHost {
  void *context;
  /// What the function at `target` does with a variable whose address is in that general register; false when unknown.
  bool (*callee)(void *context, uint64_t target, int reg, HKTEntryMemory *found);
} HKTMemoryHost;

/// What the function does with the variable whose address the general register of that number holds at its entry.
/// Code without optimisation keeps a copy of the address for a debugger, which nothing loads: it counts as given away, for
/// nobody leaves out stores there. Any thread; reads the code only.
void hkt_read_entry_memory(const HKTCode *code, int reg, const HKTMemoryHost *host, HKTEntryMemory *found);

#endif
