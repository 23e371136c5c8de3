#include "tests/fuzz/guarded_bytes.h"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>

namespace pewter::fuzz {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignment = 16;

std::size_t rounded_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

}  // namespace

GuardedBytes::GuardedBytes(std::span<const std::byte> content)
    : mapping_bytes_(rounded_up(content.size(), kPage) + kPage), size_(content.size()) {
  void* mapping =
      mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    throw std::bad_alloc();
  }
  mapping_ = static_cast<std::byte*>(mapping);
  std::byte* end = mapping_ + mapping_bytes_ - kPage;
  mprotect(end, kPage, PROT_NONE);
  data_ = end - rounded_up(size_, kAlignment);
  std::memcpy(data_, content.data(), size_);
}

GuardedBytes::GuardedBytes(GuardedBytes&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(other.mapping_bytes_),
      data_(other.data_),
      size_(other.size_) {}

GuardedBytes::~GuardedBytes() {
  if (mapping_ != nullptr) {
    munmap(mapping_, mapping_bytes_);
  }
}

}  // namespace pewter::fuzz
