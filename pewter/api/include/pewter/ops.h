#pragma once

#include <pewter/array.h>
#include <pewter/device.h>
#include <pewter/export.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

/// Operations on arrays, under the names of NumPy and MLX.
///
/// All are lazy: a call checks shapes and types, throws std::invalid_argument with both in the text
/// when they do not fit, and returns an array that knows its own shape and type. Axes count from
/// the end when negative. Inputs of different shapes are broadcast, inputs of different types
/// promoted (promote_types); a C++ number as operand of an operator takes the array's type when it
/// can. The last argument says where the work is done.
namespace pewter {

/// A C++ number that is neither a truth nor complex.
template <typename T>
concept RealNumber = std::floating_point<T> || (std::integral<T> && !std::same_as<T, bool>);

/// The type of arrays for what C++ makes of such numbers when it adds them; doubles become float32.
template <RealNumber... Numbers>
constexpr Dtype sum_type() {
  using Sum = decltype((Numbers() + ...));
  constexpr bool kIsLong = sizeof(Sum) > sizeof(std::int32_t);
  if constexpr (std::floating_point<Sum>) {
    return Dtype::Float32;
  } else if constexpr (std::signed_integral<Sum>) {
    return kIsLong ? Dtype::Int64 : Dtype::Int32;
  } else {
    return kIsLong ? Dtype::UInt64 : Dtype::UInt32;
  }
}

/// Axes of a reduction or a view.
using Axes = std::vector<int>;

// --- Making arrays. ---

PEWTER_EXPORT array full(Shape shape, const array& value, Dtype dtype, StreamOrDevice s = {});
PEWTER_EXPORT array full(Shape shape, const array& value, StreamOrDevice s = {});
PEWTER_EXPORT array zeros(const Shape& shape, Dtype dtype = Dtype::Float32, StreamOrDevice s = {});
PEWTER_EXPORT array ones(const Shape& shape, Dtype dtype = Dtype::Float32, StreamOrDevice s = {});
PEWTER_EXPORT array zeros_like(const array& a, StreamOrDevice s = {});
PEWTER_EXPORT array ones_like(const array& a, StreamOrDevice s = {});
/// From `start` up to but not `stop`; whole numbers in the step between the first two. Throws for a
/// step of 0 and more than 2^31 elements.
PEWTER_EXPORT array arange(double start,
                           double stop,
                           double step = 1,
                           Dtype dtype = Dtype::Float32,
                           StreamOrDevice s = {});
/// Whole numbers from 0, of type int32.
PEWTER_EXPORT array arange(int stop, StreamOrDevice s = {});
PEWTER_EXPORT array arange(int start, int stop, int step = 1, StreamOrDevice s = {});
/// From 0 up to but not `stop`, of type float32.
template <std::floating_point T>
array arange(T stop, StreamOrDevice s = {}) {
  return arange(0.0, static_cast<double>(stop), 1.0, Dtype::Float32, s);
}
/// Numbers of several types: with a fraction float32, else the type in which C++ adds them.
template <RealNumber T, RealNumber U, RealNumber V = int>
array arange(T start, U stop, V step = 1, StreamOrDevice s = {}) {
  return arange(static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step),
                sum_type<T, U, V>(), s);
}
template <RealNumber T, RealNumber U, RealNumber V>
array arange(T start, U stop, V step, Dtype dtype, StreamOrDevice s = {}) {
  return arange(static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step),
                dtype, s);
}
/// `count` numbers from `start` to `stop`, both included, computed in double; of integer types
/// those below. Throws std::invalid_argument when an end is not finite.
PEWTER_EXPORT array linspace(
    double start, double stop, int count = 50, Dtype dtype = Dtype::Float32, StreamOrDevice s = {});
/// Ones on the k-th diagonal.
PEWTER_EXPORT array
eye(int rows, int columns, int k = 0, Dtype dtype = Dtype::Float32, StreamOrDevice s = {});
PEWTER_EXPORT array eye(int n, Dtype dtype = Dtype::Float32, StreamOrDevice s = {});
PEWTER_EXPORT array identity(int n, Dtype dtype = Dtype::Float32, StreamOrDevice s = {});
/// Ones at and below the k-th diagonal.
PEWTER_EXPORT array
tri(int rows, int columns, int k = 0, Dtype dtype = Dtype::Float32, StreamOrDevice s = {});
/// Zeros above (below) the k-th diagonal of the last two axes.
PEWTER_EXPORT array tril(const array& a, int k = 0, StreamOrDevice s = {});
PEWTER_EXPORT array triu(const array& a, int k = 0, StreamOrDevice s = {});

// --- Types. ---

/// What two types become together; as MLX has it.
PEWTER_EXPORT Dtype promote_types(Dtype a, Dtype b);
PEWTER_EXPORT Dtype result_type(const std::vector<array>& arrays);
PEWTER_EXPORT array astype(const array& a, Dtype dtype, StreamOrDevice s = {});
/// The same bytes as elements of another type; the last axis grows or shrinks accordingly.
PEWTER_EXPORT array view(const array& a, Dtype dtype, StreamOrDevice s = {});

// --- Shapes. Those without arithmetic are views whenever the strides allow it. ---

/// One length may be -1: what is left.
PEWTER_EXPORT array reshape(const array& a, Shape shape, StreamOrDevice s = {});
PEWTER_EXPORT array flatten(const array& a,
                            int start_axis = 0,
                            int end_axis = -1,
                            StreamOrDevice s = {});
PEWTER_EXPORT array unflatten(const array& a, int axis, const Shape& shape, StreamOrDevice s = {});
PEWTER_EXPORT array squeeze(const array& a, const Axes& axes, StreamOrDevice s = {});
PEWTER_EXPORT array squeeze(const array& a, int axis, StreamOrDevice s = {});
PEWTER_EXPORT array squeeze(const array& a, StreamOrDevice s = {});
PEWTER_EXPORT array expand_dims(const array& a, const Axes& axes, StreamOrDevice s = {});
PEWTER_EXPORT array expand_dims(const array& a, int axis, StreamOrDevice s = {});
PEWTER_EXPORT array transpose(const array& a, const Axes& axes, StreamOrDevice s = {});
/// The axes in reverse order.
PEWTER_EXPORT array transpose(const array& a, StreamOrDevice s = {});
PEWTER_EXPORT array swapaxes(const array& a, int axis1, int axis2, StreamOrDevice s = {});
PEWTER_EXPORT array moveaxis(const array& a, int source, int destination, StreamOrDevice s = {});
PEWTER_EXPORT array broadcast_to(const array& a, const Shape& shape, StreamOrDevice s = {});
PEWTER_EXPORT Shape broadcast_shapes(const Shape& a, const Shape& b);
PEWTER_EXPORT std::vector<array> broadcast_arrays(const std::vector<array>& inputs,
                                                  StreamOrDevice s = {});
/// Elements start, start + stride ... up to but not stop, of each axis; as Python's a[start:stop:
/// stride]. Negative positions count from the end, positions outside are clamped, strides may be
/// negative. A stop below -length means "through the first element" for negative strides.
PEWTER_EXPORT array slice(const array& a,
                          const Shape& start,
                          const Shape& stop,
                          const Shape& strides,
                          StreamOrDevice s = {});
PEWTER_EXPORT array slice(const array& a,
                          const Shape& start,
                          const Shape& stop,
                          StreamOrDevice s = {});
/// A copy of `a` with a slice replaced by `update`, which is broadcast.
PEWTER_EXPORT array slice_update(const array& a,
                                 const array& update,
                                 const Shape& start,
                                 const Shape& stop,
                                 const Shape& strides,
                                 StreamOrDevice s = {});
PEWTER_EXPORT array slice_update(const array& a,
                                 const array& update,
                                 const Shape& start,
                                 const Shape& stop,
                                 StreamOrDevice s = {});
/// A row contiguous copy, or the array itself when it is one.
PEWTER_EXPORT array contiguous(const array& a, StreamOrDevice s = {});
PEWTER_EXPORT array copy(const array& a, StreamOrDevice s = {});
PEWTER_EXPORT std::vector<array> split(const array& a,
                                       int parts,
                                       int axis = 0,
                                       StreamOrDevice s = {});
PEWTER_EXPORT std::vector<array> split(const array& a,
                                       const Shape& positions,
                                       int axis = 0,
                                       StreamOrDevice s = {});
PEWTER_EXPORT array concatenate(const std::vector<array>& arrays,
                                int axis = 0,
                                StreamOrDevice s = {});
PEWTER_EXPORT array stack(const std::vector<array>& arrays, int axis = 0, StreamOrDevice s = {});
PEWTER_EXPORT array tile(const array& a, std::vector<int> repetitions, StreamOrDevice s = {});
PEWTER_EXPORT array repeat(const array& a, int repetitions, int axis, StreamOrDevice s = {});
PEWTER_EXPORT array repeat(const array& a, int repetitions, StreamOrDevice s = {});
PEWTER_EXPORT array roll(const array& a, std::int64_t shift, int axis, StreamOrDevice s = {});
PEWTER_EXPORT array roll(const array& a, std::int64_t shift, StreamOrDevice s = {});
/// By one shift for each axis. Throws when their numbers differ.
PEWTER_EXPORT array roll(const array& a,
                         const Shape& shifts,
                         const Axes& axes,
                         StreamOrDevice s = {});
/// `widths` has {before, after} for each axis, or one pair for all.
PEWTER_EXPORT array pad(const array& a,
                        const std::vector<std::pair<int, int>>& widths,
                        const array& value = array(0),
                        const std::string& mode = "constant",
                        StreamOrDevice s = {});
PEWTER_EXPORT array
diagonal(const array& a, int offset = 0, int axis1 = 0, int axis2 = 1, StreamOrDevice s = {});
PEWTER_EXPORT array diag(const array& a, int k = 0, StreamOrDevice s = {});

// --- Element by element. docs/operations.md lists them with their types. ---

#define PEWTER_UNARY(name, rule, msl, text) \
  PEWTER_EXPORT array name(const array& a, StreamOrDevice s = {});
#define PEWTER_BINARY(name, rule, msl, text) \
  PEWTER_EXPORT array name(const array& a, const array& b, StreamOrDevice s = {});
#include <pewter/elementwise.def>

/// `x` where the condition is not zero, `y` elsewhere.
PEWTER_EXPORT array where(const array& condition,
                          const array& x,
                          const array& y,
                          StreamOrDevice s = {});
PEWTER_EXPORT array clip(const array& a,
                         const std::optional<array>& low,
                         const std::optional<array>& high,
                         StreamOrDevice s = {});
/// To that many decimals, ties to even.
PEWTER_EXPORT array round(const array& a, int decimals = 0, StreamOrDevice s = {});
/// NaN and infinities replaced; without values for these by the greatest numbers of the type.
PEWTER_EXPORT array nan_to_num(const array& a,
                               float nan = 0,
                               std::optional<float> positive = std::nullopt,
                               std::optional<float> negative = std::nullopt,
                               StreamOrDevice s = {});
/// {floor_divide, remainder}.
PEWTER_EXPORT std::vector<array> divmod(const array& a, const array& b, StreamOrDevice s = {});
/// Whether |a - b| <= atol + rtol * |b|.
PEWTER_EXPORT array isclose(const array& a,
                            const array& b,
                            double rtol = 1e-5,
                            double atol = 1e-8,
                            bool equal_nan = false,
                            StreamOrDevice s = {});
PEWTER_EXPORT array allclose(const array& a,
                             const array& b,
                             double rtol = 1e-5,
                             double atol = 1e-8,
                             bool equal_nan = false,
                             StreamOrDevice s = {});
PEWTER_EXPORT array array_equal(const array& a,
                                const array& b,
                                bool equal_nan = false,
                                StreamOrDevice s = {});
/// The array itself; part of MLX's interface.
PEWTER_EXPORT array stop_gradient(const array& a, StreamOrDevice s = {});

// --- Reductions: over the given axes, one axis, or all. Sums and products of bools and integers of
// 8 and 16 bits are int32, or uint32 of unsigned ones; running sums and products too. ---

#define PEWTER_REDUCTION(name)                                                      \
  PEWTER_EXPORT array name(const array& a, const Axes& axes, bool keepdims = false, \
                           StreamOrDevice s = {});                                  \
  PEWTER_EXPORT array name(const array& a, int axis, bool keepdims = false,         \
                           StreamOrDevice s = {});                                  \
  PEWTER_EXPORT array name(const array& a, bool keepdims, StreamOrDevice s = {});   \
  inline array name(const array& a, StreamOrDevice s = {}) {                        \
    return name(a, false, s);                                                       \
  }
PEWTER_REDUCTION(sum)
PEWTER_REDUCTION(prod)
PEWTER_REDUCTION(mean)
PEWTER_REDUCTION(min)
PEWTER_REDUCTION(max)
PEWTER_REDUCTION(all)
PEWTER_REDUCTION(any)
PEWTER_REDUCTION(logsumexp)
#undef PEWTER_REDUCTION

/// `ddof` is subtracted from the number of elements that the sum of squares is divided by.
PEWTER_EXPORT array
var(const array& a, const Axes& axes, bool keepdims = false, int ddof = 0, StreamOrDevice s = {});
PEWTER_EXPORT array
var(const array& a, int axis, bool keepdims = false, int ddof = 0, StreamOrDevice s = {});
PEWTER_EXPORT array var(const array& a, bool keepdims = false, int ddof = 0, StreamOrDevice s = {});
/// Standard deviation; std is taken.
PEWTER_EXPORT array
std(const array& a, const Axes& axes, bool keepdims = false, int ddof = 0, StreamOrDevice s = {});
PEWTER_EXPORT array
std(const array& a, int axis, bool keepdims = false, int ddof = 0, StreamOrDevice s = {});
PEWTER_EXPORT array std(const array& a, bool keepdims = false, int ddof = 0, StreamOrDevice s = {});

/// Position of the first smallest (greatest) element, of type uint32; without an axis in the
/// flattened array.
PEWTER_EXPORT array argmin(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
PEWTER_EXPORT array argmin(const array& a, bool keepdims = false, StreamOrDevice s = {});
PEWTER_EXPORT array argmax(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
PEWTER_EXPORT array argmax(const array& a, bool keepdims = false, StreamOrDevice s = {});

/// Along an axis, or without one through the flattened array.
#define PEWTER_SCAN(name)                                                                         \
  PEWTER_EXPORT array name(const array& a, int axis, bool reverse = false, bool inclusive = true, \
                           StreamOrDevice s = {});                                                \
  inline array name(const array& a, bool reverse, bool inclusive = true, StreamOrDevice s = {}) { \
    return name(flatten(a, 0, -1, s), 0, reverse, inclusive, s);                                  \
  }                                                                                               \
  inline array name(const array& a, StreamOrDevice s = {}) {                                      \
    return name(a, false, true, s);                                                               \
  }
PEWTER_SCAN(cumsum)
PEWTER_SCAN(cumprod)
PEWTER_SCAN(cummax)
PEWTER_SCAN(cummin)
#undef PEWTER_SCAN

PEWTER_EXPORT array softmax(const array& a, const Axes& axes, StreamOrDevice s = {});
PEWTER_EXPORT array softmax(const array& a, int axis, StreamOrDevice s = {});
PEWTER_EXPORT array softmax(const array& a, StreamOrDevice s = {});
/// As MLX has them; halves are computed as float32 whether `precise` is asked for or not.
inline array softmax(const array& a, const Axes& axes, bool /*precise*/, StreamOrDevice s = {}) {
  return softmax(a, axes, s);
}
inline array softmax(const array& a, int axis, bool /*precise*/, StreamOrDevice s = {}) {
  return softmax(a, axis, s);
}
inline array softmax(const array& a, bool /*precise*/, StreamOrDevice s = {}) {
  return softmax(a, s);
}

// --- Products. ---

/// As NumPy: 1-D operands are rows or columns, leading axes are broadcast. Integers as float32.
PEWTER_EXPORT array matmul(const array& a, const array& b, StreamOrDevice s = {});
/// alpha * (a @ b) + beta * c.
PEWTER_EXPORT array addmm(const array& c,
                          const array& a,
                          const array& b,
                          float alpha = 1,
                          float beta = 1,
                          StreamOrDevice s = {});
PEWTER_EXPORT array inner(const array& a, const array& b, StreamOrDevice s = {});
PEWTER_EXPORT array outer(const array& a, const array& b, StreamOrDevice s = {});

// --- Picking and placing. Indices count from the end when negative. ---

PEWTER_EXPORT array take(const array& a, const array& indices, int axis, StreamOrDevice s = {});
/// From the flattened array.
PEWTER_EXPORT array take(const array& a, const array& indices, StreamOrDevice s = {});
PEWTER_EXPORT array take_along_axis(const array& a,
                                    const array& indices,
                                    int axis,
                                    StreamOrDevice s = {});
PEWTER_EXPORT array put_along_axis(
    const array& a, const array& indices, const array& values, int axis, StreamOrDevice s = {});
PEWTER_EXPORT array scatter_add_axis(
    const array& a, const array& indices, const array& values, int axis, StreamOrDevice s = {});
/// Slices of `slice_sizes` at the positions that `indices`, one array for each of `axes`, give
/// together. Shape: that of the indices, then `slice_sizes`.
PEWTER_EXPORT array gather(const array& a,
                           const std::vector<array>& indices,
                           const Axes& axes,
                           const Shape& slice_sizes,
                           StreamOrDevice s = {});
/// A copy of `a` in which such slices are replaced by `updates`, or combined with them, one after
/// the other: of slices that overlap the last one stays.
PEWTER_EXPORT array scatter(const array& a,
                            const std::vector<array>& indices,
                            const array& updates,
                            const Axes& axes,
                            StreamOrDevice s = {});
PEWTER_EXPORT array scatter_add(const array& a,
                                const std::vector<array>& indices,
                                const array& updates,
                                const Axes& axes,
                                StreamOrDevice s = {});
PEWTER_EXPORT array scatter_prod(const array& a,
                                 const std::vector<array>& indices,
                                 const array& updates,
                                 const Axes& axes,
                                 StreamOrDevice s = {});
PEWTER_EXPORT array scatter_max(const array& a,
                                const std::vector<array>& indices,
                                const array& updates,
                                const Axes& axes,
                                StreamOrDevice s = {});
PEWTER_EXPORT array scatter_min(const array& a,
                                const std::vector<array>& indices,
                                const array& updates,
                                const Axes& axes,
                                StreamOrDevice s = {});

// --- Order. NaN comes last. ---

PEWTER_EXPORT array sort(const array& a, int axis = -1, StreamOrDevice s = {});
/// Positions, of type uint32; equal elements keep their order.
PEWTER_EXPORT array argsort(const array& a, int axis = -1, StreamOrDevice s = {});
/// Element `kth` stands where it would in sorted order, smaller ones before it.
PEWTER_EXPORT array partition(const array& a, int kth, int axis = -1, StreamOrDevice s = {});
PEWTER_EXPORT array argpartition(const array& a, int kth, int axis = -1, StreamOrDevice s = {});
/// The k greatest, in no particular order.
PEWTER_EXPORT array topk(const array& a, int k, int axis = -1, StreamOrDevice s = {});
/// The same for the flattened array.
inline array sort(const array& a, std::nullopt_t /*axis*/, StreamOrDevice s = {}) {
  return sort(flatten(a, 0, -1, s), 0, s);
}
inline array argsort(const array& a, std::nullopt_t /*axis*/, StreamOrDevice s = {}) {
  return argsort(flatten(a, 0, -1, s), 0, s);
}
inline array partition(const array& a, int kth, std::nullopt_t /*axis*/, StreamOrDevice s = {}) {
  return partition(flatten(a, 0, -1, s), kth, 0, s);
}
inline array argpartition(const array& a, int kth, std::nullopt_t /*axis*/, StreamOrDevice s = {}) {
  return argpartition(flatten(a, 0, -1, s), kth, 0, s);
}
inline array topk(const array& a, int k, std::nullopt_t /*axis*/, StreamOrDevice s = {}) {
  return topk(flatten(a, 0, -1, s), k, 0, s);
}

// --- Quantized matrices. ---

/// Groups of `group_size` (32, 64, 128) elements of a row share a scale and a bias; each element is
/// 2, 4 or 8 bits of a uint32. Returns {packed, scales, biases}.
PEWTER_EXPORT std::vector<array> quantize(const array& w,
                                          int group_size = 64,
                                          int bits = 4,
                                          StreamOrDevice s = {});
PEWTER_EXPORT array dequantize(const array& w,
                               const array& scales,
                               const array& biases,
                               int group_size = 64,
                               int bits = 4,
                               StreamOrDevice s = {});
/// x @ w, or x @ swapaxes(w, -1, -2), for a quantized w; batches are broadcast as matmul does.
PEWTER_EXPORT array quantized_matmul(const array& x,
                                     const array& w,
                                     const array& scales,
                                     const array& biases,
                                     bool transpose = true,
                                     int group_size = 64,
                                     int bits = 4,
                                     StreamOrDevice s = {});

// --- Operators. ---

/// A C++ number as the operand of an array: of the array's type, to which whole numbers wrap
/// around. But a fraction beside whole numbers is float32, a whole number beside bools int32 (or
/// int64, uint64 when it is too large), and a complex number complex64.
PEWTER_EXPORT array operand(const Scalar& number, Dtype beside);

#define PEWTER_OPERATOR(symbol, function)                        \
  inline array operator symbol(const array& a, const array& b) { \
    return function(a, b);                                       \
  }                                                              \
  template <Number T>                                            \
  array operator symbol(const array& a, T b) {                   \
    return function(a, operand(scalar_of(b), a.dtype()));        \
  }                                                              \
  template <Number T>                                            \
  array operator symbol(T a, const array& b) {                   \
    return function(operand(scalar_of(a), b.dtype()), b);        \
  }
PEWTER_OPERATOR(+, add)
PEWTER_OPERATOR(-, subtract)
PEWTER_OPERATOR(*, multiply)
PEWTER_OPERATOR(/, divide)
PEWTER_OPERATOR(%, remainder)
PEWTER_OPERATOR(==, equal)
PEWTER_OPERATOR(!=, not_equal)
PEWTER_OPERATOR(<, less)
PEWTER_OPERATOR(<=, less_equal)
PEWTER_OPERATOR(>, greater)
PEWTER_OPERATOR(>=, greater_equal)
PEWTER_OPERATOR(&, bitwise_and)
PEWTER_OPERATOR(|, bitwise_or)
PEWTER_OPERATOR(^, bitwise_xor)
PEWTER_OPERATOR(<<, left_shift)
PEWTER_OPERATOR(>>, right_shift)
PEWTER_OPERATOR(&&, logical_and)
PEWTER_OPERATOR(||, logical_or)
#undef PEWTER_OPERATOR

inline array operator-(const array& a) {
  return negative(a);
}
inline array operator!(const array& a) {
  return logical_not(a);
}
inline array operator~(const array& a) {
  return bitwise_invert(a);
}

}  // namespace pewter
