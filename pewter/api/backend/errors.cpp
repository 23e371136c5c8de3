#include <fmt/core.h>
#include <fmt/ranges.h>
#include <pewter/backend_errors.h>

#include <utility>

#include "pewter/api/backend/exception_text.h"

namespace pewter::backend {

PyDotComputeError::PyDotComputeError(const std::string& text, std::exception_ptr cause)
    : std::runtime_error(text), cause_(std::move(cause)) {}

KernelError::KernelError(const std::string& text, std::exception_ptr cause) {
  PyDotComputeError::operator=(PyDotComputeError(text, std::move(cause)));
}

KernelError::KernelError(const KernelError& other) : PyDotComputeError(other) {
  PyDotComputeError::operator=(other);
}

CompilationError::CompilationError(const std::string& text, std::exception_ptr cause) {
  PyDotComputeError::operator=(PyDotComputeError(text, std::move(cause)));
}

CompilationError::CompilationError(const CompilationError& other) : PyDotComputeError(other) {
  PyDotComputeError::operator=(other);
}

MessageError::MessageError(const std::string& text, std::exception_ptr cause)
    : PyDotComputeError(text, std::move(cause)) {}

QueueError::QueueError(const std::string& text, std::exception_ptr cause)
    : PyDotComputeError(text, std::move(cause)) {}

BufferError::BufferError(const std::string& text, std::exception_ptr cause)
    : PyDotComputeError(text, std::move(cause)) {}

BackendError::BackendError(const std::string& text, std::exception_ptr cause)
    : PyDotComputeError(text, std::move(cause)) {}

ValidationError::ValidationError(const std::string& text, std::exception_ptr cause)
    : PyDotComputeError(text, std::move(cause)) {}

KernelNotFoundError::KernelNotFoundError(std::string kernel_id, std::vector<std::string> available)
    : KernelError(
          available.empty()
              ? fmt::format("no kernel '{}'", kernel_id)
              : fmt::format("no kernel '{}'; there are {}", kernel_id, fmt::join(available, ", "))),
      kernel_id_(std::move(kernel_id)),
      available_(std::move(available)) {}

KernelStateError::KernelStateError(std::string kernel_id,
                                   std::string current_state,
                                   std::string operation)
    : KernelError(fmt::format("kernel '{}' is {}: cannot {}", kernel_id, current_state, operation)),
      kernel_id_(std::move(kernel_id)),
      current_state_(std::move(current_state)),
      operation_(std::move(operation)) {}

KernelAlreadyExistsError::KernelAlreadyExistsError(std::string kernel_id)
    : KernelError(fmt::format("there is a kernel '{}' already", kernel_id)),
      kernel_id_(std::move(kernel_id)) {}

KernelCompilationError::KernelCompilationError(std::string kernel_name,
                                               const std::exception_ptr& cause)
    : CompilationError(
          fmt::format("kernel '{}' does not compile: {}", kernel_name, exception_text(cause)),
          cause),
      KernelError(CompilationError::what(), cause),
      kernel_name_(std::move(kernel_name)) {}

MessageSerializationError::MessageSerializationError(std::string message_type,
                                                     const std::exception_ptr& cause)
    : MessageError(
          fmt::format("cannot write a message {}: {}", message_type, exception_text(cause)), cause),
      message_type_(std::move(message_type)) {}

MessageDeserializationError::MessageDeserializationError(std::string message_type,
                                                         const std::exception_ptr& cause)
    : MessageError(fmt::format("cannot read a message {}: {}", message_type, exception_text(cause)),
                   cause),
      message_type_(std::move(message_type)) {}

MessageValidationError::MessageValidationError(const std::string& text) : MessageError(text) {}

QueueFullError::QueueFullError(std::string kernel_id, std::size_t queue_size)
    : QueueError(
          fmt::format("the queue of kernel '{}' is full with {} messages", kernel_id, queue_size)),
      kernel_id_(std::move(kernel_id)),
      queue_size_(queue_size) {}

QueueEmptyError::QueueEmptyError(const std::string& text) : QueueError(text) {}

QueueTimeoutError::QueueTimeoutError(std::string kernel_id, double timeout, std::string operation)
    : QueueError(
          fmt::format("{} on kernel '{}' took more than {} s", operation, kernel_id, timeout)),
      kernel_id_(std::move(kernel_id)),
      timeout_(timeout),
      operation_(std::move(operation)) {}

BufferNotAllocatedError::BufferNotAllocatedError()
    : BufferError("the buffer is not allocated; call allocate() first") {}

BufferSyncError::BufferSyncError(std::string direction, const std::exception_ptr& cause)
    : BufferError(fmt::format("cannot copy a buffer {}: {}", direction, exception_text(cause)),
                  cause),
      direction_(std::move(direction)) {}

AllocationError::AllocationError(const std::string& text, const std::exception_ptr& cause)
    : BufferError(text, cause) {}

OutOfMemoryError::OutOfMemoryError(const std::string& text, const std::exception_ptr& cause)
    : AllocationError(text, cause) {}

BackendNotAvailableError::BackendNotAvailableError(std::string backend_name, std::string reason)
    : BackendError(fmt::format("backend '{}' is not available: {}", backend_name, reason)),
      backend_name_(std::move(backend_name)),
      reason_(std::move(reason)) {}

BackendExecutionError::BackendExecutionError(const std::string& text,
                                             const std::exception_ptr& cause)
    : BackendError(text, cause) {}

CUDAError::CUDAError(const std::string& text, const std::exception_ptr& cause)
    : BackendError(text, cause) {}

MetalError::MetalError(const std::string& text, const std::exception_ptr& cause)
    : BackendError(text, cause) {}

MSLCompilationError::MSLCompilationError(std::string shader_name,
                                         std::string error_message,
                                         const std::exception_ptr& cause)
    : MetalError(fmt::format("shader '{}' does not compile: {}", shader_name, error_message),
                 cause),
      shader_name_(std::move(shader_name)),
      error_message_(std::move(error_message)) {}

InvalidConfigurationError::InvalidConfigurationError(std::string parameter,
                                                     std::string value,
                                                     std::string reason)
    : ValidationError(fmt::format("{} = {}: {}", parameter, value, reason)),
      parameter_(std::move(parameter)),
      value_(std::move(value)),
      reason_(std::move(reason)) {}

TypeValidationError::TypeValidationError(std::string expected,
                                         std::string actual,
                                         std::string context)
    : ValidationError(fmt::format("{}: {} instead of {}", context, actual, expected)),
      expected_(std::move(expected)),
      actual_(std::move(actual)),
      context_(std::move(context)) {}

}  // namespace pewter::backend
