#pragma once

#include <pewter/array.h>

#include <span>
#include <string_view>
#include <vector>

#include "pewter/array/graph/node.h"
#include "pewter/runtime/stream.h"

namespace pewter::ops {
struct Elementwise;
struct Reduction;
}  // namespace pewter::ops

namespace pewter::graph {

/// What computes a node. Never changes and is shared by nodes; everything but the inputs is a
/// member.
class Primitive {
 public:
  virtual ~Primitive() = default;
  virtual std::string_view name() const = 0;

  /// Encodes the computation on `stream`. The inputs have memory; on the way out the outputs have
  /// memory too. May throw, and then has encoded nothing that matters.
  virtual void encode(runtime::Stream& stream,
                      std::span<const NodePointer> inputs,
                      std::span<Node* const> outputs) const = 0;

  /// Gives the one output memory and elements that the host knows, without a stream. False, the
  /// default, when encode() has to.
  virtual bool fill_on_host(std::span<const NodePointer> /*inputs*/, Node& /*out*/) const {
    return false;
  }

  /// The same call on other inputs, for functions that were traced without shapes. Throws
  /// std::invalid_argument, the default, when the result cannot be derived.
  virtual std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t stream) const;

  /// Whether it runs code of the user's, which may fault: then it is computed in a command buffer
  /// of its own, so that its failure is nobody else's.
  virtual bool may_fault() const { return false; }

  /// Its row of the table when it acts on each element by itself: then encode() is never called,
  /// but a kernel made for it and its neighbours.
  virtual const ops::Elementwise* elementwise() const { return nullptr; }
  /// What it does when it reduces rows: then a kernel made for it and what it reduces may be used.
  virtual const ops::Reduction* reduction() const { return nullptr; }
};

}  // namespace pewter::graph
