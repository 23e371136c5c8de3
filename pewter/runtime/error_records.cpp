#include "pewter/runtime/error_records.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include "pewter/runtime/device.h"

namespace pewter::runtime {
namespace {

// As shader_headers/pewter/mps/error.h has it.
constexpr std::uint32_t kMaxRecords = 30;

struct Record {
  char file[128];
  char function[128];
  char message[250];
  std::uint32_t line;
};
static_assert(sizeof(Record) == 512);

struct Records {
  std::uint32_t count;
  Record records[kMaxRecords];
};
static_assert(offsetof(Records, records) == 4);

template <std::size_t kLength>
std::string text(const char (&characters)[kLength]) {
  return {characters, strnlen(characters, kLength)};
}

std::string described(const Records& reported) {
  std::string message = fmt::format("[mps::synchronize] kernels reported {} error{}",
                                    reported.count, reported.count == 1 ? "" : "s");
  const std::uint32_t kept = std::min(reported.count, kMaxRecords);
  for (std::uint32_t i = 0; i < kept; ++i) {
    const Record& record = reported.records[i];
    message += fmt::format("\n{}:{}: in {}: {}", text(record.file), record.line,
                           text(record.function), text(record.message));
  }
  if (reported.count > kept) {
    message += fmt::format("\nand {} more without a record", reported.count - kept);
  }
  return message;
}

}  // namespace

ErrorRecords& ErrorRecords::instance() {
  // Never destroyed: tasks may complete after main.
  static auto* const instance = new ErrorRecords;
  return *instance;
}

NS::SharedPtr<MTL::Buffer> ErrorRecords::for_open_task(Stream& stream) {
  const std::uint64_t task = stream.open_task();
  NS::SharedPtr<MTL::Buffer> buffer;
  {
    const std::scoped_lock lock(mutex_);
    const auto known = open_.find(&stream);
    if (known != open_.end() && known->second.task == task) {
      return known->second.buffer;
    }
    buffer = take();
    open_[&stream] = {task, buffer};
  }
  stream.on_completion([this, key = &stream, outcome = stream.open_outcome(), task, buffer] {
    completed(key, *outcome, task, buffer);
  });
  return buffer;
}

NS::SharedPtr<MTL::Buffer> ErrorRecords::take() {
  if (!free_.empty()) {
    auto buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  auto buffer =
      NS::TransferPtr(device()->newBuffer(sizeof(Records), MTL::ResourceStorageModeShared));
  if (!buffer) {
    throw std::runtime_error("[mps::compile_shader] the device has no room for an error buffer");
  }
  std::memset(buffer->contents(), 0, sizeof(Records));
  return buffer;
}

void ErrorRecords::completed(Stream* key,
                             Outcome& outcome,
                             std::uint64_t task,
                             const NS::SharedPtr<MTL::Buffer>& buffer) {
  auto& records = *static_cast<Records*>(buffer->contents());
  if (records.count > 0) {
    outcome.fail(described(records));
    records.count = 0;
  }
  const std::scoped_lock lock(mutex_);
  if (const auto known = open_.find(key); known != open_.end() && known->second.task == task) {
    open_.erase(known);
  }
  free_.push_back(buffer);
}

}  // namespace pewter::runtime
