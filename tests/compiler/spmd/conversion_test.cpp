#include <bit>
#include <cmath>
#include <limits>

#include "pewter/metal/executor/elf_object.h"
#include "tests/compiler/spmd/shared_code.h"

// Half and bfloat in bulk, bit for bit: rounding, denormals, infinities, NaN.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::size;
using test::uint;
using test::ushort;

/// A 16-bit floating-point format.
struct Format {
  const char* name;
  unsigned fraction_bits;
  unsigned exponent_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint infinity() const { return ((1U << exponent_bits) - 1) << fraction_bits; }
  bool is_nan(uint bits) const { return (bits & 0x7fff) > infinity(); }

  double decode(uint bits) const {
    const uint fraction = bits & ((1U << fraction_bits) - 1);
    const uint exponent = (bits & 0x7fff) >> fraction_bits;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if ((bits & 0x7fff) >= infinity()) {
      return is_nan(bits) ? std::numeric_limits<double>::quiet_NaN()
                          : sign * std::numeric_limits<double>::infinity();
    }
    const int scale = 1 - bias() - static_cast<int>(fraction_bits);
    if (exponent == 0) {
      return sign * std::ldexp(fraction, scale);
    }
    return sign *
           std::ldexp(fraction + (1U << fraction_bits), scale + static_cast<int>(exponent) - 1);
  }

  /// To nearest, ties to even.
  uint encode(double value) const {
    const uint sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) {
      return infinity() | 1;
    }
    const double magnitude = std::fabs(value);
    if (magnitude == 0) {
      return sign;
    }
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int lowest = 1 - bias();
    const int unit = std::max(exponent - 1, lowest) - static_cast<int>(fraction_bits);
    const double rounded = std::nearbyint(std::ldexp(magnitude, -unit));
    // In units of the last place, the bits of a number count up through the exponents.
    const double whole = rounded + std::ldexp(unit + static_cast<int>(fraction_bits) - lowest,
                                              static_cast<int>(fraction_bits));
    return sign | std::min(static_cast<uint>(std::min(whole, 1e6)), infinity());
  }
};

constexpr Format kHalf = {"half", 10, 5};
constexpr Format kBFloat = {"bfloat", 7, 8};

/// Every number of a format, the middles between neighbours, and what lies just beside those.
std::vector<float> rounding_cases(const Format& format) {
  std::vector<float> values;
  for (uint bits = 0; bits < format.infinity(); ++bits) {
    const double low = format.decode(bits);
    const double step = bits + 1 == format.infinity() ? low - format.decode(bits - 1)
                                                      : format.decode(bits + 1) - low;
    const auto middle = static_cast<float>(low + step / 2);
    for (const float value : {static_cast<float>(low), middle, std::nextafter(middle, 0.0F),
                              std::nextafter(middle, std::numeric_limits<float>::max())}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  const float infinity = std::numeric_limits<float>::infinity();
  values.insert(values.end(), {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::max(), 1e-45F, -1e-45F, 1e-38F});
  return values;
}

std::string named(std::string text, const Format& format) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at)) {
    text.replace(at, 1, format.name);
  }
  return text;
}

void check_widening(const Format& format) {
  const Gpu gpu;
  const std::string source = kHead + named(R"(
    kernel void f(device const @* in [[buffer(0)]], device float* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) { out[i] = float(in[i]); })",
                                           format);
  std::vector<ushort> in(65536);
  for (uint bits = 0; bits < in.size(); ++bits) {
    in[bits] = static_cast<ushort>(bits);
  }
  std::vector<float> out(in.size());

  gpu.run(source, "f", {.grid = size(in.size()), .group = size(256)}, in, out);

  for (uint bits = 0; bits < in.size(); ++bits) {
    if (format.is_nan(bits)) {
      REQUIRE(std::isnan(out[bits]));
    } else {
      const auto wanted = static_cast<float>(format.decode(bits));
      REQUIRE(std::bit_cast<uint>(out[bits]) == std::bit_cast<uint>(wanted));
    }
  }
}

void check_narrowing(const Format& format) {
  const Gpu gpu;
  const std::string source = kHead + named(R"(
    kernel void f(device const float* in [[buffer(0)]], device @* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      if (i % 11u != 3u) out[i] = @(in[i]);
    })",
                                           format);
  const auto in = rounding_cases(format);
  std::vector<ushort> out(in.size(), 0x1234);

  gpu.run(source, "f", {.grid = size(in.size()), .group = size(128)}, in, out);

  for (std::size_t i = 0; i < in.size(); ++i) {
    const uint wanted = i % 11 == 3 ? 0x1234 : format.encode(in[i]);
    if (format.is_nan(wanted)) {
      REQUIRE(format.is_nan(out[i]));
    } else {
      REQUIRE_MESSAGE(out[i] == wanted, std::string(format.name), " of ", in[i]);
    }
  }
}

void check_arithmetic(const Format& format) {
  const Gpu gpu;
  const std::string source = kHead + named(R"(
    kernel void f(device const @* a [[buffer(0)]], device const @* b [[buffer(1)]],
                  device @* out [[buffer(2)]], uint i [[thread_position_in_grid]],
                  uint n [[threads_per_grid]]) {
      out[i] = a[i] + b[i];
      out[n + i] = a[i] - b[i];
      out[2 * n + i] = a[i] * b[i];
      out[3 * n + i] = a[i] / b[i];
      out[4 * n + i] = @(a[i] < b[i] ? a[i] : b[i]);
    })",
                                           format);
  constexpr std::size_t kCount = 20011;
  const auto noise = test::noise(2 * kCount, 3);
  std::vector<ushort> a(kCount);
  std::vector<ushort> b(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    a[i] = static_cast<ushort>(noise[i]);
    b[i] = static_cast<ushort>(noise[kCount + i] >> 7);
  }
  std::vector<ushort> out(5 * kCount);
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setMathMode(MTL::MathModeSafe);
  const auto pipeline = gpu.pipeline(gpu.library(source, options.get()).get(), "f");

  gpu.run(pipeline.get(), {.grid = size(kCount), .group = size(64)}, a, b, out);

  for (std::size_t i = 0; i < kCount; ++i) {
    const double x = format.decode(a[i]);
    const double y = format.decode(b[i]);
    const double wanted[] = {x + y, x - y, x * y, x / y, x < y ? x : y};
    for (std::size_t k = 0; k < 5; ++k) {
      const uint bits = format.encode(wanted[k]);
      const uint got = out[k * kCount + i];
      REQUIRE_MESSAGE((got == bits || (format.is_nan(bits) && format.is_nan(got))),
                      std::string(format.name), " operation ", k, " of ", x, " and ", y);
    }
  }
}

}  // namespace

TEST_CASE("every half and every bfloat becomes the float that it is") {
  check_widening(kHalf);
  check_widening(kBFloat);
}

TEST_CASE("floats become the nearest half or bfloat, the even one between two") {
  check_narrowing(kHalf);
  check_narrowing(kBFloat);
}

TEST_CASE("half and bfloat arithmetic rounds each result once") {
  check_arithmetic(kHalf);
  check_arithmetic(kBFloat);
}

TEST_CASE("arithmetic of halves and bfloats calls no function for each thread") {
  for (const Format& format : {kHalf, kBFloat}) {
    const std::string source = kHead + named(R"(
      kernel void f(device @* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
        const @ y = x[i] * x[i + 1] + x[i + 2] / x[i + 3];
        x[i] = y > @(3) ? max(abs(y), x[i + 4]) : -y;
      })",
                                             format);

    const auto code = test::vectorised(source);
    const auto object = executor::ElfObject::parse(code->object);
    REQUIRE(object);

    for (const auto& symbol : object->symbols()) {
      CAPTURE(symbol.name);
      CHECK(symbol.name.substr(0, 7) != "__trunc");
      CHECK(symbol.name.substr(0, 8) != "__extend");
    }
  }
}

TEST_CASE("integers of every width convert to float and back") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device float* out [[buffer(1)]],
                  device int* back [[buffer(2)]], uint i [[thread_position_in_grid]],
                  uint n [[threads_per_grid]]) {
      uint x = in[i];
      out[i] = float(x);
      out[n + i] = float(int(x));
      out[2 * n + i] = float(short(x));
      out[3 * n + i] = float(uchar(x));
      out[4 * n + i] = float(ulong(x) * 4294967311ul);
      out[5 * n + i] = float(long(ulong(x) * 4294967311ul));
      float f = float(int(x)) * 0.37f;
      back[i] = int(f);
      back[n + i] = int(uint(fabs(f)));
      back[2 * n + i] = int(short(clamp(f, -32768.0f, 32767.0f)));
      back[3 * n + i] = int(uchar(clamp(f, 0.0f, 255.0f)));
      back[4 * n + i] = int(long(f) >> 3);
      back[5 * n + i] = int(ulong(fabs(f) * 1024.0f) >> 9);
    })";
  constexpr std::size_t kCount = 5003;
  const auto in = test::noise(kCount, 9);
  std::vector<float> out(6 * kCount);
  std::vector<std::int32_t> back(6 * kCount);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(96)}, in, out, back);

  for (std::size_t i = 0; i < kCount; ++i) {
    const uint x = in[i];
    const std::uint64_t wide = std::uint64_t{x} * 4294967311U;
    const float wanted[] = {static_cast<float>(x),
                            static_cast<float>(static_cast<std::int32_t>(x)),
                            static_cast<float>(static_cast<std::int16_t>(x)),
                            static_cast<float>(static_cast<std::uint8_t>(x)),
                            static_cast<float>(wide),
                            static_cast<float>(static_cast<std::int64_t>(wide))};
    const float f = static_cast<float>(static_cast<std::int32_t>(x)) * 0.37F;
    const float size = std::fabs(f);
    const std::int32_t wanted_back[] = {
        static_cast<std::int32_t>(f),
        static_cast<std::int32_t>(static_cast<uint>(size)),
        static_cast<std::int16_t>(std::fmin(std::fmax(f, -32768.0F), 32767.0F)),
        static_cast<std::uint8_t>(std::fmin(std::fmax(f, 0.0F), 255.0F)),
        static_cast<std::int32_t>(static_cast<std::int64_t>(f) >> 3),
        static_cast<std::int32_t>(static_cast<std::uint64_t>(size * 1024.0F) >> 9)};
    for (std::size_t k = 0; k < 6; ++k) {
      REQUIRE_MESSAGE(out[k * kCount + i] == wanted[k], "conversion ", k, " of ", x);
      REQUIRE_MESSAGE(back[k * kCount + i] == wanted_back[k], "conversion ", k, " back from ", f);
    }
  }
}

}  // namespace pewter
