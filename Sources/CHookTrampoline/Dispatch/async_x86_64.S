// Entry and return of hooked async functions, x86_64 Linux (swifttailcc).
//
// hkt_async_entry   the stub of an async body jumps here with r11 = HKTSite*, every other register as its caller left it.
// hkt_async_return  stands in a hooked call's context as "resume parent": the callee jumps here with r14 = its own
//                   context and its results where arguments go.
//
// hkt_async_proceed  an async function like any other, with r13 = its context object: see HKTAsync.h.
//
// hkt_async_run      another one, with r13 = an object that has the callee to call.
//
// hkt_async_switched  the same for a call that a handler awaited, once it is back on the handler's executor.
//
// All leave by a jump that async.c describes in an HKTAsyncMove. What must stay true:
//   1. rbx, rbp, r12 and r15 leave as they came: they belong to whoever called into the task.
//   2. The return address stays the one that was found, and what lies above it is the argument area of the function
//      that is jumped to: each function takes its own area (8 bytes more than a multiple of 16) off the stack.
//   3. rsp never lies above memory that is still read.
#include "frame_x86_64.h"

// The frame, the move, and 8 bytes that keep rsp a multiple of 16 at the call.
#define MOVE HKT_FRAME_SIZE
#define SPACE (HKT_FRAME_SIZE + HKT_MOVE_SIZE + 8)

        .text

        .globl  hkt_async_entry
        .hidden hkt_async_entry
        .type   hkt_async_entry, @function
        .p2align 5
hkt_async_entry:
        .cfi_startproc
        ENTER_WITH_FRAME SPACE
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
        ENTER_WITH_FRAME SPACE
        mov     %rsp, %rdi
        lea     MOVE(%rsp), %rsi
        call    hkt_async_returned
        jmp     .Lleave
        .cfi_endproc
        .size   hkt_async_return, . - hkt_async_return

        .hidden hkt_async_proceed
        .type   hkt_async_proceed, @function
        .p2align 5
hkt_async_proceed:
        .cfi_startproc
        ENTER_WITH_FRAME SPACE
        mov     %rsp, %rdi
        lea     MOVE(%rsp), %rsi
        call    hkt_async_proceeds
        jmp     .Lleave
        .cfi_endproc
        .size   hkt_async_proceed, . - hkt_async_proceed

        .hidden hkt_async_run
        .type   hkt_async_run, @function
        .p2align 5
hkt_async_run:
        .cfi_startproc
        ENTER_WITH_FRAME SPACE
        mov     %rsp, %rdi
        lea     MOVE(%rsp), %rsi
        call    hkt_async_runs
        jmp     .Lleave
        .cfi_endproc
        .size   hkt_async_run, . - hkt_async_run

        .globl  hkt_async_switched
        .hidden hkt_async_switched
        .type   hkt_async_switched, @function
        .p2align 5
hkt_async_switched:
        .cfi_startproc
        ENTER_WITH_FRAME SPACE
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
        // r10, r11 and rax carry nothing into an async function.
        LOAD_VALUES %r10
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
        LOAD_VALUES %r10
        jmp     *%r11
        .cfi_endproc
        .size   hkt_async_switched, . - hkt_async_switched

        .section .rodata
        .globl  hkt_async_proceed_pointer
        .hidden hkt_async_proceed_pointer
        .type   hkt_async_proceed_pointer, @object
        .p2align 3
hkt_async_proceed_pointer:
        .long   hkt_async_proceed - .
        // Of its context: the two words that all begin with.
        .long   16
        .size   hkt_async_proceed_pointer, . - hkt_async_proceed_pointer

        .globl  hkt_async_run_pointer
        .hidden hkt_async_run_pointer
        .type   hkt_async_run_pointer, @object
        .p2align 3
hkt_async_run_pointer:
        .long   hkt_async_run - .
        .long   16
        .size   hkt_async_run_pointer, . - hkt_async_run_pointer

        .section .note.GNU-stack, "", @progbits
