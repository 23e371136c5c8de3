#pragma once

#include <Metal/MTLDevice.hpp>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "pewter/metal/driver/body.h"

namespace pewter::driver {

/// The body of MTL::Architecture.
class Architecture final : public Object {
 public:
  using Public = MTL::Architecture;
  static constexpr ClassInfo kClass{"MTL::Architecture", &Object::kClass};

  Architecture() : Object(kClass), name(make_string("")) {}

  Object* copy() const override { return make<Architecture>(*this); }

  Ref<String> name;
};

/// The body of MTL::Device. There is one in the process, and it never ends.
class Device final : public Object {
 public:
  using Public = MTL::Device;
  static constexpr ClassInfo kClass{"MTL::Device", &Object::kClass};

  Device();

  /// Counts memory of a resource; false, and nothing counted, when it would pass the machine's
  /// memory.
  bool claim(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { allocated_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::uint64_t allocated() const { return allocated_.load(std::memory_order_relaxed); }

  std::uint64_t memory_bytes() const { return memory_bytes_; }
  std::uint64_t max_buffer_length() const;
  std::uint64_t recommended_working_set() const { return memory_bytes_ / 4 * 3 / 4096 * 4096; }

  /// Pipelines that indirect command buffers may name by their address: live ones alone.
  void know_pipeline(const Object* pipeline);
  void forget_pipeline(const Object* pipeline);
  bool knows_pipeline(std::uint64_t address) const;

  Ref<String> name;
  Ref<Architecture> architecture;
  std::uint64_t registry_id = 0;
  std::atomic<bool> maximize_compilation = false;

 private:
  const std::uint64_t memory_bytes_;
  std::atomic<std::uint64_t> allocated_ = 0;
  mutable std::mutex mutex_;  // guards the member below
  std::set<std::uint64_t> pipelines_;
};

/// The process's device; made at the first call, whatever PEWTER_DEVICE says.
Device& device();

/// What `device()` of every object returns: the device's handle when the body is there, null
/// otherwise.
inline MTL::Device* device_of(const Object* body) {
  return body != nullptr ? handle(&device()) : nullptr;
}

}  // namespace pewter::driver
