#pragma once

#include <optional>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Type.h"

#include "pewter/compiler/compiler.h"

namespace pewter::compiler::msl {

/// The scalar, vector or matrix that a type is; `ScalarType::Other` for everything else.
ValueType value_type(clang::QualType type);

/// A texture or sampler of the standard library, or an array of them.
struct ResourceType {
  ParameterKind kind = ParameterKind::Texture;
  /// MTL::TextureType.
  std::uint8_t texture_type = 0;
  bool is_depth = false;
  Access access = Access::ReadOnly;
  /// What reading a texel gives.
  ValueType element;
  std::uint32_t count = 1;
};

/// Nothing for every other type.
std::optional<ResourceType> resource_type(clang::ASTContext& context, clang::QualType type);

/// What the host writes into a structure of that type; empty when it is not a structure.
///
/// Structures with more than a few thousand members, arrays of structures counted element by
/// element, are not described.
std::vector<Member> members_of(clang::ASTContext& context, clang::QualType type);

}  // namespace pewter::compiler::msl
