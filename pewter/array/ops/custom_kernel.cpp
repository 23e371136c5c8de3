#include <fmt/core.h>
#include <pewter/fast.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "pewter/array/graph/primitive.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/custom_kernel_text.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/outputs.h"
#include "pewter/array/ops/trace.h"
#include "pewter/runtime/device.h"

namespace pewter {
namespace {

using fast::CustomKernelCall;
using fast::MathMode;

runtime::MathMode metal_mode(MathMode mode) {
  switch (mode) {
    case MathMode::Safe:
      return runtime::MathMode::Safe;
    case MathMode::Relaxed:
      return runtime::MathMode::Relaxed;
    case MathMode::Fast:
      break;
  }
  return runtime::MathMode::Fast;
}

/// Compiled kernels by everything that makes them: equal names never share code.
std::shared_ptr<const runtime::ShaderKernel> compiled(const ops::CustomKernelText& text,
                                                      MathMode mode) {
  using Key = std::pair<std::string, MathMode>;
  static auto* const mutex = new std::mutex;
  static auto* const kernels =
      new std::map<Key, std::shared_ptr<const runtime::ShaderKernel>>;  // guarded by mutex
  const std::scoped_lock lock(*mutex);
  auto& kernel = (*kernels)[{text.text, mode}];
  if (!kernel) {
    try {
      kernel = runtime::ShaderLibrary::compile(text.text, metal_mode(mode))->kernel(text.host_name);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("[metal::Device] the kernel {} does not compile: {}",
                                           text.host_name, error.what()));
    }
  }
  return kernel;
}

MTL::Size to_size(const std::tuple<int, int, int>& lengths) {
  return MTL::Size(static_cast<NS::UInteger>(std::get<0>(lengths)),
                   static_cast<NS::UInteger>(std::get<1>(lengths)),
                   static_cast<NS::UInteger>(std::get<2>(lengths)));
}

class CustomKernelPrimitive final : public graph::Primitive {
 public:
  CustomKernelPrimitive(ops::CustomKernelText text, MathMode mode, const CustomKernelCall& call)
      : text_(std::move(text)),
        mode_(mode),
        grid_(to_size(call.grid)),
        threadgroup_(to_size(call.threadgroup)),
        shapes_(call.output_shapes),
        dtypes_(call.output_dtypes),
        init_value_(call.init_value) {}
  std::string_view name() const override { return text_.host_name; }
  bool may_fault() const override { return true; }
  void encode(runtime::Stream& stream,
              std::span<const graph::NodePointer> inputs,
              std::span<graph::Node* const> outputs) const override {
    const auto kernel = compiled(text_, mode_);
    check_threadgroup(*kernel);
    // The kernel writes to outputs too whose arrays are gone.
    std::vector<graph::NodePointer> substitutes;
    std::vector<graph::Node*> targets(outputs.begin(), outputs.end());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] == nullptr) {
        substitutes.push_back(graph::make_node(shapes_[i], dtypes_[i], Placement::Device));
        targets[i] = substitutes.back().get();
      } else {
        graph::allocate_memory(*targets[i]);
      }
      if (init_value_) {
        ops::encode_fill(stream, *init_value_, *targets[i]);
      }
    }
    if (grid_.width == 0 || grid_.height == 0 || grid_.depth == 0) {
      return;
    }
    dispatch(stream, *kernel, inputs, targets);
  }

 private:
  void check_threadgroup(const runtime::ShaderKernel& kernel) const {
    // Three numbers below 2^31 overflow 64 bits, two do not.
    const NS::UInteger plane = threadgroup_.width * threadgroup_.height;
    const NS::UInteger threads = plane > kernel.max_threads() ? plane : plane * threadgroup_.depth;
    if (threads > kernel.max_threads()) {
      throw std::invalid_argument(
          fmt::format("[metal_kernel] a threadgroup of {} threads; the kernel {} takes up to {}",
                      threads, text_.host_name, kernel.max_threads()));
    }
  }

  void dispatch(runtime::Stream& stream,
                const runtime::ShaderKernel& kernel,
                std::span<const graph::NodePointer> inputs,
                const std::vector<graph::Node*>& outputs) const {
    std::vector<std::vector<std::int32_t>> shapes(inputs.size());
    std::vector<std::int32_t> ranks(inputs.size());
    ops::KernelCall call(stream, kernel);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const graph::Node& input = *inputs[i];
      const ops::CustomInput& passed = text_.inputs[i];
      call.input(input);
      shapes[i].assign(input.shape.begin(), input.shape.end());
      ranks[i] = static_cast<std::int32_t>(input.shape.size());
      if (passed.has_shape) {
        call.bytes(shapes[i].data(), shapes[i].size() * sizeof(std::int32_t));
      }
      if (passed.has_strides) {
        call.bytes(input.strides.data(), input.strides.size() * sizeof(std::int64_t));
      }
      if (passed.has_rank) {
        call.value(ranks[i]);
      }
    }
    for (const graph::Node* output : outputs) {
      call.output(*output);
    }
    call.dispatch_threads(grid_, MTL::Size(std::min(threadgroup_.width, grid_.width),
                                           std::min(threadgroup_.height, grid_.height),
                                           std::min(threadgroup_.depth, grid_.depth)));
  }

  const ops::CustomKernelText text_;
  const MathMode mode_;
  const MTL::Size grid_;
  const MTL::Size threadgroup_;
  const std::vector<Shape> shapes_;
  const std::vector<Dtype> dtypes_;
  const std::optional<float> init_value_;
};

void expect_count(const char* argument, std::size_t expected, std::size_t actual) {
  if (expected != actual) {
    throw std::invalid_argument(
        fmt::format("[metal_kernel] {} has {} entries; expected {}", argument, actual, expected));
  }
}

void expect_positive(const char* argument, const std::tuple<int, int, int>& lengths, int least) {
  const int lowest = std::min({std::get<0>(lengths), std::get<1>(lengths), std::get<2>(lengths)});
  if (lowest < least) {
    throw std::invalid_argument(
        fmt::format("[metal_kernel] {} ({}, {}, {}): each axis is at least {}", argument,
                    std::get<0>(lengths), std::get<1>(lengths), std::get<2>(lengths), least));
  }
}

std::vector<array> call_kernel(const ops::CustomKernel& kernel, const CustomKernelCall& call) {
  expect_count("inputs", kernel.input_names.size(), call.inputs.size());
  expect_count("output_shapes", kernel.output_names.size(), call.output_shapes.size());
  expect_count("output_dtypes", kernel.output_names.size(), call.output_dtypes.size());
  expect_positive("grid", call.grid, 0);
  expect_positive("threadgroup", call.threadgroup, 1);
  if (!runtime::device_available()) {
    throw std::runtime_error("[metal_kernel] there is no device to run kernels on");
  }
  const Stream stream =
      call.stream.is_given() ? call.stream.resolve() : default_stream(DeviceType::Gpu);
  if (stream.device.type != DeviceType::Gpu) {
    throw std::invalid_argument("[metal_kernel] a stream on the cpu; kernels run on the gpu");
  }
  const auto number = static_cast<std::uint32_t>(stream.index);
  std::vector<array> inputs;
  std::vector<graph::NodePointer> nodes;
  for (const array& input : call.inputs) {
    const bool is_scalar = input.ndim() == 0 && input.node().is_constant();
    inputs.push_back(is_scalar                      ? input
                     : kernel.ensure_row_contiguous ? ops::row_contiguous(input, number)
                                                    : ops::viewable(input));
    nodes.push_back(inputs.back().node_pointer());
  }
  ops::CustomKernelText text =
      ops::custom_kernel_text(kernel, inputs, call.output_dtypes, call.template_arguments);
  if (call.verbose) {
    fmt::print("Generated source code for {}:\n{}\n", text.host_name, text.text);
    std::fflush(stdout);
  }
  return ops::make_outputs(
      call.output_shapes, call.output_dtypes,
      std::make_shared<CustomKernelPrimitive>(std::move(text), kernel.options.math_mode, call),
      nodes, number);
}

}  // namespace

namespace fast {

MathMode math_mode_named(const std::string& name) {
  if (name == "safe") {
    return MathMode::Safe;
  }
  if (name == "relaxed") {
    return MathMode::Relaxed;
  }
  if (name == "fast") {
    return MathMode::Fast;
  }
  throw std::invalid_argument(
      fmt::format("[metal_kernel] math mode '{}'; possible are safe, relaxed and fast", name));
}

CustomKernelFunction metal_kernel(const std::string& name,
                                  const std::vector<std::string>& input_names,
                                  const std::vector<std::string>& output_names,
                                  const std::string& source,
                                  const std::string& header,
                                  bool ensure_row_contiguous,
                                  bool atomic_outputs,
                                  CompileOptions options) {
  if (output_names.empty()) {
    throw std::invalid_argument("[metal_kernel] no output names; a kernel has at least one output");
  }
  ops::CustomKernel kernel{name,   input_names,           output_names,   source,
                           header, ensure_row_contiguous, atomic_outputs, options};
  return [kernel = std::move(kernel)](const CustomKernelCall& call) {
    return call_kernel(kernel, call);
  };
}

}  // namespace fast
}  // namespace pewter
