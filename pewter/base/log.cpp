#include "pewter/base/log.h"

#include <cstdio>
#include <mutex>

#include "pewter/base/environment.h"

namespace pewter::logging {
namespace {

struct Logger {
  // Read once: a program that changes its own environment later is not followed.
  const std::string areas = environment::text("PEWTER_LOG").value_or("");

  std::mutex mutex;  // guards sink and the order of lines
  std::function<void(Level, std::string_view, const std::string&)> sink;
};

// Never destroyed, so that threads which outlive main can still log.
Logger& logger() {
  static auto* instance = new Logger;
  return *instance;
}

const char* label(Level level) {
  switch (level) {
    case Level::Detail:
      return "";
    case Level::Warning:
      return "warning: ";
    case Level::Error:
      return "error: ";
  }
  return "";
}

}  // namespace

bool wanted(std::string_view area) {
  const std::string& areas = logger().areas;
  if (areas.empty()) {
    return false;
  }
  if (areas == "all") {
    return true;
  }
  return ("," + areas + ",").find("," + std::string(area) + ",") != std::string::npos;
}

void write(Level level, std::string_view area, const std::string& text) {
  Logger& target = logger();
  std::scoped_lock lock(target.mutex);
  if (target.sink) {
    target.sink(level, area, text);
    return;
  }
  const std::string line = fmt::format("pewter[{}]: {}{}\n", area, label(level), text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void set_sink(std::function<void(Level, std::string_view, const std::string&)> sink) {
  Logger& target = logger();
  std::scoped_lock lock(target.mutex);
  target.sink = std::move(sink);
}

}  // namespace pewter::logging
