#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "pewter/base/kernel_abi.h"
#include "pewter/base/result.h"

namespace pewter::executor {

/// What a kernel needs from the executor besides memory.
struct KernelTraits {
  /// Threads wait for each other (barriers, simdgroup operations): each runs on a fiber.
  bool needs_fibers = false;
  /// Estimated bytes of stack for one thread.
  std::uint32_t stack_bytes = 0;
  /// Bytes of `abi::Group::program_memory` for every `program_lanes` threads of a group.
  std::uint32_t program_bytes = 0;
  std::uint32_t program_lanes = 1;
  /// It runs `abi::Group::row_groups` groups at each call.
  bool takes_rows = false;
  /// Its groups may wait for what earlier ones write.
  bool uses_atomics = false;
};

/// A relocatable object mapped executable, its symbols bound to the executor's built-ins.
///
/// The mapping lives as long as this object; nothing of it is writable once `load` returns.
class LoadedKernel {
 public:
  /// Fails on a damaged object, an unknown symbol or a relocation that this machine does not have.
  static Result<std::shared_ptr<const LoadedKernel>> load(std::span<const std::byte> object,
                                                          const std::string& entry,
                                                          const KernelTraits& traits);

  /// A kernel that is a function of the executor's own; its threads do not wait for each other.
  static std::shared_ptr<const LoadedKernel> wrap(abi::EntryPoint entry);

  ~LoadedKernel();
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  abi::EntryPoint entry() const { return entry_; }
  const KernelTraits& traits() const { return traits_; }

 private:
  LoadedKernel() = default;

  abi::EntryPoint entry_ = nullptr;
  KernelTraits traits_;
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
};

}  // namespace pewter::executor
