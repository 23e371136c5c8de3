#pragma once

namespace clang {
class ASTContext;
class Decl;
}  // namespace clang

namespace pewter::compiler::msl {

/// Lets templates change a component of a vector in place, `v.x += a` or `v.x++`, in programs that
/// overload such an operator for types of their own.
///
/// Components are properties. Where an overload is in sight, Clang keeps such an expression in a
/// template as a call of it, and instantiating that call reads the property and never writes it.
/// Before: `declaration` as it was parsed. After: the expressions in it are as Clang keeps them
/// without overloads, which finds the operators of the actual type when it is instantiated. Must
/// run before anything of `declaration` is instantiated.
void rebuild_component_operators(clang::Decl* declaration, clang::ASTContext& context);

}  // namespace pewter::compiler::msl
