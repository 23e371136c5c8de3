#include "pewter/metal/driver/pipeline_descriptor.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/base/log.h"

namespace pewter::driver {

Object* PipelineBufferDescriptorArray::copy() const {
  auto array = make_ref<PipelineBufferDescriptorArray>();
  for (const auto& [index, item] : items) {
    array->items.emplace(index, Ref<PipelineBufferDescriptor>::adopt(
                                    static_cast<PipelineBufferDescriptor*>(item->copy())));
  }
  return array.leak();
}

Object* ComputePipelineDescriptor::copy() const {
  auto descriptor = Ref<ComputePipelineDescriptor>::adopt(make<ComputePipelineDescriptor>(*this));
  descriptor->buffers = Ref<PipelineBufferDescriptorArray>::adopt(
      static_cast<PipelineBufferDescriptorArray*>(buffers->copy()));
  return descriptor.leak();
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using driver::get;
using driver::handle;
using driver::impl;
using driver::Ref;
using Buffer = driver::PipelineBufferDescriptor;
using Buffers = driver::PipelineBufferDescriptorArray;
using Descriptor = driver::ComputePipelineDescriptor;

MTL::PipelineBufferDescriptor* MTL::PipelineBufferDescriptor::alloc() {
  return handle(driver::make<::Buffer>());
}

MTL::PipelineBufferDescriptor* MTL::PipelineBufferDescriptor::init() {
  return this;
}

MTL::Mutability MTL::PipelineBufferDescriptor::mutability() const {
  return get(this, &::Buffer::mutability);
}

void MTL::PipelineBufferDescriptor::setMutability(MTL::Mutability mutability) {
  driver::set(this, &::Buffer::mutability, mutability);
}

MTL::PipelineBufferDescriptorArray* MTL::PipelineBufferDescriptorArray::alloc() {
  return handle(driver::make<Buffers>());
}

MTL::PipelineBufferDescriptorArray* MTL::PipelineBufferDescriptorArray::init() {
  return this;
}

MTL::PipelineBufferDescriptor* MTL::PipelineBufferDescriptorArray::object(
    NS::UInteger bufferIndex) {
  auto* self = impl<Buffers>(this);
  if (self == nullptr) {
    return nullptr;
  }
  if (bufferIndex >= pewter::abi::kMaxBuffers) {
    pewter::logging::error("metal", "buffer index {} exceeds the limit of {}", bufferIndex,
                           pewter::abi::kMaxBuffers - 1);
    return nullptr;
  }
  auto& item = self->items[bufferIndex];
  if (!item) {
    item = driver::make_ref<::Buffer>();
  }
  return handle(item);
}

void MTL::PipelineBufferDescriptorArray::setObject(const PipelineBufferDescriptor* buffer,
                                                   NS::UInteger bufferIndex) {
  auto* self = impl<Buffers>(this);
  if (self != nullptr && bufferIndex < pewter::abi::kMaxBuffers) {
    auto* item = impl<::Buffer>(buffer);
    self->items[bufferIndex] =
        Ref<::Buffer>::adopt(item != nullptr ? static_cast<::Buffer*>(item->copy()) : nullptr);
  }
}

MTL::ComputePipelineDescriptor* MTL::ComputePipelineDescriptor::alloc() {
  return handle(driver::make<Descriptor>());
}

MTL::ComputePipelineDescriptor* MTL::ComputePipelineDescriptor::init() {
  return this;
}

MTL::PipelineBufferDescriptorArray* MTL::ComputePipelineDescriptor::buffers() const {
  auto* self = impl<Descriptor>(this);
  return self != nullptr ? handle(self->buffers) : nullptr;
}

void MTL::ComputePipelineDescriptor::reset() {
  if (auto* self = impl<Descriptor>(this)) {
    const auto fresh = driver::make_ref<Descriptor>();
    self->label = fresh->label;
    self->function = fresh->function;
    self->group_size_is_multiple_of_width = fresh->group_size_is_multiple_of_width;
    self->max_total_threads = fresh->max_total_threads;
    self->buffers = fresh->buffers;
    self->support_indirect_command_buffers = fresh->support_indirect_command_buffers;
    self->insert_libraries = fresh->insert_libraries;
    self->preloaded_libraries = fresh->preloaded_libraries;
    self->binary_archives = fresh->binary_archives;
    self->linked_functions = fresh->linked_functions;
    self->support_adding_binary_functions = fresh->support_adding_binary_functions;
    self->max_call_stack_depth = fresh->max_call_stack_depth;
    self->shader_validation = fresh->shader_validation;
  }
}

NS::String* MTL::ComputePipelineDescriptor::label() const {
  return get(this, &Descriptor::label);
}

void MTL::ComputePipelineDescriptor::setLabel(const NS::String* label) {
  driver::set(this, &Descriptor::label, label);
}

MTL::Function* MTL::ComputePipelineDescriptor::computeFunction() const {
  return get(this, &Descriptor::function);
}

void MTL::ComputePipelineDescriptor::setComputeFunction(const MTL::Function* computeFunction) {
  driver::set(this, &Descriptor::function, computeFunction);
}

bool MTL::ComputePipelineDescriptor::threadGroupSizeIsMultipleOfThreadExecutionWidth() const {
  return get(this, &Descriptor::group_size_is_multiple_of_width);
}

void MTL::ComputePipelineDescriptor::setThreadGroupSizeIsMultipleOfThreadExecutionWidth(
    bool threadGroupSizeIsMultipleOfThreadExecutionWidth) {
  driver::set(this, &Descriptor::group_size_is_multiple_of_width,
              threadGroupSizeIsMultipleOfThreadExecutionWidth);
}

NS::UInteger MTL::ComputePipelineDescriptor::maxTotalThreadsPerThreadgroup() const {
  return get(this, &Descriptor::max_total_threads);
}

void MTL::ComputePipelineDescriptor::setMaxTotalThreadsPerThreadgroup(
    NS::UInteger maxTotalThreadsPerThreadgroup) {
  driver::set(this, &Descriptor::max_total_threads, maxTotalThreadsPerThreadgroup);
}

bool MTL::ComputePipelineDescriptor::supportIndirectCommandBuffers() const {
  return get(this, &Descriptor::support_indirect_command_buffers);
}

void MTL::ComputePipelineDescriptor::setSupportIndirectCommandBuffers(
    bool supportIndirectCommandBuffers) {
  driver::set(this, &Descriptor::support_indirect_command_buffers, supportIndirectCommandBuffers);
}

NS::Array* MTL::ComputePipelineDescriptor::insertLibraries() const {
  return get(this, &Descriptor::insert_libraries);
}

void MTL::ComputePipelineDescriptor::setInsertLibraries(const NS::Array* insertLibraries) {
  driver::set(this, &Descriptor::insert_libraries, insertLibraries);
}

NS::Array* MTL::ComputePipelineDescriptor::preloadedLibraries() const {
  return get(this, &Descriptor::preloaded_libraries);
}

void MTL::ComputePipelineDescriptor::setPreloadedLibraries(const NS::Array* preloadedLibraries) {
  driver::set(this, &Descriptor::preloaded_libraries, preloadedLibraries);
}

NS::Array* MTL::ComputePipelineDescriptor::binaryArchives() const {
  return get(this, &Descriptor::binary_archives);
}

void MTL::ComputePipelineDescriptor::setBinaryArchives(const NS::Array* binaryArchives) {
  driver::set(this, &Descriptor::binary_archives, binaryArchives);
}

MTL::LinkedFunctions* MTL::ComputePipelineDescriptor::linkedFunctions() const {
  return get(this, &Descriptor::linked_functions);
}

void MTL::ComputePipelineDescriptor::setLinkedFunctions(
    const MTL::LinkedFunctions* linkedFunctions) {
  driver::set_copy(this, &Descriptor::linked_functions, linkedFunctions);
}

bool MTL::ComputePipelineDescriptor::supportAddingBinaryFunctions() const {
  return get(this, &Descriptor::support_adding_binary_functions);
}

void MTL::ComputePipelineDescriptor::setSupportAddingBinaryFunctions(
    bool supportAddingBinaryFunctions) {
  driver::set(this, &Descriptor::support_adding_binary_functions, supportAddingBinaryFunctions);
}

NS::UInteger MTL::ComputePipelineDescriptor::maxCallStackDepth() const {
  return get(this, &Descriptor::max_call_stack_depth);
}

void MTL::ComputePipelineDescriptor::setMaxCallStackDepth(NS::UInteger maxCallStackDepth) {
  driver::set(this, &Descriptor::max_call_stack_depth, maxCallStackDepth);
}

MTL::ShaderValidation MTL::ComputePipelineDescriptor::shaderValidation() const {
  return get(this, &Descriptor::shader_validation);
}

void MTL::ComputePipelineDescriptor::setShaderValidation(MTL::ShaderValidation shaderValidation) {
  driver::set(this, &Descriptor::shader_validation, shaderValidation);
}
