#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "pewter/metal/executor/builtins.h"
#include "pewter/metal/executor/fiber_group.h"
#include "pewter/metal/executor/kernel_thread.h"

namespace pewter::executor {
namespace {

constexpr std::uint32_t kQuadWidth = 4;

template <typename T>
std::uint64_t to_slot(T value) {
  std::uint64_t slot = 0;
  std::memcpy(&slot, &value, sizeof(value));
  return slot;
}

template <typename T>
T from_slot(std::uint64_t slot) {
  T value;
  std::memcpy(&value, &slot, sizeof(value));
  return value;
}

/// Runs an operation together with the other active threads. A kernel without fibers is alone in
/// its simdgroup.
std::uint64_t exchange(SimdOperation operation,
                       std::uint64_t a,
                       std::uint64_t b = 0,
                       std::uint64_t c = 0) {
  if (FiberGroup* fibers = kernel_thread.fibers) {
    return fibers->exchange(operation, a, b, c);
  }
  SimdExchange alone = {};
  alone.a[0] = a;
  alone.b[0] = b;
  alone.c[0] = c;
  operation(alone, 1);
  return alone.result[0];
}

bool is_set(std::uint32_t mask, std::uint32_t lane) {
  return (mask >> lane & 1) != 0;
}

// Integers are combined without sign, so that overflow wraps.
template <typename T>
using Wrapping = typename std::
    conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

struct Sum {
  // Minus zero, because adding plus zero would change the sign of minus zero.
  template <typename T>
  static constexpr T identity = std::is_integral_v<T> ? T(0) : T(-0.0);
  template <typename T>
  static constexpr T start = T(0);
  template <typename T>
  static T combine(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};

struct Product {
  template <typename T>
  static constexpr T identity = T(1);
  template <typename T>
  static constexpr T start = T(1);
  template <typename T>
  static T combine(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

// fmin and fmax pass over a NaN, so NaN is what changes nothing.
struct Min {
  template <typename T>
  static constexpr T identity =
      std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::quiet_NaN();
  template <typename T>
  static T combine(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return std::min(a, b);
    } else {
      return std::fmin(a, b);
    }
  }
};

struct Max {
  template <typename T>
  static constexpr T identity = std::is_integral_v<T> ? std::numeric_limits<T>::lowest()
                                                      : std::numeric_limits<T>::quiet_NaN();
  template <typename T>
  static T combine(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return std::max(a, b);
    } else {
      return std::fmax(a, b);
    }
  }
};

struct And {
  template <typename T>
  static constexpr T identity = static_cast<T>(~T(0));
  template <typename T>
  static T combine(T a, T b) {
    return a & b;
  }
};

struct Or {
  template <typename T>
  static constexpr T identity = T(0);
  template <typename T>
  static T combine(T a, T b) {
    return a | b;
  }
};

struct Xor {
  template <typename T>
  static constexpr T identity = T(0);
  template <typename T>
  static T combine(T a, T b) {
    return a ^ b;
  }
};

template <typename T, typename Operator>
void gather(const SimdExchange& lanes, std::uint32_t active, T (&values)[abi::kSimdWidth]) {
  for (std::uint32_t lane = 0; lane < abi::kSimdWidth; ++lane) {
    values[lane] =
        is_set(active, lane) ? from_slot<T>(lanes.a[lane]) : Operator::template identity<T>;
  }
}

// The order of reduction and scan is part of the contract, because every way to run a kernel must
// give the same bits: halves are folded onto each other, and scans take steps of 1, 2, 4, ...
template <typename T, typename Operator, std::uint32_t Width>
void reduce(SimdExchange& lanes, std::uint32_t active) {
  T values[abi::kSimdWidth];
  gather<T, Operator>(lanes, active, values);
  for (std::uint32_t base = 0; base < abi::kSimdWidth; base += Width) {
    for (std::uint32_t half = Width / 2; half > 0; half /= 2) {
      for (std::uint32_t i = 0; i < half; ++i) {
        values[base + i] = Operator::combine(values[base + i], values[base + i + half]);
      }
    }
    for (std::uint32_t i = 0; i < Width; ++i) {
      lanes.result[base + i] = to_slot(values[base]);
    }
  }
}

template <typename T, typename Operator, bool Inclusive, std::uint32_t Width>
void scan(SimdExchange& lanes, std::uint32_t active) {
  T values[abi::kSimdWidth];
  gather<T, Operator>(lanes, active, values);
  for (std::uint32_t base = 0; base < abi::kSimdWidth; base += Width) {
    for (std::uint32_t step = 1; step < Width; step *= 2) {
      for (std::uint32_t i = Width; i-- > step;) {
        values[base + i] = Operator::combine(values[base + i - step], values[base + i]);
      }
    }
    for (std::uint32_t i = 0; i < Width; ++i) {
      const T before = i == 0 ? Operator::template identity<T> : values[base + i - 1];
      // From a plain 0 or 1: the identity of a sum is minus zero, which nobody wants to see.
      const T exclusive = Operator::combine(Operator::template start<T>, before);
      lanes.result[base + i] = to_slot(Inclusive ? values[base + i] : exclusive);
    }
  }
}

template <typename T, typename Operator, std::uint32_t Width>
T call_reduce(T value) {
  return from_slot<T>(exchange(&reduce<T, Operator, Width>, to_slot(value)));
}

template <typename T, typename Operator, bool Inclusive, std::uint32_t Width>
T call_scan(T value) {
  return from_slot<T>(exchange(&scan<T, Operator, Inclusive, Width>, to_slot(value)));
}

enum class Route { Direct, Up, Down, Xor, RotateUp, RotateDown };

// Lane that `lane` reads from, counted from the start of its vector of Width lanes; Width or more
// when that is outside.
template <Route R, std::uint32_t Width>
std::uint32_t source_of(std::uint32_t lane, std::uint32_t argument) {
  switch (R) {
    case Route::Direct:
      return argument;
    case Route::Up:
      return lane - argument;
    case Route::Down:
      return lane + argument;
    case Route::Xor:
      return lane ^ argument;
    case Route::RotateUp:
      return (lane - argument) % Width;
    case Route::RotateDown:
      return (lane + argument) % Width;
  }
  return lane;
}

// A lane that would read from outside keeps its own value; one that takes no part reads as zero.
template <Route R, std::uint32_t Width>
void shuffle(SimdExchange& lanes, std::uint32_t active) {
  for (std::uint32_t lane = 0; lane < abi::kSimdWidth; ++lane) {
    const std::uint32_t base = lane / Width * Width;
    const std::uint32_t source =
        source_of<R, Width>(lane - base, static_cast<std::uint32_t>(lanes.b[lane]));
    if (!is_set(active, lane)) {
      continue;
    }
    if (source >= Width) {
      lanes.result[lane] = lanes.a[lane];
    } else {
      lanes.result[lane] = is_set(active, base + source) ? lanes.a[base + source] : 0;
    }
  }
}

// Arguments narrower than a register may come with anything in its upper part.
template <typename T, Route R, std::uint32_t Width>
T call_shuffle(T value, std::uint32_t argument) {
  return static_cast<T>(exchange(&shuffle<R, Width>, value, argument & 0xffff));
}

template <bool Up, std::uint32_t Width>
void shuffle_and_fill(SimdExchange& lanes, std::uint32_t active) {
  for (std::uint32_t lane = 0; lane < abi::kSimdWidth; ++lane) {
    if (!is_set(active, lane)) {
      continue;
    }
    const auto delta = static_cast<std::uint32_t>(lanes.c[lane] & 0xffff);
    const auto modulo = static_cast<std::uint32_t>(lanes.c[lane] >> 16 & 0xffff);
    const std::uint32_t width = modulo == 0 || modulo > Width ? Width : modulo;
    const std::uint32_t base = lane / width * width;
    const std::uint32_t shift = std::min(delta, width);
    const std::uint32_t position = Up ? lane - base + width - shift : lane - base + shift;
    // Positions of the fill lie below the data when shifting up and above it when shifting down.
    const bool is_fill = Up ? position < width : position >= width;
    const std::uint32_t source = base + position % width;
    if (source >= abi::kSimdWidth || !is_set(active, source)) {
      lanes.result[lane] = 0;
    } else {
      lanes.result[lane] = is_fill ? lanes.b[source] : lanes.a[source];
    }
  }
}

template <typename T, bool Up, std::uint32_t Width>
T call_shuffle_and_fill(T value, T fill, std::uint32_t delta, std::uint32_t modulo) {
  const std::uint64_t numbers = (delta & 0xffff) | (modulo & 0xffff) << 16;
  return static_cast<T>(exchange(&shuffle_and_fill<Up, Width>, value, fill, numbers));
}

template <std::uint32_t Width>
std::uint32_t active_in(std::uint32_t active, std::uint32_t base) {
  return Width == abi::kSimdWidth ? active : active >> base & ((std::uint32_t(1) << Width) - 1);
}

template <std::uint32_t Width>
void broadcast_first(SimdExchange& lanes, std::uint32_t active) {
  for (std::uint32_t base = 0; base < abi::kSimdWidth; base += Width) {
    const std::uint32_t own = active_in<Width>(active, base);
    const std::uint64_t value =
        own == 0 ? 0 : lanes.a[base + static_cast<std::uint32_t>(std::countr_zero(own))];
    std::fill_n(lanes.result + base, Width, value);
  }
}

template <typename T, std::uint32_t Width>
T call_broadcast_first(T value) {
  return static_cast<T>(exchange(&broadcast_first<Width>, value));
}

// Mask of the active lanes whose value is true, from which every vote follows.
template <std::uint32_t Width>
void ballot(SimdExchange& lanes, std::uint32_t active) {
  for (std::uint32_t base = 0; base < abi::kSimdWidth; base += Width) {
    std::uint64_t votes = 0;
    for (std::uint32_t i = 0; i < Width; ++i) {
      if (is_set(active, base + i) && lanes.a[base + i] != 0) {
        votes |= std::uint64_t(1) << i;
      }
    }
    // Those who take part stand in the upper half.
    const std::uint64_t own = active_in<Width>(active, base);
    std::fill_n(lanes.result + base, Width, votes | own << 32);
  }
}

template <std::uint32_t Width>
std::uint64_t call_ballot(std::uint32_t value) {
  return exchange(&ballot<Width>, value & 1) & 0xffffffff;
}

template <std::uint32_t Width>
std::uint64_t call_active_mask() {
  return exchange(&ballot<Width>, 1) & 0xffffffff;
}

template <std::uint32_t Width>
bool call_all(std::uint32_t value) {
  const std::uint64_t votes = exchange(&ballot<Width>, value & 1);
  return (votes & 0xffffffff) == votes >> 32;
}

template <std::uint32_t Width>
bool call_any(std::uint32_t value) {
  return (exchange(&ballot<Width>, value & 1) & 0xffffffff) != 0;
}

template <std::uint32_t Width>
void mark_first(SimdExchange& lanes, std::uint32_t active) {
  for (std::uint32_t base = 0; base < abi::kSimdWidth; base += Width) {
    const std::uint32_t own = active_in<Width>(active, base);
    std::fill_n(lanes.result + base, Width, 0);
    if (own != 0) {
      lanes.result[base + static_cast<std::uint32_t>(std::countr_zero(own))] = 1;
    }
  }
}

template <std::uint32_t Width>
bool call_is_first() {
  return exchange(&mark_first<Width>, 0) != 0;
}

using Float2 = float __attribute__((vector_size(8)));

// Where a lane's two elements are: one row, two neighbouring columns.
constexpr std::uint32_t row_of(std::uint32_t lane) {
  return (lane / 4 & 4) + lane / 2 % 4;
}
constexpr std::uint32_t column_of(std::uint32_t lane) {
  return (lane / 4 & 2) * 2 + lane % 2 * 2;
}

void load_matrix(const std::uint64_t (&slots)[abi::kSimdWidth],
                 std::uint32_t active,
                 float (&matrix)[8][8]) {
  for (std::uint32_t lane = 0; lane < abi::kSimdWidth; ++lane) {
    const Float2 pair = from_slot<Float2>(is_set(active, lane) ? slots[lane] : 0);
    matrix[row_of(lane)][column_of(lane)] = pair[0];
    matrix[row_of(lane)][column_of(lane) + 1] = pair[1];
  }
}

void multiply_accumulate(SimdExchange& lanes, std::uint32_t active) {
  float a[8][8];
  float b[8][8];
  float sum[8][8];
  load_matrix(lanes.a, active, a);
  load_matrix(lanes.b, active, b);
  load_matrix(lanes.c, active, sum);
  for (int row = 0; row < 8; ++row) {
    for (int k = 0; k < 8; ++k) {
      for (int column = 0; column < 8; ++column) {
        sum[row][column] = std::fma(a[row][k], b[k][column], sum[row][column]);
      }
    }
  }
  for (std::uint32_t lane = 0; lane < abi::kSimdWidth; ++lane) {
    const float* pair = &sum[row_of(lane)][column_of(lane)];
    lanes.result[lane] = to_slot(Float2{pair[0], pair[1]});
  }
}

Float2 call_multiply_accumulate(Float2 a, Float2 b, Float2 c) {
  return from_slot<Float2>(exchange(&multiply_accumulate, to_slot(a), to_slot(b), to_slot(c)));
}

// clang-format off
#define PEWTER_REDUCE(GROUP, WIDTH, NAME, OPERATOR, SUFFIX, TYPE) \
  {"air." GROUP "_" NAME "." SUFFIX, address_of(&call_reduce<TYPE, OPERATOR, WIDTH>)}
#define PEWTER_SCAN(GROUP, WIDTH, NAME, OPERATOR, SUFFIX, TYPE) \
  {"air." GROUP "_prefix_inclusive_" NAME "." SUFFIX, address_of(&call_scan<TYPE, OPERATOR, true, WIDTH>)}, \
  {"air." GROUP "_prefix_exclusive_" NAME "." SUFFIX, address_of(&call_scan<TYPE, OPERATOR, false, WIDTH>)}
#define PEWTER_ALL_TYPES(ROW, GROUP, WIDTH, NAME, OPERATOR) \
  ROW(GROUP, WIDTH, NAME, OPERATOR, "s.i32", std::int32_t), \
  ROW(GROUP, WIDTH, NAME, OPERATOR, "u.i32", std::uint32_t), \
  ROW(GROUP, WIDTH, NAME, OPERATOR, "s.i64", std::int64_t), \
  ROW(GROUP, WIDTH, NAME, OPERATOR, "u.i64", std::uint64_t), \
  ROW(GROUP, WIDTH, NAME, OPERATOR, "f32", float)
#define PEWTER_BITWISE(GROUP, WIDTH, NAME, OPERATOR) \
  PEWTER_REDUCE(GROUP, WIDTH, NAME, OPERATOR, "u.i32", std::uint32_t), \
  PEWTER_REDUCE(GROUP, WIDTH, NAME, OPERATOR, "u.i64", std::uint64_t)
#define PEWTER_SHUFFLE(GROUP, WIDTH, NAME, ROUTE) \
  {"air." GROUP "_" NAME ".u.i32", address_of(&call_shuffle<std::uint32_t, Route::ROUTE, WIDTH>)}, \
  {"air." GROUP "_" NAME ".u.i64", address_of(&call_shuffle<std::uint64_t, Route::ROUTE, WIDTH>)}
#define PEWTER_FILL(GROUP, WIDTH, NAME, UP) \
  {"air." GROUP "_shuffle_and_fill_" NAME ".u.i32", address_of(&call_shuffle_and_fill<std::uint32_t, UP, WIDTH>)}, \
  {"air." GROUP "_shuffle_and_fill_" NAME ".u.i64", address_of(&call_shuffle_and_fill<std::uint64_t, UP, WIDTH>)}
#define PEWTER_GROUP(GROUP, WIDTH) \
  PEWTER_ALL_TYPES(PEWTER_REDUCE, GROUP, WIDTH, "sum", Sum), \
  PEWTER_ALL_TYPES(PEWTER_REDUCE, GROUP, WIDTH, "product", Product), \
  PEWTER_ALL_TYPES(PEWTER_REDUCE, GROUP, WIDTH, "min", Min), \
  PEWTER_ALL_TYPES(PEWTER_REDUCE, GROUP, WIDTH, "max", Max), \
  PEWTER_BITWISE(GROUP, WIDTH, "and", And), \
  PEWTER_BITWISE(GROUP, WIDTH, "or", Or), \
  PEWTER_BITWISE(GROUP, WIDTH, "xor", Xor), \
  PEWTER_ALL_TYPES(PEWTER_SCAN, GROUP, WIDTH, "sum", Sum), \
  PEWTER_ALL_TYPES(PEWTER_SCAN, GROUP, WIDTH, "product", Product), \
  PEWTER_SHUFFLE(GROUP, WIDTH, "shuffle", Direct), \
  PEWTER_SHUFFLE(GROUP, WIDTH, "broadcast", Direct), \
  PEWTER_SHUFFLE(GROUP, WIDTH, "shuffle_up", Up), \
  PEWTER_SHUFFLE(GROUP, WIDTH, "shuffle_down", Down), \
  PEWTER_SHUFFLE(GROUP, WIDTH, "shuffle_xor", Xor), \
  PEWTER_SHUFFLE(GROUP, WIDTH, "shuffle_rotate_up", RotateUp), \
  PEWTER_SHUFFLE(GROUP, WIDTH, "shuffle_rotate_down", RotateDown), \
  PEWTER_FILL(GROUP, WIDTH, "up", true), \
  PEWTER_FILL(GROUP, WIDTH, "down", false), \
  {"air." GROUP "_broadcast_first.u.i32", address_of(&call_broadcast_first<std::uint32_t, WIDTH>)}, \
  {"air." GROUP "_broadcast_first.u.i64", address_of(&call_broadcast_first<std::uint64_t, WIDTH>)}, \
  {"air." GROUP "_ballot.i64", address_of(&call_ballot<WIDTH>)}, \
  {"air." GROUP "_active_threads_mask.i64", address_of(&call_active_mask<WIDTH>)}, \
  {"air." GROUP "_all", address_of(&call_all<WIDTH>)}, \
  {"air." GROUP "_any", address_of(&call_any<WIDTH>)}, \
  {"air." GROUP "_is_first", address_of(&call_is_first<WIDTH>)}
// clang-format on

}  // namespace

std::span<const Builtin> simdgroup_builtins() {
  static const Builtin table[] = {
      PEWTER_GROUP("simd", abi::kSimdWidth),
      PEWTER_GROUP("quad", kQuadWidth),
      {"air.simdgroup_matrix_8x8_multiply_accumulate.f32", address_of(&call_multiply_accumulate)},
  };
  return table;
}

}  // namespace pewter::executor
