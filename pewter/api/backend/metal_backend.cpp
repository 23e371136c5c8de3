#include <fmt/core.h>
#include <pewter/errors.h>
#include <pewter/eval.h>
#include <pewter/memory.h>
#include <pewter/metal_backend.h>
#include <pewter/mps_stream.h>
#include <pewter/ops.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "pewter/api/backend/allocated_dtype.h"
#include "pewter/api/backend/array_registry.h"
#include "pewter/api/backend/exception_text.h"
#include "pewter/api/backend/host_dtype.h"
#include "pewter/api/backend/msl_kernel.h"
#include "pewter/api/backend/own_stream.h"
#include "pewter/api/backend/transfer.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/graph/streams.h"
#include "pewter/runtime/stream.h"

namespace pewter::backend {
namespace {

/// Rethrows the exception being handled as a MetalError that has it as its cause.
[[noreturn]] void throw_metal_error(const char* origin) {
  const std::exception_ptr cause = std::current_exception();
  throw_with_cause(MetalError(fmt::format("[{}] {}", origin, exception_text(cause)), cause), cause);
}

/// Waits for what the calling thread has submitted, as arrays and as shaders. Throws what failed of
/// it, but not of the stream that all threads share: that may be another thread's.
void wait_for_this_thread() {
  const auto shared = runtime::shared_stream();
  shared->wait_on_host(shared->open_task());
  own_stream()->synchronize();
  graph::synchronize_thread_streams();
}

/// Calls a kernel, with a stream of its thread's own for the shaders that it launches.
Value call_on_own_stream(const Kernel& kernel,
                         const std::vector<Value>& arguments,
                         const LaunchSizes& sizes) {
  const auto stream = own_stream();
  // What is in a command buffer with a kernel that faults fails too.
  stream->commit();
  const mps::StreamScope scope{mps::Stream(stream)};
  Value result = kernel.call(arguments, sizes);
  pewter::eval(result.arrays());
  wait_for_this_thread();
  return result;
}

/// A size that was left out is one of no axes; only kernels that are called by themselves choose.
mps::Extent given(const mps::Extent& size) {
  return size.lengths() ? size : mps::Extent(std::vector<std::int64_t>());
}

/// Copies host arrays to the device, then calls the function.
class CompiledBody final : public KernelBody {
 public:
  explicit CompiledBody(Kernel function) : function_(std::move(function)) {}

  Value call(const std::vector<Value>& arguments, const LaunchSizes& sizes) const override {
    std::vector<Value> on_device;
    for (const Value& argument : arguments) {
      on_device.push_back(argument.is_host_array() ? Value(to_device(argument.as_host_array()))
                                                   : argument);
    }
    Value outcome = function_.call(on_device, sizes);
    pewter::eval(outcome.arrays());
    return outcome;
  }

 private:
  Kernel function_;
};

}  // namespace

struct MetalBackend::State {
  int device_id = 0;
  ArrayRegistry registry;

  std::mutex compile_mutex;  // guards the members below
  std::map<std::pair<KernelBody::Identity, std::optional<std::string>>, Kernel> compiled;
  /// What `compiled` has the identities of must not end before it.
  std::vector<Kernel> functions;
  std::map<std::pair<std::string, std::string>, Kernel> compiled_msl;
};

MetalBackend::MetalBackend(int device_id) : state_(std::make_unique<State>()) {
  if (device_id < 0) {
    throw std::invalid_argument(
        fmt::format("[MetalBackend] device_id {}; it is at least 0", device_id));
  }
  state_->device_id = device_id;
}

MetalBackend::~MetalBackend() {
  clear_cache();
}

bool MetalBackend::is_available() const {
  return device_usable();
}

int MetalBackend::device_id() const {
  return state_->device_id;
}

array MetalBackend::allocate(const Shape& shape, HostDtype dtype) {
  require_metal("MetalBackend::allocate");
  try {
    const std::size_t bytes =
        graph::element_count(shape, backend::size_of(dtype)) * backend::size_of(dtype);
    const array made = pewter::zeros(shape, allocated_dtype(dtype));
    state_->registry.add(made, bytes, dtype);
    return made;
  } catch (const std::exception&) {
    throw_metal_error("MetalBackend::allocate");
  }
}

array MetalBackend::allocate(const Shape& shape, std::string_view dtype) {
  require_metal("MetalBackend::allocate");
  if (const std::optional<HostDtype> known = host_dtype_named(dtype)) {
    return allocate(shape, *known);
  }
  try {
    const std::optional<std::size_t> bytes = other_dtype_bytes(dtype);
    if (!bytes) {
      throw TypeError(fmt::format("data type '{}' is not known", dtype));
    }
    const std::size_t count = graph::element_count(shape, std::max<std::size_t>(*bytes, 1));
    const array made = pewter::zeros(shape, float_instead_of(dtype));
    state_->registry.add(made, count * *bytes, HostDtype::Float32);
    return made;
  } catch (const std::exception&) {
    throw_metal_error("MetalBackend::allocate");
  }
}

void MetalBackend::free(const array& value) {
  state_->registry.remove(value);
}

array MetalBackend::copy_to_device(const HostArray& source) {
  require_metal("MetalBackend::copy_to_device");
  try {
    const array made = to_device(source);
    state_->registry.add(made, source.nbytes(), source.dtype());
    return made;
  } catch (const std::exception&) {
    throw_metal_error("MetalBackend::copy_to_device");
  }
}

HostArray MetalBackend::copy_to_host(const HostArray& source) {
  require_metal("MetalBackend::copy_to_host");
  return source.copy();
}

HostArray MetalBackend::copy_to_host(const array& source) {
  require_metal("MetalBackend::copy_to_host");
  state_->registry.touch(source);
  try {
    return to_host(source);
  } catch (const std::exception&) {
    throw_metal_error("MetalBackend::copy_to_host");
  }
}

HostArray MetalBackend::copy_to_host(const Value& source) {
  require_metal("MetalBackend::copy_to_host");
  if (source.is_host_array()) {
    return copy_to_host(source.as_host_array());
  }
  if (!source.is_array()) {
    throw MetalError(
        fmt::format("[MetalBackend::copy_to_host] {} where an array is needed", source.kind()));
  }
  return copy_to_host(source.as_array());
}

void MetalBackend::synchronize() {
  if (!is_available()) {
    return;
  }
  try {
    runtime::synchronize_all();
  } catch (const std::exception&) {
    throw_metal_error("MetalBackend::synchronize");
  }
}

KernelExecutionResult MetalBackend::run_kernel(const Kernel& kernel,
                                               const LaunchSizes& sizes,
                                               const std::vector<Value>& arguments) {
  KernelExecutionResult outcome;
  try {
    require_metal("MetalBackend::execute_kernel");
  } catch (const MetalError&) {
    outcome.error = std::current_exception();
    return outcome;
  }

  const ArrayRegistry::Use use(state_->registry, Value(arguments).arrays());
  const auto start = std::chrono::steady_clock::now();
  try {
    outcome.result = call_on_own_stream(kernel, arguments, {given(sizes.grid), given(sizes.block)});
    outcome.success = true;
  } catch (const std::exception&) {
    outcome.error = std::current_exception();
  }
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  outcome.execution_time_ms = elapsed.count();
  return outcome;
}

Kernel MetalBackend::compile_kernel(const Kernel& function,
                                    const std::optional<std::string>& signature) {
  require_metal("MetalBackend::compile_kernel");
  const KernelBody::Identity identity = function.identity();
  const std::scoped_lock lock(state_->compile_mutex);
  Kernel& kernel = state_->compiled[{identity, signature}];
  if (!kernel.is_callable()) {
    kernel = Kernel(std::make_shared<CompiledBody>(function));
    state_->functions.push_back(function);
  }
  return kernel;
}

Kernel MetalBackend::compile_kernel(std::string_view source, const std::string& name) {
  require_metal("MetalBackend::compile_kernel");
  const std::scoped_lock lock(state_->compile_mutex);
  const std::pair key(std::string(source), name);
  const auto found = state_->compiled_msl.find(key);
  if (found != state_->compiled_msl.end()) {
    return found->second;
  }
  return state_->compiled_msl.emplace(key, compile_msl(source, name)).first->second;
}

MetalMemoryInfo MetalBackend::get_memory_info() const noexcept {
  if (!is_available()) {
    return {};
  }
  const ArrayRegistry::Totals totals = state_->registry.totals();
  return {totals.bytes, totals.count, get_cache_memory(), get_peak_memory()};
}

void MetalBackend::clear_cache() noexcept {
  if (is_available()) {
    pewter::clear_cache();
  }
}

std::vector<MetalBufferRecord> MetalBackend::buffer_registry() const {
  return state_->registry.records();
}

std::string MetalBackend::repr() const {
  if (!is_available()) {
    return "MetalBackend(available=False)";
  }
  const MetalMemoryInfo info = get_memory_info();
  return fmt::format("MetalBackend(device={}, available=True, buffers={}, cache={}KB)",
                     state_->device_id, info.buffer_count, info.cache_memory / 1024);
}

}  // namespace pewter::backend
