// is_function_constant_defined: answered when a pipeline gives the constants their values.
#pragma once

#include <pewter/scalar.h>

extern "C" bool __pewter_is_function_constant_defined(__pw_constant void*);

template <typename T>
__pw_inline bool is_function_constant_defined(__pw_constant T& constant) {
  return __pewter_is_function_constant_defined(&constant);
}

namespace metal {
using ::is_function_constant_defined;
}
