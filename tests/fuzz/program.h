#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/fuzz/type.h"

/// A generated kernel as a tree, so that a failing one can be reduced piece by piece.
namespace pewter::fuzz {

/// Limits that every value of an integer expression keeps.
struct Range {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// An expression with its operands between pieces of text: "min(", a, ", ", b, ")".
struct Expression {
  Type type;
  /// One more than there are operands.
  std::vector<std::string> text;
  std::vector<Expression> operands;
  /// Whether what stands around relies on `range`, so that reduction must keep to it.
  bool is_ranged = false;
  Range range;
  /// Whether reduction may put anything else in its place.
  bool is_fixed = false;

  std::string print() const;
};

struct Statement;
using Block = std::vector<Statement>;

/// Text, expressions and blocks in the order in which they stand.
struct Statement {
  std::vector<std::variant<std::string, Expression, Block>> parts;

  void print(std::string& out, unsigned depth) const;
};

std::string print(const Block& block, unsigned depth);

/// A function that the kernel may call.
struct Function {
  std::string head;
  Block body;
  std::string end;
};

enum class BufferKind : std::uint8_t {
  /// Read by every thread.
  Input,
  /// Written by every thread in places of its own; compared bit for bit, except that one NaN is as
  /// good as another.
  Output,
  /// The structure of uniform values.
  Parameters,
};

struct Buffer {
  BufferKind kind = BufferKind::Input;
  std::string name;
  Scalar element = Scalar::UInt;
  std::size_t count = 0;
  /// The first content; the rest is filled from the seed.
  std::vector<std::byte> bytes;
};

struct Extent {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  std::uint32_t total() const { return x * y * z; }
};

/// Everything that is needed to run a kernel.
struct Program {
  std::uint64_t seed = 0;
  /// Whether sums and products may be fused and change their order: the same way in every mode.
  bool is_fast_math = false;
  /// What stands before the functions.
  std::string prologue;
  std::vector<Function> functions;
  Function kernel;
  /// In the order of their buffer indices.
  std::vector<Buffer> buffers;
  /// Values of `[[function_constant(n)]]` of type int, n = 0, 1, ...
  std::vector<std::int32_t> constants;
  Extent grid;
  Extent group;

  /// The MSL text.
  std::string source() const;
  /// Lines of the functions and the kernel.
  std::size_t line_count() const;
};

}  // namespace pewter::fuzz
