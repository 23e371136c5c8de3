#include "pewter/array/evaluation/evaluate.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "pewter/array/evaluation/dependence.h"
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

// Up to so many elements, operations take less time one by one than their common kernel takes to
// be compiled.
constexpr std::size_t kFewElements = 16384;

/// What computes graphs, one at a time.
class Evaluator {
 public:
  static Evaluator& instance() {
    // Never destroyed: arrays may be computed by destructors of static objects.
    static auto* const instance = new Evaluator;
    return *instance;
  }

  void run(std::span<const array> roots, Fusion fusion) {
    // Let go of when the lock is free again: the ends of adopted memory are the user's to act on,
    // and may compute arrays.
    std::vector<runtime::Buffer> adopted;
    const std::scoped_lock lock(mutex_);
    tape_.record(roots);
    if (tape_.entries().empty()) {
      return;
    }
    const runtime::AutoreleaseScope scope;
    groups_.form(tape_, fusion == Fusion::On);
    streams_.clear();
    std::exception_ptr failure;
    const Group* current = nullptr;
    try {
      for (const Group& group : groups_.in_order()) {
        current = &group;
        keep_adopted(group, adopted);
        dependence_.begin(group);
        run_group(group);
        dependence_.end();
      }
    } catch (...) {
      failure = std::current_exception();
      dependence_.end();
      take_memory_back(*current);
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
  static void keep_adopted(const Group& group, std::vector<runtime::Buffer>& adopted) {
    for (const graph::Node* leaf : group.leaves) {
      const graph::Node& origin = leaf->origin();
      if (origin.is_shared_memory && (adopted.empty() || adopted.back() != origin.buffer)) {
        adopted.push_back(origin.buffer);
      }
    }
  }

  /// Where a group is computed: all its members have the same.
  runtime::Stream& stream_of(const graph::Node& node) {
    runtime::Stream& stream = known_stream(node.stream);
    dependence_.note_tasks_of(stream);
    return stream;
  }

  runtime::Stream& known_stream(std::uint32_t wanted) {
    for (const auto& [number, stream] : streams_) {
      if (number == wanted) {
        return *stream;
      }
    }
    streams_.emplace_back(wanted, graph::stream_with(wanted));
    return *streams_.back().second;
  }

  void run_group(const Group& group) {
    graph::Node& root = *tape_.entries()[group.root].node;
    if (group.is_generated) {
      if (root.size > 0 && !encode_generated(tape_, group, stream_of(root), unmade_kernel(group))) {
        if (run_one_by_one(group)) {
          return;
        }
        const auto begin = std::chrono::steady_clock::now();
        encode_generated(tape_, group, stream_of(root), Unmade::Wait);
        if (std::chrono::steady_clock::now() - begin > kLongWait) {
          request_kernels_of_members(group);
        }
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

  /// A group whose members have kernels already need not wait for its own.
  Unmade unmade_kernel(const Group& group) {
    const graph::Node& root = *tape_.entries()[group.root].node;
    const std::size_t size =
        root.primitive->reduction() != nullptr ? root.inputs[0]->size : root.size;
    return group.members.size() > 1 && size > 0 && size <= kFewElements ? Unmade::Refuse
                                                                        : Unmade::Wait;
  }

  /// Computes the members of a group by kernels of their own, which give the same bits, while the
  /// group's kernel is made for the next time. False when one of those has not been made either.
  bool run_one_by_one(const Group& group) {
    const bool all_made =
        for_each_alone(group, [&](const Group& alone) { return has_kernel(tape_, alone); });
    if (!all_made) {
      return false;
    }
    logging::detail("fusion", "{} operations are computed one by one, until their kernel is made",
                    group.members.size());
    request_kernel(tape_, group);
    return for_each_alone(group, [&](const Group& alone) {
      graph::Node& node = *tape_.entries()[alone.root].node;
      encode_generated(tape_, alone, stream_of(node), Unmade::Wait);
      release(node);
      released_.clear();
      return true;
    });
  }

  /// So that other groups of these operations need not wait.
  void request_kernels_of_members(const Group& group) {
    for_each_alone(group, [&](const Group& alone) {
      request_kernel(tape_, alone);
      return true;
    });
  }

  /// Calls `visit` with each member as a group of its own, as long as it says true.
  template <typename Visit>
  bool for_each_alone(const Group& group, const Visit& visit) {
    std::vector<Entry>& entries = tape_.entries();
    const std::int32_t number = entries[group.root].group;
    // Numbers that no group has: a member must not find the others in its group.
    std::int32_t own_number = std::numeric_limits<std::int32_t>::min();
    for (const std::uint32_t member : group.members) {
      entries[member].group = own_number++;
    }
    bool goes_on = true;
    Group alone;
    alone.is_generated = true;
    for (std::size_t i = 0; i < group.members.size() && goes_on; ++i) {
      alone.root = group.members[i];
      alone.members.assign(1, alone.root);
      goes_on = visit(alone);
    }
    for (const std::uint32_t member : group.members) {
      entries[member].group = number;
    }
    return goes_on;
  }

  void run_primitive(graph::Node& node) {
    if (node.primitive->fill_on_host(node.inputs, node)) {
      release(node);
      return;
    }
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
    runtime::Stream& stream = stream_of(node);
    const bool is_alone = node.primitive->may_fault();
    if (is_alone) {
      stream.commit();
    }
    node.primitive->encode(stream, node.inputs, outputs);
    if (is_alone) {
      stream.commit();
    }
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

  // Some of a group's outputs may have memory when there is none for another, or for its scratch.
  void take_memory_back(const Group& group) {
    for (const std::uint32_t member : group.members) {
      graph::Node& node = *tape_.entries()[member].node;
      if (node.is_available.load()) {
        continue;
      }
      node.buffer.reset();
      for (std::size_t i = 0; node.siblings && i < node.siblings->outputs.size(); ++i) {
        if (const graph::NodePointer output = node.siblings->outputs[i].lock()) {
          output->buffer.reset();
        }
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
    dependence_.hand_to(node);
    node.is_available.store(true, std::memory_order_release);
  }

  std::recursive_mutex mutex_;  // guards the members below
  Tape tape_;
  Groups groups_;
  Dependence dependence_;
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
  raise_known_failure(a.node().origin());
}

void wait(const array& a) {
  const graph::Node& node = a.node();
  if (node.size > 0 && node.memory()) {
    node.memory().synchronize();
    raise_failure(node.origin());
  }
}

}  // namespace pewter::evaluation
