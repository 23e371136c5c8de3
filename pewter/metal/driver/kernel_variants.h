#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "pewter/compiler/compiler.h"
#include "pewter/metal/executor/executor.h"

namespace pewter::driver {

/// The code of one pipeline: for rows of threads from the start, and for other sizes of
/// threadgroups once a dispatch asks for them.
///
/// Code that knows the size of its groups knows which threads are neighbours in memory. Safe to use
/// from any thread; finding code that exists takes no lock.
class KernelVariants {
 public:
  using GroupSize = std::array<std::uint32_t, 3>;

  /// Compiles and loads the kernel. Fails like `compiler::Library::compile`.
  static Result<std::unique_ptr<KernelVariants>, compiler::CompileFailure> create(
      std::shared_ptr<compiler::Library> library,
      compiler::KernelRequest request,
      const GroupSize& required_size);

  ~KernelVariants();
  KernelVariants(const KernelVariants&) = delete;
  KernelVariants& operator=(const KernelVariants&) = delete;

  /// What holds for all of them.
  const compiler::KernelCode& code() const { return *first_.code; }

  /// Says whether one thread at a time is faster than lanes; null when that is not asked.
  const executor::Trial* trial() const;

  /// Sets the kernels of a dispatch whose launch is filled in. Fails when code for a size that was
  /// not seen before cannot be made.
  Result<void> choose(executor::Dispatch& dispatch) const;

 private:
  struct Variant {
    compiler::GroupShape shape;
    bool needs_parts = false;
    std::shared_ptr<const compiler::KernelCode> code;
    /// Null, with the reason, when it cannot be made.
    std::shared_ptr<const executor::LoadedKernel> kernel;
    std::string problem;
    Variant* next = nullptr;
  };

  /// The same kernel in scalar mode, made in the background once it is worth a trial.
  class Rival;

  KernelVariants() = default;
  static Result<void, compiler::CompileFailure> build(compiler::Library& library,
                                                      compiler::KernelRequest request,
                                                      Variant& variant);
  const Variant& find(const compiler::GroupShape& shape, bool needs_parts) const;
  Result<void> choose_own(executor::Dispatch& dispatch) const;
  const Variant* suited(const Variant* variant, std::uint32_t thread_count, bool has_edge) const;

  std::shared_ptr<compiler::Library> library_;
  compiler::KernelRequest request_;
  Variant first_;
  std::shared_ptr<Rival> rival_;
  mutable std::mutex mutex_;  // held while a variant is added
  mutable std::atomic<Variant*> others_ = nullptr;
};

}  // namespace pewter::driver
