#pragma once

#include <Metal/Metal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/run_request.h"

namespace pewter::tools {

/// A parameter of a kernel that the command line can bind.
struct KernelParameter {
  std::string name;
  std::uint32_t index = 0;
  /// False for `[[threadgroup(n)]]`.
  bool is_buffer = true;
  bool used = true;
  /// Bytes of the value, or of one element behind a pointer; 0 when that is not known.
  std::uint64_t data_bytes = 0;
  MTL::DataType data_type = MTL::DataTypeNone;
};

/// A kernel, compiled and ready to run.
struct Kernel {
  NS::SharedPtr<MTL::Device> device;
  NS::SharedPtr<MTL::ComputePipelineState> pipeline;
  std::string name;
  std::vector<KernelParameter> parameters;
  /// From source text to pipeline.
  double compile_ms = 0;
};

/// Reads the file and compiles the kernel that is asked for. Throws CommandError with the
/// compiler's messages, or with the nearest name when there is no such kernel.
Kernel compile_kernel(const RunRequest& request);

/// The parameter with that name or index; throws CommandError naming `flag` and the nearest name
/// when there is none.
const KernelParameter& find_parameter(const Kernel& kernel,
                                      const std::string& name,
                                      bool is_buffer,
                                      std::string_view flag);

/// The default device; throws CommandError when there is none.
NS::SharedPtr<MTL::Device> open_device();

}  // namespace pewter::tools
