#pragma once

#include <Foundation/Foundation.hpp>

namespace pewter::runtime {

/// Releases at the end of the scope what Metal's calls autoreleased in it.
class AutoreleaseScope {
 public:
  AutoreleaseScope() : pool_(NS::TransferPtr(NS::AutoreleasePool::alloc()->init())) {}

 private:
  NS::SharedPtr<NS::AutoreleasePool> pool_;
};

}  // namespace pewter::runtime
