#pragma once

#include <Foundation/NSNumber.hpp>
#include <cstdint>
#include <variant>
#include <vector>

#include "pewter/metal/foundation/object.h"

namespace pewter::foundation {

/// The body of NS::Value: bytes and the letter of their type.
class Value : public Object {
 public:
  using Public = NS::Value;
  static constexpr ClassInfo kClass{"NS::Value", &Object::kClass};

  Value() : Object(kClass) {}

  std::size_t hash() const override;
  bool equals(const Object& other) const override;
  Object* copy() const override;

  /// As Objective-C's @encode writes it.
  std::string type;
  std::vector<std::byte> bytes;

 protected:
  explicit Value(const ClassInfo& class_info) : Object(class_info) {}
};

/// The body of NS::Number. The number is kept wide; `type` and `bytes` keep what was given.
class Number final : public Value {
 public:
  using Public = NS::Number;
  static constexpr ClassInfo kClass{"NS::Number", &Value::kClass};

  Number() : Value(kClass) {}

  template <class T>
  void assign(const char* letter, T value);

  template <class T>
  T as() const {
    return std::visit([](auto value) { return static_cast<T>(value); }, number);
  }

  std::size_t hash() const override;
  bool equals(const Object& other) const override;
  std::string description() const override;
  /// Negative, zero or positive.
  int compare(const Number& other) const;

  std::variant<std::int64_t, std::uint64_t, double> number = std::int64_t{0};
};

}  // namespace pewter::foundation
