#pragma once

#include <pewter/array.h>
#include <pewter/backend_errors.h>
#include <pewter/export.h>
#include <pewter/host_array.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <future>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pewter::backend {

/// Which copy of a buffer is the newest.
enum class BufferState : std::uint8_t {
  Uninitialized,
  HostOnly,
  DeviceOnly,
  Synchronized,
  HostDirty,
  DeviceDirty,
};

/// In lower case, for instance "host_only".
PEWTER_EXPORT std::string_view name_of(BufferState state);

/// Data with a copy on the host and, once asked for, one on the device.
///
/// Which side is newer is the caller's to say: whoever writes through host() calls
/// mark_host_dirty(), whoever has a new array for the device calls set_metal(). The other side is
/// brought up to date when it is next asked for. What the host has keeps the type that was asked
/// for; float64 is float32 on the device.
///
/// Calls may come from several threads; access to the elements is the caller's business.
class PEWTER_EXPORT AnyUnifiedBuffer {
 public:
  /// Throws std::invalid_argument for a negative length. `pinned` is kept and changes nothing.
  explicit AnyUnifiedBuffer(Shape shape, HostDtype dtype = HostDtype::Float32, bool pinned = false);
  /// Of rank 1.
  explicit AnyUnifiedBuffer(std::int64_t length,
                            HostDtype dtype = HostDtype::Float32,
                            bool pinned = false);
  AnyUnifiedBuffer(AnyUnifiedBuffer&&) noexcept;
  AnyUnifiedBuffer& operator=(AnyUnifiedBuffer&&) noexcept;
  ~AnyUnifiedBuffer();

  // Memory.

  /// Gives it memory on the host, contents undefined, and drops whatever copies there were. The
  /// host gets memory whatever is asked for: there is no other device that could.
  AnyUnifiedBuffer& allocate(bool host = true, bool device = true);
  /// Drops all copies.
  void free();

  // The copies. Each throws BufferNotAllocatedError before allocate().

  /// The array on the host itself, not a copy, with what is newer on the device copied to it
  /// first. Writing to it marks nothing. Throws BufferSyncError when copying fails.
  HostArray host() const;
  /// The array on the device, made or renewed from the host if needed; the same array each time
  /// until the host's copy is marked as newer. Throws MetalError without a device and when it
  /// cannot be made, BufferSyncError when it cannot be renewed.
  array metal() const;
  /// The host's array: there is no other device here.
  HostArray device() const { return host(); }
  /// A copy of what host() gives.
  HostArray to_numpy() const { return host().copy(); }

  /// Puts an array on the device in the place of the one there and marks it as newer. Throws
  /// std::invalid_argument when its shape is another; another type is converted.
  void set_metal(const array& value);

  void mark_host_dirty();
  /// The array that metal() gives is newer. Without one, host() keeps what the host has.
  void mark_metal_dirty();
  void mark_device_dirty() { mark_metal_dirty(); }

  // Copying between them.

  /// Copies from the side that is newer to the other; nothing when neither is, and for a device
  /// that is not there.
  void synchronize();
  /// Copies the host's elements to the device, whatever the state.
  void sync_to_device();
  /// Copies the device's elements to the host when they are newer.
  void sync_to_host();
  /// The same as touching device() and host(), on a thread of their own. The buffer must outlive
  /// the future.
  std::future<void> ensure_on_device();
  std::future<void> ensure_on_host();

  // Elements of the host. What writes marks the host's copy as newer.

  /// Sets the elements to those of `source`, broadcast; allocates first if needed. Throws
  /// std::invalid_argument when the shapes do not broadcast and TypeError for a cast that loses the
  /// kind; then nothing has changed.
  void copy_from(const HostArray& source);
  /// The same with `values`, row by row. Throws too when their number is another.
  template <typename T, std::size_t N>
    requires HostElement<std::remove_const_t<T>>
  void write(std::span<T, N> values) {
    copy_from(HostArray(values, shape()));
  }
  /// Sets the elements of `target` to the host's, by the same rules.
  void copy_to(const HostArray& target) const;
  /// Allocate first if needed.
  AnyUnifiedBuffer& zeros();
  template <HostElement T>
  AnyUnifiedBuffer& fill(T value) {
    return fill(HostArray::scalar(value));
  }

  // What it is.

  const Shape& shape() const;
  /// The type that was asked for.
  HostDtype dtype() const;
  /// Length of the first axis. Throws std::out_of_range for rank 0.
  std::size_t length() const;
  /// Number of elements.
  std::size_t size() const;
  /// Of the type that was asked for.
  std::size_t nbytes() const;
  BufferState state() const;
  bool is_allocated() const { return state() != BufferState::Uninitialized; }
  bool pinned() const;
  /// For people: shape, type, state and which copies there are.
  std::string repr() const;

 protected:
  /// What may be written to: the host's elements, with the device's copied first when those are
  /// newer. Marks the host's copy as newer.
  HostArray host_for_writing();

 private:
  struct State;

  AnyUnifiedBuffer& fill(const HostArray& scalar);

  std::unique_ptr<State> state_;
};

/// The same with the type of its elements known.
template <HostElement T>
class UnifiedBuffer : public AnyUnifiedBuffer {
 public:
  explicit UnifiedBuffer(Shape shape, bool pinned = false)
      : AnyUnifiedBuffer(std::move(shape), kHostDtypeOf<T>, pinned) {}
  explicit UnifiedBuffer(std::int64_t length, bool pinned = false)
      : AnyUnifiedBuffer(length, kHostDtypeOf<T>, pinned) {}

  /// The host's elements, row by row; see AnyUnifiedBuffer::host().
  std::span<T> host() const { return AnyUnifiedBuffer::host().template values<T>(); }
  HostArray host_array() const { return AnyUnifiedBuffer::host(); }

  /// One element of the host. Assigning to it marks the host's copy as newer.
  class Reference {
   public:
    operator T() const { return buffer_.host_array().template at<T>(index_); }
    /// Copies the element, as it does for any other value.
    Reference& operator=(const Reference& other) { return *this = static_cast<T>(other); }
    Reference(const Reference&) = default;
    Reference& operator=(T value) {
      // Looked up before anything is marked: a position that is not there changes nothing.
      (void)static_cast<T>(*this);
      buffer_.host_for_writing().template at<T>(index_) = value;
      return *this;
    }

    Reference(UnifiedBuffer& buffer, std::vector<std::int64_t> index)
        : buffer_(buffer), index_(std::move(index)) {}

   private:
    UnifiedBuffer& buffer_;
    std::vector<std::int64_t> index_;
  };

  /// Negative positions count from the end. Reading and writing throw BufferNotAllocatedError
  /// before allocate() and std::out_of_range for a position that is not there.
  Reference operator[](std::int64_t index) { return Reference(*this, {index}); }
  Reference operator[](std::initializer_list<std::int64_t> index) {
    return Reference(*this, index);
  }
};

}  // namespace pewter::backend
