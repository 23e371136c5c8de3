#include "pewter/compiler/linked_library.h"

#include <fmt/core.h>

#include <algorithm>

#include "pewter/compiler/plain_failure.h"

namespace pewter::compiler {

LinkedLibrary::LinkedLibrary(std::vector<std::shared_ptr<Library>> units)
    : units_(std::move(units)) {
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    add(units_[unit]->info(), unit);
  }
}

Digest LinkedLibrary::identity(const std::string& function) const {
  const auto owner = owners_.find(function);
  return owner != owners_.end() ? units_[owner->second]->identity(function) : Digest();
}

bool LinkedLibrary::leaves_mode_open(const KernelRequest& request) const {
  const auto owner = owners_.find(request.kernel);
  return owner != owners_.end() && units_[owner->second]->leaves_mode_open(request);
}

Result<std::shared_ptr<const KernelCode>, CompileFailure> LinkedLibrary::compile(
    const KernelRequest& request) {
  const auto owner = owners_.find(request.kernel);
  if (owner == owners_.end()) {
    return plain_failure(fmt::format("there is no kernel named '{}'", request.kernel));
  }
  return units_[owner->second]->compile(request);
}

Result<FunctionBody, CompileFailure> LinkedLibrary::body(
    const std::string& function, const std::map<std::uint32_t, ConstantBytes>& constants) {
  const auto owner = owners_.find(function);
  if (owner == owners_.end()) {
    return plain_failure(fmt::format("there is no visible function named '{}'", function));
  }
  return units_[owner->second]->body(function, constants);
}

void LinkedLibrary::add(const LibraryInfo& info, std::size_t unit) {
  std::vector<std::uint32_t> positions;
  for (const FunctionConstant& constant : info.constants) {
    const auto same = std::find_if(
        info_.constants.begin(), info_.constants.end(), [&](const FunctionConstant& other) {
          return other.name == constant.name && other.index == constant.index &&
                 other.type == constant.type;
        });
    positions.push_back(static_cast<std::uint32_t>(same - info_.constants.begin()));
    if (same == info_.constants.end()) {
      info_.constants.push_back(constant);
    }
  }
  for (KernelInfo kernel : info.kernels) {
    for (std::uint32_t& constant : kernel.constants) {
      constant = constant < positions.size() ? positions[constant] : 0;
    }
    owners_.emplace(kernel.name, unit);
    info_.kernels.push_back(std::move(kernel));
  }
}

}  // namespace pewter::compiler
