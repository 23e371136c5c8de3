// Errors point to the user's own place, through included files, macros, templates and the standard
// library, with the way that led there.

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "pewter/compiler/compiler.h"
#include "tests/support/temporary_directory.h"

namespace pewter {
namespace {

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// The failure of a text, or of its first kernel, in a folder with these other files.
compiler::CompileFailure failure_of(const std::string& source,
                                    const std::map<std::string, std::string>& files = {}) {
  test::TemporaryDirectory folder;
  for (const auto& [name, text] : files) {
    folder.write(name, text);
  }
  compiler::LibraryOptions options;
  options.source_folder = folder.path();
  options.source_name = "main.metal";
  auto library = compiler::open_library(source, options);
  if (!library) {
    return std::move(library).error();
  }
  compiler::KernelRequest request;
  request.kernel = (*library)->info().kernels.at(0).name;
  auto code = (*library)->compile(request);
  REQUIRE(!code.ok());
  return std::move(code).error();
}

/// A text without the folder of included files, which has a new name each time.
std::string without_folder(std::string text) {
  for (std::size_t end = text.find("/part.h"); end != std::string::npos;
       end = text.find("/part.h", end)) {
    std::size_t begin = text.rfind('\n', end);
    begin = begin == std::string::npos ? 0 : begin + 1;
    const std::size_t path = text.find('/', begin);
    text.replace(path, end + 1 - path, "");
    end = path + 1;
  }
  return text;
}

void check_first(const compiler::CompileFailure& failure,
                 std::uint32_t line,
                 std::uint32_t column,
                 const std::string& text) {
  const compiler::Diagnostic& first = failure.diagnostics.at(0);
  CHECK(first.line == line);
  CHECK(first.column == column);
  CHECK(first.text == text);
}

}  // namespace

TEST_CASE("an error in an included file names the file and the line that included it") {
  const auto failure = failure_of("#include \"part.h\"\nkernel void f(device int* x) {}\n",
                                  {{"part.h", "int one() {\n  return two;\n}\n"}});

  check_first(failure, 2, 10, "use of undeclared identifier 'two'");
  CHECK(failure.diagnostics.at(0).file.ends_with("/part.h"));
  CHECK(without_folder(failure.text()) ==
        "In file included from main.metal:1:\n"
        "part.h:2:10: error: use of undeclared identifier 'two'\n"
        "    2 |   return two;\n"
        "      |          ^\n");
}

TEST_CASE("an error behind a macro of an included file is at its use, with the macro as a note") {
  const auto failure =
      failure_of("#include \"part.h\"\nkernel void f(device int* x) {\n  x[0] = FIELD(x[1]);\n}\n",
                 {{"part.h", "#define FIELD(a) (a).nope\n"}});

  check_first(failure, 3, 10,
              "member reference base type 'device int' is not a structure or union");
  CHECK(failure.diagnostics.at(0).file == "main.metal");
  CHECK(without_folder(failure.text()) ==
        "main.metal:3:10: error: member reference base type 'device int' is not a structure or "
        "union\n"
        "    3 |   x[0] = FIELD(x[1]);\n"
        "      |          ^~~~~~~~~~~\n"
        "part.h:1:21: note: expanded from macro 'FIELD'\n"
        "    1 | #define FIELD(a) (a).nope\n"
        "      |                  ~~~^~~~~\n");
}

TEST_CASE("an error behind macros within macros shows each of them") {
  const auto failure = failure_of(
      "#define INNER(a) a.nope\n#define OUTER(a) INNER(a)\n"
      "kernel void f(device int* x) {\n  x[0] = OUTER(x[1]);\n}\n");

  check_first(failure, 4, 10,
              "member reference base type 'device int' is not a structure or union");
  const std::string text = failure.text();
  CHECK(text.find("main.metal:2:18: note: expanded from macro 'OUTER'") != std::string::npos);
  CHECK(text.find("main.metal:1:19: note: expanded from macro 'INNER'") != std::string::npos);
}

TEST_CASE("an error in a template of an included file shows the user's line that asked for it") {
  const auto failure =
      failure_of("#include \"part.h\"\nkernel void f(device int* x) {\n  x[0] = field(x[1]);\n}\n",
                 {{"part.h", "template <typename T>\nint field(T a) {\n  return a.nope;\n}\n"}});

  check_first(failure, 3, 11, "member reference base type 'int' is not a structure or union");
  CHECK(without_folder(failure.text()) ==
        "In file included from main.metal:1:\n"
        "part.h:3:11: error: member reference base type 'int' is not a structure or union\n"
        "    3 |   return a.nope;\n"
        "      |          ~^~~~~\n"
        "main.metal:3:10: note: in instantiation of function template specialization 'field<int>' "
        "requested here\n"
        "    3 |   x[0] = field(x[1]);\n"
        "      |          ^\n");
}

TEST_CASE("a failed assertion in a class template shows every step of the instantiation") {
  const auto failure = failure_of(
      "template <int N>\nstruct Inner {\n  static_assert(N > 2, \"too small\");\n  int a;\n};\n"
      "template <int N>\nstruct Outer {\n  Inner<N> inner;\n};\n"
      "kernel void f(device int* x) {\n  Outer<1> outer;\n  x[0] = outer.inner.a;\n}\n");

  check_first(failure, 3, 17, "static assertion failed due to requirement '1 > 2': too small");
  const std::string text = failure.text();
  CHECK(text.find("main.metal:8:12: note: in instantiation of template class 'Inner<1>' requested "
                  "here\n    8 |   Inner<N> inner;\n") != std::string::npos);
  CHECK(text.find("main.metal:11:12: note: in instantiation of template class 'Outer<1>' requested "
                  "here\n   11 |   Outer<1> outer;\n") != std::string::npos);
}

TEST_CASE("an error in a kernel's instantiation shows the line that instantiates it") {
  const auto failure = failure_of(
      "template <typename T>\nkernel void f(device T* x [[buffer(0)]]) {\n  x[0] = x[1].nope;\n}\n"
      "template [[host_name(\"f_int\")]] [[kernel]] void f<int>(device int*);\n");

  check_first(failure, 3, 14,
              "member reference base type 'device int' is not a structure or union");
  CHECK(failure.text().find("main.metal:5:49: note: in instantiation of function template "
                            "specialization 'f<int>' requested here") != std::string::npos);
}

TEST_CASE("errors inside the standard library are at the user's line, all of them") {
  const auto failure = failure_of(
      kHead + "kernel void f(device float4* x) {\n  x[0] = as_type<float4>(x[1].x);\n}\n");

  REQUIRE(failure.diagnostics.size() == 2);
  for (const compiler::Diagnostic& diagnostic : failure.diagnostics) {
    CHECK(diagnostic.file == "main.metal");
    CHECK(diagnostic.line == 4);
    CHECK(diagnostic.column == 10);
    CHECK(diagnostic.rendered == "main.metal:4:10: error: " + diagnostic.text +
                                     "\n    4 |   x[0] = as_type<float4>(x[1].x);\n"
                                     "      |          ^\n");
  }
}

TEST_CASE("an error inside the standard library behind a template and a macro is the user's") {
  const auto failure = failure_of(kHead +
                                  "#define BITS(a) as_type<uint>(a)\n"
                                  "template <typename T>\nuint bits(T a) {\n  return BITS(a);\n}\n"
                                  "kernel void f(device half* x) {\n  x[0] = bits(x[1]);\n}\n");

  const compiler::Diagnostic& first = failure.diagnostics.at(0);
  CHECK(first.file == "main.metal");
  CHECK(first.line == 6);
  CHECK(first.column == 10);
  CHECK(first.rendered.find("main.metal:9:10: note: in instantiation of function template "
                            "specialization 'bits<half>' requested here") != std::string::npos);
  CHECK(failure.text().find("/pewter/") == std::string::npos);
}

TEST_CASE("an error behind a macro of the standard library is at its use") {
  const auto failure =
      failure_of(kHead + "kernel void f(device float* x) {\n  x[0] = 2 M_PI_F;\n}\n");

  CHECK(failure.text() ==
        "main.metal:4:11: error: expected ';' after expression\n"
        "    4 |   x[0] = 2 M_PI_F;\n"
        "      |           ^\n"
        "      |           ;\n");
}

TEST_CASE("a constant expression that fails says why and where") {
  const auto failure = failure_of(
      "constexpr int part(int a) {\n  return 8 / a;\n}\n"
      "kernel void f(device int* x) {\n  constexpr int y = part(0);\n  x[0] = y;\n}\n");

  check_first(failure, 5, 17,
              "constexpr variable 'y' must be initialized by a constant expression");
  const std::string text = failure.text();
  CHECK(text.find("main.metal:2:12: note: division by zero") != std::string::npos);
  CHECK(text.find("main.metal:5:21: note: in call to 'part(0)'") != std::string::npos);
}

TEST_CASE("an error at the end of a text is at its end") {
  for (const std::string end : {"", "\n", " // the end", " \\"}) {
    CAPTURE(end);
    const auto failure = failure_of("kernel void f(device int* x) {}\nint y = 3" + end);

    check_first(failure, 2, 10, "expected ';' after top level declarator");
    CHECK(failure.text().find("pragma") == std::string::npos);
  }
  const auto open = failure_of("kernel void f(device int* x) {\n  x[0] = 1;\n");

  CHECK(open.diagnostics.at(0).text == "expected '}'");
  CHECK(open.text().find("pragma") == std::string::npos);
  const auto attribute = failure_of("kernel void f(device int* x) {\n  x\n  kernel");
  const auto stray = failure_of("}\nkernel void f(device int* x) {\n  x;\n  kernel");

  CHECK(attribute.diagnostics.at(0).text == "expected ';' after expression");
  CHECK(attribute.diagnostics.at(0).line == 2);
  CHECK(stray.diagnostics.at(0).text == "extraneous closing brace ('}')");
  CHECK(attribute.text().find("internal compiler error") == std::string::npos);
}

TEST_CASE("a text that says where its lines come from is believed") {
  const auto failure =
      failure_of("#line 40 \"generator.py\"\nkernel void f(device int* x) {\n  x[0] = y;\n}\n");

  CHECK(failure.diagnostics.at(0).file == "generator.py");
  check_first(failure, 41, 10, "use of undeclared identifier 'y'");
}

}  // namespace pewter
