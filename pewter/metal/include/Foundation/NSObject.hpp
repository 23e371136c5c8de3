#pragma once

#include "NSDefines.hpp"
#include "NSTypes.hpp"

namespace NS {

class Object;
class String;

namespace Private {

/// Base of everything; objects are only ever seen through pointers.
struct Root {};

// Every one of these accepts null and does nothing then.
_NS_EXPORT void* retain(const void* object);
_NS_EXPORT void release(const void* object);
_NS_EXPORT void* autorelease(const void* object);
_NS_EXPORT UInteger retainCount(const void* object);
_NS_EXPORT void* copy(const void* object);

}  // namespace Private

/// Reference counting that returns the derived type.
///
/// A method whose name begins with `new`, `alloc`, `copy`, `Create` or `Copy` gives its caller a
/// reference to release; every other method gives an object that the autorelease pool or its owner
/// keeps.
template <class _Class, class _Base = Object>
class Referencing : public _Base {
 public:
  _Class* retain() { return static_cast<_Class*>(Private::retain(this)); }
  void release() { Private::release(this); }

  _Class* autorelease() { return static_cast<_Class*>(Private::autorelease(this)); }

  UInteger retainCount() const { return Private::retainCount(this); }
};

/// Objects that can be copied; the caller owns the copy.
template <class _Class, class _Base = Object>
class Copying : public Referencing<_Class, _Base> {
 public:
  _Class* copy() const { return static_cast<_Class*>(Private::copy(this)); }
};

template <class _Class, class _Base = Object>
class SecureCoding : public Referencing<_Class, _Base> {};

/// Base of all objects. A call on a null pointer does nothing and returns zero.
class _NS_EXPORT Object : public Referencing<Object, Private::Root> {
 public:
  Object() = delete;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  UInteger hash() const;
  bool isEqual(const Object* pObject) const;

  String* description() const;
  String* debugDescription() const;

 protected:
  ~Object() = delete;
};

}  // namespace NS
