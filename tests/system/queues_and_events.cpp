// A program as it would be written for Apple's metal-cpp: producers and a consumer on queues of
// their own, ordered by shared events, with completion handlers and a listener that tells the host.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <vector>

namespace {

const char* const kSource = R"(
#include <metal_stdlib>
using namespace metal;

kernel void produce(device uint* slice [[buffer(0)]],
                    constant uint& base [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  slice[i] = base + i;
}

kernel void consume(device const uint* all [[buffer(0)]],
                    device atomic_uint* total [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(total, all[i], memory_order_relaxed);
}
)";

constexpr std::uint32_t kProducers = 3;
constexpr std::uint32_t kRounds = 20;
constexpr std::uint32_t kSlice = 512;

/// Counts down from several threads; wait() gives up after a minute.
class Latch {
 public:
  explicit Latch(int count) : count_(count) {}

  void arrive() {
    std::lock_guard<std::mutex> lock(mutex_);
    --count_;
    changed_.notify_all();
  }

  bool wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [this] { return count_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_;
};

struct Pipelines {
  MTL::ComputePipelineState* produce = nullptr;
  MTL::ComputePipelineState* consume = nullptr;
};

MTL::ComputePipelineState* buildPipeline(MTL::Device* device,
                                         MTL::Library* library,
                                         const char* name) {
  NS::Error* error = nullptr;
  MTL::Function* function = library->newFunction(NS::String::string(name, NS::UTF8StringEncoding));
  MTL::ComputePipelineState* pipeline = device->newComputePipelineState(function, &error);
  if (pipeline == nullptr) {
    std::printf("%s\n", error->localizedDescription()->utf8String());
  }
  function->release();
  return pipeline;
}

/// One round of a producer: waits until the consumer has taken the last one, then fills its slice.
void encodeProducer(MTL::CommandBuffer* commands,
                    const Pipelines& pipelines,
                    MTL::Buffer* all,
                    std::uint32_t producer,
                    std::uint32_t round) {
  const std::uint32_t base = round * 1000 + producer;
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipelines.produce);
  encoder->setBuffer(all, producer * kSlice * sizeof(std::uint32_t), 0);
  encoder->setBytes(&base, sizeof(base), 1);
  encoder->dispatchThreads(MTL::Size(kSlice, 1, 1), MTL::Size(64, 1, 1));
  encoder->endEncoding();
}

void encodeConsumer(MTL::CommandBuffer* commands,
                    const Pipelines& pipelines,
                    MTL::Buffer* all,
                    MTL::Buffer* totals,
                    std::uint32_t round) {
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipelines.consume);
  encoder->setBuffer(all, 0, 0);
  encoder->setBuffer(totals, round * sizeof(std::uint32_t), 1);
  encoder->dispatchThreads(MTL::Size(kProducers * kSlice, 1, 1), MTL::Size(128, 1, 1));
  encoder->endEncoding();
}

std::uint32_t expectedTotal(std::uint32_t round) {
  std::uint32_t total = 0;
  for (std::uint32_t producer = 0; producer < kProducers; ++producer) {
    for (std::uint32_t i = 0; i < kSlice; ++i) {
      total += round * 1000 + producer + i;
    }
  }
  return total;
}

bool checkTotals(const MTL::Buffer* totals) {
  const std::uint32_t* found =
      static_cast<const std::uint32_t*>(const_cast<MTL::Buffer*>(totals)->contents());
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    if (found[round] != expectedTotal(round)) {
      std::printf("round %u: %u instead of %u\n", round, found[round], expectedTotal(round));
      return false;
    }
  }
  return true;
}

bool run(MTL::Device* device, const Pipelines& pipelines) {
  MTL::Buffer* all =
      device->newBuffer(kProducers * kSlice * sizeof(std::uint32_t),
                        MTL::ResourceStorageModeShared | MTL::ResourceHazardTrackingModeUntracked);
  MTL::Buffer* totals =
      device->newBuffer(kRounds * sizeof(std::uint32_t), MTL::ResourceStorageModeShared);
  std::vector<MTL::CommandQueue*> producers;
  std::vector<MTL::SharedEvent*> produced;
  for (std::uint32_t i = 0; i < kProducers; ++i) {
    producers.push_back(device->newCommandQueue());
    produced.push_back(device->newSharedEvent());
  }
  MTL::CommandQueue* consumer = device->newCommandQueue();
  MTL::SharedEvent* consumed = device->newSharedEvent();
  MTL::SharedEvent* go = device->newSharedEvent();
  MTL::SharedEventListener* listener = MTL::SharedEventListener::alloc()->init();

  Latch completed(static_cast<int>(kRounds * (kProducers + 1)));
  Latch notified(2);
  std::atomic<int> failures{0};
  MTL::HandlerFunction onCompleted = [&](MTL::CommandBuffer* commands) {
    failures += commands->status() == MTL::CommandBufferStatusCompleted ? 0 : 1;
    completed.arrive();
  };
  MTL::SharedEventNotificationFunction onConsumed = [&](MTL::SharedEvent* event,
                                                        std::uint64_t value) {
    failures += event->signaledValue() >= value ? 0 : 1;
    notified.arrive();
  };
  consumed->notifyListener(listener, kRounds / 2, onConsumed);
  consumed->notifyListener(listener, kRounds, onConsumed);

  // The consumer is committed first and has to wait; the host starts everything at the end.
  NS::AutoreleasePool* pool = NS::AutoreleasePool::alloc()->init();
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    MTL::CommandBuffer* commands = consumer->commandBuffer();
    for (MTL::SharedEvent* event : produced) {
      commands->encodeWait(event, round + 1);
    }
    encodeConsumer(commands, pipelines, all, totals, round);
    commands->encodeSignalEvent(consumed, round + 1);
    commands->addCompletedHandler(onCompleted);
    commands->commit();
  }
  for (std::uint32_t producer = 0; producer < kProducers; ++producer) {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      MTL::CommandBuffer* commands = producers[producer]->commandBuffer();
      commands->encodeWait(go, 1);
      commands->encodeWait(consumed, round);
      encodeProducer(commands, pipelines, all, producer, round);
      commands->encodeSignalEvent(produced[producer], round + 1);
      commands->addCompletedHandler(onCompleted);
      commands->commit();
    }
  }
  pool->release();
  const bool heldBack = consumed->signaledValue() == 0;
  go->setSignaledValue(1);

  const bool passed = heldBack && completed.wait() && notified.wait() && failures == 0 &&
                      consumed->signaledValue() == kRounds && checkTotals(totals);

  listener->release();
  go->release();
  consumed->release();
  consumer->release();
  for (std::uint32_t i = 0; i < kProducers; ++i) {
    produced[i]->release();
    producers[i]->release();
  }
  totals->release();
  all->release();
  return passed;
}

}  // namespace

int main() {
  NS::AutoreleasePool* pool = NS::AutoreleasePool::alloc()->init();
  MTL::Device* device = MTL::CreateSystemDefaultDevice();
  NS::Error* error = nullptr;
  MTL::Library* library =
      device->newLibrary(NS::String::string(kSource, NS::UTF8StringEncoding), nullptr, &error);
  bool passed = false;
  if (library == nullptr) {
    std::printf("%s\n", error->localizedDescription()->utf8String());
  } else {
    Pipelines pipelines;
    pipelines.produce = buildPipeline(device, library, "produce");
    pipelines.consume = buildPipeline(device, library, "consume");
    if (pipelines.produce != nullptr && pipelines.consume != nullptr) {
      passed = run(device, pipelines);
      pipelines.produce->release();
      pipelines.consume->release();
    }
    library->release();
  }
  device->release();
  pool->release();
  std::printf(passed ? "passed\n" : "failed\n");
  return passed ? 0 : 1;
}
