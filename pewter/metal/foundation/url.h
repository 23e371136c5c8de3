#pragma once

#include <Foundation/NSURL.hpp>
#include <string>
#include <string_view>

#include "pewter/metal/foundation/object.h"

namespace pewter::foundation {

/// The body of NS::URL.
class Url final : public Object {
 public:
  using Public = NS::URL;
  static constexpr ClassInfo kClass{"NS::URL", &Object::kClass};

  Url() : Object(kClass) {}

  std::size_t hash() const override { return std::hash<std::string>{}(path + address); }
  bool equals(const Object& other) const override;
  std::string description() const override { return is_file ? "file://" + path : address; }
  Object* copy() const override;

  bool is_file = false;
  std::string path;
  /// The text of an address that is not a file's.
  std::string address;
};

/// An autoreleased file URL.
NS::URL* file_url(std::string_view path);

}  // namespace pewter::foundation
