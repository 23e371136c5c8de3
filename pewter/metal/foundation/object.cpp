#include "pewter/metal/foundation/object.h"

#include <fmt/format.h>

#include <array>
#include <new>

#include "pewter/base/log.h"
#include "pewter/metal/foundation/autorelease_pool.h"
#include "pewter/metal/foundation/string.h"

namespace pewter::foundation {
namespace {

constexpr std::uint64_t kImmortal = std::uint64_t{1} << 62;

/// Memory of objects that have ended, kept for a while so that a late use is recognised instead of
/// corrupting a successor at the same address.
class Graveyard {
 public:
  void bury(void* memory) {
    const std::size_t slot = next_.fetch_add(1, std::memory_order_relaxed) % kCapacity;
    object_memory::free(slots_[slot].exchange(memory, std::memory_order_acq_rel));
  }

 private:
  static constexpr std::size_t kCapacity = 4096;

  std::array<std::atomic<void*>, kCapacity> slots_{};
  std::atomic<std::size_t> next_{0};
};

// Never destroyed: objects of static duration are released after this file's statics would have
// ended.
constinit Graveyard graveyard;

bool plausible(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignof(void*) == 0;
}

}  // namespace

Object::Object(const ClassInfo& class_info) : header_{kAlive, &class_info, 1} {
  static_assert(sizeof(Object) == sizeof(void*) + sizeof(Header), "header_of() relies on it");
}

Object::Object(const Object& other) : header_{kAlive, other.header_.class_info, 1} {}

bool Object::is(const ClassInfo& wanted) const {
  for (const ClassInfo* info = header_.class_info; info != nullptr; info = info->base) {
    if (info == &wanted) {
      return true;
    }
  }
  return false;
}

bool Object::accept(const void* pointer,
                    const ClassInfo& wanted,
                    const std::source_location& where) {
  if (!plausible(pointer)) {
    logging::error("metal", "{}: {} is not an object, but a {} is needed", where.function_name(),
                   fmt::ptr(pointer), wanted.name);
    return false;
  }
  const Header& header = header_of(pointer);
  const std::uint64_t magic = header.magic.load(std::memory_order_relaxed);
  if (magic == kDead) {
    logging::error("metal", "{}: the {} at {} has already been deallocated", where.function_name(),
                   header.class_info->name, fmt::ptr(pointer));
    return false;
  }
  if (magic != kAlive) {
    logging::error("metal", "{}: {} is not an object, but a {} is needed", where.function_name(),
                   fmt::ptr(pointer), wanted.name);
    return false;
  }
  if (!static_cast<const Object*>(pointer)->is(wanted)) {
    logging::error("metal", "{}: the object at {} is a {}, but a {} is needed",
                   where.function_name(), fmt::ptr(pointer), header.class_info->name, wanted.name);
    return false;
  }
  return true;
}

void Object::retain() noexcept {
  if (header_.references.load(std::memory_order_relaxed) < kImmortal) {
    header_.references.fetch_add(1, std::memory_order_relaxed);
  }
}

void Object::release() noexcept {
  if (header_.references.load(std::memory_order_relaxed) >= kImmortal) {
    return;
  }
  if (header_.references.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  const ClassInfo* info = header_.class_info;
  void* memory = this;
  this->~Object();
  new (static_cast<std::byte*>(memory) + sizeof(void*)) Header{kDead, info, 0};
  graveyard.bury(memory);
}

std::size_t Object::retain_count() const noexcept {
  const std::uint64_t count = header_.references.load(std::memory_order_relaxed);
  return count >= kImmortal ? NS::UIntegerMax : count;
}

void Object::make_immortal() noexcept {
  header_.references.store(kImmortal, std::memory_order_relaxed);
}

std::size_t Object::hash() const {
  return reinterpret_cast<std::uintptr_t>(this) / alignof(std::max_align_t);
}

bool Object::equals(const Object& other) const {
  return this == &other;
}

std::string Object::description() const {
  return fmt::format("<{}: {}>", class_info().name, fmt::ptr(this));
}

Object* Object::copy() const {
  logging::error("metal", "copy: a {} cannot be copied", class_info().name);
  return nullptr;
}

}  // namespace pewter::foundation

using pewter::foundation::handle;
using pewter::foundation::impl;
using Body = pewter::foundation::Object;

namespace NS::Private {

void* retain(const void* object) {
  auto* body = impl<Body>(object);
  if (body != nullptr) {
    body->retain();
  }
  return body;
}

void release(const void* object) {
  if (auto* body = impl<Body>(object)) {
    body->release();
  }
}

void* autorelease(const void* object) {
  auto* body = impl<Body>(object);
  if (body != nullptr) {
    pewter::foundation::autorelease(body);
  }
  return body;
}

UInteger retainCount(const void* object) {
  auto* body = impl<Body>(object);
  return body != nullptr ? body->retain_count() : 0;
}

void* copy(const void* object) {
  auto* body = impl<Body>(object);
  return body != nullptr ? body->copy() : nullptr;
}

}  // namespace NS::Private

NS::UInteger NS::Object::hash() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->hash() : 0;
}

bool NS::Object::isEqual(const Object* pObject) const {
  auto* self = impl<Body>(this);
  auto* other = impl<Body>(pObject);
  return self != nullptr && other != nullptr && self->equals(*other);
}

NS::String* NS::Object::description() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? pewter::foundation::string(self->description()) : nullptr;
}

NS::String* NS::Object::debugDescription() const {
  return description();
}
