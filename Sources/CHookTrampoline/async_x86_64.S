// Entry and return of hooked async functions, x86_64 Linux (swifttailcc).
//
// hkt_async_entry   the stub of an async body jumps here with r11 = HKTSite*, every other register as its caller left it.
// hkt_async_return  stands in a hooked call's context as "resume parent": the callee jumps here with r14 = its own
//                   context and its results where arguments go.
//
// hkt_async_switched  the same for a call that a handler awaited, once it is back on the handler's executor.
//
// All leave by a jump that async.c describes in an HKTAsyncMove. What must stay true:
//   1. rbx, rbp, r12 and r15 leave as they came: they belong to whoever called into the task.
//   2. The return address stays the one that was found, and what lies above it is the argument area of the function
//      that is jumped to: each function takes its own area (8 bytes more than a multiple of 16) off the stack.
//   3. rsp never lies above memory that is still read.
#include "trampoline_offsets.h"

// The frame, the move, and 8 bytes that keep rsp a multiple of 16 at the call.
#define MOVE HKT_FRAME_SIZE
#define SPACE (HKT_FRAME_SIZE + HKT_MOVE_SIZE + 8)

        .macro SAVE_REGISTERS
        mov     %rdi, HKT_FRAME_RDI(%rsp)
        mov     %rsi, HKT_FRAME_RSI(%rsp)
        mov     %rdx, HKT_FRAME_RDX(%rsp)
        mov     %rcx, HKT_FRAME_RCX(%rsp)
        mov     %r8, HKT_FRAME_R8(%rsp)
        mov     %r9, HKT_FRAME_R9(%rsp)
        mov     %rax, HKT_FRAME_RAX(%rsp)
        mov     %r13, HKT_FRAME_R13(%rsp)
        mov     %r12, HKT_FRAME_R12(%rsp)
        mov     %r14, HKT_FRAME_R14(%rsp)
        mov     %r10, HKT_FRAME_R10(%rsp)
        movaps  %xmm0, HKT_FRAME_XMM(0)(%rsp)
        movaps  %xmm1, HKT_FRAME_XMM(1)(%rsp)
        movaps  %xmm2, HKT_FRAME_XMM(2)(%rsp)
        movaps  %xmm3, HKT_FRAME_XMM(3)(%rsp)
        movaps  %xmm4, HKT_FRAME_XMM(4)(%rsp)
        movaps  %xmm5, HKT_FRAME_XMM(5)(%rsp)
        movaps  %xmm6, HKT_FRAME_XMM(6)(%rsp)
        movaps  %xmm7, HKT_FRAME_XMM(7)(%rsp)
        lea     16(%rbp), %rax
        mov     %rax, HKT_FRAME_STACK(%rsp)
        .endm

        // From the frame at r10; r10, r11 and rax carry nothing into an async function.
        .macro LOAD_REGISTERS
        mov     HKT_FRAME_RDI(%r10), %rdi
        mov     HKT_FRAME_RSI(%r10), %rsi
        mov     HKT_FRAME_RDX(%r10), %rdx
        mov     HKT_FRAME_RCX(%r10), %rcx
        mov     HKT_FRAME_R8(%r10), %r8
        mov     HKT_FRAME_R9(%r10), %r9
        mov     HKT_FRAME_R13(%r10), %r13
        mov     HKT_FRAME_R14(%r10), %r14
        movaps  HKT_FRAME_XMM(0)(%r10), %xmm0
        movaps  HKT_FRAME_XMM(1)(%r10), %xmm1
        movaps  HKT_FRAME_XMM(2)(%r10), %xmm2
        movaps  HKT_FRAME_XMM(3)(%r10), %xmm3
        movaps  HKT_FRAME_XMM(4)(%r10), %xmm4
        movaps  HKT_FRAME_XMM(5)(%r10), %xmm5
        movaps  HKT_FRAME_XMM(6)(%r10), %xmm6
        movaps  HKT_FRAME_XMM(7)(%r10), %xmm7
        .endm

        .text

        .globl  hkt_async_entry
        .hidden hkt_async_entry
        .type   hkt_async_entry, @function
        .p2align 5
hkt_async_entry:
        .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        sub     $SPACE, %rsp
        SAVE_REGISTERS
        mov     %rsp, %rdi
        lea     MOVE(%rsp), %rsi
        mov     %r11, %rdx
        call    hkt_async_enter
        jmp     .Lleave
        .cfi_endproc
        .size   hkt_async_entry, . - hkt_async_entry

        .globl  hkt_async_return
        .hidden hkt_async_return
        .type   hkt_async_return, @function
        .p2align 5
hkt_async_return:
        .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        sub     $SPACE, %rsp
        SAVE_REGISTERS
        mov     %rsp, %rdi
        lea     MOVE(%rsp), %rsi
        call    hkt_async_returned
        jmp     .Lleave
        .cfi_endproc
        .size   hkt_async_return, . - hkt_async_return

        .globl  hkt_async_switched
        .hidden hkt_async_switched
        .type   hkt_async_switched, @function
        .p2align 5
hkt_async_switched:
        .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        sub     $SPACE, %rsp
        SAVE_REGISTERS
        mov     %rsp, %rdi
        lea     MOVE(%rsp), %rsi
        call    hkt_async_go_on

.Lleave:
        mov     MOVE+HKT_MOVE_TARGET(%rsp), %r11
        mov     MOVE+HKT_MOVE_FRAME(%rsp), %r10
        mov     MOVE+HKT_MOVE_POP(%rsp), %rax
        cmp     %r10, %rsp
        jne     .Lelsewhere

        // The registers come from this frame, and the argument area at most shrinks.
        LOAD_REGISTERS
        .cfi_remember_state
        lea     8(%rbp,%rax), %rax
        mov     8(%rbp), %r10
        mov     (%rbp), %rbp
        .cfi_restore %rbp
        .cfi_def_cfa %rax, 8
        mov     %r10, (%rax)
        mov     %rax, %rsp
        .cfi_def_cfa %rsp, 8
        jmp     *%r11

.Lelsewhere:
        // The registers come from memory of the call's record: this frame may be overwritten.
        .cfi_restore_state
        mov     MOVE+HKT_MOVE_WORDS(%rsp), %rcx
        mov     MOVE+HKT_MOVE_STACK(%rsp), %rsi
        mov     (%rbp), %r8
        mov     8(%rbp), %r9
        lea     8(%rbp,%rax), %rsp
        mov     %r8, %rbp
        .cfi_restore %rbp
        .cfi_def_cfa %rsp, 8
        mov     %r9, (%rsp)
        test    %rcx, %rcx
        jz      .Lwritten
.Lwrite:
        mov     -8(%rsi,%rcx,8), %rdx
        mov     %rdx, (%rsp,%rcx,8)
        dec     %rcx
        jnz     .Lwrite
.Lwritten:
        LOAD_REGISTERS
        jmp     *%r11
        .cfi_endproc
        .size   hkt_async_switched, . - hkt_async_switched

        .section .note.GNU-stack, "", @progbits
