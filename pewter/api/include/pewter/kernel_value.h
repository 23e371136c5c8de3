#pragma once

#include <pewter/array.h>
#include <pewter/export.h>
#include <pewter/host_array.h>
#include <pewter/scalar.h>

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace pewter::backend {

/// What goes into a kernel and what comes out of it: nothing, an array, an array of the host, a
/// number, a text, or lists and dictionaries of these. Cheap to copy.
class PEWTER_EXPORT Value {
 public:
  using List = std::vector<Value>;
  using Dictionary = std::map<std::string, Value>;

  /// Nothing.
  Value() = default;
  Value(array value) : content_(std::move(value)) {}
  Value(HostArray value) : content_(std::move(value)) {}
  Value(std::same_as<bool> auto value) : content_(value) {}
  template <std::signed_integral T>
  Value(T value) : content_(static_cast<std::int64_t>(value)) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Value(T value) : content_(static_cast<std::uint64_t>(value)) {}
  template <std::floating_point T>
  Value(T value) : content_(static_cast<double>(value)) {}
  Value(std::string value) : content_(std::move(value)) {}
  Value(const char* value) : content_(std::string(value)) {}
  Value(List values) : content_(std::make_shared<const List>(std::move(values))) {}
  Value(Dictionary values) : content_(std::make_shared<const Dictionary>(std::move(values))) {}

  template <typename T>
    requires(!std::same_as<T, Value> && std::constructible_from<Value, const T&>)
  Value(const std::vector<T>& values) : Value(List(values.begin(), values.end())) {}
  template <typename T>
    requires(!std::same_as<T, Value> && std::constructible_from<Value, const T&>)
  Value(const std::map<std::string, T>& values) : Value(Dictionary(values.begin(), values.end())) {}
  template <typename... Ts>
  Value(const std::tuple<Ts...>& values)
      : Value(std::apply([](const Ts&... value) { return List{Value(value)...}; }, values)) {}
  template <typename A, typename B>
  Value(const std::pair<A, B>& values) : Value(List{Value(values.first), Value(values.second)}) {}
  template <typename T>
  Value(const std::optional<T>& value) {
    if (value) {
      *this = Value(*value);
    }
  }

  bool is_nothing() const { return std::holds_alternative<std::monostate>(content_); }
  bool is_array() const { return std::holds_alternative<array>(content_); }
  bool is_host_array() const { return std::holds_alternative<HostArray>(content_); }
  bool is_list() const { return std::holds_alternative<std::shared_ptr<const List>>(content_); }
  bool is_dictionary() const {
    return std::holds_alternative<std::shared_ptr<const Dictionary>>(content_);
  }
  /// Whether it is a number of a floating-point type.
  bool is_fraction() const { return std::holds_alternative<double>(content_); }
  /// Whether it is a number of any type.
  bool is_number() const {
    return is_fraction() || std::holds_alternative<bool>(content_) ||
           std::holds_alternative<std::int64_t>(content_) ||
           std::holds_alternative<std::uint64_t>(content_);
  }
  /// What it is, for messages: "an array", "nothing", ...
  const char* kind() const;

  // Each throws TypeError when it is something else.

  const array& as_array() const;
  const HostArray& as_host_array() const;
  const std::string& as_text() const;
  const List& as_list() const;
  const Dictionary& as_dictionary() const;
  /// Numbers convert to each other; a fraction does not become a whole number. Those of 2^63 and
  /// more become negative as integers, with the same bits.
  bool as_bool() const;
  std::int64_t as_integer() const;
  double as_number() const;
  Scalar as_scalar() const;
  operator array() const { return as_array(); }

  /// Every array in it, however deep.
  std::vector<array> arrays() const;

 private:
  std::variant<std::monostate,
               array,
               HostArray,
               bool,
               std::int64_t,
               std::uint64_t,
               double,
               std::string,
               std::shared_ptr<const List>,
               std::shared_ptr<const Dictionary>>
      content_;
};

/// Takes a Value apart into what a C++ function wants. Throws TypeError when it is something else.
template <typename T>
struct FromValue {
  static T get(const Value& value) {
    if constexpr (std::same_as<T, Value>) {
      return value;
    } else if constexpr (std::same_as<T, array>) {
      return value.as_array();
    } else if constexpr (std::same_as<T, HostArray>) {
      return value.as_host_array();
    } else if constexpr (std::same_as<T, bool>) {
      return value.as_bool();
    } else if constexpr (std::integral<T>) {
      return static_cast<T>(value.as_integer());
    } else if constexpr (std::floating_point<T>) {
      return static_cast<T>(value.as_number());
    } else {
      static_assert(std::same_as<T, std::string>, "a kernel cannot take arguments of this type");
      return value.as_text();
    }
  }
};

template <typename T>
struct FromValue<std::vector<T>> {
  static std::vector<T> get(const Value& value) {
    std::vector<T> values;
    for (const Value& element : value.as_list()) {
      values.push_back(FromValue<T>::get(element));
    }
    return values;
  }
};

template <typename T>
struct FromValue<std::optional<T>> {
  static std::optional<T> get(const Value& value) {
    return value.is_nothing() ? std::nullopt : std::optional<T>(FromValue<T>::get(value));
  }
};

}  // namespace pewter::backend
