#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/native/native.h"
#include "bench/native/simd.h"
#include "bench/support/data.h"
#include "bench/support/huge_pages.h"
#include "bench/support/measure.h"

namespace bench {
namespace {

constexpr std::size_t kGroup = 256;

struct Arrays {
  explicit Arrays(std::size_t count = kElements)
      : input(uniform_floats(count, -2, 2, 1)), x(array_of(input)), y(count, 1.0f) {}

  std::vector<float> input;
  Array<float> x;
  Array<float> y;
};

Prepared saxpy() {
  auto state = std::make_shared<Arrays>();
  return {.run =
              [state] {
                const float* x = state->x.data();
                float* y = state->y.data();
#pragma omp parallel for simd schedule(static)
                for (std::size_t i = 0; i < kElements; ++i) {
                  y[i] = kSaxpyFactor * x[i] + y[i];
                }
              },
          .check = [state] { return check_saxpy(state->input, state->y); }};
}

Prepared gaussian(std::size_t count, int repeats) {
  auto state = std::make_shared<Arrays>(count);
  return {.run =
              [state, repeats] {
                const float* x = state->x.data();
                float* y = state->y.data();
                const std::size_t size = state->x.size();
                for (int repeat = 0; repeat < repeats; ++repeat) {
#pragma omp parallel for schedule(static)
                  for (std::size_t i = 0; i < size; i += 8) {
                    const __m256 v = _mm256_load_ps(x + i);
                    _mm256_store_ps(y + i, exp8(_mm256_fnmadd_ps(v, v, _mm256_setzero_ps())));
                  }
                }
              },
          .check = [state] { return check_gaussian(state->input, state->y); }};
}

/// A copy with stores that go past the caches.
Prepared streaming_bandwidth() {
  auto state = std::make_shared<Arrays>();
  return {.run =
              [state] {
                const float* x = state->x.data();
                float* y = state->y.data();
#pragma omp parallel for schedule(static)
                for (std::size_t i = 0; i < kElements; i += 8) {
                  _mm256_stream_ps(y + i, _mm256_load_ps(x + i));
                }
                _mm_sfence();
              },
          .check = [state] { return state->x == state->y ? "" : "the copy differs"; }};
}

Prepared sum() {
  auto state = std::make_shared<Arrays>();
  auto total = std::make_shared<float>();
  return {.run =
              [state, total] {
                const float* x = state->x.data();
                float result = 0;
#pragma omp parallel for simd reduction(+ : result) schedule(static)
                for (std::size_t i = 0; i < kElements; ++i) {
                  result += x[i];
                }
                *total = result;
              },
          .check = [state, total] { return check_sum(state->input, {total.get(), 1}); }};
}

Prepared sum_tree_by_lanes() {
  auto state = std::make_shared<Arrays>();
  auto sums = std::make_shared<std::vector<float>>(kElements / kGroup);
  return {.run =
              [state, sums] {
#pragma omp parallel for schedule(static)
                for (std::size_t group = 0; group < sums->size(); ++group) {
                  alignas(32) float partial[kGroup];
                  std::memcpy(partial, state->x.data() + group * kGroup, sizeof(partial));
                  for (std::size_t offset = kGroup / 2; offset >= 8; offset /= 2) {
                    for (std::size_t i = 0; i < offset; i += 8) {
                      _mm256_store_ps(partial + i,
                                      _mm256_add_ps(_mm256_load_ps(partial + i),
                                                    _mm256_load_ps(partial + i + offset)));
                    }
                  }
                  for (std::size_t offset = 4; offset > 0; offset /= 2) {
                    for (std::size_t i = 0; i < offset; ++i) {
                      partial[i] += partial[i + offset];
                    }
                  }
                  (*sums)[group] = partial[0];
                }
              },
          .check = [state, sums] { return check_sum(state->input, *sums); }};
}

void softmax_row(const float* x, float* y) {
  __m256 even = _mm256_load_ps(x);
  __m256 odd = _mm256_load_ps(x + 8);
  for (std::size_t i = 16; i < kSoftmaxColumns; i += 16) {
    even = _mm256_max_ps(even, _mm256_load_ps(x + i));
    odd = _mm256_max_ps(odd, _mm256_load_ps(x + i + 8));
  }
  const __m256 maximum = _mm256_set1_ps(max_of_lanes(_mm256_max_ps(even, odd)));
  __m256 sum = _mm256_setzero_ps();
  for (std::size_t i = 0; i < kSoftmaxColumns; i += 8) {
    const __m256 e = exp8(_mm256_sub_ps(_mm256_load_ps(x + i), maximum));
    sum = _mm256_add_ps(sum, e);
    _mm256_store_ps(y + i, e);
  }
  const __m256 scale = _mm256_set1_ps(1.0f / sum_of_lanes(sum));
  for (std::size_t i = 0; i < kSoftmaxColumns; i += 8) {
    _mm256_store_ps(y + i, _mm256_mul_ps(scale, _mm256_load_ps(y + i)));
  }
}

Prepared softmax() {
  auto state = std::make_shared<Arrays>(std::size_t{kSoftmaxRows} * kSoftmaxColumns);
  return {.run =
              [state] {
#pragma omp parallel for schedule(static)
                for (std::size_t row = 0; row < kSoftmaxRows; ++row) {
                  softmax_row(state->x.data() + row * kSoftmaxColumns,
                              state->y.data() + row * kSoftmaxColumns);
                }
              },
          .check = [state] { return check_softmax(state->input, state->y); }};
}

/// What the system's allocator takes to give out memory that is touched and returned.
Prepared malloc_and_touch(std::size_t bytes) {
  return {.run =
              [bytes] {
                auto* memory = static_cast<volatile char*>(::malloc(bytes));
                for (std::size_t i = 0; i < bytes; i += 4096) {
                  memory[i] = 1;
                }
                ::free(const_cast<char*>(memory));
              },
          .check = {}};
}

}  // namespace

void add_native_memory_works() {
  constexpr Unit kRate = Unit::GigabytesPerSecond;
  add("saxpy_16M/cpp", kRate, kElements * 12.0, &saxpy);
  add("gaussian_16M/cpp", kRate, kElements * 8.0, [] { return gaussian(kElements, 1); });
  add("gaussian_16M/streaming", kRate, kElements * 8.0, &streaming_bandwidth);
  add("gaussian_64K/cpp", Unit::MegaelementsPerSecond, 20 * 65536.0,
      [] { return gaussian(65536, 20); });
  for (const char* work : {"sum_tree_16M", "sum_strided_16M", "sum_simd_16M"}) {
    add(std::string(work) + "/cpp", kRate, kElements * 4.0, &sum);
  }
  add("sum_tree_16M/by_lanes", kRate, kElements * 4.0, &sum_tree_by_lanes);
  add("softmax_4096x1024/cpp", kRate, 8.0 * kSoftmaxRows * kSoftmaxColumns, &softmax);
  add("allocate_1MiB/malloc", Unit::Microseconds, 1,
      [] { return malloc_and_touch(std::size_t{1} << 20); });
  add("allocate_64MiB/malloc", Unit::Microseconds, 1,
      [] { return malloc_and_touch(std::size_t{64} << 20); });
}

}  // namespace bench
