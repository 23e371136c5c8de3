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

/// The newest records, oldest first.
PEWTER_EXPORT std::vector<Record> log();
PEWTER_EXPORT void clear_log();

}  // namespace pewter::mps::profiler
