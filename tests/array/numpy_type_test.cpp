#include "pewter/array/numpy_type.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace pewter {
namespace {

/// What NumPy writes for the type of that name; empty for none.
std::string descr_of(std::string_view name) {
  const std::optional<NumpyType> type = numpy_type_named(name);
  return type ? type->descr() : "";
}

TEST_CASE("names of types mean what they mean to np.dtype()") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> names = {
      {"|b1", {"b1", "|b1", "<b1", ">b1", "?", "bool", "bool_"}},
      {"|u1", {"u1", "|u1", ">B", "B", "uint8", "ubyte"}},
      {"<u2", {"u2", "=u2", "H", "uint16", "ushort"}},
      {"<u4", {"u4", "|I", "I", "uint32", "uintc"}},
      {"<u8", {"u8", "L", "Q", "P", "uint64", "uint", "ulonglong", "uintp"}},
      {"|i1", {"i1", "b", "=b", "int8", "byte"}},
      {"<i2", {"i2", "h", "int16", "short"}},
      {"<i4", {"i4", "i", "int32", "intc"}},
      {"<i8", {"i8", "l", "q", "p", "int64", "int", "int_", "longlong", "intp"}},
      {"<f2", {"f2", "e", "float16", "half"}},
      {"<f4", {"f4", "<f4", "=f4", "|f4", "f", "<f", "float32", "single"}},
      {"<f8", {"f8", "d", "float64", "double", "float"}},
      {"<c8", {"c8", "F", "complex64", "csingle"}},
      {"<c16", {"c16", "D", "complex128", "complex", "cdouble"}},
      {">f4", {">f4", ">f"}},
      {">i8", {">i8", ">q"}},
      {">c8", {">c8", ">F"}}};

  for (const auto& [descr, others] : names) {
    for (const std::string& name : others) {
      CAPTURE(name);
      CHECK(descr_of(name) == descr);
    }
  }
}

TEST_CASE("names of no number and names that NumPy does not know are not taken") {
  for (const char* name :
       {"",   "<",  "<<f4", "<float32", ">bool", "Float32", "f3",       "f5", "f16",
        "b2", "c4", "u",    "f4 ",      " f4",   "float8",  "bfloat16", "g",  "c",
        "a",  "O",  "S4",   "U",        "V",     "M8[ns]",  "-f4",      "4f"}) {
    CAPTURE(name);
    CHECK(descr_of(name).empty());
  }
}

}  // namespace
}  // namespace pewter
