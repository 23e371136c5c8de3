#include "pewter/array/ops/kernel_source.h"

#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace pewter::ops {
namespace {

/// What has been compiled so far.
struct Compiled {
  std::mutex mutex;  // guards the members below
  std::map<std::string, std::shared_ptr<runtime::ShaderLibrary>> libraries;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const runtime::ShaderKernel>>
      kernels;

  static Compiled& instance() {
    // Never destroyed: arrays may be computed by destructors of static objects.
    static auto* const instance = new Compiled;
    return *instance;
  }
};

}  // namespace

std::string_view kernel_source(std::string_view file) {
  for (const EmbeddedFile* entry = kKernelFiles; entry->name != nullptr; ++entry) {
    if (file == entry->name) {
      return {entry->bytes, entry->size};
    }
  }
  throw std::logic_error("no kernel file named " + std::string(file));
}

std::shared_ptr<const runtime::ShaderKernel> shipped_kernel(const char* file,
                                                            const std::string& name) {
  Compiled& compiled = Compiled::instance();
  const std::scoped_lock lock(compiled.mutex);
  auto& kernel = compiled.kernels[{file, name}];
  if (!kernel) {
    auto& library = compiled.libraries[file];
    if (!library) {
      library = runtime::ShaderLibrary::compile(kernel_source(file), runtime::MathMode::Safe);
    }
    kernel = library->kernel(name);
  }
  return kernel;
}

}  // namespace pewter::ops
