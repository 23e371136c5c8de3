#include <array>
#include <bit>
#include <cmath>

#include "tests/compiler/stdlib/accuracy/float_format.h"
#include "tests/support/gpu.h"

// Geometric functions for vectors of two, three and four floats or halves, against double.

namespace pewter {
namespace {

using test::FloatFormat;
using test::Gpu;
using test::size;

using Vector = std::array<double, 4>;

struct Arguments {
  Vector x;
  Vector y;
  Vector z;
};

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

Vector scaled(const Vector& a, double factor) {
  return {a[0] * factor, a[1] * factor, a[2] * factor, a[3] * factor};
}

Vector sum(const Vector& a, const Vector& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

Vector difference(const Vector& a, const Vector& b) {
  return sum(a, scaled(b, -1));
}

Vector unit_vector(const Vector& a) {
  return scaled(a, 1 / std::sqrt(dot(a, a)));
}

Vector all(double value) {
  return {value, value, value, value};
}

// Of the incident vector x and the normal y, both of length one, and the ratio 0.75.
Vector refracted(const Vector& x, const Vector& y) {
  const double cosine = dot(y, x);
  const double k = 1 - 0.75 * 0.75 * (1 - cosine * cosine);
  return k < 0 ? all(0) : difference(scaled(x, 0.75), scaled(y, 0.75 * cosine + std::sqrt(k)));
}

struct GeometricRow {
  /// Of vectors V with elements T; a scalar is taken as V of it.
  const char* expression;
  Vector (*reference)(const Arguments& a);
  /// Largest error in units of the last place of `size`, of which no term of a sum is larger.
  double ulps;
  double (*size)(const Arguments& a);
  std::size_t only_width = 0;
};

double length_of(const Vector& a) {
  return std::sqrt(dot(a, a));
}

double product_size(const Arguments& a) {
  return length_of(a.x) * length_of(a.y);
}

double sum_size(const Arguments& a) {
  return length_of(a.x) + length_of(a.y);
}

double square_size(const Arguments& a) {
  return sum_size(a) * sum_size(a);
}

double one(const Arguments& /*a*/) {
  return 1;
}

// clang-format off
const GeometricRow kRows[] = {
    {"V(dot(x, y))", [](const Arguments& a) { return all(dot(a.x, a.y)); }, 4, product_size},
    {"V(length(x))", [](const Arguments& a) { return all(length_of(a.x)); }, 4, sum_size},
    {"V(length_squared(x))", [](const Arguments& a) { return all(dot(a.x, a.x)); }, 4, square_size},
    {"V(distance(x, y))", [](const Arguments& a) { return all(length_of(difference(a.x, a.y))); }, 4, sum_size},
    {"V(distance_squared(x, y))",
     [](const Arguments& a) { const Vector d = difference(a.x, a.y); return all(dot(d, d)); }, 4, square_size},
    {"normalize(x)", [](const Arguments& a) { return unit_vector(a.x); }, 4, one},
    {"fast::normalize(x)", [](const Arguments& a) { return unit_vector(a.x); }, 4, one},
    {"V(precise::length(x))", [](const Arguments& a) { return all(length_of(a.x)); }, 4, sum_size},
    {"cross(x, y)",
     [](const Arguments& a) {
       return Vector{a.x[1] * a.y[2] - a.x[2] * a.y[1], a.x[2] * a.y[0] - a.x[0] * a.y[2],
                     a.x[0] * a.y[1] - a.x[1] * a.y[0], 0};
     }, 4, product_size, 3},
    {"faceforward(x, y, z)",
     [](const Arguments& a) { return scaled(a.x, dot(a.z, a.y) < 0 ? 1 : -1); }, 0, one},
    {"reflect(x, normalize(y))",
     [](const Arguments& a) {
       const Vector n = unit_vector(a.y);
       return difference(a.x, scaled(n, 2 * dot(n, a.x)));
     }, 16, sum_size},
    {"refract(normalize(x), normalize(y), T(0.75f))",
     [](const Arguments& a) { return refracted(unit_vector(a.x), unit_vector(a.y)); }, 32, one},
};
// clang-format on

std::vector<GeometricRow> rows_of(std::size_t width) {
  std::vector<GeometricRow> rows;
  for (const GeometricRow& row : kRows) {
    if (row.only_width == 0 || row.only_width == width) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::string source_of(const FloatFormat& format,
                      std::size_t width,
                      const std::vector<GeometricRow>& rows) {
  const std::string components = std::to_string(width);
  std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\nusing T = " + std::string(format.name) +
      ";\nusing V = vec<T, " + components + ">;\nusing F = packed_vec<float, " + components +
      ">;\nkernel void f(device const F* in [[buffer(0)]],\n"
      "  device F* out [[buffer(1)]], uint i [[thread_position_in_grid]],\n"
      "  uint n [[threads_per_grid]]) {\n"
      "  using W = vec<float, " +
      components +
      ">;\n"
      "  const V x = V(W(in[3 * i])), y = V(W(in[3 * i + 1])), "
      "z = V(W(in[3 * i + 2]));\n";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    source += "  out[" + std::to_string(row) + " * n + i] = F(W(" + rows[row].expression + "));\n";
  }
  return source + "}\n";
}

// Multiples of 1/64 up to 16 in size, which half has; none of the vectors is short.
std::vector<float> inputs_of(std::size_t width, std::size_t count) {
  std::vector<float> in;
  std::uint64_t state = 11;
  while (in.size() < 3 * count * width) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto step = static_cast<int>(state >> 54) - 512;
    in.push_back(static_cast<float>(in.size() % width == 0 && std::abs(step) < 64 ? 64 : step) /
                 64);
  }
  return in;
}

Vector vector_at(const std::vector<float>& values, std::size_t index, std::size_t width) {
  Vector result{};
  for (std::size_t component = 0; component < width; ++component) {
    result[component] = values[index * width + component];
  }
  return result;
}

void check_width(const FloatFormat& format, std::size_t width) {
  const Gpu gpu;
  constexpr std::size_t kCount = 500;
  const std::vector<GeometricRow> rows = rows_of(width);
  const std::vector<float> in = inputs_of(width, kCount);
  std::vector<float> out(rows.size() * kCount * width);

  gpu.run(source_of(format, width, rows), "f", {.grid = size(kCount)}, in, out);

  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t index = 0; index < kCount; ++index) {
      const Arguments arguments{vector_at(in, 3 * index, width),
                                vector_at(in, 3 * index + 1, width),
                                vector_at(in, 3 * index + 2, width)};
      const Vector wanted = rows[row].reference(arguments);
      const Vector got = vector_at(out, row * kCount + index, width);
      const double unit = format.unit(rows[row].size(arguments));
      for (std::size_t component = 0; component < width; ++component) {
        const double error = std::fabs(got[component] - wanted[component]) / unit;
        if (!(error <= rows[row].ulps)) {
          FAIL_CHECK(std::string(format.name), width, " ", std::string(rows[row].expression),
                     " number ", index, ": ", got[component], " instead of ", wanted[component],
                     ", ", error, " ulp");
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("geometric functions of floats and halves agree with double") {
  check_width(test::kFloat, 2);
  check_width(test::kFloat, 3);
  check_width(test::kHalf, 3);
  check_width(test::kFloat, 4);
}

}  // namespace pewter
