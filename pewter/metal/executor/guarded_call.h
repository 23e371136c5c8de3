#pragma once

#include <ucontext.h>

namespace pewter::executor {

/// Calls `function(argument)` on the stack that ends at `stack_top` (16-byte aligned), in such a
/// way that a signal handler can end it.
///
/// `*resume_point` is set before the call. Returns false when the function returned, true when
/// escape() ended it. Whatever ran on the other stack is dropped without destructors.
extern "C" bool pewter_guarded_call(void** resume_point,
                                    void (*function)(void*),
                                    void* argument,
                                    void* stack_top);

/// Makes the interrupted context continue behind the guarded call that set `resume_point`, once the
/// signal handler returns. The interrupted code may be on any stack of the same thread.
void escape(ucontext_t& context, void* resume_point);

/// Stack pointer of an interrupted context.
const void* stack_pointer(const ucontext_t& context);

}  // namespace pewter::executor
