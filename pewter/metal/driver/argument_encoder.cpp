#include "pewter/metal/driver/argument_encoder.h"

#include <Metal/MTLComputePipeline.hpp>
#include <Metal/MTLIndirectCommandBuffer.hpp>
#include <Metal/MTLLibrary.hpp>
#include <Metal/MTLSampler.hpp>
#include <Metal/MTLTexture.hpp>
#include <Metal/MTLVisibleFunctionTable.hpp>
#include <algorithm>
#include <cstring>
#include <optional>

#include "pewter/base/log.h"
#include "pewter/metal/driver/data_type.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/function.h"
#include "pewter/metal/driver/reflection.h"
#include "pewter/metal/foundation/collections.h"

namespace pewter::driver {
namespace {

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

using Kind = ArgumentEncoder::Kind;

Kind kind_of(const compiler::Member& member) {
  return member.is_texture          ? Kind::Texture
         : member.is_sampler        ? Kind::Sampler
         : member.is_pointer        ? Kind::Buffer
         : member.is_function_table ? Kind::FunctionTable
         : member.is_pipeline       ? Kind::Pipeline
         : member.is_command_buffer ? Kind::CommandBuffer
                                    : Kind::Value;
}

/// Lays members out in the order of their indices, as a C compiler would.
std::optional<ArgumentLayout> layout_of(std::vector<const ArgumentDescriptor*> descriptors) {
  std::sort(descriptors.begin(), descriptors.end(),
            [](auto* left, auto* right) { return left->index < right->index; });
  ArgumentLayout layout;
  for (const ArgumentDescriptor* descriptor : descriptors) {
    compiler::Member member;
    member.id = static_cast<std::uint32_t>(descriptor->index);
    member.count = static_cast<std::uint32_t>(std::max<NS::UInteger>(descriptor->array_length, 1));
    member.is_pointer = descriptor->data_type == MTL::DataTypePointer;
    member.is_texture = descriptor->data_type == MTL::DataTypeTexture;
    member.is_sampler = descriptor->data_type == MTL::DataTypeSampler;
    member.is_function_table = descriptor->data_type == MTL::DataTypeVisibleFunctionTable;
    member.is_pipeline = descriptor->data_type == MTL::DataTypeComputePipeline;
    member.is_command_buffer = descriptor->data_type == MTL::DataTypeIndirectCommandBuffer;
    const bool is_resource = kind_of(member) != Kind::Value;
    member.type = value_type(descriptor->data_type);
    member.size = is_resource ? sizeof(void*) : size_of(member.type);
    if (member.size == 0) {
      logging::error("metal", "newArgumentEncoder: arguments of data type {} are not supported yet",
                     static_cast<unsigned>(descriptor->data_type));
      return std::nullopt;
    }
    member.alignment = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(is_resource ? alignof(void*) : alignment_of(member.type),
                                descriptor->constant_block_alignment));
    member.offset = aligned(layout.size, member.alignment);
    layout.size = member.offset + member.size * member.count;
    layout.alignment = std::max(layout.alignment, member.alignment);
    layout.members.push_back(std::move(member));
  }
  layout.size = aligned(layout.size, layout.alignment);
  return layout;
}

ArgumentLayout layout_of(std::vector<compiler::Member> members,
                         std::uint64_t size,
                         std::uint64_t alignment) {
  return {std::move(members), size, static_cast<std::uint32_t>(alignment)};
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::Buffer:
      return "buffer";
    case Kind::Texture:
      return "texture";
    case Kind::Sampler:
      return "sampler";
    case Kind::FunctionTable:
      return "visible function table";
    case Kind::Pipeline:
      return "compute pipeline state";
    case Kind::CommandBuffer:
      return "indirect command buffer";
    case Kind::Value:
      break;
  }
  return "value";
}

void store_id(ArgumentEncoder& encoder,
              Kind kind,
              std::uint64_t id,
              NS::UInteger index,
              const std::source_location& where) {
  if (std::byte* place = encoder.place(index, kind, where)) {
    std::memcpy(place, &id, sizeof id);
  }
}

void store(ArgumentEncoder& encoder,
           const Buffer* buffer,
           NS::UInteger offset,
           NS::UInteger index,
           const std::source_location& where) {
  std::byte* place = encoder.place(index, Kind::Buffer, where);
  if (place == nullptr) {
    return;
  }
  std::uint64_t address = 0;
  if (buffer != nullptr) {
    if (offset > buffer->length()) {
      logging::error("metal", "setBuffer: offset {} exceeds the buffer's {} bytes", offset,
                     buffer->length());
      return;
    }
    address = reinterpret_cast<std::uintptr_t>(buffer->data()) + offset;
  }
  std::memcpy(place, &address, sizeof address);
}

}  // namespace

void ArgumentEncoder::set_target(Ref<Buffer> buffer, std::uint64_t offset) {
  buffer_ = nullptr;
  target_ = nullptr;
  if (!buffer) {
    return;
  }
  if (offset > buffer->length() || layout.size > buffer->length() - offset ||
      offset % layout.alignment != 0) {
    logging::error(
        "metal",
        "setArgumentBuffer: {} bytes at {} are not aligned to {} or exceed the buffer's {} bytes",
        layout.size, offset, layout.alignment, buffer->length());
    return;
  }
  target_ = buffer->data() + offset;
  buffer_ = std::move(buffer);
}

std::byte* ArgumentEncoder::place(NS::UInteger id,
                                  Kind kind,
                                  const std::source_location& where) const {
  if (target_ == nullptr) {
    logging::error("metal", "{}: the encoder has no argument buffer", where.function_name());
    return nullptr;
  }
  for (const compiler::Member& member : layout.members) {
    if (id >= member.id && id - member.id < member.count) {
      if (kind_of(member) != kind) {
        logging::error("metal", "{}: argument {} is a {}, not a {}", where.function_name(), id,
                       name_of(kind_of(member)), name_of(kind));
        return nullptr;
      }
      return target_ + member.offset + (id - member.id) * member.size;
    }
  }
  logging::error("metal", "{}: there is no argument with index {}", where.function_name(), id);
  return nullptr;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::ArgumentEncoder;
using Descriptor = driver::ArgumentDescriptor;
using driver::get;
using driver::handle;
using driver::impl;
using driver::Ref;
using Here = std::source_location;

MTL::ArgumentEncoder* MTL::Device::newArgumentEncoder(const NS::Array* arguments) {
  auto* array = impl<pewter::foundation::Array>(arguments);
  if (impl<driver::Device>(this) == nullptr || array == nullptr) {
    return nullptr;
  }
  std::vector<const Descriptor*> descriptors;
  for (const auto& item : array->items) {
    auto* descriptor = impl<Descriptor>(handle(item));
    if (descriptor == nullptr) {
      return nullptr;
    }
    descriptors.push_back(descriptor);
  }
  auto layout = driver::layout_of(std::move(descriptors));
  return layout ? handle(driver::make<Body>(*std::move(layout))) : nullptr;
}

MTL::ArgumentEncoder* MTL::Device::newArgumentEncoder(const BufferBinding* bufferBinding) {
  auto* binding = impl<driver::BufferBinding>(bufferBinding);
  if (impl<driver::Device>(this) == nullptr || binding == nullptr) {
    return nullptr;
  }
  if (binding->facts.members.empty()) {
    pewter::logging::error("metal", "newArgumentEncoder: '{}' is not a structure",
                           binding->facts.name->text);
    return nullptr;
  }
  return handle(driver::make<Body>(driver::layout_of(
      binding->facts.members, binding->facts.data_size, binding->facts.alignment)));
}

MTL::ArgumentEncoder* MTL::Function::newArgumentEncoder(NS::UInteger bufferIndex) {
  return newArgumentEncoder(bufferIndex, nullptr);
}

MTL::ArgumentEncoder* MTL::Function::newArgumentEncoder(NS::UInteger bufferIndex,
                                                        const AutoreleasedArgument* reflection) {
  auto* self = impl<driver::Function>(this);
  if (self == nullptr) {
    return nullptr;
  }
  const auto* parameter = self->buffer_parameter(static_cast<std::uint32_t>(bufferIndex));
  if (parameter == nullptr || parameter->members.empty()) {
    pewter::logging::error("metal", "newArgumentEncoder: '{}' has no structure at buffer index {}",
                           self->name->text, bufferIndex);
    return nullptr;
  }
  if (reflection != nullptr) {
    // metal-cpp declares the place constant, and Metal writes to it all the same.
    *const_cast<Argument**>(reflection) =
        driver::autoreleased(driver::make_ref<driver::Argument>(*parameter));
  }
  return handle(driver::make<Body>(
      driver::layout_of(parameter->members, parameter->size, parameter->alignment)));
}

MTL::Device* MTL::ArgumentEncoder::device() const {
  return driver::device_of(impl<Body>(this));
}

NS::String* MTL::ArgumentEncoder::label() const {
  return get(this, &Body::label);
}

void MTL::ArgumentEncoder::setLabel(const NS::String* label) {
  driver::set(this, &Body::label, label);
}

NS::UInteger MTL::ArgumentEncoder::encodedLength() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->layout.size : 0;
}

NS::UInteger MTL::ArgumentEncoder::alignment() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->layout.alignment : 0;
}

void MTL::ArgumentEncoder::setArgumentBuffer(const Buffer* argumentBuffer, NS::UInteger offset) {
  if (auto* self = impl<Body>(this)) {
    self->set_target(Ref<driver::Buffer>(impl<driver::Buffer>(argumentBuffer)), offset);
  }
}

void MTL::ArgumentEncoder::setArgumentBuffer(const Buffer* argumentBuffer,
                                             NS::UInteger startOffset,
                                             NS::UInteger arrayElement) {
  setArgumentBuffer(argumentBuffer, startOffset + arrayElement * encodedLength());
}

void MTL::ArgumentEncoder::setBuffer(const Buffer* buffer,
                                     NS::UInteger offset,
                                     NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    driver::store(*self, impl<driver::Buffer>(buffer), offset, index, Here::current());
  }
}

void MTL::ArgumentEncoder::setBuffers(const Buffer* const buffers[],
                                      const NS::UInteger offsets[],
                                      NS::Range range) {
  auto* self = impl<Body>(this);
  if (self == nullptr || buffers == nullptr || offsets == nullptr) {
    return;
  }
  for (NS::UInteger number = 0; number < range.length; ++number) {
    driver::store(*self, impl<driver::Buffer>(buffers[number]), offsets[number],
                  range.location + number, Here::current());
  }
}

void MTL::ArgumentEncoder::setTexture(const Texture* texture, NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    driver::store_id(*self, Body::Kind::Texture,
                     texture != nullptr ? texture->gpuResourceID()._impl : 0, index,
                     Here::current());
  }
}

void MTL::ArgumentEncoder::setTextures(const Texture* const textures[], NS::Range range) {
  for (NS::UInteger number = 0; number < range.length; ++number) {
    setTexture(textures[number], range.location + number);
  }
}

void MTL::ArgumentEncoder::setSamplerState(const SamplerState* sampler, NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    driver::store_id(*self, Body::Kind::Sampler,
                     sampler != nullptr ? sampler->gpuResourceID()._impl : 0, index,
                     Here::current());
  }
}

void MTL::ArgumentEncoder::setSamplerStates(const SamplerState* const samplers[], NS::Range range) {
  for (NS::UInteger number = 0; number < range.length; ++number) {
    setSamplerState(samplers[number], range.location + number);
  }
}

void MTL::ArgumentEncoder::setComputePipelineState(const ComputePipelineState* pipeline,
                                                   NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    driver::store_id(*self, Body::Kind::Pipeline,
                     pipeline != nullptr ? pipeline->gpuResourceID()._impl : 0, index,
                     Here::current());
  }
}

void MTL::ArgumentEncoder::setComputePipelineStates(const ComputePipelineState* const pipelines[],
                                                    NS::Range range) {
  for (NS::UInteger number = 0; number < range.length; ++number) {
    setComputePipelineState(pipelines[number], range.location + number);
  }
}

void MTL::ArgumentEncoder::setIndirectCommandBuffer(
    const IndirectCommandBuffer* indirectCommandBuffer, NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    driver::store_id(
        *self, Body::Kind::CommandBuffer,
        indirectCommandBuffer != nullptr ? indirectCommandBuffer->gpuResourceID()._impl : 0, index,
        Here::current());
  }
}

void MTL::ArgumentEncoder::setIndirectCommandBuffers(const IndirectCommandBuffer* const buffers[],
                                                     NS::Range range) {
  for (NS::UInteger number = 0; number < range.length; ++number) {
    setIndirectCommandBuffer(buffers[number], range.location + number);
  }
}

void MTL::ArgumentEncoder::setVisibleFunctionTable(const VisibleFunctionTable* visibleFunctionTable,
                                                   NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    driver::store_id(
        *self, Body::Kind::FunctionTable,
        visibleFunctionTable != nullptr ? visibleFunctionTable->gpuResourceID()._impl : 0, index,
        Here::current());
  }
}

void MTL::ArgumentEncoder::setVisibleFunctionTables(
    const VisibleFunctionTable* const visibleFunctionTables[], NS::Range range) {
  for (NS::UInteger number = 0; number < range.length; ++number) {
    setVisibleFunctionTable(visibleFunctionTables[number], range.location + number);
  }
}

void* MTL::ArgumentEncoder::constantData(NS::UInteger index) {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->place(index, Body::Kind::Value, Here::current()) : nullptr;
}

MTL::ArgumentDescriptor* MTL::ArgumentDescriptor::alloc() {
  return handle(driver::make<Descriptor>());
}

MTL::ArgumentDescriptor* MTL::ArgumentDescriptor::init() {
  return this;
}

MTL::ArgumentDescriptor* MTL::ArgumentDescriptor::argumentDescriptor() {
  return alloc()->init()->autorelease();
}

MTL::DataType MTL::ArgumentDescriptor::dataType() const {
  return get(this, &Descriptor::data_type);
}

void MTL::ArgumentDescriptor::setDataType(MTL::DataType dataType) {
  driver::set(this, &Descriptor::data_type, dataType);
}

NS::UInteger MTL::ArgumentDescriptor::index() const {
  return get(this, &Descriptor::index);
}

void MTL::ArgumentDescriptor::setIndex(NS::UInteger index) {
  driver::set(this, &Descriptor::index, index);
}

NS::UInteger MTL::ArgumentDescriptor::arrayLength() const {
  return get(this, &Descriptor::array_length);
}

void MTL::ArgumentDescriptor::setArrayLength(NS::UInteger arrayLength) {
  driver::set(this, &Descriptor::array_length, arrayLength);
}

MTL::BindingAccess MTL::ArgumentDescriptor::access() const {
  return get(this, &Descriptor::access);
}

void MTL::ArgumentDescriptor::setAccess(MTL::BindingAccess access) {
  driver::set(this, &Descriptor::access, access);
}

MTL::TextureType MTL::ArgumentDescriptor::textureType() const {
  return get(this, &Descriptor::texture_type);
}

void MTL::ArgumentDescriptor::setTextureType(MTL::TextureType textureType) {
  driver::set(this, &Descriptor::texture_type, textureType);
}

NS::UInteger MTL::ArgumentDescriptor::constantBlockAlignment() const {
  return get(this, &Descriptor::constant_block_alignment);
}

void MTL::ArgumentDescriptor::setConstantBlockAlignment(NS::UInteger constantBlockAlignment) {
  driver::set(this, &Descriptor::constant_block_alignment, constantBlockAlignment);
}
