#pragma once

#include <pewter/export.h>

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// What the backends throw, as one tree.
///
/// What an exception was constructed with can be asked of it, and is part of its text. One that
/// wraps another holds it in cause(), and std::rethrow_if_nested() finds it when the library threw
/// it. All can be copied.
namespace pewter::backend {

/// The root of the tree.
class PEWTER_EXPORT PyDotComputeError : public std::runtime_error {
 public:
  explicit PyDotComputeError(const std::string& text, std::exception_ptr cause = nullptr);

  /// What this was thrown because of; null when there is nothing.
  const std::exception_ptr& cause() const { return cause_; }

 protected:
  /// For classes that have it as a virtual base, and set it themselves.
  PyDotComputeError() : std::runtime_error("") {}

 private:
  std::exception_ptr cause_;
};

/// With CompilationError the base of KernelCompilationError, so the root is shared. Whatever class
/// is derived from these two, also by std::throw_with_nested(), they set the root.
class PEWTER_EXPORT KernelError : public virtual PyDotComputeError {
 public:
  explicit KernelError(const std::string& text, std::exception_ptr cause = nullptr);
  KernelError(const KernelError& other);
  KernelError& operator=(const KernelError&) = default;
};

class PEWTER_EXPORT CompilationError : public virtual PyDotComputeError {
 public:
  explicit CompilationError(const std::string& text, std::exception_ptr cause = nullptr);
  CompilationError(const CompilationError& other);
  CompilationError& operator=(const CompilationError&) = default;
};

class PEWTER_EXPORT MessageError : public PyDotComputeError {
 public:
  explicit MessageError(const std::string& text, std::exception_ptr cause = nullptr);
};

class PEWTER_EXPORT QueueError : public PyDotComputeError {
 public:
  explicit QueueError(const std::string& text, std::exception_ptr cause = nullptr);
};

class PEWTER_EXPORT BufferError : public PyDotComputeError {
 public:
  explicit BufferError(const std::string& text, std::exception_ptr cause = nullptr);
};

class PEWTER_EXPORT BackendError : public PyDotComputeError {
 public:
  explicit BackendError(const std::string& text, std::exception_ptr cause = nullptr);
};

class PEWTER_EXPORT ValidationError : public PyDotComputeError {
 public:
  explicit ValidationError(const std::string& text, std::exception_ptr cause = nullptr);
};

// Kernels.

class PEWTER_EXPORT KernelNotFoundError : public KernelError {
 public:
  explicit KernelNotFoundError(std::string kernel_id, std::vector<std::string> available = {});

  const std::string& kernel_id() const { return kernel_id_; }
  const std::vector<std::string>& available() const { return available_; }

 private:
  std::string kernel_id_;
  std::vector<std::string> available_;
};

class PEWTER_EXPORT KernelStateError : public KernelError {
 public:
  KernelStateError(std::string kernel_id, std::string current_state, std::string operation);

  const std::string& kernel_id() const { return kernel_id_; }
  const std::string& current_state() const { return current_state_; }
  const std::string& operation() const { return operation_; }

 private:
  std::string kernel_id_;
  std::string current_state_;
  std::string operation_;
};

class PEWTER_EXPORT KernelAlreadyExistsError : public KernelError {
 public:
  explicit KernelAlreadyExistsError(std::string kernel_id);

  const std::string& kernel_id() const { return kernel_id_; }

 private:
  std::string kernel_id_;
};

class PEWTER_EXPORT KernelCompilationError : public CompilationError, public KernelError {
 public:
  KernelCompilationError(std::string kernel_name, const std::exception_ptr& cause);

  const std::string& kernel_name() const { return kernel_name_; }

 private:
  std::string kernel_name_;
};

// Messages.

class PEWTER_EXPORT MessageSerializationError : public MessageError {
 public:
  MessageSerializationError(std::string message_type, const std::exception_ptr& cause);

  const std::string& message_type() const { return message_type_; }

 private:
  std::string message_type_;
};

class PEWTER_EXPORT MessageDeserializationError : public MessageError {
 public:
  MessageDeserializationError(std::string message_type, const std::exception_ptr& cause);

  const std::string& message_type() const { return message_type_; }

 private:
  std::string message_type_;
};

class PEWTER_EXPORT MessageValidationError : public MessageError {
 public:
  explicit MessageValidationError(const std::string& text);
};

// Queues.

class PEWTER_EXPORT QueueFullError : public QueueError {
 public:
  QueueFullError(std::string kernel_id, std::size_t queue_size);

  const std::string& kernel_id() const { return kernel_id_; }
  std::size_t queue_size() const { return queue_size_; }

 private:
  std::string kernel_id_;
  std::size_t queue_size_;
};

class PEWTER_EXPORT QueueEmptyError : public QueueError {
 public:
  explicit QueueEmptyError(const std::string& text);
};

class PEWTER_EXPORT QueueTimeoutError : public QueueError {
 public:
  /// `timeout` in seconds.
  QueueTimeoutError(std::string kernel_id, double timeout, std::string operation);

  const std::string& kernel_id() const { return kernel_id_; }
  double timeout() const { return timeout_; }
  const std::string& operation() const { return operation_; }

 private:
  std::string kernel_id_;
  double timeout_;
  std::string operation_;
};

// Buffers.

class PEWTER_EXPORT BufferNotAllocatedError : public BufferError {
 public:
  BufferNotAllocatedError();
};

class PEWTER_EXPORT BufferSyncError : public BufferError {
 public:
  /// `direction` is "host->metal" or "metal->host".
  BufferSyncError(std::string direction, const std::exception_ptr& cause);

  const std::string& direction() const { return direction_; }

 private:
  std::string direction_;
};

class PEWTER_EXPORT AllocationError : public BufferError {
 public:
  explicit AllocationError(const std::string& text, const std::exception_ptr& cause = nullptr);
};

class PEWTER_EXPORT OutOfMemoryError : public AllocationError {
 public:
  explicit OutOfMemoryError(const std::string& text, const std::exception_ptr& cause = nullptr);
};

// Backends.

/// For backends whose arrays need a library that may be missing; those of MetalBackend do not.
class PEWTER_EXPORT BackendNotAvailableError : public BackendError {
 public:
  BackendNotAvailableError(std::string backend_name, std::string reason);

  const std::string& backend_name() const { return backend_name_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string backend_name_;
  std::string reason_;
};

class PEWTER_EXPORT BackendExecutionError : public BackendError {
 public:
  explicit BackendExecutionError(const std::string& text,
                                 const std::exception_ptr& cause = nullptr);
};

class PEWTER_EXPORT CUDAError : public BackendError {
 public:
  explicit CUDAError(const std::string& text, const std::exception_ptr& cause = nullptr);
};

class PEWTER_EXPORT MetalError : public BackendError {
 public:
  explicit MetalError(const std::string& text, const std::exception_ptr& cause = nullptr);
};

/// MSL text that does not compile, or lacks the kernel that was asked for.
class PEWTER_EXPORT MSLCompilationError : public MetalError {
 public:
  MSLCompilationError(std::string shader_name,
                      std::string error_message,
                      const std::exception_ptr& cause = nullptr);

  const std::string& shader_name() const { return shader_name_; }
  /// What the compiler said.
  const std::string& error_message() const { return error_message_; }

 private:
  std::string shader_name_;
  std::string error_message_;
};

// Values.

class PEWTER_EXPORT InvalidConfigurationError : public ValidationError {
 public:
  InvalidConfigurationError(std::string parameter, std::string value, std::string reason);

  const std::string& parameter() const { return parameter_; }
  const std::string& value() const { return value_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string parameter_;
  std::string value_;
  std::string reason_;
};

class PEWTER_EXPORT TypeValidationError : public ValidationError {
 public:
  /// The names of the two types, and where they met.
  TypeValidationError(std::string expected, std::string actual, std::string context);

  const std::string& expected() const { return expected_; }
  const std::string& actual() const { return actual_; }
  const std::string& context() const { return context_; }

 private:
  std::string expected_;
  std::string actual_;
  std::string context_;
};

}  // namespace pewter::backend
