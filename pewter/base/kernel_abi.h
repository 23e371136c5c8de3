#pragma once

#include <cstddef>
#include <cstdint>

#include "pewter/base/log_abi.h"
#include "pewter/base/texture_abi.h"

/// The border between compiled kernels and the executor that calls them.
///
/// Compiled code reads these structures by offset, so a change here is a change of
/// `kKernelAbiVersion`, which is part of every cache key.
namespace pewter::abi {

inline constexpr std::uint32_t kKernelAbiVersion = 5;

inline constexpr std::uint32_t kSimdWidth = 32;
inline constexpr std::uint32_t kMaxBuffers = 31;
inline constexpr std::uint32_t kMaxThreadgroupArguments = 31;
inline constexpr std::uint32_t kMaxThreadsPerThreadgroup = 1024;
inline constexpr std::uint32_t kMaxThreadgroupMemory = 32768;

/// What one dispatch gives to each of its threads. Read-only while the dispatch runs.
struct Launch {
  /// Address bound to each `[[buffer(n)]]`, offset included; null when nothing is bound.
  const void* buffers[kMaxBuffers];
  /// Offset of each `[[threadgroup(n)]]` argument from `Group::threadgroup_memory`.
  std::uint32_t threadgroup_offsets[kMaxThreadgroupArguments];
  std::uint32_t threads_per_grid[3];
  std::uint32_t threadgroups_per_grid[3];
  /// Size that was asked for; groups at the edge of a non-uniform grid are smaller (`Group::size`).
  std::uint32_t threads_per_threadgroup[3];
  std::uint32_t grid_origin[3];
  /// Whether streaming stores go past the caches; where it is 0 they are plain ones.
  std::uint32_t streams;
  /// What is bound to each `[[texture(n)]]`, null where nothing is; null when the kernel has none.
  const Texture* const* textures;
  /// The same for `[[sampler(n)]]`: see SamplerBits.
  const std::uint64_t* samplers;
  /// Where messages go; null when nobody wants them.
  LogBuffer* log;
};

/// One threadgroup of a dispatch.
struct Group {
  /// At least the dispatch's threadgroup memory, 128-byte aligned; static variables come first.
  std::byte* threadgroup_memory;
  std::uint32_t position[3];
  std::uint32_t size[3];
  /// For kernels that ask for it: what programs keep while they wait at a barrier, 64-byte aligned.
  std::byte* program_memory;
  /// For kernels that take rows: how many groups to run, this one and those behind it along x, all
  /// of the same size; 1 for all others.
  std::uint32_t row_groups;
  /// Where kernels that take rows write which of them they are at, counted from 0.
  mutable std::uint32_t row_group;
};

/// Runs threads `first` .. `first + count - 1` of a group, by linear index (x fastest) over
/// `Group::size`.
///
/// A kernel that was compiled to run one thread at a time and has barriers or simdgroup operations
/// is called for each thread on a fiber of its own; all others for whole groups.
using EntryPoint = void (*)(const Launch* launch,
                            const Group* group,
                            std::uint32_t first,
                            std::uint32_t count);

}  // namespace pewter::abi
