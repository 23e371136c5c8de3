#pragma once

#include <Metal/MTLComputeCommandEncoder.hpp>
#include <cstdint>
#include <optional>

#include "pewter/base/kernel_abi.h"
#include "pewter/metal/driver/buffer.h"
#include "pewter/metal/driver/command_encoder.h"
#include "pewter/metal/driver/compute_pipeline.h"

namespace pewter::driver {

class IndirectCommandBuffer;
class Texture;
class VisibleFunctionTable;

/// The body of MTL::ComputeCommandEncoder.
///
/// Dispatches of a serial encoder run one after another, those of a concurrent one together until
/// the next barrier. Encoders run one after another, so fences have nothing left to do.
class ComputeCommandEncoder final : public CommandEncoder {
 public:
  using Public = MTL::ComputeCommandEncoder;
  static constexpr ClassInfo kClass{"MTL::ComputeCommandEncoder", &CommandEncoder::kClass};

  ComputeCommandEncoder(Ref<CommandBuffer> buffer, MTL::DispatchType type)
      : CommandEncoder(kClass, std::move(buffer)), dispatch_type(type) {}

  void set_pipeline(ComputePipelineState* pipeline);
  void set_bytes(const void* bytes, std::uint64_t length, std::uint64_t index);
  void set_buffer(Buffer* buffer, std::uint64_t offset, std::uint64_t index);
  void set_buffer_offset(std::uint64_t offset, std::uint64_t index);
  void set_function_table(VisibleFunctionTable* table, std::uint64_t index);
  void set_texture(Texture* texture, std::uint64_t index);
  /// Nothing takes the sampler away.
  void set_sampler(std::optional<std::uint64_t> bits, std::uint64_t index);
  void set_threadgroup_memory_length(std::uint64_t length, std::uint64_t index);
  void set_grid_origin(const MTL::Origin& origin);

  void dispatch_groups(const MTL::Size& groups, const MTL::Size& group_size);
  void dispatch_groups(Buffer* arguments, std::uint64_t offset, const MTL::Size& group_size);
  void dispatch_threads(const MTL::Size& threads, const MTL::Size& group_size);

  void execute(IndirectCommandBuffer* commands, NS::Range range);
  void execute(IndirectCommandBuffer* commands, Buffer* range, std::uint64_t offset);

  /// Keeps a resource that kernels reach through pointers in buffers.
  void use(Object* resource);
  /// Dispatches that follow wait for those before.
  void barrier();
  /// For what the order of encoders makes true by itself.
  void ignore(const char* action) { is_open(action); }
  void reject_unsupported(const char* action, const char* reason);

  const MTL::DispatchType dispatch_type;

 private:
  /// What is bound to `[[buffer(n)]]`. Bytes set directly have no buffer.
  struct Slot {
    Buffer* buffer = nullptr;
    std::uint64_t available = 0;
    const VisibleFunctionTable* table = nullptr;
  };

  /// What is bound to `[[texture(n)]]` and `[[sampler(n)]]`.
  struct ResourceTable {
    const abi::Texture* views[abi::kMaxTextures] = {};
    const Texture* textures[abi::kMaxTextures] = {};
    std::uint64_t samplers[abi::kMaxSamplers] = {};
    bool has_sampler[abi::kMaxSamplers] = {};
  };

  ResourceTable& writable_resources();
  bool is_texture_bound(const compiler::Parameter& parameter);
  bool is_sampler_bound(const compiler::Parameter& parameter);
  bool is_index(const char* action, std::uint64_t index, std::uint64_t limit);
  bool bind(const char* action, std::uint64_t offset, std::uint64_t index);
  bool is_ready(const char* action, const MTL::Size& group_size);
  bool has_valid_group(const MTL::Size& group_size);
  bool has_valid_bindings();
  bool is_bound(const compiler::Parameter& parameter);
  bool is_table_bound(const compiler::Parameter& parameter);
  void execute(IndirectCommandBuffer* commands, NS::Range range, const std::byte* place);
  bool lay_out_threadgroup_memory();
  void record(const std::uint64_t (&threads)[3], const MTL::Size& group_size);
  /// Everything but the grid, which is set already.
  void fill(DispatchCommand& command);
  /// Whether a dispatch writes more with streaming stores than the caches hold.
  bool streams() const;

  const ComputePipelineState* pipeline_ = nullptr;
  Slot slots_[abi::kMaxBuffers];
  std::uint32_t threadgroup_lengths_[abi::kMaxThreadgroupArguments] = {};
  // What the next dispatch takes, kept up to date by the setters; its grid is not set.
  abi::Launch launch_ = {};
  std::uint32_t threadgroup_bytes_ = 0;
  // Null until a texture or sampler is bound; in the command buffer's storage.
  ResourceTable* resources_ = nullptr;
  bool resources_in_use_ = false;
  // Whether the next dispatch may run together with the one before.
  bool overlaps_previous_ = false;
  // Whether bindings and pipeline have been found to fit since either changed.
  bool is_checked_ = false;
};

}  // namespace pewter::driver
