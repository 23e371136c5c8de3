#pragma once

#include <pewter/backend.h>
#include <pewter/export.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pewter::backend {

/// Where an array stands in a backend's registry.
/// `InUse` while kernels run that were given it; `Freed` arrays are in no registry.
enum class MetalBufferState : std::uint8_t { Allocated, Freed, InUse };

/// What a backend keeps of an array that it made.
struct MetalBufferRecord {
  /// The same for all handles of the array.
  const void* array_id = nullptr;
  /// Of the type that was asked for.
  std::size_t size = 0;
  Shape shape;
  HostDtype dtype = HostDtype::Float32;
  MetalBufferState state = MetalBufferState::Allocated;
  std::chrono::system_clock::time_point created_at;
  /// When it was last copied to the host or given to a kernel.
  std::chrono::system_clock::time_point last_accessed;
};

/// The memory that a backend knows of. All but the count are bytes.
struct MetalMemoryInfo {
  /// What its arrays hold, counted in the types that were asked for.
  std::size_t allocated = 0;
  /// How many arrays those are.
  std::size_t buffer_count = 0;
  /// Of the process; see <pewter/memory.h>.
  std::size_t cache_memory = 0;
  std::size_t peak_memory = 0;

  bool operator==(const MetalMemoryInfo&) const = default;
};

/// Arrays and kernels on the Metal device.
///
/// Without a device, and in a child forked from a process that used it, construction succeeds and
/// is_available() is false; then whatever needs the device throws MetalError and the rest does
/// nothing. A backend remembers the arrays that it made until they are freed or the last handle
/// goes; memory is the arrays' own, so they outlive the backend. Every method may be called from
/// any thread at any time, also by a kernel while it runs.
class PEWTER_EXPORT MetalBackend final : public Backend {
 public:
  /// `device_id` is kept, and whatever its value there is one device. Throws std::invalid_argument
  /// for a negative one.
  explicit MetalBackend(int device_id = 0);
  MetalBackend(const MetalBackend&) = delete;
  MetalBackend& operator=(const MetalBackend&) = delete;
  ~MetalBackend() override;

  BackendType backend_type() const override { return BackendType::METAL; }
  bool is_available() const override;
  int device_count() const override { return is_available() ? 1 : 0; }
  int device_id() const;

  // Arrays.

  /// Zeros of the device's type for `dtype`: float64 becomes float32, and so does, with a warning
  /// in the log, what the device lacks. The array is lazy: it takes memory when it is evaluated.
  /// Throws MetalError, with what went wrong nested in it.
  array allocate(const Shape& shape, HostDtype dtype) override;
  /// The type by any name that np.dtype() takes for one; structures have none. What HostDtype lacks
  /// becomes float32, with a warning in the log.
  array allocate(const Shape& shape, std::string_view dtype);
  array allocate_zeros(const Shape& shape, HostDtype dtype) { return allocate(shape, dtype); }
  array allocate_zeros(const Shape& shape, std::string_view dtype) {
    return allocate(shape, dtype);
  }
  /// Forgets an array. It stays usable, and its memory goes with its last handle. Does nothing for
  /// an array that the backend does not know.
  void free(const array& value) override;
  void free(std::nullptr_t /*nothing*/) {}

  /// A snapshot of the elements; float64 becomes float32, complex64 stays. Throws MetalError for
  /// complex128 and when there is no memory.
  array copy_to_device(const HostArray& source) override;
  /// The elements, evaluated, row by row, in memory of the caller's own. bfloat16 becomes float32.
  /// Throws MetalError when the device failed.
  HostArray copy_to_host(const array& source) override;
  /// A copy.
  HostArray copy_to_host(const HostArray& source);
  /// Throws MetalError unless the value is an array or a host array.
  HostArray copy_to_host(const Value& source);

  /// Waits for all submitted work on all streams. Evaluates nothing. Throws MetalError with the
  /// first failure.
  void synchronize() override;

  // Kernels.

  /// Calls the kernel, evaluates what it returns and waits for it, and for all else that the
  /// calling thread has started. Meanwhile mps::current_stream() is one of the thread's own, so
  /// that what fails in other threads is theirs.
  ///
  /// What the kernel or the evaluation throws ends up in the result, unless it is no
  /// std::exception: that goes on to the caller. Host arrays are passed as they are. The sizes are
  /// for kernels from MSL text, which need both: number of threadgroups, and threads in each.
  KernelExecutionResult run_kernel(const Kernel& kernel,
                                   const LaunchSizes& sizes,
                                   const std::vector<Value>& arguments) override;

  /// A kernel that copies host arrays among its arguments to the device, calls `function` and
  /// evaluates what comes out. The operations of one call are fused as those of any arrays are. The
  /// same function and signature give the same kernel. Throws TypeError when `function` is not
  /// callable, MetalError without a device.
  Kernel compile_kernel(const Kernel& function,
                        const std::optional<std::string>& signature = std::nullopt) override;
  /// The kernel `name` of a text in the Metal Shading Language, compiled at once; called like an
  /// mps::Kernel. It writes into the arrays that are passed, and what it writes to the copies of
  /// host arrays is copied back to these. The same text and name give the same kernel. Throws
  /// MSLCompilationError for text that does not compile and a kernel that is not in it.
  Kernel compile_kernel(std::string_view source, const std::string& name = "kernel_main");
  Kernel compile_kernel(const char* source, const std::string& name = "kernel_main") {
    return compile_kernel(std::string_view(source), name);
  }
  Kernel compile_kernel(const std::string& source, const std::string& name = "kernel_main") {
    return compile_kernel(std::string_view(source), name);
  }

  // Memory.

  /// Never throws; all 0 without a device.
  MetalMemoryInfo get_memory_info() const noexcept;
  /// What the allocator keeps for reuse goes back to the system. Never throws.
  void clear_cache() noexcept;
  /// The arrays that it knows, by the order in which it made them.
  std::vector<MetalBufferRecord> buffer_registry() const;

  /// For people, for instance "MetalBackend(device=0, available=True, buffers=2, cache=16KB)".
  std::string repr() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
};

// Kernels that are ready to use; nothing without a device. They take arrays, host arrays and
// numbers, broadcast as NumPy does, are lazy and return an array that no backend knows.

/// a + b.
PEWTER_EXPORT std::optional<Kernel> get_vector_add_kernel();
/// a @ b. Shapes that do not fit throw std::invalid_argument.
PEWTER_EXPORT std::optional<Kernel> get_matrix_multiply_kernel();
/// add, sub, mul, div, sqrt, exp, log, sin, cos, abs, square or negative; nothing for another name.
PEWTER_EXPORT std::optional<Kernel> get_elementwise_kernel(std::string_view operation);

}  // namespace pewter::backend
