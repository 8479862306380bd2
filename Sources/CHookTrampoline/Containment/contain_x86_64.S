// Landing places of contained calls, x86_64 Linux.
//
// hkt_land_call      calls a body; answers 0 when it returns
// hkt_landing_place  where a fault below goes on: answers 1 in its place
//
// Keep the offsets in step with contain.h, which asserts them.
#define LANDING_STACK 0
#define LANDING_FRAME 8
#define LANDING_MXCSR 16
#define LANDING_X87 20

        .text

// int32_t hkt_land_call(HKTLanding *landing, void (*body)(void *), void *context)
        .globl  hkt_land_call
        .hidden hkt_land_call
        .type   hkt_land_call, @function
        .p2align 5
hkt_land_call:
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
        push    %r15
        .cfi_offset %rbx, -24
        .cfi_offset %r12, -32
        .cfi_offset %r13, -40
        .cfi_offset %r14, -48
        .cfi_offset %r15, -56
        sub     $8, %rsp
        mov     %rsp, LANDING_STACK(%rdi)
        mov     %rbp, LANDING_FRAME(%rdi)
        stmxcsr LANDING_MXCSR(%rdi)
        fnstcw  LANDING_X87(%rdi)
        mov     %rdx, %rdi
        call    *%rsi
        .globl  hkt_landing_returns_here
        .hidden hkt_landing_returns_here
hkt_landing_returns_here:
        xor     %eax, %eax
.Lleave:
        lea     -40(%rbp), %rsp
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbx
        pop     %rbp
        .cfi_remember_state
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbx
        .cfi_restore %r12
        .cfi_restore %r13
        .cfi_restore %r14
        .cfi_restore %r15
        .cfi_restore %rbp
        ret

        .globl  hkt_landing_place
        .hidden hkt_landing_place
hkt_landing_place:
        .cfi_restore_state
        cld
        fninit
        fldcw   LANDING_X87(%rdi)
        ldmxcsr LANDING_MXCSR(%rdi)
        mov     $1, %eax
        jmp     .Lleave
        .cfi_endproc
        .size   hkt_land_call, . - hkt_land_call

// _Noreturn void hkt_land(HKTLanding *landing): goes there from code that runs.
        .globl  hkt_land
        .hidden hkt_land
        .type   hkt_land, @function
        .p2align 4
hkt_land:
        .cfi_startproc
        mov     LANDING_STACK(%rdi), %rsp
        mov     LANDING_FRAME(%rdi), %rbp
        jmp     hkt_landing_place
        .cfi_endproc
        .size   hkt_land, . - hkt_land

        .section .note.GNU-stack, "", @progbits
