#include "pewter/metal/driver/indirect_command_buffer.h"

// The public methods of MTL::IndirectCommandBufferDescriptor.

namespace driver = pewter::driver;
using Body = driver::IndirectCommandBufferDescriptor;
using driver::get;

MTL::IndirectCommandBufferDescriptor* MTL::IndirectCommandBufferDescriptor::alloc() {
  return driver::handle(driver::make<Body>());
}

MTL::IndirectCommandBufferDescriptor* MTL::IndirectCommandBufferDescriptor::init() {
  return this;
}

MTL::IndirectCommandType MTL::IndirectCommandBufferDescriptor::commandTypes() const {
  return get(this, &Body::command_types);
}

void MTL::IndirectCommandBufferDescriptor::setCommandTypes(MTL::IndirectCommandType commandTypes) {
  driver::set(this, &Body::command_types, commandTypes);
}

bool MTL::IndirectCommandBufferDescriptor::inheritPipelineState() const {
  return get(this, &Body::inherit_pipeline_state);
}

void MTL::IndirectCommandBufferDescriptor::setInheritPipelineState(bool inheritPipelineState) {
  driver::set(this, &Body::inherit_pipeline_state, inheritPipelineState);
}

bool MTL::IndirectCommandBufferDescriptor::inheritBuffers() const {
  return get(this, &Body::inherit_buffers);
}

void MTL::IndirectCommandBufferDescriptor::setInheritBuffers(bool inheritBuffers) {
  driver::set(this, &Body::inherit_buffers, inheritBuffers);
}

NS::UInteger MTL::IndirectCommandBufferDescriptor::maxVertexBufferBindCount() const {
  return get(this, &Body::max_vertex_buffers);
}

void MTL::IndirectCommandBufferDescriptor::setMaxVertexBufferBindCount(
    NS::UInteger maxVertexBufferBindCount) {
  driver::set(this, &Body::max_vertex_buffers, maxVertexBufferBindCount);
}

NS::UInteger MTL::IndirectCommandBufferDescriptor::maxFragmentBufferBindCount() const {
  return get(this, &Body::max_fragment_buffers);
}

void MTL::IndirectCommandBufferDescriptor::setMaxFragmentBufferBindCount(
    NS::UInteger maxFragmentBufferBindCount) {
  driver::set(this, &Body::max_fragment_buffers, maxFragmentBufferBindCount);
}

NS::UInteger MTL::IndirectCommandBufferDescriptor::maxKernelBufferBindCount() const {
  return get(this, &Body::max_kernel_buffers);
}

void MTL::IndirectCommandBufferDescriptor::setMaxKernelBufferBindCount(
    NS::UInteger maxKernelBufferBindCount) {
  driver::set(this, &Body::max_kernel_buffers, maxKernelBufferBindCount);
}

NS::UInteger MTL::IndirectCommandBufferDescriptor::maxKernelThreadgroupMemoryBindCount() const {
  return get(this, &Body::max_kernel_threadgroup_arguments);
}

void MTL::IndirectCommandBufferDescriptor::setMaxKernelThreadgroupMemoryBindCount(
    NS::UInteger maxKernelThreadgroupMemoryBindCount) {
  driver::set(this, &Body::max_kernel_threadgroup_arguments, maxKernelThreadgroupMemoryBindCount);
}

NS::UInteger MTL::IndirectCommandBufferDescriptor::maxObjectBufferBindCount() const {
  return get(this, &Body::max_object_buffers);
}

void MTL::IndirectCommandBufferDescriptor::setMaxObjectBufferBindCount(
    NS::UInteger maxObjectBufferBindCount) {
  driver::set(this, &Body::max_object_buffers, maxObjectBufferBindCount);
}

NS::UInteger MTL::IndirectCommandBufferDescriptor::maxMeshBufferBindCount() const {
  return get(this, &Body::max_mesh_buffers);
}

void MTL::IndirectCommandBufferDescriptor::setMaxMeshBufferBindCount(
    NS::UInteger maxMeshBufferBindCount) {
  driver::set(this, &Body::max_mesh_buffers, maxMeshBufferBindCount);
}

NS::UInteger MTL::IndirectCommandBufferDescriptor::maxObjectThreadgroupMemoryBindCount() const {
  return get(this, &Body::max_object_threadgroup_arguments);
}

void MTL::IndirectCommandBufferDescriptor::setMaxObjectThreadgroupMemoryBindCount(
    NS::UInteger maxObjectThreadgroupMemoryBindCount) {
  driver::set(this, &Body::max_object_threadgroup_arguments, maxObjectThreadgroupMemoryBindCount);
}

bool MTL::IndirectCommandBufferDescriptor::supportRayTracing() const {
  return get(this, &Body::support_ray_tracing);
}

void MTL::IndirectCommandBufferDescriptor::setSupportRayTracing(bool supportRayTracing) {
  driver::set(this, &Body::support_ray_tracing, supportRayTracing);
}

bool MTL::IndirectCommandBufferDescriptor::supportDynamicAttributeStride() const {
  return get(this, &Body::support_dynamic_stride);
}

void MTL::IndirectCommandBufferDescriptor::setSupportDynamicAttributeStride(
    bool supportDynamicAttributeStride) {
  driver::set(this, &Body::support_dynamic_stride, supportDynamicAttributeStride);
}
