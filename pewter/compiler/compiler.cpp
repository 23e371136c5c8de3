#include "pewter/compiler/compiler.h"

#include <algorithm>
#include <span>

#include "pewter/base/cpu.h"
#include "pewter/base/environment.h"
#include "pewter/compiler/backend_loader.h"
#include "pewter/compiler/cached_library.h"
#include "pewter/compiler/disk_cache.h"
#include "pewter/compiler/library_file.h"
#include "pewter/compiler/linked_library.h"
#include "pewter/compiler/plain_failure.h"

namespace pewter::compiler {
namespace {

Result<std::shared_ptr<Library>> open_file(std::shared_ptr<const FileBytes> bytes,
                                           const std::string& name) {
  auto file = LibraryFile::open(std::move(bytes), name);
  if (!file) {
    return file.error();
  }
  std::vector<std::shared_ptr<Library>> units;
  for (std::size_t unit = 0; unit < file->unit_count(); ++unit) {
    auto facts = file->facts(unit);
    if (!facts) {
      return facts.error();
    }
    units.push_back(std::make_shared<CachedLibrary>(*file, unit, std::move(*facts)));
  }
  if (units.size() == 1) {
    return std::move(units.front());
  }
  return std::shared_ptr<Library>(std::make_shared<LinkedLibrary>(std::move(units)));
}

}  // namespace

std::string CompileFailure::text() const {
  std::string joined;
  for (const Diagnostic& diagnostic : diagnostics) {
    joined += diagnostic.rendered;
  }
  return joined;
}

const KernelInfo* LibraryInfo::find(const std::string& name) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const KernelInfo& kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

Result<std::shared_ptr<Library>, CompileFailure> open_library(const std::string& source,
                                                              const LibraryOptions& options) {
  auto library = std::make_shared<CachedLibrary>(source, options);
  if (auto opened = library->open(); !opened) {
    return std::move(opened).error();
  }
  return std::shared_ptr<Library>(std::move(library));
}

Result<PreprocessedText, CompileFailure> preprocess(const std::string& source,
                                                    const LibraryOptions& options) {
  auto backend = load_backend();
  if (!backend) {
    return plain_failure(backend.error().message);
  }
  return (*backend)->preprocess(source, options);
}

Result<LibraryUnit, CompileFailure> build_unit(const std::string& source,
                                               const LibraryOptions& options,
                                               std::vector<std::string>& dependencies) {
  auto preprocessed = preprocess(source, options);
  if (!preprocessed) {
    return std::move(preprocessed).error();
  }
  dependencies = std::move(preprocessed->dependencies);
  LibraryUnit unit;
  unit.text = std::move(preprocessed->text);
  // What is left for those who compile the text: its macros and includes are in it.
  unit.options.language_version = options.language_version;
  unit.options.math_mode = options.math_mode;
  unit.options.math_functions = options.math_functions;
  unit.options.enable_logging = options.enable_logging;
  unit.options.source_name = options.source_name;
  auto backend = load_backend();
  if (!backend) {
    return plain_failure(backend.error().message);
  }
  auto parsed = (*backend)->parse(unit.text, unit.options);
  if (!parsed) {
    return std::move(parsed).error();
  }
  unit.info = (*parsed)->info();
  return unit;
}

Result<LibraryFileContents> read_library_file(const std::string& path) {
  auto bytes = FileBytes::map(path);
  if (!bytes) {
    return bytes.error();
  }
  auto file = LibraryFile::open(*bytes, path);
  if (!file) {
    return file.error();
  }
  LibraryFileContents contents;
  contents.kind = file->kind();
  for (std::size_t number = 0; number < file->unit_count(); ++number) {
    auto unit = file->facts(number);
    auto text = file->text(number);
    auto sources = file->sources(number);
    if (!unit || !text || !sources) {
      return !unit ? unit.error() : !text ? text.error() : sources.error();
    }
    unit->text = std::move(*text);
    unit->sources = std::move(*sources);
    contents.units.push_back(std::move(*unit));
  }
  return contents;
}

Result<std::shared_ptr<Library>> open_library_file(const std::string& path) {
  auto bytes = FileBytes::map(path);
  if (!bytes) {
    return bytes.error();
  }
  return open_file(*bytes, path);
}

Result<std::shared_ptr<Library>> open_library_data(std::span<const std::byte> bytes) {
  return open_file(FileBytes::copy(bytes), "library data");
}

CacheStatus cache_status() {
  const DiskCache& cache = DiskCache::shared();
  const DiskCache::Usage usage = cache.usage();
  CacheStatus status;
  status.directory = cache.directory().string();
  status.enabled = cache.enabled();
  status.bytes = usage.bytes;
  status.entries = usage.entries;
  status.limit_bytes = cache.limit_bytes();
  return status;
}

Result<std::uint64_t> clear_cache() {
  return DiskCache::shared().clear();
}

std::string llvm_version() {
  return PEWTER_LLVM_VERSION;
}

std::string target_cpu() {
  // Never destroyed: destructors of static objects may run kernels.
  static const std::string& target =
      *new std::string(environment::text("PEWTER_TARGET").value_or(cpu::level()));
  return target;
}

}  // namespace pewter::compiler
