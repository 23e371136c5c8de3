#include <cblas.h>

#include <memory>
#include <vector>

#include "bench/native/simd.h"
#include "bench/support/data.h"
#include "bench/support/huge_pages.h"
#include "bench/support/measure.h"

namespace bench {
namespace {

Prepared sgemm(int n) {
  struct State {
    explicit State(std::size_t count)
        : a_values(uniform_floats(count, -0.5f, 0.5f, 1)),
          b_values(uniform_floats(count, -0.5f, 0.5f, 2)) {}
    std::vector<float> a_values;
    std::vector<float> b_values;
    Array<float> a = array_of(a_values);
    Array<float> b = array_of(b_values);
    Array<float> c = Array<float>(a_values.size());
  };
  const auto size = static_cast<std::size_t>(n);
  auto state = std::make_shared<State>(size * size);
  return {.run =
              [=] {
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f,
                            state->a.data(), n, state->b.data(), n, 0.0f, state->c.data(), n);
              },
          .check = [=] { return check_matmul(state->a_values, state->b_values, state->c, size); }};
}

void add_sgemm(const std::string& work, int n) {
  add(work + "/openblas", Unit::GigaflopsPerSecond, 2.0 * n * n * n, [=] { return sgemm(n); });
}

}  // namespace
}  // namespace bench

int main(int argument_count, char** arguments) {
  bench::add_sgemm("matmul_naive_512", 512);
  bench::add_sgemm("matmul_tiled_512", 512);
  bench::add_sgemm("matmul_tiled_1024", 1024);
  bench::add_sgemm("matmul_simdgroup_1024", 1024);
  bench::add_sgemm("array_matmul_1024", 1024);
  bench::add_sgemm("array_matmul_2048", 2048);
  return bench::run_works(argument_count, arguments);
}
