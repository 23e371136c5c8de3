#pragma once

#include <exception>
#include <string>

namespace pewter::backend {

/// What an exception says; "an unknown exception" for one that is not of the standard's.
std::string exception_text(const std::exception_ptr& exception);

/// Throws `exception` with `cause` nested in it, where std::rethrow_if_nested() finds it.
template <typename Exception>
[[noreturn]] void throw_with_cause(const Exception& exception, const std::exception_ptr& cause) {
  if (!cause) {
    throw exception;
  }
  try {
    std::rethrow_exception(cause);
  } catch (...) {
    std::throw_with_nested(exception);
  }
}

}  // namespace pewter::backend
