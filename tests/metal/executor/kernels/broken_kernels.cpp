// A kernel that no device can load.
#include "tests/metal/executor/kernels/kernel.h"

extern "C" float unknown_function(float x) PEWTER_SYMBOL("air.unknown_function.f32");
extern "C" void another_unknown_function();

PEWTER_KERNEL(call_unknown) {
  auto* values = pewter::abi::buffer<float>(launch, 0);
  values[thread] = unknown_function(values[thread]);
  another_unknown_function();
}
