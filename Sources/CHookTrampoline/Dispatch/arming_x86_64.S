// The stub of a replaceable function (arming.c) jumps here with r11 = Arming*; every other register and the stack are as
// the function expects them. Arms the thread and enters the function.
#include "frame_x86_64.h"

#define SAVED_ARMING HKT_FRAME_SIZE
#define SPACE (HKT_FRAME_SIZE + 16)
#define ARMING_FUNCTION 8

        .text
        .globl  hkt_arm_and_enter
        .hidden hkt_arm_and_enter
        .type   hkt_arm_and_enter, @function
        .p2align 5
hkt_arm_and_enter:
        .cfi_startproc
        ENTER_WITH_FRAME SPACE
        mov     %r11, SAVED_ARMING(%rsp)
        mov     %r11, %rdi
        call    hkt_arm
        mov     SAVED_ARMING(%rsp), %r11
        LOAD_VALUES %rsp
        mov     HKT_FRAME_RAX(%rsp), %rax
        mov     HKT_FRAME_R10(%rsp), %r10
        LEAVE_FRAME
        jmp     *ARMING_FUNCTION(%r11)
        .cfi_endproc
        .size   hkt_arm_and_enter, . - hkt_arm_and_enter

        .section .note.GNU-stack, "", @progbits
