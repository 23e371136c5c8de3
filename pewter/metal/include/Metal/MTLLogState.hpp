#pragma once

#include <Foundation/Foundation.hpp>
#include <functional>

#include "MTLDefines.hpp"

namespace MTL {

_MTL_ENUM(NS::Integer, LogLevel){
    LogLevelUndefined = 0, LogLevelDebug = 1, LogLevelInfo = 2,
    LogLevelNotice = 3,    LogLevelError = 4, LogLevelFault = 5,
};

_MTL_ENUM(NS::UInteger, LogStateError){
    LogStateErrorInvalidSize = 1,
    LogStateErrorInvalid = 2,
};

_MTL_CONST(NS::ErrorDomain, LogStateErrorDomain);

using LogHandlerFunction = std::function<void(
    NS::String* subsystem, NS::String* category, MTL::LogLevel logLevel, NS::String* message)>;

class _MTL_EXPORT LogStateDescriptor : public NS::Copying<LogStateDescriptor> {
 public:
  static LogStateDescriptor* alloc();
  LogStateDescriptor* init();

  /// Messages below it are left out.
  MTL::LogLevel level() const;
  void setLevel(MTL::LogLevel level);

  /// Bytes for the messages of one command buffer; those that find no room are lost.
  NS::Integer bufferSize() const;
  void setBufferSize(NS::Integer bufferSize);
};

/// Takes the messages that kernels write with os_log.
class _MTL_EXPORT LogState : public NS::Referencing<LogState> {
 public:
  /// Handlers run on a thread of the driver, when the command buffer has ended and before its own
  /// handlers. Without any, messages go to the log of the process.
  void addLogHandler(const LogHandlerFunction& handler);
};

}  // namespace MTL
