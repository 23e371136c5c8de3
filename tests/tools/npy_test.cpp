#include "tools/npy.h"

#include <doctest/doctest.h>

#include "tests/support/temporary_directory.h"

namespace pewter::tools {
namespace {

using Shape = std::vector<std::uint64_t>;
using test::TemporaryDirectory;

/// A file of version 1 as NumPy itself writes it.
std::string numpy_file(std::string dictionary, const std::string& data) {
  dictionary.append(64 - (10 + dictionary.size() + 1) % 64, ' ');
  dictionary += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dictionary.size() & 0xff);
  file += static_cast<char>(dictionary.size() >> 8);
  return file + dictionary + data;
}

template <typename T>
std::vector<T> read(const std::string& path) {
  const BufferHeader header = read_buffer_header(path);
  std::vector<T> values(header.byte_count / sizeof(T));
  read_buffer_data(path, header, std::as_writable_bytes(std::span(values)));
  return values;
}

TEST_CASE("an array as NumPy writes it is read") {
  const TemporaryDirectory directory;
  const std::string path = directory.write(
      "a.npy", numpy_file("{'descr': '<i2', 'fortran_order': False, 'shape': (3, 1), }",
                          std::string("\x01\x00\xff\xff\x00\x01", 6)));

  CHECK(read_buffer_header(path).element == Element::Short);
  CHECK(read_buffer_header(path).shape == Shape{3, 1});
  CHECK(read<std::int16_t>(path) == std::vector<std::int16_t>{1, -1, 256});
}

TEST_CASE("scalars, one dimension and other orders of keys are read") {
  const std::string four(4, '\0');
  CHECK(
      parse_buffer_header(numpy_file("{'descr':'<f4','fortran_order':False,'shape':()}", four), "f")
          .byte_count == 4);
  CHECK(parse_buffer_header(
            numpy_file("{\"shape\": (1,), 'fortran_order': False, 'descr': '<f4'}", four), "f")
            .shape == Shape{1});
}

TEST_CASE("what is written is read back alike") {
  const TemporaryDirectory directory;
  const std::string path = (directory.path() / "b.npy").string();
  const std::vector<float> numbers = {1, 2.5f, -3, 4, 5, 6};

  write_buffer(path, {Element::Float, 1}, {2, 3}, std::as_bytes(std::span(numbers)));

  CHECK(read_buffer_header(path).shape == Shape{2, 3});
  CHECK(read_buffer_header(path).data_offset % 64 == 0);
  CHECK(read<float>(path) == numbers);
}

TEST_CASE("vectors get a dimension of their own") {
  const TemporaryDirectory directory;
  const std::string path = (directory.path() / "c.npy").string();
  const std::vector<std::uint8_t> bytes(8);

  write_buffer(path, {Element::UChar, 4}, {2}, std::as_bytes(std::span(bytes)));

  CHECK(read_buffer_header(path).shape == Shape{2, 4});
}

TEST_CASE("bfloat is written as float") {
  const TemporaryDirectory directory;
  const std::string path = (directory.path() / "d.npy").string();
  const std::vector<std::uint16_t> bits = {0x3f80, 0xc000};

  write_buffer(path, {Element::BFloat, 1}, {2}, std::as_bytes(std::span(bits)));

  CHECK(read<float>(path) == std::vector<float>{1, -2});
}

TEST_CASE("a bool of any other value than 0 becomes 1") {
  const TemporaryDirectory directory;
  const std::string path = directory.write(
      "e.npy", numpy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }",
                          std::string("\0\1\7", 3)));

  CHECK(read<std::uint8_t>(path) == std::vector<std::uint8_t>{0, 1, 1});
}

}  // namespace
}  // namespace pewter::tools
