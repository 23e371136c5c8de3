// Writes the files that the fuzzers start from, made as the product makes them.
//
// usage: fuzz_seed_writer FOLDER FILE.metal...

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "pewter/base/hash.h"
#include "pewter/compiler/artifact.h"
#include "pewter/compiler/compiler.h"
#include "pewter/compiler/disk_cache.h"
#include "tests/fuzz/input/fuzzer.h"

namespace {

using namespace pewter;
namespace fs = std::filesystem;

constexpr std::size_t kMaxKernels = 2;
/// So that a file of many units is not too long to start from.
constexpr std::size_t kMaxLinkedText = 4000;

class SeedWriter {
 public:
  explicit SeedWriter(const fs::path& folder)
      : libraries_(folder / "library_file"), codes_(folder / "code_file") {
    fs::create_directories(libraries_);
    fs::create_directories(codes_);
  }

  void add(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    const std::string source((std::istreambuf_iterator<char>(stream)), {});
    compiler::LibraryOptions options;
    options.source_folder = path.parent_path().string();
    std::vector<std::string> dependencies;
    auto unit = compiler::build_unit(source, options, dependencies);
    const auto library = compiler::open_library(source, options);
    if (!unit || !library) {
      return;
    }
    const std::string stem = path.stem().string();
    write(codes_ / (stem + ".info"), compiler::serialise((*library)->info()));
    unit->sources = {{path.filename().string(), source}};
    units_.push_back(std::move(*unit));
    write(libraries_ / (stem + ".air"),
          compiler::write_library_file(compiler::LibraryFileKind::Object, {units_.back()}));
    add_codes(**library, stem);
  }

  void finish() {
    std::erase_if(units_, [](const auto& unit) { return unit.text.size() > kMaxLinkedText; });
    write(libraries_ / "small.metallib",
          compiler::write_library_file(compiler::LibraryFileKind::Library, units_));
    (void)archive_->write((codes_ / "all.archive").string());
  }

 private:
  static void write(const fs::path& path, const std::vector<std::byte>& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

  void add_codes(compiler::Library& library, const std::string& stem) {
    const auto& kernels = library.info().kernels;
    for (std::size_t number = 0; number < std::min(kernels.size(), kMaxKernels); ++number) {
      const auto own = compiler::new_archive();
      compiler::KernelRequest request;
      request.kernel = kernels[number].name;
      request.record = own;
      const auto code = library.compile(request);
      if (!code) {
        continue;
      }
      const std::string name = stem + std::to_string(number);
      (void)own->write((codes_ / (name + ".archive")).string());
      archive_->add(Hasher().add(name).digest(), *code);
      const auto bytes = compiler::serialise(**code);
      write(codes_ / (name + ".code"), bytes);
      write(codes_ / (name + ".o"), (*code)->object);
      add_cache_entry(name, bytes);
    }
  }

  void add_cache_entry(const std::string& name, const std::vector<std::byte>& bytes) {
    const fs::path folder = codes_ / "cache";
    compiler::DiskCache cache(folder, std::uint64_t{1} << 30);
    cache.store(Hasher().add(name).digest(), bytes);
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) {
        fs::rename(entry.path(), codes_ / (name + ".entry"));
        break;
      }
    }
    fs::remove_all(folder);
  }

  const fs::path libraries_;
  const fs::path codes_;
  std::vector<compiler::LibraryUnit> units_;
  std::shared_ptr<compiler::CodeArchive> archive_ = compiler::new_archive();
};

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 3) {
    std::fprintf(stderr, "usage: fuzz_seed_writer FOLDER FILE.metal...\n");
    return 2;
  }
  fuzz::prepare_environment();
  SeedWriter writer(arguments[1]);
  for (int number = 2; number < argument_count; ++number) {
    writer.add(arguments[number]);
  }
  writer.finish();
  return 0;
}
