#include <cmath>
#include <limits>

#include "tests/compiler/stdlib/accuracy/float_format.h"
#include "tests/compiler/stdlib/integer_type.h"
#include "tests/support/gpu.h"

// Conversions among all arithmetic types, "Conversion Rules for Floating-Point and Integer Types":
// every half and every bfloat, and floats and integers around every limit and at random.

namespace pewter {
namespace {

using test::FloatFormat;
using test::Gpu;
using test::IntegerType;
using test::size;
using test::Wide;

constexpr std::size_t kIntegerCount = std::size(test::kIntegerTypes);
const FloatFormat kFloats[] = {test::kFloat, test::kHalf, test::kBfloat};
constexpr std::size_t kFloatCount = std::size(kFloats);

/// Toward zero, to the nearest that the type has, and NaN to zero.
Wide converted(double value, const IntegerType& type) {
  if (std::isnan(value)) {
    return 0;
  }
  const double whole = std::trunc(value);
  if (whole <= static_cast<double>(type.lowest())) {
    return type.lowest();
  }
  // The number after the highest is exact in double.
  const double end = std::ldexp(1.0, type.is_signed ? type.bits - 1 : type.bits);
  return whole >= end ? type.highest() : static_cast<Wide>(whole);
}

/// The bits of each number as T, converted to every other type. Floating-point results are floats,
/// integers are 64 bits wide.
std::string source_from(const std::string& source_type, const std::string& bits) {
  std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\nusing T = " + source_type +
      ";\nkernel void f(device const ulong* in [[buffer(0)]], device ulong* integers "
      "[[buffer(1)]],\n  device float* floats [[buffer(2)]], uint i "
      "[[thread_position_in_grid]]) {\n  const T x = " +
      bits + ";\n";
  for (std::size_t index = 0; index < kIntegerCount; ++index) {
    source += "  integers[" + std::to_string(kIntegerCount) + " * i + " + std::to_string(index) +
              "] = ulong(" + test::kIntegerTypes[index].name + "(x));\n";
  }
  for (std::size_t index = 0; index < kFloatCount; ++index) {
    source += "  floats[" + std::to_string(kFloatCount) + " * i + " + std::to_string(index) +
              "] = float(" + kFloats[index].name + "(x));\n";
  }
  return source + "}\n";
}

struct Converted {
  std::vector<std::uint64_t> integers;
  std::vector<float> floats;
};

Converted convert(const std::string& source, const std::vector<std::uint64_t>& in) {
  const Gpu gpu;
  Converted result{std::vector<std::uint64_t>(in.size() * kIntegerCount),
                   std::vector<float>(in.size() * kFloatCount)};
  gpu.run(source, "f", {.grid = size(in.size())}, in, result.integers, result.floats);
  return result;
}

bool is_same(float got, double wanted) {
  return (std::isnan(got) && std::isnan(wanted)) ||
         (got == wanted && std::signbit(got) == std::signbit(wanted));
}

void check_floats(const FloatFormat& format, const std::vector<std::uint64_t>& patterns) {
  const std::string bits =
      format.bits() == 32 ? "as_type<T>(uint(in[i]))" : "as_type<T>(ushort(in[i]))";

  const Converted got = convert(source_from(format.name, bits), patterns);

  std::size_t wrong = 0;
  for (std::size_t index = 0; index < patterns.size() && wrong < 5; ++index) {
    const double value = format.value(static_cast<std::uint32_t>(patterns[index]));
    for (std::size_t type = 0; type < kIntegerCount; ++type) {
      const std::uint64_t integer = got.integers[index * kIntegerCount + type];
      const bool is_right =
          integer == static_cast<std::uint64_t>(converted(value, test::kIntegerTypes[type]));
      if (!is_right) {
        ++wrong;
        FAIL_CHECK(std::string(format.name), " ", value, " as ",
                   std::string(test::kIntegerTypes[type].name), ": ", integer);
      }
    }
    for (std::size_t type = 0; type < kFloatCount; ++type) {
      const float number = got.floats[index * kFloatCount + type];
      const bool is_right = is_same(number, kFloats[type].rounded(value));
      if (!is_right) {
        ++wrong;
        FAIL_CHECK(std::string(format.name), " ", value, " as ", std::string(kFloats[type].name),
                   ": ", number);
      }
    }
  }
}

/// Conversions of whole vectors are instructions of their own.
void check_vectors(const IntegerType& source, const std::vector<std::uint64_t>& values) {
  const std::string name = source.name;
  std::vector<float> single(values.size());
  std::vector<float> in_vector(values.size());

  Gpu().run(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void f(device const ulong* in [[buffer(0)]], device float* single "
      "[[buffer(1)]],\n  device float* in_vector [[buffer(2)]], uint i "
      "[[thread_position_in_grid]]) {\n  const " +
          name + " x = " + name + "(in[i]);\n  single[i] = float(bfloat(x));\n" +
          "  in_vector[i] = float(bfloat2(" + name + "2(0, x)).y);\n}\n",
      "f", {.grid = size(values.size())}, values, single, in_vector);

  CHECK_MESSAGE(single == in_vector, name);
}

void check_integers(const IntegerType& source, const std::vector<std::uint64_t>& values) {
  const Converted got = convert(source_from(source.name, "T(in[i])"), values);

  std::size_t wrong = 0;
  for (std::size_t index = 0; index < values.size() && wrong < 5; ++index) {
    const Wide value = source.wrap(Wide{values[index]});
    for (std::size_t type = 0; type < kIntegerCount; ++type) {
      const std::uint64_t integer = got.integers[index * kIntegerCount + type];
      const bool is_right =
          integer == static_cast<std::uint64_t>(test::kIntegerTypes[type].wrap(value));
      if (!is_right) {
        ++wrong;
        FAIL_CHECK(std::string(source.name), " ", values[index], " as ",
                   std::string(test::kIntegerTypes[type].name), ": ", integer);
      }
    }
    for (std::size_t type = 0; type < kFloatCount; ++type) {
      const float number = got.floats[index * kFloatCount + type];
      // Long double holds all integers of 64 bits.
      const bool is_right = is_same(number, kFloats[type].rounded(static_cast<long double>(value)));
      if (!is_right) {
        ++wrong;
        FAIL_CHECK(std::string(source.name), " ", values[index], " as ",
                   std::string(kFloats[type].name), ": ", number);
      }
    }
  }
}

std::vector<std::uint64_t> every_pattern() {
  std::vector<std::uint64_t> patterns(65536);
  for (std::size_t index = 0; index < patterns.size(); ++index) {
    patterns[index] = index;
  }
  return patterns;
}

std::uint64_t next_random(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state ^ state >> 29;
}

// Around every power of two, ties of every type, and random ones of all sizes.
std::vector<std::uint64_t> awkward_integers() {
  std::vector<std::uint64_t> values;
  std::uint64_t state = 5;
  for (int power = 0; power < 64; ++power) {
    const std::uint64_t edge = std::uint64_t{1} << power;
    for (const std::uint64_t value : {edge - 1, edge, edge + 1}) {
      values.push_back(value);
      values.push_back(-value);
    }
    for (int precision : {8, 11, 24}) {
      const std::uint64_t half_unit = power > precision ? edge >> precision : 0;
      for (const std::uint64_t value : {edge + half_unit, edge + 3 * half_unit,
                                        edge + half_unit + 1, edge + 3 * half_unit - 1}) {
        values.push_back(value);
        values.push_back(-value);
      }
    }
    for (int count = 0; count < 16; ++count) {
      values.push_back(next_random(state) >> power);
    }
  }
  return values;
}

// Every 16-bit pattern above random and above tied lower halves: all signs and exponents.
std::vector<std::uint64_t> float_patterns() {
  std::vector<std::uint64_t> patterns;
  std::uint64_t state = 9;
  const std::uint64_t low_halves[] = {0, 0x8000, 0x7fff, 0x8001, 0x1000, 0x3000, 0x2fff, 0x1001};
  for (std::uint64_t high = 0; high < 65536; high += 3) {
    patterns.push_back(high << 16 | low_halves[high % std::size(low_halves)]);
    patterns.push_back(high << 16 | (next_random(state) & 0xffff));
  }
  return patterns;
}

}  // namespace

TEST_CASE("every half becomes the right number of every type") {
  check_floats(test::kHalf, every_pattern());
}

TEST_CASE("every bfloat becomes the right number of every type") {
  check_floats(test::kBfloat, every_pattern());
}

TEST_CASE("floats become the right number of every type, rounded to even or toward zero") {
  check_floats(test::kFloat, float_patterns());
}

TEST_CASE("integers become the right number of every type") {
  const std::vector<std::uint64_t> values = awkward_integers();
  for (const IntegerType& type : test::kIntegerTypes) {
    check_integers(type, values);
  }
}

TEST_CASE("integers become the same bfloat alone and in a vector") {
  const std::vector<std::uint64_t> values = awkward_integers();
  for (const IntegerType& type : test::kIntegerTypes) {
    check_vectors(type, values);
  }
}

}  // namespace pewter
