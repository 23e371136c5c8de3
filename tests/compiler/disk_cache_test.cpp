#include "pewter/compiler/disk_cache.h"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "tests/support/temporary_directory.h"

namespace pewter {
namespace {

namespace fs = std::filesystem;
using compiler::DiskCache;

std::vector<std::byte> bytes(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Digest key(const std::string& name) {
  return Hasher().add(name).digest();
}

fs::path only_file(const fs::path& directory) {
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) {
      return entry.path();
    }
  }
  return {};
}

}  // namespace

TEST_CASE("what was stored is loaded, and nothing else") {
  const test::TemporaryDirectory directory;
  DiskCache cache(directory.path(), 1 << 20);

  cache.store(key("a"), bytes("hello"));

  CHECK(cache.load(key("a")) == bytes("hello"));
  CHECK(!cache.load(key("b")).has_value());
  CHECK(cache.usage().entries == 1);
}

TEST_CASE("another cache on the same folder sees the entry") {
  const test::TemporaryDirectory directory;

  DiskCache(directory.path(), 1 << 20).store(key("a"), bytes("shared"));

  CHECK(DiskCache(directory.path(), 1 << 20).load(key("a")) == bytes("shared"));
}

TEST_CASE("an entry that was cut short, changed or renamed counts as missing") {
  const test::TemporaryDirectory directory;
  DiskCache cache(directory.path(), 1 << 20);
  cache.store(key("a"), bytes("some bytes that matter"));
  const fs::path file = only_file(directory.path());

  SUBCASE("cut short") {
    fs::resize_file(file, fs::file_size(file) - 3);
  }
  SUBCASE("empty") {
    fs::resize_file(file, 0);
  }
  SUBCASE("one byte changed") {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-1, std::ios::end);
    stream.put('X');
  }
  SUBCASE("longer") {
    std::ofstream(file, std::ios::app) << "tail";
  }

  CHECK(!cache.load(key("a")).has_value());
  cache.store(key("a"), bytes("again"));
  CHECK(cache.load(key("a")) == bytes("again"));
}

TEST_CASE("the folder stays below its limit and keeps what was used last") {
  const test::TemporaryDirectory directory;
  DiskCache cache(directory.path(), 64 << 10);

  for (int entry = 0; entry < 100; ++entry) {
    cache.store(key(std::to_string(entry)), std::vector<std::byte>(4096));
  }

  CHECK(cache.usage().bytes <= 72 << 10);
  CHECK(cache.load(key("99")).has_value());
  CHECK(!cache.load(key("0")).has_value());
}

TEST_CASE("clearing frees every entry") {
  const test::TemporaryDirectory directory;
  DiskCache cache(directory.path(), 1 << 20);
  cache.store(key("a"), bytes("one"));
  cache.store(key("b"), bytes("two"));

  const auto freed = cache.clear();

  REQUIRE(freed.ok());
  CHECK(*freed > 6);
  CHECK(cache.usage().entries == 0);
}

TEST_CASE("a folder that cannot be written is a slow cache, not an error") {
  DiskCache cache("/proc/no/such/folder", 1 << 20);

  cache.store(key("a"), bytes("lost"));

  CHECK(!cache.load(key("a")).has_value());
}

TEST_CASE("many threads storing and loading one key always see whole entries") {
  const test::TemporaryDirectory directory;
  DiskCache cache(directory.path(), 1 << 20);
  const std::vector<std::byte> value(10000, std::byte{7});

  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        cache.store(key("a"), value);
        const auto loaded = cache.load(key("a"));
        wrong += loaded && *loaded == value ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  CHECK(wrong == 0);
}

}  // namespace pewter
