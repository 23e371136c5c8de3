#include <fmt/core.h>
#include <pewter/mps_shader.h>

#include <cstring>
#include <optional>
#include <stdexcept>

#include "pewter/api/mps_device.h"
#include "pewter/array/graph/node.h"
#include "pewter/runtime/kernel_argument.h"
#include "pewter/runtime/launch.h"
#include "pewter/runtime/shader_library.h"
#include "pewter/runtime/stream.h"

namespace pewter::mps {
namespace {

/// Turns the arguments of one call into what the runtime binds.
class Arguments {
 public:
  Arguments(const std::string& kernel, const ArgumentCasts& casts)
      : kernel_(kernel), casts_(casts) {}

  void add(const Argument& argument) {
    std::visit([&](const auto& value) { launch.arguments.push_back(bound(value)); },
               argument.value());
  }

  runtime::Launch launch;
  /// Elements of the first array.
  std::optional<std::size_t> first_size;
  /// The arrays, for the profiler.
  std::string description;

 private:
  std::runtime_error failure(const std::string& reason) const {
    return std::runtime_error(fmt::format("[mps::compile_shader] {}: argument {}: {}", kernel_,
                                          launch.arguments.size(), reason));
  }

  std::optional<runtime::ArgumentCast> cast() const {
    const std::string* name = casts_.of(launch.arguments.size());
    return name == nullptr ? std::nullopt : std::optional(runtime::argument_cast(*name));
  }

  static runtime::BufferArgument memory_of(const array& value) {
    const graph::Node& node = value.evaluated();
    return {node.size == 0 ? runtime::Buffer() : node.memory(), node.byte_offset()};
  }

  runtime::KernelArgument bound(const array& value) {
    if (value.placement() == Placement::Host && value.ndim() > 0) {
      throw failure(
          fmt::format("{} on the host; only arrays of rank 0 may be there", value.description()));
    }
    if (!first_size) {
      first_size = value.size();
    }
    description += (description.empty() ? "" : ", ") + value.description();
    if (value.placement() == Placement::Device) {
      return memory_of(value);
    }
    runtime::BytesArgument element;
    element.bytes.resize(value.itemsize());
    std::memcpy(element.bytes.data(), value.node().first(), value.itemsize());
    return element;
  }

  runtime::KernelArgument bound(double value) { return runtime::pack_floats({&value, 1}, cast()); }

  runtime::KernelArgument bound(std::int64_t value) {
    return runtime::pack_integers({&value, 1}, cast());
  }

  runtime::KernelArgument bound(const std::vector<double>& values) {
    expect_elements(values.size());
    return runtime::pack_floats(values, cast());
  }

  runtime::KernelArgument bound(const std::vector<std::int64_t>& values) {
    expect_elements(values.size());
    return runtime::pack_integers(values, cast());
  }

  runtime::KernelArgument bound(const std::vector<array>& values) {
    expect_elements(values.size());
    runtime::BufferListArgument list;
    for (const array& value : values) {
      if (value.placement() != Placement::Device) {
        throw failure(fmt::format("a list with {} on the host; its arrays must be on the device",
                                  value.description()));
      }
      list.buffers.push_back(memory_of(value));
    }
    return list;
  }

  void expect_elements(std::size_t count) const {
    if (count == 0) {
      throw failure("an empty list");
    }
  }

  const std::string& kernel_;
  const ArgumentCasts& casts_;
};

}  // namespace

void Kernel::operator()(const std::vector<Argument>& arguments,
                        const LaunchOptions& options) const {
  require_device("[mps::compile_shader]");
  Arguments bound(kernel_->name, options.arg_casts);
  for (const Argument& argument : arguments) {
    bound.add(argument);
  }

  runtime::Launch& launch = bound.launch;
  if (options.threads.lengths()) {
    launch.threads = *options.threads.lengths();
  } else if (bound.first_size) {
    launch.threads = {static_cast<std::int64_t>(*bound.first_size)};
  } else {
    throw std::runtime_error(
        fmt::format("[mps::compile_shader] {}: no array among the arguments to take the number of "
                    "threads from; give threads",
                    kernel_->name));
  }
  launch.group_size = options.group_size.lengths();
  launch.error_index = options.error_buf_idx;
  launch.description = fmt::format("{}({})", kernel_->name, bound.description);
  runtime::launch(*current_runtime_stream(), kernel_, launch);
}

const std::string& Kernel::name() const {
  return kernel_->name;
}

std::size_t Kernel::max_threads_per_threadgroup() const {
  return kernel_->max_threads();
}

std::size_t Kernel::thread_execution_width() const {
  return kernel_->pipeline->threadExecutionWidth();
}

std::size_t Kernel::static_thread_group_memory_length() const {
  return kernel_->pipeline->staticThreadgroupMemoryLength();
}

Kernel ShaderLibrary::kernel(const std::string& name) const {
  require_device("[mps::compile_shader]");
  return Kernel(library_->kernel(name));
}

std::vector<std::string> ShaderLibrary::function_names() const {
  return library_->kernel_names();
}

ShaderLibrary compile_shader(std::string_view source) {
  require_device("[mps::compile_shader]");
  return ShaderLibrary(runtime::ShaderLibrary::compile(source));
}

ShaderLibrary load_metallib(const std::filesystem::path& path) {
  require_device("[mps::load_metallib]");
  return ShaderLibrary(runtime::ShaderLibrary::load_file(path.string()));
}

ShaderLibrary load_metallib(std::span<const std::byte> image) {
  require_device("[mps::load_metallib]");
  return ShaderLibrary(runtime::ShaderLibrary::load_image(image));
}

}  // namespace pewter::mps
