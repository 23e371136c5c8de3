#include "pewter/runtime/shader_source.h"

#include <doctest/doctest.h>

#include <string>

using pewter::runtime::expand_shader_source;
using pewter::runtime::shipped_header;

namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a text without includes reaches the compiler as it is") {
  for (const std::string text : {"", "int x;", "int x;\n", "\n\n// #include\nint y;\r\n"}) {
    CHECK(expand_shader_source(text) == text);
  }
}

TEST_CASE("a shipped header is put in place of its include, whatever the quotes") {
  for (const std::string include :
       {"#include <pewter/mps/random.h>", "#include \"pewter/mps/random.h\"",
        "  #\tinclude<pewter/mps/random.h> // numbers"}) {
    const std::string expanded = expand_shader_source("int a;\n" + include + "\nint b;\n");
    CHECK(expanded.starts_with("int a;\n#line 1 \"pewter/mps/random.h\"\n"));
    CHECK(occurrences(expanded, "philox(uint4 counter") == 1);
    CHECK(expanded.ends_with("\n#line 3 \"program_source\"\nint b;\n"));
    CHECK(occurrences(expanded, "#pragma once") == 0);
  }
}

TEST_CASE("a shipped header is put in once, also when another one includes it") {
  const std::string expanded = expand_shader_source(
      "#include <c10/metal/error.h>\n#include <pewter/mps/error.h>\n#include "
      "<c10/metal/error.h>\n");
  CHECK(occurrences(expanded, "struct ErrorRecords {") == 1);
  CHECK(occurrences(expanded, "using ErrorMessages") == 1);
}

TEST_CASE("other includes and those in comments are left to the compiler") {
  const std::string text =
      "#include <metal_stdlib>\n#include \"mine.h\"\n/*\n#include <pewter/mps/random.h>\n#pragma "
      "once\n"
      "*/\n// /*\n#include_next <pewter/mps/random.h>\n";
  CHECK(expand_shader_source(text) == text);
}

TEST_CASE("pragma once is dropped without moving the lines after it") {
  CHECK(expand_shader_source("#pragma once\nint x;\n# pragma  once\nint y;") ==
        "\nint x;\n\nint y;");
}

TEST_CASE("only headers that ship are known by name") {
  CHECK(shipped_header("pewter/mps/error.h").has_value());
  CHECK(!shipped_header("error.h").has_value());
  CHECK(!shipped_header("").has_value());
}
