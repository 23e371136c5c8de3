#pragma once

#include <pewter/array.h>
#include <pewter/device.h>

#include <cstdint>
#include <functional>
#include <utility>

#include "pewter/array/graph/node.h"
#include "pewter/array/graph/primitive.h"

namespace pewter::ops {

/// The number of the stream that is meant.
std::uint32_t stream_number(const StreamOrDevice& s);

/// Whether the calling thread is running a function that is being traced.
bool is_tracing();

/// While it lives, the calling thread is tracing.
class TraceScope {
 public:
  TraceScope();
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

  /// Whether something has looked at lengths that follow from those of an argument since it began:
  /// what was recorded may then be wrong for other lengths.
  bool reads_lengths() const;
};

/// Called by whatever tells the lengths of an array, or what follows from them.
void note_lengths_read(const graph::Node& node);

/// While it lives, the calling thread may look at lengths: for operations whose primitives look at
/// them again when they are applied to other inputs, and that depend on them in no other way. An
/// operation that does not have it is traced anew for other lengths.
class LengthsScope {
 public:
  LengthsScope();
  ~LengthsScope();
  LengthsScope(const LengthsScope&) = delete;
  LengthsScope& operator=(const LengthsScope&) = delete;
};

/// Makes a view remember how it came about: `repeat` makes the same view of another array.
void remember_view(graph::Node& view,
                   const array& of,
                   const char* name,
                   std::function<array(const array&)> repeat);

/// The array of a view; it remembers how it came about while a function is traced.
template <typename Repeat>
array traced_view(graph::NodePointer view, const array& of, const char* name, Repeat&& repeat) {
  if (is_tracing()) {
    remember_view(*view, of, name, std::forward<Repeat>(repeat));
  }
  return array(std::move(view));
}

}  // namespace pewter::ops
