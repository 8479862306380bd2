// CFrame — the registers of a call as the trampoline saves them, and where in them a value lies: one layout, with one reader.
//
// For CHookTrampoline, which fills frames, and CLuaShim, which reads arguments straight from them; Swift has both types by names of its own
// (FramePlace, ValueSlot). There is nothing here but layouts and what is inlined. The prefix is that of CHookTrampoline, whose frame it is.
#ifndef C_FRAME_H
#define C_FRAME_H

#include <stddef.h>
#include <stdint.h>

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
/// Keep in step with trampoline_x86_64.S (Dispatch/layouts.c of CHookTrampoline asserts the offsets).
typedef struct HKTFrame {
  uint64_t integer[6];      // +0   rdi rsi rdx rcx r8 r9
  uint64_t indirect_result; // +48  rax (swiftcc indirect result; al for C variadics)
  uint64_t self_register;   // +56  r13 (swiftself)
  uint64_t error_register;  // +64  r12 (swifterror)
  uint64_t async_context;   // +72  r14 (swiftasync)
  uint64_t r10;             // +80
  uint64_t *_Null_unspecified stack;  // +88  address of the first stack argument; stack[-1] is the return address
  uint8_t xmm[8][16] __attribute__((aligned(16)));  // +96 xmm0-7
  HKTResults results;       // +224 valid after hkt_invoke
  uint8_t x87[2][16];       // +336 st0 and st1 as the callee left them, taken by hkt_x87_take
  uint64_t x87_count;       // +368 how many of them hold results; meaningful for HKT_BODY_X87 bodies alone
} HKTFrame;

/// Where a word of a call lies.
///
///   bits 0 to 14   bytes from the start of the frame, or,
///   bit 15         where it is set (HKT_ON_STACK), of the stack arguments
typedef struct HKTFramePlace {
  uint16_t bits;
} HKTFramePlace;
enum { HKT_ON_STACK = 1 << 15 };

/// The first byte of what lies there. What a callee leaves is there after hkt_invoke.
/// - frame: never NULL; not marked so, since Swift would look at each call.
__attribute__((swift_name("HKTFramePlace.address(in:self:)")))
static inline void *_Nonnull hkt_frame_at(HKTFrame *_Null_unspecified frame, HKTFramePlace place) {
  if (__builtin_expect(place.bits & HKT_ON_STACK, 0)) return (char *)frame->stack + (place.bits & ~HKT_ON_STACK);
  return (char *)frame + place.bits;
}

/// What the value in a slot is.
typedef enum __attribute__((enum_extensibility(closed))) HKTValueKind : uint8_t {
  HKT_VALUE_NONE __attribute__((swift_name("none"))),      ///< not to be read by slot
  HKT_VALUE_VOID __attribute__((swift_name("void"))),
  HKT_VALUE_BOOL __attribute__((swift_name("bool"))),
  HKT_VALUE_INT8 __attribute__((swift_name("int8"))),
  HKT_VALUE_INT16 __attribute__((swift_name("int16"))),
  HKT_VALUE_INT32 __attribute__((swift_name("int32"))),
  HKT_VALUE_INT64 __attribute__((swift_name("int64"))),
  HKT_VALUE_UINT8 __attribute__((swift_name("uint8"))),
  HKT_VALUE_UINT16 __attribute__((swift_name("uint16"))),
  HKT_VALUE_UINT32 __attribute__((swift_name("uint32"))),
  HKT_VALUE_UINT64 __attribute__((swift_name("uint64"))),
  HKT_VALUE_FLOAT __attribute__((swift_name("float"))),
  HKT_VALUE_DOUBLE __attribute__((swift_name("double"))),
  HKT_VALUE_TEXT __attribute__((swift_name("string"))),    ///< a Swift String's two words, as StringBits reads them
  HKT_VALUE_OBJECT __attribute__((swift_name("object"))),  ///< a reference to a class instance, 0 for none
} HKTValueKind;

/// A value that lies whole in the frame in one run of bytes.
typedef struct HKTValueSlot {
  HKTValueKind kind;
  HKTFramePlace place;
} HKTValueSlot;

#endif
