#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pewter/compiler/compiler.h"

namespace pewter::compiler::codegen {

/// A parameter of the kernel's IR function, in order.
struct PlannedParameter {
  Parameter parameter;
  /// Symbol of the constant that switches it on; empty when it is always there.
  std::string enabled_by;
};

/// A function constant of the module, with the value that the pipeline gives it, if any.
struct PlannedConstant {
  std::string name;
  std::string symbol;
  std::uint32_t index = 0;
  std::optional<ConstantBytes> value;
};

/// What the code generator has to know of a kernel that IR does not say.
struct KernelPlan {
  /// The kernel's symbol in the module.
  std::string function;
  /// The name by which the host knows it.
  std::string name;
  std::vector<PlannedParameter> parameters;
  std::vector<PlannedConstant> constants;
  MathMode math_mode = MathMode::Fast;
  MathFunctions math_functions = MathFunctions::Fast;
  /// Whether messages reach the host.
  bool enable_logging = false;
  /// The machine that code is generated for, for instance "aarch64-linux-gnu"; empty for this one.
  std::string triple;
  /// Its processor: a level, for instance "x86-64-v3", or a name, "neoverse-n1".
  std::string cpu;
  ExecutionMode mode = ExecutionMode::Scalar;
  /// Lanes of a program; 0 to choose.
  std::uint32_t lanes = 0;
  GroupShape shape;
  GroupParts parts = GroupParts::Needed;
  /// Ends when it is known how the threads of a program run together, without machine code, and
  /// fails where they cannot, instead of running them one by one.
  bool programs_only = false;
  /// What the kernel is linked with, in the order of its numbers.
  std::vector<FunctionBody> linked;
};

}  // namespace pewter::compiler::codegen
