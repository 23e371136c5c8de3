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

/// Bodies as one array for each coordinate.
struct Bodies {
  std::vector<float> values = uniform_floats(std::size_t{kBodies} * 4, 0, 1, 1);
  Array<float> planes[4];
  Array<float> accelerations[3];

  Bodies() {
    for (std::size_t plane = 0; plane < 4; ++plane) {
      planes[plane].resize(kBodies);
      for (std::size_t i = 0; i < kBodies; ++i) {
        planes[plane][i] = values[i * 4 + plane];
      }
    }
    for (Array<float>& plane : accelerations) {
      plane.resize(kBodies);
    }
  }

  std::vector<float> interleaved() const {
    std::vector<float> result(values.size());
    for (std::size_t i = 0; i < kBodies; ++i) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        result[i * 4 + axis] = accelerations[axis][i];
      }
    }
    return result;
  }
};

/// Eight bodies against all, with the processor's estimate of the root and a Newton step.
void accelerate(Bodies& bodies, std::size_t i) {
  const float* x = bodies.planes[0].data();
  const float* y = bodies.planes[1].data();
  const float* z = bodies.planes[2].data();
  const float* mass = bodies.planes[3].data();
  const __m256 px = _mm256_load_ps(x + i);
  const __m256 py = _mm256_load_ps(y + i);
  const __m256 pz = _mm256_load_ps(z + i);
  __m256 ax = _mm256_setzero_ps();
  __m256 ay = _mm256_setzero_ps();
  __m256 az = _mm256_setzero_ps();
  for (std::size_t j = 0; j < kBodies; ++j) {
    const __m256 dx = _mm256_sub_ps(_mm256_broadcast_ss(x + j), px);
    const __m256 dy = _mm256_sub_ps(_mm256_broadcast_ss(y + j), py);
    const __m256 dz = _mm256_sub_ps(_mm256_broadcast_ss(z + j), pz);
    const __m256 squared = _mm256_fmadd_ps(
        dx, dx, _mm256_fmadd_ps(dy, dy, _mm256_fmadd_ps(dz, dz, _mm256_set1_ps(1e-3f))));
    __m256 inverse = _mm256_rsqrt_ps(squared);
    inverse = _mm256_mul_ps(
        _mm256_mul_ps(_mm256_set1_ps(0.5f), inverse),
        _mm256_fnmadd_ps(_mm256_mul_ps(squared, inverse), inverse, _mm256_set1_ps(3.0f)));
    const __m256 force = _mm256_mul_ps(_mm256_broadcast_ss(mass + j),
                                       _mm256_mul_ps(inverse, _mm256_mul_ps(inverse, inverse)));
    ax = _mm256_fmadd_ps(force, dx, ax);
    ay = _mm256_fmadd_ps(force, dy, ay);
    az = _mm256_fmadd_ps(force, dz, az);
  }
  _mm256_store_ps(&bodies.accelerations[0][i], ax);
  _mm256_store_ps(&bodies.accelerations[1][i], ay);
  _mm256_store_ps(&bodies.accelerations[2][i], az);
}

Prepared nbody() {
  auto state = std::make_shared<Bodies>();
  return {.run =
              [state] {
#pragma omp parallel for schedule(static)
                for (std::size_t i = 0; i < kBodies; i += 8) {
                  accelerate(*state, i);
                }
              },
          .check = [state] { return check_nbody(state->values, state->interleaved()); }};
}

__m256 widen(__m128i bytes) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}

float q4_row(const std::uint8_t* block, const float* x) {
  __m256 low_sum = _mm256_setzero_ps();
  __m256 high_sum = _mm256_setzero_ps();
  for (std::size_t k = 0; k < kQ4Size / kQ4BlockWeights; ++k, block += kQ4BlockBytes, x += 32) {
    std::uint16_t half = 0;
    std::memcpy(&half, block, sizeof(half));
    const __m256 scale = _mm256_set1_ps(_cvtsh_ss(half));
    const __m128i pairs = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 2));
    const __m128i mask = _mm_set1_epi8(15);
    const __m128i offset = _mm_set1_epi8(8);
    const __m128i low = _mm_sub_epi8(_mm_and_si128(pairs, mask), offset);
    const __m128i high = _mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(pairs, 4), mask), offset);
    __m256 a = _mm256_mul_ps(widen(low), _mm256_loadu_ps(x));
    a = _mm256_fmadd_ps(widen(_mm_srli_si128(low, 8)), _mm256_loadu_ps(x + 8), a);
    __m256 b = _mm256_mul_ps(widen(high), _mm256_loadu_ps(x + 16));
    b = _mm256_fmadd_ps(widen(_mm_srli_si128(high, 8)), _mm256_loadu_ps(x + 24), b);
    low_sum = _mm256_fmadd_ps(scale, a, low_sum);
    high_sum = _mm256_fmadd_ps(scale, b, high_sum);
  }
  return sum_of_lanes(_mm256_add_ps(low_sum, high_sum));
}

Prepared q4_matvec() {
  struct State {
    Q4Problem problem = make_q4_problem();
    Array<std::uint8_t> weights = array_of(problem.weights);
    Array<float> x = array_of(problem.x);
    Array<float> y = Array<float>(kQ4Size);
  };
  auto state = std::make_shared<State>();
  return {.run =
              [state] {
                const std::size_t row_bytes = state->weights.size() / kQ4Size;
#pragma omp parallel for schedule(static)
                for (std::size_t row = 0; row < kQ4Size; ++row) {
                  state->y[row] = q4_row(&state->weights[row * row_bytes], state->x.data());
                }
              },
          .check = [state] { return check_q4(state->problem, state->y); }};
}

}  // namespace

void add_native_compute_works() {
  add("nbody_4096/cpp", Unit::GigaflopsPerSecond, kFlopsPerPair * kBodies * kBodies, &nbody);
  constexpr double kWeightBytes = double{kQ4Size} * kQ4Size / kQ4BlockWeights * kQ4BlockBytes;
  for (const char* work : {"q4_matvec_row_4096", "q4_matvec_simdgroup_4096"}) {
    add(std::string(work) + "/cpp", Unit::GigabytesPerSecond, kWeightBytes, &q4_matvec);
  }
}

}  // namespace bench
