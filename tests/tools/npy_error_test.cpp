#include <doctest/doctest.h>

#include "tests/support/temporary_directory.h"
#include "tools/failure.h"
#include "tools/npy.h"

namespace pewter::tools {
namespace {

using test::TemporaryDirectory;

std::string file_of(const std::string& dictionary) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dictionary.size() & 0xff);
  file += static_cast<char>(dictionary.size() >> 8);
  return file + dictionary;
}

std::string dictionary(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

std::string error_of(const std::string& start) {
  try {
    parse_buffer_header(start, "f.npy");
  } catch (const CommandError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("what does not start like a .npy file is refused") {
  CHECK(error_of("") == "f.npy: not a .npy file");
  CHECK(error_of("PK\x03\x04 a zip file of arrays") == "f.npy: not a .npy file");
  CHECK(error_of(std::string("\x93NUMPY\x09\x00\x10\x00", 10)) ==
        "f.npy: version 9 of the .npy format is not known");
}

TEST_CASE("a header longer than the file or than any real one is refused") {
  CHECK(error_of(std::string("\x93NUMPY\x01\x00\xff\xff", 10)) ==
        "f.npy: .npy header of 65535 bytes is longer than the file or than 65536");
  CHECK(error_of(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)) ==
        "f.npy: .npy header of 4294967295 bytes is longer than the file or than 65536");
  CHECK(error_of(std::string("\x93NUMPY\x02\x00\x01\x00", 10)) == "f.npy: damaged .npy header");
}

TEST_CASE("every cut of a good header is refused") {
  const std::string good = file_of(dictionary("<f4", "(2, 3)"));
  for (std::size_t length = 0; length < good.size(); ++length) {
    CAPTURE(length);
    CHECK(error_of(good.substr(0, length)) != "accepted");
  }
  CHECK(error_of(good) == "accepted");
}

TEST_CASE("what no header of NumPy has in it is named") {
  const auto refusal = [](const std::string& text) {
    const std::string error = error_of(file_of(text));
    const std::string start = "f.npy: damaged .npy header: ";
    return error.starts_with(start) ? error.substr(start.size()) : error;
  };
  const std::string missing = "descr, fortran_order or shape is missing";

  CHECK(refusal("") == "no '{' where one belongs");
  CHECK(refusal("{}") == missing);
  CHECK(refusal("{'descr': '<f4', 'shape': (1,)}") == missing);
  CHECK(refusal("{'descr': '<f4' 'shape': (1,)}") == "no '}' where one belongs");
  CHECK(refusal("{'\x1b[2J': 1}") == "unknown key '\\x1b[2J'");
  CHECK(refusal("{descr: '<f4'}") == "a key is not a string");
  CHECK(refusal("{'descr': '<f4', 'descr': '<f4'}") == "a key appears twice");
  CHECK(refusal(dictionary("<f4", "(1,)") + " junk") == "more than one dictionary");
  CHECK(refusal("{'fortran_order': 0}") == "fortran_order is neither True nor False");
  CHECK(refusal("{'descr': __import__('os')}") == "descr is not a string");
}

TEST_CASE("shapes that are no tuple of whole numbers are refused, as NumPy does") {
  for (const char* shape :
       {"(6)", "6", "[6]", "(,)", "(6,,)", "(-1,)", "(1.5,)", "(1 2)", "(True,)", "((6,),)"}) {
    CAPTURE(shape);
    CHECK(error_of(file_of(dictionary("<f4", shape))) ==
          "f.npy: damaged .npy header: the shape is not a tuple of whole numbers");
  }
  CHECK(error_of(file_of(dictionary("<f4", "(1, 06)"))) ==
        "f.npy: damaged .npy header: 06 in the shape begins with 0");
  for (const char* shape : {"()", "(0,)", "(00,)", "(6,)", "(6,7)", "( 6 ,\t7,\r\n)", "(6L, 7L)"}) {
    CAPTURE(shape);
    CHECK(error_of(file_of(dictionary("<f4", shape))) == "accepted");
  }
}

TEST_CASE("types that Metal lacks are named") {
  CHECK(error_of(file_of(dictionary("<f8", "(1,)"))) ==
        "f.npy: Metal has no type for NumPy's '<f8'; convert with astype('float32') or another");
  CHECK(error_of(file_of(dictionary("<f4\x1b[2J", "(1,)"))) ==
        "f.npy: Metal has no type for NumPy's '<f4\\x1b[2J'; convert with astype('float32') or "
        "another");
  CHECK(error_of(file_of(dictionary("|O", "(1,)"))) != "accepted");
  CHECK(error_of(file_of(dictionary(">f4", "(1,)"))) != "accepted");
  CHECK(error_of(file_of("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}")) ==
        "f.npy: arrays of records are not supported");
}

TEST_CASE("column-major arrays are refused") {
  CHECK(error_of(file_of("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}")) ==
        "f.npy: column-major (fortran_order) arrays are not supported");
}

TEST_CASE("shapes that overflow are refused") {
  CHECK(error_of(file_of(dictionary("<f4", "(4294967296, 4294967296)"))) ==
        "f.npy: array of 4294967296 x 4294967296 elements is too large");
  CHECK(error_of(file_of(dictionary("<f4", "(99999999999999999999,)"))) ==
        "f.npy: damaged .npy header: 99999999999999999999 in the shape is too large");
  std::string many = "(";
  for (int i = 0; i < 33; ++i) {
    many += "1, ";
  }
  CHECK(error_of(file_of(dictionary("<f4", many + ")"))) == "f.npy: more than 32 dimensions");
}

TEST_CASE("a file with too little or too much data is refused") {
  const TemporaryDirectory directory;
  const std::string head = file_of(dictionary("<f4", "(2,)"));
  const std::string small = directory.write("small.npy", head + std::string(7, '\0'));
  const std::string large = directory.write("large.npy", head + std::string(9, '\0'));

  CHECK_THROWS_WITH_AS(read_buffer_header(small),
                       (small + ": 7 bytes of data where 8 are needed").c_str(), CommandError);
  CHECK_THROWS_AS(read_buffer_header(large), CommandError);
}

TEST_CASE("directories and files that cannot be written are refused") {
  const TemporaryDirectory directory;

  CHECK_THROWS_WITH_AS(read_buffer_header(directory.path().string()),
                       doctest::Contains("not a file"), CommandError);
  CHECK_THROWS_WITH_AS(write_buffer("/no/such/folder/a.npy", {}, {0}, {}),
                       "cannot write '/no/such/folder/a.npy'", CommandError);
}

}  // namespace
}  // namespace pewter::tools
