// The code of every closure ScriptHost makes, x86_64 Linux.
//
// A Swift closure is a code address and a context that the caller passes in r13: one entry serves all, the context
// tells whose call it is.
//
// What must stay true:
//   1. All unwind information is static: a backtrace taken in a script walks through to the program's frames.
//   2. rbx, rbp, r14, r15 and the control words are never written; r12 and r13 only change as the results say.
//   3. A caller that pops no stack arguments finds rsp as it left it.
#include "frame_x86_64.h"

        .text

        .globl  hkt_closure_entry
        .hidden hkt_closure_entry
        .type   hkt_closure_entry, @function
        .p2align 5
hkt_closure_entry:
        .cfi_startproc
        ENTER_WITH_FRAME HKT_FRAME_SIZE
        mov     %rsp, %rdi
        mov     %r13, %rsi
        call    hkt_closure_called
        LOAD_RESULTS
        LEAVE_FRAME
        ret
        .cfi_endproc
        .size   hkt_closure_entry, . - hkt_closure_entry

        .section .note.GNU-stack, "", @progbits
