#pragma once

#include <cstdint>

#include "llvm/Analysis/ScalarEvolution.h"

namespace pewter::compiler::spmd {

/// An address as a distance in bytes from something: addresses with the same base are so far apart
/// as their offsets are.
struct Address {
  const llvm::SCEV* base = nullptr;
  std::int64_t offset = 0;
};

Address split_address(llvm::ScalarEvolution& evolution, const llvm::Value* pointer);

}  // namespace pewter::compiler::spmd
