// Texts that would bring a compiler down: each is refused with a reason, and the next text
// compiles.

#include <doctest/doctest.h>

#include <cfenv>
#include <string>

#include "pewter/compiler/compiler.h"

namespace pewter {
namespace {

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";
constexpr int kMany = 100'000;

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int number = 0; number < count; ++number) {
    result += text;
  }
  return result;
}

/// A kernel with that body.
std::string kernel(const std::string& body) {
  return kHead + "kernel void f(device int* x [[buffer(0)]]) { " + body + " }";
}

/// Why a text, or its first kernel, does not compile; empty when it does.
std::string reason_of(const std::string& source) {
  const auto library = compiler::open_library(source, {});
  if (!library) {
    return library.error().diagnostics.at(0).text;
  }
  compiler::KernelRequest request;
  request.kernel = (*library)->info().kernels.at(0).name;
  const auto code = (*library)->compile(request);
  return code ? "" : code.error().diagnostics.at(0).text;
}

const std::string kTooDeep = "the text nests too deeply: the compiler's stack of 64 MiB is used up";

}  // namespace

TEST_CASE("a crash inside the compiler fails the text and nothing else") {
  const std::string reason = reason_of("#pragma clang __debug parser_crash\nint x;");

  CHECK(reason.find("internal compiler error: Illegal instruction in clang::Parser::") == 0);
  CHECK(reason_of(kernel("x[0] = 1;")) == "");
}

TEST_CASE(
    "a lambda in a broken initialiser, which crashes Clang, fails the text and nothing else") {
  const std::string reason = reason_of(R"(
    inline float row_sum { = larger(high, float(in[next + i]} {
      })(rows, group, [&](ulong row, ulong next) {
        float sum = 0 0(op, Op);
        for_each_position(rows.length, lane, [&](uint i) {
          const float value = exp2_below_zero(t);
          if (kKeeps) {
          }
          sum += value;
        });)");

  CHECK(reason != "");
  CHECK(reason_of(kernel("x[0] = 1;")) == "");
}

#if defined(__GLIBC__)
TEST_CASE("a program that traps floating-point errors compiles as any other does") {
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  const std::string reason =
      reason_of(kernel("x[0] = as_type<int>(exp(300.0f)); x[1] = as_type<int>(log(0.0f)); "
                       "x[2] = as_type<int>(sqrt(-1.0f)); x[3] = as_type<int>(sin(INFINITY));"));
  fedisableexcept(FE_ALL_EXCEPT);

  CHECK(reason == "");
}
#endif

TEST_CASE("where Clang crashes behind an error, the error is told first") {
  // The attribute of a statement that cannot be read.
  const auto library =
      compiler::open_library(kernel("object_data [[host_name(\"s\").x]<half> + 1;"), {});

  REQUIRE(!library);
  const std::vector<compiler::Diagnostic>& told = library.error().diagnostics;
  CHECK(told.at(0).text == "'object_data' is not supported: pewter runs compute kernels only");
  CHECK(told.at(0).line == 3);
  CHECK(told.back().text ==
        "internal compiler error: Segmentation fault in clang::Stmt::getBeginLoc() const");
  CHECK(reason_of(kernel("x[0] = 1;")) == "");
}

TEST_CASE("a hint for a loop of a template that cannot be read, which crashes Clang, is told") {
  const auto library = compiler::open_library(R"(
    template <int kCount> void fill(device int* x) {
      #pragma unroll (complex64_t)
      for (int i = 0; i < kCount; ++i) { x[i] = i; }
    }
    kernel void f(device int* x [[buffer(0)]]) { fill<8>(x); })",
                                              {});

  REQUIRE(!library);
  const compiler::Diagnostic& first = library.error().diagnostics.at(0);
  CHECK(first.text == "use of undeclared identifier 'complex64_t'");
  CHECK(first.line == 3);
  CHECK(reason_of(kernel("x[0] = 1;")) == "");
}

TEST_CASE("a fatal error of LLVM fails the text and nothing else") {
  CHECK(reason_of("#pragma clang __debug llvm_fatal_error\n") ==
        "internal compiler error: #pragma clang __debug llvm_fatal_error");
  CHECK(reason_of(kernel("x[0] = 1;")) == "");
}

TEST_CASE("a variable that no thread has room for is refused with its size") {
  CHECK(reason_of(kernel("int q[1ul << 30]; q[x[1]] = 1; x[0] = q[x[2]];")) ==
        "kernel 'f' has a variable of 4294967296 bytes, 'q', in each thread, the limit is 1048576");
  CHECK(reason_of(kernel("int q[1 << 12]; q[x[1]] = 1; x[0] = q[x[2]];")) == "");
}

TEST_CASE("operators nested too deeply for the parser are refused") {
  CHECK(reason_of(kernel("x[0] = " + repeated("- ", kMany) + "1;")) == kTooDeep);
  CHECK(reason_of(kernel("x[0] = 1;")) == "");
}

TEST_CASE("pointers to pointers without end are refused") {
  CHECK(reason_of(kHead + "kernel void f(device int " + repeated("*", 4 * kMany) + " x) {}") ==
        kTooDeep);
}

TEST_CASE("brackets nested too deeply are refused at their place") {
  const auto library = compiler::open_library(
      kernel("x[0] = " + repeated("(", kMany) + "1" + repeated(")", kMany) + ";"), {});

  REQUIRE(!library.ok());
  const compiler::Diagnostic& first = library.error().diagnostics.at(0);
  CHECK(first.text == "bracket nesting level exceeded maximum of 256");
  CHECK(first.line == 3);
}

TEST_CASE("macros that double without end are refused at their use") {
  std::string source = kHead + "#define A0 x[0] += 1;\n";
  for (int level = 0; level < 40; ++level) {
    source += "#define A" + std::to_string(level + 1) + " A" + std::to_string(level) + " A" +
              std::to_string(level) + "\n";
  }
  const auto library =
      compiler::open_library(source + "kernel void f(device int* x) { A40 }\n", {});

  REQUIRE(!library.ok());
  const compiler::Diagnostic& first = library.error().diagnostics.at(0);
  CHECK(first.text == "the text has more than 2097152 tokens once its macros are expanded");
  CHECK(first.line == 44);
  CHECK(first.column == 32);
}

TEST_CASE("calls that double at every level are refused with the kernel's name") {
  std::string source = kHead + "int g0(int a) { return a * 3; }\n";
  for (int level = 0; level < 40; ++level) {
    const std::string inner = "g" + std::to_string(level);
    source += "int g" + std::to_string(level + 1) + "(int a) { return " + inner + "(a) * " + inner +
              "(a + 1); }\n";
  }

  CHECK(
      reason_of(source + "kernel void f(device int* x) { x[0] = g40(x[1]); }\n") ==
      "kernel 'f' has more than 2000000 instructions once its calls are inlined; call less in it");
  CHECK(reason_of(source + "kernel void f(device int* x) { x[0] = g8(x[1]); }\n") == "");
}

TEST_CASE("templates that instantiate each other without end are refused at the user's place") {
  const auto library = compiler::open_library(
      kHead +
          "template <int N> struct A { static constant constexpr int v = A<N + 1>::v + 1; };\n"
          "kernel void f(device int* x [[buffer(0)]]) { x[0] = A<0>::v; }\n",
      {});

  REQUIRE(!library.ok());
  const compiler::Diagnostic& first = library.error().diagnostics.at(0);
  CHECK(first.text == "recursive template instantiation exceeded maximum depth of 1024");
  CHECK(first.line == 3);
  CHECK(first.rendered.find("program_source:4:59: note: in instantiation of") != std::string::npos);
}

TEST_CASE("a constant expression without end is refused") {
  const std::string reason =
      reason_of(kHead +
                "constexpr int g() { int s = 0; for (;;) { s = (s * 3 + 1) & 7; } return s; }\n"
                "constexpr constant int q = g();\n"
                "kernel void f(device int* x [[buffer(0)]]) { x[0] = q; }\n");

  CHECK(reason == "constexpr function never produces a constant expression");
}

TEST_CASE("numbers of more digits than anybody needs are refused at their place") {
  const auto library = compiler::open_library(kernel("x[0] = 1." + repeated("9", kMany) + ";"), {});

  REQUIRE(!library.ok());
  const compiler::Diagnostic& first = library.error().diagnostics.at(0);
  CHECK(first.text == "number of 100002 characters, the limit is 4096");
  CHECK(first.line == 3);
  CHECK(first.column == 53);
}

TEST_CASE("integers of any width are no part of the language") {
  CHECK(reason_of(kernel("_BitInt(8000000) a = x[0]; x[0] = a * a / 3;")) ==
        "'_BitInt' is no part of the language");
}

TEST_CASE("devices, pipes and folders cannot be included") {
  for (const std::string path : {"/dev/zero", "/dev/stdin", "/tmp"}) {
    CAPTURE(path);
    CHECK(reason_of("#include \"" + path + "\"\n") == "'" + path + "' file not found");
  }
}

TEST_CASE("data too large for any machine is refused") {
  CHECK(reason_of(kHead + "constant int q[1ul << 40] = {1};\n"
                          "kernel void f(device int* x [[buffer(0)]]) { x[0] = q[x[1]]; }\n") ==
        "variables at file scope take 4398046511104 bytes, the limit is 67108864");
}

TEST_CASE("a text may pop an attribute that it did not push, and is told so") {
  const auto library = compiler::open_library(
      "#pragma clang attribute pop\nkernel void f(device int* x [[buffer(0)]]) {}\n", {});

  REQUIRE(!library.ok());
  const compiler::Diagnostic& first = library.error().diagnostics.at(0);
  CHECK(library.error().diagnostics.size() == 1);
  CHECK(first.text ==
        "'#pragma clang attribute pop' with no matching '#pragma clang attribute push'");
  CHECK(first.line == 1);
}

}  // namespace pewter
