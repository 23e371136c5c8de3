#include "pewter/runtime/launch.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "pewter/runtime/allocator.h"
#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/error_records.h"
#include "pewter/runtime/profiler.h"
#include "pewter/runtime/scheduler.h"

namespace pewter::runtime {
namespace {

// The most that Metal copies into a command buffer.
constexpr std::size_t kMaxInlineBytes = 4096;
constexpr std::size_t kMaxBufferIndex = 30;
constexpr std::uint64_t kNoElements = 0;

std::runtime_error failure(const ShaderKernel& kernel, const std::string& reason) {
  return std::runtime_error(fmt::format("[mps::compile_shader] {}: {}", kernel.name, reason));
}

std::invalid_argument bad_value(const ShaderKernel& kernel, const std::string& reason) {
  return std::invalid_argument(fmt::format("[mps::compile_shader] {}: {}", kernel.name, reason));
}

MTL::Size to_size(const Extents& extents) {
  const auto axis = [&](std::size_t i) {
    return i < extents.size() ? static_cast<NS::UInteger>(extents[i]) : NS::UInteger{1};
  };
  return MTL::Size(axis(0), axis(1), axis(2));
}

void check_threads(const ShaderKernel& kernel, const Extents& threads) {
  if (threads.empty() || threads.size() > 3) {
    throw failure(kernel, fmt::format("threads has {} axes; 1 to 3 are possible", threads.size()));
  }
  for (const std::int64_t count : threads) {
    if (count < 0 || count > std::numeric_limits<std::uint32_t>::max()) {
      throw bad_value(kernel,
                      fmt::format("threads ({}): each axis takes 0 to {}", fmt::join(threads, ", "),
                                  std::numeric_limits<std::uint32_t>::max()));
    }
  }
}

Extents default_group_size(const ShaderKernel& kernel, const Extents& threads) {
  const auto max = static_cast<std::int64_t>(kernel.max_threads());
  Extents group(threads.size(), 1);
  group[0] = threads.size() == 1 ? std::clamp<std::int64_t>(threads[0], 1, max) : max;
  return group;
}

Extents checked_group_size(const ShaderKernel& kernel,
                           const Extents& threads,
                           const std::optional<Extents>& wanted) {
  if (!wanted) {
    return default_group_size(kernel, threads);
  }
  if (wanted->size() != threads.size()) {
    throw failure(kernel, fmt::format("group_size has {} axes and threads has {}; they must agree",
                                      wanted->size(), threads.size()));
  }
  const auto max = static_cast<std::int64_t>(kernel.max_threads());
  std::int64_t product = 1;
  for (const std::int64_t length : *wanted) {
    if (length < 1) {
      throw bad_value(kernel, fmt::format("group_size ({}): each axis is at least 1",
                                          fmt::join(*wanted, ", ")));
    }
    // Each factor is compared on its own first, so that the product cannot overflow.
    if (length > max || product * length > max) {
      throw bad_value(
          kernel, fmt::format("group_size ({}) is more than the {} threads that a group may have",
                              fmt::join(*wanted, ", "), max));
    }
    product *= length;
  }
  return *wanted;
}

void check_bindings(const ShaderKernel& kernel, const Launch& request) {
  if (request.error_index && *request.error_index > kMaxBufferIndex) {
    throw bad_value(kernel, fmt::format("error_buf_idx {} exceeds the greatest buffer index, {}",
                                        *request.error_index, kMaxBufferIndex));
  }
  for (const std::size_t index : kernel.used_buffers) {
    if (index >= request.arguments.size() && index != request.error_index) {
      throw failure(
          kernel, fmt::format("nothing is bound to buffer index {}: {} arguments were given", index,
                              request.arguments.size()));
    }
  }
}

/// What a launch holds besides its request; made before anything is encoded, because it may fail.
struct Prepared {
  Extents group;
  /// Arguments as they are bound: bytes that are too long to travel in the command buffer have
  /// become buffers.
  std::vector<KernelArgument> arguments;
};

BytesArgument addresses(const BufferListArgument& list) {
  std::vector<std::byte> bytes(list.buffers.size() * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < list.buffers.size(); ++i) {
    const BufferArgument& listed = list.buffers[i];
    const std::uint64_t address =
        listed.buffer ? listed.buffer.metal()->gpuAddress() + listed.offset : 0;
    std::memcpy(bytes.data() + i * sizeof(address), &address, sizeof(address));
  }
  return {std::move(bytes)};
}

KernelArgument shortened(BytesArgument argument) {
  if (argument.bytes.size() <= kMaxInlineBytes) {
    return argument;
  }
  Buffer copy = allocator().allocate(argument.bytes.size());
  std::memcpy(copy.contents(), argument.bytes.data(), argument.bytes.size());
  return BufferArgument{std::move(copy), 0};
}

Prepared prepare(const ShaderKernel& kernel, const Launch& request) {
  check_threads(kernel, request.threads);
  Prepared prepared;
  prepared.group = checked_group_size(kernel, request.threads, request.group_size);
  check_bindings(kernel, request);
  const std::size_t count = std::min(request.arguments.size(), kMaxBufferIndex + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const KernelArgument& argument = request.arguments[i];
    if (const auto* bytes = std::get_if<BytesArgument>(&argument)) {
      prepared.arguments.push_back(shortened(*bytes));
    } else if (const auto* list = std::get_if<BufferListArgument>(&argument)) {
      prepared.arguments.push_back(shortened(addresses(*list)));
    } else {
      prepared.arguments.push_back(argument);
    }
  }
  return prepared;
}

// Before the encoder is asked for: waiting for another stream ends the open encoder.
void use_buffers(Stream& stream, const Launch& request, const Prepared& prepared) {
  std::vector<BufferUse> uses;
  for (const auto* arguments : {&request.arguments, &prepared.arguments}) {
    for (const KernelArgument& argument : *arguments) {
      if (const auto* buffer = std::get_if<BufferArgument>(&argument)) {
        uses.push_back({&buffer->buffer, Access::Write});
      } else if (const auto* list = std::get_if<BufferListArgument>(&argument)) {
        for (const BufferArgument& listed : list->buffers) {
          uses.push_back({&listed.buffer, Access::Write});
        }
      }
    }
  }
  stream.use(uses);
}

void bind(MTL::ComputeCommandEncoder& encoder, const KernelArgument& argument, std::size_t index) {
  const auto* buffer = std::get_if<BufferArgument>(&argument);
  if (buffer != nullptr && buffer->buffer) {
    encoder.setBuffer(buffer->buffer.metal(), buffer->offset, index);
  } else if (buffer != nullptr) {
    // An array without elements has no memory, and a kernel that is given one may run all the same.
    encoder.setBytes(&kNoElements, sizeof(kNoElements), index);
  } else if (const auto* bytes = std::get_if<BytesArgument>(&argument)) {
    encoder.setBytes(bytes->bytes.data(), bytes->bytes.size(), index);
  }
}

void encode(Stream& stream,
            const ShaderKernel& kernel,
            const Launch& request,
            const Prepared& prepared) {
  const AutoreleaseScope scope;
  use_buffers(stream, request, prepared);
  NS::SharedPtr<MTL::Buffer> records;
  if (request.error_index) {
    records = ErrorRecords::instance().for_open_task(stream);
  }

  MTL::ComputeCommandEncoder* encoder = stream.compute_encoder();
  encoder->setComputePipelineState(kernel.pipeline.get());
  for (std::size_t i = 0; i < prepared.arguments.size(); ++i) {
    bind(*encoder, prepared.arguments[i], i);
  }
  for (const KernelArgument& argument : request.arguments) {
    if (const auto* list = std::get_if<BufferListArgument>(&argument)) {
      for (const BufferArgument& listed : list->buffers) {
        encoder->useResource(listed.buffer.metal(),
                             MTL::ResourceUsageRead | MTL::ResourceUsageWrite);
      }
    }
  }
  if (records) {
    encoder->setBuffer(records.get(), 0, *request.error_index);
  }
  encoder->dispatchThreads(to_size(request.threads), to_size(prepared.group));
}

// A device without work starts at once; a busy one gets its dispatches in larger portions.
void submit_if_due(Stream& stream) {
  stream.operation_encoded();
  if (Scheduler::instance().tasks_in_flight() == 0) {
    stream.commit();
  }
}

}  // namespace

void launch(Stream& stream,
            const std::shared_ptr<const ShaderKernel>& kernel,
            const Launch& request) {
  const Prepared prepared = prepare(*kernel, request);
  if (std::find(request.threads.begin(), request.threads.end(), 0) != request.threads.end()) {
    return;
  }

  Profiler& profiler = Profiler::instance();
  auto guard = stream.exclusive();
  if (profiler.is_watching()) {
    profiler.observe(stream, kernel->number, request.description,
                     [&] { encode(stream, *kernel, request, prepared); });
    return;
  }
  encode(stream, *kernel, request, prepared);
  guard.unlock();
  submit_if_due(stream);
}

}  // namespace pewter::runtime
