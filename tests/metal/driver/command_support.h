#pragma once

#include <Metal/Metal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/gpu.h"

namespace pewter::driver::test {

/// A device, a queue, a few kernels, and short ways to record command buffers.
class Commands {
 public:
  Commands();

  MTL::Device* device() const { return gpu_.device(); }
  MTL::CommandQueue* queue() const { return gpu_.queue(); }
  NS::SharedPtr<MTL::CommandQueue> new_queue() const;

  /// One of the kernels in command_support.cpp.
  MTL::ComputePipelineState* pipeline(const std::string& kernel);

  NS::SharedPtr<MTL::Buffer> buffer(const std::vector<std::uint32_t>& values) const;

  /// Adds an encoder with one dispatch of `threads` threads, `values` bound to buffer 0.
  void encode(MTL::CommandBuffer* commands,
              const std::string& kernel,
              MTL::Buffer* values,
              std::size_t threads = 1);

  /// Adds an encoder whose kernel appends `value` to a list in `list`: element 0 counts, the rest
  /// follows.
  void encode_append(MTL::CommandBuffer* commands, MTL::Buffer* list, std::uint32_t value);

 private:
  pewter::test::Gpu gpu_;
  NS::SharedPtr<MTL::Library> library_;
  std::vector<std::pair<std::string, NS::SharedPtr<MTL::ComputePipelineState>>> pipelines_;
};

/// The content of a buffer of 32-bit integers.
std::vector<std::uint32_t> values_of(MTL::Buffer* buffer);

/// What encode_append has written so far.
std::vector<std::uint32_t> list_of(MTL::Buffer* list);

/// Commits, waits and returns the error's text; empty after success.
std::string finish(MTL::CommandBuffer* commands);

/// Code of a failed command buffer in the domain of command buffers; -1 for anything else.
NS::Integer error_code(MTL::CommandBuffer* commands);

/// Sets the time limit of grids and waits until the end of the scope.
class TimeLimit {
 public:
  explicit TimeLimit(std::uint64_t milliseconds);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  const std::uint64_t previous_;
};

}  // namespace pewter::driver::test
