#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

class Array;

namespace Private {

_NS_EXPORT Object* nextObject(const void* enumerator);
_NS_EXPORT Array* allObjects(const void* enumerator);

}  // namespace Private

/// Walks over the elements of a collection once.
template <class _ObjectType>
class Enumerator : public Referencing<Enumerator<_ObjectType>> {
 public:
  /// Null after the last one.
  _ObjectType* nextObject() { return reinterpret_cast<_ObjectType*>(Private::nextObject(this)); }
  /// Those that have not been visited yet.
  Array* allObjects() { return Private::allObjects(this); }
};

}  // namespace NS
