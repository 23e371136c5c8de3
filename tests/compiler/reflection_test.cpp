#include <string>

#include "pewter/compiler/compiler.h"
#include "tests/support/gpu.h"

namespace pewter {
namespace {

using compiler::Access;
using compiler::ParameterKind;
using compiler::ScalarType;

std::shared_ptr<compiler::Library> open(const std::string& text) {
  auto library =
      compiler::open_library("#include <metal_stdlib>\nusing namespace metal;\n" + text, {});
  REQUIRE_MESSAGE(library.ok(), library.error().text());
  return *library;
}

}  // namespace

TEST_CASE("a kernel's parameters are known without compiling its body") {
  const auto library = open(R"(
    struct Settings { float scale; float4 offset; };
    kernel void f(device const float* in [[buffer(2)]],
                  device half4* out [[buffer(0)]],
                  constant Settings& settings [[buffer(5)]],
                  threadgroup float* scratch [[threadgroup(1)]],
                  uint3 position [[thread_position_in_grid]]) {})");
  const compiler::KernelInfo* kernel = library->info().find("f");

  REQUIRE(kernel != nullptr);
  REQUIRE(kernel->parameters.size() == 5);
  const auto& in = kernel->parameters[0];
  CHECK(in.name == "in");
  CHECK(in.kind == ParameterKind::Buffer);
  CHECK(in.index == 2);
  CHECK(in.access == Access::ReadOnly);
  CHECK(in.type == compiler::ValueType{ScalarType::Float, 1, 1});
  CHECK(in.size == 4);
  CHECK(!in.is_reference);
  const auto& out = kernel->parameters[1];
  CHECK(out.access == Access::ReadWrite);
  CHECK(out.type == compiler::ValueType{ScalarType::Half, 1, 4});
  CHECK(out.size == 8);
  CHECK(out.alignment == 8);
  const auto& settings = kernel->parameters[2];
  CHECK(settings.is_reference);
  CHECK(settings.access == Access::ReadOnly);
  CHECK(settings.size == 32);
  CHECK(settings.alignment == 16);
  CHECK(settings.type_name == "Settings");
  const auto& scratch = kernel->parameters[3];
  CHECK(scratch.kind == ParameterKind::Threadgroup);
  CHECK(scratch.index == 1);
  const auto& position = kernel->parameters[4];
  CHECK(position.kind == ParameterKind::Builtin);
  CHECK(position.builtin == "thread_position_in_grid");
}

TEST_CASE("parameters without an index take the lowest free one") {
  const auto library =
      open("kernel void f(device int* a, device int* b [[buffer(0)]], device int* c) {}");
  const auto& parameters = library->info().find("f")->parameters;

  CHECK(parameters[0].index == 1);
  CHECK(parameters[1].index == 0);
  CHECK(parameters[2].index == 2);
}

TEST_CASE("instantiations are found by their host names and in source order") {
  const auto library = open(R"(
    template <typename T> kernel void f(device T* x [[buffer(0)]]) { x[0] = T(1); }
    template [[host_name("f_int")]] [[kernel]] decltype(f<int>) f<int>;
    template [[host_name("f_half")]] [[kernel]] decltype(f<half>) f<half>;
    [[kernel]] void plain(device int* x) {}
    namespace inner { kernel void nested(device int* x) {} })");
  const auto& kernels = library->info().kernels;

  REQUIRE(kernels.size() == 4);
  CHECK(kernels[0].name == "f_int");
  CHECK(kernels[1].name == "f_half");
  CHECK(kernels[2].name == "plain");
  CHECK(kernels[3].name == "nested");
}

TEST_CASE("function constants are listed with index and type") {
  const auto library = open(R"(
    constant bool flag [[function_constant(4)]];
    constant float3 tint [[function_constant(10)]];)");
  const auto& constants = library->info().constants;

  REQUIRE(constants.size() == 2);
  CHECK(constants[0].name == "flag");
  CHECK(constants[0].index == 4);
  CHECK(constants[0].type.scalar == ScalarType::Bool);
  CHECK(constants[1].type == compiler::ValueType{ScalarType::Float, 1, 3});
}

TEST_CASE("a kernel lists the function constants that it can reach") {
  const auto library = open(R"(
    constant int a [[function_constant(0)]];
    constant int b [[function_constant(1)]];
    constant bool c [[function_constant(2)]];
    constant int twice_b = b * 2;
    template <typename T> T helper(T x) { return x + twice_b; }
    kernel void none(device int* x) {}
    kernel void direct(device int* x) { x[0] = a; }
    kernel void through(device int* x) { x[0] = helper(x[0]); }
    kernel void parameter(device int* x, device int* y [[buffer(1), function_constant(c)]]) {}
    template <typename T> kernel void generic(device T* x) { x[0] = helper(T(a)); }
    template [[host_name("generic_int")]] [[kernel]] decltype(generic<int>) generic<int>;)");
  const auto constants = [&](const char* name) { return library->info().find(name)->constants; };
  using Indices = std::vector<std::uint32_t>;

  CHECK(constants("none") == Indices{});
  CHECK(constants("direct") == Indices{0});
  CHECK(constants("through") == Indices{1});
  CHECK(constants("parameter") == Indices{2});
  CHECK(constants("generic_int") == Indices{0, 1});
}

TEST_CASE("the thread limit of a kernel is read off its attribute") {
  const auto library = open(
      "[[max_total_threads_per_threadgroup(128)]] kernel void f(device int* x) {}\n"
      "[[kernel, max_total_threads_per_threadgroup(64)]] void g(device int* x) {}");

  CHECK(library->info().find("f")->max_total_threads == 128);
  CHECK(library->info().find("g")->max_total_threads == 64);
}

TEST_CASE("compiled code says what it needs of the executor") {
  const auto library = open(R"(
    kernel void plain(device int* x [[buffer(3)]], device int* unused [[buffer(4)]]) { x[0] = 1; }
    kernel void shared(device int* x, uint i [[thread_index_in_threadgroup]]) {
      threadgroup int t[64];
      t[i] = x[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      x[i] = t[63 - i];
    }
    kernel void together(device int* x, uint i [[thread_index_in_threadgroup]]) {
      x[i] = simd_sum(x[i]);
    })");

  const auto plain = library->compile({"plain", {}});
  REQUIRE(plain.ok());
  CHECK(!(*plain)->needs_fibers);
  CHECK((*plain)->required_buffers == 1U << 3);
  CHECK((*plain)->threadgroup_bytes == 0);
  const auto shared = library->compile({"shared", {}});
  REQUIRE(shared.ok());
  CHECK((*shared)->uses_barriers);
  CHECK(!(*shared)->uses_simdgroup);
  CHECK((*shared)->threadgroup_bytes == 256);
  const auto together = library->compile({"together", {}});
  REQUIRE(together.ok());
  CHECK((*together)->uses_simdgroup);
  for (const auto mode : {compiler::ExecutionMode::Scalar, compiler::ExecutionMode::Spmd}) {
    const auto code = library->compile({.kernel = "together", .constants = {}, .mode = mode});
    REQUIRE(code.ok());
    CHECK((*code)->explanation.mode == mode);
    CHECK((*code)->needs_fibers == (mode == compiler::ExecutionMode::Scalar));
    CHECK((*code)->runs_whole_groups == (mode == compiler::ExecutionMode::Spmd));
  }
}

}  // namespace pewter
