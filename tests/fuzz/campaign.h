#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/kernel_runner.h"

namespace pewter::fuzz {

/// Which kernels to try, and how.
struct Campaign {
  std::uint64_t first_seed = 1;
  std::size_t count = 100;
  std::vector<Mode> modes;
  /// Each kernel runs in one of `modes`, chosen by its seed, rather than in all of them.
  bool one_mode = false;
  /// Processes at a time.
  unsigned jobs = 1;
  /// Seconds that one kernel may take in all.
  unsigned limit_s = 60;
  /// What to call for a part of the seeds, in a process of its own.
  std::vector<std::string> worker;
};

/// The modes in which the kernel of a seed runs.
std::vector<Mode> modes_for(const Campaign& campaign, std::uint64_t seed);

/// Runs all seeds in other processes, so that a crash costs one kernel and names its seed. Prints
/// what was found. Returns how many kernels were not the same in all modes.
std::size_t run(const Campaign& campaign);

/// The other side: runs the seeds in this process and reports on standard output.
void run_here(const Campaign& campaign);

}  // namespace pewter::fuzz
