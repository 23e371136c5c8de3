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

// Each thread counts the ways to place queens on a board whose first row is given.
kernel void queens(global const uint* in, global uint* out) {
  uint i = get_global_id(0);
  const uint value = in[i];
  const uint size = 4 + value % 3;
  uint columns[6];
  columns[0] = (value >> 8) % size;
  columns[1] = 0;
  uint row = 1;
  uint count = 0;
  while (row > 0) {
    uint column = columns[row];
    for (; column < size; ++column) {
      bool is_free = true;
      for (uint k = 0; k < row && is_free; ++k) {
        const uint distance = row - k;
        is_free = columns[k] != column && columns[k] + distance != column && column + distance != columns[k];
      }
      if (is_free) {
        break;
      }
    }
    if (column == size) {
      --row;
      columns[row] = columns[row] + 1;
    } else if (row + 1 == size) {
      ++count;
      columns[row] = column + 1;
    } else {
      columns[row] = column;
      ++row;
      columns[row] = 0;
    }
  }
  out[i] = count;
}

// Each thread fills a knapsack.
kernel void knapsack(global const uint* in, global uint* out) {
  uint i = get_global_id(0);
  uint value = in[i];
  ushort best[64];
  for (uint k = 0; k < 64; ++k) {
    best[k] = 0;
  }
  for (uint item = 0; item < 10; ++item) {
    value = value * 1664525 + 1013904223;
    const uint weight = 1 + (value >> 28);
    const uint worth = value >> 16 & 0xfff;
    for (uint room = 63; room >= weight; --room) {
      best[room] = max(best[room], (ushort)(best[room - weight] + worth));
    }
  }
  out[i] = best[63];
}

// Each thread runs a program of its own on a stack.
kernel void interpreter(global const uint* in, global uint* out) {
  uint i = get_global_id(0);
  uint stack[8];
  for (uint k = 0; k < 8; ++k) {
    stack[k] = k;
  }
  uint program = in[i];
  uint top = 0;
  for (uint k = 0; k < 48; ++k) {
    const uint below = (top + 7) & 7;
    switch (program & 7) {
      case 0:
        top = (top + 1) & 7;
        stack[top] = program;
        break;
      case 1:
        stack[below] += stack[top];
        top = below;
        break;
      case 2:
        stack[below] *= stack[top] | 1;
        top = below;
        break;
      case 3:
        top = (top + 1) & 7;
        stack[top] = stack[(top + 7) & 7];
        break;
      case 4: {
        const uint value = stack[top];
        stack[top] = stack[below];
        stack[below] = value;
        break;
      }
      case 5:
        for (uint n = stack[top] & 7; n > 0; --n) {
          stack[top] = stack[top] * 5 + 1;
        }
        break;
      case 6:
        stack[top] ^= stack[below] >> 5;
        break;
      default:
        program = program * 9 + k;
    }
    program = program >> 3 | program << 29;
  }
  out[i] = stack[top];
}

// Each thread adds up a row of its own; all rows begin in the same places of a cache.
kernel void rows(global const uint* in, global uint* out) {
  uint i = get_global_id(0);
  uint sum = 0;
  for (uint k = 0; k < 1024; ++k) {
    sum += in[i * 1024 + k];
    out[i * 1024 + k] = sum;
  }
}
