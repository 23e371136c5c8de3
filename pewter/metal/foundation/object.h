#pragma once

#include <Foundation/NSObject.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "pewter/metal/foundation/object_memory.h"

/// Bodies behind the opaque classes of the public headers.
///
/// A public pointer such as `MTL::Buffer*` is the address of an `Object`. `impl<T>` turns it into
/// the body, and `handle` turns a body into the public pointer. Public methods are called on null
/// and, by mistake, on dead or foreign objects; that is why nothing below them trusts a pointer
/// that has not passed through `impl`.
namespace pewter::foundation {

/// Identity of a class: compared by address, along the chain of bases.
struct ClassInfo {
  const char* name;
  const ClassInfo* base;
};

/// The body behind a public pointer; null, with a message in the log, for a dead object or one of
/// another class. Null itself is not worth a message: as in Objective-C, a call on it does nothing.
template <class T>
T* impl(const void* pointer, const std::source_location& where = std::source_location::current());

/// Base of all bodies: a reference count, starting at one, and what is needed to recognise misuse.
///
/// A derived class has `using Public = <public class>;` and `static constexpr ClassInfo kClass`,
/// and passes `kClass` to its base. Objects are made with `make` and end when their last reference
/// is released.
class Object {
 public:
  using Public = NS::Object;
  static constexpr ClassInfo kClass{"NS::Object", nullptr};

  Object& operator=(const Object&) = delete;

  static void* operator new(std::size_t bytes) { return object_memory::allocate(bytes); }
  static void operator delete(void* memory) noexcept { object_memory::free(memory); }

  const ClassInfo& class_info() const { return *header_.class_info; }
  bool is(const ClassInfo& wanted) const;

  void retain() noexcept;
  void release() noexcept;
  std::size_t retain_count() const noexcept;

  /// From here on retain() and release() do nothing and the object lives as long as the process.
  void make_immortal() noexcept;

  virtual std::size_t hash() const;
  virtual bool equals(const Object& other) const;
  virtual std::string description() const;
  /// A copy that the caller owns; null for classes that cannot be copied.
  virtual Object* copy() const;

 protected:
  explicit Object(const ClassInfo& class_info);
  /// A copy starts a count of its own.
  Object(const Object& other);
  virtual ~Object() = default;

 private:
  struct Header {
    std::atomic<std::uint64_t> magic;
    const ClassInfo* class_info;
    std::atomic<std::uint64_t> references;
  };

  template <class T>
  friend T* impl(const void* pointer, const std::source_location& where);

  static const Header& header_of(const void* pointer) {
    return *reinterpret_cast<const Header*>(static_cast<const std::byte*>(pointer) + sizeof(void*));
  }
  static bool is_exactly(const void* pointer, const ClassInfo& wanted) {
    return reinterpret_cast<std::uintptr_t>(pointer) % alignof(Header) == 0 &&
           header_of(pointer).magic.load(std::memory_order_relaxed) == kAlive &&
           header_of(pointer).class_info == &wanted;
  }
  /// Decides about a pointer that is not plainly a live object of the class, and logs what is wrong
  /// with it.
  static bool accept(const void* pointer,
                     const ClassInfo& wanted,
                     const std::source_location& where);

  static constexpr std::uint64_t kAlive = 0x7065777465724f4bU;
  static constexpr std::uint64_t kDead = 0x7065777465724445U;

  Header header_;
};

template <class T>
T* impl(const void* pointer, const std::source_location& where) {
  if (pointer == nullptr) {
    return nullptr;
  }
  if (Object::is_exactly(pointer, T::kClass) || Object::accept(pointer, T::kClass, where))
      [[likely]] {
    return static_cast<T*>(static_cast<Object*>(const_cast<void*>(pointer)));
  }
  return nullptr;
}

/// The public pointer to a body; null for null.
template <class T>
typename T::Public* handle(const T* object) {
  return reinterpret_cast<typename T::Public*>(
      const_cast<Object*>(static_cast<const Object*>(object)));
}

/// Makes a body with one reference, which the caller owns.
template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
  static_assert(alignof(T) <= alignof(std::max_align_t), "object memory is no more aligned");
  return new T(std::forward<Arguments>(arguments)...);
}

/// Owns one reference to a body, or is null.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  /// Adds a reference.
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) {
      object_->retain();
    }
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) {
      object_->release();
    }
  }

  /// Takes over the caller's reference.
  static Ref adopt(T* object) {
    Ref reference;
    reference.object_ = object;
    return reference;
  }
  /// Gives the reference to the caller.
  T* leak() { return std::exchange(object_, nullptr); }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

template <class T, class... Arguments>
Ref<T> make_ref(Arguments&&... arguments) {
  return Ref<T>::adopt(make<T>(std::forward<Arguments>(arguments)...));
}

template <class T>
typename T::Public* handle(const Ref<T>& reference) {
  return handle(reference.get());
}

/// Reads a data member of the body behind `self`; a zero value when there is none.
template <class T, class M>
M get(const void* self,
      M T::* member,
      const std::source_location& where = std::source_location::current()) {
  auto* body = impl<T>(self, where);
  return body != nullptr ? body->*member : M{};
}

/// The object that a member of the body behind `self` refers to, as its public pointer.
template <class T, class M>
typename M::Public* get(const void* self,
                        Ref<M> T::* member,
                        const std::source_location& where = std::source_location::current()) {
  auto* body = impl<T>(self, where);
  return body != nullptr ? handle(body->*member) : nullptr;
}

template <class T, class M>
void set(void* self,
         M T::* member,
         std::type_identity_t<M> value,
         const std::source_location& where = std::source_location::current()) {
  if (auto* body = impl<T>(self, where)) {
    body->*member = std::move(value);
  }
}

/// Makes a member of the body behind `self` refer to the object behind `value`.
template <class T, class M>
void set(void* self,
         Ref<M> T::* member,
         const typename M::Public* value,
         const std::source_location& where = std::source_location::current()) {
  if (auto* body = impl<T>(self, where)) {
    body->*member = Ref<M>(impl<M>(value, where));
  }
}

/// The same for properties that Metal copies on assignment.
template <class T, class M>
void set_copy(void* self,
              Ref<M> T::* member,
              const typename M::Public* value,
              const std::source_location& where = std::source_location::current()) {
  if (auto* body = impl<T>(self, where)) {
    auto* source = impl<M>(value, where);
    body->*member = Ref<M>::adopt(source != nullptr ? static_cast<M*>(source->copy()) : nullptr);
  }
}

}  // namespace pewter::foundation
