#pragma once

#include <metal_stdlib>

namespace pewter {

/// Stores `value` and says, to a compiler that listens, that nobody reads it soon.
template <typename T>
inline void stream(device T* to, T value) {
#if __has_builtin(__builtin_nontemporal_store)
  __builtin_nontemporal_store(value, to);
#else
  *to = value;
#endif
}

}  // namespace pewter
