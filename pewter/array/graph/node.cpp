#include "pewter/array/graph/node.h"

#include <utility>

#include "pewter/array/graph/shape.h"
#include "pewter/runtime/allocator.h"

namespace pewter::graph {

std::byte* Node::first() const {
  if (size == 0) {
    return nullptr;
  }
  std::byte* const start = placement == Placement::Device ? buffer.contents() : host.get();
  return start + offset * static_cast<std::int64_t>(size_of(dtype));
}

std::shared_ptr<Node> make_node(Shape shape, Dtype dtype, Placement placement) {
  auto node = std::make_shared<Node>();
  node->size = element_count(shape, size_of(dtype));
  node->strides = row_strides(shape);
  node->shape = std::move(shape);
  node->dtype = dtype;
  node->placement = placement;
  const std::size_t bytes = node->size * size_of(dtype);
  if (placement == Placement::Device) {
    node->buffer = runtime::allocator().allocate(bytes);
  } else if (bytes > 0) {
    node->host = std::shared_ptr<std::byte[]>(new std::byte[bytes]);
  }
  return node;
}

}  // namespace pewter::graph
