#pragma once

#include <pewter/dtype.h>
#include <pewter/export.h>
#include <pewter/scalar.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace MTL {  // NOLINT(readability-identifier-naming): Metal's own
class Buffer;
}

namespace pewter {

/// Lengths of the axes, outermost first.
using Shape = std::vector<std::int64_t>;
/// Elements between neighbours along each axis.
using Strides = std::vector<std::int64_t>;

/// Where an array's bytes are counted and who may compute with them.
enum class Placement : std::uint8_t {
  /// A buffer of the device's allocator, which the host sees too.
  Device,
  /// Plain memory of the host, which counts in none of the device's numbers.
  Host,
};

namespace graph {
struct Node;
}

/// What lists of numbers are made of; doubles become float32.
template <typename T>
concept ListElement = Element<T> || std::same_as<T, double>;

/// A multi-dimensional array: a handle that is cheap to copy.
///
/// What an array is (shape, type, strides, place) never changes. An array that an operation of
/// <pewter/ops.h> returned is lazy: it has no memory until it is evaluated, which happens when its
/// elements are read or eval() is called. Memory is shared by views, and kernels given to
/// `mps::compile_shader` may write to it. Whatever reads the elements waits for the device first,
/// and throws what the device failed with. Handles may be copied and read from any thread.
class PEWTER_EXPORT array {  // NOLINT(readability-identifier-naming): the name of the contracts
 public:
  /// A copy of `values`, row by row. Throws std::invalid_argument when their number is not that of
  /// the shape.
  template <typename T, std::size_t N>
    requires Element<std::remove_const_t<T>>
  array(std::span<T, N> values, Shape shape, Placement placement = Placement::Device)
      : array(values.data(),
              values.size(),
              kDtypeOf<std::remove_const_t<T>>,
              std::move(shape),
              placement) {}
  template <typename T, std::size_t N>
    requires Element<std::remove_const_t<T>>
  explicit array(std::span<T, N> values, Placement placement = Placement::Device)
      : array(values, {static_cast<std::int64_t>(values.size())}, placement) {}
  template <Element T>
  explicit array(const std::vector<T>& values, Placement placement = Placement::Device)
      : array(std::span<const T>(values), {static_cast<std::int64_t>(values.size())}, placement) {}
  template <Element T>
  array(const std::vector<T>& values, Shape shape, Placement placement = Placement::Device)
      : array(std::span<const T>(values), std::move(shape), placement) {}
  template <Element T>
  array(std::initializer_list<T> values, Placement placement = Placement::Device)
      : array(std::span<const T>(values.begin(), values.size()),
              {static_cast<std::int64_t>(values.size())},
              placement) {}
  explicit array(const std::vector<bool>& values, Placement placement = Placement::Device);
  array(const std::vector<bool>& values, Shape shape, Placement placement = Placement::Device);
  /// Doubles become float32.
  explicit array(const std::vector<double>& values, Placement placement = Placement::Device);
  array(const std::vector<double>& values, Shape shape, Placement placement = Placement::Device);
  template <std::same_as<double> T>
  array(std::initializer_list<T> values, Placement placement = Placement::Device)
      : array(std::vector<double>(values), placement) {}

  /// Rows of equal length; rows of rows. Throws std::invalid_argument when lengths differ.
  template <ListElement T>
  array(std::initializer_list<std::initializer_list<T>> rows) : array(flattened(rows)) {}
  template <ListElement T>
  array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> layers)
      : array(flattened(layers)) {}

  /// An array of rank 0. A double becomes float32.
  template <Element T>
  explicit array(T value) : array(&value, 1, kDtypeOf<T>, {}, Placement::Host) {}
  explicit array(double value) : array(static_cast<float>(value)) {}
  explicit array(long long value) : array(static_cast<std::int64_t>(value)) {}
  explicit array(unsigned long long value) : array(static_cast<std::uint64_t>(value)) {}
  explicit array(char) = delete;
  /// The same, converted to `dtype`: whole numbers wrap around, as C++ converts them; fractions
  /// that an integer type does not have become its nearest number.
  template <Number T>
  array(T value, Dtype dtype) : array(scalar_of(value), dtype) {}
  array(const Scalar& value, Dtype dtype);

  /// Memory of the caller's, row contiguous, without a copy when the device takes it as it is (page
  /// aligned, whole pages), else with one. `release`, if there is one, is called when nothing
  /// uses the memory any more, and may compute arrays: by the thread that lets go of it, or, when
  /// the device used it last, soon after by a thread of the library's own. Throws
  /// std::invalid_argument for a null pointer to elements.
  static array adopt(void* memory, Shape shape, Dtype dtype, std::function<void()> release);

  /// An array of rank 0.
  template <Element T>
  static array scalar(T value, Placement placement = Placement::Host) {
    return array(&value, 1, kDtypeOf<T>, {}, placement);
  }

  /// Contents undefined. Throws std::invalid_argument for a negative length, and what the allocator
  /// throws.
  static array empty(Shape shape, Dtype dtype, Placement placement = Placement::Device);

  // What it is.

  const Shape& shape() const;
  const Strides& strides() const;
  Dtype dtype() const;
  Placement placement() const;
  std::size_t ndim() const;
  /// Number of elements; 1 for rank 0.
  std::size_t size() const;
  std::size_t itemsize() const { return size_of(dtype()); }
  std::size_t nbytes() const { return size() * itemsize(); }
  /// Elements from the start of the memory to the first element.
  std::int64_t offset() const;
  /// Whether the elements lie one after the other, row by row.
  bool row_contiguous() const;
  /// For instance "float32[4, 16]".
  std::string description() const;

  // Views: other arrays on the same memory.

  /// Elements `start` to `stop` of an axis, as Python's [start:stop:step]; negative positions count
  /// from its end, and both are clamped to it. Throws std::invalid_argument for an axis that is not
  /// there or a step of 0.
  array slice(std::int64_t start,
              std::int64_t stop,
              std::size_t axis = 0,
              std::int64_t step = 1) const;
  /// The axes in reverse order.
  array transposed() const;
  /// Throws std::invalid_argument when the number of elements differs or the array is not row
  /// contiguous.
  array reshaped(Shape shape) const;

  // Evaluation.

  /// Computes the elements, if that has not happened, and waits for them. Throws as eval() does.
  void eval() const;
  /// Whether the array has memory. The device may still be computing what is in it.
  bool is_available() const;

  // Reading and writing.

  /// The first element, after the device has finished with the memory; null for an array without
  /// elements. Throws std::invalid_argument when T is not the type of the elements.
  template <Element T>
  T* data() const {
    return static_cast<T*>(data(kDtypeOf<T>));
  }
  /// A copy of the elements, row by row.
  template <Element T>
  std::vector<T> to_vector() const {
    std::unique_ptr<T[]> copied(new T[size()]);
    read(copied.get(), kDtypeOf<T>);
    return std::vector<T>(copied.get(), copied.get() + size());
  }
  /// The only element. Throws std::invalid_argument when there are more or none.
  template <Element T>
  T item() const {
    T value;
    read_item(&value, kDtypeOf<T>);
    return value;
  }
  /// Replaces the elements, row by row. Throws std::invalid_argument when type or number differ.
  template <typename T, std::size_t N>
    requires Element<std::remove_const_t<T>>
  void write(std::span<T, N> values) const {
    write(values.data(), values.size(), kDtypeOf<std::remove_const_t<T>>);
  }
  template <Element T>
  void write(const std::vector<T>& values) const {
    write(std::span<const T>(values));
  }

  /// A copy, row contiguous, in the place that is asked for.
  array copy(Placement placement) const;

  /// Metal's buffer behind the array; null on the host and for an array without elements.
  MTL::Buffer* metal_buffer() const;

  /// For the library. evaluated() has memory, whose contents may still be on their way.
  explicit array(std::shared_ptr<graph::Node> node) : node_(std::move(node)) {}
  const std::shared_ptr<graph::Node>& node_pointer() const { return node_; }
  const graph::Node& node() const { return *node_; }
  const graph::Node& evaluated() const;

 private:
  template <typename T>
  struct Flat {
    std::vector<T> values;
    Shape shape;
  };
  template <ListElement T>
  explicit array(const Flat<T>& flat) : array(flat.values, flat.shape, Placement::Device) {}
  template <ListElement T>
  static Flat<T> flattened(std::initializer_list<T> values) {
    return {values, {static_cast<std::int64_t>(values.size())}};
  }
  template <typename T>
  static auto flattened(std::initializer_list<std::initializer_list<T>> rows) {
    auto flat = flattened(rows.size() > 0 ? *rows.begin() : std::initializer_list<T>());
    flat.values.clear();
    const Shape row_shape = flat.shape;
    for (const auto& row : rows) {
      const auto part = flattened(row);
      expect_row(part.shape, row_shape);
      flat.values.insert(flat.values.end(), part.values.begin(), part.values.end());
    }
    flat.shape.insert(flat.shape.begin(), static_cast<std::int64_t>(rows.size()));
    return flat;
  }
  static void expect_row(const Shape& shape, const Shape& expected);

  array(const void* values, std::size_t count, Dtype dtype, Shape shape, Placement placement);

  void* data(Dtype expected) const;
  void read(void* values, Dtype expected) const;
  void read_item(void* value, Dtype expected) const;
  void write(const void* values, std::size_t count, Dtype given) const;

  std::shared_ptr<graph::Node> node_;
};

}  // namespace pewter
