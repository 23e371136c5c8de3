#include "tests/support/gpu.h"
#include "tests/support/log_capture.h"
#include "tests/support/temporary_directory.h"

namespace pewter {
namespace {

using test::Gpu;
using test::LogCapture;
using test::size;
using test::TemporaryDirectory;

/// A text that no other test compiles, so that no cache knows its kernels.
std::string source(const std::string& mark) {
  return "// " + mark + R"(
#include <metal_stdlib>
using namespace metal;
constant uint factor [[function_constant(0)]];
kernel void scale(device uint* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] *= factor;
}
[[max_total_threads_per_threadgroup(64)]]
kernel void plain(device uint* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }
)";
}

class Archives {
 public:
  NS::SharedPtr<MTL::BinaryArchive> open(const std::string& path, std::string* problem = nullptr) {
    auto descriptor = NS::TransferPtr(MTL::BinaryArchiveDescriptor::alloc()->init());
    if (!path.empty()) {
      descriptor->setUrl(NS::URL::fileURLWithPath(test::string(path)));
    }
    NS::Error* error = nullptr;
    auto archive = NS::TransferPtr(gpu_.device()->newBinaryArchive(descriptor.get(), &error));
    if (problem != nullptr) {
      *problem = test::text(error);
      CHECK((archive || error->code() == MTL::BinaryArchiveErrorInvalidFile));
    } else {
      REQUIRE_MESSAGE(archive, test::text(error));
    }
    return archive;
  }

  NS::SharedPtr<MTL::ComputePipelineDescriptor> descriptor(const std::string& text,
                                                           const std::string& kernel,
                                                           MTL::BinaryArchive* archive,
                                                           std::uint32_t factor = 3) {
    auto library = gpu_.library(text);
    auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    if (kernel == "scale") {
      constants->setConstantValue(&factor, MTL::DataTypeUInt, NS::UInteger{0});
    }
    NS::Error* error = nullptr;
    auto function =
        NS::TransferPtr(library->newFunction(test::string(kernel), constants.get(), &error));
    REQUIRE(function);
    auto made = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
    made->setComputeFunction(function.get());
    if (archive != nullptr) {
      const NS::Object* items[] = {archive};
      made->setBinaryArchives(NS::Array::array(items, 1));
    }
    return made;
  }

  NS::SharedPtr<MTL::ComputePipelineState> pipeline(
      const MTL::ComputePipelineDescriptor* description,
      MTL::PipelineOption options,
      std::string* problem = nullptr) {
    NS::Error* error = nullptr;
    auto made = NS::TransferPtr(
        gpu_.device()->newComputePipelineState(description, options, nullptr, &error));
    if (problem != nullptr) {
      *problem = test::text(error);
    } else {
      REQUIRE_MESSAGE(made, test::text(error));
    }
    return made;
  }

  /// Writes an archive that holds `scale` with the factor 3.
  std::string write(const TemporaryDirectory& directory, const std::string& mark) {
    const auto archive = open("");
    const auto description = descriptor(source(mark), "scale", nullptr);
    NS::Error* error = nullptr;
    REQUIRE_MESSAGE(archive->addComputePipelineFunctions(description.get(), &error),
                    test::text(error));
    const std::string path = directory.path().string() + "/archive.bin";
    REQUIRE_MESSAGE(archive->serializeToURL(NS::URL::fileURLWithPath(test::string(path)), &error),
                    test::text(error));
    return path;
  }

  Gpu& gpu() { return gpu_; }

 private:
  Gpu gpu_;
};

constexpr auto kOnlyFound = MTL::PipelineOptionFailOnBinaryArchiveMiss;

}  // namespace

TEST_CASE("a pipeline that an archive holds is found in its file and not compiled") {
  Archives archives;
  const TemporaryDirectory directory;
  const std::string path = archives.write(directory, "found");
  const auto archive = archives.open(path);
  const auto description = archives.descriptor(source("found"), "scale", archive.get());
  const LogCapture log;

  const auto pipeline = archives.pipeline(description.get(), kOnlyFound);

  CHECK(!log.contains("compiled"));
  std::vector<std::uint32_t> x = {1, 2, 3};
  archives.gpu().run(pipeline.get(), {.grid = size(3)}, x);
  CHECK(x == std::vector<std::uint32_t>{3, 6, 9});
}

TEST_CASE("what an archive does not hold is compiled, or refused when that is asked for") {
  Archives archives;
  const TemporaryDirectory directory;
  const auto archive = archives.open(archives.write(directory, "missing"));
  const auto other = archives.descriptor(source("missing"), "scale", archive.get(), 5);
  std::string problem;
  CHECK(!archives.pipeline(other.get(), kOnlyFound, &problem));
  CHECK(problem.find("no binary archive holds kernel 'scale'") != std::string::npos);

  std::vector<std::uint32_t> x = {1, 2};
  const auto pipeline = archives.pipeline(other.get(), MTL::PipelineOptionNone);
  archives.gpu().run(pipeline.get(), {.grid = size(2)}, x);
  CHECK(x == std::vector<std::uint32_t>{5, 10});
}

TEST_CASE("an archive that was read grows and is written again") {
  Archives archives;
  const TemporaryDirectory directory;
  const std::string path = archives.write(directory, "grows");
  const auto archive = archives.open(path);
  const auto library = archives.gpu().library(source("grows"));
  const auto function = NS::TransferPtr(MTL::FunctionDescriptor::alloc()->init());
  function->setName(test::string("plain"));
  NS::Error* error = nullptr;
  REQUIRE_MESSAGE(archive->addFunction(function.get(), library.get(), &error), test::text(error));
  REQUIRE(archive->serializeToURL(NS::URL::fileURLWithPath(test::string(path)), &error));

  const auto again = archives.open(path);
  for (const char* kernel : {"scale", "plain"}) {
    const auto description = archives.descriptor(source("grows"), kernel, again.get());
    CHECK(archives.pipeline(description.get(), kOnlyFound));
  }
}

TEST_CASE("archives that are foreign, damaged or of another version are refused with the reason") {
  Archives archives;
  const TemporaryDirectory directory;
  const std::string path = archives.write(directory, "damaged");
  const std::string bytes = test::read_file(path);
  const auto refusal = [&](const std::string& content) {
    const std::string bad = directory.write("bad.bin", content);
    std::string problem;
    CHECK(!archives.open(bad, &problem));
    return problem.substr(std::min(problem.size(), bad.size() + 6));
  };
  const auto changed = [&](std::size_t place) {
    std::string content = bytes;
    content[place] = static_cast<char>(content[place] ^ 1);
    return content;
  };
  CHECK(refusal("") == "empty");
  CHECK(refusal("MTLB and more") == "no binary archive made by pewter");
  CHECK(refusal(bytes.substr(0, 20)) == "damaged: it ends in its header");
  CHECK(refusal(bytes.substr(0, 80)) == "damaged: its table of contents is cut off or nonsense");
  CHECK(refusal(changed(8)).find("of version ") == 0);
  CHECK(refusal(changed(20)) == "damaged: the checksum of its table of contents does not fit");
  CHECK(refusal(bytes.substr(0, bytes.size() - 1)) ==
        "damaged: it is shorter than its table of contents says");
  std::string problem;
  CHECK(!archives.open(directory.path().string() + "/none", &problem));
  CHECK(problem.find("No such file") != std::string::npos);

  // What the table of contents does not cover is found out when a kernel is wanted.
  const auto damaged = archives.open(directory.write("late.bin", changed(bytes.size() - 1)));
  const auto description = archives.descriptor(source("damaged"), "scale", damaged.get());
  CHECK(!archives.pipeline(description.get(), MTL::PipelineOptionNone, &problem));
  CHECK(problem.find("is damaged: the checksum of a kernel in it does not fit") !=
        std::string::npos);
}

TEST_CASE("what cannot be compiled or written is an error of the archive") {
  Archives archives;
  const auto archive = archives.open("");
  NS::Error* error = nullptr;
  const auto empty = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  CHECK(!archive->addComputePipelineFunctions(empty.get(), &error));
  CHECK(error->code() == MTL::BinaryArchiveErrorCompilationFailure);
  CHECK(test::text(error->domain()) == "MTLBinaryArchiveDomain");
  CHECK(!archive->serializeToURL(
      NS::URL::fileURLWithPath(test::string("/no/such/folder/archive.bin")), &error));
  CHECK(test::text(error).find("'/no/such/folder/archive.bin' cannot be written") == 0);
}

}  // namespace pewter
