#include "pewter/base/cpu.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

namespace pewter::cpu {
namespace {

std::string read_brand() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) {
      const auto colon = line.find(':');
      return colon == std::string::npos ? "unknown" : line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string read_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  // The levels of the x86-64 psABI; v3 is the first with F16C, FMA and AVX2.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return "x86-64-v4";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return "x86-64-v3";
  }
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")) {
    return "x86-64-v2";
  }
  return "x86-64";
#else
  return "generic";
#endif
}

std::vector<std::string> read_features() {
  std::vector<std::string> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const auto note = [&](const char* name, int present) {
    if (present != 0) {
      found.emplace_back(name);
    }
  };
  note("sse4.2", __builtin_cpu_supports("sse4.2"));
  note("avx", __builtin_cpu_supports("avx"));
  note("avx2", __builtin_cpu_supports("avx2"));
  note("fma", __builtin_cpu_supports("fma"));
  note("bmi2", __builtin_cpu_supports("bmi2"));
  note("avx512f", __builtin_cpu_supports("avx512f"));
  note("avx512bw", __builtin_cpu_supports("avx512bw"));
  note("avx512vl", __builtin_cpu_supports("avx512vl"));
#endif
  return found;
}

std::uint64_t read_largest_cache() {
  constexpr std::uint64_t kUnknown = std::uint64_t{32} << 20;
  std::uint64_t largest = 0;
  for (int index = 0;; ++index) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    std::uint64_t size = 0;
    char unit = 0;
    if (!(file >> size)) {
      return largest != 0 ? largest : kUnknown;
    }
    file >> unit;
    largest = std::max(largest, unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size);
  }
}

}  // namespace

// Never destroyed: destructors of static objects may run kernels.
const std::string& brand() {
  static const std::string& value = *new std::string(read_brand());
  return value;
}

const std::string& level() {
  static const std::string& value = *new std::string(read_level());
  return value;
}

const std::vector<std::string>& features() {
  static const auto& value = *new std::vector<std::string>(read_features());
  return value;
}

std::uint64_t largest_cache_bytes() {
  static const std::uint64_t value = read_largest_cache();
  return value;
}

}  // namespace pewter::cpu
