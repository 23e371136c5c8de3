#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

/// Collects autoreleased objects of the thread that made it, and releases them when it is drained.
///
/// Pools nest: the newest one of the thread collects, and draining a pool drains those made after
/// it.
class _NS_EXPORT AutoreleasePool : public Object {
 public:
  static AutoreleasePool* alloc();
  AutoreleasePool* init();

  /// Releases the collected objects and the pool itself.
  void drain();

  void addObject(Object* pObject);

  /// Prints the calling thread's pools on standard error.
  static void showPools();
};

}  // namespace NS
