#pragma once

#include <pewter/metal_backend.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pewter::backend {

/// The arrays that one backend made and that still exist. Safe to use from any thread.
class ArrayRegistry {
 public:
  /// `bytes` and `dtype` are what was asked for.
  void add(const array& value, std::size_t bytes, HostDtype dtype);
  /// Does nothing for an array that it does not know.
  void remove(const array& value);
  void clear();

  struct Totals {
    std::size_t bytes = 0;
    std::size_t count = 0;
  };
  Totals totals() const;
  std::vector<MetalBufferRecord> records() const;

 private:
  struct Entry {
    MetalBufferRecord record;
    /// Ends with the array's last handle, and the entry with it.
    std::weak_ptr<const graph::Node> node;
    std::uint64_t number = 0;
  };

  void forget_dead() const;

  mutable std::mutex mutex_;  // guards the members below
  mutable std::map<const void*, Entry> entries_;
  std::uint64_t next_number_ = 0;
};

}  // namespace pewter::backend
