#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"

namespace pewter::compiler::msl {

enum class Subject : std::uint8_t { Function, Parameter, Field, VariableOrParameter };

/// A row of attributes.def.
struct AttributeRule {
  std::string_view name;
  Subject subject;
  unsigned least_arguments;
  unsigned most_arguments;
  /// Widest vector of a built-in input; 0 for every other attribute.
  unsigned builtin_width;
};

/// The rule for `[[name]]`; null when MSL, as far as pewter has it, knows no such attribute.
const AttributeRule* find_attribute(std::string_view name);

/// Whether `[[name]]` is C++'s own and goes to Clang untouched.
bool is_standard_attribute(std::string_view name);

/// Whether `[[name]]` belongs to a part of MSL that pewter does not have.
bool is_unsupported_attribute(std::string_view name);

/// The GNU attribute that carries an MSL attribute through Clang's parser:
/// `__attribute__((pewter_msl("buffer", 0)))`.
inline constexpr const char* kCarrierAttribute = "pewter_msl";

/// The attribute pushed on every variable and function of the user's: gives `threadgroup` and
/// `constant` variables static storage, and functions internal linkage, so that only what a kernel
/// uses is generated.
inline constexpr const char* kDeclarationAttribute = "pewter_declaration";

/// The section that marks threadgroup variables in the IR.
inline constexpr const char* kThreadgroupSection = ".pewter.threadgroup";

/// The MSL attribute `name` of a declaration; null when it has none.
const clang::AnnotateAttr* attribute(const clang::Decl* declaration, std::string_view name);

/// The attribute's first argument as a whole number; false when it is not a constant expression.
bool integer_argument(const clang::ASTContext& context,
                      const clang::AnnotateAttr* attribute,
                      unsigned position,
                      std::uint64_t& value);

/// The attribute's first argument when it is a string literal; empty otherwise.
std::string string_argument(const clang::AnnotateAttr* attribute);

/// The rule of an MSL attribute found on a declaration; null for annotations of the user's own.
const AttributeRule* rule_of(const clang::AnnotateAttr* attribute);

}  // namespace pewter::compiler::msl
