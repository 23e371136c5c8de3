#include <numeric>

#include "tests/compiler/spmd/shared_code.h"

// Threads that wait for each other without a barrier: what ends one thread at a time ends on lanes.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::size;
using test::uint;

const std::string kMutex = "a lock that is released behind its loop";

/// A kernel "f" with a buffer of atomic words, the texts of several lines among them.
std::string kernel(const std::string& body) {
  return kHead + R"(
    #define R memory_order_relaxed
    kernel void f(device atomic_uint* words [[buffer(0)]], device float* values [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint n [[threads_per_grid]],
                  uint t [[thread_index_in_threadgroup]],
                  uint group [[threadgroup_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]]) {
)" + body +
         "}\n";
}

std::string fallback(const std::string& body) {
  return test::vectorised(kernel(body))->explanation.fallback;
}

/// Counts up by a load and a store.
const std::string kCount =
    "uint v = atomic_load_explicit(&words[65], R); atomic_store_explicit(&words[65], v + 1, R);\n";

/// Locks at `words[0]` or `words[i % 7]`, each around one such count.
const std::vector<std::string> kLocks = {
    R"(for (;;) {
         uint e = 0;
         if (atomic_compare_exchange_weak_explicit(&words[0], &e, 1u, R, R)) {
           )" +
        kCount + R"(
           atomic_store_explicit(&words[0], 0u, R);
           break;
         }
       })",
    R"(bool done = false;
       do {
         if (atomic_exchange_explicit(&words[0], 1u, R) == 0) {
           )" +
        kCount + R"(
           atomic_store_explicit(&words[0], 0u, R);
           done = true;
         }
       } while (!done);)",
    R"(while (atomic_fetch_or_explicit(&words[0], 4u, R) & 4u) {}
       )" +
        kCount + R"(
       atomic_fetch_and_explicit(&words[0], ~4u, R);)",
    R"(for (;;) {
         while (atomic_load_explicit(&words[0], R) != 0) {}
         if (atomic_exchange_explicit(&words[0], 1u, R) == 0) break;
       }
       )" +
        kCount + R"(
       atomic_store_explicit(&words[0], 0u, R);)",
    // The bit of the lock is beside others.
    R"(for (;;) {
         uint seen = atomic_load_explicit(&words[0], R);
         if ((seen & 1u) == 0 &&
             atomic_compare_exchange_weak_explicit(&words[0], &seen, seen | 1u, R, R)) break;
       }
       )" +
        kCount + R"(
       atomic_fetch_sub_explicit(&words[0], 1u, R);)",
    // Numbers are called up.
    R"(const uint number = atomic_fetch_add_explicit(&words[1], 1u, R);
       while (atomic_load_explicit(&words[0], R) != number) {}
       )" +
        kCount + R"(
       atomic_fetch_add_explicit(&words[0], 1u, R);)",
};

// No two threads of a simdgroup are at it together.
const std::string kLockByLanes =
    R"(for (uint l = 0; l < 32; ++l) {
         if (lane == l) {
           uint e;
           do e = 0; while (!atomic_compare_exchange_weak_explicit(&words[0], &e, 1u, R, R));
           )" +
    kCount + R"(
           atomic_exchange_explicit(&words[0], 0u, R);
         }
       })";

const std::string kLockForEachPlace = R"(
  const uint place = i % 7;
  bool done = false;
  while (!done) {
    uint e = 0;
    if (atomic_compare_exchange_weak_explicit(&words[place], &e, i + 1, R, R)) {
      uint v = atomic_load_explicit(&words[16 + place], R);
      for (uint k = 0; k < 3; ++k) v += k + (i & 3);
      atomic_store_explicit(&words[16 + place], v, R);
      atomic_store_explicit(&words[place], 0u, R);
      done = true;
    }
  })";

}  // namespace

TEST_CASE("threads take turns at a lock, however it is written") {
  constexpr uint kThreads = 333;
  std::vector<std::string> locks = kLocks;
  locks.push_back(kLockByLanes);
  for (const std::string& lock : locks) {
    CAPTURE(lock);
    std::vector<uint> words(100);
    std::vector<float> values(1);

    const Gpu gpu;
    gpu.run(kernel(lock), "f", {.grid = size(kThreads), .group = size(kThreads)}, words, values);

    CHECK(words[65] == kThreads);
  }
}

TEST_CASE("threads take turns at locks of several places") {
  constexpr uint kThreads = 333;
  std::vector<uint> words(100);
  std::vector<uint> wanted(100);
  std::vector<float> values(1);
  for (uint i = 0; i < kThreads; ++i) {
    wanted[16 + i % 7] += 3 + 3 * (i & 3);
  }

  const Gpu gpu;
  gpu.run(kernel(kLockForEachPlace), "f", {.grid = size(kThreads), .group = size(kThreads)}, words,
          values);

  CHECK(words == wanted);
}

TEST_CASE("a kernel with a lock runs one thread at a time and says where the lock is taken") {
  const std::string locked = fallback(
      "  while (atomic_exchange_explicit(&words[3], 1u, R) != 0) {}\n"
      "  values[0] += 1;\n"
      "  atomic_store_explicit(&words[3], 0u, R);\n");
  CHECK(locked == "program_source:11:10: " + kMutex);
  for (const std::string& lock : kLocks) {
    CHECK(fallback(lock).find(kMutex) != std::string::npos);
  }
  CHECK(fallback(kLockForEachPlace).find(kMutex) != std::string::npos);
}

TEST_CASE("a loop that tries its update again is no lock") {
  const std::vector<std::string> updates = {
      // A sum of floats, and what counts the sums beside it.
      R"(uint seen = atomic_load_explicit(&words[0], R);
         while (!atomic_compare_exchange_weak_explicit(
             &words[0], &seen, as_type<uint>(as_type<float>(seen) + values[i]), R, R)) {}
         atomic_fetch_add_explicit(&words[0], 1u, R);)",
      // The same from a guess.
      R"(uint seen = 0;
         while (!atomic_compare_exchange_weak_explicit(&words[0], &seen, seen * 3 + 1, R, R)) {}
         atomic_store_explicit(&words[1], 0u, R);)",
      // A maximum, which ends early.
      R"(for (;;) {
           uint seen = atomic_load_explicit(&words[0], R);
           if (as_type<float>(seen) >= values[i]) break;
           if (atomic_compare_exchange_weak_explicit(&words[0], &seen, as_type<uint>(values[i]), R,
                                                     R)) break;
         }
         atomic_fetch_add_explicit(&words[0], 0u, R);)",
      // A key in a table, its value beside it, and how many there are.
      R"(uint at = i * 77 & 31;
         for (;;) {
           uint found = 0;
           if (atomic_compare_exchange_weak_explicit(&words[2 * at], &found, i, R, R)) break;
           if (found == i) break;
           at = (at + 1) & 31;
         }
         atomic_store_explicit(&words[2 * at + 1], 0u, R);
         atomic_fetch_add_explicit(&words[64], 1u, R);)",
      // A place that is taken, filled and then said to be ready.
      R"(uint at = i * 77 & 31;
         for (;;) {
           uint found = 0;
           if (atomic_compare_exchange_weak_explicit(&words[at], &found, 1u, R, R)) break;
           at = (at + 1) & 31;
         }
         values[at] = 3;
         atomic_store_explicit(&words[at], 2u, R);)",
      // The first of a list.
      R"(uint first = atomic_load_explicit(&words[0], R);
         do values[i] = first;
         while (!atomic_compare_exchange_weak_explicit(&words[0], &first, i, R, R));)",
      // Work until there is none, whose count the last one resets.
      R"(uint at;
         while ((at = atomic_fetch_add_explicit(&words[0], 1u, R)) < n) values[at] += 1;
         if (at == n + 9) atomic_store_explicit(&words[0], 0u, R);)",
      // As many steps as a word says, which begins again afterwards.
      R"(for (uint k = 0; k < atomic_load_explicit(&words[0], R); ++k) values[i] += k;
         atomic_store_explicit(&words[0], 0u, R);)",
      // All have met before the place is free again.
      R"(uint e = 0;
         while (!atomic_compare_exchange_weak_explicit(&words[e & 63], &e, 1u, R, R)) {}
         threadgroup_barrier(mem_flags::mem_device);
         atomic_store_explicit(&words[t], 0u, R);)",
  };
  for (const std::string& update : updates) {
    CAPTURE(update);
    CHECK(fallback(update).empty());
  }
}

TEST_CASE("a lock that one thread of a group takes leaves the group on lanes") {
  const std::string source = kernel(R"(
    threadgroup float total;
    const float sum = simd_sum(float(i & 3));
    if (t == 0) {
      while (atomic_exchange_explicit(&words[0], 1u, R) != 0) {}
      )" + kCount + R"(
      values[1] += sum;
      atomic_store_explicit(&words[0], 0u, R);
      total = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    values[2 + i] = total;)");
  CHECK(test::vectorised(source)->explanation.fallback.empty());
  std::vector<uint> words(100);
  std::vector<float> values(2 + 640);

  const Gpu gpu;
  gpu.run(source, "f", {.grid = size(640), .group = size(64)}, words, values);

  CHECK(words[65] == 10);
  CHECK(values[1] == 480);
  CHECK(values[641] == 48);
}

TEST_CASE("a simdgroup waits for what another one of its group counts") {
  const std::string source = kernel(R"(
    threadgroup atomic_uint arrived;
    if (t == 0) atomic_store_explicit(&arrived, 0u, R);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 1) {
      while (atomic_load_explicit(&arrived, R) < 3u) {}
      if (lane == 0) atomic_store_explicit(&words[group], 5u, R);
    } else if (lane < 3) {
      atomic_fetch_add_explicit(&arrived, 1u, R);
    })");
  CHECK(test::vectorised(source)->explanation.lanes <= 32);
  std::vector<uint> words(10);
  std::vector<float> values(1);

  const Gpu gpu;
  gpu.run(source, "f", {.grid = size(640), .group = size(64)}, words, values);

  CHECK(words == std::vector<uint>(10, 5));
}

TEST_CASE("groups that wait for groups before them run as wide as others") {
  const auto width = [](const std::string& wait) {
    return test::vectorised(kernel("if (t == 0) {" + wait + R"(}
             threadgroup_barrier(mem_flags::mem_device);
             for (uint k = 0; k < n; ++k) values[i] += values[i + k];)"))
        ->explanation.lanes;
  };
  const std::string look_back = R"(
    uint sum = 0;
    if (group > 0) {
      while (((sum = atomic_load_explicit(&words[group - 1], R)) & 1u) == 0) {}
    }
    atomic_store_explicit(&words[group], sum + 2 * group + 1, R);)";
  CHECK(width(look_back) == width("values[0] = 1;"));
  CHECK(width("while (atomic_load_explicit(&words[0], R) != 7u) {}") <= 32);
}

}  // namespace pewter
