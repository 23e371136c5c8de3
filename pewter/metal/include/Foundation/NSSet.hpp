#pragma once

#include "NSDefines.hpp"
#include "NSEnumerator.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

/// Immutable collection without duplicates; elements are compared with isEqual().
class _NS_EXPORT Set : public Copying<Set> {
 public:
  static Set* alloc();
  Set* init();
  Set* init(const Object* const* pObjects, UInteger count);

  UInteger count() const;
  Enumerator<Object>* objectEnumerator() const;
};

}  // namespace NS
