#include "pewter/array/evaluation/evaluate.h"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "pewter/array/evaluation/generated_group.h"
#include "pewter/array/evaluation/groups.h"
#include "pewter/array/evaluation/tape.h"
#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/streams.h"
#include "pewter/array/ops/trace.h"
#include "pewter/base/log.h"
#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/device.h"

namespace pewter::evaluation {
namespace {

/// What computes graphs, one at a time.
class Evaluator {
 public:
  static Evaluator& instance() {
    // Never destroyed: arrays may be computed by destructors of static objects.
    static auto* const instance = new Evaluator;
    return *instance;
  }

  void run(std::span<const array> roots, Fusion fusion) {
    const std::scoped_lock lock(mutex_);
    tape_.record(roots);
    if (tape_.entries().empty()) {
      return;
    }
    const runtime::AutoreleaseScope scope;
    groups_.form(tape_, fusion == Fusion::On);
    streams_.clear();
    std::exception_ptr failure;
    try {
      for (const Group& group : groups_.in_order()) {
        run_group(group);
      }
    } catch (...) {
      failure = std::current_exception();
    }
    for (const auto& [number, stream] : streams_) {
      stream->commit();
    }
    streams_.clear();
    if (failure) {
      std::rethrow_exception(failure);
    }
  }

 private:
  runtime::Stream& stream_of(const graph::Node& node) {
    for (const auto& [number, stream] : streams_) {
      if (number == node.stream) {
        return *stream;
      }
    }
    streams_.emplace_back(node.stream, graph::stream_with(node.stream));
    return *streams_.back().second;
  }

  void run_group(const Group& group) {
    graph::Node& root = *tape_.entries()[group.root].node;
    if (group.is_generated) {
      if (root.size > 0) {
        encode_generated(tape_, group, stream_of(root));
      }
      for (const std::uint32_t member : group.members) {
        const Entry& entry = tape_.entries()[member];
        if (entry.is_kept || member == group.root) {
          release(*entry.node);
        } else if (entry.is_held) {
          entry.node->was_passed_over = true;
        }
      }
    } else {
      run_primitive(root);
    }
    // What the members held may be the last references to other members.
    released_.clear();
  }

  void run_primitive(graph::Node& node) {
    std::vector<graph::NodePointer> alive;
    std::vector<graph::Node*> outputs;
    if (!node.siblings) {
      outputs.push_back(&node);
    } else {
      for (const auto& weak : node.siblings->outputs) {
        alive.push_back(weak.lock());
        outputs.push_back(alive.back().get());
      }
    }
    logging::detail("fusion", "{} has a kernel of its own", node.primitive->name());
    node.primitive->encode(stream_of(node), node.inputs, outputs);
    if (!node.siblings) {
      release(node);
      return;
    }
    for (const graph::NodePointer& output : alive) {
      if (output) {
        release(*output);
      }
    }
  }

  // Turns a computation into memory.
  void release(graph::Node& node) {
    for (graph::NodePointer& input : node.inputs) {
      released_.push_back(std::move(input));
    }
    node.inputs.clear();
    node.siblings.reset();
    node.primitive.reset();
    node.is_available.store(true, std::memory_order_release);
  }

  std::recursive_mutex mutex_;  // guards the members below
  Tape tape_;
  Groups groups_;
  std::vector<std::pair<std::uint32_t, std::shared_ptr<runtime::Stream>>> streams_;
  std::vector<graph::NodePointer> released_;
};

}  // namespace

void schedule(std::span<const array> arrays, Fusion fusion) {
  const bool all_available = std::all_of(arrays.begin(), arrays.end(),
                                         [](const array& a) { return a.node().has_memory(); });
  if (all_available) {
    return;
  }
  if (ops::is_tracing()) {
    throw std::invalid_argument(
        "[eval] an array cannot be evaluated while a function is being traced");
  }
  runtime::refuse_bad_fork("[eval]");
  Evaluator::instance().run(arrays, fusion);
}

void ensure_available(const array& a) {
  if (!a.node().has_memory()) {
    schedule({&a, 1});
  }
}

void wait(const array& a) {
  const graph::Node& node = a.node();
  if (node.size > 0 && node.memory()) {
    node.memory().synchronize();
  }
}

}  // namespace pewter::evaluation
