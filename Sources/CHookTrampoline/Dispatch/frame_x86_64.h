// Saving and loading the registers of an HKTFrame at rsp, for the assembly files.
#ifndef HKT_FRAME_X86_64_H
#define HKT_FRAME_X86_64_H

#include "trampoline_offsets.h"

// Stores every register that carries a value into a function; rbp holds the entry's rsp - 8. Writes rax only.
        .macro SAVE_ARGUMENTS
        // Integer arguments; rax is the indirect result (or al of a C variadic call).
        mov     %rdi, HKT_FRAME_RDI(%rsp)
        mov     %rsi, HKT_FRAME_RSI(%rsp)
        mov     %rdx, HKT_FRAME_RDX(%rsp)
        mov     %rcx, HKT_FRAME_RCX(%rsp)
        mov     %r8, HKT_FRAME_R8(%rsp)
        mov     %r9, HKT_FRAME_R9(%rsp)
        mov     %rax, HKT_FRAME_RAX(%rsp)
        // Swift's context registers and the static chain.
        mov     %r13, HKT_FRAME_R13(%rsp)
        mov     %r12, HKT_FRAME_R12(%rsp)
        mov     %r14, HKT_FRAME_R14(%rsp)
        mov     %r10, HKT_FRAME_R10(%rsp)
        // A handler that returns without a call must not disturb r12 and r13, callee-saved in C.
        mov     %r12, HKT_RESULT_R12(%rsp)
        mov     %r13, HKT_RESULT_R13(%rsp)
        // Floating point arguments.
        movaps  %xmm0, HKT_FRAME_XMM(0)(%rsp)
        movaps  %xmm1, HKT_FRAME_XMM(1)(%rsp)
        movaps  %xmm2, HKT_FRAME_XMM(2)(%rsp)
        movaps  %xmm3, HKT_FRAME_XMM(3)(%rsp)
        movaps  %xmm4, HKT_FRAME_XMM(4)(%rsp)
        movaps  %xmm5, HKT_FRAME_XMM(5)(%rsp)
        movaps  %xmm6, HKT_FRAME_XMM(6)(%rsp)
        movaps  %xmm7, HKT_FRAME_XMM(7)(%rsp)
        // Stack arguments start above the saved rbp and the return address.
        lea     16(%rbp), %rax
        mov     %rax, HKT_FRAME_STACK(%rsp)
        .endm

// The way in: opens a stack frame of \space bytes with an HKTFrame at rsp and saves the registers there.
        .macro ENTER_WITH_FRAME space
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        sub     $\space, %rsp
        SAVE_ARGUMENTS
        .endm

// Closes it again.
        .macro LEAVE_FRAME
        leave
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
        .endm

// Loads the registers that carry values into a function from the frame at \base; rax, r10 and r12 are the user's to load.
        .macro LOAD_VALUES base
        mov     HKT_FRAME_RDI(\base), %rdi
        mov     HKT_FRAME_RSI(\base), %rsi
        mov     HKT_FRAME_RDX(\base), %rdx
        mov     HKT_FRAME_RCX(\base), %rcx
        mov     HKT_FRAME_R8(\base), %r8
        mov     HKT_FRAME_R9(\base), %r9
        mov     HKT_FRAME_R13(\base), %r13
        mov     HKT_FRAME_R14(\base), %r14
        movaps  HKT_FRAME_XMM(0)(\base), %xmm0
        movaps  HKT_FRAME_XMM(1)(\base), %xmm1
        movaps  HKT_FRAME_XMM(2)(\base), %xmm2
        movaps  HKT_FRAME_XMM(3)(\base), %xmm3
        movaps  HKT_FRAME_XMM(4)(\base), %xmm4
        movaps  HKT_FRAME_XMM(5)(\base), %xmm5
        movaps  HKT_FRAME_XMM(6)(\base), %xmm6
        movaps  HKT_FRAME_XMM(7)(\base), %xmm7
        .endm

// Loads the result registers.
        .macro LOAD_RESULTS
        mov     HKT_RESULT_RAX(%rsp), %rax
        mov     HKT_RESULT_RDX(%rsp), %rdx
        mov     HKT_RESULT_RCX(%rsp), %rcx
        mov     HKT_RESULT_R8(%rsp), %r8
        mov     HKT_RESULT_R12(%rsp), %r12
        mov     HKT_RESULT_R13(%rsp), %r13
        movaps  HKT_RESULT_XMM(0)(%rsp), %xmm0
        movaps  HKT_RESULT_XMM(1)(%rsp), %xmm1
        movaps  HKT_RESULT_XMM(2)(%rsp), %xmm2
        movaps  HKT_RESULT_XMM(3)(%rsp), %xmm3
        .endm

#endif
