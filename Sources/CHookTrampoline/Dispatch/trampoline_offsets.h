// Offsets the assembly uses, written once. layouts.c asserts each of them
// against the C layouts; trampoline_x86_64.S uses nothing else.
#ifndef HKT_TRAMPOLINE_OFFSETS_H
#define HKT_TRAMPOLINE_OFFSETS_H

#define HKT_SITE_ENTRY 0
#define HKT_SITE_ORIGINAL 8
#define HKT_SITE_HANDLER 16

#define HKT_FRAME_RDI 0
#define HKT_FRAME_RSI 8
#define HKT_FRAME_RDX 16
#define HKT_FRAME_RCX 24
#define HKT_FRAME_R8 32
#define HKT_FRAME_R9 40
#define HKT_FRAME_RAX 48
#define HKT_FRAME_R13 56
#define HKT_FRAME_R12 64
#define HKT_FRAME_R14 72
#define HKT_FRAME_R10 80
#define HKT_FRAME_STACK 88
#define HKT_FRAME_XMM(n) (96 + 16 * (n))
#define HKT_FRAME_RESULTS 224
#define HKT_FRAME_X87(n) (336 + 16 * (n))
#define HKT_FRAME_X87_COUNT 368
#define HKT_FRAME_SIZE 384

#define HKT_RESULT_RAX (HKT_FRAME_RESULTS + 0)
#define HKT_RESULT_RDX (HKT_FRAME_RESULTS + 8)
#define HKT_RESULT_RCX (HKT_FRAME_RESULTS + 16)
#define HKT_RESULT_R8 (HKT_FRAME_RESULTS + 24)
#define HKT_RESULT_R12 (HKT_FRAME_RESULTS + 32)
#define HKT_RESULT_R13 (HKT_FRAME_RESULTS + 40)
#define HKT_RESULT_XMM(n) (HKT_FRAME_RESULTS + 48 + 16 * (n))

// HKTAsyncMove, asserted in async.c.
#define HKT_MOVE_TARGET 0
#define HKT_MOVE_FRAME 8
#define HKT_MOVE_POP 16
#define HKT_MOVE_STACK 24
#define HKT_MOVE_WORDS 32
#define HKT_MOVE_SIZE 40

#endif
