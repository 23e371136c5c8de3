#include "tests/compiler/spmd/shared_code.h"

// Memory that lanes read and write side by side, apart, backwards and anywhere.

namespace pewter {
namespace {

using test::check_shared;
using test::Gpu;
using test::kHead;
using test::size;
using test::uchar;
using test::uint;
using test::ulong;
using test::ushort;

// clang-format off
PEWTER_SHARED(uint, private_array, (uint i, uint x), {
  uint a[8];
  for (uint k = 0; k < 8; ++k) a[k] = x >> k;
  for (uint k = 0; k < 6; ++k) a[(x >> (k * 4)) & 7] += a[(i + k) & 7] * 3;
  uint sum = 0;
  for (uint k = 0; k < 8; ++k) sum = sum * 7 + a[k];
  return sum;
})

PEWTER_SHARED(uint, private_bytes, (uint i, uint x), {
  unsigned char a[5];
  for (uint k = 0; k < 5; ++k) a[k] = (unsigned char)(x >> (k * 6));
  a[x % 5] = (unsigned char)(i);
  return a[i % 5] * 65536u + a[(i + 1) % 5] * 256u + a[x % 5];
})

PEWTER_SHARED(uint, array_in_divergent_loop, (uint i, uint x), {
  short a[4] = {short(1), short(2), short(3), short(4)};
  for (uint k = 0; k < (x & 15); ++k) {
    if ((x >> k & 1) != 0) a[(i + k) & 3] = short(a[k & 3] * 3 + 1);
  }
  return uint(int(a[0]) + a[1] * 5 + a[2] * 25 + a[3] * 125);
})

PEWTER_SHARED(uint, two_dimensions, (uint i, uint x), {
  int m[3][4];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 4; ++c) m[r][c] = int(x >> (r + c * 2) & 255) - 100;
  m[i % 3][x % 4] += m[x % 3][i % 4];
  int best = -1000;
  for (int r = 0; r < 3; ++r) if (m[r][(i >> 3) & 3] > best) best = m[r][(i >> 3) & 3];
  return uint(best);
})

struct Record {
  uchar kind;
  float weight;
  ushort parts[3];
  ulong total;
};
const std::string kRecordText =
    "struct Record { uchar kind; float weight; ushort parts[3]; ulong total; };\n";

PEWTER_SHARED(uint, structure, (uint i, uint x), {
  Record r;
  r.kind = uchar(x & 3);
  r.weight = float(i & 255) * 0.5f;
  for (uint k = 0; k < 3; ++k) r.parts[k] = ushort(x >> (k * 7));
  r.total = ulong(x) * 3;
  if (r.kind == 1) { r.weight += 1; r.parts[i % 3] = ushort(9); }
  if (r.kind >= 2) { Record copy = r; copy.total += r.parts[x % 3]; r = copy; }
  return uint(r.total >> 1) + uint(r.weight * 2) + r.parts[0] + r.parts[2] * 7u + r.kind;
})

PEWTER_SHARED(uint, array_of_structures, (uint i, uint x), {
  Record all[4];
  for (uint k = 0; k < 4; ++k) {
    all[k].kind = uchar(x >> k);
    all[k].weight = float(k) + float(i & 7);
    for (uint j = 0; j < 3; ++j) all[k].parts[j] = ushort(x >> (k + j));
    all[k].total = ulong(i) << k;
  }
  all[x & 3].parts[i % 3] += ushort(100);
  all[i & 3] = all[(x >> 2) & 3];
  all[(x >> 4) & 3].total += all[(x >> 6) & 3].kind;
  uint sum = 0;
  for (uint k = 0; k < 4; ++k) {
    sum = sum * 13 + all[k].kind + uint(all[k].total) + all[k].parts[k % 3] + uint(all[k].weight);
  }
  return sum;
})
// clang-format on

const std::string kNoText;

/// Runs a kernel whose `body` stores to out[...] from in[...], in type T, over `count` threads.
template <typename T>
std::vector<T> run_body(const std::string& type,
                        const std::string& body,
                        const std::vector<T>& in,
                        std::size_t out_count,
                        std::size_t count,
                        std::size_t group) {
  const Gpu gpu;
  const std::string source = kHead + "kernel void f(device const " + type +
                             "* in [[buffer(0)]], device " + type +
                             "* out [[buffer(1)]], constant uint& n [[buffer(2)]],\n"
                             "uint i [[thread_position_in_grid]]) {\n" +
                             body + "\n}\n";
  std::vector<T> out(out_count, T(99));
  gpu.run(source, "f", {.grid = size(count), .group = size(group)}, in, out,
          static_cast<uint>(count));
  return out;
}

template <typename T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(i * 37 + 11);
  }
  return values;
}

template <typename T>
void check_strides(const std::string& type) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{33}, std::size_t{700}}) {
    const auto in = counted<T>(count * 8 + 8);
    for (const std::size_t stride : {1, 2, 3, 4, 5, 8}) {
      const std::string step = std::to_string(stride);
      const auto out = run_body<T>(
          type, "out[i * " + step + "u] = in[i * " + step + "u + 3u] + " + type + "(1);", in,
          count * stride, count, 100);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const T wanted = i % stride == 0 ? static_cast<T>(in[i + 3] + 1) : T(99);
        REQUIRE_MESSAGE(out[i] == wanted, type, " stride ", stride, " element ", i);
      }
    }
  }
}

/// Elements 0 and 2 of structures of 3, and one of each other stride, in lanes here and there.
template <typename T>
void check_masked_strides(const std::string& type) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{33}, std::size_t{700}}) {
    const auto in = counted<T>(count * 8 + 8);
    for (const std::size_t stride : {2, 3, 4, 5, 8}) {
      const std::string step = std::to_string(stride);
      std::string body = "if ((i * i) % 5u < 2u) { uint j = i * " + step + "u; ";
      body += "out[j] = in[j] + in[j + 1u]; ";
      body += stride > 2 ? "out[j + 2u] = in[j + 2u] - in[j]; }" : "out[j + 1u] = in[j]; }";
      const auto out = run_body<T>(type, body, in, count * stride, count, 100);
      const std::size_t second = stride > 2 ? 2 : 1;
      for (std::size_t at = 0; at < out.size(); ++at) {
        const std::size_t i = at / stride;
        const std::size_t j = i * stride;
        T wanted(99);
        if (i * i % 5 < 2 && at == j) {
          wanted = static_cast<T>(in[j] + in[j + 1]);
        } else if (i * i % 5 < 2 && at == j + second) {
          wanted = stride > 2 ? static_cast<T>(in[j + 2] - in[j]) : in[j];
        }
        REQUIRE_MESSAGE(out[at] == wanted, type, " stride ", stride, " element ", at);
      }
    }
  }
}

}  // namespace

#define PEWTER_CHECK_SHARED(text, name) check_shared((text) + name##_text, #name, &(name))

TEST_CASE("private arrays are each lane's own, whatever the index and the element size") {
  PEWTER_CHECK_SHARED(kNoText, private_array);
  PEWTER_CHECK_SHARED(kNoText, private_bytes);
  PEWTER_CHECK_SHARED(kNoText, array_in_divergent_loop);
  PEWTER_CHECK_SHARED(kNoText, two_dimensions);
}

// Cleared by words of eight bytes, two elements of a lane would lie beside each other.
TEST_CASE("an array that begins with zeros lies side by side with those of other lanes") {
  const Gpu gpu;
  for (const std::string type : {"uchar", "ushort", "uint", "ulong", "half"}) {
    for (const unsigned count : {5U, 32U, 300U}) {
      CAPTURE(type);
      CAPTURE(count);
      const std::string source =
          kHead + "typedef " + type + " T;\nconstant uint kCount = " + std::to_string(count) + R"(;
        kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
          T values[kCount] = {};
          const uint x = in[i];
          for (uint k = x % 3; k < kCount; ++k) {
            if ((x >> (k & 31)) & 1) values[k] = T(k & 63);
          }
          uint sum = 0;
          for (uint k = 0; k < kCount; ++k) sum = sum * 3 + uint(values[k]);
          out[i] = sum;
        })";
      const auto explanation = test::vectorised(source)->explanation;
      CHECK(explanation.fallback.empty());
      CHECK(explanation.strided_accesses == 0);
      const std::vector<uint> in = test::noise(130);
      std::vector<uint> out(in.size());

      gpu.run(source, "f", {.grid = size(130), .group = size(100)}, in, out);

      for (uint i = 0; i < out.size(); ++i) {
        uint sum = 0;
        for (uint k = 0; k < count; ++k) {
          const bool is_set = k >= in[i] % 3 && ((in[i] >> (k & 31)) & 1) != 0;
          sum = sum * 3 + (is_set ? k & 63 : 0);
        }
        REQUIRE_MESSAGE(out[i] == sum, "thread ", i);
      }
    }
  }
}

TEST_CASE("private structures keep members of different sizes apart") {
  PEWTER_CHECK_SHARED(kRecordText, structure);
  PEWTER_CHECK_SHARED(kRecordText, array_of_structures);
}

TEST_CASE("strided loads and stores touch their own elements only") {
  check_strides<std::uint8_t>("uchar");
  check_strides<std::int16_t>("short");
  check_strides<std::uint32_t>("uint");
  check_strides<float>("float");
  check_strides<std::int64_t>("long");
}

TEST_CASE("strided loads and stores under a mask touch the elements of active threads only") {
  check_masked_strides<std::uint8_t>("uchar");
  check_masked_strides<std::int16_t>("short");
  check_masked_strides<std::uint32_t>("uint");
  check_masked_strides<float>("float");
  check_masked_strides<std::int64_t>("long");
}

TEST_CASE("strided loads under a mask do not touch memory of threads that are not active") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      if (i < n && in[i] != 0.0f) {
        out[i] = in[i * 4 + 1] + in[i * 4 + 2];
        out[i * 2 + 1024] = in[i];
        out[i * 2 + 1025] = in[i] * 2;
      }
    })";
  for (const uint count : {1U, 5U, 8U, 100U}) {
    // What threads behind `count` would read is behind the end of the buffers.
    const auto in = counted<float>(std::size_t{count} * 4);
    std::vector<float> out(1024 + std::size_t{count} * 2);

    gpu.run(source, "f", {.grid = size(4096), .group = size(256)}, in, out, count);

    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(out[i] == in[i * 4 + 1] + in[i * 4 + 2]);
      REQUIRE(out[1024 + i * 2] == in[i]);
      REQUIRE(out[1025 + i * 2] == in[i] * 2);
    }
  }
}

TEST_CASE("a grid read backwards is reversed") {
  for (const std::size_t count : test::awkward_counts()) {
    const auto in = counted<std::uint16_t>(count);
    auto reversed = in;
    std::reverse(reversed.begin(), reversed.end());

    CHECK(run_body<std::uint16_t>("ushort", "out[i] = in[n - 1u - i];", in, count, count, 64) ==
          reversed);
    CHECK(run_body<std::uint16_t>("ushort", "out[n - 1u - i] = in[i];", in, count, count, 100) ==
          reversed);
  }
}

TEST_CASE("gathers and scatters follow an index array") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* in [[buffer(0)]], device const uint* at [[buffer(1)]],
                  device float* gathered [[buffer(2)]], device float* scattered [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
      gathered[i] = in[at[i]];
      if ((at[i] & 3u) != 1u) scattered[at[i]] = in[i];
    })";
  constexpr std::size_t kCount = 1025;
  const auto in = counted<float>(kCount);
  std::vector<uint> at(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    at[i] = static_cast<uint>(i * 512 % kCount);
  }
  std::vector<float> gathered(kCount);
  std::vector<float> scattered(kCount, -1);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(64)}, in, at, gathered, scattered);

  for (std::size_t i = 0; i < kCount; ++i) {
    REQUIRE(gathered[i] == in[at[i]]);
    REQUIRE(scattered[at[i]] == ((at[i] & 3) != 1 ? in[i] : -1));
  }
}

TEST_CASE("index arithmetic that wraps reaches the same element") {
  constexpr std::size_t kCount = 257;
  const auto in = counted<uint>(kCount + 10);

  const auto out =
      run_body<uint>("uint",
                     "uint j = i - 5u; out[j + 5u] = in[(j + 7u) & 0xffffffffu];"
                     "short s = short(i); int k = int(s) - 300; out[uint(k + 300)] += in[i];",
                     in, kCount, kCount, 64);

  for (std::size_t i = 0; i < kCount; ++i) {
    REQUIRE(out[i] == in[i + 2] + in[i]);
  }
}

TEST_CASE("narrow index types wrap where they are narrow") {
  constexpr std::size_t kCount = 600;
  const auto in = counted<uint>(kCount);

  const auto out = run_body<uint>(
      "uint", "uchar b = uchar(i); ushort h = ushort(i * 200u); out[i] = in[b] + in[h % 600u];", in,
      kCount, kCount, 128);

  for (std::size_t i = 0; i < kCount; ++i) {
    REQUIRE(out[i] == in[i % 256] + in[(i * 200) % 65536 % 600]);
  }
}

TEST_CASE("vectors are loaded, changed and stored whole") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float4* a [[buffer(0)]], device const packed_float3* b [[buffer(1)]],
                  device const uchar4* c [[buffer(2)]], device float4* out [[buffer(3)]],
                  device uchar4* bytes [[buffer(4)]], device packed_float3* three [[buffer(5)]],
                  uint i [[thread_position_in_grid]]) {
      float4 v = a[i].wzyx + float4(float3(b[i]), 1);
      if (i % 3 == 0) v.xz = v.yw * 2;
      out[i] = v;
      uchar4 q = c[i];
      q.w = uchar(q.x + q.y);
      bytes[i] = q.yxwz;
      three[i] = packed_float3(v.xyz);
    })";
  constexpr std::size_t kCount = 333;
  const auto a = counted<float>(kCount * 4);
  const auto b = counted<float>(kCount * 3);
  const auto c = counted<std::uint8_t>(kCount * 4);
  std::vector<float> out(kCount * 4);
  std::vector<std::uint8_t> bytes(kCount * 4);
  std::vector<float> three(kCount * 3);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(100)}, a, b, c, out, bytes, three);

  for (std::size_t i = 0; i < kCount; ++i) {
    float v[4] = {a[i * 4 + 3] + b[i * 3], a[i * 4 + 2] + b[i * 3 + 1], a[i * 4 + 1] + b[i * 3 + 2],
                  a[i * 4] + 1};
    if (i % 3 == 0) {
      v[0] = v[1] * 2;
      v[2] = v[3] * 2;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      REQUIRE(out[i * 4 + k] == v[k]);
    }
    REQUIRE(bytes[i * 4] == c[i * 4 + 1]);
    REQUIRE(bytes[i * 4 + 2] == static_cast<std::uint8_t>(c[i * 4] + c[i * 4 + 1]));
    REQUIRE(three[i * 3 + 2] == v[2]);
  }
}

TEST_CASE("two-dimensional groups address rows and columns") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  device uint* turned [[buffer(2)]], uint2 at [[thread_position_in_grid]],
                  uint2 count [[threads_per_grid]], uint2 local [[thread_position_in_threadgroup]]) {
      uint value = in[at.y * count.x + at.x] + local.x * 1000u + local.y * 100000u;
      out[at.y * count.x + at.x] = value;
      turned[at.x * count.y + at.y] = value;
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const auto& [group_x, group_y] : {std::pair{16, 16}, {5, 7}, {32, 2}, {1, 33}, {8, 4}}) {
    constexpr std::size_t kX = 45;
    constexpr std::size_t kY = 37;
    const auto in = counted<uint>(kX * kY);
    std::vector<uint> out(kX * kY);
    std::vector<uint> turned(kX * kY);

    gpu.run(pipeline.get(), {.grid = size(kX, kY), .group = size(group_x, group_y)}, in, out,
            turned);

    for (std::size_t y = 0; y < kY; ++y) {
      for (std::size_t x = 0; x < kX; ++x) {
        const auto wanted =
            static_cast<uint>(in[y * kX + x] + x % group_x * 1000 + y % group_y * 100000);
        REQUIRE(out[y * kX + x] == wanted);
        REQUIRE(turned[x * kY + y] == wanted);
      }
    }
  }
}

TEST_CASE("threads beside a row's end read their neighbours, whose indices have not wrapped") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint2 at [[thread_position_in_grid]], uint2 count [[threads_per_grid]]) {
      uint sum = 0;
      for (int dy = -2; dy <= 2; ++dy) {
        for (int dx = -3; dx <= 3; ++dx) {
          const int2 place = int2(at) + int2(dx, dy);
          if (any(place < 0) || any(place >= int2(count))) continue;
          sum = sum * 5 + in[place.y * count.x + place.x];
        }
      }
      out[at.y * count.x + at.x] = sum;
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const auto& [group_x, group_y] : {std::pair{16, 16}, {8, 8}, {32, 2}, {5, 7}, {64, 1}}) {
    constexpr int kX = 64;
    constexpr int kY = 16;
    const auto in = counted<uint>(kX * kY);
    std::vector<uint> out(in.size());

    gpu.run(pipeline.get(), {.grid = size(kX, kY), .group = size(group_x, group_y)}, in, out);

    for (int y = 0; y < kY; ++y) {
      for (int x = 0; x < kX; ++x) {
        uint wanted = 0;
        for (int place_y = std::max(y - 2, 0); place_y < std::min(y + 3, kY); ++place_y) {
          for (int place_x = std::max(x - 3, 0); place_x < std::min(x + 4, kX); ++place_x) {
            wanted = wanted * 5 + in[static_cast<std::size_t>(place_y * kX + place_x)];
          }
        }
        REQUIRE(out[static_cast<std::size_t>(y * kX + x)] == wanted);
      }
    }
  }
}

TEST_CASE("a number that has wrapped is widened as it is before it is stored") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device ulong* out [[buffer(0)]], constant uint& from [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      out[0] = ulong(from - i);
      out[1] = ulong(i - from);
    })";
  std::vector<ulong> out(2);

  gpu.run(source, "f", {.grid = size(32), .group = size(32)}, out, uint(5));

  // Any thread's.
  for (const ulong value : out) {
    CHECK(value <= 0xffffffff);
  }
}

TEST_CASE("threads read along a diagonal where the first one is past its end") {
  // LLVM makes `group * 256 | place` of the index, as the place is below 256 where it is read.
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uchar* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint local [[thread_position_in_threadgroup]],
                  uint group [[threadgroup_position_in_grid]]) {
      uint sum = 0;
      for (uint step = 0; step < 511; ++step) {
        const int place = int(step) - int(local);
        if (place >= 0 && place < 256) sum = sum * 7 + in[group * 256 + place];
      }
      out[i] = sum;
    })";
  constexpr std::size_t kGroup = 256;
  constexpr std::size_t kCount = 3 * kGroup;
  std::vector<uchar> in;
  for (const uint value : test::noise(kCount)) {
    in.push_back(static_cast<uchar>(value));
  }
  std::vector<uint> out(kCount);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(kGroup)}, in, out);

  for (std::size_t i = 0; i < kCount; ++i) {
    uint wanted = 0;
    for (std::size_t place = 0; place < kGroup; ++place) {
      wanted = wanted * 7 + in[i / kGroup * kGroup + place];
    }
    REQUIRE(out[i] == wanted);
  }
}

TEST_CASE("pointers passed to functions reach private, device and threadgroup memory") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    __attribute__((noinline)) void bump(thread uint* p, uint by) { *p += by; }
    __attribute__((noinline)) uint total(thread const uint* p, uint n) {
      uint sum = 0;
      for (uint k = 0; k < n; ++k) sum += p[k];
      return sum;
    }
    __attribute__((noinline)) void put(device uint* p, threadgroup uint* q, uint v) { *p = v; *q = v; }
    kernel void f(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]],
                  uint l [[thread_index_in_threadgroup]]) {
      threadgroup uint tile[256];
      uint a[6] = {1, 2, 3, 4, 5, 6};
      thread uint* p = (i & 1) ? &a[i % 6] : a;
      bump(p, i);
      if (i % 3 == 0) bump(&a[(i / 3) % 6], 100);
      put(out + i, tile + l, total(a, 1 + i % 6));
      out[i] += tile[l];
    })";
  constexpr std::size_t kCount = 300;
  std::vector<uint> out(kCount);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(128)}, out);

  for (uint i = 0; i < kCount; ++i) {
    uint a[6] = {1, 2, 3, 4, 5, 6};
    a[(i & 1) != 0 ? i % 6 : 0] += i;
    if (i % 3 == 0) {
      a[(i / 3) % 6] += 100;
    }
    uint sum = 0;
    for (uint k = 0; k < 1 + i % 6; ++k) {
      sum += a[k];
    }
    REQUIRE(out[i] == 2 * sum);
  }
}

TEST_CASE("an index beyond a private array harms nobody") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const int* first [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      uint a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
      short b[5] = {1, 2, 3, 4, 5};
      for (int k = first[i]; k < 8; ++k) {
        a[k] += 100;
        b[k - 3] = short(b[k - 3] + 10);
      }
      uint sum = 0;
      for (uint k = 0; k < 8; ++k) sum += a[k];
      for (uint k = 0; k < 5; ++k) sum += uint(b[k]);
      out[i] = sum;
    })";
  constexpr std::size_t kCount = 100;
  std::vector<int> first(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    first[i] = static_cast<int>(i % 9) - (i % 5 == 0 ? 1 << 20 : 0);
  }
  std::vector<uint> out(kCount);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(64)}, first, out);

  for (std::size_t i = 0; i < kCount; ++i) {
    const int from = std::max(first[i], 0);
    const int short_from = std::max(first[i], 3);
    const int wanted = 36 + 15 + 100 * (8 - from) + 10 * (8 - short_from);
    REQUIRE(out[i] == static_cast<uint>(wanted));
  }
}

TEST_CASE("a lane reads back what it wrote, through memory that others write too") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device uint* data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      for (uint k = 0; k < 4; ++k) {
        data[i * 4 + k] = i + k;
        if (k > 0 && (i & k) != 0) data[i * 4 + k] += data[i * 4 + k - 1];
      }
      data[i * 4] = data[i * 4 + (i & 3)];
    })";
  constexpr std::size_t kCount = 257;
  std::vector<uint> data(kCount * 4);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(64)}, data);

  for (uint i = 0; i < kCount; ++i) {
    uint own[4];
    for (uint k = 0; k < 4; ++k) {
      own[k] = i + k;
      if (k > 0 && (i & k) != 0) {
        own[k] += own[k - 1];
      }
    }
    own[0] = own[i & 3];
    for (uint k = 0; k < 4; ++k) {
      REQUIRE(data[i * 4 + k] == own[k]);
    }
  }
}

TEST_CASE("groups that are no whole simdgroups are computed right, promised or not") {
  const Gpu gpu;
  const auto library = gpu.library(kHead + R"(
    kernel void f(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]],
                  uint lane [[thread_index_in_threadgroup]]) { out[i] = 3 * i + lane; })");
  const auto function =
      NS::TransferPtr(library->newFunction(NS::String::string("f", NS::UTF8StringEncoding)));
  const auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setComputeFunction(function.get());
  for (const bool is_promised : {true, false}) {
    descriptor->setThreadGroupSizeIsMultipleOfThreadExecutionWidth(is_promised);
    NS::Error* error = nullptr;
    const auto pipeline = NS::TransferPtr(gpu.device()->newComputePipelineState(
        descriptor.get(), MTL::PipelineOptionNone, nullptr, &error));
    REQUIRE(pipeline);
    for (const std::size_t count : test::awkward_counts()) {
      for (const std::size_t group : test::awkward_groups()) {
        std::vector<uint> out(count, 0xdeadbeef);

        gpu.run(pipeline.get(), {.grid = size(count), .group = size(group)}, out);

        CAPTURE(is_promised);
        CAPTURE(count);
        CAPTURE(group);
        for (uint i = 0; i < count; ++i) {
          REQUIRE(out[i] == 3 * i + i % group);
        }
      }
    }
  }
}

TEST_CASE("vectors of three elements come back from functions and branches as they were") {
  const Gpu gpu;
  constexpr uint kCount = 96;
  const std::vector<ushort> in(kCount * 4);
  std::vector<uint> out(kCount);

  gpu.run(kHead + R"(
    kernel void f(device const bfloat* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
      bfloat3 v = bfloat3(in[i * 4]);
      uint k = 0;
      while (++k < 3 && (i & 1) != 0) v = bfloat2(1).xxy;
      out[i] = v[lane % 3] >= bfloat(1) ? 1 : i + 7;
    })",
          "f", {.grid = size(kCount), .group = size(32)}, in, out);

  for (uint i = 0; i < kCount; ++i) {
    REQUIRE(out[i] == (i % 2 == 1 ? 1 : i + 7));
  }
}

TEST_CASE("an element that another one chooses is found, in groups at the edge too") {
  const Gpu gpu;
  const auto pipeline = gpu.pipeline(R"(#include <metal_stdlib>
    using namespace metal;
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint3 position [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {
      const uint i = (position.z * size.y + position.y) * size.x + position.x;
      uint found = i;
      if (in[0] > 0) found = in[in[position.z] & 511];
      out[i] = found;
    })",
                                     "f");
  std::vector<uint> in = test::noise(512);
  in[0] |= 1;
  for (const uint depth : {1U, 3U, 4U, 5U}) {
    std::vector<uint> out(16 * depth);
    gpu.run(pipeline.get(), {.grid = {4, 4, depth}, .group = {4, 4, 4}}, in, out);
    for (uint i = 0; i < out.size(); ++i) {
      CHECK(out[i] == in[in[i / 16] & 511]);
    }
  }
}

TEST_CASE("members that are aligned for more than their size") {
  const Gpu gpu;

  SUBCASE("of a thread's own structure") {
    std::vector<uint> out(64);

    gpu.run(kHead + R"(
      struct Record { int3 vector; short number; };
      kernel void f(device uint* out [[buffer(0)]], device atomic_uint* counter [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
        Record record;
        record.vector = int3(1, 2, 3);
        record.number = short(i % 5);
        atomic_fetch_add_explicit(counter, 1u, memory_order_relaxed);
        const uint sum = i * 7 + uint(record.number);
        out[i] = sum + uint(record.vector[sum % 3]);
      })",
            "f", {.grid = size(64), .group = size(64)}, out, std::vector<uint>(1));

    for (uint i = 0; i < out.size(); ++i) {
      const uint sum = i * 7 + i % 5;
      REQUIRE(out[i] == sum + 1 + sum % 3);
    }
  }
  SUBCASE("of structures side by side in a buffer") {
    std::vector<std::uint16_t> in(64 * 8);
    for (uint i = 0; i < in.size(); ++i) {
      in[i] = static_cast<std::uint16_t>(i * 3);
    }
    std::vector<uint> out(64);

    gpu.run(kHead + R"(
      struct alignas(16) Record { ushort number; };
      kernel void f(device uint* out [[buffer(0)]], device const Record* in [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
        out[i] = in[i].number;
      })",
            "f", {.grid = size(64), .group = size(64)}, out, in);

    for (uint i = 0; i < out.size(); ++i) {
      REQUIRE(out[i] == in[i * 8]);
    }
  }
}

template <typename T>
void check_own_places(const char* type) {
  CAPTURE(type);
  const Gpu gpu;
  const auto pipeline = gpu.pipeline(kHead + "using T = " + type + R"(;
      kernel void f(device T* x [[buffer(0)]], constant uint& count [[buffer(1)]],
                    constant uint& first [[buffer(2)]], uint i [[thread_position_in_grid]]) {
        if (i < count) {
          const T a = x[first + i];
          if (a % 5 < 2) { x[first + i] = T(a * 3 + 1); }
          if (a % 7 == 0) { x[first + i] = T(i); }
        }
      })",
                                     "f");
  for (const std::size_t count : test::awkward_counts()) {
    for (const uint first : {0U, 3U}) {
      std::vector<T> x(count + 8);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<T>(i * 2654435761U >> 3);
      }
      std::vector<T> wanted = x;
      for (std::size_t i = 0; i < count; ++i) {
        T& place = wanted[first + i];
        const T a = place;
        place = a % 5 < 2 ? static_cast<T>(a * 3 + 1) : place;
        place = a % 7 == 0 ? static_cast<T>(i) : place;
      }
      gpu.run(pipeline.get(), {.grid = size((count + 99) / 100 * 100), .group = size(100)}, x,
              static_cast<uint>(count), first);
      CHECK(x == wanted);
    }
  }
}

TEST_CASE("some threads write over what all of them have read") {
  check_own_places<uchar>("uchar");
  check_own_places<ushort>("ushort");
  check_own_places<uint>("uint");
  check_own_places<ulong>("ulong");
}

TEST_CASE("a byte that is read as a bool is true unless it is 0") {
  const std::string source = kHead + R"(
    struct Pair { uchar first; bool second; };
    kernel void f(device const bool* in [[buffer(0)]], device const Pair* pairs [[buffer(1)]],
                  device uchar* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      out[i] = (in[i] ? 1 : 0) + (pairs[i].second ? 2 : 0) + (in[i] == pairs[i].second ? 4 : 0);
    })";
  constexpr std::size_t kCount = 256;
  std::vector<std::uint8_t> in(kCount);
  std::vector<std::uint8_t> pairs(2 * kCount);
  std::vector<std::uint8_t> wanted(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    in[i] = static_cast<std::uint8_t>(i);
    pairs[2 * i + 1] = static_cast<std::uint8_t>(i * 5 & 0xee);
    const bool first = in[i] != 0;
    const bool second = pairs[2 * i + 1] != 0;
    wanted[i] =
        static_cast<std::uint8_t>((first ? 1 : 0) + (second ? 2 : 0) + (first == second ? 4 : 0));
  }
  std::vector<std::uint8_t> out(kCount);

  const Gpu gpu;
  gpu.run(source, "f", {.grid = size(kCount), .group = size(64)}, in, pairs, out);

  CHECK(out == wanted);
}

}  // namespace pewter
