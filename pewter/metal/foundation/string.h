#pragma once

#include <Foundation/NSString.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "pewter/metal/foundation/object.h"

namespace pewter::foundation {

/// The body of NS::String: valid UTF-8.
class String final : public Object {
 public:
  using Public = NS::String;
  static constexpr ClassInfo kClass{"NS::String", &Object::kClass};

  String() : Object(kClass) {}
  explicit String(std::string utf8) : Object(kClass), text(std::move(utf8)) {}

  std::size_t hash() const override { return std::hash<std::string>{}(text); }
  bool equals(const Object& other) const override;
  std::string description() const override { return text; }
  Object* copy() const override;

  /// Changes only between alloc() and init().
  std::string text;
};

/// UTF-8 from bytes in an encoding; nothing when the encoding is not known or the bytes are not
/// valid in it.
std::optional<std::string> decode(std::string_view bytes, NS::StringEncoding encoding);

/// An autoreleased string.
NS::String* string(std::string_view text);

Ref<String> make_string(std::string_view text);

/// The text of a public string; empty for null.
std::string text_of(const NS::String* string,
                    const std::source_location& where = std::source_location::current());

}  // namespace pewter::foundation
