#include "pewter/api/backend/array_registry.h"

#include <algorithm>
#include <utility>

#include "pewter/array/graph/node.h"

namespace pewter::backend {

void ArrayRegistry::add(const array& value, std::size_t bytes, HostDtype dtype) {
  Entry entry;
  entry.node = value.node_pointer();
  entry.record.array_id = value.node_pointer().get();
  entry.record.size = bytes;
  entry.record.shape = value.shape();
  entry.record.dtype = dtype;
  entry.record.created_at = std::chrono::system_clock::now();
  entry.record.last_accessed = entry.record.created_at;

  const std::scoped_lock lock(mutex_);
  if (entries_.size() >= next_sweep_) {
    forget_dead();
    next_sweep_ = std::max(kFirstSweep, 2 * entries_.size());
  }
  entry.number = next_number_++;
  entries_.insert_or_assign(entry.record.array_id, std::move(entry));
}

void ArrayRegistry::remove(const array& value) {
  const std::scoped_lock lock(mutex_);
  if (find(value) != nullptr) {
    entries_.erase(value.node_pointer().get());
  }
}

ArrayRegistry::Entry* ArrayRegistry::find(const array& value) {
  const auto found = entries_.find(value.node_pointer().get());
  // Another array may have come to live at the address of one that is gone.
  const bool is_known =
      found != entries_.end() && found->second.node.lock() == value.node_pointer();
  return is_known ? &found->second : nullptr;
}

void ArrayRegistry::touch(const array& value) {
  const std::scoped_lock lock(mutex_);
  if (Entry* const entry = find(value)) {
    entry->record.last_accessed = std::chrono::system_clock::now();
  }
}

void ArrayRegistry::change_users(const std::vector<array>& values, bool are_added) {
  const std::scoped_lock lock(mutex_);
  for (const array& value : values) {
    Entry* const entry = find(value);
    // One that became known meanwhile has no user to lose.
    if (entry == nullptr || (!are_added && entry->users == 0)) {
      continue;
    }
    entry->users += are_added ? 1 : -1;
    entry->record.state = entry->users > 0 ? MetalBufferState::InUse : MetalBufferState::Allocated;
    entry->record.last_accessed = std::chrono::system_clock::now();
  }
}

ArrayRegistry::Use::Use(ArrayRegistry& registry, std::vector<array> values)
    : registry_(registry), values_(std::move(values)) {
  registry_.change_users(values_, true);
}

ArrayRegistry::Use::~Use() {
  registry_.change_users(values_, false);
}

void ArrayRegistry::clear() {
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

ArrayRegistry::Totals ArrayRegistry::totals() const {
  const std::scoped_lock lock(mutex_);
  forget_dead();
  Totals totals;
  for (const auto& [id, entry] : entries_) {
    totals.bytes += entry.record.size;
  }
  totals.count = entries_.size();
  return totals;
}

std::vector<MetalBufferRecord> ArrayRegistry::records() const {
  const std::scoped_lock lock(mutex_);
  forget_dead();
  std::vector<const Entry*> by_age;
  for (const auto& [id, entry] : entries_) {
    by_age.push_back(&entry);
  }
  std::sort(by_age.begin(), by_age.end(),
            [](const Entry* left, const Entry* right) { return left->number < right->number; });
  std::vector<MetalBufferRecord> records;
  for (const Entry* entry : by_age) {
    records.push_back(entry->record);
  }
  return records;
}

void ArrayRegistry::forget_dead() const {
  std::erase_if(entries_, [](const auto& item) { return item.second.node.expired(); });
}

}  // namespace pewter::backend
