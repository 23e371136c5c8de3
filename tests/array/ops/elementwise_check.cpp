#include "tests/array/ops/elementwise_check.h"

#include <doctest/doctest.h>
#include <pewter/eval.h>
#include <pewter/ops.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "pewter/array/ops/elementwise.h"
#include "tests/array/ops/elementwise_reference.h"
#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

// Rows of the table are computed several to a kernel: compiling is what takes the time.
namespace {

// Results and what leads to them all are the outputs of one kernel.
constexpr std::size_t kRowsOfKernel = 7;
// From here on numbers are rounded to infinity.
constexpr double kInfiniteHalf = 65520;

using Function = array (*)(const array&, const array&);

Function function_named(const std::string& name) {
  static const std::map<std::string, Function> functions = {
#define PEWTER_UNARY(name, rule, msl, text) \
  {#name, [](const array& a, const array&) { return pewter::name(a); }},
#define PEWTER_BINARY(name, rule, msl, text) \
  {#name, [](const array& a, const array& b) { return pewter::name(a, b); }},
#include <pewter/elementwise.def>
  };
  return functions.at(name);
}

/// How operands lie in memory.
enum class Form { Contiguous, Strided, Broadcast };

/// An operand and its elements in the order in which the operation meets them.
struct OperandOf {
  array value;
  std::vector<Complex> elements;
};

std::vector<Complex> operand_numbers(std::size_t count,
                                     const ElementwiseReference& row,
                                     Dtype dtype,
                                     std::size_t turn) {
  const bool is_bool = dtype == Dtype::Bool;
  const double low = is_bool ? 0 : is_unsigned(dtype) ? std::max(row.low, 0.0) : row.low;
  std::vector<double> values = numbers(count, low, is_bool ? 2 : row.high, dtype);
  std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count > turn ? turn : 0),
              values.end());
  std::vector<Complex> elements(values.begin(), values.end());
  if (dtype == Dtype::Complex64) {
    for (std::size_t i = 0; i < count; ++i) {
      elements[i].imag(static_cast<float>(0.75 - static_cast<double>(i % 7) * 0.25));
    }
  }
  return elements;
}

array array_of(const std::vector<Complex>& elements, const Shape& shape, Dtype dtype) {
  if (dtype == Dtype::Complex64) {
    return array(std::vector<std::complex<float>>(elements.begin(), elements.end()), shape);
  }
  std::vector<double> values;
  for (const Complex& element : elements) {
    values.push_back(element.real());
  }
  return make_array(values, shape, dtype);
}

OperandOf operand_of(
    const ElementwiseReference& row, Dtype dtype, Form form, std::int64_t size, bool is_second) {
  const auto count = static_cast<std::size_t>(size);
  const std::size_t turn = is_second ? 3 : 0;
  if (form == Form::Contiguous) {
    std::vector<Complex> elements = operand_numbers(count, row, dtype, turn);
    return {array_of(elements, {size}, dtype), elements};
  }
  // A matrix of 3 rows: every second element from the last one on, or a row and a column.
  constexpr std::int64_t kRows = 3;
  std::vector<Complex> elements;
  if (form == Form::Strided) {
    const std::vector<Complex> base = operand_numbers(2 * count * kRows, row, dtype, turn);
    for (std::size_t r = kRows; r-- > 0;) {
      for (std::size_t c = count; c-- > 0;) {
        elements.push_back(base[r * 2 * count + 2 * c + 1]);
      }
    }
    const array whole = array_of(base, {kRows, 2 * size}, dtype);
    return {slice(whole, {-1, -1}, {-100000, -100000}, {-1, -2}), elements};
  }
  const std::vector<Complex> base = operand_numbers(is_second ? kRows : count, row, dtype, turn);
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < count; ++c) {
      elements.push_back(base[is_second ? r : c]);
    }
  }
  const array vector =
      is_second ? array_of(base, {kRows, 1}, dtype) : array_of(base, {size}, dtype);
  return {is_second ? vector : broadcast_to(vector, {kRows, size}), elements};
}

/// What an integer type makes of a result.
double wrapped(double value, Dtype dtype) {
  const auto number = std::isfinite(value) ? static_cast<std::int64_t>(value) : 0;
  array out(0, dtype);
  graph::convert_element(reinterpret_cast<const std::byte*>(&number), Dtype::Int64,
                         out.node().first(), dtype);
  return graph::read_element(out.node().first(), dtype);
}

Complex expected_of(const ElementwiseReference& row,
                    const ops::ElementwiseTypes& types,
                    Complex a,
                    Complex b,
                    Dtype dtype) {
  if (dtype == Dtype::Complex64) {
    return row.complex(a, b);
  }
  if (types.operand == Dtype::Bool && std::string(row.name) == "bitwise_invert") {
    return a.real() == 0 ? 1 : 0;
  }
  const double value = row.real(a.real(), b.real());
  if (types.result == Dtype::Float16 && std::abs(value) >= kInfiniteHalf) {
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  return types.result < Dtype::Float16 ? wrapped(value, types.result) : value;
}

std::vector<Complex> elements_of(const array& a) {
  if (a.dtype() == Dtype::Complex64) {
    const auto values = contiguous(a).to_vector<std::complex<float>>();
    return {values.begin(), values.end()};
  }
  const std::vector<double> values = read(a);
  return {values.begin(), values.end()};
}

/// Whether both are NaN, or the same infinity.
bool is_same_special(double got, double expected) {
  return std::isnan(expected) ? std::isnan(got) : got == expected;
}

/// Whether a result is as near as the row promises.
bool is_near(Complex got, Complex expected, double ulps, Dtype dtype) {
  if (!std::isfinite(expected.real()) || !std::isfinite(expected.imag())) {
    return is_same_special(got.real(), expected.real()) &&
           is_same_special(got.imag(), expected.imag());
  }
  const double own = dtype == Dtype::Float16 || dtype == Dtype::BFloat16 ? 0.5 : 0;
  const double unit = ulps * 0x1p-23;
  // Beside results near zero that come of larger numbers, a unit is that of 1.
  return std::abs(got - expected) <= unit * (1 + std::abs(expected)) +
                                         own * (1 + unit) * epsilon(dtype) * std::abs(expected) +
                                         (own > 0 ? 0x1p-25 : 0);
}

struct Computed {
  const ElementwiseReference* reference;
  ops::ElementwiseTypes types;
  OperandOf first;
  OperandOf second;
  array result;
};

void check_kernel(const std::vector<const ops::Elementwise*>& rows,
                  Dtype dtype,
                  Form form,
                  std::int64_t size) {
  std::vector<Computed> computed;
  std::vector<array> wanted;
  std::optional<array> root;
  for (const ops::Elementwise* row : rows) {
    const ElementwiseReference& reference = *elementwise_reference(row->name);
    OperandOf first = operand_of(reference, dtype, form, size, false);
    OperandOf second = row->arity == 2 ? operand_of(reference, dtype, form, size, true) : first;
    const array result = function_named(row->name)(first.value, second.value);
    wanted.push_back(result);
    root = root ? logical_or(*root, result) : astype(result, Dtype::Bool);
    computed.push_back({&reference, ops::elementwise_types(*row, dtype), std::move(first),
                        std::move(second), result});
  }
  wanted.push_back(*root);
  eval(wanted);

  for (const Computed& each : computed) {
    const std::vector<Complex> got = elements_of(each.result);
    REQUIRE(each.result.dtype() == each.types.result);
    REQUIRE(got.size() == each.first.elements.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Complex a = each.first.elements[i];
      const Complex b = each.second.elements[i];
      const Complex expected = expected_of(*each.reference, each.types, a, b, dtype);
      if (!is_near(got[i], expected, each.reference->ulps, each.types.result)) {
        FAIL_CHECK(std::string(each.reference->name)
                   << " of " << name_of(dtype) << " with " << size << " columns, form "
                   << static_cast<int>(form) << ": (" << a.real() << ", " << a.imag() << "), ("
                   << b.real() << ", " << b.imag() << ") give (" << got[i].real() << ", "
                   << got[i].imag() << ") instead of (" << expected.real() << ", "
                   << expected.imag() << ")");
        break;
      }
    }
  }
}

using Kernels = std::vector<std::vector<const ops::Elementwise*>>;

/// Whether a row computes with the type itself, not with float32 in its place.
bool is_native(const ops::Elementwise& row, Dtype dtype) {
  const bool is_floating = row.rule == ops::Rule::Float || row.rule == ops::Rule::RealFloat;
  return !is_floating || dtype == Dtype::Float32 || dtype == Dtype::Complex64;
}

/// The rows that take a type, divided into kernels; that the others refuse it is checked.
Kernels kernels_for(Dtype dtype, bool only_native) {
  Kernels kernels;
  for (const ops::Elementwise& row : ops::elementwise_table()) {
    if (row.rule == ops::Rule::Conversion || row.rule == ops::Rule::Choice) {
      continue;
    }
    const array one = ones({1}, dtype);
    try {
      ops::elementwise_types(row, dtype);
    } catch (const std::invalid_argument&) {
      CHECK_THROWS_AS(function_named(row.name)(one, one), std::invalid_argument);
      continue;
    }
    if (only_native && !is_native(row, dtype)) {
      continue;
    }
    if (kernels.empty() || kernels.back().size() == kRowsOfKernel) {
      kernels.emplace_back();
    }
    kernels.back().push_back(&row);
  }
  return kernels;
}

}  // namespace

namespace pewter::test {

void check_elementwise(Dtype dtype, bool only_native) {
  CAPTURE(name_of(dtype));
  const Kernels kernels = kernels_for(dtype, only_native);
  CHECK(kernels.size() >= 4);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    for (const std::int64_t size : sizes()) {
      check_kernel(kernels[i], dtype, Form::Contiguous, size);
    }
    // Where operands lie is the same text for all rows: all of them in one type, some in every.
    if (!only_native &&
        (dtype == Dtype::Float32 || dtype == Dtype::Int32 || i + 1 == kernels.size())) {
      for (const std::int64_t size : {1, 31, 33, 1025}) {
        check_kernel(kernels[i], dtype, Form::Strided, size);
        check_kernel(kernels[i], dtype, Form::Broadcast, size);
      }
    }
  }
}

}  // namespace pewter::test
