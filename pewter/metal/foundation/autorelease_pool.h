#pragma once

#include <Foundation/NSAutoreleasePool.hpp>
#include <thread>
#include <vector>

#include "pewter/metal/foundation/object.h"

namespace pewter::foundation {

/// Gives the caller's reference to the thread's newest pool, or to its root pool, which is emptied
/// when the thread ends.
void autorelease(Object* object);

/// Gives the caller's reference to the pool and returns the public pointer.
template <class T>
typename T::Public* autoreleased(Ref<T> reference) {
  T* object = reference.leak();
  if (object != nullptr) {
    autorelease(object);
  }
  return handle(object);
}

/// Drains what was autoreleased in its scope: for threads and calls of the driver's own.
class PoolScope {
 public:
  PoolScope();
  ~PoolScope();
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

 private:
  std::size_t mark_;
};

/// The body of NS::AutoreleasePool: a mark in the thread's stack of autoreleased objects.
class AutoreleasePool final : public Object {
 public:
  using Public = NS::AutoreleasePool;
  static constexpr ClassInfo kClass{"NS::AutoreleasePool", &Object::kClass};

  AutoreleasePool();
  ~AutoreleasePool() override;

 private:
  const std::thread::id owner_;
  const std::uint64_t serial_;
};

}  // namespace pewter::foundation
