#include "pewter/metal/executor/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace pewter::executor {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

GuardedMemory GuardedMemory::allocate(std::size_t count,
                                      std::size_t piece_bytes,
                                      std::size_t guard_bytes) {
  GuardedMemory memory;
  memory.piece_bytes_ = whole_pages(piece_bytes);
  memory.guard_bytes_ = whole_pages(guard_bytes);
  memory.total_bytes_ = count * (memory.piece_bytes_ + memory.guard_bytes_) + memory.guard_bytes_;
  void* mapping = mmap(nullptr, memory.total_bytes_, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return {};
  }
  memory.base_ = static_cast<std::byte*>(mapping);
  for (std::size_t i = 0; i < count; ++i) {
    if (mprotect(memory.begin(i), memory.piece_bytes_, PROT_READ | PROT_WRITE) != 0) {
      return {};
    }
  }
  return memory;
}

GuardedMemory::~GuardedMemory() {
  if (base_ != nullptr) {
    munmap(base_, total_bytes_);
  }
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept {
  *this = std::move(other);
}

GuardedMemory& GuardedMemory::operator=(GuardedMemory&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(total_bytes_, other.total_bytes_);
  std::swap(piece_bytes_, other.piece_bytes_);
  std::swap(guard_bytes_, other.guard_bytes_);
  return *this;
}

bool GuardedMemory::is_guard(std::uintptr_t address) const {
  const auto base = reinterpret_cast<std::uintptr_t>(base_);
  if (base_ == nullptr || address < base || address - base >= total_bytes_) {
    return false;
  }
  return (address - base) % (guard_bytes_ + piece_bytes_) < guard_bytes_;
}

}  // namespace pewter::executor
