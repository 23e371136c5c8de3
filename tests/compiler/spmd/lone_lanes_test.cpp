#include "tests/compiler/spmd/shared_code.h"

// Where few lanes are left in a loop they run the rest of it alone, and get what they would have
// got together with the others.

namespace pewter {
namespace {

using test::awkward_counts;
using test::Gpu;
using test::kHead;
using test::noise;
using test::size;
using test::uchar;
using test::uint;
using test::ulong;
using test::ushort;

constexpr uint kElements = 1 << 10;

/// Runs `function(data, i)` for each thread and compares with the host's. What differs between
/// lanes comes from `data`, which has words of `kElements`.
template <typename Function>
void check(const std::string& text, const char* name, const Function& function) {
  const std::string source = kHead + text + R"(
    kernel void f(device const uint* data [[buffer(0)]], device uint* out [[buffer(1)]],
                  constant uint& count [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      if (i < count) { out[i] = )" +
                             name + "(data, i); }\n}\n";
  const auto code = test::vectorised(source);
  CHECK(code->explanation.fallback.empty());
  CHECK(code->explanation.released_loops > 0);
  const Gpu gpu;
  const auto pipeline = gpu.pipeline(source, "f");
  const std::vector<uint> data = noise(kElements);
  for (const std::size_t count : awkward_counts()) {
    std::vector<uint> out(count);
    gpu.run(pipeline.get(), {.grid = size((count + 255) / 256 * 256), .group = size(256)}, data,
            out, static_cast<uint>(count));

    for (uint i = 0; i < count; ++i) {
      REQUIRE_MESSAGE(out[i] == function(data.data(), i), name << " of thread " << i);
    }
  }
}

/// Runs `function(data, i)` for each thread, and gives the reason why the compiler leaves it to
/// scalar mode; none when it does not.
template <typename Function>
std::string reason_to_run_alone(const std::string& text,
                                const char* name,
                                const Function& function) {
  CAPTURE(name);
  const std::string source = kHead + text + R"(
    kernel void f(device const uint* data [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) { out[i] = )" +
                             name + "(data, i); }\n";
  const std::vector<uint> data = noise(kElements);
  std::vector<uint> out(333);

  const Gpu gpu;
  gpu.run(source, "f", {.grid = size(333), .group = size(100)}, data, out);

  for (uint i = 0; i < 333; ++i) {
    REQUIRE(out[i] == function(data.data(), i));
  }
  return test::vectorised(source)->explanation.fallback;
}

/// Whether that is the reason.
template <typename Function>
void check_alone(const std::string& text,
                 const char* name,
                 const Function& function,
                 const char* reason) {
  CHECK(reason_to_run_alone(text, name, function).find(reason) != std::string::npos);
}

// NOLINTNEXTLINE(readability-identifier-naming): one of MSL's words
#define device

PEWTER_SHARED(uint, one_goes_on, (device const uint* data, uint i), {
  uint at = data[i & 1023] & 1023;
  uint sum = 0;
  const uint steps = (i % 37) == 5 ? 300 : 3;
  for (uint k = 0; k < steps; ++k) {
    at = data[at] & 1023;
    sum += at;
  }
  return sum;
})

PEWTER_SHARED(uint, each_its_own_loop, (device const uint* data, uint i), {
  uint a = data[i & 1023];
  const uint n = 5 + (a & 31);
  switch (i & 7) {
    case 0:
      for (uint k = 0; k < n; ++k)
        a = a * 3 + (a >> 1);
      break;
    case 1:
      for (uint k = 0; k < n; ++k)
        a = a * 5 + (a >> 2);
      break;
    case 2:
      for (uint k = 0; k < n; ++k)
        a = a * 7 + (a >> 3);
      break;
    case 3:
      while ((a & 63) != 17)
        a = a * 5 + 3;
      break;
    case 4:
      for (uint k = 0; k < n; ++k)
        a ^= data[(a + k) & 1023];
      break;
    default:
      a += n;
  }
  return a;
})

// In each round threads go the same way, or most of them do, or each its own.
PEWTER_SHARED(uint, ways_in_rounds, (device const uint* data, uint i), {
  uint a = data[i & 1023];
  uint b = 0;
  for (uint round = 0; round < 6; ++round) {
    const uint way = round < 2 ? round : round == 2 ? (i % 11 == 0 ? 3 : 1) : (i + a) & 7;
    switch (way) {
      case 0:
        for (uint k = 0; k < (a & 31); ++k)
          a = a * 3 + (a >> 1);
        break;
      case 1:
        for (uint k = 0; k < 9; ++k)
          a = a * 5 + data[(a + k) & 1023];
        b = a + 1;
        break;
      case 2:
        while ((a & 63) != 17)
          a = a * 5 + 3;
        b ^= a;
        break;
      case 3:
        do
          a = a * 5 + 1;
        while ((a & 15) != 2);
        b = 3;
        break;
      case 4:
        for (uint k = 0; k < 30; ++k) {
          if ((a & 127) == 5)
            break;
          a = a * 9 + k;
        }
        break;
      case 5:
        b = 0;
        break;
      default:
        break;
    }
    a += b;
  }
  return a;
})

PEWTER_SHARED(uint, several_ways_out, (device const uint* data, uint i), {
  uint a = data[i & 1023];
  uint way = 100;
  uint k = 0;
  for (; k < 200; ++k) {
    a = a * 1664525 + 1013904223;
    if ((a >> 24) == 7) {
      way = a & 15;
      break;
    }
    if ((a >> 23) == 99)
      return 7 + k;
    if ((a >> 27) == 3)
      continue;
    a ^= a >> 5;
  }
  return a + way * k;
})

PEWTER_SHARED(uint, loops_in_loops, (device const uint* data, uint i), {
  uint a = data[i & 1023];
  uint sum = 0;
  for (uint j = 0; j < (a & 7); ++j) {
    const uint n = ((a >> j) & 31) == 0 ? 100 : 2;
    for (uint k = 0; k < n; ++k) {
      a ^= a << 13;
      a ^= a >> 17;
      a ^= a << 5;
      if ((a & 255) == 3)
        break;
    }
    sum += a;
  }
  return sum;
})

PEWTER_SHARED(uint, private_array, (device const uint* data, uint i), {
  uint values[16];
  const uint n = 2 + (data[i & 1023] & 13);
  for (uint k = 0; k < n; ++k)
    values[k] = data[(i * 7 + k * 5) & 1023];
  for (uint k = 1; k < n; ++k) {
    const uint x = values[k];
    uint at = k;
    while (at > 0 && values[at - 1] > x) {
      values[at] = values[at - 1];
      --at;
    }
    values[at] = x;
  }
  return values[n / 2];
})

// The loop itself is the same for all that enter it, and what it leaves is used for addresses.
PEWTER_SHARED(uint, some_enter, (device const uint* data, uint i), {
  uint a = data[i & 1023];
  if ((i % 29) == 3) {
    uint k = 0;
    uint product = 1;
    while (product < 5000) {
      a += data[k] * product;
      product = product * 3 + (data[0] & 1);
      ++k;
    }
    a += data[k + (i & 3)] + product;
  }
  return a;
})

PEWTER_SHARED(uint, mixed_types, (device const uint* data, uint i), {
  uchar small = uchar(data[i & 1023]);
  ushort medium = ushort(data[i & 1023] >> 3);
  ulong large = data[i & 1023] * ulong(2654435761u);
  bool odd = (i & 1) != 0;
  uint steps = 0;
  while (small != 77 && steps < 400) {
    small = uchar(small * 5 + 13);
    medium = ushort(medium ^ (small << (odd ? 3 : 5)));
    large = large * 6364136223846793005ul + medium;
    odd = odd != ((large >> 40 & 1) != 0);
    ++steps;
  }
  return uint(large >> 32) ^ medium ^ (odd ? steps : 0);
})

PEWTER_SHARED(uint, divisions, (device const uint* data, uint i), {
  uint a = data[i & 1023];
  uint b = data[(i * 3) & 1023] | 1;
  while (b != 0) {
    const uint rest = a % b;
    a = b;
    b = rest;
  }
  return a;
})

// Sorting with a stack, which each thread fills and empties in its own way.
PEWTER_SHARED(uint, sorted_middle, (device const uint* data, uint i), {
  uint values[16];
  uint stack[16];
  for (uint k = 0; k < 16; ++k) {
    values[k] = data[(i * 16 + k) & 1023];
  }
  uint depth = 1;
  stack[0] = 15;
  while (depth > 0) {
    --depth;
    uint low = stack[depth] >> 8;
    uint high = stack[depth] & 255;
    while (low < high) {
      const uint pivot = values[(low + high) / 2];
      uint a = low;
      uint b = high;
      while (true) {
        while (values[a] < pivot) {
          ++a;
        }
        while (values[b] > pivot) {
          --b;
        }
        if (a >= b) {
          break;
        }
        const uint moved = values[a];
        values[a] = values[b];
        values[b] = moved;
        ++a;
        --b;
      }
      stack[depth] = (b + 1) << 8 | high;
      ++depth;
      high = b;
    }
  }
  return values[8];
})

// A search whose way back and forth is each thread's own.
PEWTER_SHARED(uint, queens, (device const uint* data, uint i), {
  uint columns[8];
  const uint size = 5 + (data[i & 1023] & 1);
  uint row = 1;
  uint found = 0;
  columns[0] = data[i & 1023] % size;
  columns[1] = 0;
  while (row > 0) {
    if (row == size || columns[row] >= size) {
      found += row == size ? 1 : 0;
      --row;
      columns[row] += 1;
      continue;
    }
    bool is_free = true;
    for (uint k = 0; k < row; ++k) {
      const uint a = columns[k];
      const uint b = columns[row];
      if (a == b || a + row == b + k || b + row == a + k) {
        is_free = false;
        break;
      }
    }
    if (is_free) {
      ++row;
      columns[row] = 0;
    } else {
      columns[row] += 1;
    }
  }
  return found;
})

// Nothing but stores, at distances that are each thread's own.
PEWTER_SHARED(uint, sieve, (device const uint* data, uint i), {
  uchar is_crossed[128];
  for (uint k = 0; k < 128; ++k) {
    is_crossed[k] = 0;
  }
  for (uint p = 2 + (data[i & 1023] & 3); p < 64; ++p) {
    for (uint m = p + p; m < 128; m += p) {
      is_crossed[m] = 1;
    }
  }
  uint sum = 0;
  for (uint k = 0; k < 128; ++k) {
    sum += k * is_crossed[k];
  }
  return sum;
})

// The same, but each loop is short: a thread alone would guess its end wrong as often as it loops.
PEWTER_SHARED(uint, short_sieve, (device const uint* data, uint i), {
  uchar is_crossed[24];
  for (uint k = 0; k < 24; ++k) {
    is_crossed[k] = 0;
  }
  for (uint p = 2 + (data[i & 1023] & 3); p < 12; ++p) {
    for (uint m = p + p; m < 24; m += p) {
      is_crossed[m] = 1;
    }
  }
  uint sum = 0;
  for (uint k = 0; k < 24; ++k) {
    sum += k * is_crossed[k];
  }
  return sum;
})

// Lanes stay in the loop around, which goes on for all of them, but few go on in the one inside.
PEWTER_SHARED(uint, few_go_on_inside, (device const uint* data, uint i), {
  uint sum = 0;
  for (uint k = 0; k < 40; ++k) {
    const uint start = data[(i * 41 + k) & 1023];
    uint a = start;
    const uint steps = (start & 31) == 3 ? 200 : 1;
    for (uint j = 0; j < steps; ++j)
      a = a * 1664525 + data[(a + j) & 1023];
    sum += (start & 32) != 0 ? a : a >> 3;
  }
  return sum;
})

// The same, with an array of its own and three loops around each other.
PEWTER_SHARED(uint, three_deep, (device const uint* data, uint i), {
  uint kept[8];
  for (uint k = 0; k < 8; ++k)
    kept[k] = data[(i + k) & 1023];
  uint sum = 0;
  for (uint k = 0; k < 12; ++k) {
    uint a = kept[k & 7];
    while ((a & 15) > 2) {
      for (uint j = 0; j < (a & 7); ++j)
        kept[(a + j) & 7] += a >> 4;
      a = a * 5 + kept[a & 7] + data[a & 1023];
      if ((a >> 20) == 77)
        return a;
    }
    sum = sum * 3 + a;
  }
  return sum;
})

#undef device

}  // namespace

TEST_CASE("a lane that goes on when the others have left runs alone") {
  check(one_goes_on_text, "one_goes_on", &one_goes_on);
}

TEST_CASE("lanes with loops of their own run alone") {
  check(each_its_own_loop_text, "each_its_own_loop", &each_its_own_loop);
}

TEST_CASE("lanes that part in a switch run it alone") {
  check(ways_in_rounds_text, "ways_in_rounds", &ways_in_rounds);
}

TEST_CASE("a switch is left to lanes alone when it has loops and they may part in it") {
  const auto released = [](const std::string& way, const std::string& step) {
    std::string text = kHead + R"(
      kernel void f(device uint* out [[buffer(0)]], constant uint& all [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
        uint a = out[i];
        switch ()" + way +
                       ") {\n";
    for (const char* number : {"0", "1", "2", "3", "4"}) {
      text += std::string("case ") + number + ": " + step + " a += " + number + "; break;\n";
    }
    return test::vectorised(text + "}\nout[i] = a;\n}\n")->explanation.released_switches;
  };
  const std::string loop = "for (uint k = 0; k < (a & 31); ++k) { a = a * 3 + (a >> 2); }";
  CHECK(released("i % 5", loop) == 1);
  CHECK(released("all", loop) == 0);
  CHECK(released("i % 5", "a = a * 3 + (a >> 2);") == 0);
  CHECK(released("i % 5", "a += simd_sum(a); " + loop) == 0);
}

TEST_CASE("lanes alone leave a loop by any of its exits") {
  check(several_ways_out_text, "several_ways_out", &several_ways_out);
}

TEST_CASE("lanes run alone in loops inside of loops") {
  check(loops_in_loops_text, "loops_in_loops", &loops_in_loops);
}

TEST_CASE("lanes alone use their own private memory") {
  check(private_array_text, "private_array", &private_array);
}

TEST_CASE("few lanes that enter a loop together run it alone") {
  check(some_enter_text, "some_enter", &some_enter);
}

TEST_CASE("values of all sizes go to lanes alone and back") {
  check(mixed_types_text, "mixed_types", &mixed_types);
}

TEST_CASE("lanes alone divide") {
  check(divisions_text, "divisions", &divisions);
}

TEST_CASE("lanes run the rest of a loop alone when few of them run most of what is in it") {
  check(few_go_on_inside_text, "few_go_on_inside", &few_go_on_inside);
  check(three_deep_text, "three_deep", &three_deep);
}

TEST_CASE("a search through private memory runs one thread at a time and says so") {
  const char* reason = "a search through private memory whose way is each thread's own";
  check_alone(queens_text, "queens", &queens, reason);
  check_alone(sorted_middle_text, "sorted_middle", &sorted_middle, reason);
}

TEST_CASE("threads that do little but store to places of their own are left to scalar mode") {
  check_alone(sieve_text, "sieve", &sieve,
              "little but accesses to private memory at places that are each thread's own");
}

TEST_CASE("short loops that store to places of a thread's own stay on lanes") {
  CHECK(reason_to_run_alone(short_sieve_text, "short_sieve", &short_sieve).empty());
}

TEST_CASE("lanes alone take places in a table, each once") {
  constexpr uint kThreads = 700;
  const std::vector<uint> keys = noise(kThreads, 3);
  std::vector<uint> table(1 << 10);
  std::vector<uint> place(kThreads);

  const Gpu gpu;
  gpu.run(kHead + R"(
    kernel void f(device const uint* keys [[buffer(0)]], device atomic_uint* table [[buffer(1)]],
                  device uint* place [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      uint at = keys[i] & 1023;
      while (true) {
        uint expected = 0;
        if (atomic_compare_exchange_weak_explicit(table + at, &expected, i + 1,
                                                  memory_order_relaxed, memory_order_relaxed)) {
          break;
        }
        at = (at + 1) & 1023;
      }
      place[i] = at;
    })",
          "f", {.grid = size(kThreads), .group = size(100)}, keys, table, place);

  for (uint i = 0; i < kThreads; ++i) {
    REQUIRE(table[place[i]] == i + 1);
  }
  CHECK(std::count(table.begin(), table.end(), 0U) == (1 << 10) - kThreads);
}

TEST_CASE("loops whose lanes meet in each iteration stay whole") {
  const auto released = [](const std::string& step) {
    return test::vectorised(kHead + R"(
      kernel void f(device uint* out [[buffer(0)]], threadgroup uint* shared [[threadgroup(0)]],
                    uint i [[thread_position_in_grid]]) {
        uint a = out[i];
        for (uint k = 0; k < (a & 15); ++k) { )" +
                            step + " }\n out[i] = a;\n}\n")
        ->explanation.released_loops;
  };
  CHECK(released("a = a * 3 + 1;") == 1);
  CHECK(released("a += simd_sum(a);") == 0);
  CHECK(released("a += simd_shuffle_xor(a, 1);") == 0);
  CHECK(released("shared[a & 7] = a; simdgroup_barrier(mem_flags::mem_threadgroup);") == 0);
}

// LLVM counts the inner loop's end in an integer of two bits.
PEWTER_SHARED(uint, few_bits, (uint i, uint x), {
  uint sum = x * 77u;
  uint last = 1u;
  for (ushort round = 0; round < ushort(i % 3u); ++round) {
    sum += 77u % ((x & 63u) + 1u);
    for (ulong k = 0; k < ulong(((3u - uint(round)) + 1u) & 3u); ++k) {
      last = 12345u;
    }
  }
  return sum * 3u + last * 1000000u;
})

TEST_CASE("lanes that run alone take numbers of a few bits with them") {
  test::check_shared(few_bits_text, "few_bits", few_bits);
}

}  // namespace pewter
