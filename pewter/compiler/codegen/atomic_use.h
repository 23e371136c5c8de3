#pragma once

#include "llvm/IR/Module.h"

namespace pewter::compiler::codegen {

/// What a kernel does with atomic operations.
struct AtomicUse {
  bool any = false;
  /// Whether it shows who came first: nothing does when threads only add to places, or only keep
  /// the larger of two there, and none looks at what it found.
  bool shows_order = false;
};

AtomicUse find_atomic_use(const llvm::Module& module);

}  // namespace pewter::compiler::codegen
