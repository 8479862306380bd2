// Running on another stack, x86_64 Linux. Unwinders go on in the caller: its frame is found by rbp.

        .text

// void hkt_run_on_stack(void (*body)(void *), void *context, void *top)
        .globl  hkt_run_on_stack
        .hidden hkt_run_on_stack
        .type   hkt_run_on_stack, @function
        .p2align 5
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
        mov     %rbp, %rsp
        pop     %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   hkt_run_on_stack, . - hkt_run_on_stack

        .section .note.GNU-stack, "", @progbits
