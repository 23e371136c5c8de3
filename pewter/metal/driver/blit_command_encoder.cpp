#include "pewter/metal/driver/blit_command_encoder.h"

#include <Metal/MTLCommandBuffer.hpp>

#include "pewter/metal/driver/command_descriptors.h"
#include "pewter/metal/driver/counters.h"
#include "pewter/metal/driver/fence.h"
#include "pewter/metal/driver/indirect_command_buffer.h"
#include "pewter/metal/driver/resource.h"

namespace pewter::driver {

bool BlitCommandEncoder::is_inside(const char* action,
                                   const char* role,
                                   const Buffer* target,
                                   std::uint64_t offset,
                                   std::uint64_t byte_count) {
  if (target == nullptr) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource, "{} without a {} buffer", action, role);
    return false;
  }
  if (offset > target->length() || byte_count > target->length() - offset) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "{} of {} bytes at offset {} of a {} buffer of {} bytes", action, byte_count,
                    offset, role, target->length());
    return false;
  }
  return true;
}

void BlitCommandEncoder::fill_bytes(Buffer* target, NS::Range range, std::uint8_t value) {
  if (!is_open("fillBuffer") ||
      !is_inside("fillBuffer", "destination", target, range.location, range.length)) {
    return;
  }
  buffer().keep(target);
  auto& command = append<FillCommand>();
  command.to = target->data() + range.location;
  command.byte_count = range.length;
  command.value = value;
}

void BlitCommandEncoder::copy_bytes(Buffer* source,
                                    std::uint64_t source_offset,
                                    Buffer* target,
                                    std::uint64_t target_offset,
                                    std::uint64_t byte_count) {
  if (!is_open("copyFromBuffer") ||
      !is_inside("copyFromBuffer", "source", source, source_offset, byte_count) ||
      !is_inside("copyFromBuffer", "destination", target, target_offset, byte_count)) {
    return;
  }
  buffer().keep(source);
  buffer().keep(target);
  auto& command = append<CopyCommand>();
  command.to = target->data() + target_offset;
  command.from = source->data() + source_offset;
  command.byte_count = byte_count;
}

bool BlitCommandEncoder::has_commands(const char* action,
                                      const IndirectCommandBuffer* commands,
                                      NS::Range range) {
  const std::string misfit = IndirectCommandBuffer::misfit(commands, range);
  if (!misfit.empty()) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource, "{}: {}", action, misfit);
  }
  return misfit.empty();
}

void BlitCommandEncoder::reset_commands(IndirectCommandBuffer* target, NS::Range range) {
  constexpr const char* kAction = "resetCommandsInBuffer";
  if (!is_open(kAction) || !has_commands(kAction, target, range)) {
    return;
  }
  buffer().keep(target);
  auto& command = append<FillCommand>();
  command.to = reinterpret_cast<std::byte*>(&target->command(range.location));
  command.byte_count = range.length * sizeof(abi::IndirectCommand);
  command.value = 0;
}

void BlitCommandEncoder::copy_commands(IndirectCommandBuffer* source,
                                       NS::Range range,
                                       IndirectCommandBuffer* target,
                                       std::uint64_t index) {
  constexpr const char* kAction = "copyIndirectCommandBuffer";
  if (!is_open(kAction) || !has_commands(kAction, source, range) ||
      !has_commands(kAction, target, NS::Range(index, range.length))) {
    return;
  }
  buffer().keep(source);
  buffer().keep(target);
  auto& command = append<CopyCommand>();
  command.to = reinterpret_cast<std::byte*>(&target->command(index));
  command.from = reinterpret_cast<const std::byte*>(&source->command(range.location));
  command.byte_count = range.length * sizeof(abi::IndirectCommand);
}

void BlitCommandEncoder::resolve(CounterSampleBuffer* samples,
                                 NS::Range range,
                                 Buffer* target,
                                 std::uint64_t offset) {
  constexpr const char* kAction = "resolveCounters";
  if (!is_open(kAction) ||
      !is_inside(kAction, "destination", target, offset, range.length * sizeof(std::uint64_t))) {
    return;
  }
  if (samples == nullptr || range.location > samples->sample_count ||
      range.length > samples->sample_count - range.location) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "resolveCounters of samples {} to {} of {}", range.location,
                    range.location + range.length, samples != nullptr ? samples->sample_count : 0);
    return;
  }
  buffer().keep(samples);
  buffer().keep(target);
  auto& command = append<ResolveSamplesCommand>();
  command.samples = samples;
  command.first = range.location;
  command.count = range.length;
  command.to = target->data() + offset;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::BlitCommandEncoder;
using driver::impl;

namespace {

MTL::BlitCommandEncoder* new_encoder(void* buffer, const std::source_location& where) {
  auto* owner = impl<driver::CommandBuffer>(buffer, where);
  if (owner == nullptr || !owner->is_recording("blitCommandEncoder")) {
    return nullptr;
  }
  return driver::autoreleased(driver::make_ref<Body>(driver::Ref<driver::CommandBuffer>(owner)));
}

}  // namespace

MTL::BlitCommandEncoder* MTL::CommandBuffer::blitCommandEncoder() {
  return new_encoder(this, std::source_location::current());
}

MTL::BlitCommandEncoder* MTL::CommandBuffer::blitCommandEncoder(
    const MTL::BlitPassDescriptor* blitPassDescriptor) {
  auto* descriptor = impl<driver::BlitPassDescriptor>(blitPassDescriptor);
  auto* encoder = new_encoder(this, std::source_location::current());
  if (encoder != nullptr && descriptor != nullptr) {
    impl<Body>(encoder)->sample_ends(*descriptor->attachments);
  }
  return encoder;
}

void MTL::BlitCommandEncoder::synchronizeResource(const MTL::Resource* resource) {
  if (auto* self = impl<Body>(this)) {
    impl<driver::Resource>(resource);
    self->ignore("synchronizeResource");
  }
}

void MTL::BlitCommandEncoder::fillBuffer(const MTL::Buffer* buffer,
                                         NS::Range range,
                                         std::uint8_t value) {
  if (auto* self = impl<Body>(this)) {
    self->fill_bytes(impl<driver::Buffer>(buffer), range, value);
  }
}

void MTL::BlitCommandEncoder::copyFromBuffer(const MTL::Buffer* sourceBuffer,
                                             NS::UInteger sourceOffset,
                                             const MTL::Buffer* destinationBuffer,
                                             NS::UInteger destinationOffset,
                                             NS::UInteger size) {
  if (auto* self = impl<Body>(this)) {
    self->copy_bytes(impl<driver::Buffer>(sourceBuffer), sourceOffset,
                     impl<driver::Buffer>(destinationBuffer), destinationOffset, size);
  }
}

void MTL::BlitCommandEncoder::updateFence(const MTL::Fence* fence) {
  if (auto* self = impl<Body>(this)) {
    impl<driver::Fence>(fence);
    self->ignore("updateFence");
  }
}

void MTL::BlitCommandEncoder::waitForFence(const MTL::Fence* fence) {
  if (auto* self = impl<Body>(this)) {
    impl<driver::Fence>(fence);
    self->ignore("waitForFence");
  }
}

void MTL::BlitCommandEncoder::sampleCountersInBuffer(const MTL::CounterSampleBuffer* sampleBuffer,
                                                     NS::UInteger sampleIndex,
                                                     bool) {
  if (auto* self = impl<Body>(this)) {
    self->sample(
        sampleBuffer != nullptr ? impl<driver::CounterSampleBuffer>(sampleBuffer) : nullptr,
        sampleIndex);
  }
}

void MTL::BlitCommandEncoder::resolveCounters(const MTL::CounterSampleBuffer* sampleBuffer,
                                              NS::Range range,
                                              const MTL::Buffer* destinationBuffer,
                                              NS::UInteger destinationOffset) {
  if (auto* self = impl<Body>(this)) {
    self->resolve(impl<driver::CounterSampleBuffer>(sampleBuffer), range,
                  impl<driver::Buffer>(destinationBuffer), destinationOffset);
  }
}

void MTL::BlitCommandEncoder::resetCommandsInBuffer(const MTL::IndirectCommandBuffer* buffer,
                                                    NS::Range range) {
  if (auto* self = impl<Body>(this)) {
    self->reset_commands(impl<driver::IndirectCommandBuffer>(buffer), range);
  }
}

void MTL::BlitCommandEncoder::copyIndirectCommandBuffer(
    const MTL::IndirectCommandBuffer* source,
    NS::Range sourceRange,
    const MTL::IndirectCommandBuffer* destination,
    NS::UInteger destinationIndex) {
  if (auto* self = impl<Body>(this)) {
    self->copy_commands(impl<driver::IndirectCommandBuffer>(source), sourceRange,
                        impl<driver::IndirectCommandBuffer>(destination), destinationIndex);
  }
}

void MTL::BlitCommandEncoder::optimizeIndirectCommandBuffer(
    const MTL::IndirectCommandBuffer* indirectCommandBuffer, NS::Range) {
  if (auto* self = impl<Body>(this)) {
    impl<driver::IndirectCommandBuffer>(indirectCommandBuffer);
    self->ignore("optimizeIndirectCommandBuffer");
  }
}
