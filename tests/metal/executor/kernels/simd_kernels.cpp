// One kernel for each simdgroup built-in: reads its operands from buffers, writes its result.
#include "tests/metal/executor/kernels/kernel.h"

using pewter::abi::buffer;

// Lanes whose bit is not set in the 32-bit mask at buffer(1) take no part.
#define PEWTER_TAKE_PART()                                                   \
  if ((*buffer<const std::uint32_t>(launch, 1) >> (thread % 32) & 1) == 0) { \
    return;                                                                  \
  }                                                                          \
  site(1)

#define PEWTER_UNARY(name, symbol, type)                            \
  extern "C" type name##_builtin(type value) PEWTER_SYMBOL(symbol); \
  PEWTER_KERNEL(name) {                                             \
    PEWTER_TAKE_PART();                                             \
    auto* values = buffer<type>(launch, 0);                         \
    values[thread] = name##_builtin(values[thread]);                \
  }

#define PEWTER_ALL_TYPES(name, operation)                              \
  PEWTER_UNARY(name##_int, "air." operation ".s.i32", std::int32_t)    \
  PEWTER_UNARY(name##_uint, "air." operation ".u.i32", std::uint32_t)  \
  PEWTER_UNARY(name##_long, "air." operation ".s.i64", std::int64_t)   \
  PEWTER_UNARY(name##_ulong, "air." operation ".u.i64", std::uint64_t) \
  PEWTER_UNARY(name##_float, "air." operation ".f32", float)

#define PEWTER_BITS(name, operation)                                  \
  PEWTER_UNARY(name##_uint, "air." operation ".u.i32", std::uint32_t) \
  PEWTER_UNARY(name##_ulong, "air." operation ".u.i64", std::uint64_t)

#define PEWTER_SHUFFLE(name, operation)                                            \
  extern "C" std::uint64_t name##_builtin(std::uint64_t value, std::uint16_t lane) \
      PEWTER_SYMBOL("air." operation ".u.i64");                                    \
  PEWTER_KERNEL(name) {                                                            \
    PEWTER_TAKE_PART();                                                            \
    auto* values = buffer<std::uint64_t>(launch, 0);                               \
    const auto* lanes = buffer<const std::uint16_t>(launch, 2);                    \
    values[thread] = name##_builtin(values[thread], lanes[thread]);                \
  }

#define PEWTER_FILL(name, operation)                                                   \
  extern "C" std::uint32_t name##_builtin(std::uint32_t value, std::uint32_t fill,     \
                                          std::uint16_t delta, std::uint16_t modulo)   \
      PEWTER_SYMBOL("air." operation ".u.i32");                                        \
  PEWTER_KERNEL(name) {                                                                \
    PEWTER_TAKE_PART();                                                                \
    auto* values = buffer<std::uint32_t>(launch, 0);                                   \
    const auto* numbers = buffer<const std::uint16_t>(launch, 2);                      \
    values[thread] =                                                                   \
        name##_builtin(values[thread], values[thread] + 1000, numbers[0], numbers[1]); \
  }

#define PEWTER_VOTE(name, type, operation)                                    \
  extern "C" type name##_builtin(bool value) PEWTER_SYMBOL("air." operation); \
  PEWTER_KERNEL(name) {                                                       \
    PEWTER_TAKE_PART();                                                       \
    auto* values = buffer<std::uint64_t>(launch, 0);                          \
    values[thread] = name##_builtin(values[thread] != 0);                     \
  }

#define PEWTER_ASK(name, type, operation)                           \
  extern "C" type name##_builtin() PEWTER_SYMBOL("air." operation); \
  PEWTER_KERNEL(name) {                                             \
    PEWTER_TAKE_PART();                                             \
    buffer<std::uint64_t>(launch, 0)[thread] = name##_builtin();    \
  }

#define PEWTER_FAMILY(group)                                                        \
  PEWTER_ALL_TYPES(group##_sum, #group "_sum")                                      \
  PEWTER_ALL_TYPES(group##_product, #group "_product")                              \
  PEWTER_ALL_TYPES(group##_min, #group "_min")                                      \
  PEWTER_ALL_TYPES(group##_max, #group "_max")                                      \
  PEWTER_BITS(group##_and, #group "_and")                                           \
  PEWTER_BITS(group##_or, #group "_or")                                             \
  PEWTER_BITS(group##_xor, #group "_xor")                                           \
  PEWTER_ALL_TYPES(group##_inclusive_sum, #group "_prefix_inclusive_sum")           \
  PEWTER_ALL_TYPES(group##_exclusive_sum, #group "_prefix_exclusive_sum")           \
  PEWTER_ALL_TYPES(group##_inclusive_product, #group "_prefix_inclusive_product")   \
  PEWTER_ALL_TYPES(group##_exclusive_product, #group "_prefix_exclusive_product")   \
  PEWTER_BITS(group##_broadcast_first, #group "_broadcast_first")                   \
  PEWTER_SHUFFLE(group##_shuffle, #group "_shuffle")                                \
  PEWTER_SHUFFLE(group##_broadcast, #group "_broadcast")                            \
  PEWTER_SHUFFLE(group##_shuffle_up, #group "_shuffle_up")                          \
  PEWTER_SHUFFLE(group##_shuffle_down, #group "_shuffle_down")                      \
  PEWTER_SHUFFLE(group##_shuffle_xor, #group "_shuffle_xor")                        \
  PEWTER_SHUFFLE(group##_shuffle_rotate_up, #group "_shuffle_rotate_up")            \
  PEWTER_SHUFFLE(group##_shuffle_rotate_down, #group "_shuffle_rotate_down")        \
  PEWTER_FILL(group##_fill_up, #group "_shuffle_and_fill_up")                       \
  PEWTER_FILL(group##_fill_down, #group "_shuffle_and_fill_down")                   \
  PEWTER_VOTE(group##_ballot, std::uint64_t, #group "_ballot.i64")                  \
  PEWTER_VOTE(group##_all, bool, #group "_all")                                     \
  PEWTER_VOTE(group##_any, bool, #group "_any")                                     \
  PEWTER_ASK(group##_active_mask, std::uint64_t, #group "_active_threads_mask.i64") \
  PEWTER_ASK(group##_is_first, bool, #group "_is_first")

PEWTER_FAMILY(simd)
PEWTER_FAMILY(quad)

using Float2 = float __attribute__((vector_size(8)));
extern "C" Float2 multiply_accumulate(Float2 a, Float2 b, Float2 c)
    PEWTER_SYMBOL("air.simdgroup_matrix_8x8_multiply_accumulate.f32");

/// buffer(0) = buffer(0) * buffer(2) + buffer(3), 8x8 by rows.
PEWTER_KERNEL(matrix_multiply) {
  PEWTER_TAKE_PART();
  const std::uint32_t lane = thread % 32;
  const std::uint32_t quad = lane / 4;
  const std::uint32_t row = (quad & 4) + lane / 2 % 4;
  const std::uint32_t column = (quad & 2) * 2 + lane % 2 * 2;
  const std::uint32_t at = row * 8 + column;
  const auto pair = [&](int index) {
    const float* values = buffer<const float>(launch, index) + at;
    return Float2{values[0], values[1]};
  };
  const Float2 result = multiply_accumulate(pair(0), pair(2), pair(3));
  buffer<float>(launch, 4)[at] = result[0];
  buffer<float>(launch, 4)[at + 1] = result[1];
}
