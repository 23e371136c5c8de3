#include <metal_stdlib>
using namespace metal;

/// One stage of a bitonic sort.
kernel void bitonic(device uint* values [[buffer(0)]],
                    constant uint& distance [[buffer(1)]],
                    constant uint& block [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
  const uint partner = i ^ distance;
  if (partner > i) {
    const uint a = values[i];
    const uint b = values[partner];
    const bool ascending = (i & block) == 0;
    if ((a > b) == ascending) {
      values[i] = b;
      values[partner] = a;
    }
  }
}
