#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "pewter/array/graph/node.h"
#include "pewter/runtime/shader_library.h"
#include "pewter/runtime/stream.h"

namespace pewter::ops {

/// One dispatch of a kernel: arguments take buffer indices 0, 1, ... in the order in which they are
/// added, and everything is encoded by dispatch().
class KernelCall {
 public:
  KernelCall(runtime::Stream& stream, const runtime::ShaderKernel& kernel)
      : stream_(stream), kernel_(kernel) {}

  /// An array's memory from its first element. One on the host becomes bytes: it must be row
  /// contiguous and as small as those.
  KernelCall& input(const graph::Node& node);
  KernelCall& output(const graph::Node& node);
  KernelCall& buffer(const runtime::Buffer& buffer, std::size_t offset, runtime::Access access);
  /// Up to 4096 bytes, which must live until dispatch().
  KernelCall& bytes(const void* data, std::size_t size);
  template <typename T>
  KernelCall& value(const T& data) {
    return bytes(&data, sizeof(T));
  }

  void dispatch_groups(MTL::Size groups, MTL::Size threads);
  /// A thread for each of `count` elements or more, in whole groups, for each row and plane.
  void dispatch_rows(std::uint64_t count, NS::UInteger rows, NS::UInteger planes) {
    dispatch_rows(count, rows, planes, kThreads);
  }
  /// The same for threads that take long each: in small groups, so that few of them are shared by
  /// all cores.
  void dispatch_long_threads(std::uint64_t count) {
    dispatch_rows(count, 1, 1, count < kFewThreads ? kLanes : kThreads);
  }
  /// With groups of `threads`; those at the edges may be smaller.
  void dispatch_threads(MTL::Size grid, MTL::Size threads);

 private:
  static constexpr std::size_t kMaxBindings = 31;
  static constexpr NS::UInteger kThreads = 256;
  static constexpr NS::UInteger kLanes = 32;
  static constexpr std::uint64_t kFewThreads = 16 * kThreads;

  void dispatch_rows(std::uint64_t count,
                     NS::UInteger rows,
                     NS::UInteger planes,
                     NS::UInteger threads) {
    dispatch_groups(MTL::Size((count + threads - 1) / threads, rows, planes),
                    MTL::Size(threads, 1, 1));
  }
  struct Binding {
    runtime::Buffer buffer;
    std::size_t offset = 0;
    runtime::Access access = runtime::Access::Read;
    const void* data = nullptr;
    std::size_t size = 0;
  };

  Binding& next();
  void encode(bool by_groups, MTL::Size grid, MTL::Size threads);

  runtime::Stream& stream_;
  const runtime::ShaderKernel& kernel_;
  std::array<Binding, kMaxBindings> bindings_;
  std::size_t count_ = 0;
};

}  // namespace pewter::ops
