#include "pewter/runtime/allocator_state.h"

#include <fmt/format.h>
#include <pewter/errors.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "pewter/runtime/device.h"
#include "pewter/runtime/scheduler.h"
#include "pewter/runtime/size_text.h"
#include "pewter/runtime/stream.h"
#include "pewter/runtime/system_memory.h"

namespace pewter::runtime {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kHostCacheLimit = std::size_t{32} << 20;
constexpr std::size_t kUnknownHostLimit = std::size_t{8} << 30;

std::size_t part_of(double ratio, std::size_t bytes) {
  return static_cast<std::size_t>(ratio * static_cast<double>(bytes));
}

}  // namespace

Allocator::State::State(MTL::Device* metal_device)
    : device(metal_device),
      page(page_size()),
      max_length(device != nullptr ? device_info().max_buffer_length : kNoLimit / 4),
      working_set(device != nullptr ? device_info().recommended_working_set : 0),
      memory_size(device != nullptr ? device_info().memory_size : physical_memory()),
      resource_limit(device != nullptr ? device_info().resource_limit : kNoLimit),
      watermarks(device != nullptr ? read_watermarks(device->hasUnifiedMemory()) : Watermarks{}),
      source(device),
      cache(page),
      wired(device) {
  if (device != nullptr) {
    memory_limit = std::min(part_of(1.5, working_set), part_of(0.95, memory_size));
    cache_limit = memory_limit.load();
    soft_limit = part_of(watermarks.low, working_set);
    set_hard_limit(part_of(watermarks.high, working_set));
  } else {
    memory_limit = memory_size != 0 ? part_of(0.8, memory_size) : kUnknownHostLimit;
    cache_limit = kHostCacheLimit;
  }
  update_gc_limit();
  set_special(kSpecialLog, log.enabled());
  set_special(kSpecialBadMarks, !watermarks.fault.empty());
}

void Allocator::State::set_special(unsigned reason, bool on) {
  if (on) {
    special.fetch_or(reason);
  } else {
    special.fetch_and(~reason);
  }
}

void Allocator::State::set_hard_limit(std::size_t limit) {
  hard_limit.store(limit);
  // The device itself never gives more than the machine has.
  set_special(kSpecialHardLimit, limit != 0 && limit < memory_size);
}

void Allocator::State::update_gc_limit() {
  const std::size_t most = device != nullptr ? part_of(0.95, working_set) : kNoLimit;
  gc_limit.store(std::min(memory_limit.load(), most));
}

void Allocator::State::lock_all() {
  callbacks_mutex.lock();
  Magazine::list_mutex().lock();
  mutex.lock();
  peak.mutex().lock();
}

void Allocator::State::unlock_all() {
  peak.mutex().unlock();
  mutex.unlock();
  Magazine::list_mutex().unlock();
  callbacks_mutex.unlock();
}

void Allocator::State::magazine_ended(Magazine& magazine) {
  State& state = *instance().state_;
  const std::scoped_lock lock(state.mutex);
  magazine.drain([&](Block* block) { state.cache.put(block); });
}

bool Allocator::State::exceeds_strict_limit(std::size_t length) const {
  if (!is_special(kSpecialStrict)) {
    return false;
  }
  return active.load() + length >= memory_limit.load();
}

bool Allocator::State::exceeds_hard_limit(std::size_t length) const {
  const std::size_t limit = hard_limit.load(std::memory_order_relaxed);
  return limit != 0 && driver_total() + pending + length > limit;
}

void Allocator::State::refuse_strict(std::size_t size) const {
  throw OutOfMemoryError(
      fmt::format("[malloc] unable to allocate {} bytes: out of memory with {} bytes active and a "
                  "memory limit of {} bytes; free arrays or raise it with set_memory_limit",
                  size, active.load(), memory_limit.load()));
}

void Allocator::State::refuse(std::size_t size, const std::string& reason) const {
  const std::size_t blocks = held.load();
  const std::size_t total = driver_total();
  const std::size_t limit = hard_limit.load();
  std::string message = fmt::format(
      "[malloc] out of memory: {} ({} bytes) asked for, {} in blocks, {} in other "
      "allocations",
      size_text(size), size, size_text(blocks), size_text(total > blocks ? total - blocks : 0));
  if (limit != 0) {
    message += fmt::format(", limit {}", size_text(limit));
  }
  message += reason.empty() ? "" : "; " + reason;
  if (limit != 0) {
    message += "; PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 disables the limit";
  }
  throw OutOfMemoryError(message);
}

Buffer Allocator::State::allocate_slowly(std::size_t size) {
  if (device != nullptr) {
    runtime::device();  // refuses in a forked child
  }
  if (is_special(kSpecialBadMarks)) {
    throw std::runtime_error(watermarks.fault);
  }
  if (size > max_length) {
    throw std::runtime_error(fmt::format(
        "[metal::malloc] {} bytes exceed max_buffer_length of {} bytes", size, max_length));
  }
  const std::size_t length = rounded(size);
  wait_for_strict_limit(length);

  Block* block = find_or_make(length, size, false);
  if (block == nullptr && run_out_of_memory_callbacks()) {
    block = find_or_make(length, size, false);
  }
  if (block == nullptr) {
    submit_open_work();
    static_cast<void>(Scheduler::instance().wait_until([] { return false; }));
    clear_cache();
    block = find_or_make(length, size, true);
  }
  return activate(block, size);
}

void Allocator::State::wait_for_strict_limit(std::size_t length) {
  if (exceeds_strict_limit(length)) {
    submit_open_work();
    static_cast<void>(
        Scheduler::instance().wait_until([&] { return !exceeds_strict_limit(length); }));
  }
}

bool Allocator::State::run_out_of_memory_callbacks() {
  std::vector<std::function<void()>> callbacks;
  {
    const std::scoped_lock lock(callbacks_mutex);
    callbacks = out_of_memory_callbacks;
  }
  for (const auto& callback : callbacks) {
    callback();
  }
  return !callbacks.empty();
}

Block* Allocator::State::find_or_make(std::size_t length, std::size_t size, bool last_try) {
  std::unique_lock lock(mutex);
  if (Block* block = take_cached(length)) {
    if (exceeds_strict_limit(block->length)) {
      cache.put(block);
      refuse_strict(size);
    }
    // Reuse adds nothing to the total, which may be past the limit already.
    if (exceeds_hard_limit(0)) {
      release_until_allowed(0);
    }
    if (exceeds_hard_limit(0)) {
      cache.put(block);
      return last_try ? (refuse(size, ""), nullptr) : nullptr;
    }
    lock.unlock();
    count(true, block->length);
    log.reused(block->length, size, active.load() + block->length);
    return block;
  }

  std::vector<Block*> ended;
  reclaim_for(length, ended);
  relieve_pressure(length, ended);
  if (!ended.empty()) {
    lock.unlock();
    end(ended);
    lock.lock();
  }
  if (resources >= resource_limit) {
    throw std::runtime_error(
        fmt::format("[metal::malloc] {} buffers exist, the resource limit of {}; free some",
                    resources, resource_limit));
  }
  if (exceeds_hard_limit(length)) {
    release_until_allowed(length);
  }
  if (exceeds_hard_limit(length)) {
    return last_try ? (refuse(size, ""), nullptr) : nullptr;
  }
  if (exceeds_strict_limit(length)) {
    refuse_strict(size);
  }
  if (!guard.allows(driver_total() + pending, length)) {
    return last_try ? (refuse(size, fmt::format("the machine can hold {} for this process without "
                                                "swapping (PEWTER_MEMORY_GUARD=0 goes on)",
                                                size_text(guard.budget()))),
                       nullptr)
                    : nullptr;
  }
  Block* block = make(lock, length);
  if (block == nullptr && last_try) {
    refuse(size, fmt::format("the system has no {} bytes left", length));
  }
  return block;
}

Block* Allocator::State::make(std::unique_lock<std::mutex>& lock, std::size_t length) {
  // With a limit in reach nobody else may look at the driver's total meanwhile.
  const bool exclusive = is_special(kSpecialHardLimit);
  ++resources;
  pending += length;
  if (!exclusive) {
    lock.unlock();
  }
  std::unique_ptr<Block> made;
  try {
    made = source.make(length);
  } catch (const std::bad_alloc&) {
    made = nullptr;
  }
  if (!exclusive) {
    lock.lock();
  }
  pending -= length;
  if (made == nullptr) {
    --resources;
    return nullptr;
  }
  Block* block = made.release();
  add_made(block);
  lock.unlock();
  count(false, length);
  log.allocated(length, active.load() + length, driver_total());
  return block;
}

void Allocator::State::count(bool hit, std::size_t length) {
  if (Magazine* magazine = Magazine::current(&magazine_ended)) {
    hit ? magazine->count_hit(length) : magazine->count_miss(length);
  }
}

}  // namespace pewter::runtime
