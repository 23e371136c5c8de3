#pragma once

#include <pewter/array.h>
#include <pewter/device.h>
#include <pewter/export.h>

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

/// Operations with kernels of their own, and kernels of the user's.
namespace pewter::fast {

/// x / sqrt(mean(x^2) + eps) * weight over the last axis.
PEWTER_EXPORT array rms_norm(const array& x,
                             const std::optional<array>& weight,
                             float eps,
                             StreamOrDevice s = {});
/// (x - mean(x)) / sqrt(var(x) + eps) * weight + bias over the last axis.
PEWTER_EXPORT array layer_norm(const array& x,
                               const std::optional<array>& weight,
                               const std::optional<array>& bias,
                               float eps,
                               StreamOrDevice s = {});
/// Rotary position encoding of the first `dims` elements of the last axis; the axis before it is
/// the position, counted from `offset`. `traditional` rotates neighbours, otherwise elements half
/// of `dims` apart. Frequencies come from `base` or, without one, from `freqs`.
PEWTER_EXPORT array rope(const array& x,
                         int dims,
                         bool traditional,
                         std::optional<float> base,
                         float scale,
                         int offset,
                         const std::optional<array>& freqs = std::nullopt,
                         StreamOrDevice s = {});
/// softmax(scale * q @ transpose(k) + mask) @ v for arrays of shape (batch, heads, length, dim). k
/// and v may have fewer heads, a divisor of q's. `mask_mode` is "" or "causal"; `mask` is bool
/// (false: left out) or added. A query for which all keys are left out gets the mean of the values.
PEWTER_EXPORT array scaled_dot_product_attention(const array& queries,
                                                 const array& keys,
                                                 const array& values,
                                                 float scale,
                                                 const std::string& mask_mode = "",
                                                 const std::optional<array>& mask = std::nullopt,
                                                 StreamOrDevice s = {});

/// A value of a kernel's template parameter.
using TemplateArgument = std::variant<int, bool, Dtype>;
/// A kernel's template parameter by name.
using TemplateArguments = std::vector<std::pair<std::string, TemplateArgument>>;

enum class MathMode : std::uint8_t { Safe, Relaxed, Fast };
/// The mode named "safe", "relaxed" or "fast". Throws std::invalid_argument for other names.
PEWTER_EXPORT MathMode math_mode_named(const std::string& name);

struct CompileOptions {
  MathMode math_mode = MathMode::Safe;
};

/// One call of a kernel.
struct CustomKernelCall {
  std::vector<array> inputs;
  std::vector<Shape> output_shapes;
  std::vector<Dtype> output_dtypes;
  /// Threads along each axis.
  std::tuple<int, int, int> grid = {1, 1, 1};
  std::tuple<int, int, int> threadgroup = {1, 1, 1};
  TemplateArguments template_arguments = {};
  /// What outputs are filled with before; without it their contents are undefined.
  std::optional<float> init_value = std::nullopt;
  /// Prints the generated text.
  bool verbose = false;
  /// The calling thread's default stream of the gpu when left out.
  StreamOrDevice stream = {};
};

/// Lazily runs the kernel: one array for each output name.
///
/// Throws std::invalid_argument when a list has another length than its names or the stream is on
/// the processor, std::runtime_error without a device. Evaluation throws std::runtime_error with
/// the compiler's text, and std::invalid_argument when the threadgroup is larger than the kernel's
/// limit.
using CustomKernelFunction = std::function<std::vector<array>(const CustomKernelCall&)>;

/// A kernel of which only the body is written; its signature is made from the names that the body
/// mentions. docs/arrays.md describes the text that is made.
///
/// Nothing is compiled before the first evaluation. Throws std::invalid_argument without output
/// names.
PEWTER_EXPORT CustomKernelFunction metal_kernel(const std::string& name,
                                                const std::vector<std::string>& input_names,
                                                const std::vector<std::string>& output_names,
                                                const std::string& source,
                                                const std::string& header = "",
                                                bool ensure_row_contiguous = true,
                                                bool atomic_outputs = false,
                                                CompileOptions options = {});

}  // namespace pewter::fast
