#include <pewter/dtype.h>

#include <array>

namespace pewter {
namespace {

struct Row {
  std::string_view name;
  std::string_view msl_name;
  std::size_t bytes;
};

// By Dtype.
constexpr std::array<Row, 13> kRows = {{
    {"bool", "bool", 1},
    {"uint8", "uchar", 1},
    {"uint16", "ushort", 2},
    {"uint32", "uint", 4},
    {"uint64", "ulong", 8},
    {"int8", "char", 1},
    {"int16", "short", 2},
    {"int32", "int", 4},
    {"int64", "long", 8},
    {"float16", "half", 2},
    {"bfloat16", "bfloat", 2},
    {"float32", "float", 4},
    {"complex64", "float2", 8},
}};
static_assert(kRows.size() == static_cast<std::size_t>(Dtype::Complex64) + 1);

constexpr const Row& row(Dtype dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::size_t size_of(Dtype dtype) {
  return row(dtype).bytes;
}

std::string_view name_of(Dtype dtype) {
  return row(dtype).name;
}

std::string_view msl_name_of(Dtype dtype) {
  return row(dtype).msl_name;
}

std::optional<Dtype> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) {
      return static_cast<Dtype>(i);
    }
  }
  return std::nullopt;
}

}  // namespace pewter
