#pragma once

#include <map>
#include <string>

namespace pewter::test {

/// What a part of a probe program printed: name and value of each line. Fails the test when the
/// program does not end well.
std::map<std::string, std::string> probe(
    const std::string& program,
    const std::string& part,
    const std::map<std::string, std::string>& environment = {});

/// Whether `text` contains `part`.
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace pewter::test
