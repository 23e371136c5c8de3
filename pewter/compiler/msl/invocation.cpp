#include "pewter/compiler/msl/invocation.h"

#include <fmt/core.h>

#include "pewter/compiler/msl/attributes.h"
#include "pewter/compiler/msl/diagnostics.h"

namespace pewter::compiler::msl {
namespace {

constexpr std::uint32_t version(std::uint32_t major, std::uint32_t minor) {
  return major << 16 | minor;
}

/// Tells our pragmas from the user's, who may push and pop as well.
constexpr const char* kPragmaName = "pewter";

/// A macro that says the language has something, and since when.
struct FeatureMacro {
  const char* name;
  std::uint32_t since;
};

constexpr FeatureMacro kFeatureMacros[] = {
    {"__HAVE_BFLOAT__", version(3, 1)},
    {"__HAVE_OS_LOG__", version(3, 2)},
};

}  // namespace

// The one target that texts are parsed for; machine code is made for the machine's own level later.
std::vector<std::string> common_arguments() {
  return {"-triple", "x86_64-unknown-linux-gnu", "-target-cpu", "x86-64-v3", "-aux-triple",
          "x86_64-unknown-linux-gnu", "-aux-target-cpu", "x86-64-v3", "-std=c++17",
          "-fsycl-is-device", "-sycl-std=2020", "-fdeclspec", "-fgnuc-version=4.2.1",
          "-nostdsysteminc", "-nobuiltininc", "-O2", "-disable-llvm-passes", "-fno-rtti",
          "-ffloat16-excess-precision=none", "-fbfloat16-excess-precision=none",
          "-ffp-contract=fast", "-cl-single-precision-constant", "-fno-threadsafe-statics",
          "-fno-builtin",
          // A loop without an end is stopped and reported, not taken for one that nobody enters.
          "-fno-finite-loops",
          // Out-of-range numbers have a nearest integer; Clang would fold them to nothing at all.
          "-fno-strict-float-cast-overflow",
          // Whole vectors travel in registers; the code generator sets the convention back.
          "-fdefault-calling-conv=regcall",
          // A system folder, so that nothing in it is warned of.
          "-internal-isystem", kStdlibFolder};
}

std::vector<std::string> text_arguments(const LibraryOptions& options) {
  std::vector<std::string> arguments = {
      "-ferror-limit", "100", "-fshow-overloads=best",
      // Limits that texts of good will stay far below, so that others end soon.
      "-fconstexpr-steps=200000",
      // Clang's own choice, and what Apple's compiler adds to it.
      "-Wunused-variable", "-Wunused-const-variable", "-Wunused-value",
      // Consequences of how MSL is turned into C++: functions become static, instantiations wait
      // for a pipeline, and Metal's pragmas mean nothing to Clang.
      "-Wno-undefined-internal", "-Wno-undefined-inline", "-Wno-unknown-pragmas",
      "-Wno-ignored-attributes", "-Wno-unused-function", "-Wno-instantiation-after-specialization",
      "-Wno-undefined-var-template", "-Wno-c++11-narrowing",
      // `constant` brings a const of its own.
      "-Wno-duplicate-decl-specifier",
      // A text without declarations has none for ours.
      "-Wno-pragma-clang-attribute"};
  if (options.math_mode != MathMode::Safe) {
    arguments.insert(arguments.end(),
                     {"-mreassociate", "-freciprocal-math", "-fno-signed-zeros", "-fapprox-func"});
  }
  if (!options.source_folder.empty()) {
    arguments.insert(arguments.end(), {"-iquote", options.source_folder});
  }
  for (const std::string& path : options.include_paths) {
    arguments.insert(arguments.end(), {"-I", path});
  }
  return arguments;
}

std::string macro_lines(const LibraryOptions& options) {
  const std::uint32_t asked =
      options.language_version != 0 ? options.language_version : kDefaultLanguageVersion;
  std::string text = fmt::format("#line 1 \"compile options\"\n#define __METAL_VERSION__ {}\n",
                                 (asked >> 16) * 100 + (asked & 0xffff) * 10);
  for (const FeatureMacro& macro : kFeatureMacros) {
    if (asked >= macro.since) {
      text += fmt::format("#define {} 1\n", macro.name);
    }
  }
  const bool fast = options.math_mode == MathMode::Fast;
  text += fmt::format("#define __METAL_MAYBE_FAST_MATH__ {}\n", fast ? 1 : 0);
  if (fast) {
    text += "#define __FAST_MATH__ 1\n";
  }
  for (const auto& [name, value] : options.macros) {
    text += fmt::format("#undef {0}\n#define {0} {1}\n", name, value);
    if (name == "NDEBUG") {
      text += "#undef assert\n#define assert(...) ((void)0)\n";
    }
  }
  return text;
}

std::string first_line_marker(const LibraryOptions& options) {
  return fmt::format("#line 1 \"{}\"\n", options.source_name);
}

std::string text_before(const LibraryOptions& options) {
  return macro_lines(options) +
         fmt::format(
             "#pragma clang attribute {}.push(__attribute__(({})), apply_to = any(variable, "
             "function))\n",
             kPragmaName, kDeclarationAttribute) +
         first_line_marker(options);
}

std::string text_behind() {
  // The user's last line may end in a backslash.
  return fmt::format("\n\n#pragma clang attribute {}.pop\n", kPragmaName);
}

}  // namespace pewter::compiler::msl
