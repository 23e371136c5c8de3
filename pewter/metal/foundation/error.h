#pragma once

#include <Foundation/NSError.hpp>
#include <string>
#include <string_view>

#include "pewter/metal/foundation/collections.h"
#include "pewter/metal/foundation/string.h"

namespace pewter::foundation {

/// The body of NS::Error.
class Error final : public Object {
 public:
  using Public = NS::Error;
  static constexpr ClassInfo kClass{"NS::Error", &Object::kClass};

  Error() : Object(kClass) {}

  bool equals(const Object& other) const override;
  std::string description() const override;
  Object* copy() const override;

  Ref<String> domain;
  NS::Integer code = 0;
  Ref<Dictionary> user_info;
  /// Never null once init() is through.
  Ref<String> localized_description;
};

/// An error with `text` as its localized description.
Ref<Error> make_error(NS::ErrorDomain domain, NS::Integer code, std::string_view text);

}  // namespace pewter::foundation
