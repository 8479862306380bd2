// void hkt_run_on_stack(void (*body)(void *), void *context, uint64_t top)
//
// Calls `body` with the stack pointer at `top`, a multiple of 16. By its frame pointer a backtrace goes on where it came from.
        .text
        .globl  hkt_run_on_stack
        .hidden hkt_run_on_stack
        .type   hkt_run_on_stack, @function
        .p2align 4
hkt_run_on_stack:
        .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        mov     %rdx, %rsp
        mov     %rdi, %rax
        mov     %rsi, %rdi
        call    *%rax
        leave
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
        ret
        .cfi_endproc
        .size   hkt_run_on_stack, . - hkt_run_on_stack

        .section .note.GNU-stack, "", @progbits
