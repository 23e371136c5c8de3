#pragma once

#include <pewter/export.h>
#include <pewter/kernel_value.h>
#include <pewter/mps_shader.h>

#include <compare>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

namespace pewter::backend {

/// How a kernel from MSL text is launched: threadgroups, and threads in each, along 1 to 3 axes.
/// What is not said is taken as mps::Kernel does it.
struct LaunchSizes {
  mps::Extent grid;
  mps::Extent block;
};

/// What a Kernel runs.
class PEWTER_EXPORT KernelBody {
 public:
  /// Two bodies with the same identity are the same function.
  struct Identity {
    std::type_index type;
    const void* address;

    auto operator<=>(const Identity&) const = default;
  };

  virtual ~KernelBody() = default;
  /// `sizes` is for kernels from MSL text; others do not look at it.
  virtual Value call(const std::vector<Value>& arguments, const LaunchSizes& sizes) const = 0;
  virtual Identity identity() const { return {typeid(*this), this}; }
};

namespace detail {

/// Throws TypeError.
[[noreturn]] PEWTER_EXPORT void wrong_argument_count(std::size_t expected, std::size_t given);
[[noreturn]] PEWTER_EXPORT void not_callable();

template <typename F, typename Result, typename... Parameters>
struct PlainCall {
  static Value call(F& function, const std::vector<Value>& arguments) {
    if (arguments.size() != sizeof...(Parameters)) {
      wrong_argument_count(sizeof...(Parameters), arguments.size());
    }
    return call(function, arguments, std::index_sequence_for<Parameters...>());
  }

 private:
  template <std::size_t... kIndices>
  static Value call(F& function,
                    const std::vector<Value>& arguments,
                    std::index_sequence<kIndices...> /*indices*/) {
    if constexpr (std::is_void_v<Result>) {
      function(FromValue<std::remove_cvref_t<Parameters>>::get(arguments[kIndices])...);
      return Value();
    } else {
      return Value(
          function(FromValue<std::remove_cvref_t<Parameters>>::get(arguments[kIndices])...));
    }
  }
};

template <typename F, typename Member>
struct CallOf;
template <typename F, typename Class, typename Result, typename... Parameters>
struct CallOf<F, Result (Class::*)(Parameters...)> : PlainCall<F, Result, Parameters...> {};
template <typename F, typename Class, typename Result, typename... Parameters>
struct CallOf<F, Result (Class::*)(Parameters...) noexcept> : PlainCall<F, Result, Parameters...> {
};
template <typename F, typename Class, typename Result, typename... Parameters>
struct CallOf<F, Result (Class::*)(Parameters...) const> : PlainCall<F, Result, Parameters...> {};
template <typename F, typename Class, typename Result, typename... Parameters>
struct CallOf<F, Result (Class::*)(Parameters...) const noexcept>
    : PlainCall<F, Result, Parameters...> {};

template <typename F>
concept HasPlainCall = requires { &F::operator(); };

/// A function object whose parameters are templates is taken to work on arrays.
template <typename F>
struct ArrayCall {
  static constexpr std::size_t kMostArguments = 8;

  static Value call(F& function, const std::vector<Value>& arguments) {
    return call<0>(function, arguments);
  }

 private:
  template <std::size_t kCount>
  static Value call(F& function, const std::vector<Value>& arguments) {
    if constexpr (kCount > kMostArguments) {
      wrong_argument_count(kMostArguments, arguments.size());
    } else {
      if (arguments.size() == kCount) {
        return call(function, arguments, std::make_index_sequence<kCount>());
      }
      return call<kCount + 1>(function, arguments);
    }
  }

  template <std::size_t>
  using Same = const array&;

  template <std::size_t... kIndices>
  static Value call(F& function,
                    const std::vector<Value>& arguments,
                    std::index_sequence<kIndices...> /*indices*/) {
    if constexpr (!std::is_invocable_v<F&, Same<kIndices>...>) {
      throw_count(arguments.size());
    } else if constexpr (std::is_void_v<std::invoke_result_t<F&, Same<kIndices>...>>) {
      function(arguments[kIndices].as_array()...);
      return Value();
    } else {
      return Value(function(arguments[kIndices].as_array()...));
    }
  }

  [[noreturn]] static void throw_count(std::size_t given) {
    std::size_t possible = 0;
    count_possible<0>(possible);
    wrong_argument_count(possible, given);
  }
  template <std::size_t kCount>
  static void count_possible(std::size_t& possible) {
    if constexpr (kCount <= kMostArguments) {
      if constexpr (takes(std::make_index_sequence<kCount>())) {
        possible = kCount;
      } else {
        count_possible<kCount + 1>(possible);
      }
    }
  }
  template <std::size_t... kIndices>
  static constexpr bool takes(std::index_sequence<kIndices...> /*indices*/) {
    return std::is_invocable_v<F&, Same<kIndices>...>;
  }
};

template <typename F>
struct Call : ArrayCall<F> {};
template <HasPlainCall F>
struct Call<F> : CallOf<F, decltype(&F::operator())> {};
template <typename Result, typename... Parameters>
struct Call<Result (*)(Parameters...)>
    : PlainCall<Result (*)(Parameters...), Result, Parameters...> {};
template <typename Result, typename... Parameters>
struct Call<Result (*)(Parameters...) noexcept>
    : PlainCall<Result (*)(Parameters...) noexcept, Result, Parameters...> {};

template <typename F>
class FunctionBody final : public KernelBody {
 public:
  explicit FunctionBody(F function) : function_(std::move(function)) {}

  Value call(const std::vector<Value>& arguments, const LaunchSizes& /*sizes*/) const override {
    if constexpr (requires { static_cast<bool>(function_); } && !std::is_empty_v<F>) {
      if (!static_cast<bool>(function_)) {
        not_callable();
      }
    }
    return Call<F>::call(function_, arguments);
  }

  Identity identity() const override {
    if constexpr (std::is_pointer_v<F>) {
      return {typeid(F), reinterpret_cast<const void*>(function_)};
    } else if constexpr (std::is_empty_v<F>) {
      // Objects without state do the same whichever of them is called.
      return {typeid(F), nullptr};
    } else {
      return KernelBody::identity();
    }
  }

 private:
  // What a function changes in itself is its own business, as anywhere in C++.
  mutable F function_;
};

}  // namespace detail

/// Something to run on arrays: any C++ function or function object, or what compile_kernel() gives.
///
/// A function takes arrays, host arrays, numbers, texts, lists of these or Values; it returns one
/// of these, a tuple or a map, or nothing. A function object may change itself. A handle that is
/// cheap to copy; copies are the same kernel. Kernels of one plain function, or of lambdas without
/// captures from one place, are the same too.
class PEWTER_EXPORT Kernel {
 public:
  /// Not callable: calling it throws TypeError.
  Kernel() = default;
  template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, Kernel> &&
             (std::is_class_v<std::remove_cvref_t<F>> ||
              std::is_function_v<std::remove_pointer_t<std::decay_t<F>>>) &&
             !std::convertible_to<F, std::string> &&
             !std::convertible_to<F, std::shared_ptr<const KernelBody>>)
  Kernel(F&& function)
      : body_(std::make_shared<detail::FunctionBody<std::decay_t<F>>>(std::forward<F>(function))) {}
  explicit Kernel(std::shared_ptr<const KernelBody> body) : body_(std::move(body)) {}

  template <typename... Arguments>
  Value operator()(Arguments&&... arguments) const {
    return call({Value(std::forward<Arguments>(arguments))...});
  }
  /// Throws TypeError when the arguments are not those that the function takes, and whatever the
  /// function throws.
  Value call(const std::vector<Value>& arguments, const LaunchSizes& sizes = {}) const;

  bool is_callable() const { return body_ != nullptr; }
  /// Throws TypeError when it is not callable.
  KernelBody::Identity identity() const;
  bool operator==(const Kernel& other) const;

 private:
  std::shared_ptr<const KernelBody> body_;
};

}  // namespace pewter::backend
