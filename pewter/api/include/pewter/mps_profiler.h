#pragma once

#include <pewter/export.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Traces the operations of the `mps` front door into a log of the process.
namespace pewter::mps::profiler {

enum class RecordKind : std::uint8_t { IntervalBegin, IntervalEnd, Event };

/// One line of the log. Times are milliseconds of a clock that never goes back.
struct Record {
  RecordKind kind = RecordKind::Event;
  /// The operation with the arrays it was given.
  std::string name;
  /// "K" and a number for a kernel, "G" and a number for a graph.
  std::string id;
  /// How often the operation has run, this time included.
  std::uint64_t run_count = 0;
  double start = 0;
  double end = 0;
  /// The whole record as a person reads it.
  std::string text;
};

/// `mode` is "interval", "event" or both with a comma between, in any case and with any blanks; an
/// empty text enables nothing. With `wait_until_completed` each operation completes before the next
/// one is submitted. Throws std::runtime_error for another word and while tracing.
PEWTER_EXPORT void start(std::string_view mode = "interval", bool wait_until_completed = false);
/// Stops tracing; nothing happens when there is none.
PEWTER_EXPORT void stop() noexcept;

/// Traces until the end of the scope.
class PEWTER_EXPORT Profile {
 public:
  /// As start(); when that throws, tracing is stopped all the same.
  explicit Profile(std::string_view mode = "interval", bool wait_until_completed = false);
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
};

/// Whether the device can write trace documents, and whether one is being written, whoever asked
/// for it. False without a device.
PEWTER_EXPORT bool is_metal_capture_enabled() noexcept;
PEWTER_EXPORT bool is_capturing_metal() noexcept;

/// Records the device's work into a trace document until the end of the scope. The file is in the
/// working directory, with the number of the attempt before its name: "0000-name.gputrace".
class PEWTER_EXPORT MetalCapture {
 public:
  /// Throws std::runtime_error, with the file's name and the reason, when it cannot be recorded.
  explicit MetalCapture(const std::string& name);
  /// As end(), but what failed is logged.
  ~MetalCapture();
  MetalCapture(const MetalCapture&) = delete;
  MetalCapture& operator=(const MetalCapture&) = delete;

  /// Waits for all submitted work and ends the recording; then throws what that work failed with.
  void end();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool ended_ = false;
};

/// The newest records, oldest first.
PEWTER_EXPORT std::vector<Record> log();
PEWTER_EXPORT void clear_log();

}  // namespace pewter::mps::profiler
