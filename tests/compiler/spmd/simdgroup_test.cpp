#include <bit>
#include <functional>
#include <optional>

#include "tests/compiler/spmd/shared_code.h"

// Cross-lane operations when some lanes are elsewhere, have returned or do not exist.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::size;
using test::uint;

/// The lanes of one simdgroup or quadgroup at an operation.
struct Lanes {
  std::vector<uint> values;
  std::vector<bool> active;
  uint own = 0;

  uint width() const { return static_cast<uint>(values.size()); }
  bool is_active(uint lane) const { return lane < width() && active[lane]; }
  uint first() const {
    uint lane = 0;
    while (!active[lane]) {
      ++lane;
    }
    return lane;
  }
  uint reduce(uint start, const std::function<uint(uint, uint)>& combine) const {
    return scan(width(), start, combine);
  }
  /// Over the active lanes before `end`.
  uint scan(uint end, uint start, const std::function<uint(uint, uint)>& combine) const {
    for (uint lane = 0; lane < end; ++lane) {
      start = active[lane] ? combine(start, values[lane]) : start;
    }
    return start;
  }
  /// The value of another lane; nothing, so that anything goes, when it is not there.
  std::optional<uint> from(uint lane) const {
    return is_active(lane) ? std::optional(values[lane]) : std::nullopt;
  }
};

struct Operation {
  /// In MSL, with '@' for simd or quad, x for the value and lane for the index within the group.
  const char* expression;
  std::function<std::optional<uint>(const Lanes&)> expected;
};

uint add(uint a, uint b) {
  return a + b;
}
uint multiply(uint a, uint b) {
  return a * b;
}

const std::vector<Operation>& operations() {
  static const std::vector<Operation> table = {
      {"@_sum(x)", [](const Lanes& l) { return l.reduce(0, add); }},
      {"@_product(x)", [](const Lanes& l) { return l.reduce(1, multiply); }},
      {"@_min(x)",
       [](const Lanes& l) { return l.reduce(~0U, [](uint a, uint b) { return std::min(a, b); }); }},
      {"@_max(x)",
       [](const Lanes& l) { return l.reduce(0, [](uint a, uint b) { return std::max(a, b); }); }},
      {"@_and(x)",
       [](const Lanes& l) { return l.reduce(~0U, [](uint a, uint b) { return a & b; }); }},
      {"@_or(x)", [](const Lanes& l) { return l.reduce(0, [](uint a, uint b) { return a | b; }); }},
      {"@_xor(x)",
       [](const Lanes& l) { return l.reduce(0, [](uint a, uint b) { return a ^ b; }); }},
      {"@_prefix_inclusive_sum(x)", [](const Lanes& l) { return l.scan(l.own + 1, 0, add); }},
      {"@_prefix_exclusive_sum(x)", [](const Lanes& l) { return l.scan(l.own, 0, add); }},
      {"@_prefix_inclusive_product(x)",
       [](const Lanes& l) { return l.scan(l.own + 1, 1, multiply); }},
      {"@_prefix_exclusive_product(x)", [](const Lanes& l) { return l.scan(l.own, 1, multiply); }},
      {"@_broadcast_first(x)", [](const Lanes& l) { return l.values[l.first()]; }},
      {"uint(@_is_first())", [](const Lanes& l) { return l.own == l.first() ? 1U : 0U; }},
      {"uint(@_all(x > 100u))",
       [](const Lanes& l) {
         return l.reduce(1, [](uint a, uint b) { return a & (b > 100 ? 1U : 0U); });
       }},
      {"uint(@_any(x > 4000000000u))",
       [](const Lanes& l) {
         return l.reduce(0, [](uint a, uint b) { return a | (b > 4000000000U ? 1U : 0U); });
       }},
      {"@_broadcast(x, ushort(2))", [](const Lanes& l) { return l.from(2); }},
      {"@_shuffle(x, ushort((lane * 3u + 1u) % W))",
       [](const Lanes& l) { return l.from((l.own * 3 + 1) % l.width()); }},
      {"@_shuffle_xor(x, ushort(3))", [](const Lanes& l) { return l.from(l.own ^ 3); }},
      {"@_shuffle_up(x, ushort(1))", [](const Lanes& l) { return l.from(l.own - 1); }},
      {"@_shuffle_down(x, ushort(2))", [](const Lanes& l) { return l.from(l.own + 2); }},
      {"@_shuffle_rotate_up(x, ushort(3))",
       [](const Lanes& l) { return l.from((l.own + l.width() - 3) % l.width()); }},
      {"@_shuffle_rotate_down(x, ushort(1))",
       [](const Lanes& l) { return l.from((l.own + 1) % l.width()); }},
      {"@_shuffle_and_fill_up(x, x, ushort(2))",
       [](const Lanes& l) { return l.from((l.own + l.width() - 2) % l.width()); }},
      {"@_shuffle_and_fill_down(x, x, ushort(1))",
       [](const Lanes& l) { return l.from((l.own + 1) % l.width()); }},
      {"uint(ulong(@_min(ulong(x) << 20)) >> 20)",
       [](const Lanes& l) { return l.reduce(~0U, [](uint a, uint b) { return std::min(a, b); }); }},
      {"uint(@_max(short(x)))",
       [](const Lanes& l) {
         return l.reduce(static_cast<uint>(-32768), [](uint a, uint b) {
           return static_cast<uint>(
               std::max(static_cast<std::int16_t>(a), static_cast<std::int16_t>(b)));
         });
       }},
      {"uint(@_sum(float(x & 1023u)))",
       [](const Lanes& l) { return l.reduce(0, [](uint a, uint b) { return a + (b & 1023); }); }},
      {"uint(@_sum(half(x & 31u)))",
       [](const Lanes& l) { return l.reduce(0, [](uint a, uint b) { return a + (b & 31); }); }},
      {"@_sum(uint2(x, 1u)).y",
       [](const Lanes& l) { return l.reduce(0, [](uint a, uint) { return a + 1; }); }},
  };
  return table;
}

struct Condition {
  const char* text;
  bool (*holds)(uint lane, uint x);
};

const Condition kConditions[] = {
    {"true", [](uint, uint) { return true; }},
    {"(lane & 1u) != 0u", [](uint lane, uint) { return (lane & 1) != 0; }},
    {"lane < 10u", [](uint lane, uint) { return lane < 10; }},
    {"(x & 4u) != 0u", [](uint, uint x) { return (x & 4) != 0; }},
    {"lane == 17u", [](uint lane, uint) { return lane == 17; }},
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// The lanes of the group of `width` that `thread` belongs to.
Lanes lanes_of(const std::vector<uint>& in,
               std::size_t thread,
               std::size_t group,
               uint width,
               const Condition& condition) {
  const std::size_t group_start = thread / group * group;
  const std::size_t start = group_start + (thread - group_start) / width * width;
  const std::size_t end = std::min(group_start + group, in.size());
  Lanes lanes;
  lanes.own = static_cast<uint>(thread - start);
  for (std::size_t i = start; i < start + width; ++i) {
    const bool exists = i < end;
    const auto lane = static_cast<uint>((i - group_start) % 32);
    lanes.values.push_back(exists ? in[i] : 0);
    lanes.active.push_back(exists && condition.holds(lane, in[i]));
  }
  return lanes;
}

/// Runs every operation under a condition on `count` threads and compares with the model.
void check_operations(const std::string& group_name,
                      uint width,
                      const Condition& condition,
                      std::size_t count,
                      std::size_t group) {
  const Gpu gpu;
  std::string source = kHead + "constant constexpr uint W = " + std::to_string(width) + "u;\n" +
                       "kernel void f(device const uint* in [[buffer(0)]],\n"
                       "  device uint* out [[buffer(1)]], uint i [[thread_position_in_grid]],\n"
                       "  uint n [[threads_per_grid]], uint lane [[thread_index_in_simdgroup]]) {\n"
                       "  uint x = in[i];\n  if (" +
                       condition.text + ") {\n";
  const auto& table = operations();
  for (std::size_t row = 0; row < table.size(); ++row) {
    source += "    out[" + std::to_string(row) +
              "u * n + i] = " + replaced(table[row].expression, "@", group_name) + ";\n";
  }
  source += "  }\n  out[" + std::to_string(table.size()) + "u * n + i] = simd_sum(1u);\n}\n";
  const std::vector<uint> in = test::noise(count);
  std::vector<uint> out((table.size() + 1) * count, 4711);

  gpu.run(source, "f", {.grid = size(count), .group = size(group)}, in, out);

  for (std::size_t i = 0; i < count; ++i) {
    const Lanes lanes = lanes_of(in, i, group, width, condition);
    for (std::size_t row = 0; row < table.size(); ++row) {
      const uint got = out[row * count + i];
      const std::optional<uint> wanted =
          lanes.active[lanes.own] ? table[row].expected(lanes) : std::optional(4711U);
      REQUIRE_MESSAGE(got == wanted.value_or(got), group_name, ": ",
                      std::string(table[row].expression), " where ", std::string(condition.text),
                      ", thread ", i, " of ", count, ", groups of ", group);
    }
    const Lanes all = lanes_of(in, i, group, 32, kConditions[0]);
    REQUIRE(out[table.size() * count + i] ==
            static_cast<uint>(std::count(all.active.begin(), all.active.end(), true)));
  }
}

}  // namespace

TEST_CASE("simdgroup operations see the active lanes and no others") {
  for (const Condition& condition : kConditions) {
    check_operations("simd", 32, condition, 100, 48);
    check_operations("simd", 32, condition, 1025, 1024);
    check_operations("simd", 32, condition, 128, 64);
  }
}

TEST_CASE("quadgroup operations see the active lanes and no others") {
  for (const Condition& condition : kConditions) {
    check_operations("quad", 4, condition, 102, 48);
    check_operations("quad", 4, condition, 256, 256);
  }
}

TEST_CASE("votes name the lanes that take part, round by round of a divergent loop") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      uint x = in[i];
      uint hash = 0;
      for (uint round = 0; round < (x & 7u); ++round) {
        if ((x >> (round + 3u) & 1u) != 0u) continue;
        hash = hash * 31u + uint((ulong)simd_ballot((x & 64u) != 0u));
        hash += uint((ulong)simd_active_threads_mask()) * 7u;
        if (round == 4u && (x & 128u) != 0u) break;
      }
      out[i] = hash + 3u * uint((ulong)simd_active_threads_mask());
    })";
  for (const auto& [count, group] : {std::pair<std::size_t, std::size_t>{100, 48}, {256, 256}}) {
    const std::vector<uint> in = test::noise(count, 5);
    std::vector<uint> out(count);

    gpu.run(source, "f", {.grid = size(count), .group = size(group)}, in, out);

    for (std::size_t i = 0; i < count; ++i) {
      const Lanes all = lanes_of(in, i, group, 32, kConditions[0]);
      std::vector<bool> live = all.active;
      uint hash = 0;
      for (uint round = 0; round < 7; ++round) {
        uint mask = 0;
        uint votes = 0;
        for (uint lane = 0; lane < 32; ++lane) {
          const uint x = all.values[lane];
          live[lane] = live[lane] && round < (x & 7);
          if (live[lane] && (x >> (round + 3) & 1) == 0) {
            mask |= 1U << lane;
            votes |= (x & 64) != 0 ? 1U << lane : 0;
          }
        }
        if ((mask >> all.own & 1) != 0) {
          hash = hash * 31 + votes + mask * 7;
        }
        for (uint lane = 0; lane < 32; ++lane) {
          live[lane] = live[lane] &&
                       !(round == 4 && (mask >> lane & 1) != 0 && (all.values[lane] & 128) != 0);
        }
      }
      uint everyone = 0;
      for (uint lane = 0; lane < 32; ++lane) {
        everyone |= all.active[lane] ? 1U << lane : 0;
      }
      REQUIRE(out[i] == hash + 3 * everyone);
    }
  }
}

TEST_CASE("lanes that have returned are no longer counted") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      uint x = in[i];
      out[i] = 1;
      if (x % 3u == 0u) return;
      out[i] = simd_sum(x & 255u);
      if (x % 3u == 1u) return;
      out[i] += simd_prefix_exclusive_sum(1u) * 1000u;
    })";
  constexpr std::size_t kCount = 200;
  constexpr std::size_t kGroup = 72;
  const std::vector<uint> in = test::noise(kCount);
  std::vector<uint> out(kCount);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(kGroup)}, in, out);

  const Condition there = {"", [](uint, uint x) { return x % 3 != 0; }};
  const Condition last = {"", [](uint, uint x) { return x % 3 == 2; }};
  for (std::size_t i = 0; i < kCount; ++i) {
    uint wanted = 1;
    if (in[i] % 3 != 0) {
      wanted = lanes_of(in, i, kGroup, 32, there).reduce(0, [](uint a, uint b) {
        return a + (b & 255);
      });
    }
    if (in[i] % 3 == 2) {
      const Lanes lanes = lanes_of(in, i, kGroup, 32, last);
      wanted += lanes.scan(lanes.own, 0, [](uint a, uint) { return a + 1; }) * 1000;
    }
    REQUIRE(out[i] == wanted);
  }
}

TEST_CASE("floating-point reductions are as exact as their order allows") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint n [[threads_per_grid]]) {
      out[i] = simd_sum(in[i]);
      out[n + i] = simd_prefix_inclusive_sum(in[i]);
      out[2 * n + i] = simd_max(in[i]);
    })";
  constexpr std::size_t kCount = 96;
  std::vector<float> in(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    in[i] = 0.1F * static_cast<float>(i % 37) - 1;
  }
  std::vector<float> out(3 * kCount);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(96)}, in, out);

  for (std::size_t i = 0; i < kCount; ++i) {
    double sum = 0;
    double before = 0;
    float greatest = -1e30F;
    double magnitude = 0;
    for (std::size_t k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
      sum += in[k];
      before += k <= i ? in[k] : 0;
      greatest = std::max(greatest, in[k]);
      magnitude += std::abs(in[k]);
    }
    // Five additions deep at most, each off by half a unit of the sum of magnitudes.
    const double bound = magnitude * 5 * 0x1p-24;
    REQUIRE(std::abs(out[i] - sum) <= bound);
    REQUIRE(std::abs(out[kCount + i] - before) <= bound);
    REQUIRE(out[2 * kCount + i] == greatest);
  }
}

}  // namespace pewter
