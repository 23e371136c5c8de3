#include "pewter/array/numpy_type.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>

namespace pewter {
namespace {

struct Row {
  char kind;
  std::size_t bytes;
  /// As kind and size, these may have an order of bytes in front.
  std::string_view letters;
  std::array<std::string_view, 7> names;
};

// What C calls long has 64 bits.
constexpr std::array<Row, 14> kRows = {{
    {'b', 1, "?", {"bool", "bool_", "bool8"}},
    {'u', 1, "B", {"uint8", "ubyte"}},
    {'u', 2, "H", {"uint16", "ushort"}},
    {'u', 4, "I", {"uint32", "uintc"}},
    {'u', 8, "LQPN", {"uint64", "uint", "ulong", "ulonglong", "uintp", "uint0"}},
    {'i', 1, "b", {"int8", "byte"}},
    {'i', 2, "h", {"int16", "short"}},
    {'i', 4, "i", {"int32", "intc"}},
    {'i', 8, "lqpn", {"int64", "int", "int_", "long", "longlong", "intp", "int0"}},
    {'f', 2, "e", {"float16", "half"}},
    {'f', 4, "f", {"float32", "single"}},
    {'f', 8, "d", {"float64", "double", "float", "float_"}},
    {'c', 8, "F", {"complex64", "csingle", "singlecomplex"}},
    {'c', 16, "D", {"complex128", "cdouble", "complex", "complex_", "cfloat"}},
}};

constexpr bool kIsLittle = std::endian::native == std::endian::little;
constexpr char kSwappedOrder = kIsLittle ? '>' : '<';

bool is_code_of(const Row& row, std::string_view code) {
  return code.size() == 1 ? row.letters.find(code[0]) != row.letters.npos
                          : code == fmt::format("{}{}", row.kind, row.bytes);
}

bool is_name_of(const Row& row, std::string_view name) {
  return !name.empty() && std::find(row.names.begin(), row.names.end(), name) != row.names.end();
}

}  // namespace

std::string NumpyType::descr() const {
  constexpr char kNativeOrder = kIsLittle ? '<' : '>';
  const char order = bytes == 1 ? '|' : is_swapped ? kSwappedOrder : kNativeOrder;
  return fmt::format("{}{}{}", order, kind, bytes);
}

std::optional<NumpyType> numpy_type_named(std::string_view name) {
  const bool has_order = !name.empty() && std::string_view("<>=|").find(name[0]) != name.npos;
  const std::string_view code = name.substr(has_order ? 1 : 0);
  for (const Row& row : kRows) {
    if (is_code_of(row, code) || is_name_of(row, name)) {
      return NumpyType{row.kind, row.bytes, row.bytes > 1 && name[0] == kSwappedOrder};
    }
  }
  return std::nullopt;
}

}  // namespace pewter
