#pragma once

#include <string>

namespace pewter::runtime {

/// Limits of memory as ratios of the recommended working set, from the environment.
struct Watermarks {
  /// Hard limit; 0 is none.
  double high = 1.7;
  /// Where freeing of cached memory begins; 0 is never.
  double low = 1.4;
  /// Why the environment's values cannot be used; empty when they can.
  std::string fault;
};

/// Reads PYTORCH_MPS_HIGH_WATERMARK_RATIO and PYTORCH_MPS_LOW_WATERMARK_RATIO.
Watermarks read_watermarks(bool unified_memory);

}  // namespace pewter::runtime
