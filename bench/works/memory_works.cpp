#include <benchmark/benchmark.h>

#include <functional>

#include "bench/support/data.h"
#include "bench/support/measure.h"
#include "bench/support/traffic.h"
#include "bench/works/works.h"

// Works that memory limits, where the arithmetic is vectorised.
namespace bench {
namespace {

constexpr Size kGroup = {256, 1};

struct Arrays;
using Traffic = std::function<void(Arrays&)>;

/// What a work and the traffic that it is compared with have in common. The same pages for both:
/// the speed of memory depends on where the system has put it.
struct Arrays {
  explicit Arrays(std::size_t size)
      : input(uniform_floats(size, -2, 2, 1)),
        x(memory_of(shared_device(), input)),
        y(memory_of(shared_device(), std::vector<float>(size, 1))) {}

  float* x_address() const { return static_cast<float*>(x->address()); }
  float* y_address() const { return static_cast<float*>(y->address()); }

  std::vector<float> input;
  std::unique_ptr<Memory> x;
  std::unique_ptr<Memory> y;
};

/// Made by the first work that asks.
class SharedArrays {
 public:
  explicit SharedArrays(std::size_t size) : size_(size) {}

  std::shared_ptr<Arrays> get() {
    if (*arrays_ == nullptr) {
      *arrays_ = std::make_shared<Arrays>(size_);
    }
    return *arrays_;
  }

 private:
  std::size_t size_;
  std::shared_ptr<std::shared_ptr<Arrays>> arrays_ = std::make_shared<std::shared_ptr<Arrays>>();
};

Prepared saxpy(const std::shared_ptr<Arrays>& arrays) {
  std::shared_ptr<Kernel> kernel = shared_device().kernel("elementwise", "saxpy");
  return {
      .run =
          [=] {
            shared_device().dispatch(*kernel, {kElements}, kGroup,
                                     {arrays->x, arrays->y, kSaxpyFactor});
            shared_device().finish();
          },
      .check = [=] { return check_saxpy(arrays->input, contents<float>(*arrays->y, kElements)); }};
}

/// `repeats` dispatches in a row, which is how a small array is worth a dispatch at all.
Prepared gaussian(const std::shared_ptr<Arrays>& arrays, int repeats) {
  std::shared_ptr<Kernel> kernel = shared_device().kernel("elementwise", "gaussian");
  const std::size_t size = arrays->input.size();
  return {
      .run =
          [=] {
            for (int i = 0; i < repeats; ++i) {
              shared_device().dispatch(*kernel, {size}, kGroup, {arrays->x, arrays->y});
            }
            shared_device().finish();
          },
      .check = [=] { return check_gaussian(arrays->input, contents<float>(*arrays->y, size)); }};
}

/// Each group adds up `elements_per_thread` elements for each of its threads.
Prepared sum(const std::shared_ptr<Arrays>& arrays,
             const std::string& name,
             std::size_t elements_per_thread) {
  const std::size_t groups = kElements / elements_per_thread / kGroup.width;
  std::shared_ptr<Kernel> kernel = shared_device().kernel("sum", name);
  return {.run =
              [=] {
                shared_device().dispatch(*kernel, {groups * kGroup.width}, kGroup,
                                         {arrays->x, arrays->y});
                shared_device().finish();
              },
          .check = [=] { return check_sum(arrays->input, contents<float>(*arrays->y, groups)); }};
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
  constexpr Unit kRate = Unit::GigabytesPerSecond;
  SharedArrays whole(kElements);
  add("saxpy_16M", kRate, kElements * 12.0, [=]() mutable { return saxpy(whole.get()); });
  add("gaussian_16M", kRate, kElements * 8.0, [=]() mutable { return gaussian(whole.get(), 1); });
  add("gaussian_64K", Unit::MegaelementsPerSecond, 20 * 65536.0,
      [] { return gaussian(std::make_shared<Arrays>(65536), 20); });
  add("sum_tree_16M", kRate, kElements * 4.0,
      [=]() mutable { return sum(whole.get(), "sum_tree", 1); });
  add("sum_strided_16M", kRate, kElements * 4.0,
      [=]() mutable { return sum(whole.get(), "sum_strided", 64); });
#if !BENCH_OPENCL
  add("sum_simd_16M", kRate, kElements * 4.0,
      [=]() mutable { return sum(whole.get(), "sum_simd", 64); });
  const auto add_traffic = [&](const std::string& work, double bytes, const Traffic& traffic) {
    add(work + "/bandwidth", kRate, kElements * bytes, [=]() mutable {
      const std::shared_ptr<Arrays> arrays = whole.get();
      return Prepared{.run = [=] { traffic(*arrays); }, .check = {}};
    });
  };
  add_traffic("saxpy_16M", 12,
              [](Arrays& a) { update_traffic(a.x_address(), a.y_address(), kElements); });
  add_traffic("gaussian_16M", 8,
              [](Arrays& a) { copy_traffic(a.x_address(), a.y_address(), kElements); });
  for (const char* work : {"sum_tree_16M", "sum_strided_16M", "sum_simd_16M"}) {
    add_traffic(work, 4, [](Arrays& a) {
      benchmark::DoNotOptimize(read_traffic(a.x_address(), kElements));
    });
  }
#endif
  add("softmax_4096x1024", Unit::GigabytesPerSecond, 8.0 * kSoftmaxRows * kSoftmaxColumns,
      &softmax);
  add("allocate_1MiB", Unit::Microseconds, 1, [] { return allocate(std::size_t{1} << 20); });
  add("allocate_64MiB", Unit::Microseconds, 1, [] { return allocate(std::size_t{64} << 20); });
}

}  // namespace bench
