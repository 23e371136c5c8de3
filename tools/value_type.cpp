#include "tools/value_type.h"

#include <pewter/half.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tools/failure.h"
#include "tools/nearest_name.h"
#include "tools/split.h"

namespace pewter::tools {
namespace {

struct ElementRow {
  Element element;
  const char* name;
  const char* short_name;
  const char* numpy;
  std::size_t bytes;
  MTL::DataType data_type;  // of the scalar; the vectors of 2, 3 and 4 follow it
};

constexpr ElementRow kElements[] = {
    {Element::Bool, "bool", "b8", "|b1", 1, MTL::DataTypeBool},
    {Element::Char, "char", "i8", "|i1", 1, MTL::DataTypeChar},
    {Element::UChar, "uchar", "u8", "|u1", 1, MTL::DataTypeUChar},
    {Element::Short, "short", "i16", "<i2", 2, MTL::DataTypeShort},
    {Element::UShort, "ushort", "u16", "<u2", 2, MTL::DataTypeUShort},
    {Element::Int, "int", "i32", "<i4", 4, MTL::DataTypeInt},
    {Element::UInt, "uint", "u32", "<u4", 4, MTL::DataTypeUInt},
    {Element::Long, "long", "i64", "<i8", 8, MTL::DataTypeLong},
    {Element::ULong, "ulong", "u64", "<u8", 8, MTL::DataTypeULong},
    {Element::Half, "half", "f16", "<f2", 2, MTL::DataTypeHalf},
    {Element::BFloat, "bfloat", "bf16", "", 2, MTL::DataTypeBFloat},
    {Element::Float, "float", "f32", "<f4", 4, MTL::DataTypeFloat},
};

const ElementRow& row(Element element) {
  return kElements[static_cast<std::size_t>(element)];
}

// Calls `use` with a zero of the C++ type that an integer element has.
template <typename Use>
auto with_integer(Element element, Use&& use) {
  switch (element) {
    case Element::Char:
      return use(std::int8_t{});
    case Element::Short:
      return use(std::int16_t{});
    case Element::UShort:
      return use(std::uint16_t{});
    case Element::Int:
      return use(std::int32_t{});
    case Element::UInt:
      return use(std::uint32_t{});
    case Element::Long:
      return use(std::int64_t{});
    case Element::ULong:
      return use(std::uint64_t{});
    default:
      return use(std::uint8_t{});
  }
}

template <typename T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
void store(T value, std::byte* bytes) {
  std::memcpy(bytes, &value, sizeof(T));
}

void store_floating(Element element, float number, std::byte* bytes) {
  switch (element) {
    case Element::Half:
      return store(Float16(number).bits, bytes);
    case Element::BFloat:
      return store(BFloat16(number).bits, bytes);
    default:
      return store(number, bytes);
  }
}

template <typename T>
T saturated(double number) {
  if (std::isnan(number)) {
    return 0;
  }
  if (number <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  // The greatest 64-bit values are not doubles: their neighbour above is, and is out of range.
  if (number >= std::ldexp(1.0, std::numeric_limits<T>::digits)) {
    return std::numeric_limits<T>::max();
  }
  return static_cast<T>(number);
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const ElementRow& entry : kElements) {
    names.emplace_back(entry.name);
    names.emplace_back(entry.short_name);
  }
  return names;
}

}  // namespace

std::size_t ValueType::element_bytes() const {
  return row(element).bytes;
}

bool ValueType::is_floating() const {
  return element == Element::Half || element == Element::BFloat || element == Element::Float;
}

std::string ValueType::name() const {
  return row(element).name + (lanes == 1 ? std::string() : std::to_string(lanes));
}

MTL::DataType ValueType::data_type() const {
  return static_cast<MTL::DataType>(row(element).data_type + lanes - 1);
}

ValueType parse_type(std::string_view text) {
  for (const ElementRow& entry : kElements) {
    if (text == entry.name || text == entry.short_name) {
      return {entry.element, 1};
    }
    const std::string_view name = entry.name;
    if (text.size() == name.size() + 1 && text.substr(0, name.size()) == name &&
        text.back() >= '2' && text.back() <= '4') {
      return {entry.element, static_cast<std::uint32_t>(text.back() - '0')};
    }
  }
  usage_error("unknown type '{}'{}", text, suggestion(text, type_names()));
}

bool type_of_data_type(MTL::DataType data_type, ValueType& type) {
  for (const ElementRow& entry : kElements) {
    if (data_type >= entry.data_type && data_type < entry.data_type + 4) {
      type = {entry.element, static_cast<std::uint32_t>(data_type - entry.data_type + 1)};
      return true;
    }
  }
  return false;
}

std::string numpy_name(Element element) {
  return row(element).numpy;
}

bool element_of_numpy_name(std::string_view name, Element& element) {
  for (const ElementRow& entry : kElements) {
    if (!name.empty() && name == entry.numpy) {
      element = entry.element;
      return true;
    }
  }
  return false;
}

double load_number(Element element, const std::byte* bytes) {
  switch (element) {
    case Element::Float:
      return load<float>(bytes);
    case Element::Half:
      return static_cast<float>(load<Float16>(bytes));
    case Element::BFloat:
      return static_cast<float>(load<BFloat16>(bytes));
    default:
      return with_integer(
          element, [&](auto zero) { return static_cast<double>(load<decltype(zero)>(bytes)); });
  }
}

void store_number(Element element, double number, std::byte* bytes) {
  if (ValueType{element}.is_floating()) {
    return store_floating(element, static_cast<float>(number), bytes);
  }
  if (element == Element::Bool) {
    return store(static_cast<std::uint8_t>(number != 0 ? 1 : 0), bytes);
  }
  with_integer(element, [&](auto zero) { store(saturated<decltype(zero)>(number), bytes); });
}

std::string format_number(Element element, const std::byte* bytes) {
  if (ValueType{element}.is_floating()) {
    return fmt::format("{:.6g}", load_number(element, bytes));
  }
  if (element == Element::Bool) {
    return load<std::uint8_t>(bytes) != 0 ? "true" : "false";
  }
  return with_integer(element,
                      [&](auto zero) { return fmt::format("{}", load<decltype(zero)>(bytes)); });
}

void parse_number(Element element, std::string_view text, std::byte* bytes) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto check = [&](std::from_chars_result parsed) {
    if (parsed.ec == std::errc::result_out_of_range) {
      usage_error("'{}' is out of the range of {}", text, row(element).name);
    }
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      usage_error("'{}' is not a {}", text, row(element).name);
    }
  };

  if (element == Element::Bool) {
    if (text != "true" && text != "false" && text != "1" && text != "0") {
      usage_error("'{}' is not a bool: true, false, 1 or 0", text);
    }
    return store(static_cast<std::uint8_t>(text == "true" || text == "1" ? 1 : 0), bytes);
  }
  if (ValueType{element}.is_floating()) {
    float number = 0;
    check(std::from_chars(begin, end, number));
    return store_floating(element, number, bytes);
  }
  with_integer(element, [&](auto number) {
    check(std::from_chars(begin, end, number));
    store(number, bytes);
  });
}

TypedValue parse_typed_value(std::string_view text, std::string_view flag) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) {
    usage_error("{}: '{}' is not of the form TYPE:VALUE, for instance uint:7", flag, text);
  }
  TypedValue value{parse_type(text.substr(0, colon)), {}};
  const auto numbers = split(text.substr(colon + 1), ',');
  if (numbers.size() != 1 && numbers.size() != value.type.lanes) {
    usage_error("{}: {} takes {} numbers, '{}' has {}", flag, value.type.name(), value.type.lanes,
                text, numbers.size());
  }
  value.bytes.resize(value.type.byte_count());
  for (std::uint32_t lane = 0; lane < value.type.lanes; ++lane) {
    parse_number(value.type.element, numbers.size() == 1 ? numbers[0] : numbers[lane],
                 value.bytes.data() + lane * value.type.element_bytes());
  }
  return value;
}

}  // namespace pewter::tools
