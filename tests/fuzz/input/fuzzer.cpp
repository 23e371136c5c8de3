#include "tests/fuzz/input/fuzzer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "pewter/base/environment.h"
#include "pewter/base/hash.h"

// LLVM's headers mark memory as poisoned that LLVM's libraries, built without the sanitizer, never
// mark as good. The compiler and the program around it have parts in common.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
const char* __asan_default_options() {
  return "allow_user_poisoning=0:detect_odr_violation=0:allocator_may_return_null=1";
}

int LLVMFuzzerInitialize(int*, char***) {
  pewter::fuzz::prepare_environment();
  return 0;
}

namespace pewter::fuzz {

void prepare_environment() {
  setenv("PEWTER_CACHE", "0", 1);
  setenv("PEWTER_COMPILE_TIMEOUT_MS", "4000", 0);
}

void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
  }
}

std::size_t put(const std::string& text, std::uint8_t* out, std::size_t max_size) {
  const std::size_t size = std::min(text.size(), max_size);
  std::memcpy(out, text.data(), size);
  return size;
}

void keep_finding(std::span<const std::uint8_t> input, const std::string& reason) {
  static const std::string folder = environment::text("PEWTER_FUZZ_FINDINGS").value_or("");
  if (folder.empty()) {
    return;
  }
  const std::filesystem::path stem =
      std::filesystem::path(folder) / Hasher().add(reason).digest().hex().substr(0, 12);
  std::error_code ignored;
  const auto known_size = std::filesystem::file_size(stem.string() + ".input", ignored);
  if (!ignored && known_size <= input.size()) {
    return;
  }
  std::filesystem::create_directories(folder, ignored);
  std::ofstream(stem.string() + ".input", std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
  std::ofstream(stem.string() + ".reason") << reason << "\n";
}

const std::string& file_with(std::span<const std::uint8_t> bytes) {
  static const int file = memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  require(ftruncate(file, 0) == 0 &&
              pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
          "the file in memory cannot be written");
  return path;
}

}  // namespace pewter::fuzz
