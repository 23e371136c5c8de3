#include <fmt/core.h>

#include <string>
#include <string_view>

#include "pewter/array/fusion/helper_text.h"
#include "pewter/array/fusion/kernel_structure.h"
#include "pewter/array/ops/kernel_source.h"

namespace pewter::fusion {
namespace {

/// The type of elements in memory.
std::string_view stored_type(Dtype dtype) {
  return dtype == Dtype::Complex64 ? "complex64_t" : msl_name_of(dtype);
}

bool is_half(Dtype dtype) {
  return dtype == Dtype::Float16 || dtype == Dtype::BFloat16;
}

/// The type that elements are computed in. Types of 16 bits are computed as float and rounded after
/// every operation, so that a fused kernel gives what its operations give one by one.
std::string_view computed_type(Dtype dtype) {
  return is_half(dtype) ? "float" : stored_type(dtype);
}

std::string rounded(Dtype dtype, const std::string& expression) {
  return is_half(dtype) ? fmt::format("float({}({}))", msl_name_of(dtype), expression) : expression;
}

/// The value that leaves a reduction's result unchanged.
std::string identity(ops::ReductionKind kind, Dtype dtype) {
  const std::string type(computed_type(dtype));
  const bool is_float = dtype == Dtype::Float32 || is_half(dtype);
  switch (kind) {
    case ops::ReductionKind::Sum:
    case ops::ReductionKind::Or:
      return type + "(0)";
    case ops::ReductionKind::Prod:
    case ops::ReductionKind::And:
      return type + "(1)";
    case ops::ReductionKind::Min:
      return is_float ? "INFINITY" : fmt::format("numeric_limits<{}>::max()", type);
    case ops::ReductionKind::Max:
      return is_float ? "-INFINITY" : fmt::format("numeric_limits<{}>::lowest()", type);
  }
  return "";
}

std::string combination(ops::ReductionKind kind, const std::string& a, const std::string& b) {
  switch (kind) {
    case ops::ReductionKind::Sum:
      return fmt::format("{} + {}", a, b);
    case ops::ReductionKind::Prod:
      return fmt::format("{} * {}", a, b);
    case ops::ReductionKind::Min:
      return fmt::format("lesser_of({}, {})", a, b);
    case ops::ReductionKind::Max:
      return fmt::format("greater_of({}, {})", a, b);
    case ops::ReductionKind::And:
      return fmt::format("{} && {}", a, b);
    case ops::ReductionKind::Or:
      return fmt::format("{} || {}", a, b);
  }
  return "";
}

/// Writes the text of one kernel.
class Writer {
 public:
  explicit Writer(const KernelStructure& structure) : structure_(structure) {}

  std::string write() {
    write_arguments();
    write_signature();
    switch (structure_.layout) {
      case Layout::Linear:
        write_linear();
        break;
      case Layout::Grid:
        write_grid();
        break;
      case Layout::Tiled:
        write_tiled();
        break;
      case Layout::Divided:
      case Layout::DividedDeep:
        write_divided();
        break;
      case Layout::Rows:
        write_rows();
        break;
      case Layout::Columns:
        write_columns();
        break;
    }
    text_ += "}\n";
    const std::string complex(has_complex() ? ops::kernel_source("complex.metal") : "");
    return helpers_for(complex + text_) + complex + text_;
  }

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }

  bool has_complex() const {
    for (const Input& input : structure_.inputs) {
      if (input.dtype == Dtype::Complex64) {
        return true;
      }
    }
    for (const Step& step : structure_.steps) {
      if (step.operand == Dtype::Complex64 || step.result == Dtype::Complex64) {
        return true;
      }
    }
    return false;
  }

  void write_arguments() {
    line("struct Arguments {{");
    if (structure_.is_reduction()) {
      line("  uint outer, reduced, inner, part_length, parts, unused;");
      line("  struct {{ long outer, reduced, inner; }} strides[{}];", stride_count());
    } else {
      line("  uint lengths[{}], axis_count, count;", kMaxAxes);
      if (is_divided()) {
        line("  uint multipliers[{}], shifts[{}];", kMaxAxes, kMaxAxes);
      }
      if (structure_.layout != Layout::Linear) {
        line("  long strides[{}][{}];", stride_count(), kMaxAxes);
      }
    }
    for (std::size_t i = 0; i < structure_.constants.size(); ++i) {
      line("  alignas(8) {} constant{};", stored_type(structure_.constants[i]), i);
    }
    line("}};");
  }

  std::size_t stride_count() const {
    return structure_.inputs.empty() ? 1 : structure_.inputs.size();
  }

  void write_signature() {
    line("kernel void generated(");
    std::size_t index = 0;
    for (const Input& input : structure_.inputs) {
      line("    const device {}* input{} [[buffer({})]],", stored_type(input.dtype), index, index);
      ++index;
    }
    if (structure_.is_reduction()) {
      line("    device {}* output0 [[buffer({})]],", stored_type(structure_.reduced), index);
      ++index;
    } else {
      for (std::size_t i = 0; i < structure_.outputs.size(); ++i) {
        line("    device {}* output{} [[buffer({})]],",
             stored_type(structure_.steps[structure_.outputs[i]].result), i, index);
        ++index;
      }
    }
    line("    constant Arguments& arguments [[buffer({})]],", index);
    switch (structure_.layout) {
      case Layout::Linear:
      case Layout::Divided:
      case Layout::DividedDeep:
        line("    uint x [[thread_position_in_grid]]) {{");
        break;
      case Layout::Tiled:
        line("    uint3 group [[threadgroup_position_in_grid]],");
        line("    uint width [[threads_per_threadgroup]],");
        line("    uint lane [[thread_index_in_threadgroup]]) {{");
        break;
      case Layout::Grid:
      case Layout::Columns:
        line("    uint3 thread_position [[thread_position_in_grid]]) {{");
        break;
      case Layout::Rows:
        line("    uint lane [[thread_index_in_simdgroup]],");
        line("    uint group [[threadgroup_position_in_grid]]) {{");
        break;
    }
  }

  void write_linear() {
    line("  if (x >= arguments.count) {{ return; }}");
    write_steps("  ");
    write_stores("x");
  }

  // Threads of a group share y and z, so everything but x is computed once.
  void write_grid() {
    line("  const uint x = thread_position.x;");
    line("  if (x >= arguments.lengths[0]) {{ return; }}");
    line("  const uint y = thread_position.y;");
    line("  uint rest = thread_position.z;");
    line("  const ulong at = (ulong(rest) * arguments.lengths[1] + y) * arguments.lengths[0];");
    for_each_input([&](std::size_t i) {
      line("  const device {}* from{} = input{} + y * arguments.strides[{}][1];", input_type(i), i,
           i, i);
    });
    write_rest_axes();
    write_steps("  ");
    for (std::size_t i = 0; i < structure_.outputs.size(); ++i) {
      line("  device {}* to{} = output{} + at;",
           stored_type(structure_.steps[structure_.outputs[i]].result), i, i);
    }
    write_stores("x", "to");
  }

  // Neighbouring groups are neighbours along y, so that what they read of a cache line is still in
  // the cache.
  void write_tiled() {
    line("  const uint x = group.y * width + lane;");
    line("  if (x >= arguments.lengths[0]) {{ return; }}");
    line("  const uint first = group.x * {};", kTileRows);
    line("  const uint end = min(first + {}, arguments.lengths[1]);", kTileRows);
    line("  uint rest = group.z;");
    line("  ulong at = (ulong(rest) * arguments.lengths[1] + first) * arguments.lengths[0];");
    for_each_input([&](std::size_t i) {
      line("  const device {}* from{} = input{} + first * arguments.strides[{}][1];", input_type(i),
           i, i, i);
    });
    write_rest_axes();
    line("  for (uint y = first; y < end; ++y) {{");
    write_steps("    ");
    for (std::size_t i = 0; i < structure_.outputs.size(); ++i) {
      const std::uint16_t step = structure_.outputs[i];
      line("    {}", store(fmt::format("output{}", i), "at + x", step));
    }
    line("    at += arguments.lengths[0];");
    for_each_input([&](std::size_t i) { line("    from{} += arguments.strides[{}][1];", i, i); });
    line("  }}");
  }

  void write_rest_axes() {
    line("  for (uint axis = 2; axis < arguments.axis_count; ++axis) {{");
    line("    const uint above = rest / arguments.lengths[axis];");
    line("    const uint here = rest - above * arguments.lengths[axis];");
    line("    rest = above;");
    for_each_input(
        [&](std::size_t i) { line("    from{} += here * arguments.strides[{}][axis];", i, i); });
    line("  }}");
  }

  bool is_divided() const {
    return structure_.layout == Layout::Divided || structure_.layout == Layout::DividedDeep;
  }

  void write_divided() {
    line("  if (x >= arguments.count) {{ return; }}");
    line("  uint rest = x;");
    for_each_input([&](std::size_t i) { line("  long at{} = 0;", i); });
    if (structure_.layout == Layout::DividedDeep) {
      line("  const uint last = arguments.axis_count - 1;");
      line("  for (uint axis = 0; axis < last; ++axis) {{");
      write_division("axis");
      line("  }}");
      write_last_axis("last");
    } else {
      constexpr std::size_t kLast = kDividedAxes - 1;
      for (std::size_t axis = 0; axis < kLast; ++axis) {
        line("  {{");
        write_division(std::to_string(axis));
        line("  }}");
      }
      write_last_axis(std::to_string(kLast));
    }
    write_steps("  ");
    write_stores("x");
  }

  void write_division(const std::string& axis) {
    line("    const uint product = mulhi(rest, arguments.multipliers[{}]);", axis);
    line("    const uint above = (product + ((rest - product) >> 1)) >> arguments.shifts[{}];",
         axis);
    line("    const uint here = rest - above * arguments.lengths[{}];", axis);
    line("    rest = above;");
    for_each_input(
        [&](std::size_t i) { line("    at{} += here * arguments.strides[{}][{}];", i, i, axis); });
  }

  void write_last_axis(const std::string& axis) {
    for_each_input(
        [&](std::size_t i) { line("  at{} += rest * arguments.strides[{}][{}];", i, i, axis); });
  }

  // One simdgroup for each part of a row; four chains of additions hide each other's latency.
  void write_rows() {
    const std::string type(computed_type(structure_.accumulator));
    const std::string start = identity(structure_.reduction, structure_.accumulator);
    line("  const uint row = group / arguments.parts;");
    line("  const uint part = group - row * arguments.parts;");
    line("  const uint first = part * arguments.part_length;");
    line("  const long end = min(first + arguments.part_length, arguments.reduced);");
    write_row_pointers("row");
    for (int chain = 0; chain < 4; ++chain) {
      line("  {} sum{} = {};", type, chain, start);
    }
    // Of 64 bits: where 32 may wrap, the chains cannot share an address.
    line("  long base = first;");
    line("  for (; base + 128 <= end; base += 128) {{");
    for (int chain = 0; chain < 4; ++chain) {
      line("    {{");
      line("      const long x = base + {} + lane;", 32 * chain);
      write_steps("      ");
      line("      sum{} = {};", chain,
           combination(structure_.reduction, fmt::format("sum{}", chain), element()));
      line("    }}");
    }
    line("  }}");
    line("  for (; base < end; base += 32) {{");
    line("    const long x = base + lane;");
    line("    if (x < end) {{");
    write_steps("      ");
    line("      sum0 = {};", combination(structure_.reduction, "sum0", element()));
    line("    }}");
    line("  }}");
    line("  sum0 = {};", combination(structure_.reduction, "sum0", "sum1"));
    line("  sum2 = {};", combination(structure_.reduction, "sum2", "sum3"));
    line("  sum0 = {};", combination(structure_.reduction, "sum0", "sum2"));
    write_lane_combination();
    line("  if (lane == 0) {{ output0[group] = {}; }}", stored("sum0"));
  }

  void write_lane_combination() {
    const Dtype dtype = structure_.accumulator;
    if (dtype == Dtype::Complex64) {
      for (int distance = 16; distance > 0; distance /= 2) {
        line(
            "  {{ const complex64_t other(simd_shuffle_xor(sum0.re, {}), "
            "simd_shuffle_xor(sum0.im, {}));",
            distance, distance);
        line("    sum0 = {}; }}", combination(structure_.reduction, "sum0", "other"));
      }
      return;
    }
    if (dtype == Dtype::Bool) {
      // The least of truths is whether all are true.
      const bool is_all = structure_.reduction == ops::ReductionKind::And ||
                          structure_.reduction == ops::ReductionKind::Min;
      line("  sum0 = {}(sum0);", is_all ? "simd_all" : "simd_any");
      return;
    }
    const bool is_long = dtype == Dtype::Int64 || dtype == Dtype::UInt64;
    for (int distance = 16; distance > 0; distance /= 2) {
      if (is_long) {
        const std::string type(stored_type(dtype));
        line("  {{ const uint2 half = as_type<uint2>(sum0);");
        line(
            "    const {} other = as_type<{}>(uint2(simd_shuffle_xor(half.x, {}), "
            "simd_shuffle_xor(half.y, {})));",
            type, type, distance, distance);
      } else {
        line("  {{ const auto other = simd_shuffle_xor(sum0, {});", distance);
      }
      line("    sum0 = {}; }}", combination(structure_.reduction, "sum0", "other"));
    }
  }

  // Neighbouring threads read neighbouring columns.
  void write_columns() {
    const std::string type(computed_type(structure_.accumulator));
    line("  const uint x = thread_position.x;");
    line("  if (x >= arguments.inner) {{ return; }}");
    line("  const uint row = thread_position.y;");
    line("  const uint part = thread_position.z;");
    line("  const uint first = part * arguments.part_length;");
    line("  const uint end = min(first + arguments.part_length, arguments.reduced);");
    write_row_pointers("row");
    for_each_input(
        [&](std::size_t i) { line("  from{} += first * arguments.strides[{}].reduced;", i, i); });
    line("  {} sum0 = {};", type, identity(structure_.reduction, structure_.accumulator));
    line("  for (uint step = first; step < end; ++step) {{");
    write_steps("    ");
    line("    sum0 = {};", combination(structure_.reduction, "sum0", element()));
    for_each_input(
        [&](std::size_t i) { line("    from{} += arguments.strides[{}].reduced;", i, i); });
    line("  }}");
    line("  output0[(ulong(row) * arguments.parts + part) * arguments.inner + x] = {};",
         stored("sum0"));
  }

  void write_row_pointers(const char* row) {
    for_each_input([&](std::size_t i) {
      line("  const device {}* from{} = input{} + {} * arguments.strides[{}].outer;", input_type(i),
           i, i, row, i);
    });
  }

  template <typename Function>
  void for_each_input(const Function& function) {
    for (std::size_t i = 0; i < structure_.inputs.size(); ++i) {
      if (structure_.inputs[i].access != Access::Single) {
        function(i);
      }
    }
  }

  std::string_view input_type(std::size_t i) const {
    return stored_type(structure_.inputs[i].dtype);
  }

  std::string location(std::size_t i) const {
    switch (structure_.inputs[i].access) {
      case Access::Linear:
        return fmt::format("input{}[x]", i);
      case Access::Single:
        return fmt::format("input{}[0]", i);
      case Access::Unit:
        return fmt::format("from{}[x]", i);
      case Access::Same:
        return fmt::format("from{}[0]", i);
      case Access::Strided:
        break;
    }
    switch (structure_.layout) {
      case Layout::Divided:
      case Layout::DividedDeep:
        return fmt::format("input{}[at{}]", i, i);
      case Layout::Rows:
        return fmt::format("from{}[x * arguments.strides[{}].reduced]", i, i);
      case Layout::Columns:
        return fmt::format("from{}[x * arguments.strides[{}].inner]", i, i);
      default:
        return fmt::format("from{}[x * arguments.strides[{}][0]]", i, i);
    }
  }

  std::string name(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::Step:
        return fmt::format("v{}", operand.index);
      case Operand::Kind::Input:
        return fmt::format("e{}", operand.index);
      case Operand::Kind::Constant:
        return fmt::format("c{}", operand.index);
      case Operand::Kind::None:
        break;
    }
    return "";
  }

  void write_steps(const char* indent) {
    for (std::size_t i = 0; i < structure_.inputs.size(); ++i) {
      const std::string_view type = computed_type(structure_.inputs[i].dtype);
      line("{}const {} e{} = {}({});", indent, type, i, type, location(i));
    }
    for (std::size_t i = 0; i < structure_.constants.size(); ++i) {
      const std::string_view type = computed_type(structure_.constants[i]);
      line("{}const {} c{} = {}(arguments.constant{});", indent, type, i, type, i);
    }
    for (std::size_t i = 0; i < structure_.steps.size(); ++i) {
      const Step& step = structure_.steps[i];
      const std::string_view type = computed_type(step.result);
      line("{}const {} v{} = {}({});", indent, type, i, type,
           rounded(step.result, expression(step)));
    }
  }

  std::string expression(const Step& step) const {
    std::string text;
    for (const char* p = ops::elementwise_table()[step.row].msl; *p != '\0'; ++p) {
      if (*p != '$') {
        text += *p;
        continue;
      }
      ++p;
      if (*p == 'T') {
        text += computed_type(step.operand);
      } else if (*p == 'R') {
        text += computed_type(step.result);
      } else {
        text += name(step.operands[*p - 'a']);
      }
    }
    return text;
  }

  /// What a reduction combines.
  std::string element() const {
    const std::string last =
        structure_.steps.empty() ? "e0" : fmt::format("v{}", structure_.steps.size() - 1);
    return fmt::format("converted<{}>({})", computed_type(structure_.accumulator), last);
  }

  std::string stored(const std::string& value) const {
    return fmt::format("{}({})", stored_type(structure_.reduced), value);
  }

  void write_stores(const char* index, const char* pointer = "output") {
    for (std::size_t i = 0; i < structure_.outputs.size(); ++i) {
      const std::uint16_t step = structure_.outputs[i];
      line("  {}", store(fmt::format("{}{}", pointer, i), index, step));
    }
  }

  /// What is written for a large array has left the caches before it is read.
  std::string store(const std::string& to, std::string_view index, std::uint16_t step) const {
    const Dtype dtype = structure_.steps[step].result;
    if (dtype == Dtype::Complex64) {
      return fmt::format("{}[{}] = v{};", to, index, step);
    }
    return fmt::format("pewter::stream({} + {}, {}(v{}));", to, index, stored_type(dtype), step);
  }

  const KernelStructure& structure_;
  std::string text_;
};

}  // namespace

std::string kernel_text(const KernelStructure& structure) {
  return Writer(structure).write();
}

}  // namespace pewter::fusion
