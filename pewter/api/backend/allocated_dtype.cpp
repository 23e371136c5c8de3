#include "pewter/api/backend/allocated_dtype.h"

#include "pewter/base/log.h"

namespace pewter::backend {
namespace {

constexpr std::string_view kLogArea = "backend";

}  // namespace

Dtype float_instead_of(std::string_view name) {
  logging::warning(kLogArea, "no type of the device for {}; float32 is used", name);
  return Dtype::Float32;
}

Dtype allocated_dtype(HostDtype dtype) {
  if (dtype == HostDtype::Complex64 || dtype == HostDtype::Complex128) {
    return float_instead_of(name_of(dtype));
  }
  if (dtype == HostDtype::Float64) {
    logging::detail(kLogArea, "float64 is stored as float32");
  }
  return device_dtype(dtype).value_or(Dtype::Float32);
}

}  // namespace pewter::backend
