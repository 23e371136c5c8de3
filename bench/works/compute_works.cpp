#include "bench/support/data.h"
#include "bench/support/measure.h"
#include "bench/works/works.h"

// Works that arithmetic limits and whose threads all do the same.
namespace bench {
namespace {

/// `grid` and `group` in threads; `name` is the kernel.
Prepared matmul(const char* name, std::uint32_t n, Size grid, Size group) {
  struct State {
    explicit State(std::uint32_t given)
        : size(given),
          a_values(uniform_floats(std::size_t{given} * given, -0.5f, 0.5f, 1)),
          b_values(uniform_floats(std::size_t{given} * given, -0.5f, 0.5f, 2)) {}
    const std::uint32_t size;
    std::vector<float> a_values;
    std::vector<float> b_values;
    std::unique_ptr<Memory> a = memory_of(shared_device(), a_values);
    std::unique_ptr<Memory> b = memory_of(shared_device(), b_values);
    std::unique_ptr<Memory> c = memory_of(shared_device(), std::vector<float>(a_values.size()));
    std::unique_ptr<Kernel> kernel;
  };
  auto state = std::make_shared<State>(n);
  state->kernel = shared_device().kernel("matmul", name);
  return {.run =
              [=] {
                shared_device().dispatch(*state->kernel, grid, group,
                                         {state->a, state->b, state->c, state->size});
                shared_device().finish();
              },
          .check =
              [state] {
                return check_matmul(state->a_values, state->b_values,
                                    contents<float>(*state->c, state->a_values.size()),
                                    state->size);
              }};
}

Prepared nbody() {
  struct State {
    std::vector<float> values = uniform_floats(std::size_t{kBodies} * 4, 0, 1, 1);
    std::unique_ptr<Memory> bodies = memory_of(shared_device(), values);
    std::unique_ptr<Memory> accelerations = memory_of(shared_device(), values);
    std::unique_ptr<Kernel> kernel = shared_device().kernel("nbody", "nbody");
  };
  auto state = std::make_shared<State>();
  return {.run =
              [state] {
                shared_device().dispatch(*state->kernel, {kBodies}, {256},
                                         {state->bodies, state->accelerations, kBodies});
                shared_device().finish();
              },
          .check =
              [state] {
                return check_nbody(state->values,
                                   contents<float>(*state->accelerations, state->values.size()));
              }};
}

Prepared q4_matvec(const char* name, std::size_t threads, std::size_t group) {
  struct State {
    Q4Problem problem = make_q4_problem();
    std::unique_ptr<Memory> weights = memory_of(shared_device(), problem.weights);
    std::unique_ptr<Memory> x = memory_of(shared_device(), problem.x);
    std::unique_ptr<Memory> y = memory_of(shared_device(), problem.x);
    std::unique_ptr<Kernel> kernel;
  };
  auto state = std::make_shared<State>();
  state->kernel = shared_device().kernel("q4", name);
  return {
      .run =
          [=] {
            shared_device().dispatch(*state->kernel, {threads}, {group},
                                     {state->weights, state->x, state->y, kQ4Size});
            shared_device().finish();
          },
      .check = [state] { return check_q4(state->problem, contents<float>(*state->y, kQ4Size)); }};
}

double flops(double n) {
  return 2 * n * n * n;
}

}  // namespace

void add_compute_works() {
  constexpr Unit kFlops = Unit::GigaflopsPerSecond;
  constexpr Size kTile = {16, 16};
  add("matmul_naive_512", kFlops, flops(512),
      [=] { return matmul("matmul_naive", 512, {512, 512}, kTile); });
  add("matmul_tiled_512", kFlops, flops(512),
      [=] { return matmul("matmul_tiled", 512, {512, 512}, kTile); });
  add("matmul_tiled_1024", kFlops, flops(1024),
      [=] { return matmul("matmul_tiled", 1024, {1024, 1024}, kTile); });
#if !BENCH_OPENCL
  add("matmul_simdgroup_1024", kFlops, flops(1024),
      [=] { return matmul("matmul_simdgroup", 1024, {16 * 128, 16}, {128}); });
#endif
  add("nbody_4096", kFlops, kFlopsPerPair * kBodies * kBodies, &nbody);

  constexpr double kWeightBytes = double{kQ4Size} * kQ4Size / kQ4BlockWeights * kQ4BlockBytes;
  add("q4_matvec_row_4096", Unit::GigabytesPerSecond, kWeightBytes,
      [] { return q4_matvec("q4_matvec_row", kQ4Size, 64); });
  add("q4_matvec_simdgroup_4096", Unit::GigabytesPerSecond, kWeightBytes,
      [] { return q4_matvec("q4_matvec_simdgroup", std::size_t{kQ4Size} * 32, 32); });
}

}  // namespace bench
