#include "tests/support/log_capture.h"

#include <algorithm>

namespace pewter::test {

LogCapture::LogCapture() {
  // The logger calls its sink under its own lock, which also guards lines_.
  logging::set_sink([this](logging::Level, std::string_view area, const std::string& text) {
    lines_.push_back(std::string(area) + ": " + text);
  });
}

LogCapture::~LogCapture() {
  logging::set_sink({});
}

bool LogCapture::contains(const std::string& text) const {
  return std::any_of(lines_.begin(), lines_.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace pewter::test
