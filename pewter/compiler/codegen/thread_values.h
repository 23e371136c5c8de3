#pragma once

#include <array>
#include <cstdint>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include "pewter/compiler/compiler.h"

namespace pewter::compiler::codegen {

/// What tells a thread from the others of its group. Calls until the way of running is decided, so
/// that everything before can be shared.
enum class ThreadValue : std::uint8_t {
  Index,
  X,
  Y,
  Z,
  SimdLane,
  Simdgroup,
  QuadLane,
  Quadgroup,
};
inline constexpr std::size_t kThreadValueCount = 8;

/// A call that stands for the value until one of the functions below replaces it.
llvm::Value* thread_value(llvm::IRBuilder<>& builder, ThreadValue value);

/// Whether the thread function uses its position in the group other than by index.
bool uses_position(const llvm::Module& module);

/// Computes thread values from the index, the third parameter of the thread function.
void resolve_for_thread(llvm::Function& thread);

/// Computes thread values for lanes of a program; the third parameter is the index of its first
/// thread, a multiple of `width`.
void resolve_for_lanes(llvm::Function& thread, unsigned width, const GroupShape& shape);

}  // namespace pewter::compiler::codegen
