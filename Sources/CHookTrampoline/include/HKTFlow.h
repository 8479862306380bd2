// HKTFlow — which values a body certainly takes at its entry, and which results a caller certainly uses.
//
// Everything answered is a proof, never a guess: a bit is set when an instruction that can only exist for the value
// reads its register or stack slot while, on every path to it, that still holds what it held at the entry (or after
// the call). A clear bit says nothing.
#ifndef HKT_FLOW_H
#define HKT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "HKTThunk.h"

/// Places as bits: 0-15 the general registers by their number in the instruction set (0 rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp, 5 rbp,
/// 6 rsi, 7 rdi, 8-15 r8-r15), 16-31 xmm0-15, 32-63 the 8-byte stack slots above the return address, from the code's first slot on.
typedef uint64_t HKTPlaces;

#define HKT_GPR(n) (UINT64_C(1) << (n))
#define HKT_XMM(n) (UINT64_C(1) << (16 + (n)))
#define HKT_STACK_SLOT(n) (UINT64_C(1) << (32 + (n)))

/// The code of one function.
typedef struct HKTCode {
  const uint8_t *bytes;
  uint64_t size;
  uint64_t address;     // where `bytes` run
  uint32_t first_slot;  // the stack slot of bit 32: 0, or what else is asked about
} HKTCode;

/// What the reader asks while it reads. Either function may be null.
typedef struct HKTFlowHost {
  void *context;
  /// Places the function at `target` certainly takes; 0 when unknown.
  HKTPlaces (*taken)(void *context, uint64_t target);
  /// `size` constant bytes at an address (tables of jumps); null when there are none.
  const void *(*data)(void *context, uint64_t address, uint64_t size);
  /// Registers the function at `target` may take, all others it certainly does not; null: all.
  HKTPlaces (*possible)(void *context, uint64_t target);
  /// The function at `target` does nothing with a value but end it, or leaves the part of an async function that calls it.
  bool (*only_ends)(void *context, uint64_t target);
} HKTFlowHost;

typedef struct HKTFlow {
  HKTPlaces reads;      // certainly taken from where the value came
  HKTPlaces returned;   // still there at a return or a jump out of the function
  bool is_whole;        // every path was followed; else `reads` is empty
  bool saves_r12;       // the function saves the error register: it is not its own way to report an error
  bool uses_r12;        // names it otherwise
  bool tests_error;     // (after a call) the error register was cleared before the call and tested after it
  int32_t rsp;          // (after a call) the stack pointer at the call, from its value at entry; HKT_NO_OFFSET: not known
  bool is_direct;       // (after a call) that names its callee
  bool may_use;         // (after a call, possible) what comes then may look at objects: not all it does is to end some and to leave
} HKTFlow;

enum { HKT_NO_OFFSET = INT32_MIN };

/// What the function takes at its entry. Stops as soon as all of `wanted` is known to be taken: most functions put their
/// arguments away in the first few instructions. Ask for HKT_GPR(12) to have r12 looked at in the whole function.
bool hkt_read_flow(const HKTCode *code, HKTPlaces wanted, const HKTFlowHost *host, HKTFlow *flow);

/// Places whose value at entry the function may take: a clear bit is the proof here. Answers all when it is not understood.
HKTPlaces hkt_read_possible(const HKTCode *code, const HKTFlowHost *host);

/// What the function takes of the results (rax rdx rcx r8, xmm0-3) of its own direct call, or jump, at `call`. False when there
/// is no such instruction there.
bool hkt_read_results(const HKTCode *code, uint64_t call, const HKTFlowHost *host, HKTFlow *flow);

/// What the function does with the results and the error register after the call, direct or not, that returns to the address
/// `returns_to`. `returned` are those it may leave there for its own caller. False when no call returns there.
/// @param is_possible `reads` and `returned` are what it may do on some path: a clear bit is the proof then. As elsewhere a
/// set bit is the proof without it, but for the error register, which need not have been cleared before.
bool hkt_read_after_call(const HKTCode *code, uint64_t returns_to, const HKTFlowHost *host, bool is_possible, HKTFlow *flow);

/// What a function does with a variable in its frame after a call. 0: nothing at all.
typedef enum HKTVariableUse : uint32_t {
  HKT_VARIABLE_IS_LOADED = 1,   // an instruction reads it
  HKT_VARIABLE_MAY_BE_USED = 2,  // its address, or that of what lies below it, may be given away; or the code is not understood
} HKTVariableUse;

/// Both bits may be set.
/// @param variable where it begins, in bytes above the stack pointer at the call that returns to `returns_to`
HKTVariableUse hkt_variable_use(const HKTCode *code, uint64_t returns_to, const HKTFlowHost *host, int64_t variable, uint32_t size);

/// Registers that the function certainly writes for its own direct call, or jump, at `call` and for nothing else, r13 too; none
/// where the function is not understood. False when there is certainly no such instruction there.
bool hkt_read_call_site(const HKTCode *code, uint64_t call, const HKTFlowHost *host, HKTPlaces *written);

/// What is asked about functions that are called.
typedef struct HKTLoopHost {
  void *context;
  /// The function at `target` does no more than to give what it always gives.
  bool (*gives_same)(void *context, uint64_t target);
} HKTLoopHost;

/// The function has a loop that LLVM may have made of calls of itself with which it ended. False where its code shows that it has none, where
/// it is not understood, and where it has more than 128 KiB.
bool hkt_may_loop_for_calls(const HKTCode *code, const HKTLoopHost *host);
/// A loop of the code makes contexts for calls of the async function whose record is at that address: with its own, LLVM made the loop of calls
/// with which it awaits itself before anything else.
bool hkt_awaits_itself_in_loop(const HKTCode *code, uint64_t record);

#endif
