// Many threads allocate, share and free buffers of every size while limits change; whenever all of
// them pause, every counter must equal a model of what they hold.
//
// usage: memory_stress SECONDS [SEED]
#include <pewter/errors.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "pewter/runtime/allocator.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/memory_report.h"
#include "pewter/runtime/memory_scope.h"

namespace {

using pewter::runtime::allocator;
using pewter::runtime::Buffer;
using Clock = std::chrono::steady_clock;
using Random = std::mt19937_64;

constexpr int kThreads = 16;
constexpr std::size_t kMaxSize = std::size_t{256} << 20;
constexpr std::size_t kMaxHeld = std::size_t{300} << 20;
constexpr std::chrono::milliseconds kRound(200);

std::atomic<std::uint64_t> operations = 0;
std::atomic<std::uint64_t> refusals = 0;
std::atomic<int> faults = 0;

void expect(bool good, const char* what, std::size_t is, std::size_t should) {
  if (!good) {
    std::printf("FAILED %s: is %zu, should be %zu\n", what, is, should);
    ++faults;
  }
}

/// A buffer with a mark of its owner's at both ends, which nobody else may write.
struct Held {
  Buffer buffer;
  std::uint8_t mark = 0;

  void write() const {
    std::memset(buffer.contents(), mark, 1);
    std::memset(buffer.contents() + buffer.length() - 1, mark, 1);
  }
  void check() const {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(buffer.contents());
    expect(bytes[0] == mark && bytes[buffer.length() - 1] == mark, "a buffer's mark", bytes[0],
           mark);
  }
};

/// Where threads leave buffers for others to free.
class Exchange {
 public:
  Held swap(Held held, std::size_t place) {
    const std::scoped_lock lock(mutex_);
    std::swap(held, places_[place % places_.size()]);
    return held;
  }
  std::size_t length() {
    const std::scoped_lock lock(mutex_);
    std::size_t sum = 0;
    for (const Held& held : places_) {
      sum += held.buffer.length();
    }
    return sum;
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    places_ = {};
  }

 private:
  std::mutex mutex_;
  std::array<Held, 32> places_;
};

/// Every order of magnitude from one byte to the largest is as likely.
std::size_t any_size(Random& random) {
  const double exponent = std::uniform_real_distribution(0.0, std::log2(double(kMaxSize)))(random);
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::exp2(exponent)));
}

struct Worker {
  Random random;
  std::vector<Held> held;

  void forget(std::size_t index) {
    held[index].check();
    held[index] = std::move(held.back());
    held.pop_back();
  }

  void allocate() {
    try {
      Held made{allocator().allocate(any_size(random)), static_cast<std::uint8_t>(random())};
      made.write();
      held.push_back(std::move(made));
    } catch (const pewter::OutOfMemoryError&) {
      ++refusals;
    }
  }

  void adopt() {
    const std::size_t size = pewter::runtime::page_size();
    void* memory = std::aligned_alloc(size, size);
    Held made{allocator().adopt(memory, size, [memory] { std::free(memory); }),
              static_cast<std::uint8_t>(random())};
    made.write();
    held.push_back(std::move(made));
  }

  std::size_t sum() const {
    std::size_t bytes = 0;
    for (const Held& each : held) {
      bytes += each.buffer.length();
    }
    return bytes;
  }

  void step(Exchange& exchange) {
    ++operations;
    const auto choice = random() % 16;
    if (choice == 0) {
      adopt();
    } else if (choice < 8 && sum() < kMaxHeld) {
      allocate();
    } else if (!held.empty()) {
      const std::size_t index = random() % held.size();
      if (choice == 15) {
        Held other = exchange.swap(held[index], random());
        if (other.buffer) {
          other.check();
        }
        held[index] = std::move(held.back());
        held.pop_back();
      } else {
        forget(index);
      }
    }
  }
};

/// Something that users do to the allocator while it works.
void disturb(Random& random) {
  auto& memory = allocator();
  const std::size_t working_set = pewter::runtime::device_info().recommended_working_set;
  const std::size_t some = any_size(random) * (random() % 16);
  switch (random() % 9) {
    case 0:
      memory.set_cache_limit(some);
      break;
    case 1:
      memory.set_memory_limit(some + (std::size_t{1} << 30), random() % 2 == 0);
      break;
    case 2:
      memory.set_hard_limit(random() % 2 == 0 ? 0 : some + (std::size_t{4} << 30));
      break;
    case 3:
      memory.set_wired_limit(std::min(some, working_set));
      break;
    case 4:
      memory.clear_cache();
      break;
    case 5:
      memory.reset_peak();
      break;
    case 6:
      static_cast<void>(pewter::runtime::memory_snapshot());
      break;
    case 7: {
      const pewter::runtime::MemoryScope scope("stress");
      static_cast<void>(scope.report());
      break;
    }
    default:
      memory.set_cache_limit(std::size_t{1} << 40);
      memory.set_memory_limit(std::size_t{1} << 40, true);
      break;
  }
}

/// With every worker at rest.
void check_counters(std::size_t expected_active) {
  auto& memory = allocator();
  std::size_t in_use = 0;
  std::size_t cached = 0;
  for (const auto& record : pewter::runtime::memory_snapshot().allocations) {
    (record.kind == pewter::AllocationRecord::Kind::Cached ? cached : in_use) += record.bytes;
  }
  expect(memory.active() == expected_active, "active", memory.active(), expected_active);
  expect(in_use == expected_active, "bytes of the snapshot", in_use, expected_active);
  expect(memory.cached() == cached, "cached", memory.cached(), cached);
  expect(memory.driver_total() >= expected_active + cached, "driver total", memory.driver_total(),
         expected_active + cached);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fputs("usage: memory_stress SECONDS [SEED]\n", stderr);
    return 2;
  }
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(arguments[1]));
  const auto seed = static_cast<std::uint64_t>(count > 2 ? std::atoll(arguments[2]) : 1);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));

  auto& memory = allocator();
  const std::size_t driver_before = memory.driver_total();
  std::vector<Worker> workers(kThreads);
  Exchange exchange;
  std::atomic<bool> running = true;
  std::uint64_t rounds = 0;
  auto round_end = Clock::now() + kRound;
  std::barrier quiet(kThreads + 1, [&]() noexcept {
    std::size_t expected = exchange.length();
    for (const Worker& worker : workers) {
      expected += worker.sum();
    }
    check_counters(expected);
    ++rounds;
    running = Clock::now() < end && faults == 0;
    round_end = Clock::now() + kRound;
  });

  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      Worker& worker = workers[static_cast<std::size_t>(number)];
      worker.random.seed(seed * 1000 + static_cast<std::uint64_t>(number));
      while (running) {
        while (Clock::now() < round_end) {
          worker.step(exchange);
        }
        quiet.arrive_and_wait();
      }
    });
  }
  Random random(seed);
  while (running) {
    while (Clock::now() < round_end) {
      disturb(random);
      std::this_thread::yield();
    }
    quiet.arrive_and_wait();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  memory.set_wired_limit(0);
  workers.clear();
  exchange.clear();
  check_counters(0);
  memory.clear_cache();
  expect(memory.cached() == 0, "cached at the end", memory.cached(), 0);
  expect(memory.driver_total() == driver_before, "driver total at the end", memory.driver_total(),
         driver_before);
  std::printf("%llu operations, %llu refusals, %llu quiet points, %d faults\n",
              static_cast<unsigned long long>(operations.load()),
              static_cast<unsigned long long>(refusals.load()),
              static_cast<unsigned long long>(rounds), faults.load());
  return faults == 0 ? 0 : 1;
}
