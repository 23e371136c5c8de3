#include "pewter/array/graph/node.h"

#include <utility>

#include "pewter/array/graph/node_memory.h"
#include "pewter/array/graph/shape.h"
#include "pewter/runtime/allocator.h"

namespace pewter::graph {
namespace {

/// Nodes that lost their last reference while another node was being destroyed; null outside of
/// that. A pointer, because nodes may be destroyed after this thread's objects are.
thread_local std::vector<NodePointer>* dying = nullptr;

NodePointer new_node() {
  return std::allocate_shared<Node>(NodeMemory<Node>());
}

bool fits_here(std::size_t bytes) {
  return bytes <= sizeof(Node::here);
}

}  // namespace

Node::~Node() {
  if (inputs.empty() && !base) {
    return;
  }
  std::vector<NodePointer> own;
  const bool is_first = dying == nullptr;
  if (is_first) {
    dying = &own;
  }
  for (NodePointer& input : inputs) {
    dying->push_back(std::move(input));
  }
  if (base) {
    dying->push_back(std::move(base));
  }
  if (!is_first) {
    return;
  }
  while (!own.empty()) {
    const NodePointer last = std::move(own.back());
    own.pop_back();
  }
  dying = nullptr;
}

std::size_t Node::byte_offset() const {
  return static_cast<std::size_t>(offset) * size_of(dtype);
}

std::byte* Node::first() const {
  if (size == 0) {
    return nullptr;
  }
  const Node& with_memory = origin();
  if (with_memory.placement == Placement::Device) {
    return with_memory.buffer.contents() + byte_offset();
  }
  std::byte* const start = with_memory.host ? with_memory.host.get() : with_memory.here.data();
  return start + byte_offset();
}

NodePointer make_node(Shape shape, Dtype dtype, Placement placement) {
  auto node = new_node();
  node->size = element_count(shape, size_of(dtype));
  node->strides = row_strides(shape);
  node->shape = std::move(shape);
  node->dtype = dtype;
  node->placement = placement;
  const std::size_t bytes = node->size * size_of(dtype);
  if (placement == Placement::Device) {
    node->buffer = runtime::allocator().allocate(bytes);
  } else if (!fits_here(bytes)) {
    node->host = std::shared_ptr<std::byte[]>(new std::byte[bytes]);
  }
  node->is_available.store(true, std::memory_order_release);
  return node;
}

NodePointer make_computed(Shape shape,
                          Dtype dtype,
                          std::shared_ptr<const Primitive> primitive,
                          std::vector<NodePointer> inputs,
                          std::uint32_t stream) {
  auto node = new_node();
  node->size = element_count(shape, size_of(dtype));
  node->strides = row_strides(shape);
  node->shape = std::move(shape);
  node->dtype = dtype;
  node->primitive = std::move(primitive);
  node->inputs = std::move(inputs);
  node->stream = stream;
  for (const NodePointer& input : node->inputs) {
    node->is_traced = node->is_traced || input->is_traced;
  }
  return node;
}

NodePointer make_view(const NodePointer& node, Shape shape, Strides strides, std::int64_t offset) {
  auto view = new_node();
  view->size = element_count(shape, size_of(node->dtype));
  view->is_row_contiguous = is_row_contiguous(shape, strides);
  view->shape = std::move(shape);
  view->strides = std::move(strides);
  view->offset = node->offset + offset;
  view->dtype = node->dtype;
  view->placement = node->placement;
  view->stream = node->stream;
  view->is_traced = node->is_traced;
  view->base = node->base ? node->base : node;
  return view;
}

void allocate_memory(Node& node) {
  node.buffer = runtime::allocator().allocate(node.size * size_of(node.dtype));
}

bool is_memory_free(const Node& input, std::size_t uses) {
  const Node& origin = input.origin();
  if (origin.is_shared_memory || origin.placement != Placement::Device) {
    return false;
  }
  const bool shows_all = input.is_row_contiguous && input.offset == 0 &&
                         input.size * size_of(input.dtype) == origin.size * size_of(origin.dtype);
  return shows_all && static_cast<std::size_t>(input.weak_from_this().use_count()) == uses &&
         (!input.base || input.base.use_count() == 1);
}

bool take_memory(Node& node, const Node& input) {
  if (input.size * size_of(input.dtype) == node.size * size_of(node.dtype) &&
      is_memory_free(input, 1)) {
    node.buffer = input.memory();
    return true;
  }
  allocate_memory(node);
  return false;
}

}  // namespace pewter::graph
