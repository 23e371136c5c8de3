#pragma once

#include <doctest/doctest.h>

#include <Metal/Metal.hpp>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/support/text.h"

namespace pewter::test {

/// Length of one `[[threadgroup(n)]]` argument; n counts up from 0 in the order of the arguments.
struct ThreadgroupMemory {
  std::size_t bytes = 0;
};

/// One argument of a dispatch; made by `Gpu::run` from vectors, values and ThreadgroupMemory.
struct Binding {
  enum class Kind { Buffer, Bytes, Threadgroup, Texture, Sampler };

  Kind kind = Kind::Buffer;
  const void* source = nullptr;
  /// Where the buffer's content goes after the run; null for input.
  void* result = nullptr;
  std::size_t bytes = 0;
};

/// How `Gpu::run` starts a kernel.
struct Shape {
  MTL::Size grid = MTL::Size(1, 1, 1);
  MTL::Size group = MTL::Size(32, 1, 1);
};

inline MTL::Size size(std::size_t width, std::size_t height = 1, std::size_t depth = 1) {
  return MTL::Size(width, height, depth);
}

/// A device, a queue and an autorelease pool: what almost every test of the device needs.
///
///     Gpu gpu;
///     std::vector<float> in = {1, 2, 3}, out(3);
///     gpu.run(source, "twice", {.grid = size(3)}, in, out, 2.0f);
///
/// A step that fails ends the test and prints the error's text.
class Gpu {
 public:
  Gpu();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  MTL::Device* device() const { return device_.get(); }
  MTL::CommandQueue* queue() const { return queue_.get(); }

  NS::SharedPtr<MTL::Library> library(const std::string& source,
                                      const MTL::CompileOptions* options = nullptr) const;

  /// What the compiler says about a source text that must not compile: all lines.
  std::string library_error(const std::string& source,
                            const MTL::CompileOptions* options = nullptr) const;

  /// What is said about a kernel of a library that compiles when its pipeline must fail: all lines.
  std::string pipeline_error(const std::string& source,
                             const std::string& kernel,
                             const MTL::FunctionConstantValues* constants = nullptr) const;

  NS::SharedPtr<MTL::ComputePipelineState> pipeline(
      const std::string& source,
      const std::string& kernel,
      const MTL::FunctionConstantValues* constants = nullptr) const;
  NS::SharedPtr<MTL::ComputePipelineState> pipeline(
      MTL::Library* library,
      const std::string& kernel,
      const MTL::FunctionConstantValues* constants = nullptr) const;

  /// A shared buffer with a copy of `values`; one byte long when there are none.
  template <typename T>
  NS::SharedPtr<MTL::Buffer> buffer(const std::vector<T>& values) const {
    return buffer(values.data(), values.size() * sizeof(T));
  }
  NS::SharedPtr<MTL::Buffer> buffer(const void* bytes, std::size_t byte_count) const;

  /// Runs a kernel once and waits. Arguments take buffer indices 0, 1, ... in their order: a vector
  /// becomes a buffer, and one that is not const gets the buffer's content back; any other value is
  /// bound with setBytes; ThreadgroupMemory sets the length of the next threadgroup argument
  /// instead. Textures and samplers take indices of their own, 0, 1, ...
  template <typename... Arguments>
  void run(MTL::ComputePipelineState* pipeline,
           const Shape& shape,
           Arguments&&... arguments) const {
    const Binding bindings[] = {binding(arguments)..., Binding{}};
    const std::string error =
        run_bindings(pipeline, shape, std::span(bindings, sizeof...(Arguments)));
    REQUIRE_MESSAGE(error.empty(), error);
  }
  template <typename... Arguments>
  void run(const std::string& source,
           const std::string& kernel,
           const Shape& shape,
           Arguments&&... arguments) const {
    run(pipeline(source, kernel).get(), shape, arguments...);
  }

  /// As `run`, for a dispatch that must fail: the text of the command buffer's error.
  template <typename... Arguments>
  std::string run_error(MTL::ComputePipelineState* pipeline,
                        const Shape& shape,
                        Arguments&&... arguments) const {
    const Binding bindings[] = {binding(arguments)..., Binding{}};
    const std::string error =
        run_bindings(pipeline, shape, std::span(bindings, sizeof...(Arguments)));
    CHECK_MESSAGE(!error.empty(), "the command buffer completed");
    return error;
  }

 private:
  template <typename T>
  static Binding binding(std::vector<T>& values) {
    return {Binding::Kind::Buffer, values.data(), values.data(), values.size() * sizeof(T)};
  }
  template <typename T>
  static Binding binding(const std::vector<T>& values) {
    return {Binding::Kind::Buffer, values.data(), nullptr, values.size() * sizeof(T)};
  }
  template <typename T>
  static Binding binding(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {Binding::Kind::Bytes, &value, nullptr, sizeof(T)};
  }
  static Binding binding(MTL::Texture* texture) {
    return {Binding::Kind::Texture, texture, nullptr, 0};
  }
  static Binding binding(MTL::SamplerState* sampler) {
    return {Binding::Kind::Sampler, sampler, nullptr, 0};
  }
  static Binding binding(const ThreadgroupMemory& memory) {
    return {Binding::Kind::Threadgroup, nullptr, nullptr, memory.bytes};
  }
  static Binding binding(ThreadgroupMemory& memory) {
    return binding(static_cast<const ThreadgroupMemory&>(memory));
  }

  std::string run_bindings(MTL::ComputePipelineState* pipeline,
                           const Shape& shape,
                           std::span<const Binding> bindings) const;

  NS::SharedPtr<NS::AutoreleasePool> pool_;
  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
};

}  // namespace pewter::test
