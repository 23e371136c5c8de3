#pragma once

#include <unordered_map>

#include "pewter/compiler/compiler.h"

namespace pewter::compiler {

/// The units of a file as one library.
class LinkedLibrary : public Library {
 public:
  explicit LinkedLibrary(std::vector<std::shared_ptr<Library>> units);

  const LibraryInfo& info() const override { return info_; }
  bool leaves_mode_open(const KernelRequest& request) const override;
  Digest identity(const std::string& function) const override;
  Result<std::shared_ptr<const KernelCode>, CompileFailure> compile(
      const KernelRequest& request) override;
  Result<FunctionBody, CompileFailure> body(
      const std::string& function,
      const std::map<std::uint32_t, ConstantBytes>& constants) override;

 private:
  void add(const LibraryInfo& info, std::size_t unit);

  const std::vector<std::shared_ptr<Library>> units_;
  LibraryInfo info_;
  std::unordered_map<std::string, std::size_t> owners_;
};

}  // namespace pewter::compiler
