#pragma once

#include <pewter/export.h>

#include <memory>

namespace pewter::runtime {
class Stream;
}  // namespace pewter::runtime

namespace pewter::mps {

/// An ordered queue of work on the device. Work of different streams may overlap; what one stream
/// does to an array another one waits for by itself. Cheap to copy.
class PEWTER_EXPORT Stream {
 public:
  /// A new one. Throws std::runtime_error without a device.
  Stream();

  /// Waits for everything submitted to it. Throws std::runtime_error for what failed.
  void synchronize() const;
  /// Whether everything submitted to it is complete.
  bool query() const;

  friend bool operator==(const Stream&, const Stream&) = default;

  /// For the library. Throws std::runtime_error for a stream that was moved from.
  explicit Stream(std::shared_ptr<runtime::Stream> stream) : stream_(std::move(stream)) {}
  const std::shared_ptr<runtime::Stream>& runtime_stream() const;

 private:
  std::shared_ptr<runtime::Stream> stream_;
};

/// The stream that all threads share unless they choose another.
PEWTER_EXPORT Stream default_stream();
/// Where the calling thread's work goes.
PEWTER_EXPORT Stream current_stream();
PEWTER_EXPORT void set_stream(const Stream& stream);

/// Makes a stream the calling thread's current one until the end of the scope.
class PEWTER_EXPORT StreamScope {
 public:
  explicit StreamScope(const Stream& stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream before_;
};

}  // namespace pewter::mps
