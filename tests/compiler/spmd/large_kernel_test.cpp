#include "pewter/compiler/compiler.h"
#include "pewter/metal/executor/elf_object.h"
#include "tests/compiler/spmd/shared_code.h"

// Kernels whose loops are unrolled into blocks of tens of thousands of instructions. LLVM takes
// minutes for one that is not divided, and the compiler's limit of processor time is one.

namespace pewter {
namespace {

using test::Gpu;
using test::size;

constexpr unsigned kCount = 256;

}  // namespace

TEST_CASE("threads of a kernel in one large block copy their own elements") {
  // Loads and stores in turn, so that neighbours cannot be loaded together.
  const std::string source = "#include <metal_stdlib>\nusing namespace metal;\n#define COUNT " +
                             std::to_string(kCount) + R"(
    kernel void f(device const ushort* in [[buffer(0)]], device ushort* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      in += i * COUNT;
      out += i * COUNT;
    #pragma clang loop unroll(full)
      for (uint k = 0; k < COUNT; ++k) {
        out[k] = in[k ^ 1] + ushort(k);
      }
    })";
  constexpr unsigned kThreads = 70;
  std::vector<std::uint16_t> in(kThreads * kCount);
  std::vector<std::uint16_t> wanted(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<std::uint16_t>(i * 7);
    wanted[i ^ 1] = static_cast<std::uint16_t>(in[i] + (i ^ 1) % kCount);
  }
  std::vector<std::uint16_t> out(in.size());

  const Gpu gpu;
  gpu.run(source, "f", {.grid = size(kThreads), .group = size(64)}, in, out);

  CHECK(out == wanted);
}

#if defined(__x86_64__)
TEST_CASE("a function sets up a large stack before it computes anything") {
  // What is in r11 does not survive a large stack. A product of MLX lost the end of its loop over
  // threads to it and never ended.
  const std::string source = R"(#include <metal_stdlib>
    kernel void f(device uint* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      uint values[1024];
      for (uint k = 0; k < 1024; ++k) {
        values[k] = k * i;
      }
      uint place = x[i];
    #pragma clang loop unroll(full)
      for (uint k = 0; k < 100; ++k) {
        values[place % 1024] += k;
        place = place * 7 ^ values[(place + k) % 1024];
      }
      x[i] = place;
    })";
  const auto library = compiler::open_library(source, {});
  REQUIRE(library);
  compiler::KernelRequest request;
  request.kernel = "f";
  request.mode = compiler::ExecutionMode::Spmd;
  request.shape.kind = compiler::GroupShape::Kind::Linear;
  request.parts = compiler::GroupParts::Unlikely;

  const auto code = (*library)->compile(request);
  REQUIRE(code);
  const auto object = executor::ElfObject::parse((*code)->object);
  REQUIRE(object);

  const auto entry =
      std::find_if(object->symbols().begin(), object->symbols().end(),
                   [&](const auto& symbol) { return symbol.name == (*code)->entry; });
  REQUIRE(entry != object->symbols().end());
  constexpr std::byte kPushRbp{0x55};
  CHECK((*code)->stack_bytes > 8 * 4096);
  CHECK(object->sections()[entry->section].content[entry->value] == kPushRbp);
}
#endif

}  // namespace pewter
