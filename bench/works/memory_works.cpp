#include "bench/support/data.h"
#include "bench/support/measure.h"
#include "bench/works/works.h"

// Works that memory limits, where the arithmetic is vectorised.
namespace bench {
namespace {

constexpr Size kGroup = {256, 1};

Prepared saxpy() {
  struct State {
    std::vector<float> input = uniform_floats(kElements, -2, 2, 1);
    std::unique_ptr<Memory> x = memory_of(shared_device(), input);
    std::unique_ptr<Memory> y = memory_of(shared_device(), std::vector<float>(kElements, 1));
    std::unique_ptr<Kernel> kernel = shared_device().kernel("elementwise", "saxpy");
  };
  auto state = std::make_shared<State>();
  return {.run =
              [state] {
                shared_device().dispatch(*state->kernel, {kElements}, kGroup,
                                         {state->x, state->y, kSaxpyFactor});
                shared_device().finish();
              },
          .check =
              [state] { return check_saxpy(state->input, contents<float>(*state->y, kElements)); }};
}

/// `repeats` dispatches in a row, which is how a small array is worth a dispatch at all.
Prepared gaussian(std::size_t count, int repeats) {
  struct State {
    explicit State(std::size_t size) : input(uniform_floats(size, -2, 2, 1)) {}
    std::vector<float> input;
    std::unique_ptr<Memory> x = memory_of(shared_device(), input);
    std::unique_ptr<Memory> y = memory_of(shared_device(), std::vector<float>(input.size()));
    std::unique_ptr<Kernel> kernel = shared_device().kernel("elementwise", "gaussian");
  };
  auto state = std::make_shared<State>(count);
  return {.run =
              [state, repeats] {
                for (int i = 0; i < repeats; ++i) {
                  shared_device().dispatch(*state->kernel, {state->input.size()}, kGroup,
                                           {state->x, state->y});
                }
                shared_device().finish();
              },
          .check =
              [state] {
                return check_gaussian(state->input,
                                      contents<float>(*state->y, state->input.size()));
              }};
}

Prepared sum(const char* name, std::size_t elements_per_thread) {
  struct State {
    std::vector<float> input = uniform_floats(kElements, -2, 2, 1);
    std::unique_ptr<Memory> x = memory_of(shared_device(), input);
    std::unique_ptr<Memory> partial;
    std::unique_ptr<Kernel> kernel;
  };
  auto state = std::make_shared<State>();
  const std::size_t groups = kElements / elements_per_thread / kGroup.width;
  state->partial = shared_device().memory(groups * sizeof(float));
  state->kernel = shared_device().kernel("sum", name);
  return {.run =
              [state, groups] {
                shared_device().dispatch(*state->kernel, {groups * kGroup.width}, kGroup,
                                         {state->x, state->partial});
                shared_device().finish();
              },
          .check =
              [state, groups] {
                return check_sum(state->input, contents<float>(*state->partial, groups));
              }};
}

Prepared softmax() {
  constexpr std::size_t kCount = std::size_t{kSoftmaxRows} * kSoftmaxColumns;
  struct State {
    std::vector<float> input = uniform_floats(kCount, -2, 2, 1);
    std::unique_ptr<Memory> x = memory_of(shared_device(), input);
    std::unique_ptr<Memory> y = memory_of(shared_device(), std::vector<float>(kCount));
    std::unique_ptr<Kernel> kernel = shared_device().kernel("softmax", "softmax");
  };
  auto state = std::make_shared<State>();
  return {
      .run =
          [state] {
            shared_device().dispatch(*state->kernel, {kSoftmaxRows * kGroup.width}, kGroup,
                                     {state->x, state->y, kSoftmaxColumns});
            shared_device().finish();
          },
      .check = [state] { return check_softmax(state->input, contents<float>(*state->y, kCount)); }};
}

Prepared allocate(std::size_t bytes) {
  return {.run = [bytes] { shared_device().memory(bytes)->touch(); }, .check = {}};
}

}  // namespace

void add_memory_works() {
  add("saxpy_16M", Unit::GigabytesPerSecond, kElements * 12.0, &saxpy);
  add("gaussian_16M", Unit::GigabytesPerSecond, kElements * 8.0,
      [] { return gaussian(kElements, 1); });
  add("gaussian_64K", Unit::MegaelementsPerSecond, 20 * 65536.0,
      [] { return gaussian(65536, 20); });
  add("sum_tree_16M", Unit::GigabytesPerSecond, kElements * 4.0, [] { return sum("sum_tree", 1); });
  add("sum_strided_16M", Unit::GigabytesPerSecond, kElements * 4.0,
      [] { return sum("sum_strided", 64); });
#if !BENCH_OPENCL
  add("sum_simd_16M", Unit::GigabytesPerSecond, kElements * 4.0,
      [] { return sum("sum_simd", 64); });
#endif
  add("softmax_4096x1024", Unit::GigabytesPerSecond, 8.0 * kSoftmaxRows * kSoftmaxColumns,
      &softmax);
  add("allocate_1MiB", Unit::Microseconds, 1, [] { return allocate(std::size_t{1} << 20); });
  add("allocate_64MiB", Unit::Microseconds, 1, [] { return allocate(std::size_t{64} << 20); });
}

}  // namespace bench
