#include "pewter/metal/executor/trial.h"

#include <doctest/doctest.h>

namespace pewter::executor {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

/// A comparison in which a group takes so long with each of the two.
void compare(Trial& trial, std::uint64_t own_group_ns, std::uint64_t rival_group_ns) {
  while (!trial.is_due()) {
    trial.add_grid_ns(10 * kMs);
  }
  for (int block = 0; block < 1000 && trial.is_due(); ++block) {
    const std::uint64_t groups = trial.rival_groups(64, own_group_ns);
    trial.add(64 - groups, (64 - groups) * own_group_ns, groups, groups * rival_group_ns);
  }
}

}  // namespace

TEST_CASE("nothing is tried before a kernel has run for a while") {
  Trial trial;

  trial.add_grid_ns(19 * kMs);

  CHECK(!trial.is_due());
  CHECK(trial.rival_groups(64, 1000) == 0);
}

TEST_CASE("a rival that is faster runs whole blocks from then on") {
  Trial trial;

  compare(trial, 10'000, 5'000);

  CHECK(trial.comparisons() == 1);
  CHECK(trial.prefers_rival());
  CHECK(trial.rival_groups(64, 5'000) == 64);
}

TEST_CASE("a rival that is slower, or hardly faster, runs nothing") {
  for (const std::uint64_t rival_ns : {460'000, 20'000, 9'900}) {
    Trial trial;

    compare(trial, 10'000, rival_ns);

    CHECK(trial.comparisons() == 1);
    CHECK(!trial.prefers_rival());
    CHECK(trial.rival_groups(64, 10'000) == 0);
  }
}

TEST_CASE("a rival that is far behind is found out in its first part") {
  Trial trial;
  trial.add_grid_ns(20 * kMs);

  const std::uint64_t groups = trial.rival_groups(64, 10'000);
  trial.add(64 - groups, (64 - groups) * 10'000, groups, groups * 460'000);

  CHECK(groups == 5);
  CHECK(trial.comparisons() == 1);
  CHECK(!trial.prefers_rival());
}

TEST_CASE("other data may change the preference, at growing distances") {
  Trial trial;
  compare(trial, 10'000, 5'000);

  trial.add_grid_ns(39 * kMs);
  const bool is_early = trial.is_due();
  compare(trial, 5'000, 10'000);

  CHECK(!is_early);
  CHECK(trial.comparisons() == 2);
  CHECK(!trial.prefers_rival());
}

TEST_CASE("of two that are nearly as fast, the one that runs goes on") {
  Trial trial;
  compare(trial, 10'000, 9'600);
  const bool changed = trial.prefers_rival();

  compare(trial, 9'900, 10'000);
  const bool stayed = trial.prefers_rival();
  compare(trial, 9'600, 10'000);

  CHECK(changed);
  CHECK(stayed);
  CHECK(!trial.prefers_rival());
}

TEST_CASE("blocks of one group go to the two in turn") {
  Trial trial;
  trial.add_grid_ns(20 * kMs);

  const std::uint64_t first = trial.rival_groups(1, 1'000'000);

  CHECK(trial.rival_groups(1, 1'000'000) == 1 - first);
  CHECK(trial.rival_groups(1, 1'000'000) == first);
}

}  // namespace pewter::executor
