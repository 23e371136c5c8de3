#include <doctest/doctest.h>

#include <filesystem>

#include "tests/support/sanitizer_limits.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/tool.h"

namespace pewter::test {
namespace {

namespace fs = std::filesystem;

const char* const kSource =
    "#include \"scale.h\"\nkernel void f(device float* x [[buffer(0)]]) { x[0] = SCALE * N; }\n";

/// A folder with a kernel that includes a header.
struct Project : TemporaryDirectory {
  Project() {
    source = write("f.metal", kSource);
    header = write("scale.h", "#define SCALE 2\n");
    object = (fs::path(source).parent_path() / "f.air").string();
    library = (fs::path(source).parent_path() / "f.metallib").string();
  }

  std::string source;
  std::string header;
  std::string object;
  std::string library;
};

TEST_CASE("metal and metallib make a library with the commands of Apple's builds") {
  const Project project;

  const auto compiled = pewter_command({"xcrun", "-sdk", "macosx", "metal", "-std=metal3.1", "-O2",
                                        "-mmacosx-version-min=14.0", "-DN=21", "-fno-fast-math",
                                        "-c", project.source, "-o", project.object});
  const auto linked = pewter_command(
      {"xcrun", "-sdk", "macosx", "metallib", project.object, "-o", project.library});
  const auto names = pewter_command({"metal-nm", project.library});

  CHECK(compiled.code == 0);
  CHECK(compiled.errors.empty());
  CHECK(linked.code == 0);
  CHECK(names.output == "---------------- T f\n");
}

TEST_CASE("-H lists included files on standard error, each with its depth") {
  const Project project;
  const std::string outer =
      project.write("outer.h", "#pragma once\n#include <metal_stdlib>\n#include \"scale.h\"\n");
  const std::string main =
      project.write("main.h", "#pragma once\n#include \"outer.h\"\n#include \"scale.h\"\n");

  const auto result = pewter_command({"xcrun", "-sdk", "macosx", "metal", "-x", "metal", "-DN=1",
                                      "-E", "-P", "-CC", "-C", "-H", main, "-w"});

  CHECK(result.code == 0);
  CHECK(result.errors == ". " + outer + "\n.. " + project.header + "\n. " + project.header + "\n");
}

TEST_CASE("one command compiles and links, and leaves nothing else behind") {
  const Project project;

  const auto result = pewter_command(
      {"metal", "-D", "N=1", "-frecord-sources", project.source, "-o", project.library});
  const auto dump = pewter_command({"metal-objdump", "--source", project.library});

  CHECK(result.code == 0);
  CHECK(!fs::exists(project.object));
  CHECK(contains(dump.output, "library of 1 unit"));
  CHECK(contains(dump.output, "kernel f\n    buffer(0) float x"));
  CHECK(contains(dump.output, "SCALE * N"));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry :
       fs::directory_iterator(fs::path(project.library).parent_path())) {
    ++files;
  }
  CHECK(files == 3);
}

TEST_CASE("flags choose the functions that are called without a namespace") {
  const Project project;
  // Equal files have equal options.
  const auto library_with = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), "metal");
    flags.insert(flags.end(), {"-DN=1", project.source, "-o", project.library});
    CHECK(pewter_command(flags).code == 0);
    return read_file(project.library);
  };
  const std::string fast = library_with({"-fmetal-math-fp32-functions=fast"});
  const std::string precise = library_with({"-fmetal-math-fp32-functions=precise"});

  CHECK(fast == library_with({}));
  CHECK(fast == library_with({"-fno-fast-math", "-ffast-math"}));
  CHECK(precise != fast);
  CHECK(library_with({"-fno-fast-math"}) ==
        library_with({"-fmetal-math-mode=safe", "-fmetal-math-fp32-functions=precise"}));
  const auto wrong = pewter_command({"metal", "-fmetal-math-fp32-functions=quick", project.source});
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.errors, "math functions 'quick' are neither fast nor precise"));
}

TEST_CASE("a text that takes the compiler too long is refused, with the limit") {
  if (!can_stop_kernels()) {
    return;
  }
  const TemporaryDirectory folder;
  const std::string endless =
      folder.write("endless.metal", "#pragma clang __debug overflow_stack\n");

  const auto result = pewter_command({"metal", "-c", endless, "-o", endless + ".air"},
                                     {{"PEWTER_COMPILE_TIMEOUT_MS", "100"}});

  CHECK(result.code == 1);
  CHECK(contains(result.errors,
                 "error: compiling took more than 100 ms of processor time; make the text simpler, "
                 "or set PEWTER_COMPILE_TIMEOUT_MS"));
}

TEST_CASE("metal writes the rules that make needs") {
  const Project project;
  const std::string rules = project.object + ".d";

  const auto result = pewter_command({"metal", "-DN=1", "-MD", "-MP", "-MF", rules, "-MT", "target",
                                      "-c", project.source, "-o", project.object});
  const auto listed = pewter_command({"metal", "-DN=1", "-M", project.source});

  CHECK(result.code == 0);
  CHECK(read_file(rules) ==
        "target: " + project.source + " \\\n  " + project.header + "\n" + project.header + ":\n");
  CHECK(listed.output == "f.air: " + project.source + " \\\n  " + project.header + "\n");
}

TEST_CASE("metal preprocesses a file, and the version without line markers") {
  const Project project;
  const std::string question = project.write("version.metal", "__METAL_VERSION__\n");

  const auto expanded = pewter_command({"metal", "-E", "-DN=7", project.source});
  const auto version =
      pewter_command({"metal", "-std=macos-metal2.4", "-E", "-x", "metal", "-P", question});

  CHECK(expanded.code == 0);
  CHECK(contains(expanded.output, "x[0] = 2 * 7;"));
  CHECK(contains(expanded.output, "f.metal\""));
  CHECK(version.output == "240\n");
}

TEST_CASE("macros in pragmas are replaced") {
  const Project project;
  const std::string unrolled = project.write("unrolled.metal", R"(
    #define LESSER(x, y) ((x) < (y) ? (x) : (y))
    #define COUNT 4
    template <int kCount>
    void fill(device int* x) {
      #pragma unroll (LESSER(kCount / 2, 8))
      for (int i = 0; i < kCount; ++i) { x[i] = i; }
    }
    kernel void f(device int* x [[buffer(0)]]) {
      #pragma clang loop unroll_count(COUNT)
      for (int i = 0; i < 8; ++i) { x[i] = i; }
      fill<8>(x + 8);
    })");

  const auto expanded = pewter_command({"metal", "-E", unrolled});
  const auto compiled = pewter_command({"metal", "-c", unrolled, "-o", project.object});

  CHECK(contains(expanded.output, "#pragma unroll (((kCount / 2) < (8) ? (kCount / 2) : (8)))"));
  CHECK(contains(expanded.output, "#pragma clang loop unroll_count(4)"));
  CHECK(compiled.code == 0);
  CHECK(compiled.errors == "");
}

TEST_CASE("errors and warnings name the user's file, line and column") {
  const Project project;
  const std::string broken = project.write("broken.metal", "\nkernel void f(device flaot* x) {}\n");
  const std::string sloppy = project.write("sloppy.metal", "kernel void f() { int y = 1; }\n");

  const auto error = pewter_command({"metal", "-c", broken, "-o", project.object});
  const auto warning = pewter_command({"metal", "-c", sloppy, "-o", project.object});
  const auto strict = pewter_command({"metal", "-Werror", "-c", sloppy, "-o", project.object});
  const auto quiet = pewter_command({"metal", "-w", "-c", sloppy, "-o", project.object});

  CHECK(error.code == 1);
  CHECK(contains(error.errors, broken + ":2:22: error: unknown type name 'flaot'"));
  CHECK(warning.code == 0);
  CHECK(
      contains(warning.errors, sloppy + ":1:23: warning: unused variable 'y' [-Wunused-variable]"));
  CHECK(contains(warning.errors, "1 warning generated.\n"));
  CHECK(strict.code == 1);
  CHECK(quiet.errors.empty());
}

TEST_CASE("command lines that make no sense end with code 2 and say why") {
  const Project project;

  CHECK(contains(pewter_command({"metal", "-c"}).errors, "there is no input file"));
  CHECK(contains(pewter_command({"metal", "-std=metal9.1", project.source}).errors,
                 "language 'metal9.1' is not supported; 'metal1.0' to 'metal4.0' are"));
  const auto unknown = pewter_command({"metal", "--frobnicate", project.source});
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.errors, "unknown argument '--frobnicate'"));
  const auto tool = pewter_command({"xcrun", "-sdk", "macosx", "swiftc"});
  CHECK(tool.code == 1);
  CHECK(contains(tool.errors, "unable to find utility \"swiftc\""));
}

TEST_CASE("archives collect objects for a library") {
  const Project project;
  const std::string archive = project.object + ".metalar";
  REQUIRE(pewter_command({"metal", "-DN=1", "-c", project.source, "-o", project.object}).code == 0);

  const auto made = pewter_command({"metal-ar", "rcs", archive, project.object});
  const auto listed = pewter_command({"metal-ar", "t", archive});
  const auto linked = pewter_command({"metallib", archive, "-o", project.library});
  const auto damaged = pewter_command({"metallib", project.source, "-o", project.library});

  CHECK(made.code == 0);
  CHECK(listed.output == "f.air\n");
  CHECK(linked.code == 0);
  CHECK(damaged.code == 1);
  CHECK(contains(damaged.errors, "is no library made by pewter"));
}

}  // namespace
}  // namespace pewter::test
