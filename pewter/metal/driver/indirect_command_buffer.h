#pragma once

#include <Metal/MTLIndirectCommandBuffer.hpp>
#include <Metal/MTLIndirectCommandEncoder.hpp>
#include <cstdint>
#include <memory>

#include "pewter/base/indirect_abi.h"
#include "pewter/base/kernel_abi.h"
#include "pewter/metal/driver/resource.h"

namespace pewter::driver {

/// The body of MTL::IndirectCommandBufferDescriptor.
class IndirectCommandBufferDescriptor final : public Object {
 public:
  using Public = MTL::IndirectCommandBufferDescriptor;
  static constexpr ClassInfo kClass{"MTL::IndirectCommandBufferDescriptor", &Object::kClass};

  IndirectCommandBufferDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<IndirectCommandBufferDescriptor>(*this); }

  MTL::IndirectCommandType command_types = 0;
  bool inherit_pipeline_state = false;
  bool inherit_buffers = false;
  NS::UInteger max_vertex_buffers = abi::kMaxBuffers;
  NS::UInteger max_fragment_buffers = abi::kMaxBuffers;
  NS::UInteger max_kernel_buffers = abi::kMaxBuffers;
  NS::UInteger max_kernel_threadgroup_arguments = abi::kMaxThreadgroupArguments;
  NS::UInteger max_object_buffers = 0;
  NS::UInteger max_mesh_buffers = 0;
  NS::UInteger max_object_threadgroup_arguments = 0;
  bool support_ray_tracing = false;
  bool support_dynamic_stride = false;
};

/// The body of MTL::IndirectCommandBuffer: commands in memory that kernels can write to.
class IndirectCommandBuffer final : public Resource {
 public:
  using Public = MTL::IndirectCommandBuffer;
  static constexpr ClassInfo kClass{"MTL::IndirectCommandBuffer", &Resource::kClass};

  IndirectCommandBuffer(const IndirectCommandBufferDescriptor& description,
                        std::uint64_t count,
                        MTL::ResourceOptions options);

  std::uint64_t count() const { return count_; }
  abi::IndirectCommand& command(std::uint64_t index) const;
  /// An abi::IndirectCommands.
  std::byte* data() const { return memory_.get(); }

  /// What is wrong with a range of `commands`, which may be null; empty when nothing is.
  static std::string misfit(const IndirectCommandBuffer* commands, NS::Range range);

  std::uint64_t allocated_size() const override;
  void discard() override;

  const MTL::IndirectCommandType types;
  const bool inherits_pipeline;
  const bool inherits_buffers;
  const std::uint64_t max_buffers;
  const std::uint64_t max_threadgroup_arguments;

 private:
  const std::uint64_t count_;
  const std::unique_ptr<std::byte[]> memory_;
};

/// The body of MTL::IndirectComputeCommand.
class IndirectComputeCommand final : public Object {
 public:
  using Public = MTL::IndirectComputeCommand;
  static constexpr ClassInfo kClass{"MTL::IndirectComputeCommand", &Object::kClass};

  IndirectComputeCommand(Ref<IndirectCommandBuffer> owner, std::uint64_t index)
      : Object(kClass), buffer(std::move(owner)), command(buffer->command(index)) {}

  /// Whether the buffer takes such dispatches; says so in the log when not.
  bool dispatch(abi::IndirectKind kind, const MTL::Size& grid, const MTL::Size& group);

  const Ref<IndirectCommandBuffer> buffer;
  abi::IndirectCommand& command;
};

}  // namespace pewter::driver
