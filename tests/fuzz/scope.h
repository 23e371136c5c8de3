#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/program.h"
#include "tests/fuzz/random.h"

namespace pewter::fuzz {

/// What a kernel may contain. Each kernel has some of it: too much of everything hides each part.
struct Features {
  bool vectors = false;
  bool arrays = false;
  bool structures = false;
  bool calls = false;
  bool loops = false;
  bool switches = false;
  /// break and continue under conditions that differ between threads.
  bool jumps = false;
  /// Returns under conditions that differ between threads; never with barriers or matrices.
  bool early_return = false;
  bool simdgroup = false;
  bool quadgroup = false;
  bool barriers = false;
  bool atomics = false;
  /// Only where every simdgroup is full.
  bool matrices = false;
  /// Mathematical functions, whose results may differ a little.
  bool mathematics = false;
};

struct Variable {
  std::string name;
  Type type;
  bool is_writable = true;
  /// The same in all threads of a threadgroup.
  bool is_uniform = false;
  bool is_ranged = false;
  Range range;
};

/// Anything that is read as `before index after`: an array, a buffer, a component of a vector.
struct Array {
  std::string before;
  std::string after;
  Type element;
  std::size_t length = 0;
  bool is_writable = false;
  /// Whether all threads of a threadgroup read the same at the same index.
  bool is_uniform = false;
};

/// What can be named at the point where the next statement goes.
struct Scope {
  Features features;
  /// Scalar types that this kernel uses.
  std::vector<Scalar> scalars;
  std::vector<Variable> variables;
  std::vector<Array> arrays;
  /// Arrays in threadgroup memory with a place for each thread; `before` is the name.
  std::vector<Array> tiles;
  /// Functions to call.
  struct Callable {
    std::string name;
    Type result;
    /// By value, but a leading '&' passes a writable variable and '[' an array of four.
    struct Parameter {
      enum class Kind : std::uint8_t { Value, Reference, Array } kind = Kind::Value;
      Type type;
    };
    std::vector<Parameter> parameters;
  };
  std::vector<Callable> functions;
  /// Whether all threads of a threadgroup come here together.
  bool is_uniform_flow = true;
  /// Whether cross-lane operations may stand here.
  bool allows_group_operations = true;
  /// Loops around this place that may be left or continued here.
  bool in_loop = false;
  unsigned depth = 0;
  unsigned next_name = 0;

  std::string name(const std::string& prefix) { return prefix + std::to_string(next_name++); }

  struct Mark {
    std::size_t variables;
    std::size_t arrays;
  };
  Mark mark() const { return {variables.size(), arrays.size()}; }
  void rewind(const Mark& mark) {
    variables.resize(mark.variables);
    arrays.resize(mark.arrays);
  }

  /// A scalar type that the kernel uses.
  Type scalar_type(Random& random) const { return {random.pick(scalars), 1}; }
  /// A scalar or vector type that the kernel uses.
  Type any_type(Random& random) const {
    const Type scalar = scalar_type(random);
    if (features.vectors && random.chance(35)) {
      return {scalar.scalar, static_cast<unsigned>(random.between(2, 4))};
    }
    return scalar;
  }
};

}  // namespace pewter::fuzz
