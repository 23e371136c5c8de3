#pragma once

#include <pewter/fast.h>

#include <string>
#include <vector>

namespace pewter::ops {

/// What metal_kernel() was given.
struct CustomKernel {
  std::string name;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::string source;
  std::string header;
  bool ensure_row_contiguous = true;
  bool atomic_outputs = false;
  fast::CompileOptions options;
};

/// How one input is passed.
struct CustomInput {
  Dtype dtype = Dtype::Float32;
  bool is_scalar = false;
  bool is_constant_space = false;
  // What the body mentions.
  bool has_shape = false;
  bool has_strides = false;
  bool has_rank = false;
};

/// The text of a kernel for inputs and outputs of certain types.
struct CustomKernelText {
  std::string text;
  /// The kernel's name in it.
  std::string host_name;
  std::vector<CustomInput> inputs;
};

CustomKernelText custom_kernel_text(const CustomKernel& kernel,
                                    const std::vector<array>& inputs,
                                    const std::vector<Dtype>& output_dtypes,
                                    const fast::TemplateArguments& arguments);

/// Whether a text mentions an identifier outside comments and string literals.
bool mentions(const std::string& text, const std::string& identifier);

}  // namespace pewter::ops
