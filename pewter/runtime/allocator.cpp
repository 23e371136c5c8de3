#include "pewter/runtime/allocator.h"

#include <fmt/format.h>
#include <pthread.h>

#include <stdexcept>
#include <utility>

#include "pewter/runtime/allocator_state.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/sample_file.h"
#include "pewter/runtime/scheduler.h"
#include "pewter/runtime/stack_trace.h"
#include "pewter/runtime/stream.h"

namespace pewter::runtime {
namespace {

std::atomic<Allocator*> process_allocator = nullptr;

}  // namespace

Allocator::Allocator() : state_(std::make_unique<State>(device_or_null())) {}

Allocator::~Allocator() = default;

Allocator& Allocator::instance() {
  Allocator* instance = process_allocator.load(std::memory_order_acquire);
  if (instance != nullptr) [[likely]] {
    return *instance;
  }
  // Never destroyed: static objects may hold buffers.
  static Allocator* const made = [] {
    auto* allocator = new Allocator;
    process_allocator.store(allocator, std::memory_order_release);
    // A child must not find a lock that a thread of its parent held.
    pthread_atfork([] { process_allocator.load()->state_->lock_all(); },
                   [] { process_allocator.load()->state_->unlock_all(); },
                   [] { process_allocator.load()->state_->unlock_all(); });
    publish_samples();
    return allocator;
  }();
  return *made;
}

Buffer Allocator::allocate(std::size_t size) {
  if (size == 0) {
    return {};
  }
  State& state = *state_;
  if (state.special.load(std::memory_order_relaxed) == 0 && size <= state.max_length &&
      !in_bad_fork()) {
    const std::size_t length = state.rounded(size);
    Magazine* magazine = Magazine::current(&State::magazine_ended);
    Block* block = magazine != nullptr ? magazine->take(length) : nullptr;
    if (block != nullptr) [[likely]] {
      magazine->count_hit(length);
      return state.activate(block, size);
    }
  }
  Buffer buffer = state.allocate_slowly(size);
  if (state.is_special(kSpecialStacks)) {
    BlockDetails& details = buffer.block()->ensure_details();
    const std::scoped_lock lock(details.mutex);
    details.stack = capture_stack();
  }
  return buffer;
}

Buffer Allocator::State::activate(Block* block, std::size_t size) {
  block->shares.store(1, std::memory_order_relaxed);
  block->state.store(BlockState::Active, std::memory_order_relaxed);
  block->requested.store(size, std::memory_order_relaxed);
  block->scope.store(scopes_begun.load(std::memory_order_relaxed), std::memory_order_relaxed);
  const std::size_t busy =
      active.fetch_add(block->length, std::memory_order_acq_rel) + block->length;
  peak.note(busy);
  const std::size_t all = held.load(std::memory_order_relaxed);
  if (all > busy && all - busy > cache_limit.load(std::memory_order_relaxed)) [[unlikely]] {
    trim_to_cache_limit();
  }
  return Buffer::from_block(block);
}

void Allocator::recycle(Block* block) noexcept {
  State& state = *state_;
  if (BlockDetails* details = block->details.load(std::memory_order_acquire)) {
    const std::scoped_lock lock(details->mutex);
    details->label.clear();
    details->stack.clear();
    details->uses.clear();
  }
  const bool adopted = block->state.load(std::memory_order_relaxed) == BlockState::Adopted;
  // Before it counts as cached: whoever drains the magazines must see its age.
  block->freed_at = state.frees.fetch_add(1, std::memory_order_relaxed);
  const std::size_t before = state.active.fetch_sub(block->length, std::memory_order_acq_rel);
  const std::size_t all = state.held.load(std::memory_order_relaxed);
  const std::size_t cached = all > before ? all - before : 0;
  const std::size_t limit = state.cache_limit.load(std::memory_order_relaxed);
  const bool room =
      state.device != nullptr ? cached < limit : cached <= limit && block->length <= limit - cached;
  if (adopted || !room) [[unlikely]] {
    {
      const std::scoped_lock lock(state.mutex);
      state.forget(block);
    }
    state.end({block});
    return;
  }
  block->state.store(BlockState::Cached, std::memory_order_relaxed);
  Magazine* magazine = Magazine::current(&State::magazine_ended);
  Block* displaced = magazine != nullptr ? magazine->put(block) : block;
  if (displaced != nullptr) {
    const std::scoped_lock lock(state.mutex);
    state.cache.put(displaced);
  }
}

Buffer Allocator::adopt(void* memory, std::size_t size, std::function<void()> release) {
  if (size == 0) {
    return {};
  }
  State& state = *state_;
  if (state.device != nullptr) {
    device();  // refuses in a forked child
  }
  std::unique_ptr<Block> made = state.source.adopt(memory, size, std::move(release));
  if (made == nullptr) {
    return {};
  }
  Block* block = made.release();
  {
    const std::scoped_lock lock(state.mutex);
    ++state.resources;
    state.add_made(block);
  }
  Buffer buffer = state.activate(block, size);
  block->state.store(BlockState::Adopted, std::memory_order_relaxed);
  return buffer;
}

std::size_t Allocator::active() const {
  return state_->active.load(std::memory_order_acquire);
}

std::size_t Allocator::cached() const {
  return state_->cached();
}

std::size_t Allocator::peak() const {
  return state_->peak.peak();
}

std::size_t Allocator::driver_total() const {
  return state_->driver_total();
}

AllocationCounts Allocator::counts() const {
  AllocationCounts sum;
  Magazine::for_each([&](const Magazine& magazine) {
    const Magazine::Counts counts = magazine.counts();
    sum.hits += counts.hits;
    sum.misses += counts.misses;
    sum.bytes += counts.bytes;
  });
  return sum;
}

std::size_t Allocator::wired() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->wired.bytes();
}

void Allocator::reset_peak() {
  state_->peak.reset();
}

std::size_t Allocator::memory_limit() const {
  return state_->memory_limit.load();
}

std::size_t Allocator::hard_limit() const {
  return state_->hard_limit.load();
}

bool Allocator::under_pressure() const {
  const std::size_t soft = state_->soft_limit.load(std::memory_order_relaxed);
  return soft != 0 && state_->driver_total() >= soft;
}

std::size_t Allocator::set_memory_limit(std::size_t limit, bool relaxed) {
  const std::size_t before = state_->memory_limit.exchange(limit);
  state_->update_gc_limit();
  state_->set_special(kSpecialStrict, !relaxed);
  return before;
}

std::size_t Allocator::set_cache_limit(std::size_t limit) {
  const std::size_t before = state_->cache_limit.exchange(limit);
  if (state_->device == nullptr && state_->cached() > limit) {
    state_->trim_to_cache_limit();
  }
  return before;
}

std::size_t Allocator::set_wired_limit(std::size_t limit) {
  State& state = *state_;
  if (state.device == nullptr) {
    return 0;
  }
  if (limit > state.working_set) {
    throw std::invalid_argument(
        fmt::format("[metal::set_wired_limit] {} bytes exceed max_recommended_working_set_size of "
                    "{} bytes",
                    limit, state.working_set));
  }
  if (in_bad_fork()) {
    return state.wired_limit.exchange(limit);
  }
  const std::scoped_lock lock(state.mutex);
  state.wired.set_limit(limit, state.first_made);
  return state.wired_limit.exchange(limit);
}

std::size_t Allocator::set_hard_limit(std::size_t limit) {
  const std::size_t before = state_->hard_limit.load();
  state_->set_hard_limit(limit);
  return before;
}

void Allocator::set_memory_fraction(double fraction) {
  // Written so that NaN fails.
  if (!(fraction >= 0 && fraction <= 2)) {
    throw std::invalid_argument(fmt::format(
        "[mps::set_per_process_memory_fraction] fraction {} is not in the range 0 to 2", fraction));
  }
  state_->set_hard_limit(
      static_cast<std::size_t>(fraction * static_cast<double>(state_->working_set)));
}

void Allocator::clear_cache() {
  if (state_->device != nullptr) {
    refuse_bad_fork("[metal::clear_cache]");
  }
  state_->clear_cache();
}

void Allocator::empty_cache() {
  if (state_->device != nullptr) {
    refuse_bad_fork("[mps::empty_cache]");
  }
  submit_open_work();
  static_cast<void>(Scheduler::instance().wait_until([] { return false; }));
  state_->clear_cache();
}

void Allocator::add_out_of_memory_callback(std::function<void()> callback) {
  const std::scoped_lock lock(state_->callbacks_mutex);
  state_->out_of_memory_callbacks.push_back(std::move(callback));
}

void Allocator::wait_for_memory_limit() {
  const auto within = [this] { return active() <= memory_limit(); };
  if (!within()) {
    submit_open_work();
    static_cast<void>(Scheduler::instance().wait_until(within));
  }
}

void Allocator::record_stacks(bool on) {
  state_->set_special(kSpecialStacks, on);
}

std::uint64_t Allocator::begin_scope(PeakTracker::Mark& mark) {
  state_->peak.add(mark, active());
  return state_->scopes_begun.fetch_add(1) + 1;
}

void Allocator::end_scope(PeakTracker::Mark& mark) {
  state_->peak.remove(mark);
}

std::size_t Allocator::scope_peak(const PeakTracker::Mark& mark) const {
  return state_->peak.peak(mark);
}

void Allocator::for_each_block(const std::function<void(Block&)>& function) {
  const std::scoped_lock lock(state_->mutex);
  for (Block* block = state_->first_made; block != nullptr; block = block->next_made) {
    function(*block);
  }
}

}  // namespace pewter::runtime
