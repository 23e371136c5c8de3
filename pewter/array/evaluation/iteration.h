#pragma once

#include <pewter/array.h>

#include <cstdint>
#include <span>
#include <vector>

#include "pewter/array/fusion/kernel_structure.h"
#include "pewter/array/graph/node.h"

namespace pewter::evaluation {

/// How threads run over a shape, and where they find the elements of inputs that are broadcast to
/// it: neighbouring axes are joined where the strides of all inputs allow it.
class Iteration {
 public:
  /// Throws std::invalid_argument, tagged with `origin`, when more axes are left than kernels can
  /// run over.
  void plan(const Shape& shape,
            std::size_t size,
            std::span<graph::Node* const> inputs,
            const char* origin = "eval");

  /// Changes what has been planned for `size` elements to that of the general structure: for up to
  /// fusion::kDividedAxes axes, and elements that 32 bits count.
  void generalize(std::size_t size);

  fusion::Layout layout() const { return layout_; }
  fusion::Access access(std::size_t input) const { return accesses_[input]; }
  /// Without the count.
  const fusion::GridArguments& arguments() const { return arguments_; }
  fusion::DivisionArguments divisions() const;
  fusion::GridStrides strides(std::size_t input) const;
  /// Product of the lengths behind the first two.
  std::uint64_t rest() const;

 private:
  void join(const Shape& shape, const char* origin);
  /// Makes two axes of one that has more elements than kernels count. Returns how many there are.
  std::size_t cut_long_axes(const Shape& shape,
                            std::vector<std::int64_t>& lengths,
                            const char* origin);

  fusion::Layout layout_ = fusion::Layout::Linear;
  fusion::GridArguments arguments_ = {};
  std::vector<fusion::Access> accesses_;
  /// By input, then by axis of the shape; joined in place, last axis first.
  std::vector<std::vector<std::int64_t>> strides_;
  std::size_t input_count_ = 0;
};

}  // namespace pewter::evaluation
