#include "bench/support/traffic.h"

namespace bench {

float read_traffic(const float* from, std::size_t count) {
  // Sums beside each other, so that additions do not wait.
  constexpr std::size_t kSums = 128;
  float total = 0;
#pragma omp parallel reduction(+ : total)
  {
    float sums[kSums] = {};
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < count / kSums * kSums; i += kSums) {
      for (std::size_t j = 0; j < kSums; ++j) {
        sums[j] += from[i + j];
      }
    }
    for (const float sum : sums) {
      total += sum;
    }
  }
  return total;
}

void copy_traffic(const float* from, float* to, std::size_t count) {
#pragma omp parallel for simd schedule(static)
  for (std::size_t i = 0; i < count; ++i) {
    // A sum, which no compiler takes for a call of memcpy with streaming stores.
    to[i] = from[i] + 1.0F;
  }
}

void join_traffic(const float* a, const float* b, float* to, std::size_t count) {
#pragma omp parallel for simd schedule(static)
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = a[i] + b[i];
  }
}

void update_traffic(const float* from, float* to, std::size_t count) {
#pragma omp parallel for simd schedule(static)
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = from[i] + to[i];
  }
}

}  // namespace bench
