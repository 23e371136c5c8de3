#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "pewter/base/hash.h"
#include "pewter/compiler/backend_loader.h"
#include "pewter/compiler/compiler.h"
#include "pewter/compiler/library_file.h"

namespace pewter::compiler {

/// A library of one source text. What it knows and its kernels come from the disk cache where that
/// has them; the text is parsed when something has to be compiled.
class CachedLibrary : public Library {
 public:
  CachedLibrary(std::string source, LibraryOptions options);
  /// A unit of a file, whose text is read when it is needed.
  CachedLibrary(LibraryFile file, std::size_t unit, LibraryUnit facts);

  /// Fills `info` from the disk cache or by parsing.
  Result<void, CompileFailure> open();

  const LibraryInfo& info() const override { return info_; }
  bool leaves_mode_open(const KernelRequest& request) const override;
  Digest identity(const std::string&) const override { return key_; }
  Result<std::shared_ptr<const KernelCode>, CompileFailure> compile(
      const KernelRequest& asked) override;
  Result<FunctionBody, CompileFailure> body(
      const std::string& function,
      const std::map<std::uint32_t, ConstantBytes>& constants) override;

 private:
  Result<std::shared_ptr<const KernelCode>, CompileFailure> find_or_compile(
      const Digest& key, const KernelRequest& request);
  Result<std::shared_ptr<const KernelCode>, CompileFailure> compile_now(
      const Digest& key, const KernelRequest& request, const std::vector<FunctionBody>& bodies);
  Result<void, CompileFailure> parse();
  bool is_cacheable() const;
  bool is_cacheable(const KernelRequest& request) const;
  Result<void, CompileFailure> check_constants(KernelRequest& request) const;
  Result<std::vector<FunctionBody>, CompileFailure> linked_bodies(
      const KernelRequest& request) const;
  void explain(const Digest& key,
               const KernelRequest& request,
               const KernelCode& code,
               bool is_open);
  std::string describe_lanes(const KernelRequest& request, const KernelCode& code, bool is_open);
  std::shared_ptr<const KernelCode> remember(const Digest& key, KernelCode code);

  const LibraryOptions options_;
  const Digest key_;
  LibraryInfo info_;  // written by open() alone
  const std::optional<LibraryFile> file_;
  const std::size_t unit_ = 0;

  std::mutex mutex_;  // guards the members below
  std::string source_;
  std::unique_ptr<ParsedLibrary> parsed_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const KernelCode>> kernels_;
  std::unordered_set<std::uint64_t> explained_;  // by the keys of `kernels_`
};

}  // namespace pewter::compiler
