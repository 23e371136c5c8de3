#include "pewter/metal/driver/reflection.h"

#include "pewter/metal/driver/data_type.h"

namespace pewter::driver {
namespace {

MTL::BindingAccess access_of(compiler::Access access) {
  switch (access) {
    case compiler::Access::ReadOnly:
      return MTL::BindingAccessReadOnly;
    case compiler::Access::ReadWrite:
      return MTL::BindingAccessReadWrite;
    default:
      return MTL::BindingAccessWriteOnly;
  }
}

bool has_pointers(const std::vector<compiler::Member>& members) {
  for (const compiler::Member& member : members) {
    if (member.is_pointer) {
      return true;
    }
  }
  return false;
}

Ref<PointerType> pointer_to(const compiler::Member& member) {
  auto pointer = make_ref<PointerType>();
  pointer->element_type = data_type(member.type);
  pointer->access = MTL::BindingAccessReadWrite;
  pointer->alignment = alignment_of(member.type);
  pointer->data_size = size_of(member.type);
  return pointer;
}

}  // namespace

StructType::StructType(const std::vector<compiler::Member>& described) : StructType() {
  for (const compiler::Member& member : described) {
    members->items.push_back(Ref<Object>::adopt(make<StructMember>(member)));
  }
}

StructMember::StructMember(const compiler::Member& described)
    : Object(kClass),
      name(make_string(described.name)),
      offset(described.offset),
      argument_index(described.id),
      data_type(described.is_pointer          ? MTL::DataTypePointer
                : described.is_texture        ? MTL::DataTypeTexture
                : described.is_sampler        ? MTL::DataTypeSampler
                : described.is_function_table ? MTL::DataTypeVisibleFunctionTable
                : described.is_pipeline       ? MTL::DataTypeComputePipeline
                : described.is_command_buffer ? MTL::DataTypeIndirectCommandBuffer
                                              : driver::data_type(described.type)) {
  auto element = described.is_pointer ? pointer_to(described) : nullptr;
  if (described.count > 1) {
    array = make_ref<ArrayType>();
    array->element_type = data_type;
    array->length = described.count;
    array->stride = described.size;
    array->element_pointer = std::move(element);
    data_type = MTL::DataTypeArray;
  } else {
    pointer = std::move(element);
  }
}

ParameterFacts::ParameterFacts(const compiler::Parameter& parameter)
    : name(make_string(parameter.name)),
      is_threadgroup(parameter.kind == compiler::ParameterKind::Threadgroup),
      kind(parameter.kind),
      access(access_of(parameter.access)),
      index(parameter.index),
      alignment(parameter.alignment),
      data_size(parameter.size),
      data_type(driver::data_type(parameter.type)),
      texture_type(static_cast<MTL::TextureType>(parameter.texture_type)),
      is_depth_texture(parameter.is_depth_texture),
      array_length(parameter.count),
      members(parameter.members) {
  if (kind != compiler::ParameterKind::Buffer) {
    return;
  }
  if (data_type == MTL::DataTypeStruct) {
    structure = make_ref<StructType>(parameter.members);
  }
  pointer = make_ref<PointerType>();
  pointer->element_type = data_type;
  pointer->access = access;
  pointer->alignment = alignment;
  pointer->data_size = data_size;
  pointer->element_is_argument_buffer = has_pointers(parameter.members);
  pointer->element_struct = structure;
}

namespace {

Object* new_binding(const compiler::Parameter& parameter) {
  switch (parameter.kind) {
    case compiler::ParameterKind::Threadgroup:
      return make<ThreadgroupBinding>(parameter);
    case compiler::ParameterKind::Texture:
      return make<TextureBinding>(parameter);
    case compiler::ParameterKind::Sampler:
      return make<SamplerBinding>(parameter);
    default:
      return make<BufferBinding>(parameter);
  }
}

/// MTL::BindingType and MTL::ArgumentType have the same numbers.
template <typename Type>
Type type_number(const ParameterFacts& facts) {
  constexpr Type kNumbers[] = {Type(0), Type(1), Type(0), Type(2), Type(3), Type(24)};
  return kNumbers[static_cast<std::size_t>(facts.kind)];
}

}  // namespace

ComputePipelineReflection::ComputePipelineReflection(
    const std::vector<compiler::Parameter>& parameters)
    : Object(kClass),
      bindings(make_ref<foundation::Array>()),
      arguments(make_ref<foundation::Array>()) {
  for (const compiler::Parameter& parameter : parameters) {
    bindings->items.push_back(Ref<Object>::adopt(new_binding(parameter)));
    arguments->items.push_back(Ref<Object>::adopt(make<Argument>(parameter)));
  }
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using driver::get;
using driver::handle;
using driver::impl;

namespace {

/// What the body behind `self` says about its parameter; an empty answer when there is none.
template <class T>
const driver::ParameterFacts& facts(
    const void* self, const std::source_location& where = std::source_location::current()) {
  static const driver::ParameterFacts& none = *new driver::ParameterFacts;
  auto* body = impl<T>(self, where);
  return body != nullptr ? body->facts : none;
}

}  // namespace

MTL::ComputePipelineReflection* MTL::ComputePipelineReflection::alloc() {
  return handle(driver::make<driver::ComputePipelineReflection>());
}

MTL::ComputePipelineReflection* MTL::ComputePipelineReflection::init() {
  return this;
}

NS::Array* MTL::ComputePipelineReflection::bindings() const {
  return get(this, &driver::ComputePipelineReflection::bindings);
}

NS::Array* MTL::ComputePipelineReflection::arguments() const {
  return get(this, &driver::ComputePipelineReflection::arguments);
}

MTL::Type* MTL::Type::alloc() {
  return handle(driver::make<driver::Type>());
}

MTL::Type* MTL::Type::init() {
  return this;
}

MTL::DataType MTL::Type::dataType() const {
  return get(this, &driver::Type::data_type);
}

MTL::StructMember* MTL::StructMember::alloc() {
  return handle(driver::make<driver::StructMember>());
}

MTL::StructMember* MTL::StructMember::init() {
  return this;
}

NS::String* MTL::StructMember::name() const {
  return get(this, &driver::StructMember::name);
}

NS::UInteger MTL::StructMember::offset() const {
  return get(this, &driver::StructMember::offset);
}

MTL::DataType MTL::StructMember::dataType() const {
  return get(this, &driver::StructMember::data_type);
}

NS::UInteger MTL::StructMember::argumentIndex() const {
  return get(this, &driver::StructMember::argument_index);
}

// Nested structures are flattened, so a member is never one.
MTL::StructType* MTL::StructMember::structType() {
  return nullptr;
}

MTL::ArrayType* MTL::StructMember::arrayType() {
  return get(this, &driver::StructMember::array);
}

MTL::PointerType* MTL::StructMember::pointerType() {
  return get(this, &driver::StructMember::pointer);
}

MTL::StructType* MTL::StructType::alloc() {
  return handle(driver::make<driver::StructType>());
}

MTL::StructType* MTL::StructType::init() {
  return this;
}

NS::Array* MTL::StructType::members() const {
  return get(this, &driver::StructType::members);
}

MTL::StructMember* MTL::StructType::memberByName(const NS::String* name) {
  auto* self = impl<driver::StructType>(this);
  const std::string wanted = driver::text_of(name);
  for (std::size_t index = 0; self != nullptr && index < self->members->items.size(); ++index) {
    auto* member = static_cast<driver::StructMember*>(self->members->items[index].get());
    if (member->name->text == wanted) {
      return handle(member);
    }
  }
  return nullptr;
}

MTL::ArrayType* MTL::ArrayType::alloc() {
  return handle(driver::make<driver::ArrayType>());
}

MTL::ArrayType* MTL::ArrayType::init() {
  return this;
}

MTL::DataType MTL::ArrayType::elementType() const {
  return get(this, &driver::ArrayType::element_type);
}

NS::UInteger MTL::ArrayType::arrayLength() const {
  return get(this, &driver::ArrayType::length);
}

NS::UInteger MTL::ArrayType::stride() const {
  return get(this, &driver::ArrayType::stride);
}

NS::UInteger MTL::ArrayType::argumentIndexStride() const {
  return impl<driver::ArrayType>(this) != nullptr ? 1 : 0;
}

MTL::StructType* MTL::ArrayType::elementStructType() {
  return nullptr;
}

MTL::ArrayType* MTL::ArrayType::elementArrayType() {
  return nullptr;
}

MTL::PointerType* MTL::ArrayType::elementPointerType() {
  return get(this, &driver::ArrayType::element_pointer);
}

MTL::PointerType* MTL::PointerType::alloc() {
  return handle(driver::make<driver::PointerType>());
}

MTL::PointerType* MTL::PointerType::init() {
  return this;
}

MTL::DataType MTL::PointerType::elementType() const {
  return get(this, &driver::PointerType::element_type);
}

MTL::BindingAccess MTL::PointerType::access() const {
  return get(this, &driver::PointerType::access);
}

NS::UInteger MTL::PointerType::alignment() const {
  return get(this, &driver::PointerType::alignment);
}

NS::UInteger MTL::PointerType::dataSize() const {
  return get(this, &driver::PointerType::data_size);
}

bool MTL::PointerType::elementIsArgumentBuffer() const {
  return get(this, &driver::PointerType::element_is_argument_buffer);
}

MTL::StructType* MTL::PointerType::elementStructType() {
  return get(this, &driver::PointerType::element_struct);
}

MTL::ArrayType* MTL::PointerType::elementArrayType() {
  return nullptr;
}

MTL::Argument* MTL::Argument::alloc() {
  return handle(driver::make<driver::Argument>());
}

MTL::Argument* MTL::Argument::init() {
  return this;
}

NS::String* MTL::Argument::name() const {
  return handle(facts<driver::Argument>(this).name);
}

MTL::ArgumentType MTL::Argument::type() const {
  return driver::type_number<ArgumentType>(facts<driver::Argument>(this));
}

MTL::BindingAccess MTL::Argument::access() const {
  return facts<driver::Argument>(this).access;
}

NS::UInteger MTL::Argument::index() const {
  return facts<driver::Argument>(this).index;
}

bool MTL::Argument::active() const {
  return impl<driver::Argument>(this) != nullptr;
}

bool MTL::Argument::isActive() const {
  return active();
}

NS::UInteger MTL::Argument::bufferAlignment() const {
  return facts<driver::Argument>(this).alignment;
}

NS::UInteger MTL::Argument::bufferDataSize() const {
  return facts<driver::Argument>(this).data_size;
}

MTL::DataType MTL::Argument::bufferDataType() const {
  return facts<driver::Argument>(this).data_type;
}

MTL::StructType* MTL::Argument::bufferStructType() const {
  return handle(facts<driver::Argument>(this).structure);
}

MTL::PointerType* MTL::Argument::bufferPointerType() const {
  return handle(facts<driver::Argument>(this).pointer);
}

NS::UInteger MTL::Argument::threadgroupMemoryAlignment() const {
  return facts<driver::Argument>(this).alignment;
}

NS::UInteger MTL::Argument::threadgroupMemoryDataSize() const {
  return facts<driver::Argument>(this).data_size;
}

MTL::TextureType MTL::Argument::textureType() const {
  return facts<driver::Argument>(this).texture_type;
}

MTL::DataType MTL::Argument::textureDataType() const {
  return facts<driver::Argument>(this).data_type;
}

bool MTL::Argument::isDepthTexture() const {
  return facts<driver::Argument>(this).is_depth_texture;
}

MTL::TextureType MTL::TextureBinding::textureType() const {
  return facts<driver::TextureBinding>(this).texture_type;
}

MTL::DataType MTL::TextureBinding::textureDataType() const {
  return facts<driver::TextureBinding>(this).data_type;
}

bool MTL::TextureBinding::depthTexture() const {
  return isDepthTexture();
}

bool MTL::TextureBinding::isDepthTexture() const {
  return facts<driver::TextureBinding>(this).is_depth_texture;
}

NS::UInteger MTL::TextureBinding::arrayLength() const {
  return facts<driver::TextureBinding>(this).array_length;
}

NS::UInteger MTL::Argument::arrayLength() const {
  auto* self = impl<driver::Argument>(this);
  return self != nullptr ? self->facts.array_length : 0;
}

NS::String* MTL::Binding::name() const {
  return handle(facts<driver::Binding>(this).name);
}

MTL::BindingType MTL::Binding::type() const {
  return driver::type_number<BindingType>(facts<driver::Binding>(this));
}

MTL::BindingAccess MTL::Binding::access() const {
  return facts<driver::Binding>(this).access;
}

NS::UInteger MTL::Binding::index() const {
  return facts<driver::Binding>(this).index;
}

bool MTL::Binding::used() const {
  return isUsed();
}

bool MTL::Binding::isUsed() const {
  return impl<driver::Binding>(this) != nullptr;
}

bool MTL::Binding::argument() const {
  return isArgument();
}

bool MTL::Binding::isArgument() const {
  return impl<driver::Binding>(this) != nullptr;
}

NS::UInteger MTL::BufferBinding::bufferAlignment() const {
  return facts<driver::BufferBinding>(this).alignment;
}

NS::UInteger MTL::BufferBinding::bufferDataSize() const {
  return facts<driver::BufferBinding>(this).data_size;
}

MTL::DataType MTL::BufferBinding::bufferDataType() const {
  return facts<driver::BufferBinding>(this).data_type;
}

MTL::StructType* MTL::BufferBinding::bufferStructType() const {
  return handle(facts<driver::BufferBinding>(this).structure);
}

MTL::PointerType* MTL::BufferBinding::bufferPointerType() const {
  return handle(facts<driver::BufferBinding>(this).pointer);
}

NS::UInteger MTL::ThreadgroupBinding::threadgroupMemoryAlignment() const {
  return facts<driver::ThreadgroupBinding>(this).alignment;
}

NS::UInteger MTL::ThreadgroupBinding::threadgroupMemoryDataSize() const {
  return facts<driver::ThreadgroupBinding>(this).data_size;
}
