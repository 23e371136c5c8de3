#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"
#include "MTLTexture.hpp"

namespace MTL {

class ArrayType;
class PointerType;
class StructType;

_MTL_ENUM(NS::UInteger, DataType){
    DataTypeNone = 0,
    DataTypeStruct = 1,
    DataTypeArray = 2,
    DataTypeFloat = 3,
    DataTypeFloat2 = 4,
    DataTypeFloat3 = 5,
    DataTypeFloat4 = 6,
    DataTypeFloat2x2 = 7,
    DataTypeFloat2x3 = 8,
    DataTypeFloat2x4 = 9,
    DataTypeFloat3x2 = 10,
    DataTypeFloat3x3 = 11,
    DataTypeFloat3x4 = 12,
    DataTypeFloat4x2 = 13,
    DataTypeFloat4x3 = 14,
    DataTypeFloat4x4 = 15,
    DataTypeHalf = 16,
    DataTypeHalf2 = 17,
    DataTypeHalf3 = 18,
    DataTypeHalf4 = 19,
    DataTypeHalf2x2 = 20,
    DataTypeHalf2x3 = 21,
    DataTypeHalf2x4 = 22,
    DataTypeHalf3x2 = 23,
    DataTypeHalf3x3 = 24,
    DataTypeHalf3x4 = 25,
    DataTypeHalf4x2 = 26,
    DataTypeHalf4x3 = 27,
    DataTypeHalf4x4 = 28,
    DataTypeInt = 29,
    DataTypeInt2 = 30,
    DataTypeInt3 = 31,
    DataTypeInt4 = 32,
    DataTypeUInt = 33,
    DataTypeUInt2 = 34,
    DataTypeUInt3 = 35,
    DataTypeUInt4 = 36,
    DataTypeShort = 37,
    DataTypeShort2 = 38,
    DataTypeShort3 = 39,
    DataTypeShort4 = 40,
    DataTypeUShort = 41,
    DataTypeUShort2 = 42,
    DataTypeUShort3 = 43,
    DataTypeUShort4 = 44,
    DataTypeChar = 45,
    DataTypeChar2 = 46,
    DataTypeChar3 = 47,
    DataTypeChar4 = 48,
    DataTypeUChar = 49,
    DataTypeUChar2 = 50,
    DataTypeUChar3 = 51,
    DataTypeUChar4 = 52,
    DataTypeBool = 53,
    DataTypeBool2 = 54,
    DataTypeBool3 = 55,
    DataTypeBool4 = 56,
    DataTypeTexture = 58,
    DataTypeSampler = 59,
    DataTypePointer = 60,
    DataTypeR8Unorm = 62,
    DataTypeR8Snorm = 63,
    DataTypeR16Unorm = 64,
    DataTypeR16Snorm = 65,
    DataTypeRG8Unorm = 66,
    DataTypeRG8Snorm = 67,
    DataTypeRG16Unorm = 68,
    DataTypeRG16Snorm = 69,
    DataTypeRGBA8Unorm = 70,
    DataTypeRGBA8Unorm_sRGB = 71,
    DataTypeRGBA8Snorm = 72,
    DataTypeRGBA16Unorm = 73,
    DataTypeRGBA16Snorm = 74,
    DataTypeRGB10A2Unorm = 75,
    DataTypeRG11B10Float = 76,
    DataTypeRGB9E5Float = 77,
    DataTypeRenderPipeline = 78,
    DataTypeComputePipeline = 79,
    DataTypeIndirectCommandBuffer = 80,
    DataTypeLong = 81,
    DataTypeLong2 = 82,
    DataTypeLong3 = 83,
    DataTypeLong4 = 84,
    DataTypeULong = 85,
    DataTypeULong2 = 86,
    DataTypeULong3 = 87,
    DataTypeULong4 = 88,
    DataTypeVisibleFunctionTable = 115,
    DataTypeIntersectionFunctionTable = 116,
    DataTypePrimitiveAccelerationStructure = 117,
    DataTypeInstanceAccelerationStructure = 118,
    DataTypeBFloat = 121,
    DataTypeBFloat2 = 122,
    DataTypeBFloat3 = 123,
    DataTypeBFloat4 = 124,
    DataTypeDepthStencilState = 139,
    DataTypeTensor = 140,
};

_MTL_ENUM(NS::Integer, BindingType){
    BindingTypeBuffer = 0,
    BindingTypeThreadgroupMemory = 1,
    BindingTypeTexture = 2,
    BindingTypeSampler = 3,
    BindingTypeImageblockData = 16,
    BindingTypeImageblock = 17,
    BindingTypeVisibleFunctionTable = 24,
    BindingTypePrimitiveAccelerationStructure = 25,
    BindingTypeInstanceAccelerationStructure = 26,
    BindingTypeIntersectionFunctionTable = 27,
    BindingTypeObjectPayload = 34,
};

_MTL_ENUM(NS::UInteger, ArgumentType){
    ArgumentTypeBuffer = 0,
    ArgumentTypeThreadgroupMemory = 1,
    ArgumentTypeTexture = 2,
    ArgumentTypeSampler = 3,
    ArgumentTypeImageblockData = 16,
    ArgumentTypeImageblock = 17,
    ArgumentTypeVisibleFunctionTable = 24,
    ArgumentTypePrimitiveAccelerationStructure = 25,
    ArgumentTypeInstanceAccelerationStructure = 26,
    ArgumentTypeIntersectionFunctionTable = 27,
};

_MTL_ENUM(NS::UInteger, BindingAccess){
    BindingAccessReadOnly = 0,  BindingAccessReadWrite = 1,  BindingAccessWriteOnly = 2,
    ArgumentAccessReadOnly = 0, ArgumentAccessReadWrite = 1, ArgumentAccessWriteOnly = 2,
};

using ArgumentAccess = BindingAccess;

class _MTL_EXPORT Type : public NS::Referencing<Type> {
 public:
  static Type* alloc();
  Type* init();

  MTL::DataType dataType() const;
};

/// One member of a structure that a buffer holds.
class _MTL_EXPORT StructMember : public NS::Referencing<StructMember> {
 public:
  static StructMember* alloc();
  StructMember* init();

  NS::String* name() const;
  NS::UInteger offset() const;
  MTL::DataType dataType() const;
  NS::UInteger argumentIndex() const;

  StructType* structType();
  ArrayType* arrayType();
  PointerType* pointerType();
};

class _MTL_EXPORT StructType : public NS::Referencing<StructType, Type> {
 public:
  static StructType* alloc();
  StructType* init();

  NS::Array* members() const;
  StructMember* memberByName(const NS::String* name);
};

class _MTL_EXPORT ArrayType : public NS::Referencing<ArrayType, Type> {
 public:
  static ArrayType* alloc();
  ArrayType* init();

  MTL::DataType elementType() const;
  NS::UInteger arrayLength() const;
  NS::UInteger stride() const;
  NS::UInteger argumentIndexStride() const;

  StructType* elementStructType();
  ArrayType* elementArrayType();
  PointerType* elementPointerType();
};

class _MTL_EXPORT PointerType : public NS::Referencing<PointerType, Type> {
 public:
  static PointerType* alloc();
  PointerType* init();

  MTL::DataType elementType() const;
  MTL::BindingAccess access() const;
  NS::UInteger alignment() const;
  NS::UInteger dataSize() const;
  bool elementIsArgumentBuffer() const;

  StructType* elementStructType();
  ArrayType* elementArrayType();
};

/// A parameter of a kernel, in the form that Metal had before bindings.
class _MTL_EXPORT Argument : public NS::Referencing<Argument> {
 public:
  static Argument* alloc();
  Argument* init();

  NS::String* name() const;
  MTL::ArgumentType type() const;
  MTL::BindingAccess access() const;
  NS::UInteger index() const;
  bool active() const;
  bool isActive() const;

  NS::UInteger bufferAlignment() const;
  NS::UInteger bufferDataSize() const;
  MTL::DataType bufferDataType() const;
  StructType* bufferStructType() const;
  PointerType* bufferPointerType() const;

  NS::UInteger threadgroupMemoryAlignment() const;
  NS::UInteger threadgroupMemoryDataSize() const;

  MTL::TextureType textureType() const;
  MTL::DataType textureDataType() const;
  bool isDepthTexture() const;

  NS::UInteger arrayLength() const;
};

/// A parameter of a kernel that the host binds.
class _MTL_EXPORT Binding : public NS::Referencing<Binding> {
 public:
  NS::String* name() const;
  MTL::BindingType type() const;
  MTL::BindingAccess access() const;
  NS::UInteger index() const;
  bool used() const;
  bool isUsed() const;
  bool argument() const;
  bool isArgument() const;
};

class _MTL_EXPORT BufferBinding : public NS::Referencing<BufferBinding, Binding> {
 public:
  NS::UInteger bufferAlignment() const;
  NS::UInteger bufferDataSize() const;
  MTL::DataType bufferDataType() const;
  StructType* bufferStructType() const;
  PointerType* bufferPointerType() const;
};

class _MTL_EXPORT ThreadgroupBinding : public NS::Referencing<ThreadgroupBinding, Binding> {
 public:
  NS::UInteger threadgroupMemoryAlignment() const;
  NS::UInteger threadgroupMemoryDataSize() const;
};

class _MTL_EXPORT TextureBinding : public NS::Referencing<TextureBinding, Binding> {
 public:
  MTL::TextureType textureType() const;
  MTL::DataType textureDataType() const;
  bool depthTexture() const;
  bool isDepthTexture() const;
  NS::UInteger arrayLength() const;
};

}  // namespace MTL
