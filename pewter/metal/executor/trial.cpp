#include "pewter/metal/executor/trial.h"

#include <algorithm>

namespace pewter::executor {
namespace {

// Between two comparisons, of time spent in grids.
constexpr std::uint64_t kMaxRestNs = 2'000'000'000;
// What the rival's part of a block is to take, if it is as fast.
constexpr std::uint64_t kPartNs = 50'000;
// From here on a comparison counts when one of the two is far ahead, and in any case.
constexpr std::uint64_t kLittleNs = 50'000;
constexpr std::uint64_t kEnoughNs = 500'000;
constexpr double kFar = 3;
// To change over for less would be to follow noise. Not more: a short part is a little slower than
// the same groups among their like, and of two that are equally fast either will do.
constexpr double kMargin = 0.98;

}  // namespace

void Trial::add_grid_ns(std::uint64_t ns) {
  if (is_due()) {
    return;
  }
  const std::uint64_t total = since_decision_ns_.fetch_add(ns, std::memory_order_relaxed) + ns;
  if (total >= rest_ns_.load(std::memory_order_relaxed)) {
    is_due_.store(true, std::memory_order_relaxed);
  }
}

std::uint64_t Trial::rival_groups(std::uint64_t block_groups, std::uint64_t group_ns) {
  if (!is_due()) {
    return prefers_rival() ? block_groups : 0;
  }
  if (block_groups == 1) {
    return turn_.fetch_add(1, std::memory_order_relaxed) % 2;
  }
  return std::clamp<std::uint64_t>(kPartNs / std::max<std::uint64_t>(group_ns, 1), 1,
                                   block_groups / 2);
}

void Trial::add(std::uint64_t own_groups,
                std::uint64_t own_ns,
                std::uint64_t rival_groups,
                std::uint64_t rival_ns) {
  const auto added = [](std::atomic<std::uint64_t>& sum, std::uint64_t value) {
    return sum.fetch_add(value, std::memory_order_relaxed) + value;
  };
  const auto own_count = static_cast<double>(added(own_.groups, own_groups));
  const auto rival_count = static_cast<double>(added(rival_.groups, rival_groups));
  const std::uint64_t own_total = added(own_.ns, own_ns);
  const std::uint64_t rival_total = added(rival_.ns, rival_ns);
  const std::uint64_t least = std::min(own_total, rival_total);
  if (least < kLittleNs || own_count == 0 || rival_count == 0) {
    return;
  }
  const double own_pace = static_cast<double>(own_total) / own_count;
  const double rival_pace = static_cast<double>(rival_total) / rival_count;
  const bool is_clear = own_pace > kFar * rival_pace || rival_pace > kFar * own_pace;
  if (is_clear || least >= kEnoughNs) {
    decide(prefers_rival() ? rival_pace * kMargin < own_pace : rival_pace < own_pace * kMargin);
  }
}

void Trial::decide(bool prefers_rival) {
  if (!is_due_.exchange(false, std::memory_order_relaxed)) {
    return;
  }
  prefers_rival_.store(prefers_rival, std::memory_order_relaxed);
  comparisons_.fetch_add(1, std::memory_order_relaxed);
  for (Sum* sum : {&own_, &rival_}) {
    sum->groups.store(0, std::memory_order_relaxed);
    sum->ns.store(0, std::memory_order_relaxed);
  }
  since_decision_ns_.store(0, std::memory_order_relaxed);
  rest_ns_.store(std::min(2 * rest_ns_.load(std::memory_order_relaxed), kMaxRestNs),
                 std::memory_order_relaxed);
}

}  // namespace pewter::executor
