#include "pewter/array/ops/trace.h"

#include <fmt/core.h>

#include <functional>
#include <stdexcept>
#include <utility>

namespace pewter::graph {

std::vector<array> Primitive::apply(const std::vector<array>& /*inputs*/,
                                    std::uint32_t /*stream*/) const {
  throw std::invalid_argument(
      fmt::format("[compile] {} cannot derive its result from other shapes; compile the function "
                  "without shapeless",
                  name()));
}

}  // namespace pewter::graph

namespace pewter::ops {
namespace {

thread_local int tracing_depth = 0;
thread_local int lengths_depth = 0;
thread_local bool lengths_were_read = false;

/// How a view came about.
class ViewPrimitive final : public graph::Primitive {
 public:
  ViewPrimitive(const char* name, std::function<array(const array&)> repeat)
      : name_(name), repeat_(std::move(repeat)) {}
  std::string_view name() const override { return name_; }
  void encode(runtime::Stream&,
              std::span<const graph::NodePointer>,
              std::span<graph::Node* const>) const override {
    throw std::logic_error(fmt::format("{} is a view and computes nothing", name_));
  }
  std::vector<array> apply(const std::vector<array>& inputs,
                           std::uint32_t /*stream*/) const override {
    return {repeat_(inputs[0])};
  }

 private:
  const char* name_;
  std::function<array(const array&)> repeat_;
};

}  // namespace

std::uint32_t stream_number(const StreamOrDevice& s) {
  return static_cast<std::uint32_t>(s.resolve().index);
}

bool is_tracing() {
  return tracing_depth > 0;
}

TraceScope::TraceScope() {
  if (tracing_depth++ == 0) {
    lengths_were_read = false;
  }
}

TraceScope::~TraceScope() {
  --tracing_depth;
}

bool TraceScope::reads_lengths() const {
  return lengths_were_read;
}

void note_lengths_read(const graph::Node& node) {
  if (tracing_depth > 0 && lengths_depth == 0 && node.is_traced) {
    lengths_were_read = true;
  }
}

LengthsScope::LengthsScope() {
  ++lengths_depth;
}

LengthsScope::~LengthsScope() {
  --lengths_depth;
}

void remember_view(graph::Node& view,
                   const array& of,
                   const char* name,
                   std::function<array(const array&)> repeat) {
  view.primitive = std::make_shared<ViewPrimitive>(name, std::move(repeat));
  view.inputs = {of.node_pointer()};
}

}  // namespace pewter::ops
