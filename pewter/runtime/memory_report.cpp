#include "pewter/runtime/memory_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>

#include "pewter/runtime/allocator.h"
#include "pewter/runtime/size_text.h"
#include "pewter/runtime/stack_trace.h"
#include "pewter/runtime/system_memory.h"

namespace pewter::runtime {
namespace {

using Kind = AllocationRecord::Kind;

const char* name(Kind kind) {
  switch (kind) {
    case Kind::InUse:
      return "in use";
    case Kind::Cached:
      return "cached";
    case Kind::Adopted:
      return "adopted";
  }
  return "";
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      result += '\\';
      result += character;
    } else if (code < 0x20) {
      result += fmt::format("\\u{:04x}", code);
    } else {
      result += character;
    }
  }
  return result + '"';
}

std::string json_list(const std::vector<AllocationRecord>& records) {
  std::vector<std::string> items;
  for (const AllocationRecord& record : records) {
    std::vector<std::string> frames;
    for (const std::string& frame : record.stack) {
      frames.push_back(quoted(frame));
    }
    items.push_back(fmt::format(
        R"({{"kind":"{}","bytes":{},"requested":{},"address":"{}","label":{},"stack":[{}]}})",
        name(record.kind), record.bytes, record.requested, record.address, quoted(record.label),
        fmt::join(frames, ",")));
  }
  return fmt::format("[{}]", fmt::join(items, ","));
}

/// Lines for the records, the largest first.
std::string text_list(std::vector<AllocationRecord> records) {
  std::sort(records.begin(), records.end(), [](const auto& left, const auto& right) {
    return left.bytes != right.bytes ? left.bytes > right.bytes : left.label < right.label;
  });
  std::string text;
  for (const AllocationRecord& record : records) {
    text += fmt::format("  {:>13}  {:<7}  {}\n", size_text(record.bytes), name(record.kind),
                        record.label.empty() ? "(no label)" : record.label);
    for (const std::string& frame : record.stack) {
      text += fmt::format("                   {}\n", frame);
    }
  }
  return text;
}

}  // namespace

AllocationRecord describe(Block& block) {
  AllocationRecord record;
  switch (block.state.load(std::memory_order_relaxed)) {
    case BlockState::Active:
      record.kind = Kind::InUse;
      break;
    case BlockState::Cached:
      record.kind = Kind::Cached;
      break;
    case BlockState::Adopted:
      record.kind = Kind::Adopted;
      break;
  }
  record.bytes = block.length;
  record.requested = block.requested.load(std::memory_order_relaxed);
  record.address = block.contents;
  if (BlockDetails* details = block.details.load(std::memory_order_acquire)) {
    const std::scoped_lock lock(details->mutex);
    record.label = details->label;
    record.stack = describe_stack(details->stack);
  }
  return record;
}

MemorySnapshot memory_snapshot() {
  Allocator& memory = allocator();
  MemorySnapshot snapshot;
  snapshot.active = memory.active();
  snapshot.cached = memory.cached();
  snapshot.peak = memory.peak();
  snapshot.driver_total = memory.driver_total();
  memory.for_each_block([&](Block& block) { snapshot.allocations.push_back(describe(block)); });
  return snapshot;
}

MemoryReconciliation reconcile_memory() {
  MemoryReconciliation result;
  allocator().for_each_block([&](Block& block) {
    result.counted += block.length;
    result.touched += resident_part(block.contents, block.length);
  });
  result.resident = resident_memory();
  result.other = result.resident - std::min(result.resident, result.touched);
  return result;
}

std::string to_text(const MemorySnapshot& snapshot) {
  return fmt::format("active {}, cached {}, peak {}, driver total {}; {} buffers\n{}",
                     size_text(snapshot.active), size_text(snapshot.cached),
                     size_text(snapshot.peak), size_text(snapshot.driver_total),
                     snapshot.allocations.size(), text_list(snapshot.allocations));
}

std::string to_json(const MemorySnapshot& snapshot) {
  return fmt::format(R"({{"active":{},"cached":{},"peak":{},"driver_total":{},"allocations":{}}})",
                     snapshot.active, snapshot.cached, snapshot.peak, snapshot.driver_total,
                     json_list(snapshot.allocations));
}

std::string to_text(const MemoryScopeReport& report) {
  return fmt::format(
      "{}: peak {} ({} above the start), active {} -> {}, {} requests of {} ({} from the cache), "
      "{} leaked in {} buffers\n{}",
      report.name.empty() ? "memory scope" : report.name, size_text(report.peak),
      size_text(report.peak - report.active_at_start), size_text(report.active_at_start),
      size_text(report.active_at_end), report.cache_hits + report.cache_misses,
      size_text(report.allocated), report.cache_hits, size_text(report.leaked), report.leaks.size(),
      text_list(report.leaks));
}

std::string to_json(const MemoryScopeReport& report) {
  return fmt::format(
      R"({{"name":{},"active_at_start":{},"active_at_end":{},"peak":{},"cache_hits":{},)"
      R"("cache_misses":{},"allocated":{},"leaked":{},"leaks":{}}})",
      quoted(report.name), report.active_at_start, report.active_at_end, report.peak,
      report.cache_hits, report.cache_misses, report.allocated, report.leaked,
      json_list(report.leaks));
}

}  // namespace pewter::runtime
