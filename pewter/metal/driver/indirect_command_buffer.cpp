#include "pewter/metal/driver/indirect_command_buffer.h"

#include <fmt/core.h>

#include <Metal/MTLDevice.hpp>
#include <algorithm>
#include <cstring>
#include <limits>

#include "pewter/base/log.h"
#include "pewter/metal/driver/buffer.h"
#include "pewter/metal/driver/compute_pipeline.h"
#include "pewter/metal/driver/device.h"

namespace pewter::driver {
namespace {

constexpr std::uint64_t kMaxCommands = 16384;
constexpr MTL::IndirectCommandType kComputeTypes =
    MTL::IndirectCommandTypeConcurrentDispatch | MTL::IndirectCommandTypeConcurrentDispatchThreads;

std::uint64_t bytes_of(std::uint64_t count) {
  return sizeof(abi::IndirectCommands) + count * sizeof(abi::IndirectCommand);
}

bool fits(const MTL::Size& size) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return size.width <= kMost && size.height <= kMost && size.depth <= kMost;
}

void store(std::uint32_t (&to)[3], const MTL::Size& size) {
  to[0] = static_cast<std::uint32_t>(size.width);
  to[1] = static_cast<std::uint32_t>(size.height);
  to[2] = static_cast<std::uint32_t>(size.depth);
}

}  // namespace

IndirectCommandBuffer::IndirectCommandBuffer(const IndirectCommandBufferDescriptor& description,
                                             std::uint64_t count,
                                             MTL::ResourceOptions options)
    : Resource(kClass, options),
      types(description.command_types),
      inherits_pipeline(description.inherit_pipeline_state),
      inherits_buffers(description.inherit_buffers),
      max_buffers(std::min<std::uint64_t>(description.max_kernel_buffers, abi::kMaxBuffers)),
      max_threadgroup_arguments(std::min<std::uint64_t>(
          description.max_kernel_threadgroup_arguments, abi::kMaxThreadgroupArguments)),
      count_(count),
      memory_(new std::byte[bytes_of(count)]()) {
  const abi::IndirectCommands head = {count};
  std::memcpy(memory_.get(), &head, sizeof head);
}

abi::IndirectCommand& IndirectCommandBuffer::command(std::uint64_t index) const {
  return reinterpret_cast<abi::IndirectCommand*>(memory_.get() +
                                                 sizeof(abi::IndirectCommands))[index];
}

std::string IndirectCommandBuffer::misfit(const IndirectCommandBuffer* commands, NS::Range range) {
  const std::uint64_t count = commands != nullptr ? commands->count_ : 0;
  if (commands != nullptr && range.location <= count && range.length <= count - range.location) {
    return {};
  }
  return fmt::format("commands {} to {} of an indirect command buffer of {}", range.location,
                     range.location + range.length, count);
}

std::uint64_t IndirectCommandBuffer::allocated_size() const {
  return bytes_of(count_);
}

void IndirectCommandBuffer::discard() {
  std::memset(memory_.get() + sizeof(abi::IndirectCommands), 0,
              count_ * sizeof(abi::IndirectCommand));
}

bool IndirectComputeCommand::dispatch(abi::IndirectKind kind,
                                      const MTL::Size& grid,
                                      const MTL::Size& group) {
  const bool by_groups = kind == abi::IndirectKind::Threadgroups;
  const MTL::IndirectCommandType wanted = by_groups
                                              ? MTL::IndirectCommandTypeConcurrentDispatch
                                              : MTL::IndirectCommandTypeConcurrentDispatchThreads;
  const char* name = by_groups ? "concurrentDispatchThreadgroups" : "concurrentDispatchThreads";
  if ((buffer->types & wanted) == 0) {
    logging::error("metal", "{}: the indirect command buffer was made without that command type",
                   name);
    return false;
  }
  if (!fits(grid) || !fits(group)) {
    logging::error("metal", "{}: a size exceeds the limit of {}", name,
                   std::numeric_limits<std::uint32_t>::max());
    return false;
  }
  command.kind = kind;
  store(command.grid, grid);
  store(command.threads_per_threadgroup, group);
  return true;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::IndirectCommandBuffer;
using Command = driver::IndirectComputeCommand;
using driver::handle;
using driver::impl;
using driver::Ref;
namespace logging = pewter::logging;

namespace {

/// Whether the range is inside; says in the log what is wrong with `action` when not.
bool has(const Body* commands, NS::Range range, const char* action) {
  const std::string misfit = Body::misfit(commands, range);
  if (!misfit.empty()) {
    logging::error("metal", "{}: {}", action, misfit);
  }
  return misfit.empty();
}

}  // namespace

MTL::IndirectCommandBuffer* MTL::Device::newIndirectCommandBuffer(
    const IndirectCommandBufferDescriptor* descriptor,
    NS::UInteger maxCount,
    MTL::ResourceOptions options) {
  auto* wanted = impl<driver::IndirectCommandBufferDescriptor>(descriptor);
  if (impl<driver::Device>(this) == nullptr || wanted == nullptr) {
    return nullptr;
  }
  if (wanted->command_types == 0 || (wanted->command_types & ~driver::kComputeTypes) != 0) {
    logging::error("metal",
                   "newIndirectCommandBuffer: command types {:#x}; this device has concurrent "
                   "dispatches, {:#x}, alone",
                   static_cast<NS::UInteger>(wanted->command_types),
                   static_cast<NS::UInteger>(driver::kComputeTypes));
    return nullptr;
  }
  if (maxCount == 0 || maxCount > driver::kMaxCommands) {
    logging::error("metal", "newIndirectCommandBuffer of {} commands, 1 to {} are possible",
                   maxCount, driver::kMaxCommands);
    return nullptr;
  }
  return handle(driver::make<Body>(*wanted, maxCount, options));
}

NS::UInteger MTL::IndirectCommandBuffer::size() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->count() : 0;
}

MTL::ResourceID MTL::IndirectCommandBuffer::gpuResourceID() const {
  auto* self = impl<Body>(this);
  return {self != nullptr ? reinterpret_cast<std::uintptr_t>(self->data()) : 0};
}

void MTL::IndirectCommandBuffer::reset(NS::Range range) {
  auto* self = impl<Body>(this);
  if (self == nullptr || !has(self, range, "reset")) {
    return;
  }
  for (NS::UInteger index = 0; index < range.length; ++index) {
    self->command(range.location + index) = {};
  }
}

MTL::IndirectComputeCommand* MTL::IndirectCommandBuffer::indirectComputeCommand(
    NS::UInteger commandIndex) {
  auto* self = impl<Body>(this);
  if (self == nullptr || !has(self, NS::Range(commandIndex, 1), "indirectComputeCommand")) {
    return nullptr;
  }
  return driver::autoreleased(driver::make_ref<Command>(Ref<Body>(self), commandIndex));
}

void MTL::IndirectComputeCommand::setComputePipelineState(
    const ComputePipelineState* pipelineState) {
  auto* self = impl<Command>(this);
  auto* pipeline = impl<driver::ComputePipelineState>(pipelineState);
  if (self == nullptr || pipeline == nullptr) {
    return;
  }
  if (!pipeline->support_indirect_command_buffers) {
    logging::error("metal",
                   "setComputePipelineState: pipeline '{}' was made without "
                   "supportIndirectCommandBuffers",
                   pipeline->kernel_name);
    return;
  }
  if (self->buffer->inherits_pipeline) {
    logging::error("metal", "setComputePipelineState: the indirect command buffer inherits it");
    return;
  }
  self->command.pipeline = reinterpret_cast<std::uintptr_t>(pipeline);
}

void MTL::IndirectComputeCommand::setKernelBuffer(const Buffer* buffer,
                                                  NS::UInteger offset,
                                                  NS::UInteger index) {
  auto* self = impl<Command>(this);
  auto* target = buffer != nullptr ? impl<driver::Buffer>(buffer) : nullptr;
  if (self == nullptr) {
    return;
  }
  if (self->buffer->inherits_buffers) {
    logging::error("metal", "setKernelBuffer: the indirect command buffer inherits its buffers");
    return;
  }
  if (index >= self->buffer->max_buffers) {
    logging::error("metal", "setKernelBuffer at index {} of an indirect command buffer for {}",
                   index, self->buffer->max_buffers);
    return;
  }
  if (target != nullptr && offset > target->length()) {
    logging::error("metal", "setKernelBuffer: offset {} is past the end of a buffer of {} bytes",
                   offset, target->length());
    return;
  }
  self->command.buffers[index] =
      target != nullptr ? reinterpret_cast<std::uintptr_t>(target->data()) + offset : 0;
}

void MTL::IndirectComputeCommand::setKernelBuffer(const Buffer* buffer,
                                                  NS::UInteger offset,
                                                  NS::UInteger,
                                                  NS::UInteger index) {
  setKernelBuffer(buffer, offset, index);
}

void MTL::IndirectComputeCommand::concurrentDispatchThreadgroups(MTL::Size threadgroupsPerGrid,
                                                                 MTL::Size threadsPerThreadgroup) {
  if (auto* self = impl<Command>(this)) {
    self->dispatch(pewter::abi::IndirectKind::Threadgroups, threadgroupsPerGrid,
                   threadsPerThreadgroup);
  }
}

void MTL::IndirectComputeCommand::concurrentDispatchThreads(MTL::Size threadsPerGrid,
                                                            MTL::Size threadsPerThreadgroup) {
  if (auto* self = impl<Command>(this)) {
    self->dispatch(pewter::abi::IndirectKind::Threads, threadsPerGrid, threadsPerThreadgroup);
  }
}

void MTL::IndirectComputeCommand::setBarrier() {
  if (auto* self = impl<Command>(this)) {
    self->command.has_barrier = 1;
  }
}

void MTL::IndirectComputeCommand::clearBarrier() {
  if (auto* self = impl<Command>(this)) {
    self->command.has_barrier = 0;
  }
}

// Imageblocks belong to tile kernels, which this device does not have.
void MTL::IndirectComputeCommand::setImageblockWidth(NS::UInteger, NS::UInteger) {
  impl<Command>(this);
}

void MTL::IndirectComputeCommand::setThreadgroupMemoryLength(NS::UInteger length,
                                                             NS::UInteger index) {
  auto* self = impl<Command>(this);
  if (self == nullptr) {
    return;
  }
  if (index >= self->buffer->max_threadgroup_arguments ||
      length > pewter::abi::kMaxThreadgroupMemory) {
    logging::error("metal",
                   "setThreadgroupMemoryLength of {} bytes at index {} of an indirect command "
                   "buffer for {}, limit {}",
                   length, index, self->buffer->max_threadgroup_arguments,
                   pewter::abi::kMaxThreadgroupMemory);
    return;
  }
  self->command.threadgroup_lengths[index] = static_cast<std::uint32_t>(length);
}

void MTL::IndirectComputeCommand::setStageInRegion(MTL::Region region) {
  if (auto* self = impl<Command>(this)) {
    driver::store(self->command.grid_origin,
                  MTL::Size(region.origin.x, region.origin.y, region.origin.z));
  }
}

void MTL::IndirectComputeCommand::reset() {
  if (auto* self = impl<Command>(this)) {
    self->command = {};
  }
}
