#include "pewter/runtime/profiler.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "pewter/base/environment.h"
#include "pewter/runtime/device.h"

namespace pewter::runtime {
namespace {

// A long run keeps its newest records.
constexpr std::size_t kMaxRecords = 1U << 16;

// PYTORCH_MPS_LOG_PROFILE_INFO
constexpr std::uint64_t kLogOperations = 1;
constexpr std::uint64_t kAllStatistics = 8;
constexpr std::uint64_t kOperationStatistics = 16;
constexpr std::uint64_t kGpuTime = 128;
constexpr std::uint64_t kSchedulingTime = 256;
constexpr std::uint64_t kMaxInfoBits = 1023;

// PYTORCH_MPS_TRACE_SIGNPOSTS
constexpr std::uint64_t kAllEvents = 1;
constexpr std::uint64_t kAllIntervals = 2;
constexpr std::uint64_t kWait = 4;
constexpr std::uint64_t kIncludeScheduling = 8;
constexpr std::uint64_t kIntervals = 16;
constexpr std::uint64_t kEvents = 32;
constexpr std::uint64_t kTraceOperations = 1U << 16;
constexpr std::uint64_t kMaxTraceBits = (1U << 19) - 1;
constexpr std::uint64_t kMaxTraceOptions = 63;

// Decimal, octal or hexadecimal, as the prefix says.
std::uint64_t bit_mask(const char* name, std::uint64_t limit) {
  const auto text = environment::text(name);
  if (!text) {
    return 0;
  }
  char* end = nullptr;
  const std::uint64_t bits = std::strtoull(text->c_str(), &end, 0);
  if (*end != '\0' || text->front() == '-' || bits > limit) {
    throw std::runtime_error(fmt::format("[mps::profiler] {}={} is not a whole number from 0 to {}",
                                         name, *text, limit));
  }
  return bits;
}

double now_ms() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The words of a list, in lower case and without blanks.
std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> found(1);
  for (const char character : list) {
    if (character == ',') {
      found.emplace_back();
    } else if (std::isspace(static_cast<unsigned char>(character)) == 0) {
      found.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
    }
  }
  std::erase(found, std::string());
  return found;
}

}  // namespace

std::string to_text(const TraceRecord& record) {
  std::string operation =
      fmt::format("{} (id={}, run={})", record.name, record.id, record.run_count);
  switch (record.kind) {
    case TraceRecord::Kind::IntervalBegin:
      return fmt::format("begin {} at {:.3f} ms", operation, record.start_ms);
    case TraceRecord::Kind::IntervalEnd:
      return fmt::format("end {} after {:.3f} ms", operation, record.end_ms - record.start_ms);
    case TraceRecord::Kind::Event:
      return fmt::format("{} gpu={:.3f} ms", operation, record.end_ms - record.start_ms);
  }
  return operation;
}

Profiler& Profiler::instance() {
  // Never destroyed: tasks may complete after main.
  static auto* const instance = new Profiler;
  return *instance;
}

Profiler::Profiler() {
  read_environment();
  update_watching();
}

void Profiler::read_environment() {
  info_bits_ = bit_mask("PYTORCH_MPS_LOG_PROFILE_INFO", kMaxInfoBits);
  if ((info_bits_ & (kAllStatistics | kOperationStatistics)) != 0) {
    std::atexit([] { instance().print_statistics(); });
  }

  const std::uint64_t trace = bit_mask("PYTORCH_MPS_TRACE_SIGNPOSTS", kMaxTraceBits);
  if ((trace & 0xffffU) > kMaxTraceOptions) {
    throw std::runtime_error(
        fmt::format("[mps::profiler] PYTORCH_MPS_TRACE_SIGNPOSTS={:#x}: the options in the low 16 "
                    "bits are at most {}",
                    trace, kMaxTraceOptions));
  }
  const bool operations = (trace & kTraceOperations) != 0;
  settings_.intervals = (trace & kAllIntervals) != 0 || (operations && (trace & kIntervals) != 0);
  settings_.events = (trace & kAllEvents) != 0 || (operations && (trace & kEvents) != 0);
  settings_.wait = (trace & kWait) != 0;
  settings_.include_scheduling = (trace & kIncludeScheduling) != 0;
}

void Profiler::start(std::string_view mode, bool wait_until_completed) {
  Settings wanted;
  wanted.wait = wait_until_completed;
  for (const std::string& word : words(mode)) {
    if (word == "interval") {
      wanted.intervals = true;
    } else if (word == "event") {
      wanted.events = true;
    } else {
      throw std::runtime_error(
          fmt::format("[mps::profiler] unknown mode '{}'; use interval, event or both", word));
    }
  }

  const std::scoped_lock lock(mutex_);
  if (settings_.intervals || settings_.events) {
    throw std::runtime_error("[mps::profiler] tracing has been started already; stop it first");
  }
  settings_ = wanted;
  update_watching();
}

void Profiler::stop() noexcept {
  if (in_bad_fork()) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  settings_ = {};
  update_watching();
}

bool Profiler::is_tracing() const {
  const std::scoped_lock lock(mutex_);
  return settings_.intervals || settings_.events;
}

void Profiler::update_watching() {
  constexpr std::uint64_t kWatching = kLogOperations | kAllStatistics | kOperationStatistics;
  is_watching_ = settings_.intervals || settings_.events || (info_bits_ & kWatching) != 0;
}

void Profiler::observe(Stream& stream,
                       std::uint64_t number,
                       const std::string& name,
                       const std::function<void()>& encode) {
  TraceRecord record;
  record.name = name;
  record.id = fmt::format("K{}", number);
  Settings settings;
  {
    const std::scoped_lock lock(mutex_);
    record.run_count = ++run_counts_[number];
    settings = settings_;
  }

  // The times of a command buffer are those of the operation when it holds nothing else.
  stream.commit();
  record.start_ms = now_ms();
  record.end_ms = record.start_ms;
  if (settings.intervals) {
    record.kind = TraceRecord::Kind::IntervalBegin;
    add(record);
  }
  encode();
  const auto command_buffer = NS::RetainPtr(stream.command_buffer());
  stream.on_completion([this, record, settings, number, command_buffer] {
    completed(record, settings, number, *command_buffer.get());
  });
  const std::uint64_t task = stream.open_task();
  stream.commit();
  if (settings.wait) {
    stream.wait_on_host(task);
  }
}

void Profiler::completed(TraceRecord record,
                         const Settings& settings,
                         std::uint64_t number,
                         const MTL::CommandBuffer& command_buffer) {
  constexpr double kPerSecond = 1000;
  const double gpu_start = command_buffer.GPUStartTime() * kPerSecond;
  const double gpu_end = command_buffer.GPUEndTime() * kPerSecond;
  const double scheduling =
      (command_buffer.kernelEndTime() - command_buffer.kernelStartTime()) * kPerSecond;

  if (settings.intervals) {
    record.kind = TraceRecord::Kind::IntervalEnd;
    record.end_ms = now_ms();
    if (!settings.include_scheduling) {
      record.start_ms = gpu_start;
      record.end_ms = gpu_end;
    }
    add(record);
  }
  record.kind = TraceRecord::Kind::Event;
  record.start_ms = gpu_start;
  record.end_ms = gpu_end;
  if (settings.events) {
    add(record);
  }
  if ((info_bits_ & kLogOperations) != 0) {
    std::string line = fmt::format("{} (id={}, run={})", record.name, record.id, record.run_count);
    if ((info_bits_ & kGpuTime) != 0) {
      line += fmt::format(" gpu={:.3f} ms", gpu_end - gpu_start);
    }
    if ((info_bits_ & kSchedulingTime) != 0) {
      line += fmt::format(" scheduling={:.3f} ms", scheduling);
    }
    fmt::print(stderr, "{}\n", line);
  }

  const std::scoped_lock lock(mutex_);
  Statistics& statistics = statistics_[number];
  statistics.name = record.name;
  ++statistics.runs;
  statistics.gpu_ms += gpu_end - gpu_start;
  statistics.scheduling_ms += scheduling;
}

void Profiler::add(TraceRecord record) {
  const std::scoped_lock lock(mutex_);
  if (log_.size() == kMaxRecords) {
    log_.pop_front();
  }
  log_.push_back(std::move(record));
}

std::vector<TraceRecord> Profiler::log() const {
  const std::scoped_lock lock(mutex_);
  return {log_.begin(), log_.end()};
}

void Profiler::clear_log() {
  const std::scoped_lock lock(mutex_);
  log_.clear();
}

void Profiler::print_statistics() const {
  // They are the parent's.
  if (in_bad_fork()) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  for (const auto& [number, statistics] : statistics_) {
    fmt::print(stderr, "K{} {}: runs={} mean gpu={:.3f} ms mean scheduling={:.3f} ms\n", number,
               statistics.name, statistics.runs,
               statistics.gpu_ms / static_cast<double>(statistics.runs),
               statistics.scheduling_ms / static_cast<double>(statistics.runs));
  }
}

}  // namespace pewter::runtime
