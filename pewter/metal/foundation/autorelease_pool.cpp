#include "pewter/metal/foundation/autorelease_pool.h"

#include <algorithm>
#include <cstdio>

#include "pewter/base/log.h"
#include "pewter/base/thread.h"
#include "pewter/base/thread_owned.h"

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

  PoolStack();
  ~PoolStack() { release_all(); }
  PoolStack(const PoolStack&) = delete;
  PoolStack& operator=(const PoolStack&) = delete;

  // Releasing an object may autorelease others; they land above `begin` and go in the same sweep.
  void release_down_to(std::size_t begin) {
    while (objects.size() > begin) {
      Object* object = objects.back();
      objects.pop_back();
      object->release();
    }
  }

  void release_all() {
    // Objects that a forked child has from its parent may wait for threads that only the parent
    // has.
    if (made_in == fork_generation()) {
      release_down_to(0);
    }
  }
};

// There even for destructors of static objects.
PoolStack& stack() {
  return ThreadOwned<PoolStack>::get();
}

/// Releases what a thread has without a pool when it ends; also the main thread, whose stack stays.
struct EndOfThread {
  ~EndOfThread() { stack().release_all(); }
  // What is never used is never destroyed.
  void use() {}
};
thread_local EndOfThread end_of_thread;

PoolStack::PoolStack() {
  end_of_thread.use();
}

}  // namespace

void autorelease(Object* object) {
  stack().objects.push_back(object);
}

PoolScope::PoolScope() : mark_(stack().objects.size()) {}

PoolScope::~PoolScope() {
  stack().release_down_to(mark_);
}

AutoreleasePool::AutoreleasePool()
    : Object(kClass), owner_(std::this_thread::get_id()), serial_(stack().next_serial++) {
  stack().pools.push_back({serial_, stack().objects.size()});
}

AutoreleasePool::~AutoreleasePool() {
  if (owner_ != std::this_thread::get_id()) {
    logging::error(
        "metal",
        "an autorelease pool was drained on another thread than its own; its objects stay "
        "until that thread ends or drains an older pool");
    return;
  }
  // A pool that an older one has drained is no longer on the stack.
  PoolStack& own = stack();
  const bool is_on_stack =
      std::any_of(own.pools.begin(), own.pools.end(),
                  [this](const PoolStack::Mark& mark) { return mark.serial == serial_; });
  if (!is_on_stack) {
    return;
  }
  while (!own.pools.empty() && own.pools.back().serial >= serial_) {
    const auto mark = own.pools.back();
    own.release_down_to(mark.begin);
    if (!own.pools.empty() && own.pools.back().serial == mark.serial) {
      own.pools.pop_back();
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
  const auto& stack = pewter::foundation::stack();
  std::fprintf(stderr, "%zu autorelease pools, %zu objects\n", stack.pools.size(),
               stack.objects.size());
}
