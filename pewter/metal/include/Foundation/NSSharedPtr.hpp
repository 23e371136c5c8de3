#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "NSDefines.hpp"

namespace NS {

/// Owns one reference to an object, or is null.
template <class _Class>
class SharedPtr {
  template <class _Other>
  using Convertible = std::enable_if_t<std::is_convertible_v<_Other*, _Class*>, int>;

 public:
  SharedPtr() = default;
  SharedPtr(std::nullptr_t) noexcept {}
  ~SharedPtr() { drop(); }

  SharedPtr(const SharedPtr& other) noexcept : m_pObject(retained(other.m_pObject)) {}
  SharedPtr(SharedPtr&& other) noexcept : m_pObject(std::exchange(other.m_pObject, nullptr)) {}

  template <class _Other, Convertible<_Other> = 0>
  SharedPtr(const SharedPtr<_Other>& other) noexcept : m_pObject(retained(other.get())) {}
  template <class _Other, Convertible<_Other> = 0>
  SharedPtr(SharedPtr<_Other>&& other) noexcept : m_pObject(other.get()) {
    other.detach();
  }

  SharedPtr& operator=(const SharedPtr& other) {
    if (m_pObject != other.m_pObject) {
      SharedPtr(other).swap(*this);
    }
    return *this;
  }
  SharedPtr& operator=(SharedPtr&& other) noexcept {
    SharedPtr(std::move(other)).swap(*this);
    return *this;
  }
  template <class _Other, Convertible<_Other> = 0>
  SharedPtr& operator=(const SharedPtr<_Other>& other) {
    SharedPtr(other).swap(*this);
    return *this;
  }
  template <class _Other, Convertible<_Other> = 0>
  SharedPtr& operator=(SharedPtr<_Other>&& other) noexcept {
    SharedPtr(std::move(other)).swap(*this);
    return *this;
  }

  _Class* get() const { return m_pObject; }
  _Class* operator->() const { return m_pObject; }
  explicit operator bool() const { return m_pObject != nullptr; }

  /// Releases the object and becomes null.
  void reset() {
    drop();
    m_pObject = nullptr;
  }

  /// Becomes null without releasing the object.
  void detach() { m_pObject = nullptr; }

  template <class _Other>
  friend SharedPtr<_Other> RetainPtr(_Other* pObject);
  template <class _Other>
  friend SharedPtr<_Other> TransferPtr(_Other* pObject);

 private:
  template <class _Other>
  static _Class* retained(_Other* pObject) {
    if (pObject != nullptr) {
      pObject->retain();
    }
    return pObject;
  }
  void drop() {
    if (m_pObject != nullptr) {
      m_pObject->release();
    }
  }
  void swap(SharedPtr& other) noexcept { std::swap(m_pObject, other.m_pObject); }

  _Class* m_pObject = nullptr;
};

/// A pointer that adds a reference of its own.
template <class _Class>
_NS_INLINE SharedPtr<_Class> RetainPtr(_Class* pObject) {
  SharedPtr<_Class> pointer;
  pointer.m_pObject = SharedPtr<_Class>::retained(pObject);
  return pointer;
}

/// A pointer that takes over the caller's reference.
template <class _Class>
_NS_INLINE SharedPtr<_Class> TransferPtr(_Class* pObject) {
  SharedPtr<_Class> pointer;
  pointer.m_pObject = pObject;
  return pointer;
}

template <class _Left, class _Right>
_NS_INLINE bool operator==(const SharedPtr<_Left>& left, const SharedPtr<_Right>& right) {
  return left.get() == right.get();
}

template <class _Left, class _Right>
_NS_INLINE bool operator!=(const SharedPtr<_Left>& left, const SharedPtr<_Right>& right) {
  return left.get() != right.get();
}

}  // namespace NS
