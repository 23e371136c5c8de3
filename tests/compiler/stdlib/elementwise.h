#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/compiler/stdlib/accuracy/float_format.h"
#include "tests/support/gpu.h"

namespace pewter::test {

/// The kernel `f` of a long text in programs of few lanes, which compile in a third of the time.
/// For kernels whose threads have nothing to do with each other.
inline NS::SharedPtr<MTL::ComputePipelineState> narrow_pipeline(const Gpu& gpu,
                                                                const std::string& source) {
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setPreprocessorMacros(NS::Dictionary::dictionary(string("8"), string("PEWTER_LANES")));
  return gpu.pipeline(gpu.library(source, options.get()).get(), "f");
}

/// Checks the values of MSL expressions, each converted to float, evaluated by one thread.
inline void check_values(const std::vector<std::string>& expressions,
                         const std::string& before,
                         const std::vector<float>& expected) {
  const Gpu gpu;
  std::string source = "#include <metal_stdlib>\nusing namespace metal;\n" + before +
                       "\nkernel void f(device float* out [[buffer(0)]]) {\n";
  for (std::size_t index = 0; index < expressions.size(); ++index) {
    source += "  out[" + std::to_string(index) + "] = float(" + expressions[index] + ");\n";
  }
  std::vector<float> out(expressions.size());

  gpu.run(source + "}\n", "f", {.grid = size(1)}, out);

  REQUIRE(expected.size() == expressions.size());
  for (std::size_t index = 0; index < expressions.size(); ++index) {
    CHECK_MESSAGE(out[index] == expected[index], expressions[index], " is ", out[index],
                  " instead of ", expected[index]);
  }
}

inline void check_values(const std::vector<std::string>& expressions,
                         const std::vector<float>& expected) {
  check_values(expressions, "", expected);
}

}  // namespace pewter::test
