#pragma once

#include <Metal/Metal.hpp>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace examples {

/// What stopped an example: a missing file, a compile error, a failed command buffer.
class GpuError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device, a queue, and how long things took.
class Gpu {
 public:
  /// Throws GpuError when there is no device.
  Gpu();

  /// Compiles a source file; the kernels then come from `pipeline`. Starts the clock of
  /// `compile_ms`.
  void load(const std::string& source_file);

  /// Throws GpuError with the compiler's messages when the kernel does not compile.
  NS::SharedPtr<MTL::ComputePipelineState> pipeline(const std::string& kernel);

  template <typename T>
  NS::SharedPtr<MTL::Buffer> buffer(const std::vector<T>& values) {
    return buffer(values.size() * sizeof(T), values.data());
  }
  /// Zero-filled unless `content` is given.
  NS::SharedPtr<MTL::Buffer> buffer(std::size_t bytes, const void* content = nullptr);

  /// Encodes and runs the work three times; returns the shortest device time in milliseconds.
  double run(const std::function<void(MTL::ComputeCommandEncoder*)>& encode);

  /// Milliseconds spent on compiling since `load`.
  double compile_ms() const { return compile_ms_; }

 private:
  double run_once(const std::function<void(MTL::ComputeCommandEncoder*)>& encode);

  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  NS::SharedPtr<MTL::Library> library_;
  double compile_ms_ = 0;
};

/// The content of a buffer as an array of T.
template <typename T>
const T* contents(const NS::SharedPtr<MTL::Buffer>& buffer) {
  return static_cast<const T*>(buffer->contents());
}

}  // namespace examples
