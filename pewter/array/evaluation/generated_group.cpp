#include "pewter/array/evaluation/generated_group.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "pewter/array/evaluation/iteration.h"
#include "pewter/array/graph/primitive.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/base/log.h"
#include "pewter/runtime/allocator.h"

namespace pewter::evaluation {
namespace {

using fusion::Access;
using fusion::KernelStructure;
using fusion::Layout;
using fusion::Operand;

// The most that Metal copies into a command buffer.
constexpr std::size_t kMaxArgumentBytes = 4096;
constexpr std::uint32_t kGroupThreads = 1024;
constexpr std::uint32_t kLanes = 32;
// Columns of a tile: what they read of 16 rows fits in the first cache.
constexpr std::uint32_t kTileWidth = 64;
// Elements of one dispatch over a linear index, a multiple of every group's size.
constexpr std::size_t kMaxLinearCount = std::size_t{1} << 31U;
// Up to so many elements computing with the general kernel takes less time than a kernel takes to
// be compiled.
constexpr std::size_t kMaxGeneralCount = std::size_t{1} << 22U;
// Rows shorter than a simdgroup go to one thread each.
constexpr std::int64_t kShortRow = 32;
// A reduction with few results is cut into parts of so many elements, whatever the number of cores:
// the order of additions depends on the shape alone.
constexpr std::int64_t kPartLength = 16384;
constexpr std::int64_t kFewResults = 64;
// Elements of a row that one dispatch reduces, in whole parts: kernels count them in 32 bits.
constexpr std::int64_t kMaxReduced = std::int64_t{1} << 31U;

/// The arguments of a kernel, built up in place.
class ArgumentBytes {
 public:
  template <typename T>
  void add(const T& value) {
    if (size_ + sizeof(T) > kMaxArgumentBytes) {
      throw std::logic_error("the arguments of a generated kernel are too long");
    }
    std::memcpy(bytes_ + size_, &value, sizeof(T));
    size_ += sizeof(T);
  }
  const void* data() const { return bytes_; }
  std::size_t size() const { return size_; }

 private:
  alignas(16) std::byte bytes_[kMaxArgumentBytes];
  std::size_t size_ = 0;
};

std::uint32_t group_width(std::uint64_t count) {
  const std::uint64_t whole = (count + kLanes - 1) / kLanes * kLanes;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::max<std::uint64_t>(whole, kLanes), kGroupThreads));
}

/// Where a dispatch begins in what is reduced.
struct ReductionStart {
  std::int64_t row = 0;
  std::int64_t element = 0;
};

/// What a reduction of nothing gives.
double identity_of(ops::ReductionKind kind) {
  return kind == ops::ReductionKind::Prod || kind == ops::ReductionKind::And ? 1 : 0;
}

/// Encodes one group; kept from one group to the next for its vectors' memory.
class Encoder {
 public:
  bool encode(Tape& tape, const Group& group, runtime::Stream& stream, Unmade unmade) {
    const ReleaseMemory leaves_are_released(leaf_memory_);
    begin(tape, group);
    if (reduction_ != nullptr && root_->inputs[0]->size == 0) {
      graph::allocate_memory(*root_);
      ops::encode_fill(stream, identity_of(reduction_->kind), *root_);
      return true;
    }
    plan();
    const runtime::ShaderKernel* kernel = choose_kernel(unmade);
    if (kernel == nullptr) {
      return false;
    }
    if (logging::wanted("fusion")) {
      logging::detail("fusion", "one kernel: {}", fusion::describe(structure_));
    }
    if (reduction_ != nullptr) {
      encode_reduction(stream, *kernel);
    } else {
      encode_elements(stream, *kernel);
    }
    return true;
  }

  bool has_kernel(Tape& tape, const Group& group) {
    begin(tape, group);
    plan();
    return fusion::find_kernel(structure_) != nullptr ||
           (has_general() && fusion::find_kernel(structure_.general()) != nullptr);
  }

  void request_kernel(Tape& tape, const Group& group) {
    begin(tape, group);
    plan();
    fusion::request_kernel(has_general() ? structure_.general() : structure_);
  }

 private:
  /// Lets go of what was read, however encoding ends.
  class ReleaseMemory {
   public:
    explicit ReleaseMemory(std::vector<runtime::Buffer>& memory) : memory_(memory) {}
    ReleaseMemory(const ReleaseMemory&) = delete;
    ReleaseMemory& operator=(const ReleaseMemory&) = delete;
    ~ReleaseMemory() { memory_.clear(); }

   private:
    std::vector<runtime::Buffer>& memory_;
  };

  void begin(Tape& tape, const Group& group) {
    tape_ = &tape;
    group_ = &group;
    structure_.clear();
    leaves_.clear();
    constants_.clear();
    outputs_.clear();
    root_ = tape.entries()[group.root].node;
    reduction_ = root_->primitive->reduction();
  }

  /// Finds the structure, and what a dispatch of it takes besides memory.
  void plan() {
    add_steps();
    if (reduction_ != nullptr) {
      plan_reduction();
    } else {
      plan_elements();
    }
  }

  /// Whether the general kernel may stand in for the group's own.
  bool has_general() const {
    const std::size_t count = reduction_ != nullptr ? root_->inputs[0]->size : root_->size;
    const bool is_possible =
        reduction_ != nullptr || iteration_.arguments().axis_count <= fusion::kDividedAxes;
    return is_possible && !leaves_.empty() && !structure_.is_general() && count <= kMaxGeneralCount;
  }

  /// The group's own kernel if it has been made, else the general one, for which the plan changes.
  /// Null when neither has been made and the caller does not wait.
  const runtime::ShaderKernel* choose_kernel(Unmade unmade) {
    if (const runtime::ShaderKernel* own = fusion::find_kernel(structure_)) {
      return own;
    }
    if (!has_general()) {
      return unmade == Unmade::Wait ? &wait_for(structure_) : nullptr;
    }
    KernelStructure general = structure_.general();
    const runtime::ShaderKernel* kernel = fusion::find_kernel(general);
    if (kernel == nullptr && unmade == Unmade::Wait) {
      kernel = &wait_for(general);
    }
    if (kernel == nullptr) {
      return nullptr;
    }
    if (!fusion::want_kernel(structure_)) {
      return &fusion::generated_kernel(structure_);
    }
    structure_ = std::move(general);
    if (reduction_ == nullptr) {
      iteration_.generalize(root_->size);
    }
    return kernel;
  }

  /// Has what other lengths need made in the background, so that they need not wait too.
  const runtime::ShaderKernel& wait_for(const KernelStructure& wanted) const {
    const auto begin = std::chrono::steady_clock::now();
    const runtime::ShaderKernel& kernel = fusion::generated_kernel(wanted);
    if (std::chrono::steady_clock::now() - begin > kLongWait && !leaves_.empty()) {
      KernelStructure other = structure_.general();
      fusion::request_kernel(other);
      if (reduction_ != nullptr) {
        other.layout = other.layout == Layout::Rows ? Layout::Columns : Layout::Rows;
        fusion::request_kernel(other);
      }
    }
    return kernel;
  }

  void add_steps() {
    std::vector<Entry>& entries = tape_->entries();
    for (const std::uint32_t member : group_->members) {
      Entry& entry = entries[member];
      if (entry.node->primitive->reduction() != nullptr) {
        if (structure_.steps.empty()) {
          static_cast<void>(operand(*entry.node->inputs[0]));
        }
        continue;
      }
      fusion::Step step;
      const graph::Node& node = *entry.node;
      step.row = node.primitive->elementwise()->number;
      step.result = node.dtype;
      step.operand = node.inputs.back()->dtype;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        step.operands[i] = operand(*node.inputs[i]);
      }
      entry.step = static_cast<std::uint16_t>(structure_.steps.size());
      structure_.steps.push_back(step);
      if (reduction_ == nullptr && (entry.is_kept || member == group_->root)) {
        structure_.outputs.push_back(entry.step);
        outputs_.push_back(entry.node);
      }
    }
  }

  Operand operand(graph::Node& node) {
    Operand result;
    const Entry* entry = tape_->find(node.origin());
    if (entry != nullptr && entry->group == tape_->entries()[group_->root].group) {
      result.kind = Operand::Kind::Step;
      result.index = entry->step;
      return result;
    }
    if (node.is_constant()) {
      result.kind = Operand::Kind::Constant;
      result.index = index_in(constants_, node);
      if (result.index == structure_.constants.size()) {
        structure_.constants.push_back(node.dtype);
      }
      return result;
    }
    result.kind = Operand::Kind::Input;
    result.index = index_in(leaves_, node);
    if (result.index == structure_.inputs.size()) {
      structure_.inputs.push_back({node.dtype, Access::Linear});
    }
    return result;
  }

  static std::uint16_t index_in(std::vector<graph::Node*>& nodes, graph::Node& node) {
    const auto found = std::find(nodes.begin(), nodes.end(), &node);
    const auto index = static_cast<std::uint16_t>(found - nodes.begin());
    if (found == nodes.end()) {
      nodes.push_back(&node);
    }
    return index;
  }

  void add_constants(ArgumentBytes& arguments) const {
    for (const graph::Node* constant : constants_) {
      arguments.add(constant->here);
    }
  }

  // --- Without reduction. ---

  void plan_elements() {
    iteration_.plan(root_->shape, root_->size, leaves_);
    structure_.layout = iteration_.layout();
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      structure_.inputs[i].access = iteration_.access(i);
    }
  }

  void encode_elements(runtime::Stream& stream, const runtime::ShaderKernel& chosen) {
    give_memory();
    if (structure_.layout != Layout::Linear) {
      dispatch_elements(stream, chosen, 0, root_->size);
      return;
    }
    for (std::size_t first = 0; first < root_->size; first += kMaxLinearCount) {
      dispatch_elements(stream, chosen, first, std::min(kMaxLinearCount, root_->size - first));
    }
  }

  void dispatch_elements(runtime::Stream& stream,
                         const runtime::ShaderKernel& kernel,
                         std::size_t first,
                         std::size_t count) {
    ArgumentBytes arguments;
    fusion::GridArguments head = iteration_.arguments();
    head.count = static_cast<std::uint32_t>(count);
    arguments.add(head);
    if (structure_.layout == Layout::Divided || structure_.layout == Layout::DividedDeep) {
      arguments.add(iteration_.divisions());
    }
    if (structure_.layout != Layout::Linear) {
      for (std::size_t i = 0; i < std::max<std::size_t>(leaves_.size(), 1); ++i) {
        arguments.add(i < leaves_.size() ? iteration_.strides(i) : fusion::GridStrides{});
      }
    }
    add_constants(arguments);

    ops::KernelCall call(stream, kernel);
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const graph::Node& leaf = *leaves_[i];
      const std::size_t skipped =
          structure_.inputs[i].access == Access::Linear ? first * size_of(leaf.dtype) : 0;
      call.buffer(leaf_memory_[i], leaf.byte_offset() + skipped, runtime::Access::Read);
    }
    for (const graph::Node* output : outputs_) {
      call.buffer(output->buffer, first * size_of(output->dtype), runtime::Access::Write);
    }
    call.bytes(arguments.data(), arguments.size());
    if (structure_.layout == Layout::Grid) {
      const std::uint32_t width = group_width(head.lengths[0]);
      call.dispatch_groups(
          MTL::Size((head.lengths[0] + width - 1) / width, head.lengths[1], iteration_.rest()),
          MTL::Size(width, 1, 1));
    } else if (structure_.layout == Layout::Tiled) {
      call.dispatch_groups(
          MTL::Size((head.lengths[1] + fusion::kTileRows - 1) / fusion::kTileRows,
                    (head.lengths[0] + kTileWidth - 1) / kTileWidth, iteration_.rest()),
          MTL::Size(kTileWidth, 1, 1));
    } else {
      const std::uint32_t width = group_width(count);
      call.dispatch_groups(MTL::Size((count + width - 1) / width, 1, 1), MTL::Size(width, 1, 1));
    }
  }

  // Memory for the outputs: that of an input which dies here. In every layout a row contiguous
  // input of the output's size is read at the places that a thread writes to, and before it does:
  // what is stored depends on what is loaded, or else has the same type, so that the compiler keeps
  // the order.
  void give_memory() {
    find_survivors();
    leaf_memory_.clear();
    for (const graph::Node* leaf : leaves_) {
      leaf_memory_.push_back(leaf->memory());
    }
    std::size_t next_leaf = 0;
    for (graph::Node* output : outputs_) {
      bool reused = false;
      for (; next_leaf < leaves_.size() && !reused; ++next_leaf) {
        graph::Node& leaf = *leaves_[next_leaf];
        const bool fits = leaf.size == output->size &&
                          (leaf.dtype == output->dtype ||
                           (outputs_.size() == 1 && size_of(leaf.dtype) == size_of(output->dtype)));
        if (fits && dies_here(leaf)) {
          output->buffer = leaf.memory();
          reused = true;
        }
      }
      if (!reused) {
        graph::allocate_memory(*output);
      }
    }
  }

  // A member that somebody holds and that is not stored may be computed again, from its inputs.
  void find_survivors() {
    std::vector<Entry>& entries = tape_->entries();
    for (std::size_t i = group_->members.size(); i-- > 0;) {
      const std::uint32_t member = group_->members[i];
      Entry& entry = entries[member];
      entry.survives =
          !entry.is_kept && member != group_->root && (entry.is_held || entry.survives);
      for (const graph::NodePointer& input : entry.node->inputs) {
        Entry* used = entry.survives ? tape_->find(input->origin()) : nullptr;
        if (used != nullptr && used->group == entry.group) {
          used->survives = true;
        }
      }
    }
  }

  bool dies_here(const graph::Node& leaf) const {
    std::size_t uses = 0;
    for (const std::uint32_t member : group_->members) {
      const Entry& entry = tape_->entries()[member];
      for (const graph::NodePointer& input : entry.node->inputs) {
        if (input.get() == &leaf && entry.survives) {
          return false;
        }
        uses += input.get() == &leaf ? 1 : 0;
      }
    }
    return graph::is_memory_free(leaf, uses);
  }

  // --- Reductions. ---

  void plan_reduction() {
    const Shape& shape = root_->inputs[0]->shape;
    Segments all = segments(shape, reduction_->first, reduction_->last);
    strides_.clear();
    for (graph::Node* leaf : leaves_) {
      strides_.push_back(leaf->size == 1 ? SegmentStrides{0, 0, 0, true}
                         : is_elementwise_use(*leaf, *root_->inputs[0])
                             ? SegmentStrides{all.reduced * all.inner, all.inner, 1, true}
                             : segment_strides(*leaf, shape, reduction_->first, reduction_->last));
    }
    // Short rows: each is the column of one thread.
    if (all.inner == 1 && all.reduced < kShortRow) {
      for (SegmentStrides& strides : strides_) {
        strides.inner = std::exchange(strides.outer, 0);
      }
      all.inner = std::exchange(all.outer, 1);
    }
    const bool by_rows = all.inner == 1 && all.reduced >= kShortRow;
    structure_.layout = by_rows ? Layout::Rows : Layout::Columns;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const SegmentStrides& strides = strides_[i];
      const std::int64_t along = by_rows ? strides.reduced : strides.inner;
      structure_.inputs[i].access = along == 1   ? Access::Unit
                                    : along == 0 ? Access::Same
                                                 : Access::Strided;
    }
    const bool has_few = all.outer * all.inner < kFewResults && all.reduced > 2 * kPartLength;
    parts_ = has_few || all.reduced > kMaxReduced ? part_count(all.reduced) : 1;
    segments_ = all;
    structure_.reduction = reduction_->kind;
    structure_.accumulator = reduction_->accumulator;
    structure_.reduced = parts_ > 1 ? reduction_->accumulator : root_->dtype;
  }

  static std::int64_t part_count(std::int64_t length) {
    return (length + kPartLength - 1) / kPartLength;
  }

  void encode_reduction(runtime::Stream& stream, const runtime::ShaderKernel& chosen) {
    leaf_memory_.clear();
    for (const graph::Node* leaf : leaves_) {
      leaf_memory_.push_back(leaf->memory());
    }
    graph::allocate_memory(*root_);
    const Segments all = segments_;
    if (parts_ == 1) {
      dispatch_reduction(stream, chosen, all, 1, root_->buffer);
      return;
    }
    const auto partial_count = static_cast<std::size_t>(all.outer * parts_ * all.inner);
    const runtime::Buffer partial =
        runtime::allocator().allocate(partial_count * size_of(reduction_->accumulator));
    if (all.reduced <= kMaxReduced) {
      dispatch_reduction(stream, chosen, all, parts_, partial);
    } else {
      dispatch_long_rows(stream, chosen, partial);
    }
    reduce_partial(stream, {all.outer, parts_, all.inner}, partial);
  }

  void dispatch_long_rows(runtime::Stream& stream,
                          const runtime::ShaderKernel& kernel,
                          const runtime::Buffer& partial) {
    for (std::int64_t row = 0; row < segments_.outer; ++row) {
      for (std::int64_t first = 0; first < segments_.reduced; first += kMaxReduced) {
        const std::int64_t length = std::min(kMaxReduced, segments_.reduced - first);
        const Segments piece = {1, length, segments_.inner};
        dispatch_reduction(stream, kernel, piece, part_count(length), partial, {row, first});
      }
    }
  }

  void reduce_partial(runtime::Stream& stream,
                      const Segments& all,
                      const runtime::Buffer& partial) {
    KernelStructure second;
    second.layout = all.inner == 1 ? Layout::Rows : Layout::Columns;
    second.inputs = {{reduction_->accumulator, Access::Unit}};
    second.reduction = reduction_->kind;
    second.accumulator = reduction_->accumulator;
    second.reduced = root_->dtype;
    const runtime::ShaderKernel* own = fusion::find_kernel(second);
    if (own == nullptr && fusion::want_kernel(second)) {
      second = second.general();
    }
    const runtime::ShaderKernel& kernel = own != nullptr ? *own : fusion::generated_kernel(second);
    if (logging::wanted("fusion")) {
      logging::detail("fusion", "one kernel: {}, for the results of parts",
                      fusion::describe(second));
    }
    leaves_.assign(1, nullptr);
    constants_.clear();
    leaf_memory_.assign(1, partial);
    strides_.assign(1, {all.reduced * all.inner, all.inner, 1, true});
    structure_.layout = second.layout;
    dispatch_reduction(stream, kernel, all, 1, root_->buffer);
  }

  void dispatch_reduction(runtime::Stream& stream,
                          const runtime::ShaderKernel& kernel,
                          const Segments& all,
                          std::int64_t parts,
                          const runtime::Buffer& output,
                          ReductionStart start = {}) {
    ArgumentBytes arguments;
    fusion::ReductionArguments head = {};
    head.outer = static_cast<std::uint32_t>(all.outer);
    head.reduced = static_cast<std::uint32_t>(all.reduced);
    head.inner = static_cast<std::uint32_t>(all.inner);
    head.part_length = parts > 1 ? static_cast<std::uint32_t>(kPartLength) : head.reduced;
    head.parts = static_cast<std::uint32_t>(parts);
    arguments.add(head);
    for (const SegmentStrides& strides : strides_) {
      arguments.add(fusion::ReductionStrides{strides.outer, strides.reduced, strides.inner});
    }
    if (strides_.empty()) {
      arguments.add(fusion::ReductionStrides{});
    }
    add_constants(arguments);

    ops::KernelCall call(stream, kernel);
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      std::size_t offset = 0;
      if (leaves_[i] != nullptr) {
        const std::int64_t skipped =
            start.row * strides_[i].outer + start.element * strides_[i].reduced;
        offset = leaves_[i]->byte_offset() +
                 static_cast<std::size_t>(skipped) * size_of(leaves_[i]->dtype);
      }
      call.buffer(leaf_memory_[i], offset, runtime::Access::Read);
    }
    const std::int64_t before = (start.row * parts_ + start.element / kPartLength) * all.inner;
    call.buffer(output, static_cast<std::size_t>(before) * size_of(structure_.reduced),
                runtime::Access::Write);
    call.bytes(arguments.data(), arguments.size());
    if (structure_.layout == Layout::Rows) {
      call.dispatch_groups(MTL::Size(static_cast<NS::UInteger>(all.outer * parts), 1, 1),
                           MTL::Size(kLanes, 1, 1));
    } else {
      const std::uint32_t width = group_width(head.inner);
      call.dispatch_groups(MTL::Size((head.inner + width - 1) / width, head.outer, head.parts),
                           MTL::Size(width, 1, 1));
    }
  }

  Tape* tape_ = nullptr;
  const Group* group_ = nullptr;
  graph::Node* root_ = nullptr;
  const ops::Reduction* reduction_ = nullptr;
  KernelStructure structure_;
  std::vector<graph::Node*> leaves_;
  std::vector<graph::Node*> constants_;
  std::vector<graph::Node*> outputs_;
  std::vector<runtime::Buffer> leaf_memory_;
  std::vector<SegmentStrides> strides_;
  Segments segments_;
  std::int64_t parts_ = 1;
  Iteration iteration_;
};

Encoder& encoder() {
  // Never destroyed: arrays may be computed by destructors of static objects.
  static auto* const instance = new Encoder;
  return *instance;
}

}  // namespace

bool encode_generated(Tape& tape, const Group& group, runtime::Stream& stream, Unmade unmade) {
  return encoder().encode(tape, group, stream, unmade);
}

bool has_kernel(Tape& tape, const Group& group) {
  return encoder().has_kernel(tape, group);
}

void request_kernel(Tape& tape, const Group& group) {
  encoder().request_kernel(tape, group);
}

}  // namespace pewter::evaluation
