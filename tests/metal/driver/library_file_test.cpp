#include <pewter/toolchain.h>

#include <Foundation/NSDispatchData.hpp>

#include "tests/support/gpu.h"
#include "tests/support/temporary_directory.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;
using test::TemporaryDirectory;

const std::string kDouble =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "constant uint factor [[function_constant(3)]];\n"
    "template <typename T> kernel void scale(device T* x [[buffer(0)]],\n"
    "                                        uint i [[thread_position_in_grid]]) {\n"
    "  x[i] *= T(factor);\n}\n"
    "template [[host_name(\"scale_float\")]] [[kernel]] decltype(scale<float>) scale<float>;\n"
    "template [[host_name(\"scale_int\")]] [[kernel]] decltype(scale<int>) scale<int>;\n";
const std::string kAdd =
    "kernel void add(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "  x[i] += ADDEND;\n}\n";

/// A library of two units, as the command line would make it.
std::string make_library(const TemporaryDirectory& directory) {
  toolchain::Options options;
  options.source_name = "add.metal";
  options.macros = {{"ADDEND", "10"}};
  const std::string first = directory.write("first.air", toolchain::compile(kDouble, {}).output);
  const std::string second =
      directory.write("second.air", toolchain::compile(kAdd, options).output);
  return directory.write("default.metallib",
                         toolchain::combine({first, second}, toolchain::FileKind::Library));
}

/// Why a file with these bytes is not loaded.
std::string refusal(const Gpu& gpu, const TemporaryDirectory& directory, const std::string& bytes) {
  const std::string path = directory.write("bad.metallib", bytes);
  NS::Error* error = nullptr;
  const auto library = NS::TransferPtr(gpu.device()->newLibrary(test::string(path), &error));
  CHECK(!library);
  REQUIRE(error != nullptr);
  CHECK(error->code() == MTL::LibraryErrorUnsupported);
  const std::string text = test::text(error);
  const std::string start = "'" + path + "' is ";
  CHECK(text.substr(0, start.size()) == start);
  return text.substr(std::min(start.size(), text.size()));
}

}  // namespace

TEST_CASE("kernels of all units of a library file run, with constants and templates") {
  const Gpu gpu;
  const TemporaryDirectory directory;
  const std::string path = make_library(directory);
  NS::Error* error = nullptr;
  const auto library = NS::TransferPtr(
      gpu.device()->newLibrary(NS::URL::fileURLWithPath(test::string(path)), &error));
  REQUIRE(library);
  CHECK(error == nullptr);
  auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  const std::uint32_t factor = 3;
  constants->setConstantValue(&factor, MTL::DataTypeUInt, 3);
  std::vector<float> floats = {1, 2, 3};
  std::vector<int> integers = {4, 5, 6};

  gpu.run(gpu.pipeline(library.get(), "scale_float", constants.get()).get(), {.grid = size(3)},
          floats);
  gpu.run(gpu.pipeline(library.get(), "add").get(), {.grid = size(3)}, floats);
  gpu.run(gpu.pipeline(library.get(), "scale_int", constants.get()).get(), {.grid = size(3)},
          integers);

  CHECK(library->functionNames()->count() == 3);
  CHECK(floats == std::vector<float>{13, 16, 19});
  CHECK(integers == std::vector<int>{12, 15, 18});
}

TEST_CASE("units of a library file have constants of one index and types of their own") {
  const Gpu gpu;
  const TemporaryDirectory directory;
  const auto unit = [](const std::string& type) {
    return "constant " + type + " c [[function_constant(10)]];\nkernel void of_" + type +
           "(device float* x [[buffer(0)]]) { x[0] = c; }\n";
  };
  const std::string path = directory.write(
      "both.metallib",
      toolchain::combine({directory.write("a.air", toolchain::compile(unit("bool"), {}).output),
                          directory.write("b.air", toolchain::compile(unit("int"), {}).output)},
                         toolchain::FileKind::Library));
  const auto library = NS::TransferPtr(gpu.device()->newLibrary(test::string(path), nullptr));
  REQUIRE(library);
  auto flag = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  auto number = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  const bool set = true;
  const int seven = 7;
  flag->setConstantValue(&set, MTL::DataTypeBool, NS::UInteger{10});
  number->setConstantValue(&seven, MTL::DataTypeInt, NS::UInteger{10});
  std::vector<float> first(1);
  std::vector<float> second(1);

  gpu.run(gpu.pipeline(library.get(), "of_bool", flag.get()).get(), {.grid = size(1)}, first);
  gpu.run(gpu.pipeline(library.get(), "of_int", number.get()).get(), {.grid = size(1)}, second);

  CHECK(first == std::vector<float>{1});
  CHECK(second == std::vector<float>{7});
}

TEST_CASE("a library is loaded from data in memory") {
  const Gpu gpu;
  const TemporaryDirectory directory;
  const std::string bytes = test::read_file(make_library(directory));
  dispatch_data_t data =
      dispatch_data_create(bytes.data(), bytes.size(), nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  NS::Error* error = nullptr;

  const auto library = NS::TransferPtr(gpu.device()->newLibrary(data, &error));
  dispatch_release(data);

  REQUIRE(library);
  std::vector<float> values = {1};
  gpu.run(gpu.pipeline(library.get(), "add").get(), {.grid = size(1)}, values);
  CHECK(values[0] == 11);
}

TEST_CASE("files of others and damaged files are refused with the reason") {
  const Gpu gpu;
  const TemporaryDirectory directory;
  const std::string good = test::read_file(make_library(directory));
  std::string flipped = good;
  flipped[40] = static_cast<char>(flipped[40] ^ 1);
  std::string newer = good;
  newer[8] = 77;

  CHECK(refusal(gpu, directory, "") == "empty");
  CHECK(refusal(gpu, directory, "hello") == "no library made by pewter");
  CHECK(refusal(gpu, directory, "MTLB....") ==
        "a library made by Apple's compiler, for Apple's devices; compile its source with 'pewter "
        "metal'");
  CHECK(refusal(gpu, directory, newer) ==
        "of version 77 of pewter's library files, this is version 3; compile it again");
  CHECK(refusal(gpu, directory, good.substr(0, 20)) == "damaged: it ends in its header");
  CHECK(refusal(gpu, directory, good.substr(0, 60)) ==
        "damaged: its table of contents is cut off or nonsense");
  CHECK(refusal(gpu, directory, flipped) ==
        "damaged: the checksum of its table of contents does not fit");
  CHECK(refusal(gpu, directory, good.substr(0, good.size() - 1)) ==
        "damaged: it is shorter than its table of contents says");
}

TEST_CASE("every damaged byte of a library file is noticed before its text is used") {
  const Gpu gpu;
  const TemporaryDirectory directory;
  const std::string good = test::read_file(make_library(directory));
  for (std::size_t at = 0; at < good.size(); at += 13) {
    CAPTURE(at);
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    const std::string path = directory.write("bad.metallib", bad);
    CHECK_THROWS(toolchain::inspect(path));
    // Opening reads only what it needs; the rest is noticed when it is needed.
    const auto library = NS::TransferPtr(
        gpu.device()->newLibrary(test::string(path), static_cast<NS::Error**>(nullptr)));
    CHECK((!library || library->functionNames()->count() == 3));
  }
}

TEST_CASE("units know their kernels, options and, when asked, their source") {
  const TemporaryDirectory directory;
  toolchain::Options options;
  options.source_name = "kernels/add.metal";
  options.macros = {{"ADDEND", "1"}};
  options.math = toolchain::Math::Safe;
  options.record_source = true;
  const std::string path = directory.write("add.air", toolchain::compile(kAdd, options).output);

  const toolchain::File file = toolchain::inspect(path);

  CHECK(file.kind == toolchain::FileKind::Object);
  REQUIRE(file.units.size() == 1);
  CHECK(file.units[0].source_name == "kernels/add.metal");
  CHECK(file.units[0].math == toolchain::Math::Safe);
  REQUIRE(file.units[0].kernels.size() == 1);
  CHECK(file.units[0].kernels[0].parameters ==
        std::vector<std::string>{"buffer(0) float x", "thread_position_in_grid i"});
  REQUIRE(file.units[0].sources.size() == 1);
  CHECK(file.units[0].sources[0].second == kAdd);
}

TEST_CASE("two units with a kernel of one name are not linked") {
  const TemporaryDirectory directory;
  toolchain::Options options;
  options.macros = {{"ADDEND", "1"}};
  const std::string path = directory.write("add.air", toolchain::compile(kAdd, options).output);

  CHECK_THROWS_WITH(toolchain::combine({path, path}, toolchain::FileKind::Library),
                    ("'" + path + "': there is already a kernel named 'add'").c_str());
}

}  // namespace pewter
