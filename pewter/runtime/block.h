#pragma once

#include <Metal/Metal.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace pewter::runtime {

/// The record of one buffer, whether in use or cached. Only the allocator makes and ends it.
struct Block {
  std::atomic<std::uint32_t> shares = 0;
  std::size_t length = 0;
  std::byte* contents = nullptr;
  MTL::Buffer* metal = nullptr;
  std::function<void()> release;
};

}  // namespace pewter::runtime
