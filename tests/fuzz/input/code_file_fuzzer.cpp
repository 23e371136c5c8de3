// Files of machine code: binary archives, entries of the disk cache and the objects in them. What
// is read may be mapped, and is never run.

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "pewter/compiler/artifact.h"
#include "pewter/compiler/compiler.h"
#include "pewter/compiler/disk_cache.h"
#include "pewter/metal/executor/loaded_kernel.h"
#include "tests/fuzz/input/checksums.h"
#include "tests/fuzz/input/fuzzer.h"

namespace {

using namespace pewter;
namespace fs = std::filesystem;

constexpr std::string_view kArchiveMagic = "PEWTERBA";
constexpr std::string_view kEntryMagic = "pewter01";
constexpr std::string_view kObjectMagic =
    "\x7f"
    "ELF";

bool starts_with(std::span<const std::uint8_t> bytes, std::string_view start) {
  return bytes.size() >= start.size() && std::memcmp(bytes.data(), start.data(), start.size()) == 0;
}

Digest digest_at(std::span<const std::uint8_t> bytes, std::size_t offset) {
  Digest digest;
  std::memcpy(&digest.high, bytes.data() + offset, sizeof digest.high);
  std::memcpy(&digest.low, bytes.data() + offset + sizeof digest.high, sizeof digest.low);
  return digest;
}

void load_object(std::span<const std::byte> object, const std::string& entry) {
  const auto loaded = executor::LoadedKernel::load(object, entry, {});
  fuzz::require(loaded.ok() || !loaded.error().message.empty(), "a refusal without a reason");
}

void use_code(const compiler::KernelCode& code) {
  const auto bytes = compiler::serialise(code);
  const auto again = compiler::parse_kernel_code(bytes);
  fuzz::require(again && compiler::serialise(*again) == bytes,
                "code is not read as it was written");
  load_object(code.object, code.entry);
}

void try_archive(std::span<const std::uint8_t> input) {
  constexpr std::size_t kHeaderBytes = 72;
  constexpr std::size_t kEntryBytes = 48;
  const auto archive = compiler::open_archive(fuzz::file_with(input));
  if (!archive) {
    fuzz::require(!archive.error().message.empty(), "a refusal without a reason");
    return;
  }
  for (std::size_t at = kHeaderBytes; at + kEntryBytes <= input.size(); at += kEntryBytes) {
    const auto code = (*archive)->find(digest_at(input, at));
    if (code && *code != nullptr) {
      use_code(**code);
    }
  }
}

void try_cache_entry(std::span<const std::uint8_t> input) {
  static const fs::path folder =
      fs::temp_directory_path() / ("pewter-fuzz-" + std::to_string(::getpid()));
  static compiler::DiskCache cache(folder, std::uint64_t{1} << 30);
  if (input.size() < kEntryMagic.size() + sizeof(Digest)) {
    return;
  }
  const Digest key = digest_at(input, kEntryMagic.size());
  const std::string name = key.hex();
  const fs::path path = folder / name.substr(0, 2) / (name.substr(2) + ".pewter");
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
  const auto bytes = cache.load(key);
  fs::remove_all(folder);
  if (!bytes) {
    return;
  }
  if (const auto code = compiler::parse_kernel_code(*bytes)) {
    use_code(*code);
  }
  if (const auto info = compiler::parse_library_info(*bytes)) {
    fuzz::require(compiler::parse_library_info(compiler::serialise(*info)).has_value(),
                  "a library's facts are not read as they were written");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> input(data, size);
  if (starts_with(input, kArchiveMagic)) {
    try_archive(input);
  } else if (starts_with(input, kEntryMagic)) {
    try_cache_entry(input);
  } else if (starts_with(input, kObjectMagic)) {
    load_object(std::as_bytes(input), "pewter_entry");
  } else {
    (void)compiler::parse_library_info(std::as_bytes(input));
    (void)compiler::parse_sources(std::as_bytes(input));
    (void)compiler::parse_facts(std::as_bytes(input));
    if (const auto code = compiler::parse_kernel_code(std::as_bytes(input))) {
      use_code(*code);
    }
  }
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                    std::size_t size,
                                    std::size_t max_size,
                                    unsigned seed) {
  const std::size_t changed = LLVMFuzzerMutate(data, size, max_size);
  const std::span<std::uint8_t> file(data, changed);
  if (seed % 8 != 0) {
    if (starts_with(file, kArchiveMagic)) {
      fuzz::repair_archive(file);
    } else if (starts_with(file, kEntryMagic)) {
      fuzz::repair_cache_entry(file);
    }
  }
  return changed;
}
