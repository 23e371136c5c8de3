#pragma once

#include <cstddef>
#include <cstdint>

/// Tables of functions and buffers of commands, as kernels see them in memory. The MSL standard
/// library declares the same structures.
namespace pewter::abi {

/// What a `visible_function_table` points at; `size` numbers follow.
///
/// A function's number is its place among those that a pipeline is linked with, counted from 1; 0
/// is no function.
struct FunctionTable {
  std::uint64_t size = 0;
};

enum class IndirectKind : std::uint32_t { None, Threadgroups, Threads };

inline constexpr std::uint32_t kMaxIndirectBuffers = 31;

/// One dispatch of an indirect command buffer, written by the host or by kernels.
struct IndirectCommand {
  /// MTL::ComputePipelineState::gpuResourceID; 0 when the encoder's is to be used.
  std::uint64_t pipeline;
  /// Address for each `[[buffer(n)]]`, or that of a function table.
  std::uint64_t buffers[kMaxIndirectBuffers];
  std::uint32_t threadgroup_lengths[kMaxIndirectBuffers];
  IndirectKind kind;
  /// Of the grid: in threadgroups or in threads.
  std::uint32_t grid[3];
  std::uint32_t threads_per_threadgroup[3];
  std::uint32_t grid_origin[3];
  /// Whether it waits for the commands before it.
  std::uint32_t has_barrier;
  std::uint32_t unused;
};
static_assert(sizeof(IndirectCommand) == 432 && offsetof(IndirectCommand, kind) == 380);

/// What a `command_buffer` points at; `size` commands follow.
struct IndirectCommands {
  std::uint64_t size = 0;
};

}  // namespace pewter::abi
