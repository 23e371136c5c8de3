#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/compiler/stdlib/accuracy/measurement.h"

namespace pewter::test {

/// What has been measured, kept in a JSON file after every function so that a sweep of hours can be
/// stopped and continued.
class Results {
 public:
  /// Reads the file when there is one; with an empty path nothing is kept. Throws
  /// std::runtime_error when the file is not such a file.
  explicit Results(std::string path);

  /// Whether the function was measured with that stride or a smaller one.
  bool has(const MathFunction& function, const FloatFormat& format, std::uint32_t stride) const;
  void put(const MathFunction& function,
           const FloatFormat& format,
           std::uint32_t stride,
           std::uint32_t mode_stride,
           const Measurement& measured,
           std::uint64_t mode_differences);
  bool are_right() const;

  /// Writes the tables as a page of docs/. Throws std::runtime_error when it cannot.
  void write_document(const std::string& path) const;

 private:
  struct Entry {
    Measurement measured;
    std::uint32_t stride = 1;
    std::uint32_t mode_stride = 1;
    std::uint64_t mode_differences = 0;
  };

  static std::string key(const MathFunction& function, const FloatFormat& format);
  void save() const;
  std::string table(const FloatFormat& format) const;

  std::string path_;
  std::map<std::string, Entry> entries_;
};

}  // namespace pewter::test
