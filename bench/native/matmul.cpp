#include <algorithm>
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

constexpr std::size_t kPanel = 16;
constexpr std::size_t kTile = 16;
constexpr std::size_t kRows = 6;
constexpr std::size_t kDepth = 256;

void matmul_plain(const float* a, const float* b, float* c, std::size_t n) {
#pragma omp parallel for schedule(static)
  for (std::size_t row = 0; row < n; ++row) {
    float* out = c + row * n;
    std::fill_n(out, n, 0.0f);
    for (std::size_t k = 0; k < n; ++k) {
      const float factor = a[row * n + k];
      const float* in = b + k * n;
#pragma omp simd
      for (std::size_t column = 0; column < n; ++column) {
        out[column] += factor * in[column];
      }
    }
  }
}

/// 4 rows by 16 columns of results share one loop over k, straight from the matrices.
void matmul_naive_by_lanes(const float* a, const float* b, float* c, std::size_t n) {
#pragma omp parallel for collapse(2) schedule(static)
  for (std::size_t group_y = 0; group_y < n; group_y += kTile) {
    for (std::size_t x = 0; x < n; x += kTile) {
      for (std::size_t y = group_y; y < group_y + kTile; y += 4) {
        __m256 sums[4][2] = {};
        for (std::size_t k = 0; k < n; ++k) {
          const __m256 b0 = _mm256_loadu_ps(b + k * n + x);
          const __m256 b1 = _mm256_loadu_ps(b + k * n + x + 8);
          for (std::size_t r = 0; r < 4; ++r) {
            const __m256 factor = _mm256_broadcast_ss(a + (y + r) * n + k);
            sums[r][0] = _mm256_fmadd_ps(factor, b0, sums[r][0]);
            sums[r][1] = _mm256_fmadd_ps(factor, b1, sums[r][1]);
          }
        }
        for (std::size_t r = 0; r < 4; ++r) {
          _mm256_storeu_ps(c + (y + r) * n + x, sums[r][0]);
          _mm256_storeu_ps(c + (y + r) * n + x + 8, sums[r][1]);
        }
      }
    }
  }
}

struct TileGroup {
  alignas(32) float a[kTile][kTile];
  alignas(32) float b[kTile][kTile];
  alignas(32) float sums[kTile][kTile];

  void load(const float* a_from, const float* b_from, std::size_t n) {
    for (std::size_t y = 0; y < kTile; ++y) {
      std::memcpy(a[y], a_from + y * n, sizeof(a[y]));
      std::memcpy(b[y], b_from + y * n, sizeof(b[y]));
    }
  }

  void accumulate() {
    for (std::size_t y = 0; y < kTile; y += 4) {
      __m256 rows[4][2];
      for (std::size_t r = 0; r < 4; ++r) {
        rows[r][0] = _mm256_load_ps(&sums[y + r][0]);
        rows[r][1] = _mm256_load_ps(&sums[y + r][8]);
      }
      for (std::size_t k = 0; k < kTile; ++k) {
        const __m256 b0 = _mm256_load_ps(&b[k][0]);
        const __m256 b1 = _mm256_load_ps(&b[k][8]);
        for (std::size_t r = 0; r < 4; ++r) {
          const __m256 factor = _mm256_broadcast_ss(&a[y + r][k]);
          rows[r][0] = _mm256_fmadd_ps(factor, b0, rows[r][0]);
          rows[r][1] = _mm256_fmadd_ps(factor, b1, rows[r][1]);
        }
      }
      for (std::size_t r = 0; r < 4; ++r) {
        _mm256_store_ps(&sums[y + r][0], rows[r][0]);
        _mm256_store_ps(&sums[y + r][8], rows[r][1]);
      }
    }
  }
};

/// Tiles in a group's own memory, sums kept across barriers in memory too.
void matmul_tiled_by_lanes(const float* a, const float* b, float* c, std::size_t n) {
#pragma omp parallel for collapse(2) schedule(static)
  for (std::size_t y = 0; y < n; y += kTile) {
    for (std::size_t x = 0; x < n; x += kTile) {
      TileGroup group;
      std::memset(group.sums, 0, sizeof(group.sums));
      for (std::size_t k = 0; k < n; k += kTile) {
        group.load(a + y * n + k, b + k * n + x, n);
        group.accumulate();
      }
      for (std::size_t r = 0; r < kTile; ++r) {
        std::memcpy(c + (y + r) * n + x, group.sums[r], sizeof(group.sums[r]));
      }
    }
  }
}

/// A register tile of 6 x 16 over packed panels.
void multiply_panel(const float* a,
                    const float* b,
                    float* c,
                    std::size_t n,
                    std::size_t depth,
                    std::size_t rows,
                    bool adds) {
  __m256 sums[kRows][2] = {};
  for (std::size_t k = 0; k < depth; ++k, a += kRows, b += kPanel) {
    const __m256 b0 = _mm256_loadu_ps(b);
    const __m256 b1 = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kRows; ++r) {
      const __m256 factor = _mm256_broadcast_ss(a + r);
      sums[r][0] = _mm256_fmadd_ps(factor, b0, sums[r][0]);
      sums[r][1] = _mm256_fmadd_ps(factor, b1, sums[r][1]);
    }
  }
#pragma GCC unroll 6
  for (std::size_t r = 0; r < kRows; ++r) {
    if (r < rows) {
      float* out = c + r * n;
      if (adds) {
        sums[r][0] = _mm256_add_ps(sums[r][0], _mm256_loadu_ps(out));
        sums[r][1] = _mm256_add_ps(sums[r][1], _mm256_loadu_ps(out + 8));
      }
      _mm256_storeu_ps(out, sums[r][0]);
      _mm256_storeu_ps(out + 8, sums[r][1]);
    }
  }
}

void matmul_packed(const float* a, const float* b, float* c, std::size_t n) {
  Array<float> packed_b(n * kDepth);
  for (std::size_t first = 0; first < n; first += kDepth) {
    const std::size_t depth = std::min(kDepth, n - first);
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (std::size_t column = 0; column < n; column += kPanel) {
        for (std::size_t k = 0; k < depth; ++k) {
          std::memcpy(&packed_b[column * depth + k * kPanel], b + (first + k) * n + column,
                      kPanel * sizeof(float));
        }
      }
      alignas(32) float packed_a[kRows * kDepth];
#pragma omp for schedule(static)
      for (std::size_t row = 0; row < n; row += kRows) {
        const std::size_t rows = std::min(kRows, n - row);
        for (std::size_t k = 0; k < depth; ++k) {
          for (std::size_t r = 0; r < kRows; ++r) {
            packed_a[k * kRows + r] = r < rows ? a[(row + r) * n + first + k] : 0;
          }
        }
        for (std::size_t column = 0; column < n; column += kPanel) {
          multiply_panel(packed_a, &packed_b[column * depth], c + row * n + column, n, depth, rows,
                         first != 0);
        }
      }
    }
  }
}

using Multiply = void (*)(const float* a, const float* b, float* c, std::size_t n);

Prepared matmul(Multiply multiply, std::size_t n) {
  struct State {
    explicit State(std::size_t size)
        : a_values(uniform_floats(size * size, -0.5f, 0.5f, 1)),
          b_values(uniform_floats(size * size, -0.5f, 0.5f, 2)) {}
    std::vector<float> a_values;
    std::vector<float> b_values;
    Array<float> a = array_of(a_values);
    Array<float> b = array_of(b_values);
    Array<float> c = Array<float>(a_values.size());
  };
  auto state = std::make_shared<State>(n);
  return {.run = [=] { multiply(state->a.data(), state->b.data(), state->c.data(), n); },
          .check = [=] { return check_matmul(state->a_values, state->b_values, state->c, n); }};
}

void add_matmul(const std::string& name, Multiply multiply, std::size_t n) {
  const double flops = 2.0 * static_cast<double>(n * n * n);
  add(name, Unit::GigaflopsPerSecond, flops, [=] { return matmul(multiply, n); });
}

}  // namespace

void add_native_matmul_works() {
  add_matmul("matmul_naive_512/cpp", &matmul_plain, 512);
  add_matmul("matmul_naive_512/by_lanes", &matmul_naive_by_lanes, 512);
  add_matmul("matmul_tiled_512/cpp", &matmul_packed, 512);
  add_matmul("matmul_tiled_512/by_lanes", &matmul_tiled_by_lanes, 512);
  add_matmul("matmul_tiled_1024/cpp", &matmul_packed, 1024);
  add_matmul("matmul_tiled_1024/by_lanes", &matmul_tiled_by_lanes, 1024);
  add_matmul("matmul_simdgroup_1024/cpp", &matmul_packed, 1024);
}

}  // namespace bench
