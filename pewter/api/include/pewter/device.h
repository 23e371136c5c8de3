#pragma once

#include <pewter/export.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <variant>

/// Where and in which order arrays are computed.
///
/// Both kinds of device see the same memory, so arrays never have to be moved. Without a Metal
/// device graphs can be built but not evaluated.
namespace pewter {

enum class DeviceType : std::uint8_t { Cpu, Gpu };

struct Device {
  DeviceType type = DeviceType::Gpu;
  int index = 0;

  Device() = default;
  Device(DeviceType of_type, int at_index = 0) : type(of_type), index(at_index) {}
  friend auto operator<=>(const Device&, const Device&) = default;
};

/// An ordered queue of work on one device. Work of different streams may overlap; an array that
/// one stream computes is waited for by the others that use it.
struct Stream {
  int index = 0;
  Device device;

  friend auto operator<=>(const Stream&, const Stream&) = default;
};

/// What the last argument of every operation takes: nothing (the calling thread's default stream
/// of the default device), a stream, or a device, whose default stream is meant.
class StreamOrDevice {
 public:
  StreamOrDevice() = default;
  StreamOrDevice(Stream stream) : choice_(stream) {}
  StreamOrDevice(Device device) : choice_(device) {}
  StreamOrDevice(DeviceType type) : choice_(Device(type)) {}

  bool is_given() const { return choice_.index() != 0; }
  /// The stream that is meant. Throws std::invalid_argument when its device is not there.
  PEWTER_EXPORT Stream resolve() const;

 private:
  std::variant<std::monostate, Stream, Device> choice_;
};

using DeviceInfo = std::unordered_map<std::string, std::variant<std::string, std::size_t>>;

/// Whether there is such a device: 1 of each kind at most.
PEWTER_EXPORT bool is_available(Device device);
PEWTER_EXPORT int device_count(DeviceType type);
/// As metal::device_info(); for the processor `device_name` and `architecture`; empty when the
/// device is not there.
PEWTER_EXPORT DeviceInfo device_info(Device device);

/// The Gpu when there is one; of the calling thread.
PEWTER_EXPORT Device default_device();
/// Throws std::invalid_argument when the device is not there.
PEWTER_EXPORT void set_default_device(Device device);

/// The calling thread's, made at its first use. Throws std::invalid_argument when the device is not
/// there.
PEWTER_EXPORT Stream default_stream(Device device);
/// Also makes it the default stream of its device, for the calling thread.
PEWTER_EXPORT void set_default_stream(Stream stream);
/// A stream of its own, for work of the calling thread.
PEWTER_EXPORT Stream new_stream(Device device = default_device());
/// The same, for any thread; the order of what several threads do is the caller's business.
PEWTER_EXPORT Stream new_thread_unsafe_stream(Device device = default_device());
/// One stream for each thread under one name.
PEWTER_EXPORT Stream new_thread_local_stream(Device device = default_device());
/// Ends the streams that the calling thread made, after their work. Their names are not used again,
/// and refused with std::invalid_argument; a thread whose default it was gets another one, and lazy
/// arrays that were to be computed on one are computed on the default of who evaluates them. Throws
/// std::runtime_error with a failure on one of them that nobody has seen.
PEWTER_EXPORT void clear_streams();

/// Waits until everything submitted to the stream is done. Throws std::runtime_error with the first
/// failure on it that has not been thrown by an array or an earlier wait.
PEWTER_EXPORT void synchronize(Stream stream);
PEWTER_EXPORT void synchronize();

/// Makes a stream or device the calling thread's default until the end of the scope.
class PEWTER_EXPORT StreamContext {
 public:
  /// Throws std::runtime_error when neither is given, std::invalid_argument when it is not there.
  explicit StreamContext(StreamOrDevice chosen);
  ~StreamContext();
  StreamContext(const StreamContext&) = delete;
  StreamContext& operator=(const StreamContext&) = delete;

 private:
  Device device_before_;
  Stream stream_before_;
};

}  // namespace pewter
