#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "pewter/runtime/stream.h"

namespace pewter::runtime {

/// One line of the profiler's log. Times are milliseconds of a clock that never goes back.
struct TraceRecord {
  enum class Kind : std::uint8_t { IntervalBegin, IntervalEnd, Event };

  Kind kind = Kind::Event;
  /// The operation with the arrays it was given.
  std::string name;
  /// "K" and a number for a kernel, "G" and a number for a graph.
  std::string id;
  /// How often the operation has run, this time included.
  std::uint64_t run_count = 0;
  double start_ms = 0;
  /// For IntervalBegin the same as `start_ms`.
  double end_ms = 0;
};

/// The record as a person reads it.
std::string to_text(const TraceRecord& record);

/// Watches operations of the `mps` front door. Safe to use from any thread.
class Profiler {
 public:
  /// Throws std::runtime_error when PYTORCH_MPS_LOG_PROFILE_INFO or PYTORCH_MPS_TRACE_SIGNPOSTS
  /// make no sense.
  static Profiler& instance();

  /// `mode` is a list of "interval" and "event", separated by commas. Throws std::runtime_error for
  /// another word, and while tracing; then nothing changes.
  void start(std::string_view mode, bool wait_until_completed);
  void stop() noexcept;
  bool is_tracing() const;

  /// Whether operations have to go through observe().
  bool is_watching() const { return is_watching_.load(std::memory_order_relaxed); }
  /// Runs `encode` as a task of its own on `stream`, and records it.
  void observe(Stream& stream,
               std::uint64_t number,
               const std::string& name,
               const std::function<void()>& encode);

  /// The newest records, oldest first.
  std::vector<TraceRecord> log() const;
  void clear_log();

 private:
  struct Settings {
    bool intervals = false;
    bool events = false;
    bool wait = false;
    bool include_scheduling = false;
  };
  struct Statistics {
    std::string name;
    std::uint64_t runs = 0;
    double gpu_ms = 0;
    double scheduling_ms = 0;
  };

  Profiler();
  void read_environment();
  void completed(TraceRecord record,
                 const Settings& settings,
                 std::uint64_t number,
                 const MTL::CommandBuffer& command_buffer);
  void add(TraceRecord record);
  void update_watching();
  void print_statistics() const;

  std::uint64_t info_bits_ = 0;
  std::atomic<bool> is_watching_ = false;

  mutable std::mutex mutex_;  // guards the members below
  Settings settings_;
  std::map<std::uint64_t, std::uint64_t> run_counts_;
  std::map<std::uint64_t, Statistics> statistics_;
  std::deque<TraceRecord> log_;
};

}  // namespace pewter::runtime
