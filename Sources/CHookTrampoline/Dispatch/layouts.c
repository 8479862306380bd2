// The layouts that C, Swift and trampoline_x86_64.S share, asserted.
#include "CHookTrampoline.h"
#include "trampoline_offsets.h"

#define FRAME(field, offset) \
  _Static_assert(offsetof(HKTFrame, field) == (offset), "HKTFrame." #field " moved: change trampoline_offsets.h")
#define RESULT(field, offset) \
  _Static_assert(offsetof(HKTFrame, results.field) == (offset), "HKTResults." #field " moved: change trampoline_offsets.h")
#define SITE(field, offset) \
  _Static_assert(offsetof(HKTSite, field) == (offset), "HKTSite." #field " moved: change trampoline_offsets.h")

FRAME(integer[0], HKT_FRAME_RDI);
FRAME(integer[1], HKT_FRAME_RSI);
FRAME(integer[2], HKT_FRAME_RDX);
FRAME(integer[3], HKT_FRAME_RCX);
FRAME(integer[4], HKT_FRAME_R8);
FRAME(integer[5], HKT_FRAME_R9);
FRAME(indirect_result, HKT_FRAME_RAX);
FRAME(self_register, HKT_FRAME_R13);
FRAME(error_register, HKT_FRAME_R12);
FRAME(async_context, HKT_FRAME_R14);
FRAME(r10, HKT_FRAME_R10);
FRAME(stack, HKT_FRAME_STACK);
FRAME(xmm[0], HKT_FRAME_XMM(0));
FRAME(xmm[7], HKT_FRAME_XMM(7));
FRAME(results, HKT_FRAME_RESULTS);
FRAME(x87[0], HKT_FRAME_X87(0));
FRAME(x87[1], HKT_FRAME_X87(1));
FRAME(x87_count, HKT_FRAME_X87_COUNT);
RESULT(integer[0], HKT_RESULT_RAX);
RESULT(integer[1], HKT_RESULT_RDX);
RESULT(integer[2], HKT_RESULT_RCX);
RESULT(integer[3], HKT_RESULT_R8);
RESULT(error, HKT_RESULT_R12);
RESULT(self_register, HKT_RESULT_R13);
RESULT(xmm[0], HKT_RESULT_XMM(0));
RESULT(xmm[3], HKT_RESULT_XMM(3));
SITE(entry, HKT_SITE_ENTRY);
SITE(original, HKT_SITE_ORIGINAL);
SITE(handler, HKT_SITE_HANDLER);

_Static_assert(sizeof(HKTFrame) == HKT_FRAME_SIZE, "the trampoline reserves exactly one frame");
_Static_assert(HKT_FRAME_SIZE % 16 == 0, "the trampoline keeps the stack aligned");
_Static_assert(HKT_CONTINUE == 0 && HKT_RETURN != 0, "the trampoline tests the action for zero");
