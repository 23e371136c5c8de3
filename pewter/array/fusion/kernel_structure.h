#pragma once

#include <pewter/dtype.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/reduction.h"

namespace pewter::fusion {

/// How the threads of a kernel find their elements.
enum class Layout : std::uint8_t {
  Linear,       ///< element i of everything
  Grid,         ///< x along the last axis, y and z along the two before it and the rest
  Tiled,        ///< as Grid, in squares: for inputs that run along another axis than the output
  Divided,      ///< coordinates from divisions of the thread's number; for short last axes
  DividedDeep,  ///< the same for more than kDividedAxes axes
  Rows,         ///< a simdgroup along each row that is reduced
  Columns,      ///< a thread for each column that is reduced
};

/// How an input's elements are found; which ones are possible depends on the layout.
enum class Access : std::uint8_t {
  Linear,   ///< element i
  Single,   ///< the first element, always
  Unit,     ///< neighbours along the last axis
  Same,     ///< one element along the last axis
  Strided,  ///< a stride along the last axis that is an argument
};

/// An operand of a step.
struct Operand {
  enum class Kind : std::uint8_t { None, Step, Input, Constant };
  Kind kind = Kind::None;
  std::uint8_t unused = 0;
  std::uint16_t index = 0;
};

/// One operation. Steps are in order: operands come before.
struct Step {
  std::uint16_t row = 0;
  Dtype operand = Dtype::Float32;
  Dtype result = Dtype::Float32;
  Operand operands[3];
};
static_assert(sizeof(Step) == 16);

struct Input {
  Dtype dtype = Dtype::Float32;
  Access access = Access::Linear;
};

/// Everything about a generated kernel that its text depends on; lengths, strides and constants are
/// arguments.
///
/// Buffers are bound in this order: inputs, outputs, arguments.
struct KernelStructure {
  Layout layout = Layout::Linear;
  std::vector<Step> steps;
  std::vector<Input> inputs;
  std::vector<Dtype> constants;
  /// Numbers of the steps whose results are stored. For a reduction: nothing, the last step (or,
  /// without steps, the first input) is reduced.
  std::vector<std::uint16_t> outputs;

  // Of a reduction.
  ops::ReductionKind reduction = ops::ReductionKind::Sum;
  Dtype accumulator = Dtype::Float32;
  Dtype reduced = Dtype::Float32;

  bool is_reduction() const { return layout == Layout::Rows || layout == Layout::Columns; }

  void clear();
  /// What computes the same bits wherever the elements of the inputs are, on up to kDividedAxes
  /// axes: all inputs strided, in the divided layout. Of a reduction, whose layout decides in which
  /// order elements are combined, for its layout alone.
  KernelStructure general() const;
  /// Whether it is its own general structure. False without inputs.
  bool is_general() const;
  /// The same bytes for the same structure.
  void append_key(std::string& key) const;
};

/// The axes of an iteration that are left when neighbours are joined, at most.
inline constexpr std::size_t kMaxAxes = 8;

/// Axes that the divided layout has, at most: a loop over any number of them takes three times as
/// long to compile.
inline constexpr std::size_t kDividedAxes = 4;

/// Rows that a group of the tiled layout takes one after the other: so many lie in a cache line.
inline constexpr std::uint32_t kTileRows = 16;

/// The arguments of a kernel without reduction, before the constants (8 bytes each). The text of
/// kernels declares the same.
struct GridArguments {
  std::uint32_t lengths[kMaxAxes];
  std::uint32_t axis_count;
  std::uint32_t count;
};

/// Behind those in the divided layouts: n is divided by the length of an axis, at least 2, as
/// p = n * multiplier >> 32, (p + (n - p >> 1)) >> shift.
struct DivisionArguments {
  std::uint32_t multipliers[kMaxAxes];
  std::uint32_t shifts[kMaxAxes];
};

/// The same for reductions: `outer` rows of `reduced` elements each, `inner` apart; cut into parts
/// of `part_length`.
struct ReductionArguments {
  std::uint32_t outer;
  std::uint32_t reduced;
  std::uint32_t inner;
  std::uint32_t part_length;
  std::uint32_t parts;
  std::uint32_t unused;
};

/// Strides of one input, in elements: by axis from the last one, or of outer, reduced and inner.
struct GridStrides {
  std::int64_t strides[kMaxAxes];
};
struct ReductionStrides {
  std::int64_t outer;
  std::int64_t reduced;
  std::int64_t inner;
};

/// The text of a kernel named "generated".
std::string kernel_text(const KernelStructure& structure);

/// The structure as one line for the log.
std::string describe(const KernelStructure& structure);

}  // namespace pewter::fusion
