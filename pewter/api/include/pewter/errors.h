#pragma once

#include <pewter/export.h>

#include <stdexcept>

/// What pewter throws beside std::invalid_argument (a value that makes no sense) and
/// std::runtime_error (device, allocation, compile and execution failures).
namespace pewter {

/// An allocation that a limit or the machine refuses. Every counter is as it was before the call.
class PEWTER_EXPORT OutOfMemoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace pewter
