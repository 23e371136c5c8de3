#include <algorithm>
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

/// `kVectors` vectors of pixels in one loop, so that their dependent steps overlap.
template <int kVectors>
void mandelbrot_pixels(std::uint32_t* out, std::size_t px, std::size_t py) {
  const __m256 four = _mm256_set1_ps(4.0f);
  const __m256 scale = _mm256_set1_ps(2.5f / kMandelbrotSize);
  const __m256 cy = _mm256_set1_ps(-1.25f + 2.5f * static_cast<float>(py) / kMandelbrotSize);
  __m256 cx[kVectors];
  __m256 x[kVectors];
  __m256 y[kVectors];
  __m256i steps[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const __m256 column =
        _mm256_add_ps(_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7),
                      _mm256_set1_ps(static_cast<float>(px + static_cast<std::size_t>(v) * 8)));
    cx[v] = _mm256_fmadd_ps(scale, column, _mm256_set1_ps(-2.0f));
    x[v] = y[v] = _mm256_setzero_ps();
    steps[v] = _mm256_setzero_si256();
  }
  for (std::uint32_t step = 0; step < kMandelbrotLimit; ++step) {
    __m256 any = _mm256_setzero_ps();
    for (int v = 0; v < kVectors; ++v) {
      const __m256 xx = _mm256_mul_ps(x[v], x[v]);
      const __m256 yy = _mm256_mul_ps(y[v], y[v]);
      // A lane that has left grows to infinity and NaN, and never compares true again.
      const __m256 inside = _mm256_cmp_ps(_mm256_add_ps(xx, yy), four, _CMP_LE_OQ);
      any = _mm256_or_ps(any, inside);
      steps[v] = _mm256_sub_epi32(steps[v], _mm256_castps_si256(inside));
      const __m256 xy = _mm256_mul_ps(x[v], y[v]);
      y[v] = _mm256_fmadd_ps(_mm256_set1_ps(2.0f), xy, cy);
      x[v] = _mm256_add_ps(_mm256_sub_ps(xx, yy), cx[v]);
    }
    if (_mm256_movemask_ps(any) == 0) {
      break;
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + v * 8), steps[v]);
  }
}

template <int kVectors>
Prepared mandelbrot() {
  auto steps =
      std::make_shared<Array<std::uint32_t>>(std::size_t{kMandelbrotSize} * kMandelbrotSize);
  return {.run =
              [steps] {
#pragma omp parallel for schedule(dynamic, 8)
                for (std::size_t y = 0; y < kMandelbrotSize; ++y) {
                  for (std::size_t x = 0; x < kMandelbrotSize; x += 8 * kVectors) {
                    mandelbrot_pixels<kVectors>(&(*steps)[y * kMandelbrotSize + x], x, y);
                  }
                }
              },
          .check = [steps] { return check_mandelbrot(*steps); }};
}

/// The lower of each pair that is `distance` apart, counted without gaps.
std::size_t lower_of_pair(std::size_t pair, std::size_t distance) {
  return (pair & ~(distance - 1)) << 1 | (pair & (distance - 1));
}

void bitonic_stage(std::uint32_t* values, std::size_t distance, std::size_t block) {
  if (distance < 8) {
#pragma omp parallel for simd schedule(static)
    for (std::size_t pair = 0; pair < kSortElements / 2; ++pair) {
      const std::size_t i = lower_of_pair(pair, distance);
      const std::uint32_t a = values[i];
      const std::uint32_t b = values[i + distance];
      const std::uint32_t low = std::min(a, b);
      const std::uint32_t high = std::max(a, b);
      const bool ascending = (i & block) == 0;
      values[i] = ascending ? low : high;
      values[i + distance] = ascending ? high : low;
    }
    return;
  }
#pragma omp parallel for schedule(static)
  for (std::size_t pair = 0; pair < kSortElements / 2; pair += 8) {
    const std::size_t i = lower_of_pair(pair, distance);
    auto* first = reinterpret_cast<__m256i*>(values + i);
    auto* second = reinterpret_cast<__m256i*>(values + i + distance);
    const __m256i a = _mm256_loadu_si256(first);
    const __m256i b = _mm256_loadu_si256(second);
    const __m256i low = _mm256_min_epu32(a, b);
    const __m256i high = _mm256_max_epu32(a, b);
    const bool ascending = (i & block) == 0;
    _mm256_storeu_si256(first, ascending ? low : high);
    _mm256_storeu_si256(second, ascending ? high : low);
  }
}

Prepared bitonic() {
  struct State {
    std::vector<std::uint32_t> input = random_words(kSortElements);
    Array<std::uint32_t> values = array_of(input);
  };
  auto state = std::make_shared<State>();
  return {.run =
              [state] {
                for (std::size_t block = 2; block <= kSortElements; block *= 2) {
                  for (std::size_t distance = block / 2; distance > 0; distance /= 2) {
                    bitonic_stage(state->values.data(), distance, block);
                  }
                }
              },
          .check = [state] { return check_sort(state->input, state->values); },
          .restore = [state] { std::ranges::copy(state->input, state->values.begin()); }};
}

/// Four tables for each thread, so that equal neighbours do not wait for each other.
void count_bytes(const std::uint8_t* bytes, std::uint32_t* counts) {
#pragma omp parallel
  {
    std::uint32_t tables[4][256] = {};
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < kElements; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, sizeof(word));
      for (int byte = 0; byte < 8; ++byte) {
        ++tables[byte % 4][word >> (8 * byte) & 255];
      }
    }
#pragma omp critical
    for (int i = 0; i < 256; ++i) {
      counts[i] += tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i];
    }
  }
}

Prepared histogram() {
  struct State {
    std::vector<std::uint8_t> input = random_bytes(kElements);
    Array<std::uint8_t> bytes = array_of(input);
    std::vector<std::uint32_t> counts = std::vector<std::uint32_t>(256);
  };
  auto state = std::make_shared<State>();
  return {.run = [state] { count_bytes(state->bytes.data(), state->counts.data()); },
          .check = [state] { return check_histogram(state->input, state->counts); },
          .restore = [state] { std::ranges::fill(state->counts, 0); }};
}

}  // namespace

void add_native_divergent_works() {
  constexpr double kPixels = double{kMandelbrotSize} * kMandelbrotSize;
  add("mandelbrot_1024/cpp", Unit::MegapixelsPerSecond, kPixels, &mandelbrot<2>);
  add("mandelbrot_1024/by_lanes", Unit::MegapixelsPerSecond, kPixels, &mandelbrot<1>);
  add("bitonic_1M/cpp", Unit::MegaelementsPerSecond, kSortElements, &bitonic);
  add("histogram_16MB/cpp", Unit::GigabytesPerSecond, kElements, &histogram);
}

}  // namespace bench
