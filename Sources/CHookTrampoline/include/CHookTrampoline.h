// CHookTrampoline — the processor-level half of the hook runtime.
//
// Owns: the trampoline, code stubs, code-page writes, the rendezvous of threads; what
// the trampoline saves is CFrame's. Leaves to Swift: what a function is, who hooks it, what
// its arguments mean.
//
// C symbols carry the prefix hkt_ (functions), HKT (types).
#ifndef C_HOOK_TRAMPOLINE_H
#define C_HOOK_TRAMPOLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CFrame.h"

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
#include "HKTEntryMemory.h"
#include "HKTCallSites.h"
#include "HKTOwnership.h"
#include "HKTFrameRule.h"
#include "HKTCodeDigest.h"
#include "HKTThunk.h"

#endif
