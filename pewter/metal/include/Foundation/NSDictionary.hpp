#pragma once

#include "NSDefines.hpp"
#include "NSEnumerator.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

/// Immutable map that retains keys and values; keys are compared with isEqual().
class _NS_EXPORT Dictionary : public Copying<Dictionary> {
 public:
  static Dictionary* dictionary();
  static Dictionary* dictionary(const Object* pObject, const Object* pKey);
  static Dictionary* dictionary(const Object* const* pObjects,
                                const Object* const* pKeys,
                                UInteger count);

  static Dictionary* alloc();
  Dictionary* init();
  Dictionary* init(const Object* const* pObjects, const Object* const* pKeys, UInteger count);

  template <class _KeyType = Object>
  Enumerator<_KeyType>* keyEnumerator() const {
    return reinterpret_cast<Enumerator<_KeyType>*>(keys());
  }
  /// Null when the key is absent.
  template <class _Object = Object>
  _Object* object(const Object* pKey) const {
    return reinterpret_cast<_Object*>(objectForKey(pKey));
  }
  UInteger count() const;

 private:
  Enumerator<Object>* keys() const;
  Object* objectForKey(const Object* pKey) const;
};

}  // namespace NS
