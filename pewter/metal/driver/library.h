#pragma once

#include <Metal/MTLLibrary.hpp>
#include <cstdint>
#include <memory>

#include "pewter/compiler/compiler.h"
#include "pewter/metal/driver/body.h"
#include "pewter/metal/foundation/collections.h"

namespace pewter::driver {

/// The body of MTL::Library.
class Library final : public Object {
 public:
  using Public = MTL::Library;
  static constexpr ClassInfo kClass{"MTL::Library", &Object::kClass};

  Library(std::shared_ptr<compiler::Library> compiled, std::uint32_t max_threads);

  const std::shared_ptr<compiler::Library> compiled;
  /// From the compile options; 0 when they do not say.
  const std::uint32_t max_total_threads;
  const Ref<foundation::Array> function_names;
  Ref<String> label;
};

}  // namespace pewter::driver
