#include <doctest/doctest.h>

#include <string>

#include "pewter/compiler/artifact.h"
#include "pewter/compiler/compiler.h"

namespace pewter {
namespace {

/// Members of the structure that the kernel of `text` has at buffer 0.
std::vector<compiler::Member> members(const std::string& text) {
  auto library =
      compiler::open_library("#include <metal_stdlib>\nusing namespace metal;\n" + text, {});
  REQUIRE_MESSAGE(library.ok(), library.error().text());
  return (*library)->info().kernels.at(0).parameters.at(0).members;
}

TEST_CASE("members of a structure have C's offsets and ids in order") {
  const auto found = members(R"(
    struct Arguments { device float* in; float scale; device int* outs[2]; float4 color; };
    kernel void f(constant Arguments& arguments [[buffer(0)]]) {})");

  REQUIRE(found.size() == 4);
  CHECK(found[0].name == "in");
  CHECK(found[0].is_pointer);
  CHECK(found[0].type == compiler::ValueType{compiler::ScalarType::Float, 1, 1});
  CHECK(found[1].offset == 8);
  CHECK(found[1].id == 1);
  CHECK_FALSE(found[1].is_pointer);
  CHECK(found[2].offset == 16);
  CHECK(found[2].count == 2);
  CHECK(found[2].size == 8);
  CHECK(found[3].id == 4);
  CHECK(found[3].offset == 32);
  CHECK(found[3].alignment == 16);
}

TEST_CASE("ids may be given, and later members count on from them") {
  const auto found = members(R"(
    struct Arguments { device float* a [[id(5)]]; device float* b; uint n [[id(1)]]; };
    kernel void f(device Arguments* arguments [[buffer(0)]]) {})");

  REQUIRE(found.size() == 3);
  CHECK(found[0].id == 5);
  CHECK(found[1].id == 6);
  CHECK(found[2].id == 1);
  CHECK(found[2].offset == 16);
}

TEST_CASE("nested structures and arrays of them are listed member by member") {
  const auto found = members(R"(
    struct Inner { device float* data; uint count; };
    struct Outer { uint flags; Inner inner[2]; array<device half*, 3> rest; };
    kernel void f(constant Outer& outer [[buffer(0)]]) {})");

  REQUIRE(found.size() == 6);
  CHECK(found[1].offset == 8);
  CHECK(found[3].offset == 24);
  CHECK(found[4].id == 4);
  CHECK(found[5].name == "rest");
  CHECK(found[5].count == 3);
  CHECK(found[5].offset == 40);
}

TEST_CASE("vectors, scalars and unions are not structures to the host") {
  CHECK(members("kernel void f(device float4* x [[buffer(0)]]) {}").empty());
  CHECK(members("kernel void f(device uint* x [[buffer(0)]]) {}").empty());
  CHECK(members("union U { int i; float f; };\n"
                "kernel void f(device U* x [[buffer(0)]]) {}")
            .empty());
}

TEST_CASE("members survive the way to bytes and back") {
  compiler::LibraryInfo info;
  info.kernels.resize(1);
  info.kernels[0].parameters.resize(1);
  info.kernels[0].parameters[0].members = {
      {"in", 3, 16, 8, 8, 2, true, {compiler::ScalarType::Half, 1, 1}}};

  const auto read = compiler::parse_library_info(compiler::serialise(info));

  REQUIRE(read.has_value());
  const compiler::Member& member = read->kernels.at(0).parameters.at(0).members.at(0);
  CHECK(member.name == "in");
  CHECK(member.id == 3);
  CHECK(member.offset == 16);
  CHECK(member.count == 2);
  CHECK(member.is_pointer);
}

}  // namespace
}  // namespace pewter
