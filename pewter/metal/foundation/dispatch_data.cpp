#include "pewter/metal/foundation/dispatch_data.h"

#include <Foundation/NSDispatchData.hpp>
#include <vector>

/// Never seen outside but as a pointer.
struct dispatch_data_s {
  std::vector<std::byte> bytes;
};

namespace pewter::foundation {

std::span<const std::byte> bytes_of(dispatch_data_t data) {
  return data != nullptr ? std::span<const std::byte>(data->bytes) : std::span<const std::byte>();
}

}  // namespace pewter::foundation

dispatch_data_t dispatch_data_create(const void* buffer,
                                     std::size_t size,
                                     dispatch_queue_t,
                                     void*) {
  const auto* first = static_cast<const std::byte*>(buffer);
  return new dispatch_data_s{std::vector<std::byte>(first, first + size)};
}

void dispatch_release(dispatch_data_t data) {
  delete data;
}
