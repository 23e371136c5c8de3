// A program that uses the front door mps as an outside user does: public headers, the shared
// library. Exceptions cross its border by their own types.
#include <pewter/mps.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace mps = pewter::mps;
using pewter::array;

namespace {

const char* const kSource = R"(
#include <metal_stdlib>
#include <pewter/mps/error.h>

kernel void normalise(device float* x,
                      constant float& scale,
                      device pewter::mps::ErrorRecords* errors [[buffer(2)]],
                      uint i [[thread_position_in_grid]]) {
  if (!metal::isfinite(x[i])) {
    PEWTER_REPORT_ERROR(errors, "element ", i, " is not finite");
    return;
  }
  x[i] *= scale;
})";

bool check(bool condition, const char* what) {
  if (!condition) {
    std::printf("failed: %s\n", what);
  }
  return condition;
}

bool computes() {
  const mps::Kernel normalise = mps::compile_shader(kSource).kernel("normalise");
  mps::manual_seed(1);
  const array x = mps::random::uniform({1000}, 1, 2);
  const std::vector<float> before = x.to_vector<float>();
  mps::Event start(true);
  mps::Event end(true);
  start.record();
  normalise({x, 0.5}, {.error_buf_idx = 2});
  end.record();
  mps::synchronize();
  const std::vector<float> after = x.to_vector<float>();
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!check(after[i] == before[i] * 0.5F, "halves")) {
      return false;
    }
  }
  return check(start.elapsed_time(end) >= 0, "time");
}

bool reports() {
  const mps::Kernel normalise = mps::compile_shader(kSource).kernel("normalise");
  const array x(std::vector<float>{1, INFINITY});
  normalise({x, 0.5}, {.error_buf_idx = 2});
  try {
    mps::synchronize();
  } catch (const std::runtime_error& error) {
    return check(std::string(error.what()).find("element 1 is not finite") != std::string::npos,
                 "the text of a report");
  }
  return check(false, "a report is thrown");
}

bool refuses() {
  try {
    mps::compile_shader("kernel void f() { nothing(); }");
  } catch (const mps::ShaderSyntaxError&) {
    try {
      mps::set_per_process_memory_fraction(1e-9);
      static_cast<void>(array::empty({1 << 26}, pewter::Dtype::Float32));
    } catch (const pewter::OutOfMemoryError&) {
      mps::set_per_process_memory_fraction(0.0);
      return true;
    }
    return check(false, "the limit is kept");
  }
  return check(false, "a mistake is found");
}

}  // namespace

int main() {
  const bool passed = computes() && reports() && refuses();
  std::printf(passed ? "passed\n" : "failed\n");
  return passed ? 0 : 1;
}
