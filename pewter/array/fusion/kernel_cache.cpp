#include "pewter/array/fusion/kernel_cache.h"

#include <string>
#include <unordered_map>

#include "pewter/base/log.h"

namespace pewter::fusion {
namespace {

using Kernels = std::unordered_map<std::string, std::shared_ptr<const runtime::ShaderKernel>>;

Kernels& kernels() {
  // Never destroyed: arrays may be computed by destructors of static objects.
  static auto* const kernels = new Kernels;
  return *kernels;
}

}  // namespace

const std::shared_ptr<const runtime::ShaderKernel>& generated_kernel(
    const KernelStructure& structure) {
  static auto* const key = new std::string;
  key->clear();
  structure.append_key(*key);
  if (const auto known = kernels().find(*key); known != kernels().end()) {
    return known->second;
  }
  const std::string text = kernel_text(structure);
  logging::detail("fusion", "a text is made for {}", describe(structure));
  const auto library = runtime::ShaderLibrary::compile(text, runtime::MathMode::Safe);
  auto kernel = library->kernel("generated", runtime::GroupSizes::WholeSimdgroups);
  return kernels().emplace(*key, std::move(kernel)).first->second;
}

std::size_t generated_kernel_count() {
  return kernels().size();
}

}  // namespace pewter::fusion
