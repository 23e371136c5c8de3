#include <doctest/doctest.h>
#include <pewter/backend_errors.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "pewter/api/backend/exception_text.h"

using namespace pewter::backend;

namespace {

std::exception_ptr cause() {
  return std::make_exception_ptr(std::invalid_argument("the cause"));
}

bool contains(const std::exception& exception, const std::string& part) {
  return std::string(exception.what()).find(part) != std::string::npos;
}

/// Whether the text has all the parts and a copy has the same text.
template <typename Exception>
bool says(const Exception& exception, const std::vector<std::string>& parts) {
  const Exception copy = exception;  // NOLINT(performance-unnecessary-copy-initialization)
  for (const std::string& part : parts) {
    if (!contains(exception, part) || !contains(copy, part)) {
      return false;
    }
  }
  return true;
}

template <typename Derived, typename... Bases>
constexpr bool kDerives =
    (std::is_base_of_v<Bases, Derived> && ...) && std::is_base_of_v<PyDotComputeError, Derived> &&
    std::is_base_of_v<std::runtime_error, Derived> && std::is_copy_constructible_v<Derived>;

}  // namespace

TEST_CASE("backend 27: only compilations of kernels are errors of kernels too") {
  CHECK(!std::is_base_of_v<KernelError, CompilationError>);
  CHECK_THROWS_AS(throw KernelCompilationError("k7", cause()), KernelError);
  CHECK_THROWS_AS(throw KernelCompilationError("k7", cause()), CompilationError);
  CHECK_THROWS_AS(throw KernelCompilationError("k7", cause()), PyDotComputeError);
}

TEST_CASE("backend 27: errors that share their root keep text and cause when they are nested") {
  try {
    throw_with_cause(KernelCompilationError("k7", cause()), cause());
  } catch (const KernelError& error) {
    CHECK(says(error, {"k7", "the cause"}));
    CHECK(error.cause() != nullptr);
    CHECK_THROWS_AS(std::rethrow_if_nested(error), std::invalid_argument);
  }
}

TEST_CASE("backend 27: every exception has its place in the tree") {
  CHECK(kDerives<KernelNotFoundError, KernelError>);
  CHECK(kDerives<KernelStateError, KernelError>);
  CHECK(kDerives<KernelAlreadyExistsError, KernelError>);
  CHECK(kDerives<MessageSerializationError, MessageError>);
  CHECK(kDerives<MessageDeserializationError, MessageError>);
  CHECK(kDerives<MessageValidationError, MessageError>);
  CHECK(kDerives<QueueFullError, QueueError>);
  CHECK(kDerives<QueueEmptyError, QueueError>);
  CHECK(kDerives<QueueTimeoutError, QueueError>);
  CHECK(kDerives<BufferNotAllocatedError, BufferError>);
  CHECK(kDerives<BufferSyncError, BufferError>);
  CHECK(kDerives<AllocationError, BufferError>);
  CHECK(kDerives<OutOfMemoryError, AllocationError>);
  CHECK(kDerives<BackendNotAvailableError, BackendError>);
  CHECK(kDerives<BackendExecutionError, BackendError>);
  CHECK(kDerives<CUDAError, BackendError>);
  CHECK(kDerives<MetalError, BackendError>);
  CHECK(kDerives<MSLCompilationError, MetalError>);
  CHECK(kDerives<KernelCompilationError, CompilationError, KernelError>);
  CHECK(kDerives<InvalidConfigurationError, ValidationError>);
  CHECK(kDerives<TypeValidationError, ValidationError>);
  CHECK_FALSE(std::is_base_of_v<BackendError, BufferError>);
  CHECK_FALSE(std::is_base_of_v<MetalError, BufferSyncError>);
}

TEST_CASE("backend 27: exceptions of kernels and queues keep what they were made with") {
  const KernelNotFoundError missing("k7", {"first", "second"});
  CHECK(missing.kernel_id() == "k7");
  CHECK(missing.available() == std::vector<std::string>{"first", "second"});
  CHECK(says(missing, {"k7", "first", "second"}));
  CHECK(KernelNotFoundError("k7").available().empty());

  const KernelStateError state("k7", "stopped", "launch");
  CHECK(state.current_state() == "stopped");
  CHECK(state.operation() == "launch");
  CHECK(says(state, {"k7", "stopped", "launch"}));
  CHECK(says(KernelAlreadyExistsError("k7"), {"k7"}));

  const QueueFullError full("k7", 128);
  CHECK(full.queue_size() == 128);
  CHECK(says(full, {"k7", "128"}));
  const QueueTimeoutError late("k7", 2.5, "receive");
  CHECK(late.timeout() == 2.5);
  CHECK(says(late, {"k7", "2.5", "receive"}));
}

TEST_CASE("backend 27: exceptions that wrap another have it as their cause") {
  const BufferSyncError sync("host->metal", cause());
  CHECK(sync.direction() == "host->metal");
  CHECK(says(sync, {"host->metal", "the cause"}));
  CHECK_THROWS_WITH_AS(std::rethrow_exception(sync.cause()), "the cause", std::invalid_argument);

  CHECK(says(MessageSerializationError("Ping", cause()), {"Ping", "the cause"}));
  CHECK(says(MessageDeserializationError("Ping", cause()), {"Ping", "the cause"}));
  const KernelCompilationError compilation("k7", cause());
  CHECK(compilation.kernel_name() == "k7");
  CHECK(compilation.cause() != nullptr);
  CHECK(says(compilation, {"k7", "the cause"}));
}

TEST_CASE("backend 27: exceptions of backends and values keep what they were made with") {
  const BackendNotAvailableError absent("metal", "no framework");
  CHECK(absent.backend_name() == "metal");
  CHECK(absent.reason() == "no framework");
  CHECK(says(absent, {"metal", "no framework"}));

  const MSLCompilationError shader("add", "1:5: error: no");
  CHECK(shader.shader_name() == "add");
  CHECK(shader.error_message() == "1:5: error: no");
  CHECK(says(shader, {"add", "1:5: error: no"}));

  const InvalidConfigurationError value("size", "-1", "must be positive");
  CHECK(value.parameter() == "size");
  CHECK(says(value, {"size", "-1", "must be positive"}));
  const TypeValidationError type("float", "int", "argument 2");
  CHECK(type.actual() == "int");
  CHECK(says(type, {"float", "int", "argument 2"}));
}

TEST_CASE("backend 27: an exception thrown because of another is found by the standard's means") {
  try {
    throw_with_cause(MetalError("outer", cause()), cause());
  } catch (const MetalError& error) {
    CHECK(std::string(error.what()) == "outer");
    CHECK_THROWS_WITH_AS(std::rethrow_if_nested(error), "the cause", std::invalid_argument);
  }
  CHECK_THROWS_WITH_AS(throw_with_cause(MetalError("alone"), nullptr), "alone", MetalError);
}
