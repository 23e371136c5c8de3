#include "pewter/metal/driver/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "pewter/base/environment.h"
#include "pewter/base/log.h"
#include "pewter/metal/driver/device.h"

namespace pewter::driver {
namespace {

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

std::uint64_t rounded_up(std::uint64_t size, std::uint64_t unit) {
  return (size + unit - 1) / unit * unit;
}

struct Mapping {
  void* address = nullptr;
  std::uint64_t size = 0;
  std::byte* data = nullptr;
};

/// Bytes behind a mapping that can be read, and are zero, for kernels that read past the end.
std::uint64_t readable_tail() {
  static const std::uint64_t bytes = [] {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
    const std::uint64_t wanted = environment::number("PEWTER_READ_PAST_END").value_or(0);
    if (wanted > kMost) {
      logging::warning("environment", "PEWTER_READ_PAST_END={} is more than {}; using that", wanted,
                       kMost);
    }
    return rounded_up(std::min(wanted, kMost), page_size());
  }();
  return bytes;
}

/// `size` bytes between two inaccessible pages, the first of them at a multiple of `alignment`.
Mapping map_guarded(std::uint64_t size, std::uint64_t alignment) {
  const std::uint64_t guard = page_size();
  const std::uint64_t total = size + readable_tail() + 2 * guard + (alignment - guard);
  void* address =
      mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return {};
  }
  // What the alignment wastes stays reserved but costs no memory.
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  auto* data = reinterpret_cast<std::byte*>(rounded_up(begin + guard, alignment));
  // Pages that are only read take no memory.
  const bool is_protected =
      mprotect(data, size, PROT_READ | PROT_WRITE) == 0 &&
      (readable_tail() == 0 || mprotect(data + size, readable_tail(), PROT_READ) == 0);
  if (!is_protected) {
    munmap(address, total);
    return {};
  }
  return {address, total, data};
}

/// Pages for what is smaller than one. Mapping each alone would cost a call to the system and a
/// good part of the mappings that a process may have. Safe to use from any thread.
class PagePool {
 public:
  /// A page of zeros; null when the system has none.
  std::byte* take() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) {
      const Mapping slab = map_guarded(kSlabPages * page_size(), page_size());
      if (slab.data == nullptr) {
        return nullptr;
      }
      for (std::uint64_t page = kSlabPages; page-- > 0;) {
        free_.push_back(slab.data + page * page_size());
      }
    }
    std::byte* page = free_.back();
    free_.pop_back();
    return page;
  }

  void put(std::byte* page) {
    // All of it: a kernel may have written past the end of its buffer.
    std::memset(page, 0, page_size());
    const std::scoped_lock lock(mutex_);
    if (free_.size() >= kKeptPages) {
      madvise(page, page_size(), MADV_DONTNEED);
    }
    free_.push_back(page);
  }

 private:
  static constexpr std::uint64_t kSlabPages = 64;
  static constexpr std::size_t kKeptPages = 4096;  // that stay in memory while nobody uses them

  std::mutex mutex_;  // guards the member below
  std::vector<std::byte*> free_;
};

/// Never ends, like the device: buffers may outlive every static object.
PagePool& page_pool() {
  static auto& pool = *new PagePool;
  return pool;
}

}  // namespace

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::optional<DeviceMemory> DeviceMemory::allocate(std::uint64_t length) {
  const bool small = length < page_size() && readable_tail() == 0;
  const std::uint64_t size = rounded_up(length, page_size());
  if (!device().claim(size)) {
    logging::error("metal", "{} bytes with {} already allocated exceed the machine's {}", size,
                   device().allocated(), device().memory_bytes());
    return std::nullopt;
  }

  DeviceMemory memory;
  memory.size_ = size;
  if (small) {
    memory.data_ = page_pool().take();
    memory.is_pooled_ = memory.data_ != nullptr;
  } else {
    const bool huge = size >= kHugePage;
    const Mapping mapping = map_guarded(size, huge ? kHugePage : page_size());
    memory.mapping_ = mapping.address;
    memory.mapping_size_ = mapping.size;
    memory.data_ = mapping.data;
    if (huge && memory.data_ != nullptr) {
      madvise(memory.data_, size, MADV_HUGEPAGE);
    }
  }
  if (memory.data_ == nullptr) {
    // Also where the number of mappings of a process has reached its limit: without guards rather
    // than not at all.
    memory.data_ = static_cast<std::byte*>(std::aligned_alloc(page_size(), size));
    if (memory.data_ == nullptr) {
      logging::error("metal", "the system has no {} bytes left", size);
      return std::nullopt;
    }
    std::memset(memory.data_, 0, size);
  }
  return memory;
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_size_(other.mapping_size_),
      is_pooled_(std::exchange(other.is_pooled_, false)) {}

DeviceMemory::~DeviceMemory() {
  if (mapping_ != nullptr) {
    munmap(mapping_, mapping_size_);
  } else if (is_pooled_) {
    page_pool().put(data_);
  } else {
    std::free(data_);
  }
  device().give_back(size_);
}

void DeviceMemory::discard() {
  if (mapping_ != nullptr) {
    madvise(data_, size_, MADV_DONTNEED);
  } else {
    std::memset(data_, 0, size_);
  }
}

}  // namespace pewter::driver
