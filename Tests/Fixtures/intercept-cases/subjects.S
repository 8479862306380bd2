// Subjects in assembly: their bytes are what the tests are about.
        .text

// MARK: Every register
//
// call_with(RegisterFile *in, RegisterFile *out, void *target): loads every register and sixteen
// stack slots from `in`, calls, stores everything it finds afterwards into `out`.
// RegisterFile: 16 integers (rax rbx rcx rdx rsi rdi rbp rsp r8-r15), 16 xmm, 16 stack slots, mxcsr.
#define XMM 128
#define STACK (XMM + 256)
#define MXCSR (STACK + 128)

        .globl  call_with
        .type   call_with, @function
call_with:
        .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        push    %rbx
        .cfi_def_cfa_offset 24
        push    %r12
        .cfi_def_cfa_offset 32
        push    %r13
        .cfi_def_cfa_offset 40
        push    %r14
        .cfi_def_cfa_offset 48
        push    %r15
        .cfi_def_cfa_offset 56
        sub     $136, %rsp
        .cfi_def_cfa_offset 192
        .cfi_offset %rbp, -16
        .cfi_offset %rbx, -24
        .cfi_offset %r12, -32
        .cfi_offset %r13, -40
        .cfi_offset %r14, -48
        .cfi_offset %r15, -56
        mov     %rsi, out_file(%rip)
        mov     %rdx, call_target(%rip)
        mov     %rsp, rsp_before(%rip)
        mov     %rdi, %rax
        .set    i, 0
        .rept   16
        mov     STACK + 8 * i(%rax), %rcx
        mov     %rcx, 8 * i(%rsp)
        .set    i, i + 1
        .endr
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movups  XMM + 16 * \n(%rax), %xmm\n
        .endr
        mov     8(%rax), %rbx
        mov     16(%rax), %rcx
        mov     24(%rax), %rdx
        mov     32(%rax), %rsi
        mov     40(%rax), %rdi
        mov     48(%rax), %rbp
        mov     64(%rax), %r8
        mov     72(%rax), %r9
        mov     80(%rax), %r10
        mov     88(%rax), %r11
        mov     96(%rax), %r12
        mov     104(%rax), %r13
        mov     112(%rax), %r14
        mov     120(%rax), %r15
        mov     0(%rax), %rax
        call    *call_target(%rip)
        push    %rax
        mov     out_file(%rip), %rax
        mov     %rbx, 8(%rax)
        pop     %rbx
        mov     %rbx, 0(%rax)
        mov     %rcx, 16(%rax)
        mov     %rdx, 24(%rax)
        mov     %rsi, 32(%rax)
        mov     %rdi, 40(%rax)
        mov     %rbp, 48(%rax)
        sub     rsp_before(%rip), %rsp
        mov     %rsp, 56(%rax)
        mov     rsp_before(%rip), %rsp
        mov     %r8, 64(%rax)
        mov     %r9, 72(%rax)
        mov     %r10, 80(%rax)
        mov     %r11, 88(%rax)
        mov     %r12, 96(%rax)
        mov     %r13, 104(%rax)
        mov     %r14, 112(%rax)
        mov     %r15, 120(%rax)
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movups  %xmm\n, XMM + 16 * \n(%rax)
        .endr
        stmxcsr MXCSR(%rax)
        add     $136, %rsp
        .cfi_def_cfa_offset 56
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbx
        pop     %rbp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   call_with, . - call_with

// record_everything: stores every register it receives in `seen`, then leaves the
// results of `answer` in rax rdx rcx r8 xmm0-3 r12 r13. Callee-saved ones stay.
        .globl  record_everything
        .type   record_everything, @function
        .p2align 4
record_everything:
        .cfi_startproc
        mov     %rax, seen(%rip)
        mov     %rbx, seen+8(%rip)
        mov     %rcx, seen+16(%rip)
        mov     %rdx, seen+24(%rip)
        mov     %rsi, seen+32(%rip)
        mov     %rdi, seen+40(%rip)
        mov     %rbp, seen+48(%rip)
        mov     %rsp, seen+56(%rip)
        mov     %r8, seen+64(%rip)
        mov     %r9, seen+72(%rip)
        mov     %r10, seen+80(%rip)
        mov     %r11, seen+88(%rip)
        mov     %r12, seen+96(%rip)
        mov     %r13, seen+104(%rip)
        mov     %r14, seen+112(%rip)
        mov     %r15, seen+120(%rip)
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movups  %xmm\n, seen + XMM + 16 * \n(%rip)
        .endr
        .set    i, 0
        .rept   16
        mov     8 + 8 * i(%rsp), %rax
        mov     %rax, seen + STACK + 8 * i(%rip)
        .set    i, i + 1
        .endr
        stmxcsr seen + MXCSR(%rip)
        mov     answer(%rip), %rax
        mov     answer+16(%rip), %rcx
        mov     answer+24(%rip), %rdx
        mov     answer+64(%rip), %r8
        mov     answer+96(%rip), %r12
        mov     answer+104(%rip), %r13
        movups  answer+XMM(%rip), %xmm0
        movups  answer+XMM+16(%rip), %xmm1
        movups  answer+XMM+32(%rip), %xmm2
        movups  answer+XMM+48(%rip), %xmm3
        ret
        .cfi_endproc
        .size   record_everything, . - record_everything
        .globl  record_everything_end
record_everything_end:

        .local  out_file
        .comm   out_file, 8, 8
        .local  call_target
        .comm   call_target, 8, 8
        .local  rsp_before
        .comm   rsp_before, 8, 8

// MARK: One window per class of instruction
//
// Each takes two integers in rdi, rsi and answers in rax. BODY and END give the size.
#define BODY(name) .globl name; .type name, @function; .p2align 4, 0xcc; name:
#define END(name) .size name, . - name; .globl name##_end; name##_end:

BODY(w_plain)        // whole instructions of three and four bytes
        mov     %rdi, %rax
        imul    %rsi, %rax
        add     $3, %rax
        ret
END(w_plain)
BODY(w_pushes)       // one byte each
        push    %rbx
        push    %rbp
        push    %rcx
        push    %rdx
        push    %rsi
        lea     (%rdi,%rsi,2), %rax
        pop     %rsi
        pop     %rdx
        pop     %rcx
        pop     %rbp
        pop     %rbx
        ret
END(w_pushes)
BODY(w_frame)        // what compilers write
        push    %rbp
        mov     %rsp, %rbp
        push    %r15
        sub     $24, %rsp
        mov     %rdi, -24(%rbp)
        mov     -24(%rbp), %rax
        sub     %rsi, %rax
        add     $24, %rsp
        pop     %r15
        pop     %rbp
        ret
END(w_frame)
BODY(w_load)         // a displacement from rip
        mov     w_data(%rip), %rax
        add     %rdi, %rax
        ret
END(w_load)
BODY(w_address)
        lea     w_data(%rip), %rax
        mov     (%rax), %rax
        xor     %rsi, %rax
        ret
END(w_address)
BODY(w_own_address)  // the address of the body itself stays that of the body
        lea     w_own_address(%rip), %rax
        ret
END(w_own_address)
BODY(w_store_imm)    // an immediate behind the displacement
        movl    $0x1234567, w_scratch(%rip)
        mov     w_scratch(%rip), %eax
        ret
END(w_store_imm)
BODY(w_compare_imm8)
        cmpq    $77, w_data(%rip)
        sete    %al
        movzx   %al, %eax
        ret
END(w_compare_imm8)
BODY(w_sse_load)
        movsd   w_double(%rip), %xmm0
        cvttsd2si %xmm0, %rax
        ret
END(w_sse_load)
BODY(w_vex_load)     // VEX, a displacement from rip
        vmovsd  w_double(%rip), %xmm0
        cvttsd2si %xmm0, %rax
        ret
END(w_vex_load)
BODY(w_endbr)
        endbr64
        lea     (%rdi,%rsi), %rax
        ret
END(w_endbr)
BODY(w_jump_short)
        jmp     1f
        ud2
        nop
1:      lea     1(%rdi), %rax
        ret
END(w_jump_short)
BODY(w_jump_only)    // five bytes, nothing else
        .byte   0xe9
        .long   w_plain - . - 4
END(w_jump_only)
BODY(w_jump_two)     // two bytes and padding
        jmp     .Ljump_target
END(w_jump_two)
        int3
        int3
        int3
        int3
        .globl  w_jump_target
w_jump_target:
.Ljump_target:
        lea     9(%rsi), %rax
        ret
BODY(w_condition)    // both ways
        cmp     %rsi, %rdi
        jg      1f
        mov     $1, %eax
        ret
1:      mov     $2, %eax
        ret
END(w_condition)
BODY(w_condition_first)
        cmp     %esi, %edi
        jc      1f
        test    %rdi, %rdi
        mov     $5, %eax
        ret
1:      mov     $6, %eax
        ret
END(w_condition_first)
BODY(w_condition_wide)
        test    %rdi, %rdi
        .byte   0x0f, 0x84
        .long   w_jump_target - . - 4
        mov     $3, %eax
        ret
END(w_condition_wide)
BODY(w_call)         // the callee answers its return address
        push    %rax
        call    w_return_address
        pop     %rcx
        ret
END(w_call)
BODY(w_call_first)
        call    w_return_address
        ret
END(w_call_first)
BODY(w_call_register_late)
        push    %rbx
        mov     w_pointer@GOTPCREL(%rip), %rbx
        mov     (%rbx), %rbx
        call    *%rbx
        pop     %rbx
        ret
END(w_call_register_late)
BODY(w_call_reg_window)  // rdi holds a function here
        nopl    (%rax)
        call    *%rdi
        nop
        ret
END(w_call_reg_window)
BODY(w_call_memory)
        push    %rax
        call    *w_pointer(%rip)
        pop     %rcx
        ret
END(w_call_memory)
BODY(w_call_slot)    // rdi holds the address of a pointer's slot minus 8
        push    %rax
        nop
        call    *8(%rdi)
        pop     %rcx
        ret
END(w_call_slot)
BODY(w_jump_memory)
        jmp     *w_pointer(%rip)
END(w_jump_memory)
BODY(w_loop)
        mov     %esi, %ecx
        loop    1f
        mov     $11, %eax
        ret
1:      mov     $12, %eax
        ret
END(w_loop)
BODY(w_loope)
        mov     %esi, %ecx
        test    %edi, %edi
        loope   1f
        mov     $11, %eax
        ret
1:      mov     $12, %eax
        ret
END(w_loope)
BODY(w_loopne)
        mov     %esi, %ecx
        test    %edi, %edi
        loopne  1f
        mov     $11, %eax
        ret
1:      mov     $12, %eax
        ret
END(w_loopne)
BODY(w_jrcxz)
        mov     %rsi, %rcx
        jrcxz   1f
        mov     $21, %eax
        ret
1:      mov     $22, %eax
        ret
END(w_jrcxz)
BODY(w_jecxz)
        mov     %rsi, %rcx
        jecxz   1f
        mov     $21, %eax
        ret
1:      mov     $22, %eax
        ret
END(w_jecxz)
BODY(w_inner_loop)   // a loop inside the window, with its head at the entry
.Linner_loop:
        dec     %rdi
        jg      .Linner_loop
        mov     %rdi, %rax
        ret
END(w_inner_loop)
BODY(w_inner_skip)   // a jump inside the window, forward
        jz      1f
        nop
1:      nop
        nop
        mov     $4, %eax
        ret
END(w_inner_skip)
BODY(w_return_last)
        lea     (%rdi,%rsi), %rax
        ret
END(w_return_last)
BODY(w_short_breakpoints)  // three bytes, then int3
        xor     %eax, %eax
        ret
END(w_short_breakpoints)
        .p2align 4, 0xcc
BODY(w_short_nops)
        mov     %esi, %eax
        ret
END(w_short_nops)
        .byte   0x0f, 0x1f, 0x40, 0x00  // nopl 0(%rax)
        .p2align 4
BODY(w_return_pop)
        push    %rdi
        pop     %rax
        ret     $0
END(w_return_pop)

w_return_address:
        mov     (%rsp), %rax
        ret

// MARK: Windows that must be refused
BODY(r_jump_into)
        mov     %rdi, %rax
1:      dec     %rax
        nop
        jg      1b
        ret
END(r_jump_into)
BODY(r_jump_to_entry)
.Ljump_to_entry:
        sub     $1, %rdi
        nopl    0(%rax)
        jg      .Ljump_to_entry
        ret
END(r_jump_to_entry)
BODY(r_call_returns)
        push    %rbx
        call    *%rax
        pop     %rbx
        ret
        nop
END(r_call_returns)
BODY(r_short)
        xor     %eax, %eax
        ret
END(r_short)
        .globl  r_neighbour
r_neighbour:
        lea     (%rdi,%rsi), %rax
        ret
        .p2align 4, 0xcc
BODY(r_runs_on)      // ends without ret: what follows is not padding, though it looks so
        xor     %eax, %eax
END(r_runs_on)
        nop
        nop
        nop
        ret
BODY(r_undecodable)
        nop
        .byte   0x06
        nop
        nop
        nop
        nop
        ret
END(r_undecodable)
BODY(r_undecodable_later)
        nopl    0(%rax,%rax)
        .byte   0x06
        ret
END(r_undecodable_later)
BODY(r_breakpoint)
        int3
        nop
        nop
        nop
        nop
        ret
END(r_breakpoint)
BODY(r_call_stack)
        nop
        nop
        call    *8(%rsp)
        ret
END(r_call_stack)
BODY(r_short_address)
        mov     w_data(%eip), %eax
        ret
END(r_short_address)
BODY(r_transaction)
        .byte   0xc7, 0xf8, 0, 0, 0, 0
        ret
END(r_transaction)
BODY(r_hidden)
        jmp     1f
        nop
        nop
        nop
        ret
1:      jmp     *%rdi
END(r_hidden)

        .data
        .p2align 4
        .globl  w_data, w_double, w_scratch, w_pointer
w_data: .quad   77
w_double: .double 42.5
w_scratch: .quad 0
w_pointer: .quad w_return_address
        .globl  return_address_function
return_address_function: .quad w_return_address

// MARK: Many bodies, for the time it takes
        .text
        .p2align 12
        .globl  many_bodies, many_bodies_end
many_bodies:
        .rept   21000
        push    %rbp
        mov     %rsp, %rbp
        push    %rbx
        push    %rax
        mov     w_data(%rip), %rax
        lea     (%rax,%rdi), %rax
        cmp     %rsi, %rax
        jg      1f
        inc     %rax
1:      add     $8, %rsp
        pop     %rbx
        pop     %rbp
        ret
        .p2align 5
        .endr
many_bodies_end:

        .section .note.GNU-stack, "", @progbits
