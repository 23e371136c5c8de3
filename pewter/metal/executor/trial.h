#pragma once

#include <atomic>
#include <cstdint>

namespace pewter::executor {

/// Which of two kernels that compute the same is faster, found out while their grids run.
///
/// Which one is depends on the data, so it is asked again and again, at growing distances: then the
/// rival runs a small part of each block, and the kernel the rest, until the times of both are
/// known. Safe to use from any thread.
class Trial {
 public:
  /// Adds what a grid has taken, with the rival or without.
  void add_grid_ns(std::uint64_t ns);

  /// Whether the kernel has run for so long that a rival is worth making.
  bool is_due() const { return is_due_.load(std::memory_order_relaxed); }

  /// Whether the rival was faster when they were last compared.
  bool prefers_rival() const { return prefers_rival_.load(std::memory_order_relaxed); }

  /// How often they were compared.
  std::uint32_t comparisons() const { return comparisons_.load(std::memory_order_relaxed); }

  /// How many of a block's groups the rival is to run, the first ones; the times of these and of
  /// the rest are wanted then. `group_ns` is what a group took before, 0 when nobody knows.
  std::uint64_t rival_groups(std::uint64_t block_groups, std::uint64_t group_ns);

  /// Adds what each of them took for a number of groups.
  void add(std::uint64_t own_groups,
           std::uint64_t own_ns,
           std::uint64_t rival_groups,
           std::uint64_t rival_ns);

 private:
  void decide(bool prefers_rival);

  std::atomic<std::uint64_t> since_decision_ns_ = 0;
  std::atomic<std::uint64_t> rest_ns_ = kFirstRestNs;
  std::atomic<bool> is_due_ = false;
  std::atomic<bool> prefers_rival_ = false;
  std::atomic<std::uint32_t> comparisons_ = 0;
  // Blocks of one group go to the two in turn.
  std::atomic<std::uint32_t> turn_ = 0;

  struct Sum {
    std::atomic<std::uint64_t> groups = 0;
    std::atomic<std::uint64_t> ns = 0;
  };
  Sum own_;
  Sum rival_;

  static constexpr std::uint64_t kFirstRestNs = 20'000'000;
};

}  // namespace pewter::executor
