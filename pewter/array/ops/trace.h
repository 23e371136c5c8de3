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
