#pragma once

#include <pewter/array.h>
#include <pewter/export.h>

#include <concepts>
#include <functional>
#include <vector>

namespace pewter {

/// Computes the arrays and waits for them. With none it does nothing, whatever is in flight.
///
/// Throws what an operation throws when it is scheduled (a kernel that does not compile, memory
/// that is refused): what stands before it is computed all the same; what stands behind it stays
/// lazy, and may be evaluated later. Throws std::runtime_error with what the device failed with: an
/// array that was not computed for it, or that depends on one, throws the same whenever it is read
/// or evaluated, and no other array does. Throws std::invalid_argument while a function is traced.
PEWTER_EXPORT void eval(const std::vector<array>& arrays);
template <std::same_as<array>... Arrays>
void eval(const array& first, const Arrays&... others) {
  eval(std::vector<array>{first, others...});
}
inline void eval() {}

/// Starts to compute the arrays; whoever reads one waits for it.
PEWTER_EXPORT void async_eval(const std::vector<array>& arrays);
template <std::same_as<array>... Arrays>
void async_eval(const array& first, const Arrays&... others) {
  async_eval(std::vector<array>{first, others...});
}

/// A function of arrays.
using ArrayFunction = std::function<std::vector<array>(const std::vector<array>&)>;

/// A function with the results of `function`, whose body runs only at the first call and after the
/// number of inputs, a type, a rank or, unless `shapeless`, a shape has changed; other calls repeat
/// the recorded operations. Arrays that the function captures are frozen as they were then. With
/// `shapeless` the body runs for each combination of lengths all the same when it, or an operation
/// in it, looks at them; others than transpose, expand_dims, squeeze with axes, slice, reshape,
/// sum, prod, all, any and those that act on each element do. When several threads call it for the
/// first time together, one runs the body and the others wait for what it has recorded.
///
/// Calling it throws std::invalid_argument when the body evaluates an array, and, if `shapeless`,
/// when an operation in it cannot derive its result from other shapes.
PEWTER_EXPORT ArrayFunction compile(ArrayFunction function, bool shapeless = false);

/// While disabled, everything that compile() returned calls its function directly. For the whole
/// process; MLX_DISABLE_COMPILE in the environment disables at the start.
PEWTER_EXPORT void disable_compile();
PEWTER_EXPORT void enable_compile();

}  // namespace pewter
