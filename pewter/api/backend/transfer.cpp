#include "pewter/api/backend/transfer.h"

#include <fmt/core.h>
#include <pewter/backend_errors.h>

#include <algorithm>
#include <stdexcept>

#include "pewter/api/backend/host_dtype.h"
#include "pewter/runtime/device.h"

namespace pewter::backend {

bool device_usable() {
  return runtime::device_available() && !runtime::in_bad_fork();
}

void require_metal(const char* origin) {
  if (!runtime::device_available()) {
    throw MetalError(fmt::format("[{}] there is no device", origin));
  }
  if (runtime::in_bad_fork()) {
    throw MetalError(fmt::format(
        "[{}] this process was forked from one that had used the device; start it with spawn",
        origin));
  }
}

array to_device(const HostArray& source) {
  const std::optional<Dtype> dtype = device_dtype(source.dtype());
  if (!dtype) {
    throw std::invalid_argument(fmt::format(
        "{} has no type on the device; convert to complex64 first", name_of(source.dtype())));
  }
  const HostDtype stored = host_dtype(*dtype);
  const bool as_it_is = stored == source.dtype() && source.row_contiguous();
  const HostArray values = as_it_is ? source : source.astype(stored);
  return visit_host_dtype(stored, [&](auto tag) -> array {
    using T = typename decltype(tag)::Type;
    if constexpr (Element<T>) {
      return array(std::span<const T>(values.data<T>(), values.size()), values.shape());
    } else {
      throw std::logic_error("a stored type that no array has");
    }
  });
}

HostArray to_host(const array& source) {
  if (source.dtype() == Dtype::BFloat16) {
    const std::vector<BFloat16> values = source.to_vector<BFloat16>();
    HostArray copied(source.shape(), HostDtype::Float32);
    std::transform(values.begin(), values.end(), copied.data<float>(),
                   [](BFloat16 value) { return static_cast<float>(value); });
    return copied;
  }
  HostArray copied(source.shape(), host_dtype(source.dtype()));
  visit_host_dtype(copied.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    if constexpr (Element<T>) {
      const T* const values = source.data<T>();
      if (source.row_contiguous()) {
        std::copy_n(values, source.size(), copied.data<T>());
      } else {
        const auto gathered = source.to_vector<T>();
        std::copy(gathered.begin(), gathered.end(), copied.data<T>());
      }
    }
  });
  return copied;
}

}  // namespace pewter::backend
