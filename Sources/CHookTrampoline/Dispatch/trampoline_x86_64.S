// The trampoline and the call of the original, x86_64 Linux.
//
// hkt_trampoline   a stub jumps here with r11 = HKTSite*; rsp and every other
//                  register are as the caller of the body left them.
// hkt_invoke       calls a function with the registers of a frame.
//
// What must stay true:
//   1. All unwind information is static: a backtrace taken in a handler or in
//      the original walks through these two functions to the program's frames.
//   2. After HKT_CONTINUE nothing of us is on the stack: rsp is as at entry.
//   3. rbx, rbp, r15, the direction flag and the floating point control words are
//      never written; r12-r14 only change as the frame says.
//
// The upper halves of ymm and zmm registers are not saved: swiftcc never passes
// values there, C functions that take 32-byte vectors must not be diverted.
#include "frame_x86_64.h"

// The frame, the site and 8 bytes that keep rsp a multiple of 16 at the call.
#define SAVED_SITE HKT_FRAME_SIZE
#define SPACE (HKT_FRAME_SIZE + 16)

        .text

        .globl  hkt_trampoline
        .hidden hkt_trampoline
        .type   hkt_trampoline, @function
        .p2align 5
hkt_trampoline:
        .cfi_startproc
        ENTER_WITH_FRAME SPACE
        mov     %r11, SAVED_SITE(%rsp)
        mov     %rsp, %rdi
        mov     %r11, %rsi
        call    *HKT_SITE_HANDLER(%r11)
        test    %eax, %eax
        jne     .Lreturn

        // HKT_CONTINUE: the original sees the frame, with the handler's changes.
        mov     SAVED_SITE(%rsp), %r11
        LOAD_VALUES %rsp
        mov     HKT_FRAME_RAX(%rsp), %rax
        mov     HKT_FRAME_R12(%rsp), %r12
        mov     HKT_FRAME_R10(%rsp), %r10
        .cfi_remember_state
        LEAVE_FRAME
        jmp     *HKT_SITE_ORIGINAL(%r11)

.Lreturn:
        // HKT_RETURN: the results the handler left, or hkt_invoke stored.
        .cfi_restore_state
        LOAD_RESULTS
        LEAVE_FRAME
        ret
        .cfi_endproc
        .size   hkt_trampoline, . - hkt_trampoline

// void hkt_invoke(HKTFrame *frame, void *target, size_t stack_bytes)
        .globl  hkt_invoke
        .hidden hkt_invoke
        .type   hkt_invoke, @function
        .p2align 5
hkt_invoke:
        .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        push    %rbx
        push    %r12
        push    %r13
        push    %r14
        .cfi_offset %rbx, -24
        .cfi_offset %r12, -32
        .cfi_offset %r13, -40
        .cfi_offset %r14, -48
        mov     %rdi, %rbx
        mov     %rsi, %r11

        // Copy the stack arguments, last one first: pages of the stack are touched
        // in the order it grows, and rsp stays a multiple of 16.
        lea     15(%rdx), %rax
        and     $-16, %rax
        sub     %rax, %rsp
        shr     $3, %rdx
        jz      .Lcopied
        mov     HKT_FRAME_STACK(%rbx), %rcx
.Lcopy:
        mov     -8(%rcx,%rdx,8), %rax
        mov     %rax, -8(%rsp,%rdx,8)
        dec     %rdx
        jnz     .Lcopy
.Lcopied:
        LOAD_VALUES %rbx
        mov     HKT_FRAME_RAX(%rbx), %rax
        mov     HKT_FRAME_R12(%rbx), %r12
        mov     HKT_FRAME_R10(%rbx), %r10
        call    *%r11
        // calls.c knows a tail-called sibling by this return address.
        .globl  hkt_invoke_returns_here
        .hidden hkt_invoke_returns_here
hkt_invoke_returns_here:
        mov     %rax, HKT_RESULT_RAX(%rbx)
        mov     %rdx, HKT_RESULT_RDX(%rbx)
        mov     %rcx, HKT_RESULT_RCX(%rbx)
        mov     %r8, HKT_RESULT_R8(%rbx)
        mov     %r12, HKT_RESULT_R12(%rbx)
        mov     %r13, HKT_RESULT_R13(%rbx)
        movaps  %xmm0, HKT_RESULT_XMM(0)(%rbx)
        movaps  %xmm1, HKT_RESULT_XMM(1)(%rbx)
        movaps  %xmm2, HKT_RESULT_XMM(2)(%rbx)
        movaps  %xmm3, HKT_RESULT_XMM(3)(%rbx)
        // From rbp, so a callee that popped its stack arguments does no harm.
        lea     -32(%rbp), %rsp
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbx
        pop     %rbp
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbx
        .cfi_restore %r12
        .cfi_restore %r13
        .cfi_restore %r14
        .cfi_restore %rbp
        ret
        .cfi_endproc
        .size   hkt_invoke, . - hkt_invoke

// void hkt_x87_take(HKTFrame *frame)
        .globl  hkt_x87_take
        .hidden hkt_x87_take
        .type   hkt_x87_take, @function
        .p2align 4
hkt_x87_take:
        .cfi_startproc
        xor     %ecx, %ecx
        mov     %rdi, %rdx
.Ltake:
        // C3 and C0 without C2: the top of the stack is empty.
        fxam
        fnstsw  %ax
        and     $0x4500, %eax
        cmp     $0x4100, %eax
        je      .Ltaken
        fstpt   HKT_FRAME_X87(0)(%rdx)
        add     $16, %rdx
        inc     %ecx
        cmp     $2, %ecx
        jne     .Ltake
.Ltaken:
        mov     %rcx, HKT_FRAME_X87_COUNT(%rdi)
        ret
        .cfi_endproc
        .size   hkt_x87_take, . - hkt_x87_take

// void hkt_x87_give(const HKTFrame *frame)
        .globl  hkt_x87_give
        .hidden hkt_x87_give
        .type   hkt_x87_give, @function
        .p2align 4
hkt_x87_give:
        .cfi_startproc
        mov     HKT_FRAME_X87_COUNT(%rdi), %rcx
        test    %rcx, %rcx
        jz      .Lgiven
        cmp     $1, %rcx
        je      .Lgive
        fldt    HKT_FRAME_X87(1)(%rdi)
.Lgive:
        fldt    HKT_FRAME_X87(0)(%rdi)
.Lgiven:
        ret
        .cfi_endproc
        .size   hkt_x87_give, . - hkt_x87_give

// int hkt_probe_subject(void): answers 1; the probe of code writing changes the
// answer to 2 and back, and calls it each time. Alone on its page, so that no
// code of ours shares the page a failed probe may leave behind.
        .p2align 12
        .globl  hkt_probe_subject
        .hidden hkt_probe_subject
        .type   hkt_probe_subject, @function
hkt_probe_subject:
        .cfi_startproc
        mov     $1, %eax
        ret
        .cfi_endproc
        .size   hkt_probe_subject, . - hkt_probe_subject
        .p2align 12, 0xcc

        .section .note.GNU-stack, "", @progbits
