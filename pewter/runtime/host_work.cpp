#include "pewter/runtime/host_work.h"

#include <Metal/Metal.hpp>
#include <stdexcept>
#include <utility>

#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/device.h"

namespace pewter::runtime {

void encode_host_work(Stream& stream,
                      std::span<const Buffer> reads,
                      const Buffer& writes,
                      std::function<void()> work) {
  const AutoreleaseScope scope;
  const auto done = NS::TransferPtr(device()->newSharedEvent());
  if (!done) {
    throw std::runtime_error("[metal::Stream] the device has no room for another event");
  }
  {
    const auto guard = stream.exclusive();
    for (const Buffer& buffer : reads) {
      stream.use(buffer, Access::Read);
    }
    stream.use(writes, Access::Write);
    stream.compute_on_completion([work = std::move(work), done] {
      work();
      done->setSignaledValue(1);
    });
  }
  stream.commit();

  const auto guard = stream.exclusive();
  stream.end_encoding();
  stream.command_buffer()->encodeWait(done.get(), 1);
  stream.use(writes, Access::Write);
}

}  // namespace pewter::runtime
