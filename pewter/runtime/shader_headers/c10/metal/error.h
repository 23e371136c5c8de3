#pragma once

#include <pewter/mps/error.h>

/// The names under which PyTorch's shaders know the same records.
namespace c10 {
namespace metal {

using ErrorMessages = ::pewter::mps::ErrorRecords;

}  // namespace metal
}  // namespace c10

#define TORCH_REPORT_ERROR(errors, ...) PEWTER_REPORT_ERROR(errors, __VA_ARGS__)
