#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

/// Immutable list that retains its elements.
class _NS_EXPORT Array : public Copying<Array> {
 public:
  static Array* array();
  static Array* array(const Object* pObject);
  static Array* array(const Object* const* pObjects, UInteger count);

  static Array* alloc();
  Array* init();
  Array* init(const Object* const* pObjects, UInteger count);

  /// Null, with a logged message, when `index` is past the end.
  template <class _Object = Object>
  _Object* object(UInteger index) const {
    return reinterpret_cast<_Object*>(objectAtIndex(index));
  }
  UInteger count() const;

 private:
  Object* objectAtIndex(UInteger index) const;
};

}  // namespace NS
