#include "pewter/metal/executor/loaded_kernel.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/metal/executor/executor_support.h"

namespace pewter::executor::test {
namespace {

std::string load_error(const std::vector<std::byte>& object,
                       const std::string& entry = "count_visits") {
  const auto kernel = LoadedKernel::load(object, entry, {});
  return kernel ? "" : kernel.error().message;
}

template <typename T>
void overwrite(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

Elf64_Ehdr header_of(const std::vector<std::byte>& object) {
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  return header;
}

TEST_CASE("a function that the object does not define is named") {
  CHECK(load_error(plain_object(), "no_such_kernel") == "object has no function 'no_such_kernel'");
  CHECK(load_error(plain_object(), "sinf") == "object has no function 'sinf'");
  CHECK(load_error(plain_object(), "") == "object has no function ''");
}

TEST_CASE("every function that the device does not have is named") {
  CHECK(load_error(broken_object(), "call_unknown") ==
        "kernel calls functions that the device does not have: 'air.unknown_function.f32', "
        "'another_unknown_function'");
}

TEST_CASE("what is no object is refused") {
  auto object = plain_object();
  CHECK(load_error({}) == "object of 0 bytes is shorter than an ELF header");
  object[0] = std::byte(0);
  CHECK(load_error(object) == "object is not an ELF file");
  object = plain_object();
  overwrite<std::uint16_t>(object, offsetof(Elf64_Ehdr, e_type), ET_DYN);
  CHECK(load_error(object) == "object is not a 64-bit little-endian relocatable ELF file");
}

TEST_CASE("an object for another processor is refused") {
  auto object = plain_object();
  overwrite<std::uint16_t>(object, offsetof(Elf64_Ehdr, e_machine), EM_PPC64);
  CHECK(load_error(object) == "object for ELF machine 21 cannot be loaded on this processor");
}

TEST_CASE("section headers outside the file are refused") {
  auto object = plain_object();
  overwrite<std::uint64_t>(object, offsetof(Elf64_Ehdr, e_shoff), object.size());
  CHECK(load_error(object) == "section headers lie outside the object");
  overwrite<std::uint64_t>(object, offsetof(Elf64_Ehdr, e_shoff), ~std::uint64_t(0));
  CHECK(load_error(object) == "section headers lie outside the object");
}

TEST_CASE("an object cut short anywhere is refused or harmless") {
  const auto object = plain_object();
  for (std::size_t size = 0; size < object.size(); size += 97) {
    const std::vector<std::byte> part(object.begin(),
                                      object.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(!load_error(part).empty());
  }
}

TEST_CASE("an object with damaged bytes is refused or loaded, and never crashes") {
  constexpr unsigned kSeed = 20240917;
  std::mt19937 random(kSeed);
  const auto object = fiber_object();
  const Elf64_Ehdr header = header_of(object);
  for (int i = 0; i < 3000; ++i) {
    auto damaged = object;
    // Half of the damage goes to the section headers, where it does most.
    const bool in_headers = i % 2 == 0;
    const std::size_t first = in_headers ? header.e_shoff : 0;
    const std::size_t size = in_headers ? header.e_shnum * sizeof(Elf64_Shdr) : object.size();
    for (int change = 0; change < 4; ++change) {
      damaged[first + random() % size] = std::byte(random() % 256);
    }
    load_error(damaged, "tree_sum");
  }
  MESSAGE("seed ", kSeed);
}

TEST_CASE("code is not writable and data is neither writable nor executable") {
  const auto kernel = plain_kernel("count_visits");
  const auto address = reinterpret_cast<std::uintptr_t>(kernel->entry());
  std::ifstream maps("/proc/self/maps");
  std::string line;
  std::string permissions;
  while (std::getline(maps, line)) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::string found;
    std::istringstream(line) >> std::hex >> begin >> dash >> end >> found;
    if (begin <= address && address < end) {
      permissions = found;
      break;
    }
  }
  CHECK(permissions == "r-xp");
}

}  // namespace
}  // namespace pewter::executor::test
