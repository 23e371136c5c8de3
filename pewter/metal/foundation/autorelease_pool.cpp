#include "pewter/metal/foundation/autorelease_pool.h"

#include <algorithm>
#include <cstdio>

#include "pewter/base/log.h"
#include "pewter/base/thread.h"

namespace pewter::foundation {
namespace {

/// A thread's autoreleased objects, oldest first, and where each of its pools begins among them.
struct PoolStack {
  struct Mark {
    std::uint64_t serial;
    std::size_t begin;
  };

  std::vector<Object*> objects;
  std::vector<Mark> pools;
  std::uint64_t next_serial = 1;
  const std::uint32_t made_in = fork_generation();

  ~PoolStack();

  // Releasing an object may autorelease others; they land above `begin` and go in the same sweep.
  void release_down_to(std::size_t begin) {
    while (objects.size() > begin) {
      Object* object = objects.back();
      objects.pop_back();
      object->release();
    }
  }
};

// Outlives the stack: an object autoreleased by a destructor of static duration has no pool left to
// go to.
thread_local bool stack_ended = false;
thread_local PoolStack stack;

PoolStack::~PoolStack() {
  // Objects that a forked child has from its parent may wait for threads that only the parent has.
  if (made_in == fork_generation()) {
    release_down_to(0);
  }
  stack_ended = true;
}

}  // namespace

void autorelease(Object* object) {
  if (!stack_ended) {
    stack.objects.push_back(object);
  }
}

PoolScope::PoolScope() : mark_(stack_ended ? 0 : stack.objects.size()) {}

PoolScope::~PoolScope() {
  if (!stack_ended) {
    stack.release_down_to(mark_);
  }
}

AutoreleasePool::AutoreleasePool()
    : Object(kClass), owner_(std::this_thread::get_id()), serial_(stack.next_serial++) {
  if (!stack_ended) {
    stack.pools.push_back({serial_, stack.objects.size()});
  }
}

AutoreleasePool::~AutoreleasePool() {
  if (owner_ != std::this_thread::get_id()) {
    logging::error(
        "metal",
        "an autorelease pool was drained on another thread than its own; its objects stay "
        "until that thread ends or drains an older pool");
    return;
  }
  if (stack_ended) {
    return;
  }
  // A pool that an older one has drained is no longer on the stack.
  const auto own =
      std::find_if(stack.pools.begin(), stack.pools.end(),
                   [this](const PoolStack::Mark& mark) { return mark.serial == serial_; });
  if (own == stack.pools.end()) {
    return;
  }
  while (!stack.pools.empty() && stack.pools.back().serial >= serial_) {
    const auto mark = stack.pools.back();
    stack.release_down_to(mark.begin);
    if (!stack.pools.empty() && stack.pools.back().serial == mark.serial) {
      stack.pools.pop_back();
    }
  }
}

}  // namespace pewter::foundation

using Body = pewter::foundation::AutoreleasePool;
using pewter::foundation::handle;
using pewter::foundation::impl;
using pewter::foundation::make;

NS::AutoreleasePool* NS::AutoreleasePool::alloc() {
  return handle(make<Body>());
}

NS::AutoreleasePool* NS::AutoreleasePool::init() {
  return this;
}

void NS::AutoreleasePool::drain() {
  release();
}

void NS::AutoreleasePool::addObject(Object* pObject) {
  auto* object = impl<pewter::foundation::Object>(pObject);
  if (impl<Body>(this) != nullptr && object != nullptr) {
    pewter::foundation::autorelease(object);
  }
}

void NS::AutoreleasePool::showPools() {
  if (pewter::foundation::stack_ended) {
    return;
  }
  const auto& pools = pewter::foundation::stack.pools;
  std::fprintf(stderr, "%zu autorelease pools, %zu objects\n", pools.size(),
               pewter::foundation::stack.objects.size());
}
