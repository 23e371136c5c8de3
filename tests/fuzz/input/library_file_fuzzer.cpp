// Library files: whatever the bytes, they are opened or refused with a reason, and what was opened
// can be read and its kernels asked for.

#include <string>

#include "pewter/base/hash.h"
#include "pewter/compiler/compiler.h"
#include "tests/fuzz/input/checksums.h"
#include "tests/fuzz/input/fuzzer.h"

namespace {

using namespace pewter;

/// Of as many files, one has a kernel compiled: that takes longer than the rest together.
constexpr std::uint64_t kCompileEvery = 32;

void read_whole(std::span<const std::uint8_t> input) {
  const auto contents = compiler::read_library_file(fuzz::file_with(input));
  if (!contents) {
    fuzz::require(!contents.error().message.empty(), "a refusal without a reason");
    return;
  }
  const auto again = compiler::write_library_file(contents->kind, contents->units);
  fuzz::require(compiler::open_library_data(again).ok(),
                "what was read cannot be written and opened");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> input(data, size);
  read_whole(input);
  const auto library = compiler::open_library_data(std::as_bytes(input));
  if (!library) {
    fuzz::require(!library.error().message.empty(), "a refusal without a reason");
    return 0;
  }
  const std::uint64_t choice = digest_of(std::as_bytes(input)).low;
  const auto& kernels = (*library)->info().kernels;
  for (const compiler::KernelInfo& kernel : kernels) {
    fuzz::require((*library)->info().find(kernel.name) != nullptr,
                  "a kernel is not found by its name");
    (void)(*library)->identity(kernel.name);
  }
  if (choice % kCompileEvery == 0 && !kernels.empty()) {
    compiler::KernelRequest request;
    request.kernel = kernels[choice / kCompileEvery % kernels.size()].name;
    const auto code = (*library)->compile(request);
    fuzz::require(code.ok() || !code.error().text().empty(), "a failure without a reason");
  }
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                    std::size_t size,
                                    std::size_t max_size,
                                    unsigned seed) {
  const std::size_t changed = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 8 != 0) {
    fuzz::repair_library_file({data, changed});
  }
  return changed;
}
