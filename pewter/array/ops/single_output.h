#pragma once

#include "pewter/array/graph/node.h"
#include "pewter/array/graph/primitive.h"

namespace pewter::ops {

/// A primitive with one output, which gets new memory.
class SingleOutput : public graph::Primitive {
 public:
  void encode(runtime::Stream& stream,
              std::span<const graph::NodePointer> inputs,
              std::span<graph::Node* const> outputs) const final {
    graph::allocate_memory(*outputs[0]);
    if (outputs[0]->size != 0) {
      encode_into(stream, inputs, *outputs[0]);
    }
  }

 protected:
  /// Encodes what fills the output, which has elements.
  virtual void encode_into(runtime::Stream& stream,
                           std::span<const graph::NodePointer> inputs,
                           graph::Node& out) const = 0;
};

}  // namespace pewter::ops
