#include "tools/memory_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "tools/sizes.h"

namespace pewter::tools {
namespace {

constexpr const char* kActive = "█";
constexpr const char* kCached = "▒";
constexpr const char* kOther = "░";

struct Column {
  std::uint64_t active = 0;
  std::uint64_t cached = 0;
  std::uint64_t total = 0;
};

/// The sample with the largest total in each stretch; a stretch without samples repeats the last.
std::vector<Column> columns_of(const std::vector<MemorySample>& samples, std::size_t width) {
  std::vector<Column> columns(width);
  std::vector<bool> filled(width);
  const std::uint64_t end = std::max<std::uint64_t>(samples.back().milliseconds, 1);
  for (const MemorySample& sample : samples) {
    const auto place = std::min<std::size_t>(
        width - 1, static_cast<std::size_t>(sample.milliseconds * width / end));
    const std::uint64_t total = std::max(sample.driver_total, sample.active + sample.cached);
    if (!filled[place] || total > columns[place].total ||
        (total == columns[place].total && sample.active > columns[place].active)) {
      columns[place] = {sample.active, sample.cached, total};
      filled[place] = true;
    }
  }
  for (std::size_t i = 1; i < width; ++i) {
    if (!filled[i]) {
      columns[i] = columns[i - 1];
    }
  }
  return columns;
}

}  // namespace

std::string memory_chart(const std::vector<MemorySample>& samples,
                         std::size_t width,
                         std::size_t height) {
  if (samples.empty() || width == 0 || height == 0) {
    return "";
  }
  const std::vector<Column> columns = columns_of(samples, width);
  std::uint64_t top = 1;
  for (const Column& column : columns) {
    top = std::max(top, column.total);
  }
  // In the middle of a row, so that anything above half a row shows.
  const auto level = [&](std::size_t row) {
    return (static_cast<double>(row) + 0.5) * static_cast<double>(top) /
           static_cast<double>(height);
  };

  std::string text;
  for (std::size_t row = height; row-- > 0;) {
    const std::string label = row == height - 1 ? format_bytes(top) : "";
    text += fmt::format("{:>10} │", label);
    for (const Column& column : columns) {
      const double at = level(row);
      if (static_cast<double>(column.active) > at) {
        text += kActive;
      } else if (static_cast<double>(column.active + column.cached) > at) {
        text += kCached;
      } else {
        text += static_cast<double>(column.total) > at ? kOther : " ";
      }
    }
    text += '\n';
  }
  text += fmt::format("{:>10} └", 0);
  for (std::size_t i = 0; i < width; ++i) {
    text += "─";
  }
  const std::string end =
      fmt::format("{:.2f} s", static_cast<double>(samples.back().milliseconds) / 1000);
  text += fmt::format("\n{:>11} {:<{}}{}\n", "", "0 s", width > end.size() ? width - end.size() : 0,
                      end);
  text += fmt::format("{:>11} {} active  {} cached  {} other of the device\n", "", kActive, kCached,
                      kOther);
  return text;
}

std::string memory_summary(const std::vector<MemorySample>& samples) {
  MemorySample most;
  for (const MemorySample& sample : samples) {
    most.active = std::max(most.active, sample.active);
    most.cached = std::max(most.cached, sample.cached);
    most.peak = std::max(most.peak, sample.peak);
    most.driver_total = std::max(most.driver_total, sample.driver_total);
    most.resident = std::max(most.resident, sample.resident);
    most.cache_hits = std::max(most.cache_hits, sample.cache_hits);
    most.cache_misses = std::max(most.cache_misses, sample.cache_misses);
  }
  // The peak is the allocator's own, and exact; the others are the largest that were seen.
  return fmt::format(
      "peak active     {}\nmost cached     {}\nmost of device  {}\nmost resident   {}\nrequests    "
      "    {}, {} "
      "from the cache\n",
      format_bytes(std::max(most.peak, most.active)), format_bytes(most.cached),
      format_bytes(most.driver_total), format_bytes(most.resident),
      most.cache_hits + most.cache_misses, most.cache_hits);
}

std::string memory_json(const std::vector<MemorySample>& samples) {
  nlohmann::json list = nlohmann::json::array();
  for (const MemorySample& sample : samples) {
    list.push_back({{"milliseconds", sample.milliseconds},
                    {"active", sample.active},
                    {"cached", sample.cached},
                    {"peak", sample.peak},
                    {"driver_total", sample.driver_total},
                    {"resident", sample.resident},
                    {"cache_hits", sample.cache_hits},
                    {"cache_misses", sample.cache_misses}});
  }
  return list.dump() + "\n";
}

}  // namespace pewter::tools
