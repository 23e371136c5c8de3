#pragma once

#include <pewter/array.h>
#include <pewter/host_array.h>

#include <exception>
#include <numeric>
#include <string>
#include <vector>

namespace pewter::test {

/// 0, 1, 2 ...
template <typename T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T(0));
  return values;
}

/// The text of the Exception that `action` throws, or why there is none.
template <typename Exception, typename Action>
std::string text_of(const Action& action) {
  try {
    action();
  } catch (const Exception& exception) {
    return exception.what();
  } catch (const std::exception& exception) {
    return std::string("another exception: ") + exception.what();
  }
  return "nothing was thrown";
}

/// Whether `action` throws an Exception that has a Cause nested in it.
template <typename Exception, typename Cause, typename Action>
bool throws_because_of(const Action& action) {
  try {
    action();
  } catch (const Exception& exception) {
    try {
      std::rethrow_if_nested(exception);
    } catch (const Cause&) {
      return true;
    } catch (...) {
      return false;
    }
  } catch (...) {
    return false;
  }
  return false;
}

}  // namespace pewter::test
