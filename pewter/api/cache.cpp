#include <pewter/cache.h>

#include <stdexcept>

#include "pewter/compiler/compiler.h"

namespace pewter {

CacheStatus cache_status() {
  const compiler::CacheStatus status = compiler::cache_status();
  return {status.directory, status.enabled, status.bytes, status.entries, status.limit_bytes};
}

std::uint64_t clear_kernel_cache() {
  const auto freed = compiler::clear_cache();
  if (!freed) {
    throw std::runtime_error(freed.error().message);
  }
  return *freed;
}

}  // namespace pewter
