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
  /// Notes that an array is being accessed, if it is known.
  void touch(const array& value);

  /// Arrays that a kernel was given are in use for as long as this lives.
  class Use {
   public:
    Use(ArrayRegistry& registry, std::vector<array> values);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();

   private:
    ArrayRegistry& registry_;
    std::vector<array> values_;
  };

  struct Totals {
    std::size_t bytes = 0;
    std::size_t count = 0;
  };
  Totals totals() const;
  std::vector<MetalBufferRecord> records() const;

 private:
  static constexpr std::size_t kFirstSweep = 64;

  struct Entry {
    MetalBufferRecord record;
    /// Ends with the array's last handle, and the entry with it.
    std::weak_ptr<const graph::Node> node;
    std::uint64_t number = 0;
    std::size_t users = 0;
  };

  void forget_dead() const;
  /// Null for an array that it does not know. The mutex must be held.
  Entry* find(const array& value);
  void change_users(const std::vector<array>& values, bool are_added);

  mutable std::mutex mutex_;  // guards the members below
  mutable std::map<const void*, Entry> entries_;
  /// How many entries there are when those of dead arrays are next looked for: entries keep nodes'
  /// memory.
  std::size_t next_sweep_ = kFirstSweep;
  std::uint64_t next_number_ = 0;
};

}  // namespace pewter::backend
