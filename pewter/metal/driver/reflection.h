#pragma once

#include <Metal/MTLArgument.hpp>
#include <Metal/MTLComputePipeline.hpp>
#include <cstdint>
#include <vector>

#include "pewter/compiler/compiler.h"
#include "pewter/metal/driver/body.h"
#include "pewter/metal/foundation/collections.h"

namespace pewter::driver {

/// The body of MTL::Type.
class Type : public Object {
 public:
  using Public = MTL::Type;
  static constexpr ClassInfo kClass{"MTL::Type", &Object::kClass};

  Type() : Object(kClass) {}

  MTL::DataType data_type = MTL::DataTypeNone;

 protected:
  explicit Type(const ClassInfo& class_info) : Object(class_info) {}
};

/// The body of MTL::StructType.
class StructType final : public Type {
 public:
  using Public = MTL::StructType;
  static constexpr ClassInfo kClass{"MTL::StructType", &Type::kClass};

  StructType() : Type(kClass), members(make_ref<foundation::Array>()) {
    data_type = MTL::DataTypeStruct;
  }
  explicit StructType(const std::vector<compiler::Member>& described);

  Ref<foundation::Array> members;
};

/// The body of MTL::PointerType.
class PointerType final : public Type {
 public:
  using Public = MTL::PointerType;
  static constexpr ClassInfo kClass{"MTL::PointerType", &Type::kClass};

  PointerType() : Type(kClass) { data_type = MTL::DataTypePointer; }

  MTL::DataType element_type = MTL::DataTypeNone;
  MTL::BindingAccess access = MTL::BindingAccessReadOnly;
  NS::UInteger alignment = 0;
  NS::UInteger data_size = 0;
  bool element_is_argument_buffer = false;
  Ref<StructType> element_struct;
};

/// The body of MTL::ArrayType.
class ArrayType final : public Type {
 public:
  using Public = MTL::ArrayType;
  static constexpr ClassInfo kClass{"MTL::ArrayType", &Type::kClass};

  ArrayType() : Type(kClass) { data_type = MTL::DataTypeArray; }

  MTL::DataType element_type = MTL::DataTypeNone;
  NS::UInteger length = 0;
  NS::UInteger stride = 0;
  Ref<PointerType> element_pointer;
};

/// The body of MTL::StructMember.
class StructMember final : public Object {
 public:
  using Public = MTL::StructMember;
  static constexpr ClassInfo kClass{"MTL::StructMember", &Object::kClass};

  StructMember() : Object(kClass) {}
  explicit StructMember(const compiler::Member& described);

  Ref<String> name;
  NS::UInteger offset = 0;
  NS::UInteger argument_index = 0;
  MTL::DataType data_type = MTL::DataTypeNone;
  Ref<ArrayType> array;
  Ref<PointerType> pointer;
};

/// What bindings and arguments say about a parameter.
struct ParameterFacts {
  explicit ParameterFacts(const compiler::Parameter& parameter);
  ParameterFacts() = default;

  Ref<String> name;
  bool is_threadgroup = false;
  compiler::ParameterKind kind = compiler::ParameterKind::Buffer;
  MTL::BindingAccess access = MTL::BindingAccessReadOnly;
  NS::UInteger index = 0;
  NS::UInteger alignment = 0;
  NS::UInteger data_size = 0;
  MTL::DataType data_type = MTL::DataTypeNone;
  Ref<StructType> structure;
  Ref<PointerType> pointer;
  /// For textures and samplers.
  MTL::TextureType texture_type = MTL::TextureType2D;
  bool is_depth_texture = false;
  NS::UInteger array_length = 1;
  /// For argument encoders.
  std::vector<compiler::Member> members;
};

/// The body of MTL::Argument.
class Argument final : public Object {
 public:
  using Public = MTL::Argument;
  static constexpr ClassInfo kClass{"MTL::Argument", &Object::kClass};

  Argument() : Object(kClass) {}
  explicit Argument(const compiler::Parameter& parameter) : Object(kClass), facts(parameter) {}

  ParameterFacts facts;
};

/// The body of MTL::Binding.
class Binding : public Object {
 public:
  using Public = MTL::Binding;
  static constexpr ClassInfo kClass{"MTL::Binding", &Object::kClass};

  const ParameterFacts facts;

 protected:
  Binding(const ClassInfo& class_info, const compiler::Parameter& parameter)
      : Object(class_info), facts(parameter) {}
};

/// The body of MTL::BufferBinding.
class BufferBinding final : public Binding {
 public:
  using Public = MTL::BufferBinding;
  static constexpr ClassInfo kClass{"MTL::BufferBinding", &Binding::kClass};

  explicit BufferBinding(const compiler::Parameter& parameter) : Binding(kClass, parameter) {}
};

/// The body of MTL::ThreadgroupBinding.
class ThreadgroupBinding final : public Binding {
 public:
  using Public = MTL::ThreadgroupBinding;
  static constexpr ClassInfo kClass{"MTL::ThreadgroupBinding", &Binding::kClass};

  explicit ThreadgroupBinding(const compiler::Parameter& parameter) : Binding(kClass, parameter) {}
};

/// The body of MTL::TextureBinding.
class TextureBinding final : public Binding {
 public:
  using Public = MTL::TextureBinding;
  static constexpr ClassInfo kClass{"MTL::TextureBinding", &Binding::kClass};

  explicit TextureBinding(const compiler::Parameter& parameter) : Binding(kClass, parameter) {}
};

/// A sampler has nothing to say but what every binding says.
class SamplerBinding final : public Binding {
 public:
  using Public = MTL::Binding;
  static constexpr ClassInfo kClass{"MTL::SamplerBinding", &Binding::kClass};

  explicit SamplerBinding(const compiler::Parameter& parameter) : Binding(kClass, parameter) {}
};

/// The body of MTL::ComputePipelineReflection.
class ComputePipelineReflection final : public Object {
 public:
  using Public = MTL::ComputePipelineReflection;
  static constexpr ClassInfo kClass{"MTL::ComputePipelineReflection", &Object::kClass};

  ComputePipelineReflection() : ComputePipelineReflection(std::vector<compiler::Parameter>{}) {}
  explicit ComputePipelineReflection(const std::vector<compiler::Parameter>& parameters);

  Ref<foundation::Array> bindings;
  Ref<foundation::Array> arguments;
};

}  // namespace pewter::driver
