#include <doctest/doctest.h>
#include <fmt/core.h>

#include <map>
#include <string>

#include "tests/support/temporary_directory.h"
#include "tests/tools/tool.h"

// Code for processors that this machine need not have: what the vectoriser makes is looked at as
// text, and the code generator has to accept it.

namespace pewter::test {
namespace {

constexpr const char* kSource = R"(#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x, device const float* y, device float* z,
                  uint i [[thread_position_in_grid]]) {
  if (i < 1000) {
    z[i] = 2 * x[i] + y[i];
  }
}

kernel void doubled(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  __builtin_nontemporal_store(x[i] * 2, y + i);
}

kernel void total(device const half* x, device float* y, device atomic_uint* count,
                  uint lane [[thread_index_in_simdgroup]], uint i [[thread_position_in_grid]]) {
  threadgroup float parts[32];
  parts[lane] = simd_sum(float(x[i * 3])) + exp(y[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = parts[31 - lane];
  atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
}

kernel void weighted(device const float* x, device float* y, device const char* weights,
                     uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint j = 0; j < 16; ++j) {
    sum += x[i * 16 + j] * weights[i * 16 + j];
  }
  y[i] = sum;
}

kernel void product(device const float* a, device const float* b, device float* c) {
  simdgroup_float8x8 x, y, z = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (uint k = 0; k < 4; ++k) {
    simdgroup_load(x, a + k * 8, 32);
    simdgroup_load(y, b + k * 64, 8);
    simdgroup_multiply_accumulate(z, x, y, z);
  }
  simdgroup_store(z, c, 8);
}
)";

ProcessResult compiled_for(const std::string& target, const std::string& kernel) {
  const TemporaryDirectory directory;
  return pewter_command(
      {"run", directory.write("k.metal", kSource), "--kernel", kernel, "--grid", "64", "--group",
       "32", "--buffer", "0=zeros:f32:1024", "--buffer", "1=zeros:f32:1024", "--buffer",
       "2=zeros:f32:1024"},
      {{"PEWTER_TARGET", target}, {"PEWTER_LOG", "ir,spmd"}, {"PEWTER_CACHE", "off"}});
}

TEST_CASE("kernels compile for AArch64 as programs of vectors, and are not loaded here") {
  for (const std::string kernel : {"saxpy", "doubled", "total", "weighted", "product"}) {
    CAPTURE(kernel);
    const ProcessResult result = compiled_for("aarch64-linux-gnu:neoverse-n1", kernel);

    CHECK(result.code == 1);
    CHECK(contains(result.errors, "target triple = \"aarch64-linux-gnu\""));
    CHECK(contains(result.errors, "\"target-cpu\"=\"neoverse-n1\""));
    CHECK(!contains(result.errors, "not a recognized processor"));
    CHECK(contains(result.errors, "threads at a time"));
    CHECK(contains(result.errors, "<8 x float>"));
    // The object exists, for a machine that this one is not.
    CHECK(contains(result.errors, "object for ELF machine 183 cannot be loaded"));
  }
}

TEST_CASE("streaming stores write whole cache lines, or whole vectors") {
  CHECK(contains(compiled_for("x86-64-v4", "doubled").errors, "align 64, !nontemporal"));
  CHECK(contains(compiled_for("x86-64-v3", "doubled").errors, "align 32, !nontemporal"));
}

TEST_CASE("threads that add up rows of their own load them as whole vectors") {
  for (const std::string target : {"x86-64-v3", "x86-64-v4"}) {
    const ProcessResult result = compiled_for(target, "weighted");

    CHECK(contains(result.errors, "load <16 x i8>, ptr"));
    CHECK(contains(result.errors, "load <16 x float>, ptr"));
  }
}

/// What a kernel that stores in some lanes becomes for a processor, as text.
std::string compiled_store(const std::string& target, const std::string& body) {
  const TemporaryDirectory directory;
  const std::string source = R"(#include <metal_stdlib>
using namespace metal;

kernel void f(device uint* x, uint i [[thread_position_in_grid]]) {
)" + body + "\n}\n";
  const ProcessResult result =
      pewter_command({"run", directory.write("k.metal", source), "--grid", "64", "--group", "64",
                      "--buffer", "0=zeros:u32:256"},
                     {{"PEWTER_TARGET", target}, {"PEWTER_LOG", "ir"}, {"PEWTER_CACHE", "off"}});
  const std::size_t entry = result.errors.rfind("define void @pewter_entry");
  REQUIRE(entry != std::string::npos);
  return result.errors.substr(entry);
}

TEST_CASE("threads write back what they have read where masked stores are slow") {
  const std::string own = "const uint a = x[i]; if (a > 7) x[i] = a * 3;";

  CHECK(!contains(compiled_store("x86-64-v3", own), "call void @llvm.masked.store"));
  CHECK(contains(compiled_store("x86-64-v4", own), "call void @llvm.masked.store"));
}

TEST_CASE("threads write back nothing that another one may have written") {
  for (const std::string body : {
           // What nobody has read.
           "if (x[i + 64] > 7) x[i] = i;",
           // Read before threads learn of each other's writes.
           "const uint a = x[i]; threadgroup_barrier(mem_flags::mem_device); if (a > 7) x[i] = i;",
           // Also written at places that the data gives.
           "const uint a = x[i]; x[a & 31] = i; if (a > 7) x[i] = i;",
           // Read by other threads than those that store with it.
           "if (i % 3 == 0) { const uint a = x[i]; if (a > 7) x[i] = i; }",
       }) {
    CAPTURE(body);
    CHECK(contains(compiled_store("x86-64-v3", body), "call void @llvm.masked.store"));
  }
}

TEST_CASE("elements a few places apart are loaded in whole vectors and sorted out in registers") {
  for (const std::string target : {"x86-64-v3", "x86-64-v4"}) {
    for (const int stride : {2, 3, 4}) {
      CAPTURE(target);
      CAPTURE(stride);
      const std::string code = compiled_store(target, fmt::format("x[i] = x[i * {}];", stride));

      CHECK(contains(code, "shufflevector"));
      CHECK(contains(code, target == "x86-64-v3" ? "load <8 x i32>" : "load <16 x i32>"));
      CHECK(!contains(code, "insertelement"));
    }
  }
}

TEST_CASE("threads that add to one place add up first and touch it once") {
  const std::string add =
      "atomic_fetch_add_explicit((device atomic_uint*)x, x[i + 64], memory_order_relaxed);";
  for (const std::string& body : {add, "if ((x[i + 64] & 1) != 0) " + add}) {
    CAPTURE(body);
    const std::string code = compiled_store("x86-64-v3", body);

    const std::size_t first = code.find("atomicrmw add");
    REQUIRE(first != std::string::npos);
    CHECK(code.find("atomicrmw", first + 1) == std::string::npos);
  }
}

TEST_CASE("processors with AVX-512 get vectors of sixteen lanes, and rows of eight for matrices") {
  for (const std::string kernel : {"saxpy", "total", "product"}) {
    CAPTURE(kernel);
    const ProcessResult result = compiled_for("x86-64-v4", kernel);

    const bool has_rows = kernel == "product";
    CHECK(contains(result.errors, "threads at a time"));
    CHECK(contains(result.errors,
                   fmt::format("\"prefer-vector-width\"=\"{}\"", has_rows ? 256 : 512)));
    CHECK(contains(result.errors, has_rows ? "<8 x float>" : "<16 x float>"));
    // It runs where the processor has them; elsewhere its fault is reported.
    CHECK((result.code == 0 || contains(result.errors, "illegal instruction")));
  }
}

constexpr const char* kTiledProduct = R"(#include <metal_stdlib>
using namespace metal;

kernel void product(device const float* a, device const float* b, device float* c,
                    constant uint& n, uint2 position [[thread_position_in_grid]],
                    uint2 local_position [[thread_position_in_threadgroup]]) {
  threadgroup float a_tile[16][16];
  threadgroup float b_tile[16][16];
  const uint x = local_position.x;
  const uint y = local_position.y;
  float sum = 0;
  for (uint tile = 0; tile < n; tile += 16) {
    a_tile[y][x] = a[position.y * n + tile + x];
    b_tile[y][x] = b[(tile + y) * n + position.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 16; ++k) {
      sum += a_tile[y][k] * b_tile[k][x];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[position.y * n + position.x] = sum;
}
)";

/// What is printed while a tiled product is compiled, with an environment variable set or not.
std::string compiled_product(const std::map<std::string, std::string>& more) {
  const TemporaryDirectory directory;
  std::map<std::string, std::string> environment = {
      {"PEWTER_TARGET", "x86-64-v3"}, {"PEWTER_LOG", "ir"}, {"PEWTER_CACHE", "off"}};
  environment.insert(more.begin(), more.end());
  const ProcessResult result = pewter_command(
      {"run", directory.write("k.metal", kTiledProduct), "--kernel", "product", "--grid", "64x64",
       "--group", "16x16", "--buffer", "0=zeros:f32:4096", "--buffer", "1=zeros:f32:4096",
       "--buffer", "2=zeros:f32:4096", "--bytes", "3=uint:64"},
      environment);
  CHECK(result.code == 0);
  return result.errors;
}

TEST_CASE("sums of a tiled product are computed a few at a time, so that they stay in registers") {
  CHECK(contains(compiled_product({{"PEWTER_LANES", "256"}}), "!\"pewter.batch\""));
}

TEST_CASE("nothing but sums and positions waits with a thread at a barrier") {
  const std::string text = compiled_product({{"PEWTER_LANES", "32"}});

  const std::string resume = "@pewter.program.coroutine.resume(ptr noundef nonnull align 32 ";
  const std::size_t begin = text.rfind(resume + "dereferenceable(");
  REQUIRE(begin != std::string::npos);
  const int bytes = std::stoi(text.substr(text.find("able(", begin) + 5));
  // 128 of sums, and less than twice that of addresses.
  CHECK(bytes < 384);
}

TEST_CASE("a tree of sums stays in registers where a program is its whole group") {
  const TemporaryDirectory directory;
  const ProcessResult result = pewter_command(
      {"run", directory.write("k.metal", R"(#include <metal_stdlib>
using namespace metal;

kernel void tree(device const float* x, device float* out, uint i [[thread_position_in_grid]],
                 uint l [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
  threadgroup float partial[128];
  partial[l] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint offset = 64; offset > 0; offset /= 2) {
    if (l < offset) partial[l] += partial[l + offset];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (l == 0) out[g] = partial[0];
}
)"),
       "--grid", "1024", "--group", "128", "--buffer", "0=zeros:f32:1024", "--buffer",
       "1=zeros:f32:8"},
      {{"PEWTER_TARGET", "x86-64-v3"}, {"PEWTER_LOG", "ir"}, {"PEWTER_CACHE", "off"}});

  REQUIRE(result.code == 0);
  const std::size_t entry = result.errors.rfind("define void @pewter_entry");
  REQUIRE(entry != std::string::npos);
  const std::string code = result.errors.substr(entry);
  CHECK(contains(code, "fadd"));
  CHECK(!contains(code, "!pewter.threadgroup_memory"));
  CHECK(!contains(code, "alloca"));
}

TEST_CASE("indices of single lanes are taken out of vectors by words") {
  const TemporaryDirectory directory;
  const ProcessResult result = pewter_command(
      {"run", directory.write("k.metal", R"(#include <metal_stdlib>
using namespace metal;

kernel void count(device const uchar* in, device atomic_uint* out,
                  uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&out[in[i]], 1u, memory_order_relaxed);
}
)"),
       "--grid", "1024", "--buffer", "0=zeros:u8:1024", "--buffer", "1=zeros:u32:256"},
      {{"PEWTER_TARGET", "x86-64-v4"}, {"PEWTER_LOG", "ir"}, {"PEWTER_CACHE", "off"}});

  CHECK(contains(result.errors, "<16 x i8> asm \"\", \"=x,0\""));
  CHECK(contains(result.errors, "extractelement <2 x i64>"));
}

TEST_CASE("a library's own macros choose how its kernels run") {
  const TemporaryDirectory directory;
  const std::string source = directory.write("k.metal", kSource);
  const auto run = [&](const std::string& macro) {
    return pewter_command(
        {"run", source, "--kernel", "saxpy", "--grid", "64", "--buffer", "0=zeros:f32:64",
         "--buffer", "1=zeros:f32:64", "--buffer", "2=zeros:f32:64", "--define", macro},
        {{"PEWTER_LOG", "spmd"}, {"PEWTER_CACHE", "off"}});
  };

  CHECK(contains(run("PEWTER_MODE=scalar").errors, "runs one thread at a time"));
  CHECK(contains(run("PEWTER_MODE=spmd").errors, "threads at a time"));
  CHECK(contains(run("PEWTER_LANES=8").errors, "runs 8 threads at a time"));
  CHECK(contains(run("PEWTER_MODE=fast").errors,
                 "macro PEWTER_MODE is 'fast'; it may be scalar or spmd"));
  CHECK(contains(run("PEWTER_LANES=12").errors,
                 "macro PEWTER_LANES is '12'; it may be a power of two from 8 to 1024"));
}

TEST_CASE("a target that does not exist is an error that names it") {
  const ProcessResult result = compiled_for("nowhere-linux:best", "saxpy");

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "nowhere-linux"));
}

}  // namespace
}  // namespace pewter::test
