#include "pewter/compiler/backend_loader.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>
#include <mutex>
#include <vector>

#include "pewter/base/environment.h"

namespace pewter::compiler {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraryName = "libpewter-compiler.so";

std::vector<fs::path> candidate_folders() {
  std::vector<fs::path> folders;
  Dl_info self = {};
  if (::dladdr(reinterpret_cast<const void*>(&find_backend), &self) != 0 &&
      self.dli_fname != nullptr) {
    std::error_code code;
    const fs::path folder = fs::canonical(self.dli_fname, code).parent_path();
    folders.push_back(folder);
    folders.push_back(folder / ".." / "lib");
  }
  return folders;
}

std::string stamp(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    return "missing";
  }
  return fmt::format("{}.{}.{}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

}  // namespace

Result<BackendFiles> find_backend() {
  std::vector<fs::path> libraries;
  if (const auto chosen = environment::text("PEWTER_COMPILER")) {
    libraries.emplace_back(*chosen);
  } else {
    for (const fs::path& folder : candidate_folders()) {
      libraries.push_back(folder / kLibraryName);
    }
  }
  std::string tried;
  for (const fs::path& library : libraries) {
    std::error_code code;
    if (fs::exists(library, code)) {
      return BackendFiles{library.string(), library.parent_path() / "pewter" / "prelude.pch"};
    }
    tried += (tried.empty() ? "" : ", ") + library.string();
  }
  return failure("the compiler is not there, tried " + tried +
                 "; set PEWTER_COMPILER to the path of " + kLibraryName);
}

Result<Backend*> load_backend() {
  static std::mutex mutex;
  static Backend* loaded = nullptr;
  std::scoped_lock lock(mutex);
  if (loaded != nullptr) {
    return loaded;
  }
  auto files = find_backend();
  if (!files) {
    return std::move(files).error();
  }
  void* handle = ::dlopen(files->library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    return failure(fmt::format("cannot open the compiler: {}", ::dlerror()));
  }
  const auto factory = reinterpret_cast<BackendFactory>(::dlsym(handle, kBackendSymbol));
  if (factory == nullptr) {
    return failure(fmt::format("{} is not a compiler of this version", files->library));
  }
  loaded = factory(files->prelude.c_str());
  return loaded;
}

const std::string& backend_identity() {
  // Never destroyed: destructors of static objects may run kernels.
  static const std::string& identity = *new std::string([] {
    const auto files = find_backend();
    return files ? stamp(files->library) + "/" + stamp(files->prelude) : std::string("none");
  }());
  return identity;
}

}  // namespace pewter::compiler
