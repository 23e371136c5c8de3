#include <fmt/core.h>
#include <fmt/ranges.h>
#include <pewter/ops.h>
#include <pewter/unified_buffer.h>

#include <array>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "pewter/api/backend/exception_text.h"
#include "pewter/api/backend/transfer.h"
#include "pewter/array/graph/shape.h"

namespace pewter::backend {
namespace {

constexpr std::array<std::string_view, 6> kStateNames = {
    "uninitialized", "host_only", "device_only", "synchronized", "host_dirty", "device_dirty"};

std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& letter : result) {
    letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return result;
}

/// As Python writes it: "(4,)".
std::string shape_tuple(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace

std::string_view name_of(BufferState state) {
  return kStateNames.at(static_cast<std::size_t>(state));
}

struct AnyUnifiedBuffer::State {
  Shape shape;
  HostDtype dtype = HostDtype::Float32;
  std::size_t size = 0;
  bool pinned = false;

  // Guards the members below. Copies are made under it, so that two threads that ask for the
  // device's array get the same one.
  mutable std::mutex mutex;
  BufferState state = BufferState::Uninitialized;
  std::optional<HostArray> host;
  std::optional<array> metal;

  void expect_allocated() const {
    if (state == BufferState::Uninitialized) {
      throw BufferNotAllocatedError();
    }
  }

  /// Brings the host up to date.
  void pull() {
    if (state != BufferState::DeviceDirty) {
      return;
    }
    if (!metal) {
      state = BufferState::HostOnly;
      return;
    }
    try {
      // Only the type can differ, and each of the device's has a place in its host type.
      host->assign(to_host(*metal), HostArray::Casting::Unsafe);
    } catch (const std::exception&) {
      const std::exception_ptr cause = std::current_exception();
      throw_with_cause(BufferSyncError("metal->host", cause), cause);
    }
    state = BufferState::Synchronized;
  }

  /// Makes or renews the device's array from the host's.
  void push() {
    try {
      metal = to_device(*host);
    } catch (const std::exception& exception) {
      const std::exception_ptr cause = std::current_exception();
      if (metal) {
        throw_with_cause(BufferSyncError("host->metal", cause), cause);
      }
      throw_with_cause(
          MetalError(fmt::format("[UnifiedBuffer] cannot make the copy on the device: {}",
                                 exception.what()),
                     cause),
          cause);
    }
    state = BufferState::Synchronized;
  }

  /// Sets the host's elements, all of them.
  void overwrite(const HostArray& source, HostArray::Casting casting) {
    if (state == BufferState::Uninitialized) {
      const HostArray made(shape, dtype);
      made.assign(source, casting);
      host = made;
    } else {
      host->assign(source, casting);
    }
    state = BufferState::HostDirty;
  }
};

AnyUnifiedBuffer::AnyUnifiedBuffer(Shape shape, HostDtype dtype, bool pinned)
    : state_(std::make_unique<State>()) {
  state_->size = graph::element_count(shape, backend::size_of(dtype));
  state_->shape = std::move(shape);
  state_->dtype = dtype;
  state_->pinned = pinned;
}

AnyUnifiedBuffer::AnyUnifiedBuffer(std::int64_t length, HostDtype dtype, bool pinned)
    : AnyUnifiedBuffer(Shape{length}, dtype, pinned) {}

AnyUnifiedBuffer::AnyUnifiedBuffer(AnyUnifiedBuffer&&) noexcept = default;
AnyUnifiedBuffer& AnyUnifiedBuffer::operator=(AnyUnifiedBuffer&&) noexcept = default;
AnyUnifiedBuffer::~AnyUnifiedBuffer() = default;

AnyUnifiedBuffer& AnyUnifiedBuffer::allocate(bool /*host*/, bool /*device*/) {
  HostArray made(state_->shape, state_->dtype);
  const std::scoped_lock lock(state_->mutex);
  state_->host = std::move(made);
  state_->metal.reset();
  state_->state = BufferState::HostOnly;
  return *this;
}

void AnyUnifiedBuffer::free() {
  const std::scoped_lock lock(state_->mutex);
  state_->host.reset();
  state_->metal.reset();
  state_->state = BufferState::Uninitialized;
}

HostArray AnyUnifiedBuffer::host() const {
  const std::scoped_lock lock(state_->mutex);
  state_->expect_allocated();
  state_->pull();
  return *state_->host;
}

array AnyUnifiedBuffer::metal() const {
  const std::scoped_lock lock(state_->mutex);
  state_->expect_allocated();
  require_metal("UnifiedBuffer::metal");
  if (!state_->metal || state_->state == BufferState::HostDirty) {
    state_->push();
  }
  return *state_->metal;
}

void AnyUnifiedBuffer::set_metal(const array& value) {
  const std::scoped_lock lock(state_->mutex);
  state_->expect_allocated();
  require_metal("UnifiedBuffer::set_metal");
  if (value.shape() != state_->shape) {
    throw std::invalid_argument(
        fmt::format("[UnifiedBuffer::set_metal] an array of shape {} for a buffer of shape {}",
                    graph::to_text(value.shape()), graph::to_text(state_->shape)));
  }
  const std::optional<Dtype> dtype = device_dtype(state_->dtype);
  state_->metal = dtype ? astype(value, *dtype) : value;
  state_->state = BufferState::DeviceDirty;
}

void AnyUnifiedBuffer::mark_host_dirty() {
  const std::scoped_lock lock(state_->mutex);
  state_->expect_allocated();
  state_->state = BufferState::HostDirty;
}

void AnyUnifiedBuffer::mark_metal_dirty() {
  const std::scoped_lock lock(state_->mutex);
  state_->expect_allocated();
  state_->state = BufferState::DeviceDirty;
}

void AnyUnifiedBuffer::synchronize() {
  const std::scoped_lock lock(state_->mutex);
  if (state_->state == BufferState::HostDirty && device_usable()) {
    state_->push();
  }
  state_->pull();
}

void AnyUnifiedBuffer::sync_to_device() {
  const std::scoped_lock lock(state_->mutex);
  state_->expect_allocated();
  require_metal("UnifiedBuffer::sync_to_device");
  state_->push();
}

void AnyUnifiedBuffer::sync_to_host() {
  const std::scoped_lock lock(state_->mutex);
  state_->expect_allocated();
  state_->pull();
}

std::future<void> AnyUnifiedBuffer::ensure_on_device() {
  return std::async(std::launch::async, [this] { (void)device(); });
}

std::future<void> AnyUnifiedBuffer::ensure_on_host() {
  return std::async(std::launch::async, [this] { (void)host(); });
}

void AnyUnifiedBuffer::copy_from(const HostArray& source) {
  const std::scoped_lock lock(state_->mutex);
  state_->overwrite(source, HostArray::Casting::SameKind);
}

void AnyUnifiedBuffer::copy_to(const HostArray& target) const {
  target.assign(host());
}

AnyUnifiedBuffer& AnyUnifiedBuffer::zeros() {
  return fill(HostArray::scalar(false));
}

AnyUnifiedBuffer& AnyUnifiedBuffer::fill(const HostArray& scalar) {
  const std::scoped_lock lock(state_->mutex);
  state_->overwrite(scalar, HostArray::Casting::Unsafe);
  return *this;
}

HostArray AnyUnifiedBuffer::host_for_writing() {
  const std::scoped_lock lock(state_->mutex);
  state_->expect_allocated();
  state_->pull();
  state_->state = BufferState::HostDirty;
  return *state_->host;
}

const Shape& AnyUnifiedBuffer::shape() const {
  return state_->shape;
}

HostDtype AnyUnifiedBuffer::dtype() const {
  return state_->dtype;
}

std::size_t AnyUnifiedBuffer::length() const {
  if (state_->shape.empty()) {
    throw std::out_of_range("[UnifiedBuffer::length] a buffer of rank 0 has no length");
  }
  return static_cast<std::size_t>(state_->shape.front());
}

std::size_t AnyUnifiedBuffer::size() const {
  return state_->size;
}

std::size_t AnyUnifiedBuffer::nbytes() const {
  return state_->size * backend::size_of(state_->dtype);
}

BufferState AnyUnifiedBuffer::state() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->state;
}

bool AnyUnifiedBuffer::pinned() const {
  return state_->pinned;
}

std::string AnyUnifiedBuffer::repr() const {
  const std::scoped_lock lock(state_->mutex);
  return fmt::format(
      "UnifiedBuffer(shape={}, dtype={}, state={}, host_available={}, device_available=False, "
      "metal_available={})",
      shape_tuple(state_->shape), name_of(state_->dtype), upper_case(name_of(state_->state)),
      state_->host ? "True" : "False", state_->metal ? "True" : "False");
}

}  // namespace pewter::backend
