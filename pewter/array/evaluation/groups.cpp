#include "pewter/array/evaluation/groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "pewter/array/fusion/kernel_structure.h"
#include "pewter/array/graph/primitive.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/reduction.h"
#include "pewter/base/log.h"

namespace pewter::evaluation {
namespace {

// A kernel has 31 buffers, one of them for its arguments; long texts take long to compile.
constexpr std::size_t kMaxSteps = 40;
constexpr std::size_t kMaxLeaves = 20;
constexpr std::uint32_t kMaxOutputs = 8;

bool contains(const std::vector<const graph::Node*>& leaves, const graph::NodePointer& node) {
  return std::find(leaves.begin(), leaves.end(), node.get()) != leaves.end();
}

/// How much a group reads once `member` belongs to it: what that reads, but no longer what it is.
std::size_t leaves_with(const graph::Node& member, const std::vector<const graph::Node*>& leaves) {
  std::size_t count = 0;
  for (const graph::Node* leaf : leaves) {
    count += &leaf->origin() != &member ? 1 : 0;
  }
  for (const graph::NodePointer& input : member.inputs) {
    count += input->is_constant() || contains(leaves, input) ? 0 : 1;
  }
  return count;
}

void replace_leaf(const graph::Node& member, std::vector<const graph::Node*>& leaves) {
  std::erase_if(leaves, [&](const graph::Node* leaf) { return &leaf->origin() == &member; });
  for (const graph::NodePointer& input : member.inputs) {
    if (!input->is_constant() && !contains(leaves, input)) {
      leaves.push_back(input.get());
    }
  }
}

/// Says why what needs `node` is not computed along with it.
void refuse(const graph::Node& node, std::string_view reason) {
  logging::detail("fusion", "{} ends its kernel: {}", node.primitive->name(), reason);
}

bool may_use_while_computing(const graph::Node& input, const graph::Node& user) {
  return is_elementwise_use(input, user.primitive->reduction() != nullptr ? input : user);
}

std::string describe_use(const graph::Node& node,
                         const graph::Node& input,
                         const graph::Node& user) {
  const std::size_t needed =
      user.primitive->elementwise() != nullptr ? std::max(input.size, user.size) : input.size;
  return fmt::format("{} needs {}", user.primitive->name(),
                     input.dtype != node.dtype ? "its elements as another type"
                     : needed > node.size      ? "its elements more than once"
                     : input.size < node.size  ? "only some of its elements"
                                               : "its elements in another order");
}

}  // namespace

bool is_elementwise_use(const graph::Node& input, const graph::Node& user) {
  return input.size == user.size && input.is_row_contiguous && input.offset == 0 &&
         (!input.base || (input.base->size == input.size && input.base->dtype == input.dtype));
}

void broadcast_strides(const graph::Node& input,
                       const Shape& shape,
                       std::vector<std::int64_t>& out) {
  const std::size_t lead = shape.size() - input.shape.size();
  out.assign(shape.size(), 0);
  for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
    if (input.shape[axis] != 1) {
      out[lead + axis] = input.strides[axis];
    }
  }
}

Segments segments(const Shape& shape, std::size_t first, std::size_t last) {
  Segments result;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    (axis < first ? result.outer : axis < last ? result.reduced : result.inner) *= shape[axis];
  }
  return result;
}

SegmentStrides segment_strides(const graph::Node& input,
                               const Shape& shape,
                               std::size_t first,
                               std::size_t last) {
  std::vector<std::int64_t> strides;
  broadcast_strides(input, shape, strides);
  SegmentStrides result;
  const auto join = [&](std::size_t begin, std::size_t end, std::int64_t& stride) {
    std::int64_t expected = -1;
    for (std::size_t axis = end; axis-- > begin;) {
      if (shape[axis] == 1) {
        continue;
      }
      if (expected < 0) {
        stride = strides[axis];
      } else if (strides[axis] != expected) {
        return false;
      }
      expected = strides[axis] * shape[axis];
      if (expected < 0) {
        return false;
      }
    }
    return true;
  };
  result.exist = join(0, first, result.outer) && join(first, last, result.reduced) &&
                 join(last, shape.size(), result.inner);
  return result;
}

Group& Groups::add() {
  if (count_ == groups_.size()) {
    groups_.emplace_back();
  }
  Group& group = groups_[count_++];
  group.members.clear();
  group.leaves.clear();
  group.outputs = 0;
  group.is_generated = false;
  return group;
}

bool Groups::may_join(Tape& tape, const Entry& entry, const Group& group) const {
  const graph::Node& node = *entry.node;
  const graph::Node& root = *tape.entries()[group.root].node;
  if (node.stream != root.stream) {
    refuse(node, "its stream is another");
    return false;
  }
  if (group.members.size() >= kMaxSteps || (entry.is_kept && group.outputs >= kMaxOutputs) ||
      leaves_with(node, group.leaves) > kMaxLeaves) {
    refuse(node, "the kernel has enough operations, inputs or outputs");
    return false;
  }

  // Everything that is not simply element i is found by its place in the shape that the threads
  // of the kernel run over.
  const ops::Reduction* reduction = root.primitive->reduction();
  if (reduction != nullptr && entry.is_kept) {
    refuse(node, "its elements are wanted besides their reduction");
    return false;
  }
  const Shape& shape = reduction != nullptr ? root.inputs[0]->shape : root.shape;
  for (const graph::NodePointer& input : node.inputs) {
    if (input->size == 1 || is_elementwise_use(*input, node)) {
      continue;
    }
    if (node.shape != shape) {
      refuse(node, "it is reshaped and has broadcast or strided inputs");
      return false;
    }
    // Each operation was checked by itself, not together with others.
    if (reduction == nullptr && shape.size() > fusion::kMaxAxes) {
      refuse(node, "it has strided inputs of more axes than a kernel runs over");
      return false;
    }
    if (reduction != nullptr &&
        !segment_strides(*input, shape, reduction->first, reduction->last).exist) {
      refuse(node, "it is reduced along axes that cannot be joined");
      return false;
    }
  }
  return true;
}

// Runs for the log only: all that need the entry have their groups already.
void Groups::explain_end(Tape& tape, std::size_t place) const {
  const std::vector<Entry>& entries = tape.entries();
  const graph::Node& node = *entries[place].node;
  if (node.primitive->reduction() != nullptr) {
    refuse(node, "it is a reduction");
    return;
  }
  std::vector<std::int32_t> users;
  std::string reason;
  for (std::size_t i = place + 1; i < entries.size(); ++i) {
    const graph::Node& user = *entries[i].node;
    for (const graph::NodePointer& input : user.inputs) {
      if (&input->origin() != &node) {
        continue;
      }
      if (std::find(users.begin(), users.end(), entries[i].group) == users.end()) {
        users.push_back(entries[i].group);
      }
      if (!groups_[static_cast<std::size_t>(entries[i].group)].is_generated) {
        reason = fmt::format("{}, which needs it, has a kernel of its own", user.primitive->name());
      } else if (!may_use_while_computing(*input, user)) {
        reason = describe_use(node, *input, user);
      }
    }
  }
  refuse(node, users.size() > 1 ? fmt::format("{} kernels need it", users.size()) : reason);
}

void Groups::form(Tape& tape, bool fuses) {
  count_ = 0;
  const bool explains = fuses && logging::wanted("fusion");
  std::vector<Entry>& entries = tape.entries();
  for (std::size_t i = entries.size(); i-- > 0;) {
    Entry& entry = entries[i];
    const graph::Primitive& primitive = *entry.node->primitive;
    const bool is_elementwise = primitive.elementwise() != nullptr;
    const bool joins = fuses && is_elementwise && entry.candidate >= 0 &&
                       entry.elementwise_uses == entry.uses &&
                       may_join(tape, entry, groups_[static_cast<std::size_t>(entry.candidate)]);
    if (joins) {
      entry.group = entry.candidate;
    } else {
      const bool is_generated = is_elementwise || primitive.reduction() != nullptr;
      if (explains && is_generated && entry.uses > 0 &&
          (!is_elementwise || entry.candidate == Entry::kSeveral)) {
        explain_end(tape, i);
      }
      entry.group = static_cast<std::int32_t>(count_);
      Group& made = add();
      made.root = static_cast<std::uint32_t>(i);
      made.is_generated = is_generated;
    }

    Group& group = groups_[static_cast<std::size_t>(entry.group)];
    group.members.push_back(static_cast<std::uint32_t>(i));
    group.outputs += entry.is_kept || !joins ? 1 : 0;
    replace_leaf(*entry.node, group.leaves);
    for (const graph::NodePointer& input : entry.node->inputs) {
      Entry* used = tape.find(input->origin());
      if (used == nullptr) {
        continue;
      }
      const bool may_fuse = group.is_generated && may_use_while_computing(*input, *entry.node);
      if (!may_fuse || (used->candidate != Entry::kNone && used->candidate != entry.group)) {
        used->candidate = Entry::kSeveral;
        continue;
      }
      used->candidate = entry.group;
      ++used->elementwise_uses;
    }
  }
  std::reverse(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(count_));
  for (std::size_t i = 0; i < count_; ++i) {
    std::reverse(groups_[i].members.begin(), groups_[i].members.end());
    for (const std::uint32_t member : groups_[i].members) {
      entries[member].group = static_cast<std::int32_t>(i);
    }
  }
}

}  // namespace pewter::evaluation
