#include "pewter/api/backend/msl_kernel.h"

#include <fmt/core.h>
#include <pewter/backend_errors.h>
#include <pewter/mps_shader.h>
#include <pewter/mps_stream.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "pewter/api/backend/exception_text.h"
#include "pewter/api/backend/own_stream.h"
#include "pewter/api/backend/transfer.h"
#include "pewter/runtime/outcome.h"
#include "pewter/runtime/stream.h"

namespace pewter::backend {
namespace {

constexpr std::size_t kMostAxes = 3;

/// 1 to 3 lengths of at least 1, missing ones added.
std::vector<std::int64_t> checked_axes(const std::vector<std::int64_t>& lengths, const char* what) {
  if (lengths.empty() || lengths.size() > kMostAxes) {
    throw std::invalid_argument(
        fmt::format("[execute_kernel] {} of {} axes; 1 to 3 are possible", what, lengths.size()));
  }
  for (const std::int64_t length : lengths) {
    if (length < 1) {
      throw std::invalid_argument(fmt::format(
          "[execute_kernel] {} with a length of {}; at least 1 is needed", what, length));
    }
  }
  std::vector<std::int64_t> axes = lengths;
  axes.resize(kMostAxes, 1);
  return axes;
}

mps::LaunchOptions launch_options(const LaunchSizes& sizes) {
  mps::LaunchOptions options;
  if (!sizes.grid.lengths() && !sizes.block.lengths()) {
    return options;
  }
  static const std::vector<std::int64_t> nothing;
  const auto grid = checked_axes(sizes.grid.lengths().value_or(nothing), "a grid_size");
  const auto block = checked_axes(sizes.block.lengths().value_or(nothing), "a block_size");
  std::vector<std::int64_t> threads(kMostAxes);
  for (std::size_t axis = 0; axis < kMostAxes; ++axis) {
    if (__builtin_mul_overflow(grid[axis], block[axis], &threads[axis])) {
      throw std::invalid_argument(
          fmt::format("[execute_kernel] {} groups of {} threads are too many to count", grid[axis],
                      block[axis]));
    }
  }
  options.threads = mps::Extent(threads);
  options.group_size = mps::Extent(block);
  return options;
}

/// The arguments of one call, with the copies that stand for host arrays.
class Arguments {
 public:
  explicit Arguments(const std::vector<Value>& values) {
    for (const Value& value : values) {
      bound_.push_back(bound(value));
    }
  }

  const std::vector<mps::Argument>& bound() const { return bound_; }

  /// Copies what the kernel wrote to the copies back. A host array that it did not write to keeps
  /// its digits, which the copy of a float64 does not have.
  void copy_back() const {
    for (const Copied& copied : copies_) {
      const HostArray after = to_host(copied.device);
      // Bytes, because NaN differs from itself.
      if (std::memcmp(after.bytes(), copied.before.bytes(), after.nbytes()) != 0) {
        copied.host.assign(after, HostArray::Casting::Unsafe);
      }
    }
  }

  /// Whether somebody has to wait for the kernel, to copy back.
  bool has_copies() const { return !copies_.empty(); }

 private:
  struct Copied {
    HostArray host;
    HostArray before;
    array device;
  };

  mps::Argument bound(const Value& value) {
    if (value.is_array()) {
      return value.as_array();
    }
    if (value.is_host_array()) {
      const HostArray& host = value.as_host_array();
      const array device = to_device(host);
      copies_.push_back({host, to_host(device), device});
      return device;
    }
    if (value.is_list()) {
      return bound_list(value.as_list());
    }
    if (value.is_fraction()) {
      return value.as_number();
    }
    return value.as_integer();
  }

  mps::Argument bound_list(const Value::List& values) {
    const auto every = [&](const auto& is) {
      return std::all_of(values.begin(), values.end(), is);
    };
    if (!values.empty() && every([](const Value& value) { return value.is_array(); })) {
      std::vector<array> arrays;
      for (const Value& value : values) {
        arrays.push_back(value.as_array());
      }
      return arrays;
    }
    if (every([](const Value& value) { return !value.is_fraction(); })) {
      std::vector<std::int64_t> numbers;
      for (const Value& value : values) {
        numbers.push_back(value.as_integer());
      }
      return numbers;
    }
    std::vector<double> numbers;
    for (const Value& value : values) {
      numbers.push_back(value.as_number());
    }
    return numbers;
  }

  std::vector<mps::Argument> bound_;
  std::vector<Copied> copies_;
};

/// Collects what becomes of the command buffers that a stream is given, until the end of the scope.
class NotedTasks {
 public:
  NotedTasks(runtime::Stream& stream, std::vector<std::shared_ptr<const runtime::Outcome>>& tasks)
      : stream_(stream) {
    stream_.note_tasks(&tasks);
  }
  ~NotedTasks() { stream_.note_tasks(nullptr); }
  NotedTasks(const NotedTasks&) = delete;
  NotedTasks& operator=(const NotedTasks&) = delete;

 private:
  runtime::Stream& stream_;
};

/// Waits for a launch, and throws what becomes of it to whoever asked for it: threads that wait for
/// other work do not learn of it, and it does not learn of theirs.
void launch_and_wait(const mps::Kernel& kernel,
                     const std::vector<mps::Argument>& arguments,
                     const mps::LaunchOptions& options) {
  const std::shared_ptr<runtime::Stream> stream = own_stream();
  const mps::StreamScope scope{mps::Stream(stream)};
  // What is in a command buffer with a kernel that faults fails too.
  stream->commit();
  std::vector<std::shared_ptr<const runtime::Outcome>> tasks;
  {
    const auto guard = stream->exclusive();
    const NotedTasks noted(*stream, tasks);
    kernel(arguments, options);
  }
  stream->wait_on_host(stream->open_task());
  for (const auto& task : tasks) {
    task->raise();
  }
}

class MslBody final : public KernelBody {
 public:
  explicit MslBody(mps::Kernel kernel) : kernel_(std::move(kernel)) {}

  Value call(const std::vector<Value>& values, const LaunchSizes& sizes) const override {
    if (values.empty()) {
      throw MetalError(
          fmt::format("kernel '{}' was called without arguments; pass its buffers in the order of "
                      "their indices",
                      kernel_.name()));
    }
    const mps::LaunchOptions options = launch_options(sizes);
    const Arguments arguments(values);
    // execute_kernel() gives sizes, and waits.
    if (arguments.has_copies() || sizes.grid.lengths()) {
      launch_and_wait(kernel_, arguments.bound(), options);
      arguments.copy_back();
    } else {
      kernel_(arguments.bound(), options);
    }
    return Value();
  }

 private:
  mps::Kernel kernel_;
};

}  // namespace

Kernel compile_msl(std::string_view source, const std::string& name) {
  try {
    return Kernel(std::make_shared<MslBody>(mps::compile_shader(source).kernel(name)));
  } catch (const std::runtime_error& error) {
    const std::exception_ptr cause = std::current_exception();
    throw_with_cause(MSLCompilationError(name, error.what(), cause), cause);
  }
}

}  // namespace pewter::backend
