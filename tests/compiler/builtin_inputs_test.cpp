#include "tests/support/gpu.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;

/// What each thread of a grid sees of one built-in input, four values a thread.
std::vector<std::uint32_t> inputs(const Gpu& gpu,
                                  const std::string& type,
                                  const std::string& name,
                                  const test::Shape& shape) {
  const std::size_t threads = shape.grid.width * shape.grid.height * shape.grid.depth;
  const bool scalar = type == "uint" || type == "ushort";
  const std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "template <typename T, int N> uint at(vec<T, N> v, int i) { return i < N ? v[i] : 0; }\n"
      "template <typename T> uint at(T v, int i) { return i == 0 ? v : 0; }\n"
      "kernel void f(device uint* out [[buffer(0)]], uint3 p [[thread_position_in_grid]],\n"
      "              uint3 n [[threads_per_grid]]" +
      (", " + type + " input [[" + name + "]]) {\n") +
      "  uint t = (p.z * n.y + p.y) * n.x + p.x;\n"
      "  for (int i = 0; i < 3; ++i) out[t * 3 + i] = " +
      (scalar ? "i == 0 ? uint(input) : 0;" : "at(input, i);") + "\n}\n";
  std::vector<std::uint32_t> out(threads * 3);
  gpu.run(source, "f", shape, out);
  return out;
}

using Values = std::vector<std::uint32_t>;

Values thread(const Values& all, std::size_t index) {
  return {all[index * 3], all[index * 3 + 1], all[index * 3 + 2]};
}

}  // namespace

TEST_CASE("positions and sizes are right in a grid of uneven groups") {
  const Gpu gpu;
  // 5 x 3 x 2 threads in groups of 4 x 2 x 1: the groups at the edges are smaller.
  const test::Shape shape = {.grid = size(5, 3, 2), .group = size(4, 2, 1)};
  const std::size_t last = 5 * 3 * 2 - 1;  // thread (4, 2, 1), alone in its group

  CHECK(thread(inputs(gpu, "uint3", "thread_position_in_grid", shape), last) == Values{4, 2, 1});
  CHECK(thread(inputs(gpu, "uint3", "thread_position_in_threadgroup", shape), last) ==
        Values{0, 0, 0});
  CHECK(thread(inputs(gpu, "uint3", "threadgroup_position_in_grid", shape), last) ==
        Values{1, 1, 1});
  CHECK(thread(inputs(gpu, "uint3", "threads_per_threadgroup", shape), last) == Values{1, 1, 1});
  CHECK(thread(inputs(gpu, "uint3", "dispatch_threads_per_threadgroup", shape), last) ==
        Values{4, 2, 1});
  CHECK(thread(inputs(gpu, "uint3", "threadgroups_per_grid", shape), last) == Values{2, 2, 2});
  CHECK(thread(inputs(gpu, "uint3", "threads_per_grid", shape), last) == Values{5, 3, 2});
  CHECK(thread(inputs(gpu, "uint3", "grid_size", shape), last) == Values{5, 3, 2});
  CHECK(thread(inputs(gpu, "uint3", "grid_origin", shape), last) == Values{0, 0, 0});
}

TEST_CASE("built-in inputs come in every permitted type") {
  const Gpu gpu;
  const test::Shape shape = {.grid = size(6, 4, 1), .group = size(3, 2, 1)};
  const std::size_t index = 3 * 6 + 5;  // thread (5, 3)

  CHECK(thread(inputs(gpu, "uint", "thread_position_in_grid", shape), index) == Values{5, 0, 0});
  CHECK(thread(inputs(gpu, "ushort", "thread_position_in_grid", shape), index) == Values{5, 0, 0});
  CHECK(thread(inputs(gpu, "uint2", "thread_position_in_grid", shape), index) == Values{5, 3, 0});
  CHECK(thread(inputs(gpu, "ushort2", "thread_position_in_grid", shape), index) == Values{5, 3, 0});
  CHECK(thread(inputs(gpu, "ushort3", "threadgroup_position_in_grid", shape), index) ==
        Values{1, 1, 0});
  CHECK(thread(inputs(gpu, "ushort", "thread_index_in_threadgroup", shape), index) ==
        Values{5, 0, 0});
}

TEST_CASE("simdgroups and quadgroups count threads in order, 32 and 4 at a time") {
  const Gpu gpu;
  const test::Shape shape = {.grid = size(100, 1, 1), .group = size(100, 1, 1)};

  CHECK(thread(inputs(gpu, "uint", "thread_index_in_simdgroup", shape), 69)[0] == 5);
  CHECK(thread(inputs(gpu, "uint", "simdgroup_index_in_threadgroup", shape), 69)[0] == 2);
  CHECK(thread(inputs(gpu, "uint", "simdgroups_per_threadgroup", shape), 69)[0] == 4);
  CHECK(thread(inputs(gpu, "uint", "threads_per_simdgroup", shape), 69)[0] == 32);
  CHECK(thread(inputs(gpu, "uint", "thread_execution_width", shape), 69)[0] == 32);
  CHECK(thread(inputs(gpu, "uint", "thread_index_in_quadgroup", shape), 69)[0] == 1);
  CHECK(thread(inputs(gpu, "uint", "quadgroup_index_in_threadgroup", shape), 69)[0] == 17);
  CHECK(thread(inputs(gpu, "uint", "quadgroups_per_threadgroup", shape), 69)[0] == 25);
  CHECK(thread(inputs(gpu, "uint", "dispatch_simdgroups_per_threadgroup", shape), 69)[0] == 4);
  CHECK(thread(inputs(gpu, "uint", "dispatch_quadgroups_per_threadgroup", shape), 69)[0] == 25);
}

}  // namespace pewter
