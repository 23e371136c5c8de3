#pragma once

#include <pewter/array.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pewter/array/graph/node.h"

/// Operations that act on each element by itself, as the table <pewter/elementwise.def> has them.
namespace pewter::ops {

/// Which types an operation takes, and what it makes of them. Operands are promoted to one type.
enum class Rule : std::uint8_t {
  Any,         ///< every type, and the same comes out
  NoBool,      ///< every type but bool, and the same comes out
  Real,        ///< every type but complex64, and the same comes out
  Magnitude,   ///< every type, and the same comes out, but float32 of complex64
  Float,       ///< floating-point and complex types; others become float32
  RealFloat,   ///< floating-point types; bool and integers become float32
  Bits,        ///< bool and integers
  Shift,       ///< integers
  Compare,     ///< every type; bool comes out
  Order,       ///< every type but complex64; bool comes out
  Predicate,   ///< every type; bool comes out
  Logical,     ///< every type, taken as bool; bool comes out
  Part,        ///< every type; float32 of complex64, else the same comes out
  Conversion,  ///< every type, and any comes out
  Choice,      ///< bool and two of one type, which comes out
};

/// One row of the table.
struct Elementwise {
  const char* name;
  std::uint8_t arity;
  Rule rule;
  const char* msl;
  const char* text;
  /// Its place in the table.
  std::uint16_t number;
};

/// The rows, in the order of the table; behind them those that have functions of their own: astype
/// and where.
std::span<const Elementwise> elementwise_table();
const Elementwise& conversion_row();
const Elementwise& choice_row();

/// What an operation computes with and what comes out of it, for operands promoted to `promoted`.
struct ElementwiseTypes {
  Dtype operand;
  Dtype result;
};
/// Throws std::invalid_argument, with the operation's name, for a type that it does not take.
ElementwiseTypes elementwise_types(const Elementwise& row, Dtype promoted);

/// Throws std::invalid_argument, tagged with `origin`, when kernels cannot run over operands that
/// are broadcast to `shape`: more than 8 of its axes are left when neighbours are joined. Shapes
/// without elements are never refused.
void expect_joinable(const char* origin,
                     const Shape& shape,
                     const std::vector<graph::NodePointer>& operands);
/// The same for one array: operations that convert or copy it call it first, under their own name.
void expect_joinable(const char* origin, const array& a);

/// A node for `row`; the operands must have the types that the row asks for, and are broadcast.
array apply_row(const Elementwise& row,
                std::vector<graph::NodePointer> operands,
                Dtype result,
                std::uint32_t stream);

/// The array as `dtype`: itself when it is that already; converted at once when the host knows it.
array convert(const array& a, Dtype dtype, std::uint32_t stream);

/// An array that operations can work with: one on the host with several elements becomes one on the
/// device, once it is evaluated.
array usable(const array& a);
/// The same with memory on the device, also for one element.
array viewable(const array& a);

}  // namespace pewter::ops
