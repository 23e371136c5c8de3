#pragma once

#include <Metal/MTLComputePipeline.hpp>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "pewter/compiler/compiler.h"
#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/kernel_variants.h"

namespace pewter::driver {

/// The body of MTL::ComputePipelineState: loaded code and what a dispatch must know about it.
/// Never changes, but for what it remembers of the time that its groups take.
class ComputePipelineState final : public Object {
 public:
  using Public = MTL::ComputePipelineState;
  static constexpr ClassInfo kClass{"MTL::ComputePipelineState", &Object::kClass};

  ComputePipelineState() : Object(kClass) {}

  std::unique_ptr<const KernelVariants> variants;
  /// The kernel's own name, for messages.
  std::string kernel_name;
  Ref<String> label;

  /// Buffer and threadgroup parameters that the function constants leave switched on.
  std::vector<compiler::Parameter> parameters;
  /// A bit for each `[[buffer(n)]]` that must be bound before a dispatch.
  std::uint32_t required_buffers = 0;
  /// The same for `[[texture(n)]]` and `[[sampler(n)]]`.
  std::array<std::uint64_t, 2> required_textures = {0, 0};
  std::uint32_t required_samplers = 0;
  /// Whether it writes messages to the host.
  bool uses_log = false;
  std::uint32_t static_threadgroup_bytes = 0;
  std::uint32_t max_total_threads = 0;
  /// From `[[required_threads_per_threadgroup(x, y, z)]]`; zeros when absent.
  std::uint32_t required_threads[3] = {0, 0, 0};
  bool group_size_is_multiple_of_width = false;
  bool support_indirect_command_buffers = false;
  MTL::ShaderValidation shader_validation = MTL::ShaderValidationDefault;
  mutable std::atomic<std::uint32_t> group_ns = 0;
};

}  // namespace pewter::driver
