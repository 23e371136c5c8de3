#include <pewter/mps_profiler.h>

#include <exception>
#include <utility>

#include "pewter/api/mps_device.h"
#include "pewter/base/log.h"
#include "pewter/runtime/capture.h"
#include "pewter/runtime/profiler.h"

namespace pewter::mps::profiler {
namespace {

RecordKind kind_of(runtime::TraceRecord::Kind kind) {
  switch (kind) {
    case runtime::TraceRecord::Kind::IntervalBegin:
      return RecordKind::IntervalBegin;
    case runtime::TraceRecord::Kind::IntervalEnd:
      return RecordKind::IntervalEnd;
    case runtime::TraceRecord::Kind::Event:
      break;
  }
  return RecordKind::Event;
}

}  // namespace

void start(std::string_view mode, bool wait_until_completed) {
  require_device("[mps::profiler]");
  runtime::Profiler::instance().start(mode, wait_until_completed);
}

void stop() noexcept {
  try {
    runtime::Profiler::instance().stop();
  } catch (const std::exception& error) {
    // The environment asks for a profiler that cannot be: there is none to stop.
    logging::detail("mps", "nothing to stop: {}", error.what());
  }
}

Profile::Profile(std::string_view mode, bool wait_until_completed) {
  try {
    start(mode, wait_until_completed);
  } catch (...) {
    stop();
    throw;
  }
}

Profile::~Profile() {
  stop();
}

bool is_metal_capture_enabled() noexcept {
  return runtime::capture_supported();
}

bool is_capturing_metal() noexcept {
  return runtime::capturing();
}

MetalCapture::MetalCapture(const std::string& name) {
  require_device("[mps::profiler]");
  path_ = runtime::numbered_trace_path(name);
  runtime::start_capture(path_, "[mps::profiler]");
}

MetalCapture::~MetalCapture() {
  try {
    end();
  } catch (const std::exception& error) {
    logging::warning("mps", "work in the capture '{}' failed: {}", path_, error.what());
  }
}

void MetalCapture::end() {
  if (!std::exchange(ended_, true)) {
    runtime::stop_capture();
  }
}

std::vector<Record> log() {
  std::vector<Record> records;
  for (const runtime::TraceRecord& record : runtime::Profiler::instance().log()) {
    records.push_back({kind_of(record.kind), record.name, record.id, record.run_count,
                       record.start_ms, record.end_ms, runtime::to_text(record)});
  }
  return records;
}

void clear_log() {
  runtime::Profiler::instance().clear_log();
}

}  // namespace pewter::mps::profiler
