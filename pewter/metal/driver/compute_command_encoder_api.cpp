#include <Metal/MTLCommandBuffer.hpp>

#include "pewter/metal/driver/command_descriptors.h"
#include "pewter/metal/driver/compute_command_encoder.h"
#include "pewter/metal/driver/fence.h"
#include "pewter/metal/driver/heap.h"

// The public methods of MTL::ComputeCommandEncoder.

namespace driver = pewter::driver;
using Body = driver::ComputeCommandEncoder;
using driver::impl;

namespace {

MTL::ComputeCommandEncoder* new_encoder(void* buffer,
                                        MTL::DispatchType type,
                                        const std::source_location& where) {
  auto* owner = impl<driver::CommandBuffer>(buffer, where);
  if (owner == nullptr || !owner->is_recording("computeCommandEncoder")) {
    return nullptr;
  }
  return driver::autoreleased(
      driver::make_ref<Body>(driver::Ref<driver::CommandBuffer>(owner), type));
}

}  // namespace

MTL::ComputeCommandEncoder* MTL::CommandBuffer::computeCommandEncoder() {
  return new_encoder(this, DispatchTypeSerial, std::source_location::current());
}

MTL::ComputeCommandEncoder* MTL::CommandBuffer::computeCommandEncoder(
    MTL::DispatchType dispatchType) {
  return new_encoder(this, dispatchType, std::source_location::current());
}

MTL::ComputeCommandEncoder* MTL::CommandBuffer::computeCommandEncoder(
    const MTL::ComputePassDescriptor* computePassDescriptor) {
  auto* descriptor = impl<driver::ComputePassDescriptor>(computePassDescriptor);
  auto* encoder =
      new_encoder(this, descriptor != nullptr ? descriptor->dispatch_type : DispatchTypeSerial,
                  std::source_location::current());
  if (encoder != nullptr && descriptor != nullptr) {
    impl<Body>(encoder)->sample_ends(*descriptor->attachments);
  }
  return encoder;
}

MTL::DispatchType MTL::ComputeCommandEncoder::dispatchType() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->dispatch_type : DispatchTypeSerial;
}

void MTL::ComputeCommandEncoder::setComputePipelineState(const MTL::ComputePipelineState* state) {
  if (auto* self = impl<Body>(this)) {
    self->set_pipeline(impl<driver::ComputePipelineState>(state));
  }
}

void MTL::ComputeCommandEncoder::setBytes(const void* bytes,
                                          NS::UInteger length,
                                          NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    self->set_bytes(bytes, length, index);
  }
}

void MTL::ComputeCommandEncoder::setBuffer(const MTL::Buffer* buffer,
                                           NS::UInteger offset,
                                           NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    self->set_buffer(impl<driver::Buffer>(buffer), offset, index);
  }
}

void MTL::ComputeCommandEncoder::setBufferOffset(NS::UInteger offset, NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    self->set_buffer_offset(offset, index);
  }
}

void MTL::ComputeCommandEncoder::setBuffers(const MTL::Buffer* const buffers[],
                                            const NS::UInteger offsets[],
                                            NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i) {
    setBuffer(buffers != nullptr ? buffers[i] : nullptr, offsets != nullptr ? offsets[i] : 0,
              range.location + i);
  }
}

// Strides belong to stage-in data, which kernels here do not have.

void MTL::ComputeCommandEncoder::setBytes(const void* bytes,
                                          NS::UInteger length,
                                          NS::UInteger,
                                          NS::UInteger index) {
  setBytes(bytes, length, index);
}

void MTL::ComputeCommandEncoder::setBuffer(const MTL::Buffer* buffer,
                                           NS::UInteger offset,
                                           NS::UInteger,
                                           NS::UInteger index) {
  setBuffer(buffer, offset, index);
}

void MTL::ComputeCommandEncoder::setBufferOffset(NS::UInteger offset,
                                                 NS::UInteger,
                                                 NS::UInteger index) {
  setBufferOffset(offset, index);
}

void MTL::ComputeCommandEncoder::setBuffers(const MTL::Buffer* const buffers[],
                                            const NS::UInteger* offsets,
                                            const NS::UInteger*,
                                            NS::Range range) {
  setBuffers(buffers, offsets, range);
}

void MTL::ComputeCommandEncoder::setThreadgroupMemoryLength(NS::UInteger length,
                                                            NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    self->set_threadgroup_memory_length(length, index);
  }
}

void MTL::ComputeCommandEncoder::setImageblockWidth(NS::UInteger, NS::UInteger) {
  if (auto* self = impl<Body>(this)) {
    self->reject_unsupported("setImageblockWidth", "imageblocks are not supported");
  }
}

void MTL::ComputeCommandEncoder::setStageInRegion(MTL::Region region) {
  if (auto* self = impl<Body>(this)) {
    self->set_grid_origin(region.origin);
  }
}

void MTL::ComputeCommandEncoder::setStageInRegion(const MTL::Buffer*, NS::UInteger) {
  if (auto* self = impl<Body>(this)) {
    self->reject_unsupported("setStageInRegion", "indirect regions are not supported");
  }
}

void MTL::ComputeCommandEncoder::dispatchThreadgroups(MTL::Size threadgroupsPerGrid,
                                                      MTL::Size threadsPerThreadgroup) {
  if (auto* self = impl<Body>(this)) {
    self->dispatch_groups(threadgroupsPerGrid, threadsPerThreadgroup);
  }
}

void MTL::ComputeCommandEncoder::dispatchThreadgroups(const MTL::Buffer* indirectBuffer,
                                                      NS::UInteger indirectBufferOffset,
                                                      MTL::Size threadsPerThreadgroup) {
  if (auto* self = impl<Body>(this)) {
    self->dispatch_groups(impl<driver::Buffer>(indirectBuffer), indirectBufferOffset,
                          threadsPerThreadgroup);
  }
}

void MTL::ComputeCommandEncoder::dispatchThreads(MTL::Size threadsPerGrid,
                                                 MTL::Size threadsPerThreadgroup) {
  if (auto* self = impl<Body>(this)) {
    self->dispatch_threads(threadsPerGrid, threadsPerThreadgroup);
  }
}

void MTL::ComputeCommandEncoder::updateFence(const MTL::Fence* fence) {
  if (auto* self = impl<Body>(this)) {
    impl<driver::Fence>(fence);
    self->ignore("updateFence");
  }
}

void MTL::ComputeCommandEncoder::waitForFence(const MTL::Fence* fence) {
  if (auto* self = impl<Body>(this)) {
    impl<driver::Fence>(fence);
    self->ignore("waitForFence");
  }
}

void MTL::ComputeCommandEncoder::useResource(const MTL::Resource* resource, MTL::ResourceUsage) {
  if (auto* self = impl<Body>(this)) {
    self->use(impl<driver::Resource>(resource));
  }
}

void MTL::ComputeCommandEncoder::useResources(const MTL::Resource* const resources[],
                                              NS::UInteger count,
                                              MTL::ResourceUsage usage) {
  for (NS::UInteger i = 0; i < count; ++i) {
    useResource(resources[i], usage);
  }
}

void MTL::ComputeCommandEncoder::useHeap(const MTL::Heap* heap) {
  if (auto* self = impl<Body>(this)) {
    self->use(impl<driver::Heap>(heap));
  }
}

void MTL::ComputeCommandEncoder::useHeaps(const MTL::Heap* const heaps[], NS::UInteger count) {
  for (NS::UInteger i = 0; i < count; ++i) {
    useHeap(heaps[i]);
  }
}

void MTL::ComputeCommandEncoder::memoryBarrier(MTL::BarrierScope) {
  if (auto* self = impl<Body>(this)) {
    self->barrier();
  }
}

void MTL::ComputeCommandEncoder::memoryBarrier(const MTL::Resource* const resources[],
                                               NS::UInteger count) {
  if (auto* self = impl<Body>(this)) {
    for (NS::UInteger i = 0; i < count; ++i) {
      impl<driver::Resource>(resources[i]);
    }
    self->barrier();
  }
}

void MTL::ComputeCommandEncoder::sampleCountersInBuffer(
    const MTL::CounterSampleBuffer* sampleBuffer, NS::UInteger sampleIndex, bool) {
  if (auto* self = impl<Body>(this)) {
    self->sample(
        sampleBuffer != nullptr ? impl<driver::CounterSampleBuffer>(sampleBuffer) : nullptr,
        sampleIndex);
  }
}
