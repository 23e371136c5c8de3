#pragma once

#include <Metal/MTLComputePipeline.hpp>
#include <Metal/MTLPipeline.hpp>
#include <map>

#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/function.h"
#include "pewter/metal/driver/function_descriptor.h"
#include "pewter/metal/foundation/collections.h"

namespace pewter::driver {

/// The body of MTL::PipelineBufferDescriptor.
class PipelineBufferDescriptor final : public Object {
 public:
  using Public = MTL::PipelineBufferDescriptor;
  static constexpr ClassInfo kClass{"MTL::PipelineBufferDescriptor", &Object::kClass};

  PipelineBufferDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<PipelineBufferDescriptor>(*this); }

  MTL::Mutability mutability = MTL::MutabilityDefault;
};

/// The body of MTL::PipelineBufferDescriptorArray.
class PipelineBufferDescriptorArray final : public Object {
 public:
  using Public = MTL::PipelineBufferDescriptorArray;
  static constexpr ClassInfo kClass{"MTL::PipelineBufferDescriptorArray", &Object::kClass};

  PipelineBufferDescriptorArray() : Object(kClass) {}

  Object* copy() const override;

  std::map<NS::UInteger, Ref<PipelineBufferDescriptor>> items;
};

/// The body of MTL::ComputePipelineDescriptor.
class ComputePipelineDescriptor final : public Object {
 public:
  using Public = MTL::ComputePipelineDescriptor;
  static constexpr ClassInfo kClass{"MTL::ComputePipelineDescriptor", &Object::kClass};

  ComputePipelineDescriptor() : Object(kClass) {}

  Object* copy() const override;

  Ref<String> label;
  Ref<Function> function;
  bool group_size_is_multiple_of_width = false;
  NS::UInteger max_total_threads = 0;
  Ref<PipelineBufferDescriptorArray> buffers = make_ref<PipelineBufferDescriptorArray>();
  bool support_indirect_command_buffers = false;
  Ref<foundation::Array> insert_libraries;
  Ref<foundation::Array> preloaded_libraries;
  Ref<foundation::Array> binary_archives;
  Ref<LinkedFunctions> linked_functions = make_ref<LinkedFunctions>();
  bool support_adding_binary_functions = false;
  NS::UInteger max_call_stack_depth = 1;
  MTL::ShaderValidation shader_validation = MTL::ShaderValidationDefault;
};

}  // namespace pewter::driver
