#include <doctest/doctest.h>
#include <pewter/files.h>
#include <pewter/ops.h>

#include <complex>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"

using pewter::array;
using pewter::BFloat16;
using pewter::Dtype;
using pewter::Float16;
using pewter::NamedArrays;
using pewter::Shape;
using pewter::test::read_file;
using pewter::test::TemporaryDirectory;

namespace {

/// What NumPy's savez_compressed() wrote for a = [0, 0.5, 1] of type float32 and f, the numbers 0
/// to 3 as a square of type big-endian int16 in column order.
constexpr const char* kNumpyFile =
    "504b030414000000080000002100886c0fb64c0000008c00000005001400612e6e7079010010008c00000000"
    "0000004c000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f5452"
    "9498179f5f94920a12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e0608b0676068b0070050"
    "4b03041400000008000000210029bcd9ac4d0000008800000005001400662e6e707901001000880000000000"
    "00004d000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9769a4aea3a09e965f545294"
    "98179f5f94920a120f292a4d050a17672416a402b91a463a0a469a3a0ab50ae4032e06060626064606660050"
    "4b0102140314000000080000002100886c0fb64c0000008c0000000500000000000000000000008001000000"
    "00612e6e7079504b010214031400000008000000210029bcd9ac4d0000008800000005000000000000000000"
    "0000800183000000662e6e7079504b0506000000000200020066000000070100000000";

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

/// An array of each type, some of rank 0 and some without elements.
NamedArrays samples() {
  return {{"bool", array{true, false, true}},
          {"uint8", array{std::uint8_t{0}, std::uint8_t{255}}},
          {"uint16", array{std::uint16_t{65535}}},
          {"uint32", array{4294967295U}},
          {"uint64", array{std::uint64_t{1} << 63}},
          {"int8", array{std::int8_t{-128}}},
          {"int16", array{std::int16_t{-5}}},
          {"int32", array(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}, Shape{2, 3})},
          {"int64", array{std::int64_t{-1} << 40}},
          {"float16", array{Float16(0.5F)}},
          {"float32", array(2.5F)},
          {"complex64", array{std::complex<float>(1, -1)}},
          {"empty", array::empty({0, 4}, Dtype::Float32)}};
}

void check_equal(const NamedArrays& loaded, const NamedArrays& expected) {
  REQUIRE(loaded.size() == expected.size());
  for (const auto& [name, value] : expected) {
    CAPTURE(name);
    REQUIRE(loaded.contains(name));
    const array& found = loaded.at(name);
    CHECK(found.shape() == value.shape());
    REQUIRE(found.dtype() == value.dtype());
    CHECK((value.size() == 0 || pewter::all(equal(found, value)).item<bool>()));
  }
}

}  // namespace

TEST_CASE("arrays of every type survive .npy files") {
  const TemporaryDirectory directory;
  NamedArrays loaded;
  for (const auto& [name, value] : samples()) {
    const auto path = directory.path() / (name + ".npy");
    pewter::save(path, value);
    loaded.emplace(name, pewter::load(path));
  }
  check_equal(loaded, samples());
}

TEST_CASE("views and lazy arrays are saved by their elements, bfloat16 as float32") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x.npy";
  const array grid(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}, Shape{2, 3});
  pewter::save(path, grid.transposed() + 1);
  CHECK(pewter::load(path).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{2, 5, 3, 6, 4, 7});
  pewter::save(path, array{BFloat16(1.5F)});
  CHECK(pewter::load(path).to_vector<float>() == std::vector<float>{1.5F});
}

TEST_CASE("files of doubles, in either order of bytes, become float32") {
  const TemporaryDirectory directory;
  std::string header = "{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }";
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size());
  file += '\0';
  file += header + from_hex("3ff8000000000000c000000000000000");
  const array loaded = pewter::load(directory.write("d.npy", file));
  CHECK(loaded.dtype() == Dtype::Float32);
  CHECK(loaded.to_vector<float>() == std::vector<float>{1.5F, -2.0F});
}

TEST_CASE("types in .npy files may have any name that NumPy has for them") {
  const TemporaryDirectory directory;
  const auto loaded = [&](const std::string& name, const std::string& data) {
    const std::string header = "{'descr': '" + name + "', 'fortran_order': False, 'shape': (2,), }";
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size());
    file += '\0';
    return pewter::load(directory.write("n.npy", file + header + from_hex(data)));
  };
  for (const char* name : {"f4", "=f4", "|f4", "f", "float32", "single"}) {
    CAPTURE(name);
    CHECK(loaded(name, "0000c03f000000c0").to_vector<float>() == std::vector<float>{1.5F, -2.0F});
  }
  CHECK(loaded(">f", "3fc00000c0000000").to_vector<float>() == std::vector<float>{1.5F, -2.0F});
  CHECK(loaded("double", "000000000000f83f00000000000000c0").to_vector<float>() ==
        std::vector<float>{1.5F, -2.0F});
  CHECK(loaded("?", "0007").to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(loaded("l", "0100000000000000ffffffffffffffff").to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{1, -1});
}

TEST_CASE("arrays of every type survive .npz files, compressed or not") {
  const TemporaryDirectory directory;
  for (const bool is_compressed : {false, true}) {
    const auto path = directory.path() / "x.npz";
    pewter::save_npz(path, samples(), is_compressed);
    check_equal(pewter::load_npz(path), samples());
  }
  pewter::save_npz(directory.path() / "none.npz", {});
  CHECK(pewter::load_npz(directory.path() / "none.npz").empty());
}

TEST_CASE("large arrays are compressed and come back") {
  const TemporaryDirectory directory;
  std::vector<float> values(300'000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 1000);
  }
  const auto path = directory.path() / "x.npz";
  pewter::save_npz(path, {{"x", array(values)}}, true);
  CHECK(std::filesystem::file_size(path) < 200'000);
  CHECK(pewter::load_npz(path).at("x").to_vector<float>() == values);
}

TEST_CASE("a file that NumPy wrote is read") {
  const TemporaryDirectory directory;
  const auto loaded = pewter::load_npz(directory.write("n.npz", from_hex(kNumpyFile)));
  CHECK(loaded.at("a").to_vector<float>() == std::vector<float>{0, 0.5F, 1});
  CHECK(loaded.at("f").dtype() == Dtype::Int16);
  CHECK(loaded.at("f").to_vector<std::int16_t>() == std::vector<std::int16_t>{0, 1, 2, 3});
}

TEST_CASE("arrays of every type and the metadata survive .safetensors files") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x.safetensors";
  NamedArrays arrays = samples();
  arrays.emplace("bfloat16", array{BFloat16(1.5F), BFloat16(-2.0F)});
  pewter::save_safetensors(path, arrays, {{"format", "pt"}, {"quote", "\"\n"}});
  const pewter::SafetensorsContent loaded = pewter::load_safetensors(path);
  check_equal(loaded.arrays, arrays);
  CHECK(loaded.metadata == std::map<std::string, std::string>{{"format", "pt"}, {"quote", "\"\n"}});
  CHECK(read_file(path).size() % 2 == 0);
}

TEST_CASE("what cannot be evaluated leaves the file as it was") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("x.npy", "as it was");
  CHECK_THROWS_AS(pewter::save("/no/such/folder/a.npy", array{1.0F}), pewter::FileError);
  CHECK_THROWS_AS(pewter::save_npz("/no/such/folder/a.npz", {{"a", array{1.0F}}}),
                  pewter::FileError);
  CHECK_THROWS_AS(pewter::save_safetensors("/no/such/folder/a", {{"a", array{1.0F}}}),
                  pewter::FileError);
  CHECK_THROWS_AS(pewter::save_safetensors(path, {{"__metadata__", array{1.0F}}}),
                  std::invalid_argument);
  CHECK(read_file(path) == "as it was");
}
