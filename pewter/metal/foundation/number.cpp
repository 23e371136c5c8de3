#include "pewter/metal/foundation/number.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "pewter/metal/foundation/autorelease_pool.h"
#include "pewter/metal/foundation/string.h"

namespace pewter::foundation {
namespace {

/// Bytes of a scalar or pointer type in @encode's letters; 0 for others.
std::size_t size_of_type(std::string_view type) {
  if (type.empty()) {
    return 0;
  }
  switch (type.front()) {
    case 'c':
    case 'C':
    case 'B':
      return 1;
    case 's':
    case 'S':
      return 2;
    case 'i':
    case 'I':
    case 'f':
      return 4;
    case 'l':
    case 'L':
    case 'q':
    case 'Q':
    case 'd':
    case '^':
    case '*':
    case '@':
      return 8;
    default:
      return 0;
  }
}

NS::Number* filled(NS::Number* number, auto value, const char* letter) {
  if (auto* self = impl<Number>(number)) {
    self->assign(letter, value);
  }
  return number;
}

template <class T>
T read(const NS::Number* number,
       const std::source_location& where = std::source_location::current()) {
  auto* self = impl<Number>(number, where);
  return self != nullptr ? self->as<T>() : T{};
}

}  // namespace

std::size_t Value::hash() const {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

bool Value::equals(const Object& other) const {
  if (!other.is(Value::kClass)) {
    return false;
  }
  const auto& value = static_cast<const Value&>(other);
  return value.type == type && value.bytes == bytes;
}

Object* Value::copy() const {
  auto* self = const_cast<Value*>(this);
  self->retain();
  return self;
}

template <class T>
void Number::assign(const char* letter, T value) {
  type = letter;
  bytes.resize(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  if constexpr (std::is_floating_point_v<T>) {
    number = static_cast<double>(value);
  } else if constexpr (std::is_signed_v<T>) {
    number = static_cast<std::int64_t>(value);
  } else {
    number = static_cast<std::uint64_t>(value);
  }
}

std::size_t Number::hash() const {
  return std::hash<double>{}(as<double>());
}

bool Number::equals(const Object& other) const {
  return other.is(kClass) && compare(static_cast<const Number&>(other)) == 0;
}

std::string Number::description() const {
  if (type == "f") {
    return fmt::format("{}", as<float>());
  }
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

int Number::compare(const Number& other) const {
  return std::visit(
      [](auto left, auto right) {
        if constexpr (std::is_floating_point_v<decltype(left)> ||
                      std::is_floating_point_v<decltype(right)>) {
          const auto a = static_cast<double>(left);
          const auto b = static_cast<double>(right);
          return a < b ? -1 : a > b ? 1 : 0;
        } else {
          return std::cmp_less(left, right) ? -1 : std::cmp_greater(left, right) ? 1 : 0;
        }
      },
      number, other.number);
}

}  // namespace pewter::foundation

namespace foundation = pewter::foundation;
using foundation::handle;
using foundation::impl;
using foundation::make;

NS::Value* NS::Value::value(const void* pValue, const char* pType) {
  return alloc()->init(pValue, pType)->autorelease();
}

NS::Value* NS::Value::value(const void* pPointer) {
  return value(&pPointer, "^v");
}

NS::Value* NS::Value::alloc() {
  return handle(make<foundation::Value>());
}

NS::Value* NS::Value::init(const void* pValue, const char* pType) {
  auto* self = impl<foundation::Value>(this);
  const std::size_t size = pType != nullptr ? foundation::size_of_type(pType) : 0;
  if (self == nullptr || pValue == nullptr || size == 0) {
    release();
    return nullptr;
  }
  const auto* first = static_cast<const std::byte*>(pValue);
  self->type = pType;
  self->bytes.assign(first, first + size);
  return this;
}

void NS::Value::getValue(void* pValue, UInteger size) const {
  auto* self = impl<foundation::Value>(this);
  if (self != nullptr && pValue != nullptr && size >= self->bytes.size()) {
    std::memcpy(pValue, self->bytes.data(), self->bytes.size());
  }
}

const char* NS::Value::objCType() const {
  auto* self = impl<foundation::Value>(this);
  return self != nullptr ? self->type.c_str() : nullptr;
}

bool NS::Value::isEqualToValue(Value* pValue) const {
  return isEqual(pValue);
}

void* NS::Value::pointerValue() const {
  auto* self = impl<foundation::Value>(this);
  void* pointer = nullptr;
  if (self != nullptr && self->bytes.size() == sizeof pointer) {
    std::memcpy(&pointer, self->bytes.data(), sizeof pointer);
  }
  return pointer;
}

NS::Number* NS::Number::alloc() {
  return handle(make<foundation::Number>());
}

NS::Number* NS::Number::number(char value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(char value) {
  return foundation::filled(this, value, "c");
}

char NS::Number::charValue() const {
  return foundation::read<char>(this);
}

NS::Number* NS::Number::number(unsigned char value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(unsigned char value) {
  return foundation::filled(this, value, "C");
}

unsigned char NS::Number::unsignedCharValue() const {
  return foundation::read<unsigned char>(this);
}

NS::Number* NS::Number::number(short value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(short value) {
  return foundation::filled(this, value, "s");
}

short NS::Number::shortValue() const {
  return foundation::read<short>(this);
}

NS::Number* NS::Number::number(unsigned short value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(unsigned short value) {
  return foundation::filled(this, value, "S");
}

unsigned short NS::Number::unsignedShortValue() const {
  return foundation::read<unsigned short>(this);
}

NS::Number* NS::Number::number(int value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(int value) {
  return foundation::filled(this, value, "i");
}

int NS::Number::intValue() const {
  return foundation::read<int>(this);
}

NS::Number* NS::Number::number(unsigned int value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(unsigned int value) {
  return foundation::filled(this, value, "I");
}

unsigned int NS::Number::unsignedIntValue() const {
  return foundation::read<unsigned int>(this);
}

NS::Number* NS::Number::number(long value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(long value) {
  return foundation::filled(this, value, "l");
}

long NS::Number::longValue() const {
  return foundation::read<long>(this);
}

NS::Number* NS::Number::number(unsigned long value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(unsigned long value) {
  return foundation::filled(this, value, "L");
}

unsigned long NS::Number::unsignedLongValue() const {
  return foundation::read<unsigned long>(this);
}

NS::Number* NS::Number::number(long long value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(long long value) {
  return foundation::filled(this, value, "q");
}

long long NS::Number::longLongValue() const {
  return foundation::read<long long>(this);
}

NS::Number* NS::Number::number(unsigned long long value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(unsigned long long value) {
  return foundation::filled(this, value, "Q");
}

unsigned long long NS::Number::unsignedLongLongValue() const {
  return foundation::read<unsigned long long>(this);
}

NS::Number* NS::Number::number(float value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(float value) {
  return foundation::filled(this, value, "f");
}

float NS::Number::floatValue() const {
  return foundation::read<float>(this);
}

NS::Number* NS::Number::number(double value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(double value) {
  return foundation::filled(this, value, "d");
}

double NS::Number::doubleValue() const {
  return foundation::read<double>(this);
}

NS::Number* NS::Number::number(bool value) {
  return alloc()->init(value)->autorelease();
}

NS::Number* NS::Number::init(bool value) {
  return foundation::filled(this, value, "B");
}

bool NS::Number::boolValue() const {
  return foundation::read<bool>(this);
}

NS::Integer NS::Number::integerValue() const {
  return foundation::read<Integer>(this);
}

NS::UInteger NS::Number::unsignedIntegerValue() const {
  return foundation::read<UInteger>(this);
}

NS::String* NS::Number::stringValue() const {
  return description();
}

NS::ComparisonResult NS::Number::compare(const Number* pOtherNumber) const {
  auto* self = impl<foundation::Number>(this);
  auto* other = impl<foundation::Number>(pOtherNumber);
  if (self == nullptr || other == nullptr) {
    return OrderedSame;
  }
  const int order = self->compare(*other);
  return order < 0 ? OrderedAscending : order > 0 ? OrderedDescending : OrderedSame;
}

bool NS::Number::isEqualToNumber(const Number* pNumber) const {
  return isEqual(pNumber);
}

NS::String* NS::Number::descriptionWithLocale(const Object*) const {
  return description();
}
