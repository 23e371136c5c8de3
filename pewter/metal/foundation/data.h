#pragma once

#include <Foundation/NSData.hpp>
#include <Foundation/NSDate.hpp>
#include <chrono>
#include <vector>

#include "pewter/metal/foundation/object.h"

namespace pewter::foundation {

/// The body of NS::Data.
class Data final : public Object {
 public:
  using Public = NS::Data;
  static constexpr ClassInfo kClass{"NS::Data", &Object::kClass};

  explicit Data(std::vector<std::byte> contents) : Object(kClass), bytes(std::move(contents)) {}

  bool equals(const Object& other) const override;
  Object* copy() const override { return make<Data>(bytes); }

  std::vector<std::byte> bytes;
};

/// The body of NS::Date.
class Date final : public Object {
 public:
  using Public = NS::Date;
  static constexpr ClassInfo kClass{"NS::Date", &Object::kClass};

  explicit Date(std::chrono::system_clock::time_point point) : Object(kClass), time(point) {}

  bool equals(const Object& other) const override;
  Object* copy() const override { return make<Date>(time); }

  const std::chrono::system_clock::time_point time;
};

}  // namespace pewter::foundation
