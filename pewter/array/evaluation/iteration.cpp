#include "pewter/array/evaluation/iteration.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "pewter/array/evaluation/groups.h"
#include "pewter/array/graph/shape.h"

namespace pewter::evaluation {
namespace {

// Shorter last axes leave too many lanes of a simdgroup without work.
constexpr std::uint32_t kShortAxis = 32;
// Equal parts that an axis is cut into, at most, when it is too long for a kernel.
constexpr std::int64_t kMaxParts = 65536;

}  // namespace

void Iteration::plan(const Shape& shape,
                     std::size_t size,
                     std::span<graph::Node* const> inputs,
                     const char* origin) {
  input_count_ = inputs.size();
  accesses_.assign(inputs.size(), fusion::Access::Linear);
  layout_ = fusion::Layout::Linear;
  arguments_ = {};
  bool is_simple = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->size == size && inputs[i]->is_row_contiguous) {
      continue;
    }
    if (inputs[i]->size == 1) {
      accesses_[i] = fusion::Access::Single;
      continue;
    }
    is_simple = false;
  }
  if (is_simple) {
    return;
  }

  if (strides_.size() < inputs.size()) {
    strides_.resize(inputs.size());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // Of another shape perhaps, but with its elements in the same order.
    if (inputs[i]->size == size && inputs[i]->is_row_contiguous) {
      strides_[i] = graph::row_strides(shape);
    } else {
      broadcast_strides(*inputs[i], shape, strides_[i]);
    }
  }
  join(shape, origin);

  const bool is_short = arguments_.lengths[0] < kShortAxis &&
                        size <= std::numeric_limits<std::uint32_t>::max() - kShortAxis * 32;
  layout_ = !is_short                                       ? fusion::Layout::Grid
            : arguments_.axis_count <= fusion::kDividedAxes ? fusion::Layout::Divided
                                                            : fusion::Layout::DividedDeep;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (accesses_[i] == fusion::Access::Single) {
      continue;
    }
    const std::int64_t along = strides_[i][0];
    const bool is_row_contiguous = inputs[i]->size == size && inputs[i]->is_row_contiguous;
    accesses_[i] = is_short ? (is_row_contiguous ? fusion::Access::Linear : fusion::Access::Strided)
                   : along == 1 ? fusion::Access::Unit
                   : along == 0 ? fusion::Access::Same
                                : fusion::Access::Strided;
    // An input that runs along another axis: its cache lines serve several rows of the output.
    if (!is_short && arguments_.axis_count > 1 && std::abs(along) > kShortAxis &&
        std::abs(strides_[i][1]) < kShortAxis / 2) {
      layout_ = fusion::Layout::Tiled;
    }
  }
}

// Writes lengths and strides with the last axis first.
void Iteration::join(const Shape& shape, const char* origin) {
  std::size_t count = 0;
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < input_count_; ++i) {
    std::reverse(strides_[i].begin(), strides_[i].end());
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t length = shape[shape.size() - 1 - axis];
    if (length == 1) {
      continue;
    }
    bool joins = count > 0 && (length == 0 || lengths[count - 1] <= graph::kMaxThreads / length);
    for (std::size_t i = 0; i < input_count_ && joins; ++i) {
      joins = strides_[i][axis] == strides_[i][count - 1] * lengths[count - 1];
    }
    if (joins) {
      lengths[count - 1] *= length;
      continue;
    }
    for (std::size_t i = 0; i < input_count_; ++i) {
      strides_[i][count] = strides_[i][axis];
    }
    lengths.push_back(length);
    ++count;
  }
  count = cut_long_axes(shape, lengths, origin);
  if (count > fusion::kMaxAxes) {
    throw std::invalid_argument(
        fmt::format("[{}] the shape {} has {} axes that cannot be joined; {} are possible", origin,
                    graph::to_text(shape), count, fusion::kMaxAxes));
  }
  std::fill(std::begin(arguments_.lengths), std::end(arguments_.lengths), 1U);
  for (std::size_t axis = 0; axis < count; ++axis) {
    arguments_.lengths[axis] = static_cast<std::uint32_t>(lengths[axis]);
  }
  arguments_.axis_count = static_cast<std::uint32_t>(count);
}

std::size_t Iteration::cut_long_axes(const Shape& shape,
                                     std::vector<std::int64_t>& lengths,
                                     const char* origin) {
  for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
    const std::int64_t length = lengths[axis];
    if (length <= graph::kMaxThreads) {
      continue;
    }
    std::int64_t parts = (length + graph::kMaxThreads - 1) / graph::kMaxThreads;
    while (parts <= kMaxParts && length % parts != 0) {
      ++parts;
    }
    if (parts > kMaxParts) {
      throw std::invalid_argument(fmt::format(
          "[{}] the shape {} has an axis of {} elements, which cannot be cut into equal "
          "parts; kernels run over up to {}",
          origin, graph::to_text(shape), length, graph::kMaxThreads));
    }
    lengths[axis] = length / parts;
    const auto next = static_cast<std::ptrdiff_t>(axis) + 1;
    lengths.insert(lengths.begin() + next, parts);
    for (std::size_t i = 0; i < input_count_; ++i) {
      strides_[i].insert(strides_[i].begin() + next, strides_[i][axis] * lengths[axis]);
    }
  }
  return lengths.size();
}

void Iteration::generalize(std::size_t size) {
  if (layout_ == fusion::Layout::Linear) {
    strides_.resize(std::max(strides_.size(), input_count_));
    for (std::size_t i = 0; i < input_count_; ++i) {
      strides_[i].assign(1, accesses_[i] == fusion::Access::Single ? 0 : 1);
    }
    arguments_.lengths[0] = static_cast<std::uint32_t>(size);
    arguments_.axis_count = 1;
  }
  layout_ = fusion::Layout::Divided;
  accesses_.assign(input_count_, fusion::Access::Strided);
}

// Granlund and Montgomery, "Division by Invariant Integers using Multiplication", figure 4.1.
fusion::DivisionArguments Iteration::divisions() const {
  fusion::DivisionArguments result = {};
  for (std::size_t axis = 0; axis < fusion::kMaxAxes; ++axis) {
    const std::uint64_t length = arguments_.lengths[axis];
    if (length > 1) {
      const auto bits = static_cast<std::uint32_t>(std::bit_width(length - 1));
      const std::uint64_t above = (std::uint64_t{1} << bits) - length;
      result.multipliers[axis] = static_cast<std::uint32_t>((above << 32U) / length + 1);
      result.shifts[axis] = bits - 1;
    }
  }
  return result;
}

fusion::GridStrides Iteration::strides(std::size_t input) const {
  fusion::GridStrides result = {};
  const std::size_t count = std::min<std::size_t>(arguments_.axis_count, fusion::kMaxAxes);
  for (std::size_t axis = 0; axis < count; ++axis) {
    result.strides[axis] = strides_[input][axis];
  }
  return result;
}

std::uint64_t Iteration::rest() const {
  std::uint64_t product = 1;
  for (std::size_t axis = 2; axis < fusion::kMaxAxes; ++axis) {
    product *= arguments_.lengths[axis];
  }
  return product;
}

}  // namespace pewter::evaluation
