#include <dlfcn.h>
#include <doctest/doctest.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "pewter/base/sanitizer.h"
#include "tests/metal/driver/dispatch_workload.h"

// Every lock is counted, whichever thread takes it. Sanitizers have locks of their own.
#if PEWTER_ADDRESS_SANITIZER || PEWTER_THREAD_SANITIZER
#define PEWTER_COUNTS_LOCKS 0
#else
#define PEWTER_COUNTS_LOCKS 1
#endif

namespace {

/// How often a lock was taken since the count began. Kept without a lock, and without memory from
/// the heap.
struct LockCount {
  std::atomic<const void*> lock = nullptr;
  std::atomic<std::uint64_t> times = 0;
};

constexpr std::size_t kMaxLocks = 4096;
std::array<LockCount, kMaxLocks> lock_counts;
std::atomic<bool> is_counting = false;
thread_local std::uint64_t own_count = 0;

[[maybe_unused]] void count_lock(const void* lock) {
  if (!is_counting.load(std::memory_order_relaxed)) {
    return;
  }
  ++own_count;
  for (std::size_t i = reinterpret_cast<std::uintptr_t>(lock) / 8;; ++i) {
    LockCount& entry = lock_counts[i % kMaxLocks];
    const void* found = nullptr;
    if (entry.lock.compare_exchange_strong(found, lock) || found == lock) {
      entry.times.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
}

/// The C library's function of that name.
template <typename Function>
[[maybe_unused]] Function next(std::atomic<Function>& known, const char* name) {
  Function function = known.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
    known.store(function, std::memory_order_relaxed);
  }
  return function;
}

}  // namespace

#if PEWTER_COUNTS_LOCKS
// Visible, so that the shared libraries find these too.
#pragma GCC visibility push(default)
extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static std::atomic<int (*)(pthread_mutex_t*)> known = nullptr;
  count_lock(mutex);
  return next(known, "pthread_mutex_lock")(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static std::atomic<int (*)(pthread_mutex_t*)> known = nullptr;
  count_lock(mutex);
  return next(known, "pthread_mutex_trylock")(mutex);
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static std::atomic<int (*)(pthread_rwlock_t*)> known = nullptr;
  count_lock(lock);
  return next(known, "pthread_rwlock_rdlock")(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static std::atomic<int (*)(pthread_rwlock_t*)> known = nullptr;
  count_lock(lock);
  return next(known, "pthread_rwlock_wrlock")(lock);
}
}
#pragma GCC visibility pop
#endif

namespace pewter::driver::test {
namespace {

/// Says so and returns false where locks cannot be counted.
bool counts_locks() {
  if (!PEWTER_COUNTS_LOCKS) {
    MESSAGE("the sanitizer has locks of its own");
  }
  return PEWTER_COUNTS_LOCKS != 0;
}

/// Counts the locks that are taken in its scope, by all threads.
class Count {
 public:
  Count() {
    for (LockCount& entry : lock_counts) {
      entry.lock.store(nullptr);
      entry.times.store(0);
    }
    own_count = 0;
    is_counting.store(true);
  }

  ~Count() { is_counting.store(false); }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;

  /// Locks of the calling thread.
  std::uint64_t own() const { return own_count; }

  std::set<const void*> locks() const {
    std::set<const void*> found;
    for (const LockCount& entry : lock_counts) {
      if (entry.lock.load() != nullptr) {
        found.insert(entry.lock.load());
      }
    }
    return found;
  }

  std::uint64_t times(const std::set<const void*>& locks) const {
    std::uint64_t sum = 0;
    for (const LockCount& entry : lock_counts) {
      sum += locks.contains(entry.lock.load()) ? entry.times.load() : 0;
    }
    return sum;
  }
};

using Works = std::vector<std::unique_ptr<DispatchWorkload>>;

/// Runs all works at once, each on its queue and a thread of its own.
void run_at_once(Works& works, int repeats, bool waits) {
  std::vector<std::thread> threads;
  for (const auto& work : works) {
    threads.emplace_back([&work, repeats, waits] { work->run(repeats, waits); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// Locks that several of the works take when they run on their own.
std::set<const void*> shared_locks(Works& works, int repeats, bool waits) {
  std::set<const void*> seen;
  std::set<const void*> shared;
  for (const auto& work : works) {
    const Count count;
    work->run(repeats, waits);
    for (const void* lock : count.locks()) {
      if (!seen.insert(lock).second) {
        shared.insert(lock);
      }
    }
  }
  return shared;
}

TEST_CASE("the count sees locks of every kind") {
  if (!counts_locks()) {
    return;
  }
  std::mutex mutex;
  std::shared_mutex shared_mutex;
  const Count count;

  mutex.lock();
  mutex.unlock();
  std::thread([&] { const std::scoped_lock lock(mutex); }).join();
  {
    const std::scoped_lock lock(shared_mutex);
  }
  {
    const std::shared_lock lock(shared_mutex);
  }

  CHECK(count.times({&mutex}) == 2);
  CHECK(count.times({&shared_mutex}) == 2);
  CHECK(count.own() >= 3);
}

TEST_CASE("encoding a dispatch takes no lock") {
  if (!counts_locks()) {
    return;
  }
  Commands gpu;
  DispatchWorkload work(gpu);
  work.run(100, true);
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto* commands = gpu.queue()->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  work.encode(encoder);

  std::uint64_t locks = 0;
  {
    const Count count;
    for (int i = 0; i < 100; ++i) {
      work.encode(encoder);
    }
    locks = count.own();
  }

  encoder->endEncoding();
  CHECK(locks == 0);
}

TEST_CASE("running further dispatches takes no lock that queues share") {
  if (!counts_locks()) {
    return;
  }
  Commands gpu;
  Works works;
  for (int i = 0; i < 3; ++i) {
    works.push_back(std::make_unique<DispatchWorkload>(gpu));
  }
  for (const bool waits : {true, false}) {
    for (int i = 0; i < 20; ++i) {
      run_at_once(works, i % 2 == 0 ? 100 : 1, waits);
    }
    std::set<const void*> shared = shared_locks(works, 100, waits);
    shared.merge(shared_locks(works, 1, waits));
    const auto most = [&](int repeats) {
      std::uint64_t times = 0;
      for (int i = 0; i < 20; ++i) {
        const Count count;
        run_at_once(works, repeats, waits);
        times = std::max(times, count.times(shared));
      }
      return times;
    };

    const std::uint64_t with_one = most(1);
    const std::uint64_t with_many = most(301);
    const std::uint64_t concurrent = most(300);

    // When threads wake and sleep is by chance, and takes a few locks; one for each of the three
    // works' dispatches would be 2,700.
    CHECK(with_many < with_one + 300);
    CHECK(concurrent < with_one + 300);
  }
  for (const auto& work : works) {
    CHECK(work->is_right());
  }
}

}  // namespace
}  // namespace pewter::driver::test
