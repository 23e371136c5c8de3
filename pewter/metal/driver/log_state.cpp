#include "pewter/metal/driver/log_state.h"

#include <fmt/format.h>
#include <Metal/MTLDevice.hpp>
#include <algorithm>
#include <cstring>

#include "pewter/base/log.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/log_format.h"
#include "pewter/metal/driver/ns_error.h"

namespace pewter::driver {
namespace {

constexpr NS::Integer kMinBufferSize = 1024;
constexpr NS::Integer kMaxBufferSize = NS::Integer{1} << 30;

logging::Level process_level(MTL::LogLevel level) {
  return level >= MTL::LogLevelError ? logging::Level::Error : logging::Level::Warning;
}

}  // namespace

void LogState::add_handler(MTL::LogHandlerFunction handler) {
  std::scoped_lock lock(mutex_);
  handlers_.push_back(std::move(handler));
}

void LogState::deliver(LogState* state, const std::vector<LogMessage>& messages) {
  std::vector<MTL::LogHandlerFunction> handlers;
  if (state != nullptr) {
    std::scoped_lock lock(state->mutex_);
    handlers = state->handlers_;
  }
  foundation::PoolScope pool;
  for (const LogMessage& message : messages) {
    if (handlers.empty()) {
      logging::write(process_level(message.level), "kernel", message.text);
      continue;
    }
    const auto subsystem = make_string(message.subsystem);
    const auto category = make_string(message.category);
    const auto text = make_string(message.text);
    for (const MTL::LogHandlerFunction& handler : handlers) {
      handler(handle(subsystem), handle(category), message.level, handle(text));
    }
  }
}

std::vector<LogMessage> read_messages(const abi::LogBuffer& buffer) {
  std::vector<LogMessage> messages;
  const auto* bytes = reinterpret_cast<const std::byte*>(&buffer + 1);
  const std::uint64_t end = std::min(buffer.used, buffer.capacity);
  std::uint64_t at = 0;
  while (at + sizeof(abi::LogRecord) <= end) {
    abi::LogRecord record;
    std::memcpy(&record, bytes + at, sizeof record);
    // A kernel that was stopped in the middle of a message leaves it, and what follows, unread.
    if (record.byte_count < sizeof record || record.byte_count > end - at) {
      break;
    }
    std::vector<std::uint64_t> words((record.byte_count - sizeof record) / sizeof(std::uint64_t));
    std::copy_n(bytes + at + sizeof record, words.size() * sizeof(std::uint64_t),
                reinterpret_cast<std::byte*>(words.data()));
    messages.push_back({record.subsystem, record.category, static_cast<MTL::LogLevel>(record.level),
                        format_message(record.format, words)});
    at += record.byte_count;
  }
  if (buffer.used > buffer.capacity) {
    logging::warning("metal", "messages of kernels took {} bytes, of which {} found room",
                     buffer.used, buffer.capacity);
  }
  return messages;
}

}  // namespace pewter::driver

namespace MTL {

NS::ErrorDomain const LogStateErrorDomain = MTLSTR("MTLLogStateErrorDomain");

}  // namespace MTL

namespace driver = pewter::driver;
using Descriptor = driver::LogStateDescriptor;
using driver::get;
using driver::handle;
using driver::impl;

MTL::LogState* MTL::Device::newLogState(const LogStateDescriptor* descriptor, NS::Error** error) {
  auto* given = impl<Descriptor>(descriptor);
  if (impl<driver::Device>(this) == nullptr || given == nullptr) {
    return nullptr;
  }
  const NS::Integer bytes = given->buffer_size != 0
                                ? given->buffer_size
                                : static_cast<NS::Integer>(driver::LogState::kDefaultBufferSize);
  if (bytes < driver::kMinBufferSize || bytes > driver::kMaxBufferSize) {
    driver::report(error, driver::log_state_error(
                              LogStateErrorInvalidSize,
                              fmt::format("log buffer of {} bytes, where {} to {} are possible",
                                          bytes, driver::kMinBufferSize, driver::kMaxBufferSize)));
    return nullptr;
  }
  return handle(driver::make<driver::LogState>(given->level, static_cast<std::uint64_t>(bytes)));
}

MTL::LogStateDescriptor* MTL::LogStateDescriptor::alloc() {
  return handle(driver::make<Descriptor>());
}

MTL::LogStateDescriptor* MTL::LogStateDescriptor::init() {
  return this;
}

MTL::LogLevel MTL::LogStateDescriptor::level() const {
  return get(this, &Descriptor::level);
}

void MTL::LogStateDescriptor::setLevel(MTL::LogLevel level) {
  driver::set(this, &Descriptor::level, level);
}

NS::Integer MTL::LogStateDescriptor::bufferSize() const {
  return get(this, &Descriptor::buffer_size);
}

void MTL::LogStateDescriptor::setBufferSize(NS::Integer bufferSize) {
  driver::set(this, &Descriptor::buffer_size, bufferSize);
}

void MTL::LogState::addLogHandler(const LogHandlerFunction& handler) {
  auto* self = impl<driver::LogState>(this);
  if (self != nullptr && handler) {
    self->add_handler(handler);
  }
}
