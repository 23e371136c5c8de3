#include "pewter/compiler/artifact.h"

#include <doctest/doctest.h>

namespace pewter {
namespace {

compiler::KernelCode sample_code() {
  compiler::KernelCode code;
  code.object = {std::byte{1}, std::byte{2}, std::byte{3}};
  code.entry = "entry";
  code.threadgroup_bytes = 48;
  code.needs_fibers = true;
  code.required_buffers = 5;
  code.stack_bytes = 128;
  return code;
}

compiler::LibraryInfo sample_info() {
  compiler::LibraryInfo info;
  compiler::KernelInfo kernel;
  kernel.name = "k";
  kernel.max_total_threads = 64;
  compiler::Parameter parameter;
  parameter.name = "x";
  parameter.index = 3;
  parameter.type = {compiler::ScalarType::Half, 1, 4};
  kernel.parameters.push_back(parameter);
  info.kernels.push_back(kernel);
  info.constants.push_back({"flag", 2, {compiler::ScalarType::Bool, 1, 1}, true});
  return info;
}

}  // namespace

TEST_CASE("kernel code survives the way to bytes and back") {
  const auto read = compiler::parse_kernel_code(compiler::serialise(sample_code()));

  REQUIRE(read.has_value());
  CHECK(read->object == sample_code().object);
  CHECK(read->entry == "entry");
  CHECK(read->threadgroup_bytes == 48);
  CHECK(read->needs_fibers);
  CHECK(!read->uses_atomics);
  CHECK(read->required_buffers == 5);
  CHECK(read->stack_bytes == 128);
}

TEST_CASE("library information survives the way to bytes and back") {
  const auto read = compiler::parse_library_info(compiler::serialise(sample_info()));

  REQUIRE(read.has_value());
  REQUIRE(read->kernels.size() == 1);
  CHECK(read->kernels[0].name == "k");
  CHECK(read->kernels[0].parameters[0].type == sample_info().kernels[0].parameters[0].type);
  CHECK(read->constants[0].name == "flag");
}

TEST_CASE("bytes that are cut short or too long are refused at every length") {
  const std::vector<std::byte> whole = compiler::serialise(sample_info());

  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK(!compiler::parse_library_info(std::span(whole.data(), length)).has_value());
  }
  std::vector<std::byte> longer = whole;
  longer.push_back(std::byte{0});
  CHECK(!compiler::parse_library_info(longer).has_value());
}

TEST_CASE("a length that the bytes cannot hold is refused without allocating it") {
  std::vector<std::byte> bytes = compiler::serialise(sample_code());
  for (std::size_t position = 0; position < 8; ++position) {
    bytes[position] = std::byte{0xff};
  }

  CHECK(!compiler::parse_kernel_code(bytes).has_value());
}

TEST_CASE("no bytes at all are refused") {
  CHECK(!compiler::parse_kernel_code({}).has_value());
  CHECK(!compiler::parse_library_info({}).has_value());
  CHECK(!compiler::parse_facts({}).has_value());
  CHECK(!compiler::parse_sources({}).has_value());
}

}  // namespace pewter
