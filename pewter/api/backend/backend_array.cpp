#include <pewter/backend.h>

#include <utility>

namespace pewter::backend {

BackendArray::BackendArray(array data, Backend& backend, bool owns_data)
    : data_(std::move(data)), backend_(backend), owns_data_(owns_data) {}

BackendArray::BackendArray(BackendArray&& other) noexcept
    : data_(std::move(other.data_)),
      backend_(other.backend_),
      owns_data_(std::exchange(other.owns_data_, false)) {}

BackendArray::~BackendArray() {
  if (!owns_data_) {
    return;
  }
  try {
    backend_.free(data_);
  } catch (...) {  // NOLINT(bugprone-empty-catch): nobody could be told
  }
}

}  // namespace pewter::backend
