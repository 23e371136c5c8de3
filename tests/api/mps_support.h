#pragma once

#include <pewter/mps.h>

#include <string>
#include <vector>

namespace pewter::test {

inline constexpr const char* kFull = R"(
kernel void full(device float* out, constant float& value, uint index [[thread_position_in_grid]]) {
  out[index] = value;
})";

/// Zeros on the device.
inline array zeros(std::size_t count) {
  return array(std::vector<float>(count, 0.0F));
}

/// The text of the exception that `action` throws; fails when it throws none or one of another
/// type.
template <typename Exception, typename Action>
std::string thrown_text(const Action& action) {
  try {
    action();
  } catch (const Exception& exception) {
    return exception.what();
  }
  return "nothing was thrown";
}

}  // namespace pewter::test
