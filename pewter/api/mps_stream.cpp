#include <pewter/mps_stream.h>

#include <stdexcept>

#include "pewter/api/mps_device.h"
#include "pewter/base/thread_owned.h"
#include "pewter/runtime/stream.h"

namespace pewter::mps {
namespace {

/// The calling thread's choice; null stands for the shared stream.
std::shared_ptr<runtime::Stream>& chosen_stream() {
  return ThreadOwned<std::shared_ptr<runtime::Stream>>::get();
}

}  // namespace

std::shared_ptr<runtime::Stream> current_runtime_stream() {
  const auto& chosen = chosen_stream();
  return chosen ? chosen : runtime::shared_stream();
}

Stream::Stream() {
  require_device("[mps::Stream]");
  stream_ = runtime::Stream::create();
}

void Stream::synchronize() const {
  require_device("[mps::Stream]");
  runtime_stream()->synchronize();
}

bool Stream::query() const {
  require_device("[mps::Stream]");
  return runtime_stream()->idle();
}

const std::shared_ptr<runtime::Stream>& Stream::runtime_stream() const {
  if (!stream_) {
    throw std::runtime_error("[mps::Stream] no stream of the device: it was moved from");
  }
  return stream_;
}

Stream default_stream() {
  require_device("[mps::default_stream]");
  return Stream(runtime::shared_stream());
}

Stream current_stream() {
  require_device("[mps::current_stream]");
  return Stream(current_runtime_stream());
}

void set_stream(const Stream& stream) {
  require_device("[mps::set_stream]");
  chosen_stream() = stream.runtime_stream();
}

StreamScope::StreamScope(const Stream& stream) : before_(current_stream()) {
  set_stream(stream);
}

StreamScope::~StreamScope() {
  chosen_stream() = before_.runtime_stream();
}

}  // namespace pewter::mps
