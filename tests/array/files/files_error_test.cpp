#include <doctest/doctest.h>
#include <pewter/files.h>
#include <pewter/npy.h>
#include <pewter/ops.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"

using pewter::array;
using pewter::FileError;
using pewter::test::read_file;
using pewter::test::TemporaryDirectory;

namespace {

/// What reading a file of this content says; "accepted" when it is read.
template <typename Load>
std::string refusal(const std::string& content, const Load& load) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("f", content);
  try {
    load(path);
  } catch (const FileError& error) {
    const std::string text = error.what();
    return text.starts_with(path) ? text.substr(path.size()) : text;
  }
  return "accepted";
}

std::string npz_refusal(const std::string& content) {
  return refusal(content, [](const std::string& path) { pewter::load_npz(path); });
}

std::string safetensors_refusal(const std::string& content) {
  return refusal(content, [](const std::string& path) { pewter::load_safetensors(path); });
}

std::string saved_npz(bool is_compressed) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x.npz";
  pewter::save_npz(path, {{"a", array(std::vector<float>(50, 1.5F))}, {"b", array{1, 2}}},
                   is_compressed);
  return read_file(path);
}

std::string safetensors(const std::string& header, const std::string& data) {
  std::string file;
  for (int i = 0; i < 8; ++i) {
    file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  return file + header + data;
}

void put(std::string& file, std::size_t at, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    file.at(at + static_cast<std::size_t>(i)) = static_cast<char>(value >> (8 * i) & 0xff);
  }
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every cut of a .npz file is refused") {
  for (const bool is_compressed : {false, true}) {
    const std::string good = saved_npz(is_compressed);
    REQUIRE(npz_refusal(good) == "accepted");
    for (std::size_t length = 0; length < good.size(); length += 7) {
      CAPTURE(length);
      CHECK(npz_refusal(good.substr(0, length)) != "accepted");
    }
  }
}

TEST_CASE("a .npz file with any byte changed is refused or gives arrays, and nothing else") {
  for (const bool is_compressed : {false, true}) {
    const std::string good = saved_npz(is_compressed);
    int refused = 0;
    for (std::size_t at = 0; at < good.size(); at += 3) {
      std::string changed = good;
      changed[at] = static_cast<char>(changed[at] ^ 0x55);
      refused += npz_refusal(changed) != "accepted" ? 1 : 0;
    }
    CHECK(refused > 20);
  }
}

TEST_CASE("entries that lie about their places and sizes are refused") {
  const std::string good = saved_npz(false);
  const std::size_t directory = good.find("PK\x01\x02");
  const std::size_t second = good.find("PK\x01\x02", directory + 4);

  std::string huge = good;
  put(huge, directory + 20, 0x7fffffff, 4);
  put(huge, directory + 24, 0x7fffffff, 4);
  CHECK(npz_refusal(huge) == ": 'a.npy' is longer than the file");

  std::string bomb = good;
  put(bomb, directory + 10, 8, 2);
  put(bomb, directory + 24, 0xfffffffe, 4);
  CHECK(contains(npz_refusal(bomb), "cannot have 4294967294 bytes in"));

  std::string shared = good;
  put(shared, second + 42, 0, 4);
  CHECK(npz_refusal(shared) == ": 'a.npy' and 'b.npy' share bytes");

  std::string twice = good;
  twice.replace(second + 46, 1, "a");
  CHECK(npz_refusal(twice) == ": two entries are named 'a.npy'");

  std::string away = good;
  put(away, directory + 42, 3, 4);
  CHECK(npz_refusal(away) == ": no header of 'a.npy' where the directory says");

  std::string locked = good;
  put(locked, directory + 8, 1, 2);
  CHECK(contains(npz_refusal(locked), "is encrypted or compressed by a method"));
}

TEST_CASE("data that was changed is found by its checksum") {
  std::string changed = saved_npz(false);
  changed[changed.find("PK\x01\x02") - 1] ^= 1;
  CHECK(npz_refusal(changed) == ": 'b.npy' is damaged: its checksum differs");
}

TEST_CASE("a name that no entry can have is refused before the file is written") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "kept.npz";
  pewter::save_npz(path, {{"a", array{1, 2}}});

  CHECK_THROWS_AS(pewter::save_npz(path, {{"a", array{3}}, {std::string(65532, 'x'), array{4}}}),
                  FileError);

  CHECK(pewter::load_npz(path).at("a").to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{1, 2});
}

TEST_CASE("what is no .npz file is refused") {
  CHECK(npz_refusal("") == ": not a .npz file");
  CHECK(npz_refusal("\x93NUMPY") == ": not a .npz file");
  CHECK(npz_refusal(std::string(100'000, 'x')) == ": not a .npz file");
  std::string counted("PK\x05\x06", 4);
  counted.append(18, '\0');
  CHECK(npz_refusal(counted) == "accepted");
  put(counted, 10, 60000, 2);
  CHECK(npz_refusal(counted) == ": damaged .npz directory");
  put(counted, 10, 0xffff, 2);
  CHECK(npz_refusal(counted) == ": damaged .npz directory");
  CHECK_THROWS_AS(pewter::load_npz("/no/such/file.npz"), FileError);
  CHECK_THROWS_AS(pewter::load_npz("/"), FileError);
}

TEST_CASE("headers of .safetensors files that are none are refused") {
  CHECK(safetensors_refusal("") == ": not a .safetensors file");
  CHECK(safetensors_refusal(std::string("\x10\0\0\0\0\0\0\0{}", 10)) ==
        ": .safetensors header of 16 bytes is longer than the file or than 100000000");
  CHECK(contains(safetensors_refusal(std::string(8, '\xff') + "{}"), "is longer than the file"));
  CHECK(safetensors_refusal(safetensors("{}", "")) == "accepted");
  for (const char* header :
       {"", "[]", "{", "null", "{\"a\": 1}", "{\"a\": {\"dtype\": \"F32\"}}",
        "{\"__metadata__\": {\"a\": 1}}",
        "{\"a\": {\"dtype\": 4, \"shape\": [], \"data_offsets\": [0, 4]}}",
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [-1], \"data_offsets\": [0, 4]}}",
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [1.5], \"data_offsets\": [0, 4]}}",
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [4, 0]}}",
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0]}}"}) {
    CAPTURE(header);
    CHECK(safetensors_refusal(safetensors(header, "1234")) == ": damaged .safetensors header");
  }
}

TEST_CASE("deeply nested headers neither crash nor are accepted") {
  CHECK(safetensors_refusal(safetensors(std::string(200'000, '['), "")) ==
        ": damaged .safetensors header");
  CHECK(safetensors_refusal(safetensors("{\"a\":" + std::string(200'000, '['), "")) ==
        ": damaged .safetensors header");
}

TEST_CASE("what no header has in it is refused before it is read") {
  // The duplicate inside would have another message.
  CHECK(safetensors_refusal(safetensors("{\"a\": [[[[{\"b\": 1, \"b\": 2}]]]]}", "")) ==
        ": damaged .safetensors header");
}

TEST_CASE("more axes than NumPy knows are refused") {
  const auto tensor = [](std::size_t rank) {
    std::string shape = "1";
    for (std::size_t i = 1; i < rank; ++i) {
      shape += ",1";
    }
    return safetensors(
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [" + shape + "], \"data_offsets\": [0, 4]}}",
        "1234");
  };
  CHECK(safetensors_refusal(tensor(32)) == "accepted");
  CHECK(safetensors_refusal(tensor(33)) == ": more than 32 dimensions");
  CHECK(safetensors_refusal(tensor(1'000'000)) == ": more than 32 dimensions");
}

TEST_CASE("arrays that could not be read again are not written") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("f", "as before");
  const array most = pewter::ones(pewter::Shape(32, 1));
  const array deep = pewter::ones(pewter::Shape(33, 1));
  const std::string long_name(100'000'000, 'x');
  const auto saving = [&](const array& value, const std::string& name) {
    const auto attempt = [&](const auto& save) {
      try {
        save();
      } catch (const FileError& error) {
        return std::string(error.what()).substr(path.size());
      }
      return std::string("accepted");
    };
    return std::vector<std::string>{
        attempt([&] { pewter::save_safetensors(path, {{name, value}}); }),
        attempt([&] { pewter::save_npz(path, {{"a", value}}); }),
        attempt([&] { pewter::save(path, value); })};
  };

  for (const std::string& text : saving(deep, "a")) {
    CHECK(text == ": an array of 33 dimensions, and files have at most 32");
  }
  CHECK(saving(deep, "a").size() == 3);
  CHECK(read_file(path) == "as before");
  CHECK(saving(most, long_name).front().starts_with(": a header of 100000"));
  CHECK(saving(most, "a") == std::vector<std::string>(3, "accepted"));
}

TEST_CASE("names from files come without control characters into messages, and not in full") {
  const std::string escape = "\x1b[2J";
  const std::string entry = R"({"dtype": "Q", "shape": [1], "data_offsets": [0, 4]})";
  CHECK(safetensors_refusal(safetensors(R"({"\u001b[2J": )" + entry + "}", "1234")) ==
        ": tensor '\\x1b[2J' is of type 'Q', which arrays do not have");
  const std::string name(1000, 'x');
  CHECK(safetensors_refusal(safetensors("{\"" + name + "\": " + entry + "}", "1234")) ==
        ": tensor '" + name.substr(0, 100) + "...' is of type 'Q', which arrays do not have");

  std::string zip = saved_npz(false);
  const std::size_t directory = zip.find("PK\x01\x02");
  zip.replace(directory + 46, escape.size(), escape);
  put(zip, directory + 42, 3, 4);
  CHECK(npz_refusal(zip) == ": no header of '\\x1b[2Jy' where the directory says");
}

TEST_CASE("tensors must fill the data, one after the other") {
  const auto one = [](const std::string& shape, const std::string& places) {
    return safetensors(
        "{\"a\": {\"dtype\": \"F32\", \"shape\": " + shape + ", \"data_offsets\": " + places + "}}",
        "12345678");
  };
  CHECK(safetensors_refusal(one("[2]", "[0, 8]")) == "accepted");
  CHECK(contains(safetensors_refusal(one("[3]", "[0, 8]")), "tensor 'a' of 12 bytes"));
  CHECK(contains(safetensors_refusal(one("[1]", "[4, 8]")), "where 0 is expected"));
  CHECK(safetensors_refusal(one("[1]", "[0, 4]")) == ": 8 bytes of data where 4 are needed");
  CHECK(safetensors_refusal(one("[4]", "[0, 16]")) == ": 8 bytes of data where 16 are needed");
  CHECK(contains(safetensors_refusal(one("[4611686018427387904, 4]", "[0, 8]")),
                 "more elements than can be counted"));
  CHECK(
      contains(safetensors_refusal(one("[0, 4611686018427387904, 4611686018427387904]", "[0, 0]")),
               "more elements than can be counted"));

  const std::string entry = "\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}";
  CHECK(safetensors_refusal(safetensors("{" + entry + ", " + entry + "}", "1234")) ==
        ": 'a' appears twice in the header");
  const std::string shared =
      "\"b\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}";
  CHECK(contains(safetensors_refusal(safetensors("{" + entry + ", " + shared + "}", "1234")),
                 "where 4 is expected"));
}

TEST_CASE("types that arrays do not have are named") {
  CHECK(safetensors_refusal(safetensors(
            "{\"a\": {\"dtype\": \"F8_E4M3\", \"shape\": [1], \"data_offsets\": [0, 1]}}", "1")) ==
        ": tensor 'a' is of type 'F8_E4M3', which arrays do not have");
  const std::string npy = pewter::npy_preamble("<c16", {1}) + std::string(16, '\0');
  CHECK(contains(refusal(npy, [](const std::string& path) { pewter::load(path); }),
                 "Metal has no type for NumPy's '<c16'"));
}

TEST_CASE("every cut of a .npy and of a .safetensors file is refused") {
  const std::string npy = pewter::npy_preamble("<f4", {2, 3}) + std::string(24, '\0');
  for (std::size_t length = 0; length < npy.size(); ++length) {
    CHECK(refusal(npy.substr(0, length), [](const std::string& path) { pewter::load(path); }) !=
          "accepted");
  }
  const std::string good = safetensors(
      "{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}", "1234");
  for (std::size_t length = 0; length < good.size(); ++length) {
    CHECK(safetensors_refusal(good.substr(0, length)) != "accepted");
  }
}
