#include <string>
#include <vector>

#include "pewter/compiler/compiler.h"
#include "tests/support/gpu.h"

namespace pewter {
namespace {

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// The errors of a text that must not compile, as `line:column: text`.
std::vector<std::string> errors_of(const std::string& source) {
  const auto library = compiler::open_library(source, {});
  std::vector<std::string> lines;
  if (library) {
    return lines;
  }
  for (const compiler::Diagnostic& diagnostic : library.error().diagnostics) {
    CHECK(diagnostic.file == "program_source");
    lines.push_back(std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column) +
                    ": " + diagnostic.text);
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a misspelt type is reported at the user's own line and column") {
  const auto library = compiler::open_library("kernel void f(device flaot* x) {}", {});

  REQUIRE(!library.ok());
  CHECK(library.error().text() ==
        "program_source:1:22: error: unknown type name 'flaot'\n"
        "    1 | kernel void f(device flaot* x) {}\n"
        "      |                      ^\n");
}

TEST_CASE("every error of a text is reported, not just the first") {
  const Lines errors = errors_of(kHead +
                                 "kernel void f(device float* x [[buffer(0)]]) {\n"
                                 "  x[0] = first;\n"
                                 "  x[1] = second;\n"
                                 "}\n");

  CHECK(errors == Lines{"4:10: use of undeclared identifier 'first'",
                        "5:10: use of undeclared identifier 'second'"});
}

TEST_CASE("an unknown built-in function is an error, never a no-op") {
  CHECK(errors_of(kHead + "kernel void f(device float* x) { x[0] = sine(x[0]); }") ==
        Lines{"3:41: use of undeclared identifier 'sine'"});
}

TEST_CASE("an unknown attribute is an error at its place") {
  CHECK(errors_of(kHead + "kernel void f(device float* x [[bufer(0)]]) {}") ==
        Lines{"3:33: unknown attribute 'bufer'"});
}

TEST_CASE("an attribute of graphics is named as not supported") {
  CHECK(errors_of(kHead + "kernel void f(uint v [[vertex_id]]) {}").at(0) ==
        "3:24: attribute 'vertex_id' is not supported");
}

TEST_CASE("a fragment function is named as not supported") {
  CHECK(errors_of(kHead + "fragment void f() {}").at(0) ==
        "3:1: 'fragment' is not supported: pewter runs compute kernels only");
}

TEST_CASE("an attribute on the wrong kind of declaration is an error") {
  CHECK(errors_of(kHead + "constant int x [[buffer(1)]] = 3;").at(0) ==
        "3:18: attribute 'buffer' only applies to kernel parameters");
}

TEST_CASE("a buffer index past the limit names the limit") {
  CHECK(errors_of(kHead + "kernel void f(device float* x [[buffer(31)]]) {}") ==
        Lines{"3:33: index of 'buffer' must be a constant from 0 to 30"});
}

TEST_CASE("two parameters with one buffer index are an error") {
  CHECK(errors_of(kHead +
                  "kernel void f(device float* x [[buffer(1)]], device int* y [[buffer(1)]]) {}") ==
        Lines{"3:58: parameters 'x' and 'y' both use index 1"});
}

TEST_CASE("a built-in input of the wrong type is an error") {
  CHECK(errors_of(kHead + "kernel void f(float i [[thread_position_in_grid]]) {}") ==
        Lines{"3:21: 'thread_position_in_grid' must be ushort or uint, or a vector of 2 or 3 of "
              "them"});
  CHECK(errors_of(kHead + "kernel void f(uint2 i [[thread_index_in_simdgroup]]) {}") ==
        Lines{"3:21: 'thread_index_in_simdgroup' must be ushort or uint"});
}

TEST_CASE("a kernel parameter without address space or attribute is an error") {
  CHECK(errors_of(kHead + "kernel void f(float x) {}") ==
        Lines{"3:21: kernel parameter 'x' must be a pointer or reference to device, constant or "
              "threadgroup memory, or carry the attribute of a built-in input"});
}

TEST_CASE("a kernel that returns a value is an error") {
  CHECK(errors_of(kHead + "kernel int f(device int* x) { return 1; }") ==
        Lines{"3:12: kernel 'f' must return void"});
}

TEST_CASE("two kernels of one host name are an error") {
  CHECK(errors_of(kHead + "[[host_name(\"a\")]] kernel void f(device int* x) {}\n"
                          "[[host_name(\"a\")]] kernel void g(device int* x) {}\n") ==
        Lines{"4:32: there is already a kernel named 'a'"});
}

TEST_CASE("two function constants of one index are an error") {
  CHECK(errors_of(kHead + "constant int a [[function_constant(3)]];\n"
                          "constant int b [[function_constant(3)]];\n") ==
        Lines{"4:18: function constant index 3 is already taken by 'a'"});
}

TEST_CASE("an error behind a macro points to the place of use and to the macro") {
  const auto library = compiler::open_library(
      kHead + "#define FIELD(x) (x).nope\nkernel void f(device float4* x) { FIELD(x[0]) = 1; }",
      {});

  REQUIRE(!library.ok());
  const std::string text = library.error().text();
  CHECK(text.find("program_source:4:35: error: no member named 'nope' in 'float4'") == 0);
  CHECK(text.find("program_source:3:22: note: expanded from macro 'FIELD'") != std::string::npos);
}

TEST_CASE("an error in an instantiation shows the chain of instantiations") {
  const std::string source =
      kHead +
      "template <typename T> T twice(T x) { return x.foo * 2; }\n"
      "template <typename T> kernel void f(device T* x [[buffer(0)]]) { x[0] = twice(x[0]); }\n"
      "template [[host_name(\"f_float\")]] [[kernel]] decltype(f<float>) f<float>;\n";
  const auto library = compiler::open_library(source, {});
  REQUIRE(library.ok());

  const auto code = (*library)->compile({"f_float", {}});

  REQUIRE(!code.ok());
  const std::string text = code.error().text();
  CHECK(text.find("program_source:3:46: error: member reference base type 'float'") == 0);
  CHECK(text.find("program_source:4:73: note: in instantiation of function template "
                  "specialization 'twice<float>' requested here") != std::string::npos);
  CHECK(text.find("program_source:5:65: note: in instantiation of function template "
                  "specialization 'f<float>' requested here") != std::string::npos);
}

TEST_CASE("a kernel that fails leaves the library's other kernels usable") {
  const std::string source =
      kHead +
      "template <typename T> kernel void f(device T* x [[buffer(0)]]) { x[0] = x[0].foo; }\n"
      "template [[host_name(\"bad\")]] [[kernel]] decltype(f<float>) f<float>;\n"
      "kernel void good(device float* x [[buffer(0)]]) { x[0] = 1; }\n";
  const auto library = compiler::open_library(source, {});
  REQUIRE(library.ok());

  CHECK(!(*library)->compile({"bad", {}}).ok());
  CHECK((*library)->compile({"good", {}}).ok());
  CHECK(!(*library)->compile({"bad", {}}).ok());
}

TEST_CASE("a header that is not there is an error at the include") {
  CHECK(errors_of("#include \"no_such_header.h\"\n") ==
        Lines{"1:10: 'no_such_header.h' file not found"});
}

TEST_CASE("an unterminated text is an error, not a crash") {
  CHECK(!errors_of("kernel void f(device float* x [[buffer(0").empty());
  CHECK(!errors_of("#if 1\nkernel void f(").empty());
  CHECK(!errors_of("template <").empty());
  CHECK(!errors_of("[[").empty());
  CHECK(!errors_of("\"").empty());
  CHECK(!errors_of("kernel void f(device\n#pragma unroll\nfloat* x) {}").empty());
}

TEST_CASE("a header that is nearly right, where the text breaks off, is an error at the include") {
  CHECK(errors_of("void g() { int b = a[[\n#include <metal_stdlib]]>\nusing namespace metal;\n")
            .at(0) == "2:10: 'metal_stdlib]]' file not found, did you mean 'metal_stdlib'?");
}

TEST_CASE("member functions that differ by address space must do the same") {
  const Lines errors = errors_of(kHead +
                                 "struct A {\n"
                                 "  int x;\n"
                                 "  int get() const device { return x; }\n"
                                 "  int get() const thread { return x + 1; }\n"
                                 "};\n");

  CHECK(errors == Lines{"6:19: member functions that differ only in the address space of 'this' "
                        "must have the same body in pewter"});
}

TEST_CASE("too much threadgroup memory names the size and the limit") {
  const auto library = compiler::open_library(
      kHead +
          "kernel void f(device float* x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
          "  threadgroup float t[10000];\n"
          "  t[i] = x[i];\n"
          "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
          "  x[i] = t[9999 - i];\n"
          "}\n",
      {});
  REQUIRE(library.ok());

  const auto code = (*library)->compile({"f", {}});

  REQUIRE(!code.ok());
  CHECK(code.error().text() ==
        "error: kernel 'f' declares 40000 bytes of threadgroup memory, the limit is 32768\n");
}

TEST_CASE("tensors of Metal 4 are an error that says what to do") {
  for (const std::string header :
       {"metal_tensor", "MetalPerformancePrimitives/MetalPerformancePrimitives.h"}) {
    const auto library = compiler::open_library(kHead + "#include <" + header + ">\n", {});

    REQUIRE(!library.ok());
    const std::string text = library.error().text();
    CHECK_MESSAGE(text.find("not supported: compile without") != std::string::npos, text);
    CHECK_MESSAGE(text.find("program_source:3") != std::string::npos, text);
  }
}

}  // namespace pewter
