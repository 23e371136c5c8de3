#include "pewter/metal/driver/command_storage.h"

namespace pewter::driver {

void* CommandStorage::allocate(std::size_t bytes, std::size_t alignment) {
  // Chunks begin as aligned as operator new makes them, so the address counts and not the offset.
  while (true) {
    if (current_chunk_ < chunks_.size()) {
      std::byte* chunk = chunks_[current_chunk_].get();
      const auto start = reinterpret_cast<std::uintptr_t>(chunk) + used_;
      const std::size_t padding = (0 - start) & (alignment - 1);
      if (used_ + padding + bytes <= kChunkBytes) {
        used_ += padding + bytes;
        return chunk + used_ - bytes;
      }
      ++current_chunk_;
      used_ = 0;
    }
    if (current_chunk_ == chunks_.size()) {
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunkBytes));
    }
  }
}

void CommandStorage::keep(Object* object) {
  if (object == nullptr) {
    return;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  const Object*& recent = recent_[(address >> 6 ^ address >> 12) % recent_.size()];
  if (recent != object) {
    references_.emplace_back(object);
    recent = object;
  }
}

void CommandStorage::clear() {
  references_.clear();
  recent_ = {};
  first_ = last_ = nullptr;
  current_chunk_ = used_ = 0;
}

}  // namespace pewter::driver
