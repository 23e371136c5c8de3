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

/// A shader's text that does not compile. The message has every error that the compiler found, each
/// as `program_source:LINE:COLUMN: error: ...`.
class PEWTER_EXPORT ShaderSyntaxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that cannot be read or written, or does not hold what it should. The message begins with
/// the file's name.
class PEWTER_EXPORT FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A value of a type that the call does not take, found while running.
class PEWTER_EXPORT TypeError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace pewter
