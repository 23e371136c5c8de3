#include <string>
#include <vector>

#include "pewter/compiler/compiler.h"
#include "tests/support/gpu.h"

namespace pewter {
namespace {

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// The warnings of a text that compiles, as `line:column: text`.
std::vector<std::string> warnings_of(const std::string& source,
                                     const compiler::LibraryOptions& options = {}) {
  const auto library = compiler::open_library(source, options);
  REQUIRE_MESSAGE(library.ok(), (library.ok() ? "" : library.error().text()));
  std::vector<std::string> lines;
  for (const compiler::Diagnostic& diagnostic : (*library)->info().warnings) {
    CHECK(diagnostic.severity == compiler::Severity::Warning);
    CHECK(diagnostic.file == "program_source");
    lines.push_back(std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column) +
                    ": " + diagnostic.text);
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("an unused variable is warned of at its place") {
  CHECK(warnings_of(kHead + "kernel void f(device float* x) {\n  float y = x[0];\n}\n") ==
        Lines{"4:9: unused variable 'y'"});
}

TEST_CASE("an unused constant is warned of, a function constant and a helper are not") {
  CHECK(warnings_of(kHead + "constant int a = 3;\nconstant bool b [[function_constant(0)]];\n"
                            "float helper(float x) { return x; }\n"
                            "kernel void f(device float* x) { x[0] = 1; }\n") ==
        Lines{"3:14: unused variable 'a'"});
}

TEST_CASE("expressions without effect, missing returns and suspicious conditions are warned of") {
  CHECK(warnings_of(kHead + "int g(int a) { if (a > 0) return 1; }\n"
                            "kernel void f(device int* x) {\n"
                            "  x[0] == 1;\n  if (x[1] = 2) x[2] = g(3);\n}\n") ==
        Lines{"3:37: non-void function does not return a value in all control paths",
              "5:8: equality comparison result unused",
              "6:12: using the result of an assignment as a condition without parentheses"});
}

TEST_CASE("ordinary kernels are compiled without a warning") {
  CHECK(warnings_of(
            kHead +
            "#pragma METAL internals : enable\n"
            "#define METAL_FUNC inline\n"
            "constant float table[4] = {1, 2, 3, 4};\n"
            "float read(constant const float* p, const constant float* q) { return *p + *q; }\n"
            "template <typename T> T twice(T x) { return x + x; }\n"
            "template <typename T> kernel void f(device T* x [[buffer(0)]],\n"
            "    threadgroup T* t [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {\n"
            "  threadgroup T shared[32];\n  shared[i % 32] = x[i];\n"
            "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
            "  t[i] = twice(shared[0]) + T(table[i & 3]) + T(float4(1).xy.x);\n"
            "  x[i] = simd_sum(t[i]);\n}\n"
            "template [[host_name(\"f_float\")]] [[kernel]] decltype(f<float>) f<float>;\n"
            "template [[host_name(\"f_half\")]] [[kernel]] decltype(f<half>) f<half>;\n") ==
        Lines{});
}

TEST_CASE("warnings come with the library, in the error that Metal gives") {
  const test::Gpu gpu;
  NS::Error* error = nullptr;

  const auto library = NS::TransferPtr(gpu.device()->newLibrary(
      test::string("kernel void f(device float* x) {\n  float y = x[0];\n}\n"), nullptr, &error));

  CHECK(library);
  REQUIRE(error != nullptr);
  CHECK(error->code() == MTL::LibraryErrorCompileWarning);
  CHECK(test::text(error) ==
        "program_source:2:9: warning: unused variable 'y' [-Wunused-variable]\n"
        "    2 |   float y = x[0];\n"
        "      |         ^\n");
}

TEST_CASE("a library from the cache has the warnings that its text has") {
  const std::string source =
      kHead + "kernel void f(device float* x) {\n  int unused_once = 1;\n}\n";
  const Lines first = warnings_of(source);

  CHECK(first.size() == 1);
  CHECK(warnings_of(source) == first);
}

}  // namespace pewter
