#include "pewter/runtime/sample_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "pewter/base/environment.h"
#include "pewter/base/log.h"
#include "pewter/runtime/allocator.h"
#include "pewter/runtime/system_memory.h"

namespace pewter::runtime {
namespace {

constexpr std::uint64_t kMagic = 0x314d454d574550ULL;  // "PEWMEM1"
constexpr std::chrono::milliseconds kInterval(5);
constexpr int kReadAttempts = 1000;

struct Page {
  std::atomic<std::uint64_t> magic = 0;
  std::atomic<std::uint64_t> sequence = 0;
  // The words of a MemorySample: readers of another process may see them change.
  std::atomic<std::uint64_t> words[sizeof(MemorySample) / sizeof(std::uint64_t)] = {};
};

/// Maps the file's one page; null when that fails.
Page* map(const std::string& path, bool writable) {
  const int file = open(
      path.c_str(), writable ? O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0600);
  if (file < 0) {
    return nullptr;
  }
  void* memory = MAP_FAILED;
  const bool has_room = writable ? ftruncate(file, sizeof(Page)) == 0
                                 : lseek(file, 0, SEEK_END) >= static_cast<off_t>(sizeof(Page));
  if (has_room) {
    memory = mmap(nullptr, sizeof(Page), writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                  file, 0);
  }
  close(file);
  return memory != MAP_FAILED ? static_cast<Page*>(memory) : nullptr;
}

MemorySample take_sample(std::chrono::steady_clock::time_point start) {
  const auto age = std::chrono::steady_clock::now() - start;
  const Allocator& memory = allocator();
  const AllocationCounts counts = memory.counts();
  MemorySample sample;
  sample.milliseconds = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(age).count());
  sample.active = memory.active();
  sample.cached = memory.cached();
  sample.peak = memory.peak();
  sample.driver_total = memory.driver_total();
  sample.resident = resident_memory();
  sample.cache_hits = counts.hits;
  sample.cache_misses = counts.misses;
  return sample;
}

/// The process's own reports.
class Publisher {
 public:
  Publisher(std::string path, bool is_own, Page* page)
      : path_(std::move(path)), is_own_(is_own), page_(page) {
    page_->magic.store(kMagic);
    std::thread([this] {
      while (write()) {
        std::this_thread::sleep_for(kInterval);
      }
    }).detach();
  }

  /// A last sample, when the process ends.
  void end() {
    if (getpid() != process_) {
      return;
    }
    write(true);
    if (is_own_) {
      unlink(path_.c_str());
    }
  }

 private:
  /// Writes a sample, unless the last one has been written already: then it returns false. An older
  /// sample never replaces a newer one.
  bool write(bool is_last = false) {
    const std::scoped_lock lock(mutex_);
    if (ended_) {
      return false;
    }
    ended_ = is_last;
    const MemorySample sample = take_sample(start_);
    std::uint64_t words[std::size(Page{}.words)];
    std::memcpy(words, &sample, sizeof(sample));
    page_->sequence.fetch_add(1, std::memory_order_acq_rel);
    for (std::size_t i = 0; i < std::size(words); ++i) {
      page_->words[i].store(words[i], std::memory_order_relaxed);
    }
    page_->sequence.fetch_add(1, std::memory_order_release);
    return true;
  }

  const std::string path_;
  const bool is_own_;
  Page* const page_;
  const pid_t process_ = getpid();
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // guards the page and the member below
  bool ended_ = false;
};

std::atomic<Publisher*> publisher = nullptr;

// Programs that speak Metal alone never ask for the runtime, and are shown all the same.
__attribute__((constructor)) void publish_from_the_start() {
  publish_samples();
}

__attribute__((destructor)) void publish_the_end() {
  if (Publisher* present = publisher.load()) {
    present->end();
  }
}

}  // namespace

std::string default_sample_path(int process) {
  const std::string folder = environment::text("XDG_RUNTIME_DIR").value_or("/tmp");
  return fmt::format("{}/pewter-{}-{}.memory", folder, getuid(), process);
}

std::optional<MemorySample> read_sample(const std::string& path) {
  Page* page = map(path, false);
  if (page == nullptr) {
    return std::nullopt;
  }
  std::optional<MemorySample> result;
  for (int attempt = 0; attempt < kReadAttempts && !result; ++attempt) {
    const std::uint64_t before = page->sequence.load(std::memory_order_acquire);
    if (page->magic.load() != kMagic || before == 0) {
      break;
    }
    std::uint64_t words[std::size(Page{}.words)];
    for (std::size_t i = 0; i < std::size(words); ++i) {
      words[i] = page->words[i].load(std::memory_order_acquire);
    }
    if (before % 2 == 0 && page->sequence.load(std::memory_order_acquire) == before) {
      std::memcpy(&result.emplace(), words, sizeof(words));
    } else {
      std::this_thread::yield();
    }
  }
  munmap(page, sizeof(Page));
  return result;
}

void publish_samples() {
  static const bool started = [] {
    const auto wanted = environment::text("PEWTER_STATS");
    if (!wanted || *wanted == "0") {
      return false;
    }
    const bool is_own = *wanted == "1";
    const std::string path = is_own ? default_sample_path(getpid()) : *wanted;
    Page* page = map(path, true);
    if (page == nullptr) {
      logging::warning("runtime", "PEWTER_STATS: the file '{}' cannot be written", path);
      return false;
    }
    publisher.store(new Publisher(path, is_own, page));
    return true;
  }();
  static_cast<void>(started);
}

}  // namespace pewter::runtime
