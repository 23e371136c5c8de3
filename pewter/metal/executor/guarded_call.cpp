#include "pewter/metal/executor/guarded_call.h"

#include <cstdint>

extern "C" void pewter_guarded_call_landing();

// Saves the callee-saved registers on the caller's stack, notes where, and changes stacks. The
// landing label expects the stack pointer to be at that note and everything else to be lost.
#if defined(__x86_64__)
asm(R"(
    .text
    .globl pewter_guarded_call
    .hidden pewter_guarded_call
    .type pewter_guarded_call, @function
    .p2align 4
pewter_guarded_call:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    .cfi_offset %rbx, -24
    .cfi_offset %r12, -32
    .cfi_offset %r13, -40
    .cfi_offset %r14, -48
    .cfi_offset %r15, -56
    movq %rsp, (%rdi)
    movq %rcx, %rsp
    movq %rdx, %rdi
    call *%rsi
    leaq -40(%rbp), %rsp
    xorl %eax, %eax
.Lpewter_guarded_call_return:
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    .cfi_def_cfa %rsp, 8
    ret
    .globl pewter_guarded_call_landing
    .hidden pewter_guarded_call_landing
pewter_guarded_call_landing:
    .cfi_def_cfa %rsp, 56
    movl $1, %eax
    jmp .Lpewter_guarded_call_return
    .cfi_endproc
    .size pewter_guarded_call, . - pewter_guarded_call
)");
#elif defined(__aarch64__)
asm(R"(
    .text
    .globl pewter_guarded_call
    .hidden pewter_guarded_call
    .type pewter_guarded_call, %function
    .p2align 4
pewter_guarded_call:
    stp x29, x30, [sp, #-160]!
    mov x29, sp
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x3
    mov x0, x2
    blr x1
    mov sp, x29
    mov w0, #0
.Lpewter_guarded_call_return:
    ldp x19, x20, [sp, #16]
    ldp x21, x22, [sp, #32]
    ldp x23, x24, [sp, #48]
    ldp x25, x26, [sp, #64]
    ldp x27, x28, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    ldp x29, x30, [sp], #160
    ret
    .globl pewter_guarded_call_landing
    .hidden pewter_guarded_call_landing
pewter_guarded_call_landing:
    mov w0, #1
    b .Lpewter_guarded_call_return
    .size pewter_guarded_call, . - pewter_guarded_call
)");
#else
#error "kernels run on x86-64 and AArch64 only"
#endif

namespace pewter::executor {

void escape(ucontext_t& context, void* resume_point) {
  const auto landing = reinterpret_cast<std::uintptr_t>(&pewter_guarded_call_landing);
  const auto stack = reinterpret_cast<std::uintptr_t>(resume_point);
#if defined(__x86_64__)
  // The direction flag must be clear at function borders, and the interrupted code may have set it.
  constexpr greg_t kDirectionFlag = 0x400;
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(landing);
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(stack);
  context.uc_mcontext.gregs[REG_EFL] &= ~kDirectionFlag;
#else
  context.uc_mcontext.pc = landing;
  context.uc_mcontext.sp = stack;
#endif
}

const void* stack_pointer(const ucontext_t& context) {
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RSP]);
#else
  return reinterpret_cast<const void*>(context.uc_mcontext.sp);
#endif
}

}  // namespace pewter::executor
