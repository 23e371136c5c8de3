#include "tools/dispatch.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "tools/failure.h"
#include "tools/sizes.h"

namespace pewter::tools {
namespace {

MTL::Size to_size(const std::vector<std::uint64_t>& shape) {
  const auto at = [&](std::size_t i) { return i < shape.size() ? shape[i] : 1; };
  return MTL::Size(at(0), at(1), at(2));
}

MTL::Size choose_group(const Kernel& kernel, const RunRequest& request) {
  const std::uint64_t limit = kernel.pipeline->maxTotalThreadsPerThreadgroup();
  if (!request.group.empty()) {
    const std::uint64_t threads = element_count(request.group);
    if (threads > limit) {
      command_error("threadgroup of {} = {} threads exceeds the limit of {} for kernel '{}'",
                    format_shape(request.group), threads, limit, kernel.name);
    }
    return to_size(request.group);
  }
  static const std::vector<std::uint64_t> defaults[] = {{256}, {16, 16}, {8, 8, 4}};
  std::vector<std::uint64_t> group = defaults[request.grid.size() - 1];
  for (std::size_t i = 0; i < group.size(); ++i) {
    group[i] = std::min(group[i], request.grid[i]);
  }
  return element_count(group) <= limit ? to_size(group) : MTL::Size(1, 1, 1);
}

// The type on the command line wins, but a mistake should not go unseen.
void warn_of_type(const KernelParameter& parameter, const ValueType& given, std::string_view flag) {
  ValueType expected;
  if (type_of_data_type(parameter.data_type, expected) && expected.element != given.element) {
    fmt::print(stderr, "pewter: warning: {} {}: the kernel expects {}, not {}\n", flag,
               parameter.name, expected.name(), given.name());
  }
}

void check_size(const KernelParameter& parameter, std::uint64_t bytes, std::string_view flag) {
  if (bytes < parameter.data_bytes) {
    command_error("{} {}: {} bytes are too few, the kernel reads {}", flag, parameter.name, bytes,
                  parameter.data_bytes);
  }
}

/// Binds parameters one after another and remembers which.
class Binder {
 public:
  Binder(const Kernel& kernel, MTL::ComputeCommandEncoder* encoder)
      : kernel_(kernel), encoder_(encoder) {}

  void buffer(const Named<BufferSource>& given, const MTL::Buffer* buffer) {
    const KernelParameter& parameter = claim(given.name, true, "--buffer");
    warn_of_type(parameter, given.value.type, "--buffer");
    check_size(parameter, given.value.byte_count, "--buffer");
    encoder_->setBuffer(buffer, 0, parameter.index);
  }

  void bytes(const Named<TypedValue>& given) {
    const KernelParameter& parameter = claim(given.name, true, "--bytes");
    warn_of_type(parameter, given.value.type, "--bytes");
    check_size(parameter, given.value.bytes.size(), "--bytes");
    encoder_->setBytes(given.value.bytes.data(), given.value.bytes.size(), parameter.index);
  }

  void threadgroup(const Named<std::uint64_t>& given) {
    const KernelParameter& parameter = claim(given.name, false, "--threadgroup");
    const std::uint64_t limit = kernel_.device->maxThreadgroupMemoryLength();
    if (given.value > limit) {
      command_error("--threadgroup {}: {} bytes exceed the limit of {}", given.name, given.value,
                    limit);
    }
    // Metal wants multiples of 16.
    encoder_->setThreadgroupMemoryLength((given.value + 15) / 16 * 16, parameter.index);
  }

  void check_complete() const {
    for (const KernelParameter& parameter : kernel_.parameters) {
      if (!parameter.used || bound_.count(&parameter) != 0) {
        continue;
      }
      if (parameter.is_buffer) {
        command_error(
            "kernel '{0}' needs '{1}' at buffer({2}); add --buffer {1}=... or --bytes {1}=...",
            kernel_.name, parameter.name, parameter.index);
      }
      command_error("kernel '{0}' needs '{1}' at threadgroup({2}); add --threadgroup {1}=BYTES",
                    kernel_.name, parameter.name, parameter.index);
    }
  }

 private:
  const KernelParameter& claim(const std::string& name, bool is_buffer, std::string_view flag) {
    const KernelParameter& parameter = find_parameter(kernel_, name, is_buffer, flag);
    if (!bound_.insert(&parameter).second) {
      command_error("{} {}: '{}' is bound twice", flag, name, parameter.name);
    }
    return parameter;
  }

  const Kernel& kernel_;
  MTL::ComputeCommandEncoder* encoder_;
  std::set<const KernelParameter*> bound_;
};

NS::SharedPtr<MTL::Buffer> make_buffer(const Kernel& kernel, const Named<BufferSource>& given) {
  const std::uint64_t limit = kernel.device->maxBufferLength();
  if (given.value.byte_count > limit) {
    command_error("--buffer {}: {} exceed the device's limit of {}", given.name,
                  format_bytes(given.value.byte_count), format_bytes(limit));
  }
  auto buffer = NS::TransferPtr(
      kernel.device->newBuffer(given.value.byte_count, MTL::ResourceStorageModeShared));
  if (!buffer) {
    command_error("--buffer {}: not enough memory for {}", given.name,
                  format_bytes(given.value.byte_count));
  }
  given.value.fill({static_cast<std::byte*>(buffer->contents()), given.value.byte_count});
  return buffer;
}

double run_once(const Kernel& kernel,
                const RunRequest& request,
                const RunResult& result,
                MTL::CommandQueue* queue) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(kernel.pipeline.get());
  Binder binder(kernel, encoder);
  try {
    for (std::size_t i = 0; i < request.buffers.size(); ++i) {
      binder.buffer(request.buffers[i], result.buffers[i].get());
    }
    for (const auto& given : request.bytes) {
      binder.bytes(given);
    }
    for (const auto& given : request.threadgroup) {
      binder.threadgroup(given);
    }
    binder.check_complete();
  } catch (...) {
    encoder->endEncoding();
    throw;
  }
  encoder->dispatchThreads(result.grid, result.group);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();

  if (commands->status() != MTL::CommandBufferStatusCompleted) {
    const NS::Error* error = commands->error();
    throw CommandError(error == nullptr ? "kernel '" + kernel.name + "' failed"
                                        : error->localizedDescription()->utf8String());
  }
  return (commands->GPUEndTime() - commands->GPUStartTime()) * 1000;
}

}  // namespace

std::span<const std::byte> RunResult::content(std::size_t buffer) const {
  return {static_cast<const std::byte*>(buffers[buffer]->contents()), buffers[buffer]->length()};
}

RunResult run_kernel(const Kernel& kernel, const RunRequest& request) {
  RunResult result;
  result.grid = to_size(request.grid);
  result.group = choose_group(kernel, request);
  for (const auto& given : request.buffers) {
    find_parameter(kernel, given.name, true, "--buffer");
    result.buffers.push_back(make_buffer(kernel, given));
  }
  const auto queue = NS::TransferPtr(kernel.device->newCommandQueue());
  for (std::uint32_t i = 0; i < request.repeat; ++i) {
    result.run_ms.push_back(run_once(kernel, request, result, queue.get()));
  }
  return result;
}

}  // namespace pewter::tools
