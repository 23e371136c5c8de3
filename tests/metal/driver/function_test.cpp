#include "pewter/metal/driver/function.h"

#include <doctest/doctest.h>
#include <algorithm>
#include <array>

#include <Metal/Metal.hpp>
#include <cstring>
#include <future>
#include <string>

#include "tests/support/log_capture.h"
#include "tests/support/text.h"

namespace {

using pewter::test::string;
using pewter::test::text;

constexpr const char* kSource = R"(
  #include <metal_stdlib>
  using namespace metal;
  constant int count [[function_constant(2)]];
  constant bool flag [[function_constant(0)]];
  constant float4 color [[function_constant(7)]];
  struct Arguments { device float* in; float scale; device int* outs[2]; };
  kernel void f(device float* x [[buffer(0)]],
                constant Arguments& arguments [[buffer(1)]]) {
    x[0] = count + color.y + (flag ? 1 : 0) + arguments.scale;
  }
)";

struct Fixture {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  NS::Error* error = nullptr;
  NS::SharedPtr<MTL::Library> library =
      NS::TransferPtr(device->newLibrary(string(kSource), nullptr, &error));
  NS::SharedPtr<MTL::FunctionConstantValues> values =
      NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());

  Fixture() { REQUIRE_MESSAGE(library, text(error)); }

  NS::SharedPtr<MTL::Function> function(const char* name = "f") {
    return NS::TransferPtr(library->newFunction(string(name), values.get(), &error));
  }
};

const pewter::compiler::ConstantBytes& bytes_of(const MTL::Function* function,
                                                std::uint32_t index) {
  return pewter::foundation::impl<pewter::driver::Function>(function)->constants.at(index);
}

template <class T>
T constant(const MTL::Function* function, std::uint32_t index) {
  const auto& bytes = bytes_of(function, index);
  T value{};
  REQUIRE(bytes.size() == sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

TEST_CASE_FIXTURE(Fixture, "a function has its name, kind and device") {
  auto found = NS::TransferPtr(library->newFunction(string("f")));

  REQUIRE(found);
  CHECK(text(found->name()) == "f");
  CHECK(found->functionType() == MTL::FunctionTypeKernel);
  CHECK(found->device() == device.get());
  CHECK(found->patchControlPointCount() == -1);
}

TEST_CASE_FIXTURE(Fixture, "an unknown name gives null, and an error where one can be given") {
  CHECK(library->newFunction(string("g")) == nullptr);
  CHECK_FALSE(function("g"));

  CHECK(text(error->domain()) == "MTLLibraryErrorDomain");
  CHECK(error->code() == MTL::LibraryErrorFunctionNotFound);
  CHECK(text(error) == "there is no function named 'g' in the library");
}

TEST_CASE_FIXTURE(Fixture, "function constants are listed with index and type") {
  auto found = NS::TransferPtr(library->newFunction(string("f")));

  auto* constants = found->functionConstantsDictionary();

  CHECK(constants->count() == 3);
  auto* color = constants->object<MTL::FunctionConstant>(string("color"));
  REQUIRE(color != nullptr);
  CHECK(text(color->name()) == "color");
  CHECK(color->index() == 7);
  CHECK(color->type() == MTL::DataTypeFloat4);
}

TEST_CASE_FIXTURE(Fixture, "constants are given by index, by range and by name") {
  const bool flag = true;
  const float color[4] = {1, 2, 3, 4};
  const int counts[2] = {5, 6};

  values->setConstantValue(&flag, MTL::DataTypeBool, NS::UInteger{0});
  values->setConstantValues(counts, MTL::DataTypeInt, NS::Range(1, 2));
  values->setConstantValue(color, MTL::DataTypeFloat4, string("color"));
  auto found = function();

  REQUIRE_MESSAGE(found, text(error));
  CHECK(constant<bool>(found.get(), 0));
  CHECK(constant<int>(found.get(), 2) == 6);
  std::array<float, 4> stored = {};
  std::memcpy(stored.data(), bytes_of(found.get(), 7).data(), sizeof stored);
  CHECK(std::equal(stored.begin(), stored.end(), color));
}

TEST_CASE_FIXTURE(Fixture, "values are copied when they are set and forgotten on reset") {
  int count = 3;
  values->setConstantValue(&count, MTL::DataTypeInt, NS::UInteger{2});
  count = 4;
  CHECK(constant<int>(function().get(), 2) == 3);

  values->reset();
  CHECK(pewter::foundation::impl<pewter::driver::Function>(function().get())->constants.empty());
}

TEST_CASE_FIXTURE(Fixture, "a value of another type than the constant's is refused") {
  const float count = 3;
  values->setConstantValue(&count, MTL::DataTypeFloat, NS::UInteger{2});

  CHECK_FALSE(function());

  CHECK(error->code() == MTL::LibraryErrorCompileFailure);
  CHECK(text(error) ==
        "f: function constant 'count' with index 2 is of type int, but its value is of type float");
}

TEST_CASE_FIXTURE(Fixture, "values that cannot be constants are reported") {
  pewter::test::LogCapture log;
  const int number = 0;

  values->setConstantValue(&number, MTL::DataTypeTexture, NS::UInteger{0});
  values->setConstantValues(&number, MTL::DataTypeInt, NS::Range(1, NS::UIntegerMax));

  CHECK(log.contains("58 is not a type of function constants"));
  CHECK(log.contains("exceed the limit of 65535"));
}

TEST_CASE_FIXTURE(Fixture, "a descriptor gives a name of its own to the function") {
  const int count = 9;
  values->setConstantValue(&count, MTL::DataTypeInt, NS::UInteger{2});
  auto* descriptor = MTL::FunctionDescriptor::functionDescriptor();
  descriptor->setName(string("f"));
  descriptor->setSpecializedName(string("f_9"));
  descriptor->setConstantValues(values.get());

  auto found = NS::TransferPtr(library->newFunction(descriptor, &error));

  REQUIRE_MESSAGE(found, text(error));
  CHECK(text(found->name()) == "f_9");
  CHECK(constant<int>(found.get(), 2) == 9);
}

TEST_CASE_FIXTURE(Fixture, "a function can be made in the background") {
  std::promise<std::string> name;
  library->newFunction(string("f"), values.get(), [&](MTL::Function* found, NS::Error*) {
    name.set_value(text(found->name()));
  });
  CHECK(name.get_future().get() == "f");

  std::promise<std::string> message;
  library->newFunction(string("g"), values.get(), [&](MTL::Function*, NS::Error* failure) {
    message.set_value(text(failure));
  });
  CHECK(message.get_future().get() == "there is no function named 'g' in the library");
}

TEST_CASE_FIXTURE(Fixture, "an argument encoder knows the structure that the kernel declares") {
  auto found = NS::TransferPtr(library->newFunction(string("f")));
  MTL::Argument* argument = nullptr;
  auto encoder = NS::TransferPtr(found->newArgumentEncoder(1, &argument));
  REQUIRE(encoder);
  CHECK(encoder->encodedLength() == 32);
  CHECK(encoder->alignment() == 8);
  CHECK(text(argument->name()) == "arguments");

  auto target = NS::TransferPtr(device->newBuffer(32, MTL::ResourceStorageModeShared));
  encoder->setArgumentBuffer(target.get(), 0);
  encoder->setBuffer(target.get(), 0, 3);

  CHECK(static_cast<std::uint64_t*>(target->contents())[3] == target->gpuAddress());
  CHECK(encoder->constantData(1) == static_cast<std::byte*>(target->contents()) + 8);
}

TEST_CASE_FIXTURE(Fixture, "a buffer without a structure has no argument encoder") {
  pewter::test::LogCapture log;
  auto found = NS::TransferPtr(library->newFunction(string("f")));

  CHECK(found->newArgumentEncoder(0) == nullptr);
  CHECK(found->newArgumentEncoder(5) == nullptr);

  CHECK(log.contains("'f' has no structure at buffer index 0"));
  CHECK(log.contains("'f' has no structure at buffer index 5"));
}

}  // namespace
