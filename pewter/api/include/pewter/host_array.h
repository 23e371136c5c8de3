#pragma once

#include <pewter/array.h>
#include <pewter/export.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pewter::backend {

/// What the elements of a host array are: NumPy's types of numbers.
enum class HostDtype : std::uint8_t {
  Bool,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Int8,
  Int16,
  Int32,
  Int64,
  Float16,
  Float32,
  Float64,
  Complex64,
  Complex128,
};

/// Bytes of one element.
PEWTER_EXPORT std::size_t size_of(HostDtype dtype);
/// NumPy's name, for instance "float64".
PEWTER_EXPORT std::string_view name_of(HostDtype dtype);
/// The type that NumPy knows by that name: "float64", "double", "d", "f8", "<f8", ">f8" and so on.
/// Nothing for a text that names none of HostDtype.
PEWTER_EXPORT std::optional<HostDtype> host_dtype_named(std::string_view name);

/// The type that device arrays of such elements have; nothing for complex128.
///
/// float64 becomes float32, complex64 stays: what a copy of data does.
PEWTER_EXPORT std::optional<Dtype> device_dtype(HostDtype dtype);
/// The type of host arrays that hold what `dtype` does; bfloat16, which NumPy lacks, is widened to
/// float32.
PEWTER_EXPORT HostDtype host_dtype(Dtype dtype);

/// The HostDtype of a C++ type; only types that a host array can hold have one.
template <typename T>
struct HostDtypeOf;

template <Element T>
  requires(!std::is_same_v<T, BFloat16>)
struct HostDtypeOf<T> {
  static constexpr HostDtype kValue = [] {
    // The two lists differ by bfloat16 alone up to float32.
    constexpr auto kIndex = static_cast<std::uint8_t>(kDtypeOf<T>);
    if constexpr (kDtypeOf<T> == Dtype::Complex64) {
      return HostDtype::Complex64;
    } else if constexpr (kDtypeOf<T> == Dtype::Float32) {
      return HostDtype::Float32;
    } else {
      return static_cast<HostDtype>(kIndex);
    }
  }();
};
template <>
struct HostDtypeOf<double> {
  static constexpr HostDtype kValue = HostDtype::Float64;
};
template <>
struct HostDtypeOf<std::complex<double>> {
  static constexpr HostDtype kValue = HostDtype::Complex128;
};

/// A C++ type that a host array can hold.
template <typename T>
concept HostElement = requires { HostDtypeOf<T>::kValue; };

template <HostElement T>
inline constexpr HostDtype kHostDtypeOf = HostDtypeOf<T>::kValue;

/// An array in the memory of the host, as NumPy's ndarray: strided, writable, with types that the
/// device lacks.
///
/// A handle that is cheap to copy; copies and views share the elements. Element access from several
/// threads is the caller's business.
class PEWTER_EXPORT HostArray {
 public:
  /// Contents undefined. Throws std::invalid_argument for a negative length.
  HostArray(Shape shape, HostDtype dtype);
  /// A copy of `values`, row by row. Throws std::invalid_argument when their number is not that of
  /// the shape.
  template <typename T, std::size_t N>
    requires HostElement<std::remove_const_t<T>>
  HostArray(std::span<T, N> values, Shape shape)
      : HostArray(std::move(shape), kHostDtypeOf<std::remove_const_t<T>>) {
    expect_count(values.size());
    std::copy(values.begin(), values.end(), data<std::remove_const_t<T>>());
  }
  template <typename T, std::size_t N>
    requires HostElement<std::remove_const_t<T>>
  explicit HostArray(std::span<T, N> values)
      : HostArray(values, {static_cast<std::int64_t>(values.size())}) {}
  template <HostElement T>
  explicit HostArray(const std::vector<T>& values)
      : HostArray(values, {static_cast<std::int64_t>(values.size())}) {}
  template <HostElement T>
  HostArray(const std::vector<T>& values, Shape shape)
      : HostArray(std::move(shape), kHostDtypeOf<T>) {
    expect_count(values.size());
    std::copy(values.begin(), values.end(), data<T>());
  }
  template <HostElement T>
  HostArray(std::initializer_list<T> values)
      : HostArray(std::span<const T>(values.begin(), values.size()),
                  {static_cast<std::int64_t>(values.size())}) {}
  HostArray(const HostArray&) = default;
  /// What was moved from can be assigned to and destroyed.
  HostArray(HostArray&& other) noexcept { swap(other); }
  /// An array that is assigned or moved to itself stays what it is.
  HostArray& operator=(HostArray other) noexcept {
    swap(other);
    return *this;
  }
  ~HostArray() = default;

  /// The caller's memory, seen as an array; it must live as long as the handles do.
  template <HostElement T>
  static HostArray wrap(T* data, Shape shape) {
    return HostArray(data, std::move(shape), kHostDtypeOf<T>);
  }
  /// An array of rank 0.
  template <HostElement T>
  static HostArray scalar(T value) {
    return HostArray(std::span<const T>(&value, 1), Shape{});
  }
  static HostArray zeros(Shape shape, HostDtype dtype);

  // What it is.

  const Shape& shape() const { return shape_; }
  /// In elements.
  const Strides& strides() const { return strides_; }
  HostDtype dtype() const { return dtype_; }
  std::size_t ndim() const { return shape_.size(); }
  /// Number of elements; 1 for rank 0.
  std::size_t size() const { return size_; }
  std::size_t itemsize() const { return size_of(dtype_); }
  std::size_t nbytes() const { return size_ * itemsize(); }
  /// Whether the elements lie one after the other, row by row.
  bool row_contiguous() const;
  /// For instance "float64[4, 16]".
  std::string description() const;
  /// Whether both begin at the same element of the same memory and are laid out alike.
  bool is_same(const HostArray& other) const;

  // Views on the same elements.

  /// Elements `start` to `stop` of an axis, every `step`-th; negative positions count from the end
  /// of the axis, both are clamped to it, and a negative step runs backwards. Throws
  /// std::invalid_argument for an axis that is not there or a step of 0.
  HostArray slice(std::int64_t start,
                  std::int64_t stop,
                  std::size_t axis = 0,
                  std::int64_t step = 1) const;
  /// The axes in reverse order.
  HostArray transposed() const;

  // Reading and writing.

  /// The first element. Throws TypeError when T is not the type of the elements.
  template <HostElement T>
  T* data() const {
    return static_cast<T*>(data(kHostDtypeOf<T>));
  }
  /// The first element, whatever its type.
  void* bytes() const { return first_; }
  /// The elements, row by row. Throws TypeError when T is not their type, std::invalid_argument
  /// when they are not row contiguous.
  template <HostElement T>
  std::span<T> values() const {
    expect_row_contiguous();
    return {data<T>(), size_};
  }
  /// One element; negative positions count from the end. Throws std::out_of_range when it is not
  /// there, TypeError when T is not its type.
  template <HostElement T>
  T& at(std::span<const std::int64_t> index) const {
    return data<T>()[position(index)];
  }
  template <HostElement T>
  T& at(std::initializer_list<std::int64_t> index) const {
    return at<T>(std::span<const std::int64_t>(index.begin(), index.size()));
  }
  /// A copy of the elements, row by row, converted to T.
  template <HostElement T>
  std::vector<T> to_vector() const {
    const HostArray converted = astype(kHostDtypeOf<T>);
    return std::vector<T>(converted.data<T>(), converted.data<T>() + size_);
  }

  /// Sets every element, converted to the type of the elements.
  template <HostElement T>
  void fill(T value) const {
    assign(scalar(value), Casting::Unsafe);
  }

  /// Which conversions an assignment may make: those of NumPy's "same_kind", or all.
  enum class Casting : std::uint8_t { SameKind, Unsafe };

  /// Sets the elements to those of `source`, broadcast to this shape; axes of length 1 in front of
  /// it do not matter. Throws std::invalid_argument when the shapes do not broadcast, TypeError for
  /// a conversion that `casting` forbids; then nothing has changed.
  void assign(const HostArray& source, Casting casting = Casting::SameKind) const;

  /// Sets the elements to `values`, row by row. Throws std::invalid_argument when their number is
  /// another, TypeError for a conversion to another kind.
  template <typename T, std::size_t N>
    requires HostElement<std::remove_const_t<T>>
  void write(std::span<T, N> values) const {
    assign(HostArray(values, shape_));
  }

  /// A row contiguous array of its own.
  HostArray copy() const { return astype(dtype_); }
  /// A row contiguous array of its own, converted.
  HostArray astype(HostDtype dtype) const;

  /// Whether shape, type and every element are equal.
  bool operator==(const HostArray& other) const;

 private:
  HostArray() = default;
  HostArray(void* first, Shape shape, HostDtype dtype);

  void swap(HostArray& other) noexcept;
  void* data(HostDtype expected) const;
  void expect_count(std::size_t count) const;
  void expect_row_contiguous() const;
  std::int64_t position(std::span<const std::int64_t> index) const;

  Shape shape_;
  Strides strides_;
  std::size_t size_ = 0;
  HostDtype dtype_ = HostDtype::Float32;
  std::byte* first_ = nullptr;
  std::shared_ptr<std::byte[]> memory_;
};

}  // namespace pewter::backend
