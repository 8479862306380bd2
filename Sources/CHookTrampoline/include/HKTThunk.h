// HKTThunk — what a merge thunk passes on, and who else goes to a merged body.
#ifndef HKT_THUNK_H
#define HKT_THUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Places a thunk can fill: first rdi rsi rdx rcx r8 r9, then the 8-byte stack slots above the target's return address, then the
/// low halves of xmm0-7.
#define HKT_THUNK_REGISTERS 6
#define HKT_THUNK_SLOTS 32
#define HKT_THUNK_FLOATS 8
#define HKT_THUNK_PLACES 46

/// A function that only fills places that its own arguments leave free, and goes on elsewhere: by a jump, or by a call after which
/// it returns what that returned.
typedef struct HKTThunk {
  uint64_t target;                    // where it goes
  uint64_t written;                   // bit i: place i does not hold what it held when the thunk was entered
  uint64_t known;                     // bit i: … but a constant
  uint64_t loaded;                    // bit i: … which lies in the 8 bytes at value[i]
  uint64_t halves;                    // bit i: … in the 4 bytes
  bool calls;                         // it goes on by a call, and returns
  uint64_t value[HKT_THUNK_PLACES];   // that constant, as an address of this code where it is one
} HKTThunk;

typedef enum HKTThunkKind : uint8_t {
  HKT_NO_THUNK,      // it does something else
  HKT_THUNK,
  HKT_UNREAD_THUNK,  // it may be one: all it is seen to do is to go to `target`, but some instruction is not understood
} HKTThunkKind;

/// Reads the function of `size` bytes at `code`, which runs at `address`.
HKTThunkKind hkt_read_thunk(const uint8_t *code, uint64_t size, uint64_t address, HKTThunk *thunk);

/// What names the address of a function, by the address of its opcode.
typedef struct HKTBranch {
  uint64_t from, to;
} HKTBranch;

/// Two bytes that begin with this read as a jump: often they are part of something else (hkt_has_instruction).
bool hkt_is_short_jump(uint8_t opcode);

/// Byte sequences in a code range that read as a direct call or jump to one of the (sorted) targets, or as `lea target(%rip), register`.
/// It may find more than there are, never fewer. Answers how many; stores the first `capacity`.
size_t hkt_find_uses(const uint8_t *code, uint64_t size, uint64_t address, const uint64_t *targets, size_t count, HKTBranch *found,
                     size_t capacity);

/// Whether an instruction of the function begins `offset` behind its start; true as well where its code cannot be read.
bool hkt_has_instruction(const uint8_t *code, uint64_t size, uint64_t offset);

/// A call that a function makes, or a jump by which it is left.
typedef struct HKTExit {
  uint64_t target;   // where it goes; 0 where that is in memory or a register
  bool is_jump;
} HKTExit;

/// The calls and leaving jumps of the function of `size` bytes at `code`, which runs at `address`, in order. Answers how
/// many; stores the first `capacity`. SIZE_MAX: it holds an instruction the decoder does not know.
size_t hkt_find_exits(const uint8_t *code, uint64_t size, uint64_t address, HKTExit *found, size_t capacity);

/// Whether the function has an instruction that returns, or jumps out of it; true as well where its code cannot be read.
bool hkt_may_return(const uint8_t *code, uint64_t size, uint64_t address);

/// A slot of a class's virtual table, and what else leads to what is in it.
typedef struct HKTVirtualSlot {
  int64_t offset;               // in bytes, from the start of the metadata; INT64_MIN: not known
  uint64_t bounds;              // or from what the word at this address says, which is known when the program runs; 0: from the start
  const uint64_t *dispatchers;  // functions that do nothing but to go on by the slot of the self they are called on
  size_t dispatcher_count;
  const uint64_t *reports;      // functions that sanitizers call where memory may not be read, and that do not return
  size_t report_count;
  bool is_static;               // self is the class itself
} HKTVirtualSlot;

/// Whether the function goes on by this slot of the very self it was entered with, or of the object at that address, before it calls
/// anything else that is not named by an address. True is certain: a function that calls the same method of another object does not.
bool hkt_goes_by_slot(const uint8_t *code, uint64_t size, uint64_t address, const HKTVirtualSlot *slot);

/// A direct jump by which a function is left.
typedef struct HKTExitJump {
  uint64_t target;
  bool rsi_is_zero, rdx_is_zero;  // certain along the straight line before it; false: not seen
} HKTExitJump;

/// The direct jumps by which the function of `size` bytes at `code`, which runs at `address`, is left. Answers how many; stores
/// the first `capacity`. Ends at what the decoder does not know.
size_t hkt_find_exit_jumps(const uint8_t *code, uint64_t size, uint64_t address, HKTExitJump *found, size_t capacity);

#endif
