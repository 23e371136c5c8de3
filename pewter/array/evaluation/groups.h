#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pewter/array/evaluation/tape.h"

namespace pewter::evaluation {

/// Entries that one kernel computes, or a single one that has a kernel of its own.
struct Group {
  /// The entry that all others lead to.
  std::uint32_t root = 0;
  /// The entries in the order in which they are computed; the root is the last.
  std::vector<std::uint32_t> members;
  /// What is read, each once; constants excluded, which need no buffer.
  std::vector<const graph::Node*> leaves;
  std::uint32_t outputs = 0;
  bool is_generated = false;
};

/// Whether element i of `input` is all of it that element i of `user` needs; then the two can be
/// computed together.
bool is_elementwise_use(const graph::Node& input, const graph::Node& user);

/// The input's strides along each axis of `shape`, 0 where it is broadcast.
void broadcast_strides(const graph::Node& input,
                       const Shape& shape,
                       std::vector<std::int64_t>& out);

/// The three lengths of a reduction: axes before, among and behind those that are reduced.
struct Segments {
  std::int64_t outer = 1;
  std::int64_t reduced = 1;
  std::int64_t inner = 1;
};
Segments segments(const Shape& shape, std::size_t first, std::size_t last);

/// The strides of those three when the axes of each can be joined.
struct SegmentStrides {
  std::int64_t outer = 0;
  std::int64_t reduced = 0;
  std::int64_t inner = 0;
  bool exist = false;
};
SegmentStrides segment_strides(const graph::Node& input,
                               const Shape& shape,
                               std::size_t first,
                               std::size_t last);

/// Divides the entries into groups: `count` of them, in an order in which they can be computed.
/// With `fuses` false every entry is a group.
class Groups {
 public:
  void form(Tape& tape, bool fuses);
  std::span<const Group> in_order() const { return {groups_.data(), count_}; }

 private:
  Group& add();
  bool may_join(Tape& tape, const Entry& entry, const Group& group) const;
  void explain_end(Tape& tape, std::size_t place) const;

  std::vector<Group> groups_;
  std::size_t count_ = 0;
};

}  // namespace pewter::evaluation
