#pragma once

#include <pewter/array.h>
#include <pewter/backend_errors.h>
#include <pewter/backend_kernel.h>
#include <pewter/export.h>
#include <pewter/host_array.h>
#include <pewter/kernel_value.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pewter::backend {

enum class BackendType : std::uint8_t { CPU, CUDA, METAL };

/// How one run of a kernel went.
struct KernelExecutionResult {
  bool success = false;
  /// On the wall, from the call of the kernel until everything it computed was there.
  double execution_time_ms = 0;
  /// The very exception that ended the run; null when it succeeded.
  std::exception_ptr error = nullptr;
  /// What the kernel returned, evaluated. No part of what makes two results equal.
  Value result = {};

  bool operator==(const KernelExecutionResult& other) const {
    return success == other.success && execution_time_ms == other.execution_time_ms &&
           error == other.error;
  }
};

/// A place where arrays live and kernels run.
class PEWTER_EXPORT Backend {
 public:
  virtual ~Backend() = default;

  virtual BackendType backend_type() const = 0;
  virtual bool is_available() const = 0;
  virtual int device_count() const = 0;

  /// Zeros.
  virtual array allocate(const Shape& shape, HostDtype dtype) = 0;
  virtual void free(const array& value) = 0;
  virtual array copy_to_device(const HostArray& source) = 0;
  virtual HostArray copy_to_host(const array& source) = 0;
  virtual void synchronize() = 0;

  /// Runs a kernel and says how it went; see run_kernel().
  template <typename... Arguments>
  KernelExecutionResult execute_kernel(const Kernel& kernel,
                                       const mps::Extent& grid_size,
                                       const mps::Extent& block_size,
                                       Arguments&&... arguments) {
    return run_kernel(kernel, {grid_size, block_size},
                      {Value(std::forward<Arguments>(arguments))...});
  }
  virtual KernelExecutionResult run_kernel(const Kernel& kernel,
                                           const LaunchSizes& sizes,
                                           const std::vector<Value>& arguments) = 0;

  virtual Kernel compile_kernel(const Kernel& function,
                                const std::optional<std::string>& signature = std::nullopt) = 0;

 protected:
  Backend() = default;
  Backend(const Backend&) = default;
  Backend& operator=(const Backend&) = default;
};

/// An array that is freed in its backend when this goes.
class PEWTER_EXPORT BackendArray {
 public:
  /// The backend must outlive it.
  BackendArray(array data, Backend& backend, bool owns_data = true);
  BackendArray(BackendArray&& other) noexcept;
  BackendArray& operator=(BackendArray&&) = delete;
  ~BackendArray();

  const array& data() const { return data_; }
  Backend& backend() const { return backend_; }
  const Shape& shape() const { return data_.shape(); }
  Dtype dtype() const { return data_.dtype(); }
  std::size_t nbytes() const { return data_.nbytes(); }

  HostArray to_host() const { return backend_.copy_to_host(data_); }
  void synchronize() const { backend_.synchronize(); }

 private:
  array data_;
  Backend& backend_;
  bool owns_data_;
};

}  // namespace pewter::backend
