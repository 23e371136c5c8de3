#include <pewter/host_array.h>

#include <array>

namespace pewter::backend {
namespace {

struct Row {
  std::string_view name;
  /// NumPy's kind and size.
  std::string_view code;
  /// Another name that NumPy takes; may be empty.
  std::string_view alias;
  std::size_t bytes;
  std::optional<Dtype> device;
};

// By HostDtype.
const std::array<Row, 14> kRows = {{
    {"bool", "b1", "?", 1, Dtype::Bool},
    {"uint8", "u1", "ubyte", 1, Dtype::UInt8},
    {"uint16", "u2", "ushort", 2, Dtype::UInt16},
    {"uint32", "u4", "uintc", 4, Dtype::UInt32},
    {"uint64", "u8", "uint", 8, Dtype::UInt64},
    {"int8", "i1", "byte", 1, Dtype::Int8},
    {"int16", "i2", "short", 2, Dtype::Int16},
    {"int32", "i4", "intc", 4, Dtype::Int32},
    {"int64", "i8", "int", 8, Dtype::Int64},
    {"float16", "f2", "half", 2, Dtype::Float16},
    {"float32", "f4", "single", 4, Dtype::Float32},
    {"float64", "f8", "double", 8, Dtype::Float32},
    {"complex64", "c8", "csingle", 8, Dtype::Complex64},
    {"complex128", "c16", "cdouble", 16, std::nullopt},
}};
static_assert(kRows.size() == static_cast<std::size_t>(HostDtype::Complex128) + 1);

const Row& row(HostDtype dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::size_t size_of(HostDtype dtype) {
  return row(dtype).bytes;
}

std::string_view name_of(HostDtype dtype) {
  return row(dtype).name;
}

std::optional<HostDtype> host_dtype_named(std::string_view name) {
  // Python's own names for its numbers.
  if (name == "float") {
    return HostDtype::Float64;
  }
  if (name == "complex") {
    return HostDtype::Complex128;
  }
  const bool has_order = !name.empty() && std::string_view("<>=|").find(name[0]) != name.npos;
  const std::string_view code = has_order ? name.substr(1) : name;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    const Row& known = kRows[i];
    if (code == known.code || (!has_order && (name == known.name || name == known.alias))) {
      return static_cast<HostDtype>(i);
    }
  }
  return std::nullopt;
}

std::optional<Dtype> device_dtype(HostDtype dtype) {
  return row(dtype).device;
}

HostDtype host_dtype(Dtype dtype) {
  if (dtype == Dtype::BFloat16) {
    return HostDtype::Float32;
  }
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].device == dtype && static_cast<HostDtype>(i) != HostDtype::Float64) {
      return static_cast<HostDtype>(i);
    }
  }
  return HostDtype::Float32;
}

}  // namespace pewter::backend
