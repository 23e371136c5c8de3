#pragma once

#include <Metal/Metal.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pewter::runtime {

class ShaderLibrary;

/// What the compiler may do to floating-point arithmetic, by Metal's own numbers.
enum class MathMode : std::uint8_t { Safe = 0, Relaxed = 1, Fast = 2 };

/// Threads of the groups that a kernel is dispatched with; whole simdgroups need less code.
enum class GroupSizes : std::uint8_t { Any, WholeSimdgroups };

/// A compiled kernel with what must be bound to it. Never changes; keeps its library alive.
struct ShaderKernel {
  std::string name;
  /// Counts up from 1 over all kernels of the process.
  std::uint64_t number = 0;
  NS::SharedPtr<MTL::ComputePipelineState> pipeline;
  /// Indices of the buffers that the kernel uses.
  std::vector<std::size_t> used_buffers;
  std::shared_ptr<const ShaderLibrary> library;

  std::size_t max_threads() const { return pipeline->maxTotalThreadsPerThreadgroup(); }
};

/// Kernels compiled from a text or loaded from a library image. Safe to use from any thread.
class ShaderLibrary : public std::enable_shared_from_this<ShaderLibrary> {
 public:
  /// Throws ShaderSyntaxError with every error that the compiler found, std::runtime_error for any
  /// other failure.
  static std::shared_ptr<ShaderLibrary> compile(std::string_view source);
  static std::shared_ptr<ShaderLibrary> compile(std::string_view source, MathMode mode);
  /// Throw std::runtime_error when the library cannot be loaded.
  static std::shared_ptr<ShaderLibrary> load_file(const std::string& path);
  static std::shared_ptr<ShaderLibrary> load_image(std::span<const std::byte> image);

  explicit ShaderLibrary(NS::SharedPtr<MTL::Library> library) : library_(std::move(library)) {}

  /// Host names of the kernels, in alphabetical order.
  std::vector<std::string> kernel_names() const;

  /// For groups of `sizes`; others work too, and may cost a compilation. Throws std::runtime_error,
  /// with the name, for an unknown kernel or one that does not compile.
  std::shared_ptr<const ShaderKernel> kernel(const std::string& name,
                                             GroupSizes sizes = GroupSizes::Any);

 private:
  std::shared_ptr<const ShaderKernel> make_kernel(const std::string& name, GroupSizes sizes) const;

  const NS::SharedPtr<MTL::Library> library_;

  std::mutex mutex_;  // guards the member below
  std::map<std::string, std::weak_ptr<const ShaderKernel>> kernels_;
};

}  // namespace pewter::runtime
