#pragma once

#include <pewter/array.h>
#include <pewter/errors.h>
#include <pewter/export.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pewter::runtime {
class ShaderLibrary;
struct ShaderKernel;
}  // namespace pewter::runtime

namespace pewter::mps {

using pewter::ShaderSyntaxError;

/// One argument of a kernel.
///
/// An array on the device is bound as its memory at its own offset; its strides are not passed. An
/// array of rank 0 on the host is bound as the bytes of its element. A floating-point number is
/// bound as 4 bytes, a whole number as 8, lists of them one after the other, and a list of device
/// arrays as their addresses (an argument buffer).
class PEWTER_EXPORT Argument {
 public:
  using Value = std::variant<array,
                             double,
                             std::int64_t,
                             std::vector<double>,
                             std::vector<std::int64_t>,
                             std::vector<array>>;

  Argument(array value) : value_(std::move(value)) {}
  template <std::floating_point T>
  Argument(T value) : value_(static_cast<double>(value)) {}
  /// Throws std::overflow_error above 2^63 - 1.
  template <std::integral T>
  Argument(T value) : value_(to_integer(value)) {}
  template <std::floating_point T>
  Argument(const std::vector<T>& values)
      : value_(std::vector<double>(values.begin(), values.end())) {}
  template <std::integral T>
  Argument(const std::vector<T>& values) : value_(to_integers(values)) {}
  Argument(std::vector<array> values) : value_(std::move(values)) {}

  const Value& value() const { return value_; }

 private:
  template <std::integral T>
  static std::int64_t to_integer(T value) {
    if (!std::in_range<std::int64_t>(value)) {
      throw std::overflow_error("[mps::compile_shader] argument " + std::to_string(value) +
                                " does not fit in a signed integer of 8 bytes");
    }
    return static_cast<std::int64_t>(value);
  }
  static std::int64_t to_integer(bool value) { return value ? 1 : 0; }

  template <std::integral T>
  static std::vector<std::int64_t> to_integers(const std::vector<T>& values) {
    std::vector<std::int64_t> converted;
    for (const T value : values) {
      converted.push_back(to_integer(value));
    }
    return converted;
  }

  Value value_;
};

/// Threads or a group size: nothing, a number, or 1 to 3 numbers.
class Extent {
 public:
  Extent() = default;
  template <std::integral T>
  Extent(T length) : lengths_(std::in_place, {static_cast<std::int64_t>(length)}) {}
  Extent(std::initializer_list<std::int64_t> lengths) : lengths_(lengths) {}
  explicit Extent(std::vector<std::int64_t> lengths) : lengths_(std::move(lengths)) {}

  const std::optional<std::vector<std::int64_t>>& lengths() const { return lengths_; }

 private:
  std::optional<std::vector<std::int64_t>> lengths_;
};

/// What numbers become on their way to a kernel: `fp16`, `bf16`, `int32`, `int16`, `int8` or
/// `uint8`, for every number and list of numbers or for single arguments by their index.
class ArgumentCasts {
 public:
  ArgumentCasts() = default;
  ArgumentCasts(const char* all) : all_(all) {}
  ArgumentCasts(std::string all) : all_(std::move(all)) {}
  ArgumentCasts(std::initializer_list<std::pair<const std::size_t, std::string>> by_index)
      : by_index_(by_index) {}
  explicit ArgumentCasts(std::map<std::size_t, std::string> by_index)
      : by_index_(std::move(by_index)) {}

  /// The cast for argument `index`; null when there is none.
  const std::string* of(std::size_t index) const {
    if (all_) {
      return &*all_;
    }
    const auto found = by_index_.find(index);
    return found == by_index_.end() ? nullptr : &found->second;
  }

 private:
  std::optional<std::string> all_;
  std::map<std::size_t, std::string> by_index_;
};

/// How a kernel is launched.
struct LaunchOptions {
  /// Threads along each axis, not groups. Without it: as many as the first array argument has
  /// elements.
  Extent threads = {};
  /// As many axes as `threads`. Without it: as wide as the kernel allows, 1 along the others.
  Extent group_size = {};
  ArgumentCasts arg_casts = {};
  /// Binds the stream's error records at that index (`#include <pewter/mps/error.h>`); what a
  /// kernel reports there is thrown by the next synchronize().
  std::optional<std::size_t> error_buf_idx = std::nullopt;
};

/// A kernel of a ShaderLibrary, which it keeps alive. Cheap to copy; safe to call from any thread.
class PEWTER_EXPORT Kernel {
 public:
  /// Submits one run; argument i is bound to buffer index i. Does not wait: whoever reads an array
  /// does.
  ///
  /// Throws std::runtime_error or std::invalid_argument for arguments, threads or groups that make
  /// no sense; then nothing has run. No threads along some axis: nothing runs.
  void operator()(const std::vector<Argument>& arguments, const LaunchOptions& options = {}) const;

  const std::string& name() const;
  std::size_t max_threads_per_threadgroup() const;
  std::size_t thread_execution_width() const;
  std::size_t static_thread_group_memory_length() const;

  /// For the library.
  explicit Kernel(std::shared_ptr<const runtime::ShaderKernel> kernel)
      : kernel_(std::move(kernel)) {}

 private:
  std::shared_ptr<const runtime::ShaderKernel> kernel_;
};

/// Compiled kernels by name. Cheap to copy.
class PEWTER_EXPORT ShaderLibrary {
 public:
  /// Throws std::runtime_error with the name when there is no such kernel.
  Kernel kernel(const std::string& name) const;
  Kernel operator[](const std::string& name) const { return kernel(name); }

  /// Host names of all kernels, in alphabetical order.
  std::vector<std::string> function_names() const;

  /// For the library.
  explicit ShaderLibrary(std::shared_ptr<runtime::ShaderLibrary> library)
      : library_(std::move(library)) {}

 private:
  std::shared_ptr<runtime::ShaderLibrary> library_;
};

/// Compiles a text of the Metal Shading Language. Nothing is put before it; headers that ship with
/// pewter (`pewter/mps/error.h`, `pewter/mps/random.h`) can be included.
///
/// Throws ShaderSyntaxError with every error that the compiler found, std::runtime_error without a
/// device and for other failures. PYTORCH_MPS_FAST_MATH selects fast math.
PEWTER_EXPORT ShaderLibrary compile_shader(std::string_view source);

/// Loads a compiled library from a file, or from an image in memory. Throws std::runtime_error when
/// the device cannot.
PEWTER_EXPORT ShaderLibrary load_metallib(const std::filesystem::path& path);
PEWTER_EXPORT ShaderLibrary load_metallib(std::span<const std::byte> image);

}  // namespace pewter::mps
