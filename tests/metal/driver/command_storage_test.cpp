#include "pewter/metal/driver/command_storage.h"

#include <doctest/doctest.h>

#include <cstring>

namespace pewter::driver::test {
namespace {

TEST_CASE("memory keeps its place and alignment while more is taken") {
  CommandStorage storage;
  std::vector<unsigned char*> blocks;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t alignment = std::size_t(1) << i % 6;
    auto* block = static_cast<unsigned char*>(storage.allocate(300, alignment));
    CHECK(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
    std::memset(block, i % 251, 300);
    blocks.push_back(block);
  }
  for (int i = 0; i < 2000; ++i) {
    CHECK(blocks[static_cast<std::size_t>(i)][0] == i % 251);
    CHECK(blocks[static_cast<std::size_t>(i)][299] == i % 251);
  }
}

TEST_CASE("storage that has been cleared gives out the same memory again") {
  CommandStorage storage;
  void* first = storage.allocate(64, 32);
  for (int i = 0; i < 100; ++i) {
    storage.allocate(5000, 16);
  }

  storage.clear();

  CHECK(storage.allocate(64, 32) == first);
  CHECK(storage.first() == nullptr);
}

TEST_CASE("commands are linked in their order") {
  CommandStorage storage;
  storage.append<FillCommand>(0).byte_count = 1;
  storage.append<CopyCommand>(1).byte_count = 2;

  const Command* first = storage.first();
  REQUIRE(first != nullptr);
  CHECK(first->kind == CommandKind::Fill);
  REQUIRE(first->next != nullptr);
  CHECK(first->next->kind == CommandKind::Copy);
  CHECK(first->next->encoder == 1);
  CHECK(first->next->next == nullptr);
}

TEST_CASE("objects are kept until storage is cleared") {
  auto text = make_string("kept");
  CommandStorage storage;
  for (int i = 0; i < 10; ++i) {
    storage.keep(text.get());
  }
  storage.keep(nullptr);
  CHECK(text->retain_count() == 2);

  storage.clear();

  CHECK(text->retain_count() == 1);
}

}  // namespace
}  // namespace pewter::driver::test
