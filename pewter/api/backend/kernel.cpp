#include <fmt/core.h>
#include <pewter/backend_kernel.h>
#include <pewter/errors.h>

#include <cmath>

namespace pewter::backend {
namespace {

constexpr const char* kKinds[] = {"nothing",  "an array",    "a host array", "a truth",
                                  "a number", "a number",    "a number",     "a text",
                                  "a list",   "a dictionary"};

[[noreturn]] void wrong_kind(const Value& value, const char* expected) {
  throw TypeError(fmt::format("[Kernel] {} where {} is needed", value.kind(), expected));
}

}  // namespace

const char* Value::kind() const {
  return kKinds[content_.index()];
}

const array& Value::as_array() const {
  const auto* const found = std::get_if<array>(&content_);
  if (found == nullptr) {
    if (is_host_array()) {
      throw TypeError(
          "[Kernel] a host array where an array is needed; copy_to_device() copies one, and "
          "kernels "
          "of compile_kernel() do it by themselves");
    }
    wrong_kind(*this, "an array");
  }
  return *found;
}

const HostArray& Value::as_host_array() const {
  const auto* const found = std::get_if<HostArray>(&content_);
  if (found == nullptr) {
    wrong_kind(*this, "a host array");
  }
  return *found;
}

const std::string& Value::as_text() const {
  const auto* const found = std::get_if<std::string>(&content_);
  if (found == nullptr) {
    wrong_kind(*this, "a text");
  }
  return *found;
}

const Value::List& Value::as_list() const {
  if (!is_list()) {
    wrong_kind(*this, "a list");
  }
  return *std::get<std::shared_ptr<const List>>(content_);
}

const Value::Dictionary& Value::as_dictionary() const {
  if (!is_dictionary()) {
    wrong_kind(*this, "a dictionary");
  }
  return *std::get<std::shared_ptr<const Dictionary>>(content_);
}

bool Value::as_bool() const {
  if (const auto* const truth = std::get_if<bool>(&content_)) {
    return *truth;
  }
  return as_integer() != 0;
}

std::int64_t Value::as_integer() const {
  if (const auto* const truth = std::get_if<bool>(&content_)) {
    return *truth ? 1 : 0;
  }
  if (const auto* const large = std::get_if<std::uint64_t>(&content_)) {
    return static_cast<std::int64_t>(*large);
  }
  const auto* const found = std::get_if<std::int64_t>(&content_);
  if (found == nullptr) {
    wrong_kind(*this, "a whole number");
  }
  return *found;
}

double Value::as_number() const {
  if (const auto* const number = std::get_if<double>(&content_)) {
    return *number;
  }
  if (const auto* const large = std::get_if<std::uint64_t>(&content_)) {
    return static_cast<double>(*large);
  }
  return static_cast<double>(as_integer());
}

Scalar Value::as_scalar() const {
  if (is_fraction()) {
    return as_number();
  }
  if (const auto* const truth = std::get_if<bool>(&content_)) {
    return *truth;
  }
  if (const auto* const large = std::get_if<std::uint64_t>(&content_)) {
    return *large;
  }
  return as_integer();
}

std::vector<array> Value::arrays() const {
  std::vector<array> found;
  const auto add_all = [&](const Value& value) {
    const std::vector<array> more = value.arrays();
    found.insert(found.end(), more.begin(), more.end());
  };
  if (is_array()) {
    found.push_back(as_array());
  } else if (is_list()) {
    for (const Value& value : as_list()) {
      add_all(value);
    }
  } else if (is_dictionary()) {
    for (const auto& [name, value] : as_dictionary()) {
      add_all(value);
    }
  }
  return found;
}

namespace detail {

void wrong_argument_count(std::size_t expected, std::size_t given) {
  throw TypeError(
      fmt::format("[Kernel] {} arguments for a function that takes {}", given, expected));
}

void not_callable() {
  throw TypeError("[Kernel] not callable: there is no function in it");
}

}  // namespace detail

Value Kernel::call(const std::vector<Value>& arguments, const LaunchSizes& sizes) const {
  if (!body_) {
    detail::not_callable();
  }
  return body_->call(arguments, sizes);
}

KernelBody::Identity Kernel::identity() const {
  if (!body_) {
    detail::not_callable();
  }
  return body_->identity();
}

bool Kernel::operator==(const Kernel& other) const {
  if (!body_ || !other.body_) {
    return body_ == other.body_;
  }
  return body_->identity() == other.body_->identity();
}

}  // namespace pewter::backend
