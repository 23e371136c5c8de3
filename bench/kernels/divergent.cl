// Each thread runs one of 32 loops.
#define LOOP(number)                                                   \
  case number:                                                         \
    for (uint k = 0; k < steps; ++k) {                                 \
      value = value * (2 * number + 3) ^ (value >> (number % 13 + 1)); \
    }                                                                  \
    break;
kernel void cases(global const uint* in, global uint* out) {
  uint i = get_global_id(0);
  uint value = in[i];
  const uint steps = 64 + (value & 63);
  switch (value >> 27) {
    LOOP(0) LOOP(1) LOOP(2) LOOP(3) LOOP(4) LOOP(5) LOOP(6) LOOP(7)
    LOOP(8) LOOP(9) LOOP(10) LOOP(11) LOOP(12) LOOP(13) LOOP(14) LOOP(15)
    LOOP(16) LOOP(17) LOOP(18) LOOP(19) LOOP(20) LOOP(21) LOOP(22) LOOP(23)
    LOOP(24) LOOP(25) LOOP(26) LOOP(27) LOOP(28) LOOP(29) LOOP(30) LOOP(31)
  }
  out[i] = value;
}

// One thread in 128 follows 2,000 links among the first 1M words, the others five.
kernel void chase(global const uint* in, global uint* out) {
  uint i = get_global_id(0);
  uint at = in[i] & 0xfffff;
  const uint steps = (in[i] >> 25) == 0 ? 2000 : 5;
  uint sum = 0;
  for (uint k = 0; k < steps; ++k) {
    at = in[at] & 0xfffff;
    sum += at;
  }
  out[i] = sum;
}

// Each thread sorts an array of its own and gives the one in the middle.
kernel void insertion(global const uint* in, global uint* out) {
  uint i = get_global_id(0);
  uint values[24];
  uint value = in[i];
  const uint count = 8 + (value & 15);
  for (uint k = 0; k < count; ++k) {
    value = value * 1664525 + 1013904223;
    values[k] = value;
  }
  for (uint k = 1; k < count; ++k) {
    const uint moved = values[k];
    uint at = k;
    while (at > 0 && values[at - 1] > moved) {
      values[at] = values[at - 1];
      --at;
    }
    values[at] = moved;
  }
  out[i] = values[count / 2];
}
