// Compiler input: any text is compiled or refused, and a kernel that is known can be asked for.

#include <algorithm>
#include <string>
#include <string_view>

#include "pewter/base/hash.h"
#include "pewter/compiler/compiler.h"
#include "tests/fuzz/input/fuzzer.h"
#include "tests/fuzz/input/token_mutator.h"

namespace {

using namespace pewter;

/// Texts have dozens of kernels; which of them are compiled depends on the text.
constexpr std::size_t kMaxKernels = 2;

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process when a failure says nothing.
void check(const compiler::CompileFailure& failure, std::span<const std::uint8_t> input) {
  fuzz::require(!failure.diagnostics.empty() && !failure.text().empty(),
                "a failure without a diagnostic");
  for (const compiler::Diagnostic& diagnostic : failure.diagnostics) {
    if (diagnostic.text.find("internal compiler error") != std::string::npos ||
        diagnostic.text.find("PEWTER_COMPILE_TIMEOUT_MS") != std::string::npos) {
      fuzz::keep_finding(input, diagnostic.text);
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> input(data, size);
  const std::string source(text_of(data, size));
  const std::uint64_t choice = Hasher().add(source).digest().low;
  compiler::LibraryOptions options;
  options.math_mode = static_cast<compiler::MathMode>(choice % 3);
  options.enable_logging = choice / 3 % 2 == 0;
  const auto library = compiler::open_library(source, options);
  if (!library) {
    check(library.error(), input);
    return 0;
  }
  const auto& kernels = (*library)->info().kernels;
  for (std::size_t count = 0; count < std::min(kernels.size(), kMaxKernels); ++count) {
    const compiler::KernelInfo& kernel = kernels[(choice / 8 + count) % kernels.size()];
    compiler::KernelRequest request;
    request.kernel = kernel.name;
    request.mode =
        choice / 64 % 4 == 0 ? compiler::ExecutionMode::Scalar : compiler::ExecutionMode::Spmd;
    if (choice / 256 % 2 == 0) {
      for (const compiler::FunctionConstant& constant : (*library)->info().constants) {
        request.constants[constant.index] = compiler::ConstantBytes(4, std::byte{1});
      }
    }
    if (kernel.kind == compiler::FunctionKind::Visible) {
      if (const auto body = (*library)->body(kernel.name, {}); !body) {
        check(body.error(), input);
      }
    } else if (const auto code = (*library)->compile(request); !code) {
      check(code.error(), input);
    }
  }
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                    std::size_t size,
                                    std::size_t max_size,
                                    unsigned seed) {
  if (seed % 16 == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  return fuzz::put(fuzz::mutate_tokens(std::string(text_of(data, size)), seed), data, max_size);
}

std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* left,
                                      std::size_t left_size,
                                      const std::uint8_t* right,
                                      std::size_t right_size,
                                      std::uint8_t* out,
                                      std::size_t max_out_size,
                                      unsigned seed) {
  return fuzz::put(fuzz::splice_tokens(text_of(left, left_size), text_of(right, right_size), seed),
                   out, max_out_size);
}
