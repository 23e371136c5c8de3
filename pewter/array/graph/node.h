#pragma once

#include <pewter/array.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pewter/runtime/buffer.h"
#include "pewter/runtime/outcome.h"

namespace pewter::graph {

class Primitive;
struct Node;
using NodePointer = std::shared_ptr<Node>;

/// The outputs of one call of a primitive that has several.
struct Siblings {
  std::vector<std::weak_ptr<Node>> outputs;
};

/// What an array handle points to: either memory of its own, or how to compute it, or a look at
/// another node's.
///
/// What a computed node will hold is row contiguous, so shapes, strides and offsets are known
/// before anything is computed and never change. The members under "computation" and "memory"
/// change once, when the node is evaluated, under the lock of evaluation/evaluate.h; `is_available`
/// is set last.
struct Node : std::enable_shared_from_this<Node> {
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// Lets go of inputs one after the other: graphs are deeper than the stack.
  ~Node();

  Shape shape;
  Strides strides;
  /// Elements from the start of the memory to the first element.
  std::int64_t offset = 0;
  std::size_t size = 0;
  Dtype dtype = Dtype::Float32;
  Placement placement = Placement::Device;
  /// Whether somebody outside the graph knows the memory, so that it must not be written to when
  /// the node dies.
  bool is_shared_memory = false;
  /// Whether the node stands for an argument of a function that is being traced.
  bool is_placeholder = false;
  /// Whether it depends on such an argument: then it is never evaluated, and its inputs stay as
  /// they are.
  bool is_traced = false;
  /// Whether the elements lie one after the other.
  bool is_row_contiguous = true;
  /// Whether an evaluation has computed the node inside a kernel without storing it, though
  /// somebody held it: if it is needed once more, it is stored.
  bool was_passed_over = false;

  /// A view's node with the memory, or with the computation; never a view itself. The strides and
  /// the offset are then those in the base's memory.
  NodePointer base;

  // Computation. A view has a primitive and inputs only while a function is being traced.
  std::shared_ptr<const Primitive> primitive;
  std::vector<NodePointer> inputs;
  std::shared_ptr<Siblings> siblings;
  std::uint32_t output_index = 0;
  std::uint32_t stream = 0;

  // Memory: a buffer, bytes on the host, or, for elements of up to 8 bytes in all on the host, the
  // bytes right here.
  std::atomic<bool> is_available = false;
  runtime::Buffer buffer;
  std::shared_ptr<std::byte[]> host;
  alignas(8) mutable std::array<std::byte, 8> here = {};

  // What becomes of the task that fills the memory, and of the tasks before it that it depends on
  // and that had not ended when it was encoded. Null when there are none.
  std::shared_ptr<const runtime::Outcome> outcome;
  std::shared_ptr<const std::vector<std::shared_ptr<const runtime::Outcome>>> earlier;

  // Scratch of the evaluation that has the number `mark`.
  std::uint64_t mark = 0;
  std::uint32_t place = 0;
  std::uint32_t count = 0;

  /// The node that has the memory.
  Node& origin() { return base ? *base : *this; }
  const Node& origin() const { return base ? *base : *this; }
  bool has_memory() const { return origin().is_available.load(std::memory_order_acquire); }
  /// The memory on the device; null when there are no elements.
  const runtime::Buffer& memory() const { return origin().buffer; }
  std::size_t byte_offset() const;

  /// Whether this is one element that the host knows, which kernels take as a number.
  bool is_constant() const {
    return placement == Placement::Host && size == 1 && !is_placeholder && base == nullptr &&
           is_available.load(std::memory_order_relaxed);
  }

  /// The first element as the host sees it, without waiting for the device; null when there is
  /// none. The memory must be there.
  std::byte* first() const;
};

/// Makes a node with memory of its own, row contiguous, contents undefined.
NodePointer make_node(Shape shape, Dtype dtype, Placement placement);

/// Makes a node that `primitive` computes from `inputs`.
NodePointer make_computed(Shape shape,
                          Dtype dtype,
                          std::shared_ptr<const Primitive> primitive,
                          std::vector<NodePointer> inputs,
                          std::uint32_t stream);

/// Makes a look at `node` with other strides; the offset is added to that of `node`.
NodePointer make_view(const NodePointer& node, Shape shape, Strides strides, std::int64_t offset);

/// Gives a computed node memory on the device.
void allocate_memory(Node& node);

/// Whether a computation that has `input` among its inputs `uses` times may write to its memory:
/// nobody else has the input, nor whatever it looks at, all of which it shows in order.
bool is_memory_free(const Node& input, std::size_t uses);

/// Gives a computed node the memory of an input that is free and as large, so that the input's
/// elements are in it; or else memory of its own. True for the former.
bool take_memory(Node& node, const Node& input);

}  // namespace pewter::graph
