#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Sizes, inputs and checks of the works, the same for everyone who does them.
namespace bench {

inline constexpr std::size_t kElements = std::size_t{16} << 20;
inline constexpr std::uint32_t kSoftmaxRows = 4096;
inline constexpr std::uint32_t kSoftmaxColumns = 1024;
inline constexpr std::uint32_t kMandelbrotSize = 1024;
inline constexpr std::uint32_t kMandelbrotLimit = 256;
inline constexpr std::uint32_t kBodies = 4096;
inline constexpr std::uint32_t kSortElements = 1u << 20;
inline constexpr std::uint32_t kPartingThreads = 1u << 20;
inline constexpr std::size_t kRowWords = 1024;
inline constexpr std::uint32_t kQ4Size = 4096;
inline constexpr std::size_t kQ4BlockBytes = 18;
inline constexpr std::size_t kQ4BlockWeights = 32;
inline constexpr float kSaxpyFactor = 0.5f;
// Subtractions, products, the square root and sums of one pair of bodies.
inline constexpr double kFlopsPerPair = 20;

/// A sequence of numbers that is the same everywhere.
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed) {}

  std::uint32_t next() { return state_ = state_ * 1664525u + 1013904223u; }
  /// In [low, high).
  float uniform(float low, float high);

 private:
  std::uint32_t state_;
};

std::vector<float> uniform_floats(std::size_t count, float low, float high, std::uint32_t seed);
std::vector<std::uint32_t> random_words(std::size_t count);
std::vector<std::uint8_t> random_bytes(std::size_t count);

/// A square matrix times a vector in blocks of four bits, and the result in double.
struct Q4Problem {
  std::vector<std::uint8_t> weights;
  std::vector<float> x;
  std::vector<double> y;
};
Q4Problem make_q4_problem();

// Each returns an empty text, or what is wrong.

std::string check_saxpy(std::span<const float> x, std::span<const float> y);
std::string check_gaussian(std::span<const float> x, std::span<const float> y);
/// `partial` adds up to the sum of `x`.
std::string check_sum(std::span<const float> x, std::span<const float> partial);
std::string check_matmul(std::span<const float> a,
                         std::span<const float> b,
                         std::span<const float> c,
                         std::size_t n);
std::string check_mandelbrot(std::span<const std::uint32_t> steps);
/// Bodies and accelerations as four floats each.
std::string check_nbody(std::span<const float> bodies, std::span<const float> accelerations);
std::string check_sort(std::span<const std::uint32_t> input, std::span<const std::uint32_t> output);
std::string check_histogram(std::span<const std::uint8_t> bytes,
                            std::span<const std::uint32_t> counts);
/// Threads that part: each in one of 32 loops, few of them long in theirs, each with an array to
/// sort, a board to search, a table to fill, a program to run.
std::string check_cases(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out);
std::string check_chase(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out);
std::string check_insertion(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out);
std::string check_queens(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out);
std::string check_knapsack(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out);
std::string check_interpreter(std::span<const std::uint32_t> in,
                              std::span<const std::uint32_t> out);
/// Sums along rows of kRowWords.
std::string check_rows(std::span<const std::uint32_t> in, std::span<const std::uint32_t> out);
std::string check_softmax(std::span<const float> x, std::span<const float> y);
std::string check_q4(const Q4Problem& problem, std::span<const float> y);

}  // namespace bench
