#pragma once

#include <Foundation/NSArray.hpp>
#include <Foundation/NSDictionary.hpp>
#include <Foundation/NSSet.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pewter/metal/foundation/object.h"

namespace pewter::foundation {

/// The body of NS::Array.
class Array final : public Object {
 public:
  using Public = NS::Array;
  static constexpr ClassInfo kClass{"NS::Array", &Object::kClass};

  Array() : Object(kClass) {}
  explicit Array(std::vector<Ref<Object>> objects) : Object(kClass), items(std::move(objects)) {}

  std::size_t hash() const override { return items.size(); }
  bool equals(const Object& other) const override;
  std::string description() const override;
  Object* copy() const override;

  std::vector<Ref<Object>> items;
};

/// Compares keys as isEqual() does.
struct HashObject {
  std::size_t operator()(const Ref<Object>& object) const { return object->hash(); }
};
struct EqualObjects {
  bool operator()(const Ref<Object>& left, const Ref<Object>& right) const {
    return left->equals(*right);
  }
};

/// The body of NS::Dictionary. Keys are copied, as Foundation does.
class Dictionary final : public Object {
 public:
  using Public = NS::Dictionary;
  static constexpr ClassInfo kClass{"NS::Dictionary", &Object::kClass};

  Dictionary() : Object(kClass) {}

  /// A key or value of null is left out.
  void insert(Object* key, Object* value);
  /// Null when the key is absent.
  Object* find(const Object& key) const;

  std::size_t hash() const override { return items.size(); }
  bool equals(const Object& other) const override;
  std::string description() const override;
  Object* copy() const override;

  std::unordered_map<Ref<Object>, Ref<Object>, HashObject, EqualObjects> items;
};

/// The body of NS::Set.
class Set final : public Object {
 public:
  using Public = NS::Set;
  static constexpr ClassInfo kClass{"NS::Set", &Object::kClass};

  Set() : Object(kClass) {}

  std::size_t hash() const override { return items.size(); }
  bool equals(const Object& other) const override;
  std::string description() const override;
  Object* copy() const override;

  std::unordered_set<Ref<Object>, HashObject, EqualObjects> items;
};

/// The body of NS::Enumerator: a list that is handed out from the front.
class Enumerator final : public Object {
 public:
  using Public = NS::Enumerator<NS::Object>;
  static constexpr ClassInfo kClass{"NS::Enumerator", &Object::kClass};

  explicit Enumerator(std::vector<Ref<Object>> objects)
      : Object(kClass), items(std::move(objects)) {}

  std::vector<Ref<Object>> items;
  std::size_t next = 0;
};

/// An autoreleased array of the given bodies.
template <class T>
NS::Array* array_of(const std::vector<Ref<T>>& bodies);

NS::Array* array_of_objects(std::vector<Ref<Object>> objects);

template <class T>
NS::Array* array_of(const std::vector<Ref<T>>& bodies) {
  std::vector<Ref<Object>> objects;
  objects.reserve(bodies.size());
  for (const Ref<T>& body : bodies) {
    objects.emplace_back(static_cast<Object*>(body.get()));
  }
  return array_of_objects(std::move(objects));
}

}  // namespace pewter::foundation
