#pragma once

#include <string>
#include <vector>

#include "pewter/base/log.h"

namespace pewter::test {

/// Collects what the library logs, instead of standard error, until the end of the scope.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  /// Each line as "area: text". Read it when no other thread is logging.
  const std::vector<std::string>& lines() const { return lines_; }

  /// Whether some line contains `text`.
  bool contains(const std::string& text) const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace pewter::test
