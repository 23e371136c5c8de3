#include "pewter/array/ops/kernel_call.h"

#include <array>
#include <span>
#include <stdexcept>

#include "pewter/runtime/profiler.h"

namespace pewter::ops {

KernelCall::Binding& KernelCall::next() {
  if (count_ == kMaxBindings) {
    throw std::logic_error("a kernel with more than 31 buffers");
  }
  return bindings_[count_++];
}

KernelCall& KernelCall::input(const graph::Node& node) {
  if (node.placement == Placement::Host) {
    return bytes(node.first(), node.size * size_of(node.dtype));
  }
  return buffer(node.memory(), node.byte_offset(), runtime::Access::Read);
}

KernelCall& KernelCall::output(const graph::Node& node) {
  return buffer(node.memory(), node.byte_offset(), runtime::Access::Write);
}

KernelCall& KernelCall::buffer(const runtime::Buffer& buffer,
                               std::size_t offset,
                               runtime::Access access) {
  if (!buffer) {
    // Of an array without elements: what a kernel takes has to be bound all the same.
    static constexpr std::byte kNothing[16] = {};
    return bytes(kNothing, sizeof(kNothing));
  }
  Binding& binding = next();
  binding.buffer = buffer;
  binding.offset = offset;
  binding.access = access;
  return *this;
}

KernelCall& KernelCall::bytes(const void* data, std::size_t size) {
  Binding& binding = next();
  binding.data = data;
  binding.size = size;
  return *this;
}

void KernelCall::dispatch_groups(MTL::Size groups, MTL::Size threads) {
  encode(true, groups, threads);
}

void KernelCall::dispatch_threads(MTL::Size grid, MTL::Size threads) {
  encode(false, grid, threads);
}

void KernelCall::encode(bool by_groups, MTL::Size grid, MTL::Size threads) {
  const auto write = [&] {
    std::array<runtime::BufferUse, kMaxBindings> uses;
    std::size_t use_count = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (bindings_[i].data == nullptr) {
        uses[use_count++] = {&bindings_[i].buffer, bindings_[i].access};
      }
    }
    stream_.use(std::span(uses.data(), use_count));
    // Asked for after use(): waiting for another stream ends the open encoder.
    MTL::ComputeCommandEncoder* encoder = stream_.compute_encoder();
    encoder->setComputePipelineState(kernel_.pipeline.get());
    for (std::size_t i = 0; i < count_; ++i) {
      const Binding& binding = bindings_[i];
      if (binding.data != nullptr) {
        encoder->setBytes(binding.data, binding.size, i);
      } else {
        encoder->setBuffer(binding.buffer.metal(), binding.offset, i);
      }
    }
    if (by_groups) {
      encoder->dispatchThreadgroups(grid, threads);
    } else {
      encoder->dispatchThreads(grid, threads);
    }
  };

  {
    const auto guard = stream_.exclusive();
    runtime::Profiler& profiler = runtime::Profiler::instance();
    if (profiler.is_watching()) {
      profiler.observe(stream_, kernel_.number, kernel_.name, write);
    } else {
      write();
    }
  }
  stream_.operation_encoded();
}

}  // namespace pewter::ops
