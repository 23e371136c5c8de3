#include "pewter/array/fusion/kernel_cache.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "pewter/array/fusion/kernel_maker.h"
#include "pewter/base/log.h"

namespace pewter::fusion {
namespace {

class KernelCache {
 public:
  static KernelCache& instance() {
    // Never destroyed: arrays may be computed by destructors of static objects.
    static auto* const instance = new KernelCache;
    return *instance;
  }

  const runtime::ShaderKernel* find(const KernelStructure& structure) {
    key_.clear();
    structure.append_key(key_);
    if (KernelMaker::instance().has_made()) {
      take_made();
    }
    const auto known = kernels_.find(key_);
    return known != kernels_.end() ? known->second.get() : nullptr;
  }

  const runtime::ShaderKernel& make(const KernelStructure& structure) {
    if (const runtime::ShaderKernel* known = find(structure)) {
      return *known;
    }
    ++waited_count_;
    logging::detail("fusion", "an evaluation waits for the kernel {}", describe(structure));
    if (KernelMaker::instance().wait_for(key_)) {
      take_made();
      return *kernels_.at(key_);
    }
    return *kernels_.emplace(key_, make_kernel(structure)).first->second;
  }

  void request(const KernelStructure& structure) {
    if (find(structure) == nullptr) {
      KernelMaker::instance().request(key_, structure);
    }
  }

  bool want(const KernelStructure& structure) {
    const bool is_first = find(structure) != nullptr || wanted_.insert(key_).second;
    return is_first || KernelMaker::instance().request(key_, structure);
  }

  std::size_t waited_count() const { return waited_count_; }

 private:
  void take_made() {
    for (auto& [key, kernel] : KernelMaker::instance().take()) {
      kernels_.emplace(std::move(key), std::move(kernel));
    }
  }

  std::unordered_map<std::string, KernelPointer> kernels_;
  /// Keys of the kernels that evaluations have done without.
  std::unordered_set<std::string> wanted_;
  std::size_t waited_count_ = 0;
  std::string key_;
};

}  // namespace

const runtime::ShaderKernel& generated_kernel(const KernelStructure& structure) {
  return KernelCache::instance().make(structure);
}

const runtime::ShaderKernel* find_kernel(const KernelStructure& structure) {
  return KernelCache::instance().find(structure);
}

void request_kernel(const KernelStructure& structure) {
  KernelCache::instance().request(structure);
}

bool want_kernel(const KernelStructure& structure) {
  return KernelCache::instance().want(structure);
}

std::size_t waited_kernel_count() {
  return KernelCache::instance().waited_count();
}

}  // namespace pewter::fusion
