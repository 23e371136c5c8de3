#include "pewter/metal/executor/builtins.h"

#include <unordered_map>

namespace pewter::executor {

const void* find_builtin(std::string_view name) {
  static const auto* table = [] {
    auto* all = new std::unordered_map<std::string_view, const void*>;
    for (const auto family :
         {simdgroup_builtins(), synchronization_builtins(), math_builtins(), runtime_builtins()}) {
      for (const Builtin& builtin : family) {
        all->emplace(builtin.name, builtin.address);
      }
    }
    return all;
  }();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace pewter::executor
