#pragma once

#include <pewter/array.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pewter/runtime/buffer.h"

namespace pewter::graph {

/// What an array handle points to. Never changes once a handle exists.
struct Node {
  Shape shape;
  Strides strides;
  /// Elements from the start of the memory to the first element.
  std::int64_t offset = 0;
  std::size_t size = 0;
  Dtype dtype = Dtype::Float32;
  Placement placement = Placement::Device;

  /// The memory: one of the two, by placement; neither when there are no elements.
  runtime::Buffer buffer;
  std::shared_ptr<std::byte[]> host;

  /// The first element as the host sees it, without waiting for the device; null when there is
  /// none.
  std::byte* first() const;
};

/// Makes a node with memory of its own, row contiguous, contents undefined.
std::shared_ptr<Node> make_node(Shape shape, Dtype dtype, Placement placement);

}  // namespace pewter::graph
