#pragma once

#include <Metal/MTLComputePipeline.hpp>
#include <Metal/MTLDevice.hpp>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "pewter/compiler/compiler.h"
#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/kernel_variants.h"
#include "pewter/metal/driver/pipeline_descriptor.h"
#include "pewter/metal/foundation/collections.h"
#include "pewter/metal/foundation/error.h"

namespace pewter::driver {

/// The body of MTL::ComputePipelineState: loaded code and what a dispatch must know about it.
/// Never changes, but for what it remembers of the time that its groups take.
class ComputePipelineState final : public Object {
 public:
  using Public = MTL::ComputePipelineState;
  static constexpr ClassInfo kClass{"MTL::ComputePipelineState", &Object::kClass};

  ComputePipelineState() : Object(kClass) {}
  ~ComputePipelineState() override;

  std::unique_ptr<const KernelVariants> variants;
  /// The kernel's own name, for messages.
  std::string kernel_name;
  Ref<String> label;

  /// Buffer and threadgroup parameters that the function constants leave switched on.
  std::vector<compiler::Parameter> parameters;
  /// Indices of buffers and of threadgroup memory that the kernel reads lie below these.
  std::uint32_t buffer_limit = 0;
  std::uint32_t threadgroup_argument_limit = 0;
  /// A bit for each `[[buffer(n)]]` that must be bound before a dispatch.
  std::uint32_t required_buffers = 0;
  /// The same for `[[texture(n)]]` and `[[sampler(n)]]`.
  std::array<std::uint64_t, 2> required_textures = {0, 0};
  std::uint32_t required_samplers = 0;
  /// A bit for each `[[threadgroup(n)]]` that needs a length.
  std::uint32_t required_threadgroup_arguments = 0;
  /// A bit for each `[[buffer(n)]]` that it writes with streaming stores.
  std::uint32_t streamed_buffers = 0;
  /// Whether it writes messages to the host.
  bool uses_log = false;
  std::uint32_t static_threadgroup_bytes = 0;
  std::uint32_t max_total_threads = 0;
  /// From `[[required_threads_per_threadgroup(x, y, z)]]`; zeros when absent.
  std::uint32_t required_threads[3] = {0, 0, 0};
  bool support_indirect_command_buffers = false;
  MTL::ShaderValidation shader_validation = MTL::ShaderValidationDefault;
  mutable std::atomic<std::uint32_t> group_ns = 0;

  /// What it was made from; null unless it can be made anew with more functions.
  Ref<ComputePipelineDescriptor> descriptor;
  /// The functions that it may call, in the order of their numbers.
  std::vector<compiler::LinkedFunction> linked;
  /// Those of them, at the end, that its descriptor does not have.
  std::vector<compiler::LinkedFunction> added;
  /// Those of them, from the start, that the host may put into tables.
  std::size_t tabled = 0;
};

/// A pipeline, or null and why.
struct PipelineOutcome {
  Ref<ComputePipelineState> pipeline;
  Ref<foundation::Error> error;
};

/// `more` are functions to link besides those of the descriptor. What is compiled goes into
/// `record` too, if there is one.
PipelineOutcome build_pipeline(const ComputePipelineDescriptor& descriptor,
                               MTL::PipelineOption options,
                               const std::vector<compiler::LinkedFunction>& more = {},
                               const std::shared_ptr<compiler::CodeArchive>& record = nullptr);

/// The visible functions of an array of MTL::Function. Fails when one of them is none.
Result<std::vector<compiler::LinkedFunction>> linked_functions(const foundation::Array* functions);

}  // namespace pewter::driver
