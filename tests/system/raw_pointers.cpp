// A program as it would be written for Apple's metal-cpp: plain pointers, an autorelease pool,
// release() by hand.
#define NS_PRIVATE_IMPLEMENTATION
#define CA_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <QuartzCore/QuartzCore.hpp>

#include <cstdio>
#include <cstdlib>

static const char* kShaderSource = R"(
    #include <metal_stdlib>
    using namespace metal;

    kernel void add_arrays(device const float* inA,
                           device const float* inB,
                           device float* result,
                           uint index [[thread_position_in_grid]])
    {
        result[index] = inA[index] + inB[index];
    }
)";

static const NS::UInteger kArrayLength = 100003;
static const NS::UInteger kBufferSize = kArrayLength * sizeof(float);

class MetalAdder {
 public:
  explicit MetalAdder(MTL::Device* pDevice);
  ~MetalAdder();

  bool isReady() const { return _pPSO != nullptr; }
  void prepareData();
  bool sendComputeCommand();
  bool verifyResults() const;

 private:
  void buildShaders();
  void encodeAddCommand(MTL::ComputeCommandEncoder* pEncoder);
  void generateRandomFloatData(MTL::Buffer* pBuffer);

  MTL::Device* _pDevice;
  MTL::CommandQueue* _pCommandQueue;
  MTL::ComputePipelineState* _pPSO = nullptr;
  MTL::Buffer* _pBufferA = nullptr;
  MTL::Buffer* _pBufferB = nullptr;
  MTL::Buffer* _pBufferResult = nullptr;
};

MetalAdder::MetalAdder(MTL::Device* pDevice) : _pDevice(pDevice->retain()) {
  _pCommandQueue = _pDevice->newCommandQueue();
  buildShaders();
}

MetalAdder::~MetalAdder() {
  if (_pBufferA) {
    _pBufferA->release();
    _pBufferB->release();
    _pBufferResult->release();
  }
  if (_pPSO) {
    _pPSO->release();
  }
  _pCommandQueue->release();
  _pDevice->release();
}

void MetalAdder::buildShaders() {
  using NS::StringEncoding::UTF8StringEncoding;

  NS::Error* pError = nullptr;
  MTL::Library* pLibrary =
      _pDevice->newLibrary(NS::String::string(kShaderSource, UTF8StringEncoding), nullptr, &pError);
  if (!pLibrary) {
    std::printf("%s\n", pError->localizedDescription()->utf8String());
    return;
  }

  MTL::Function* pFunction =
      pLibrary->newFunction(NS::String::string("add_arrays", UTF8StringEncoding));
  _pPSO = _pDevice->newComputePipelineState(pFunction, &pError);
  if (!_pPSO) {
    std::printf("%s\n", pError->localizedDescription()->utf8String());
  }

  pFunction->release();
  pLibrary->release();
}

void MetalAdder::prepareData() {
  _pBufferA = _pDevice->newBuffer(kBufferSize, MTL::ResourceStorageModeShared);
  _pBufferB = _pDevice->newBuffer(kBufferSize, MTL::ResourceStorageModeManaged);
  _pBufferResult = _pDevice->newBuffer(kBufferSize, MTL::ResourceStorageModeShared);
  generateRandomFloatData(_pBufferA);
  generateRandomFloatData(_pBufferB);
  _pBufferB->didModifyRange(NS::Range::Make(0, _pBufferB->length()));
}

void MetalAdder::generateRandomFloatData(MTL::Buffer* pBuffer) {
  float* pData = reinterpret_cast<float*>(pBuffer->contents());
  for (NS::UInteger i = 0; i < kArrayLength; ++i) {
    pData[i] = static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX);
  }
}

void MetalAdder::encodeAddCommand(MTL::ComputeCommandEncoder* pEncoder) {
  pEncoder->setComputePipelineState(_pPSO);
  pEncoder->setBuffer(_pBufferA, 0, 0);
  pEncoder->setBuffer(_pBufferB, 0, 1);
  pEncoder->setBuffer(_pBufferResult, 0, 2);

  MTL::Size gridSize = MTL::Size::Make(kArrayLength, 1, 1);
  NS::UInteger threadGroupSize = _pPSO->maxTotalThreadsPerThreadgroup();
  if (threadGroupSize > kArrayLength) {
    threadGroupSize = kArrayLength;
  }
  pEncoder->dispatchThreads(gridSize, MTL::Size::Make(threadGroupSize, 1, 1));
}

bool MetalAdder::sendComputeCommand() {
  NS::AutoreleasePool* pPool = NS::AutoreleasePool::alloc()->init();

  MTL::CommandBuffer* pCommandBuffer = _pCommandQueue->commandBuffer();
  MTL::ComputeCommandEncoder* pComputeEncoder = pCommandBuffer->computeCommandEncoder();
  encodeAddCommand(pComputeEncoder);
  pComputeEncoder->endEncoding();
  pCommandBuffer->commit();
  pCommandBuffer->waitUntilCompleted();
  bool completed = pCommandBuffer->status() == MTL::CommandBufferStatusCompleted;

  pPool->release();
  return completed;
}

bool MetalAdder::verifyResults() const {
  const float* a = reinterpret_cast<const float*>(_pBufferA->contents());
  const float* b = reinterpret_cast<const float*>(_pBufferB->contents());
  const float* result = reinterpret_cast<const float*>(_pBufferResult->contents());
  for (NS::UInteger index = 0; index < kArrayLength; ++index) {
    if (result[index] != a[index] + b[index]) {
      std::printf("index %lu: %g instead of %g\n", static_cast<unsigned long>(index), result[index],
                  a[index] + b[index]);
      return false;
    }
  }
  return true;
}

int main() {
  NS::AutoreleasePool* pPool = NS::AutoreleasePool::alloc()->init();

  MTL::Device* pDevice = MTL::CreateSystemDefaultDevice();
  if (!pDevice) {
    std::printf("no Metal device\n");
    return 1;
  }

  bool passed = false;
  {
    MetalAdder adder(pDevice);
    if (adder.isReady()) {
      adder.prepareData();
      passed = adder.sendComputeCommand() && adder.verifyResults();
    }
  }

  pDevice->release();
  pPool->release();
  std::printf(passed ? "passed\n" : "failed\n");
  return passed ? 0 : 1;
}
