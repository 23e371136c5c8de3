#pragma once

#include <Foundation/NSBundle.hpp>
#include <string>

#include "pewter/metal/foundation/object.h"

namespace pewter::foundation {

/// The body of NS::Bundle: a folder.
class Bundle final : public Object {
 public:
  using Public = NS::Bundle;
  static constexpr ClassInfo kClass{"NS::Bundle", &Object::kClass};

  Bundle() : Object(kClass) {}

  std::string path;
  /// Of the main bundle alone.
  std::string executable;
  bool loaded = false;
};

}  // namespace pewter::foundation
