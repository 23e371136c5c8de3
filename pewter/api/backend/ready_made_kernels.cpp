#include <pewter/metal_backend.h>
#include <pewter/ops.h>

#include <array>

#include "pewter/api/backend/transfer.h"

namespace pewter::backend {
namespace {

using Unary = array (*)(const array&);
using Binary = array (*)(const array&, const array&);

/// An operand as the operations take it; a number takes its type from the array beside it.
array operand_of(const Value& value, const Value& beside) {
  if (value.is_number()) {
    const Dtype other = beside.is_number() ? Dtype::Bool : operand_of(beside, beside).dtype();
    return operand(value.as_scalar(), other);
  }
  return value.is_host_array() ? to_device(value.as_host_array()) : value.as_array();
}

Kernel unary_kernel(Unary operation) {
  return [operation](const Value& a) { return operation(operand_of(a, a)); };
}

Kernel binary_kernel(Binary operation) {
  return [operation](const Value& a, const Value& b) {
    return operation(operand_of(a, b), operand_of(b, a));
  };
}

struct NamedUnary {
  std::string_view name;
  Unary operation;
};

struct NamedBinary {
  std::string_view name;
  Binary operation;
};

constexpr std::array<NamedBinary, 4> kBinary = {{
    {"add", [](const array& a, const array& b) { return pewter::add(a, b); }},
    {"sub", [](const array& a, const array& b) { return pewter::subtract(a, b); }},
    {"mul", [](const array& a, const array& b) { return pewter::multiply(a, b); }},
    {"div", [](const array& a, const array& b) { return pewter::divide(a, b); }},
}};

constexpr std::array<NamedUnary, 8> kUnary = {{
    {"sqrt", [](const array& a) { return pewter::sqrt(a); }},
    {"exp", [](const array& a) { return pewter::exp(a); }},
    {"log", [](const array& a) { return pewter::log(a); }},
    {"sin", [](const array& a) { return pewter::sin(a); }},
    {"cos", [](const array& a) { return pewter::cos(a); }},
    {"abs", [](const array& a) { return pewter::abs(a); }},
    {"square", [](const array& a) { return pewter::square(a); }},
    {"negative", [](const array& a) { return pewter::negative(a); }},
}};

}  // namespace

std::optional<Kernel> get_vector_add_kernel() {
  return get_elementwise_kernel("add");
}

std::optional<Kernel> get_matrix_multiply_kernel() {
  if (!device_usable()) {
    return std::nullopt;
  }
  return binary_kernel([](const array& a, const array& b) { return pewter::matmul(a, b); });
}

std::optional<Kernel> get_elementwise_kernel(std::string_view operation) {
  if (!device_usable()) {
    return std::nullopt;
  }
  for (const NamedBinary& known : kBinary) {
    if (known.name == operation) {
      return binary_kernel(known.operation);
    }
  }
  for (const NamedUnary& known : kUnary) {
    if (known.name == operation) {
      return unary_kernel(known.operation);
    }
  }
  return std::nullopt;
}

}  // namespace pewter::backend
