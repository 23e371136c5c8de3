#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace pewter::compiler::spmd {

/// Addresses of single lanes out of a vector of them.
class LaneAddresses {
 public:
  LaneAddresses(llvm::IRBuilderBase& builder, llvm::Value* pointers);

  llvm::Value* at(unsigned lane);

 private:
  llvm::IRBuilderBase& builder_;
  llvm::Value* pointers_;
  llvm::Value* base_ = nullptr;
  llvm::Value* index_ = nullptr;
  llvm::Type* element_ = nullptr;
  bool is_signed_ = false;
};

}  // namespace pewter::compiler::spmd
