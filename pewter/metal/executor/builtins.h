#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace pewter::executor {

/// A function that compiled kernels call by symbol name.
struct Builtin {
  std::string_view name;
  const void* address = nullptr;
};

/// Address of the built-in with that symbol name; null when there is none.
const void* find_builtin(std::string_view name);

/// The built-ins by family, each in a source file of its own.
std::span<const Builtin> simdgroup_builtins();
std::span<const Builtin> synchronization_builtins();
std::span<const Builtin> math_builtins();
std::span<const Builtin> runtime_builtins();

/// Address of a function as data. What it points at is called with the signature that its name
/// stands for.
template <typename Function>
const void* address_of(Function* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace pewter::executor
