#include "bench/support/data.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace bench {
namespace {

// A stride that is no multiple of a vector or a group, so that every lane is looked at.
constexpr std::size_t kSampleStride = 997;

std::string compare(const char* what, double got, double wanted, double tolerance) {
  if (std::abs(got - wanted) <= tolerance) {
    return {};
  }
  return std::string(what) + " is " + std::to_string(got) + ", not " + std::to_string(wanted);
}

/// Each word of `out` is what `expected` gives for that of `in`.
template <typename Expected>
std::string check_words(const char* what,
                        std::span<const std::uint32_t> in,
                        std::span<const std::uint32_t> out,
                        const Expected& expected) {
  for (std::size_t i = 0; i < out.size(); i += kSampleStride) {
    const std::string problem = compare(what, out[i], expected(in[i]), 0);
    if (!problem.empty()) {
      return problem;
    }
  }
  return {};
}

/// Half from a float that is a normal half.
std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits >> 13) - ((127u - 15u) << 10));
}

float half_value(std::uint16_t bits) {
  return std::bit_cast<float>((std::uint32_t{bits} + ((127u - 15u) << 10)) << 13);
}

std::uint32_t mandelbrot_steps(std::uint32_t px, std::uint32_t py) {
  const float cx = -2.0f + 2.5f * static_cast<float>(px) / kMandelbrotSize;
  const float cy = -1.25f + 2.5f * static_cast<float>(py) / kMandelbrotSize;
  float x = 0;
  float y = 0;
  std::uint32_t steps = 0;
  while (steps < kMandelbrotLimit && x * x + y * y <= 4.0f) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++steps;
  }
  return steps;
}

}  // namespace

float Random::uniform(float low, float high) {
  return low + (high - low) * static_cast<float>(next() >> 8) * (1.0f / 16777216.0f);
}

std::vector<float> uniform_floats(std::size_t count, float low, float high, std::uint32_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  std::generate(values.begin(), values.end(), [&] { return random.uniform(low, high); });
  return values;
}

std::vector<std::uint32_t> random_words(std::size_t count) {
  Random random(3);
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) {
    // The low bits of the generator have short periods.
    const std::uint32_t high = random.next() & 0xffff0000u;
    word = high | random.next() >> 16;
  }
  return words;
}

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  Random random(5);
  std::vector<std::uint8_t> bytes(count);
  std::generate(bytes.begin(), bytes.end(),
                [&] { return static_cast<std::uint8_t>(random.next() >> 24); });
  return bytes;
}

Q4Problem make_q4_problem() {
  constexpr std::size_t kBlocks = kQ4Size / kQ4BlockWeights;
  Random random(7);
  Q4Problem problem;
  problem.x = uniform_floats(kQ4Size, -0.5f, 0.5f, 11);
  problem.weights.resize(kQ4Size * kBlocks * kQ4BlockBytes);
  problem.y.resize(kQ4Size);
  std::uint8_t* block = problem.weights.data();
  for (double& y : problem.y) {
    for (std::size_t k = 0; k < kBlocks; ++k, block += kQ4BlockBytes) {
      const std::uint16_t scale = half_bits(random.uniform(0.01f, 0.03f));
      std::memcpy(block, &scale, sizeof(scale));
      const float* x = &problem.x[k * kQ4BlockWeights];
      double sum = 0;
      for (std::size_t j = 0; j < 16; ++j) {
        const auto pair = static_cast<std::uint8_t>(random.next() >> 24);
        block[2 + j] = pair;
        sum += ((pair & 15) - 8) * double{x[j]} + ((pair >> 4) - 8) * double{x[j + 16]};
      }
      y += double{half_value(scale)} * sum;
    }
  }
  return problem;
}

std::string check_saxpy(std::span<const float> x, std::span<const float> y) {
  for (std::size_t i = 0; i < x.size(); i += kSampleStride) {
    const std::string problem = compare("saxpy", y[i], kSaxpyFactor * x[i] + 1, 1e-6);
    if (!problem.empty()) {
      return problem;
    }
  }
  return {};
}

std::string check_gaussian(std::span<const float> x, std::span<const float> y) {
  for (std::size_t i = 0; i < x.size(); i += kSampleStride) {
    const std::string problem = compare("exp(-x*x)", y[i], std::exp(-double{x[i]} * x[i]), 1e-6);
    if (!problem.empty()) {
      return problem;
    }
  }
  return {};
}

std::string check_sum(std::span<const float> x, std::span<const float> partial) {
  const double wanted = std::accumulate(x.begin(), x.end(), 0.0);
  const double got = std::accumulate(partial.begin(), partial.end(), 0.0);
  // A single total in float has rounded more often than many partial sums.
  return compare("sum", got, wanted, partial.size() == 1 ? 3 : 1);
}

std::string check_matmul(std::span<const float> a,
                         std::span<const float> b,
                         std::span<const float> c,
                         std::size_t n) {
  Random random(13);
  for (int sample = 0; sample < 100; ++sample) {
    const std::size_t row = random.next() % n;
    const std::size_t column = (random.next() >> 16) % n;
    double wanted = 0;
    for (std::size_t k = 0; k < n; ++k) {
      wanted += double{a[row * n + k]} * b[k * n + column];
    }
    const std::string problem = compare("product", c[row * n + column], wanted, 1e-3);
    if (!problem.empty()) {
      return problem;
    }
  }
  return {};
}

std::string check_mandelbrot(std::span<const std::uint32_t> steps) {
  // Points whose orbit stays near the border for long depend on every rounding.
  std::size_t samples = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < steps.size(); i += 31) {
    const auto x = static_cast<std::uint32_t>(i % kMandelbrotSize);
    const auto y = static_cast<std::uint32_t>(i / kMandelbrotSize);
    ++samples;
    wrong += steps[i] != mandelbrot_steps(x, y) ? 1 : 0;
  }
  return wrong * 50 < samples ? std::string()
                              : std::to_string(wrong) + " of " + std::to_string(samples) +
                                    " points of the Mandelbrot set differ";
}

std::string check_nbody(std::span<const float> bodies, std::span<const float> accelerations) {
  for (std::size_t i = 0; i < kBodies; i += 101) {
    double wanted[3] = {};
    for (std::size_t j = 0; j < kBodies; ++j) {
      double difference[3];
      double squared = 1e-3;
      for (int axis = 0; axis < 3; ++axis) {
        difference[axis] = double{bodies[j * 4 + axis]} - bodies[i * 4 + axis];
        squared += difference[axis] * difference[axis];
      }
      for (int axis = 0; axis < 3; ++axis) {
        wanted[axis] += bodies[j * 4 + 3] * difference[axis] / (squared * std::sqrt(squared));
      }
    }
    for (int axis = 0; axis < 3; ++axis) {
      const std::string problem = compare("acceleration", accelerations[i * 4 + axis], wanted[axis],
                                          1e-3 * (1 + std::abs(wanted[axis])));
      if (!problem.empty()) {
        return problem;
      }
    }
  }
  return {};
}

std::string check_sort(std::span<const std::uint32_t> input,
                       std::span<const std::uint32_t> output) {
  std::vector<std::uint32_t> wanted(input.begin(), input.end());
  std::sort(wanted.begin(), wanted.end());
  return std::equal(wanted.begin(), wanted.end(), output.begin(), output.end())
             ? ""
             : "it is not sorted";
}

std::string check_histogram(std::span<const std::uint8_t> bytes,
                            std::span<const std::uint32_t> counts) {
  std::vector<std::uint32_t> wanted(256);
  for (const std::uint8_t byte : bytes) {
    ++wanted[byte];
  }
  return std::equal(wanted.begin(), wanted.end(), counts.begin(), counts.end())
             ? ""
             : "the counts of bytes differ";
}

std::string check_cases(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out) {
  return check_words("cases", in, out, [](std::uint32_t value) {
    const std::uint32_t number = value >> 27;
    const std::uint32_t steps = 64 + (value & 63);
    for (std::uint32_t k = 0; k < steps; ++k) {
      value = (value * (2 * number + 3)) ^ (value >> (number % 13 + 1));
    }
    return value;
  });
}

std::string check_chase(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out) {
  return check_words("chase", in, out, [&](std::uint32_t value) {
    std::uint32_t at = value % kPartingThreads;
    std::uint32_t sum = 0;
    for (std::uint32_t k = 0; k < (value >> 25 == 0 ? 2000 : 5); ++k) {
      at = in[at] % kPartingThreads;
      sum += at;
    }
    return sum;
  });
}

std::string check_insertion(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out) {
  return check_words("insertion", in, out, [](std::uint32_t value) {
    std::vector<std::uint32_t> values(8 + (value & 15));
    for (std::uint32_t& element : values) {
      element = value = value * 1664525u + 1013904223u;
    }
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  });
}

std::string check_queens(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out) {
  // By size of the board and the first row's column.
  std::array<std::array<std::uint32_t, 6>, 7> ways = {};
  for (std::uint32_t size = 4; size <= 6; ++size) {
    std::vector<std::uint32_t> columns(size);
    std::iota(columns.begin(), columns.end(), 0U);
    do {
      bool is_free = true;
      for (std::uint32_t row = 0; row < size; ++row) {
        for (std::uint32_t other = 0; other < row; ++other) {
          is_free = is_free && columns[row] + other != columns[other] + row &&
                    columns[row] + row != columns[other] + other;
        }
      }
      ways[size][columns[0]] += is_free ? 1 : 0;
    } while (std::next_permutation(columns.begin(), columns.end()));
  }
  return check_words("queens", in, out, [&](std::uint32_t value) {
    const std::uint32_t size = 4 + value % 3;
    return ways[size][(value >> 8) % size];
  });
}

std::string check_knapsack(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out) {
  return check_words("knapsack", in, out, [](std::uint32_t value) {
    // The best worth for each total weight, or none.
    std::array<int, 64> best;
    best.fill(-1);
    best[0] = 0;
    for (int item = 0; item < 10; ++item) {
      value = value * 1664525u + 1013904223u;
      const std::size_t weight = 1 + (value >> 28);
      const int worth = static_cast<int>(value >> 16 & 0xfff);
      for (std::size_t total = best.size() - 1; total >= weight; --total) {
        if (best[total - weight] >= 0) {
          best[total] = std::max(best[total], best[total - weight] + worth);
        }
      }
    }
    return static_cast<std::uint32_t>(*std::max_element(best.begin(), best.end()));
  });
}

std::string check_interpreter(std::span<const std::uint32_t> in,
                              std::span<const std::uint32_t> out) {
  return check_words("interpreter", in, out, [](std::uint32_t program) {
    std::array<std::uint32_t, 8> stack;
    std::iota(stack.begin(), stack.end(), 0U);
    std::uint32_t top = 0;
    for (std::uint32_t k = 0; k < 48; ++k) {
      const std::uint32_t below = (top + 7) % 8;
      const std::uint32_t above = (top + 1) % 8;
      const std::uint32_t value = stack[top];
      switch (program % 8) {
        case 0:
        case 3:
          stack[above] = program % 8 == 0 ? program : value;
          top = above;
          break;
        case 1:
        case 2:
          stack[below] = program % 8 == 1 ? stack[below] + value : stack[below] * (value | 1);
          top = below;
          break;
        case 4:
          std::swap(stack[top], stack[below]);
          break;
        case 5:
          for (std::uint32_t n = 0; n < value % 8; ++n) {
            stack[top] = stack[top] * 5 + 1;
          }
          break;
        case 6:
          stack[top] ^= stack[below] >> 5;
          break;
        default:
          program = program * 9 + k;
      }
      program = std::rotr(program, 3);
    }
    return stack[top];
  });
}

std::string check_rows(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    sum = in[i] + (i % kRowWords != 0 ? sum : 0);
    if (out[i] != sum) {
      return "rows: element " + std::to_string(i) + " is " + std::to_string(out[i]) + ", not " +
             std::to_string(sum);
    }
  }
  return {};
}

std::string check_softmax(std::span<const float> x, std::span<const float> y) {
  for (std::size_t row = 0; row < kSoftmaxRows; row += 501) {
    const auto values = x.subspan(row * kSoftmaxColumns, kSoftmaxColumns);
    const double maximum = *std::max_element(values.begin(), values.end());
    double sum = 0;
    for (const float value : values) {
      sum += std::exp(value - maximum);
    }
    for (std::size_t i = 0; i < kSoftmaxColumns; i += 3) {
      const std::string problem = compare("softmax", y[row * kSoftmaxColumns + i],
                                          std::exp(values[i] - maximum) / sum, 1e-6);
      if (!problem.empty()) {
        return problem;
      }
    }
  }
  return {};
}

std::string check_q4(const Q4Problem& problem, std::span<const float> y) {
  for (std::size_t row = 0; row < kQ4Size; ++row) {
    std::string text = compare("row", y[row], problem.y[row], 1e-2);
    if (!text.empty()) {
      return text;
    }
  }
  return {};
}

}  // namespace bench
