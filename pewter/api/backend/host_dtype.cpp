#include "pewter/api/backend/host_dtype.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

#include "pewter/array/numpy_type.h"

namespace pewter::backend {
namespace {

struct Row {
  std::string_view name;
  char kind;
  std::size_t bytes;
  std::optional<Dtype> device;
};

// By HostDtype.
const std::array<Row, 14> kRows = {{
    {"bool", 'b', 1, Dtype::Bool},
    {"uint8", 'u', 1, Dtype::UInt8},
    {"uint16", 'u', 2, Dtype::UInt16},
    {"uint32", 'u', 4, Dtype::UInt32},
    {"uint64", 'u', 8, Dtype::UInt64},
    {"int8", 'i', 1, Dtype::Int8},
    {"int16", 'i', 2, Dtype::Int16},
    {"int32", 'i', 4, Dtype::Int32},
    {"int64", 'i', 8, Dtype::Int64},
    {"float16", 'f', 2, Dtype::Float16},
    {"float32", 'f', 4, Dtype::Float32},
    {"float64", 'f', 8, Dtype::Float32},
    {"complex64", 'c', 8, Dtype::Complex64},
    {"complex128", 'c', 16, std::nullopt},
}};
static_assert(kRows.size() == static_cast<std::size_t>(HostDtype::Complex128) + 1);

const Row& row(HostDtype dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

/// Whether a list of words, with spaces between them, has this one.
bool has_word(std::string_view words, std::string_view word) {
  while (!word.empty() && !words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) {
      return true;
    }
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

/// Without the sign for an order of bytes, if there is one.
std::string_view without_order(std::string_view name) {
  const bool has_order = !name.empty() && std::string_view("<>=|").find(name[0]) != name.npos;
  return has_order ? name.substr(1) : name;
}

/// Types of NumPy that are none of HostDtype and have one size.
struct OtherRow {
  std::string_view codes;
  std::string_view aliases;
  std::size_t bytes;
};
constexpr std::array<OtherRow, 5> kOthers = {{
    {"f16 g", "float128 longdouble", 16},
    {"c32 G", "complex256 clongdouble", 32},
    {"O O8", "object object_", 8},
    {"c", "", 1},
    {"S U V", "str str_ bytes bytes_ void", 0},
}};

/// Whether the text is the unit of a time in brackets: "[ns]", "[25s]", or nothing.
bool is_unit(std::string_view text) {
  if (text.empty()) {
    return true;
  }
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') {
    return false;
  }
  text = text.substr(1, text.size() - 2);
  text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  return has_word("Y M W D h m s ms us ns ps fs as generic", text);
}

}  // namespace

std::size_t size_of(HostDtype dtype) {
  return row(dtype).bytes;
}

std::string_view name_of(HostDtype dtype) {
  return row(dtype).name;
}

std::optional<HostDtype> host_dtype_named(std::string_view name) {
  const std::optional<NumpyType> type = numpy_type_named(name);
  if (!type) {
    return std::nullopt;
  }
  const auto* const found = std::find_if(kRows.begin(), kRows.end(), [&](const Row& known) {
    return known.kind == type->kind && known.bytes == type->bytes;
  });
  return static_cast<HostDtype>(found - kRows.begin());
}

std::optional<std::size_t> other_dtype_bytes(std::string_view name) {
  const std::string_view code = without_order(name);
  for (const OtherRow& known : kOthers) {
    if (has_word(known.codes, code) || has_word(known.aliases, name)) {
      return known.bytes;
    }
  }
  for (const std::string_view time : {"M8", "m8", "datetime64", "timedelta64"}) {
    const std::string_view given = time.size() == 2 ? code : name;
    if (given.starts_with(time) && is_unit(given.substr(time.size()))) {
      return 8;
    }
  }
  // Texts and raw bytes of a length.
  if (code.size() < 2 || std::string_view("SUV").find(code[0]) == code.npos) {
    return std::nullopt;
  }
  std::size_t length = 0;
  const char* const end = code.data() + code.size();
  const auto [rest, error] = std::from_chars(code.data() + 1, end, length);
  const std::size_t bytes = code[0] == 'U' ? 4 : 1;
  constexpr std::size_t kMostBytes = std::numeric_limits<std::int32_t>::max();
  if (error != std::errc() || rest != end || length > kMostBytes / bytes) {
    return std::nullopt;
  }
  return length * bytes;
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
