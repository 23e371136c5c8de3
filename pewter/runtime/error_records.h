#pragma once

#include <Metal/Metal.hpp>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "pewter/runtime/outcome.h"
#include "pewter/runtime/stream.h"

namespace pewter::runtime {

/// Buffers in which kernels report failures of their own (`pewter/mps/error.h` is the other side).
///
/// Every task of a stream that asks for one gets an empty buffer; what is in it when the task has
/// completed becomes a failure of the stream. Safe to use from any thread.
class ErrorRecords {
 public:
  static ErrorRecords& instance();

  /// The buffer of the stream's open task. Call it with the stream held exclusively.
  NS::SharedPtr<MTL::Buffer> for_open_task(Stream& stream);

 private:
  struct Entry {
    std::uint64_t task = 0;
    NS::SharedPtr<MTL::Buffer> buffer;
  };

  NS::SharedPtr<MTL::Buffer> take();
  void completed(Stream* key,
                 Outcome& outcome,
                 std::uint64_t task,
                 const NS::SharedPtr<MTL::Buffer>& buffer);

  std::mutex mutex_;  // guards the members below
  std::map<Stream*, Entry> open_;
  std::vector<NS::SharedPtr<MTL::Buffer>> free_;
};

}  // namespace pewter::runtime
