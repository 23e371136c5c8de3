#include <doctest/doctest.h>

#include <Metal/Metal.hpp>

#include "tests/support/log_capture.h"
#include "tests/support/text.h"

namespace {

using pewter::test::string;
using pewter::test::text;

struct Pool {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
};

TEST_CASE_FIXTURE(Pool, "compile options start as Metal's") {
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());

  CHECK(options->fastMathEnabled());
  CHECK(options->mathMode() == MTL::MathModeFast);
  CHECK(options->languageVersion() == MTL::LanguageVersion3_2);
  CHECK(options->libraryType() == MTL::LibraryTypeExecutable);
  CHECK(options->preprocessorMacros() == nullptr);
  CHECK(options->maxTotalThreadsPerThreadgroup() == 0);
}

TEST_CASE_FIXTURE(Pool, "fast math is the math mode under another name") {
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());

  options->setFastMathEnabled(false);
  CHECK(options->mathMode() == MTL::MathModeSafe);
  options->setMathMode(MTL::MathModeRelaxed);
  CHECK_FALSE(options->fastMathEnabled());
  options->setFastMathEnabled(true);
  CHECK(options->mathMode() == MTL::MathModeFast);
}

TEST_CASE_FIXTURE(Pool, "a copy of compile options is independent") {
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setPreprocessorMacros(NS::Dictionary::dictionary(string("1"), string("FLAG")));
  options->setEnableLogging(true);

  auto copy = NS::TransferPtr(options->copy());
  options->setPreprocessorMacros(nullptr);
  options->setEnableLogging(false);

  CHECK(copy->preprocessorMacros()->count() == 1);
  CHECK(copy->enableLogging());
}

TEST_CASE_FIXTURE(Pool, "a function descriptor copies its constants") {
  auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  auto* descriptor = MTL::FunctionDescriptor::functionDescriptor();

  descriptor->setName(string("f"));
  descriptor->setSpecializedName(string("f_8"));
  descriptor->setConstantValues(values.get());

  CHECK(text(descriptor->name()) == "f");
  CHECK(text(descriptor->specializedName()) == "f_8");
  CHECK(descriptor->constantValues() != values.get());
}

TEST_CASE_FIXTURE(Pool, "a pipeline descriptor is reset to its beginnings") {
  auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setLabel(string("label"));
  descriptor->setMaxTotalThreadsPerThreadgroup(64);
  descriptor->buffers()->object(3)->setMutability(MTL::MutabilityImmutable);

  descriptor->reset();

  CHECK(descriptor->label() == nullptr);
  CHECK(descriptor->maxTotalThreadsPerThreadgroup() == 0);
  CHECK(descriptor->maxCallStackDepth() == 1);
  CHECK(descriptor->buffers()->object(3)->mutability() == MTL::MutabilityDefault);
}

TEST_CASE_FIXTURE(Pool, "buffer descriptors of a copied pipeline descriptor are copies") {
  auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  auto copy = NS::TransferPtr(descriptor->copy());

  descriptor->buffers()->object(0)->setMutability(MTL::MutabilityMutable);

  CHECK(copy->buffers()->object(0)->mutability() == MTL::MutabilityDefault);
}

TEST_CASE_FIXTURE(Pool, "a buffer index past the limit is reported") {
  pewter::test::LogCapture log;
  auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());

  CHECK(descriptor->buffers()->object(31) == nullptr);

  CHECK(log.contains("buffer index 31 exceeds the limit of 30"));
}

TEST_CASE_FIXTURE(Pool, "queue and command buffer descriptors start as Metal's") {
  auto queue = NS::TransferPtr(MTL::CommandQueueDescriptor::alloc()->init());
  auto buffer = NS::TransferPtr(MTL::CommandBufferDescriptor::alloc()->init());

  CHECK(queue->maxCommandBufferCount() == 64);
  CHECK(buffer->retainedReferences());
  CHECK(buffer->errorOptions() == MTL::CommandBufferErrorOptionNone);
}

TEST_CASE_FIXTURE(Pool, "pass descriptors have attachments that sample nothing") {
  auto* pass = MTL::ComputePassDescriptor::computePassDescriptor();
  pass->setDispatchType(MTL::DispatchTypeConcurrent);

  auto* attachment = pass->sampleBufferAttachments()->object(0);

  CHECK(attachment->startOfEncoderSampleIndex() == MTL::CounterDontSample);
  CHECK(attachment->sampleBuffer() == nullptr);
  auto copy = NS::TransferPtr(pass->copy());
  CHECK(copy->dispatchType() == MTL::DispatchTypeConcurrent);
  CHECK(MTL::BlitPassDescriptor::blitPassDescriptor()->sampleBufferAttachments()->object(1) !=
        nullptr);
}

}  // namespace
