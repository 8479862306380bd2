// CHookTrampoline — the processor-level half of the hook runtime.
//
// Owns: the register frame, the trampoline, code stubs, code-page writes, the
// rendezvous of threads. Leaves to Swift: what a function is, who hooks it, what
// its arguments mean.
//
// C symbols carry the prefix hkt_ (functions), HKT (types).
#ifndef C_HOOK_TRAMPOLINE_H
#define C_HOOK_TRAMPOLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: The register frame

/// Results of a call, as the callee left them (swiftcc: rax rdx rcx r8, xmm0-3, error in r12).
/// Keep in step with trampoline_x86_64.S.
typedef struct HKTResults {
  uint64_t integer[4];                            // +0   rax rdx rcx r8
  uint64_t error;                                 // +32  r12 after the call
  uint64_t self_register;                         // +40  r13 after the call
  uint8_t xmm[4][16] __attribute__((aligned(16)));  // +48  xmm0-3
} HKTResults;

/// Every register that can carry a value into a Swift or C function, as it was at entry.
/// Handlers may change any field up to `xmm`; the change is what the original sees.
/// Keep in step with trampoline_x86_64.S (the offsets are asserted in layouts.c).
typedef struct HKTFrame {
  uint64_t integer[6];      // +0   rdi rsi rdx rcx r8 r9
  uint64_t indirect_result; // +48  rax (swiftcc indirect result; al for C variadics)
  uint64_t self_register;   // +56  r13 (swiftself)
  uint64_t error_register;  // +64  r12 (swifterror)
  uint64_t async_context;   // +72  r14 (swiftasync)
  uint64_t r10;             // +80
  uint64_t *stack;          // +88  address of the first stack argument; stack[-1] is the return address
  uint8_t xmm[8][16] __attribute__((aligned(16)));  // +96 xmm0-7
  HKTResults results;       // +224 valid after hkt_invoke
  uint8_t x87[2][16];       // +336 st0 and st1 as the callee left them, taken by hkt_x87_take
  uint64_t x87_count;       // +368 how many of them hold results; meaningful for HKT_BODY_X87 bodies alone
} HKTFrame;

/// Where a word of a call lies: so many bytes from the start of its frame, or, with that bit, of its stack arguments.
enum { HKT_ON_STACK = 1 << 15 };
/// The first byte of what lies there. What a callee leaves is there after hkt_invoke.
static inline void *hkt_frame_at(HKTFrame *frame, uint16_t place) {
  if (__builtin_expect(place & HKT_ON_STACK, 0)) return (char *)frame->stack + (place & ~HKT_ON_STACK);
  return (char *)frame + place;
}

/// Where the frame keeps the address of its stack arguments, which changes when the call of an async function first waits.
static inline const void *hkt_stack_place(const HKTFrame *frame) { return &frame->stack; }

struct HKTSite;

/// What the trampoline does when the handler returns.
typedef enum HKTAction : int32_t {
  /// Reload every register from the frame and jump to the original; rsp is as at entry, so nothing of us stays on the stack.
  HKT_CONTINUE = 0,
  /// Return to the caller with frame->results.
  HKT_RETURN = 1,
} HKTAction;

/// Called on the caller's thread and stack for every call of an enabled site.
typedef HKTAction (*HKTHandler)(HKTFrame *frame, struct HKTSite *site);

/// One diverted body. Lives in ordinary memory for ever (sites are never freed: a thread may be about to enter one).
/// `entry` is read by the stub's indirect jump: swapping it is what enabling and disabling means.
typedef struct HKTSite {
  void *entry;          // +0   hkt_trampoline (hkt_async_entry), or `original` while disabled
  void *original;       // +8   the relocated prologue: call it to call the unhooked body
  HKTHandler handler;   // +16
  void *layers;         // +24  owned by HookRuntime/Dispatch
  void *owner;          // +32  owned by HookRuntime/Dispatch (the family record)
  uint64_t body;        // +40  address of the body's first byte
  uint32_t body_size;   // +48  bytes, as the symbol says
  uint32_t window;      // +52  bytes of the body that were moved (5...)
  uint64_t flags;       // +56  HKT_SITE_*
  uint64_t enabled_at;  // +64  when it was last enabled, by hkt_enabling_time
} HKTSite;

enum {
  /// The body is an async function's: entered through hkt_async_entry, not hkt_trampoline. Set before the site is enabled.
  HKT_SITE_ASYNC = 1,
  /// Calls come through a word of data (HKTSlots.h); no code was changed, and `body` is what they go on to.
  HKT_SITE_SLOT = 2,
};

/// Calls `target` with the registers of `frame` and a copy of `stack_bytes` bytes of its stack arguments
/// (a multiple of 8), and stores the results in frame->results. The argument fields of the frame stay as they were.
void hkt_invoke(HKTFrame *frame, void *target, size_t stack_bytes);

/// Moves the results on the x87 stack (Float80) into the frame, so that handlers find that stack empty, as compiled code
/// expects it; and puts them back. LLVM returns at most two values there.
void hkt_x87_take(HKTFrame *frame);
void hkt_x87_give(const HKTFrame *frame);

/// Where stubs of enabled sites jump, with r11 = HKTSite*. Not callable from C.
void hkt_trampoline(void);

#include "HKTCalls.h"
#include "HKTWaiting.h"
#include "HKTClosures.h"
#include "HKTProcess.h"
#include "HKTAccess.h"
#include "HKTContain.h"
#include "HKTRuntime.h"
#include "HKTHostThread.h"
#include "HKTChild.h"
#include "HKTPatching.h"
#include "HKTImages.h"
#include "HKTPeek.h"
#include "HKTSlots.h"
#include "HKTSynthesizedMethods.h"
#include "HKTFlow.h"
#include "HKTCallSites.h"
#include "HKTOwnership.h"
#include "HKTThunk.h"

#endif
