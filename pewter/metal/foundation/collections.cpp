#include "pewter/metal/foundation/collections.h"

#include <Foundation/NSString.hpp>
#include <algorithm>

#include "pewter/base/log.h"
#include "pewter/metal/foundation/autorelease_pool.h"

namespace pewter::foundation {
namespace {

Object* retained(const Object* object) {
  auto* self = const_cast<Object*>(object);
  self->retain();
  return self;
}

template <class Items>
std::string listed(const Items& items) {
  std::string text;
  for (const Ref<Object>& item : items) {
    text += (text.empty() ? "" : ", ") + item->description();
  }
  return text;
}

/// The live objects of a C array; null and misused ones are left out.
std::vector<Ref<Object>> objects_of(const NS::Object* const* pointers,
                                    NS::UInteger count,
                                    const std::source_location& where) {
  std::vector<Ref<Object>> objects;
  for (NS::UInteger index = 0; pointers != nullptr && index < count; ++index) {
    if (auto* object = impl<Object>(pointers[index], where)) {
      objects.emplace_back(object);
    } else {
      logging::error("metal", "{}: element {} is not an object and is left out",
                     where.function_name(), index);
    }
  }
  return objects;
}

}  // namespace

bool Array::equals(const Object& other) const {
  if (!other.is(kClass)) {
    return false;
  }
  const auto& others = static_cast<const Array&>(other).items;
  return std::equal(items.begin(), items.end(), others.begin(), others.end(), EqualObjects{});
}

std::string Array::description() const {
  return "(" + listed(items) + ")";
}

Object* Array::copy() const {
  return retained(this);
}

void Dictionary::insert(Object* key, Object* value) {
  if (key == nullptr || value == nullptr) {
    return;
  }
  if (auto own_key = Ref<Object>::adopt(key->copy())) {
    items.insert_or_assign(std::move(own_key), Ref<Object>(value));
  }
}

Object* Dictionary::find(const Object& key) const {
  auto entry = items.find(Ref<Object>(const_cast<Object*>(&key)));
  return entry != items.end() ? entry->second.get() : nullptr;
}

bool Dictionary::equals(const Object& other) const {
  if (!other.is(kClass)) {
    return false;
  }
  const auto& others = static_cast<const Dictionary&>(other);
  if (others.items.size() != items.size()) {
    return false;
  }
  for (const auto& [key, value] : items) {
    const Object* found = others.find(*key);
    if (found == nullptr || !value->equals(*found)) {
      return false;
    }
  }
  return true;
}

std::string Dictionary::description() const {
  std::string text;
  for (const auto& [key, value] : items) {
    text += (text.empty() ? "" : ", ") + key->description() + " = " + value->description();
  }
  return "{" + text + "}";
}

Object* Dictionary::copy() const {
  return retained(this);
}

bool Set::equals(const Object& other) const {
  if (!other.is(kClass)) {
    return false;
  }
  const auto& others = static_cast<const Set&>(other).items;
  return others.size() == items.size() &&
         std::all_of(items.begin(), items.end(),
                     [&](const Ref<Object>& item) { return others.contains(item); });
}

std::string Set::description() const {
  return "{(" + listed(items) + ")}";
}

Object* Set::copy() const {
  return retained(this);
}

NS::Array* array_of_objects(std::vector<Ref<Object>> objects) {
  return autoreleased(make_ref<Array>(std::move(objects)));
}

}  // namespace pewter::foundation

namespace foundation = pewter::foundation;
using foundation::handle;
using foundation::impl;
using foundation::make;
using foundation::Ref;

NS::Array* NS::Array::array() {
  return alloc()->init()->autorelease();
}

NS::Array* NS::Array::array(const Object* pObject) {
  return alloc()->init(&pObject, 1)->autorelease();
}

NS::Array* NS::Array::array(const Object* const* pObjects, UInteger count) {
  return alloc()->init(pObjects, count)->autorelease();
}

NS::Array* NS::Array::alloc() {
  return handle(make<foundation::Array>());
}

NS::Array* NS::Array::init() {
  return this;
}

NS::Array* NS::Array::init(const Object* const* pObjects, UInteger count) {
  if (auto* self = impl<foundation::Array>(this)) {
    self->items = foundation::objects_of(pObjects, count, std::source_location::current());
  }
  return this;
}

NS::Object* NS::Array::objectAtIndex(UInteger index) const {
  auto* self = impl<foundation::Array>(this);
  if (self == nullptr) {
    return nullptr;
  }
  if (index >= self->items.size()) {
    pewter::logging::error("metal", "NS::Array::object: index {} is past the end of {} elements",
                           index, self->items.size());
    return nullptr;
  }
  return handle(self->items[index]);
}

NS::UInteger NS::Array::count() const {
  auto* self = impl<foundation::Array>(this);
  return self != nullptr ? self->items.size() : 0;
}

NS::Dictionary* NS::Dictionary::dictionary() {
  return alloc()->init()->autorelease();
}

NS::Dictionary* NS::Dictionary::dictionary(const Object* pObject, const Object* pKey) {
  return alloc()->init(&pObject, &pKey, 1)->autorelease();
}

NS::Dictionary* NS::Dictionary::dictionary(const Object* const* pObjects,
                                           const Object* const* pKeys,
                                           UInteger count) {
  return alloc()->init(pObjects, pKeys, count)->autorelease();
}

NS::Dictionary* NS::Dictionary::alloc() {
  return handle(make<foundation::Dictionary>());
}

NS::Dictionary* NS::Dictionary::init() {
  return this;
}

NS::Dictionary* NS::Dictionary::init(const Object* const* pObjects,
                                     const Object* const* pKeys,
                                     UInteger count) {
  auto* self = impl<foundation::Dictionary>(this);
  if (self == nullptr || pObjects == nullptr || pKeys == nullptr) {
    return this;
  }
  for (UInteger index = 0; index < count; ++index) {
    self->insert(impl<foundation::Object>(pKeys[index]), impl<foundation::Object>(pObjects[index]));
  }
  return this;
}

NS::Enumerator<NS::Object>* NS::Dictionary::keys() const {
  auto* self = impl<foundation::Dictionary>(this);
  if (self == nullptr) {
    return nullptr;
  }
  std::vector<Ref<foundation::Object>> keys;
  for (const auto& entry : self->items) {
    keys.push_back(entry.first);
  }
  return foundation::autoreleased(foundation::make_ref<foundation::Enumerator>(std::move(keys)));
}

NS::Object* NS::Dictionary::objectForKey(const Object* pKey) const {
  auto* self = impl<foundation::Dictionary>(this);
  auto* key = impl<foundation::Object>(pKey);
  return self != nullptr && key != nullptr ? handle(self->find(*key)) : nullptr;
}

NS::UInteger NS::Dictionary::count() const {
  auto* self = impl<foundation::Dictionary>(this);
  return self != nullptr ? self->items.size() : 0;
}

NS::Set* NS::Set::alloc() {
  return handle(make<foundation::Set>());
}

NS::Set* NS::Set::init() {
  return this;
}

NS::Set* NS::Set::init(const Object* const* pObjects, UInteger count) {
  if (auto* self = impl<foundation::Set>(this)) {
    for (auto& object : foundation::objects_of(pObjects, count, std::source_location::current())) {
      self->items.insert(std::move(object));
    }
  }
  return this;
}

NS::UInteger NS::Set::count() const {
  auto* self = impl<foundation::Set>(this);
  return self != nullptr ? self->items.size() : 0;
}

NS::Enumerator<NS::Object>* NS::Set::objectEnumerator() const {
  auto* self = impl<foundation::Set>(this);
  if (self == nullptr) {
    return nullptr;
  }
  return foundation::autoreleased(foundation::make_ref<foundation::Enumerator>(
      std::vector<Ref<foundation::Object>>(self->items.begin(), self->items.end())));
}

NS::Object* NS::Private::nextObject(const void* enumerator) {
  auto* self = impl<foundation::Enumerator>(enumerator);
  if (self == nullptr || self->next >= self->items.size()) {
    return nullptr;
  }
  return handle(self->items[self->next++]);
}

NS::Array* NS::Private::allObjects(const void* enumerator) {
  auto* self = impl<foundation::Enumerator>(enumerator);
  if (self == nullptr) {
    return nullptr;
  }
  std::vector<Ref<foundation::Object>> rest(
      self->items.begin() + static_cast<std::ptrdiff_t>(self->next), self->items.end());
  self->next = self->items.size();
  return foundation::array_of_objects(std::move(rest));
}
