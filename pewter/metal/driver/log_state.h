#pragma once

#include <Metal/MTLLogState.hpp>
#include <mutex>
#include <string>
#include <vector>

#include "pewter/base/log_abi.h"
#include "pewter/metal/driver/body.h"

namespace pewter::driver {

/// The body of MTL::LogStateDescriptor.
class LogStateDescriptor final : public Object {
 public:
  using Public = MTL::LogStateDescriptor;
  static constexpr ClassInfo kClass{"MTL::LogStateDescriptor", &Object::kClass};

  LogStateDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<LogStateDescriptor>(*this); }

  MTL::LogLevel level = MTL::LogLevelUndefined;
  NS::Integer buffer_size = 0;
};

/// A message of a kernel, ready to be read.
struct LogMessage {
  std::string subsystem;
  std::string category;
  MTL::LogLevel level = MTL::LogLevelNotice;
  std::string text;
};

/// The body of MTL::LogState. Safe to use from any thread.
class LogState final : public Object {
 public:
  using Public = MTL::LogState;
  static constexpr ClassInfo kClass{"MTL::LogState", &Object::kClass};
  static constexpr std::uint64_t kDefaultBufferSize = std::uint64_t{1} << 20;

  LogState(MTL::LogLevel lowest_level, std::uint64_t bytes)
      : Object(kClass), level(lowest_level), buffer_size(bytes) {}

  void add_handler(MTL::LogHandlerFunction handler);

  /// Gives messages to the handlers of `state`; to the log of the process when there are none.
  static void deliver(LogState* state, const std::vector<LogMessage>& messages);

  const MTL::LogLevel level;
  const std::uint64_t buffer_size;

 private:
  std::mutex mutex_;  // guards the members below
  std::vector<MTL::LogHandlerFunction> handlers_;
};

/// The messages that kernels have written, in order. Notes in the log how many bytes found no room.
std::vector<LogMessage> read_messages(const abi::LogBuffer& buffer);

}  // namespace pewter::driver
