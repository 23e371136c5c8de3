#include "tests/fuzz/kernel_generator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "tests/fuzz/prologue.h"
#include "tests/fuzz/statement_generator.h"

namespace pewter::fuzz {
namespace {

constexpr Type kUInt = {Scalar::UInt, 1};
constexpr Type kInt = {Scalar::Int, 1};
constexpr Type kFloat = {Scalar::Float, 1};
constexpr std::size_t kOwnSlots = 4;

Statement line(std::string text) {
  return {{std::move(text)}};
}

class KernelGenerator {
 public:
  explicit KernelGenerator(std::uint64_t seed) : random_(seed) {
    program_.seed = seed;
    program_.is_fast_math = seed % 2 == 1;
  }

  Program make() {
    choose_features();
    choose_shape();
    choose_scalars();
    program_.prologue = kPrologue;
    if (scope_.features.simdgroup || scope_.features.quadgroup) {
      program_.prologue += kGroupPrologue;
    }
    add_structures();
    add_parameters();
    add_functions();
    add_buffers();
    add_kernel();
    return std::move(program_);
  }

 private:
  void choose_features();
  void choose_shape();
  void choose_scalars();
  void add_structures();
  void add_parameters();
  void add_functions();
  void add_function(std::size_t number);
  void add_buffers();
  void add_buffer(BufferKind kind, const std::string& name, Scalar element, std::size_t count);
  void add_kernel();
  std::string signature() const;
  Block preamble();

  std::size_t threads() const { return program_.grid.total(); }

  Random random_;
  Program program_;
  Scope scope_;
  std::vector<Structure> structures_;
  std::vector<Array> arrays_;
  std::vector<std::string> parameters_;
  std::vector<Variable> uniforms_;
};

void KernelGenerator::choose_features() {
  Features& features = scope_.features;
  features.vectors = random_.chance(50);
  features.arrays = random_.chance(50);
  features.structures = random_.chance(30);
  features.calls = random_.chance(40);
  features.loops = random_.chance(75);
  features.switches = random_.chance(35);
  features.jumps = random_.chance(50);
  features.barriers = random_.chance(35);
  features.early_return = !features.barriers && random_.chance(45);
  features.simdgroup = random_.chance(35);
  features.quadgroup = random_.chance(15);
  features.atomics = random_.chance(25);
  features.matrices = random_.chance(12);
  features.early_return = features.early_return && !features.matrices;
  features.mathematics = random_.chance(25);
}

void KernelGenerator::choose_shape() {
  static const std::vector<Extent> groups = {
      {1, 1, 1},    {7, 1, 1},  {32, 1, 1},  {32, 1, 1},  {33, 1, 1},  {48, 1, 1},
      {64, 1, 1},   {64, 1, 1}, {100, 1, 1}, {128, 1, 1}, {256, 1, 1}, {300, 1, 1},
      {1024, 1, 1}, {8, 4, 1},  {16, 16, 1}, {5, 7, 1},   {32, 2, 1},  {1, 32, 1},
      {3, 11, 1},   {32, 8, 1}, {4, 4, 4},   {2, 3, 5},   {8, 2, 2},   {1, 2, 32}};
  static const std::vector<Extent> full_groups = {{32, 1, 1}, {64, 1, 1}, {128, 1, 1}, {256, 1, 1},
                                                  {8, 4, 1},  {32, 4, 1}, {4, 4, 4}};
  const bool full = scope_.features.matrices;
  const Extent group = random_.pick(full ? full_groups : groups);
  Extent grid = {group.x * static_cast<std::uint32_t>(random_.between(1, 3)), group.y, group.z};
  if (group.y > 1) {
    grid.y *= static_cast<std::uint32_t>(random_.between(1, 2));
  }
  if (!full && random_.chance(60)) {
    const auto awkward = [&](std::uint32_t size, std::uint32_t step) {
      const std::int64_t less = random_.between(0, std::min<std::int64_t>(step, size) - 1);
      return size - static_cast<std::uint32_t>(less);
    };
    grid.x = awkward(grid.x, group.x);
    grid.y = awkward(grid.y, group.y);
    grid.z = awkward(grid.z, group.z);
  }
  program_.grid = grid;
  program_.group = group;
}

void KernelGenerator::choose_scalars() {
  scope_.scalars = {Scalar::UInt, Scalar::Int, Scalar::Float};
  for (const Scalar scalar : memory_scalars()) {
    if (std::find(scope_.scalars.begin(), scope_.scalars.end(), scalar) == scope_.scalars.end() &&
        random_.chance(30)) {
      scope_.scalars.push_back(scalar);
    }
  }
  if (random_.chance(30)) {
    scope_.scalars.push_back(Scalar::Bool);
  }
}

void KernelGenerator::add_structures() {
  if (!scope_.features.structures) {
    return;
  }
  for (std::size_t number = 0; number < 2; ++number) {
    Structure structure{"Record" + std::to_string(number), {}};
    std::string text = "struct " + structure.name + " {";
    const std::size_t count = 2 + random_.below(4);
    for (std::size_t i = 0; i < count; ++i) {
      Structure::Member member{"m" + std::to_string(i), scope_.any_type(random_), 0};
      if (random_.chance(25)) {
        member.length = 4;
      }
      text += " " + member.type.name() + " " + member.name +
              (member.length == 0 ? "" : "[" + std::to_string(member.length) + "]") + ";";
      structure.members.push_back(member);
    }
    program_.prologue += text + " };\n";
    structures_.push_back(std::move(structure));
  }
}

// Values that are the same for the whole dispatch: a constant structure and function constants.
void KernelGenerator::add_parameters() {
  program_.prologue +=
      "struct Parameters { uint u0; uint u1; int i0; int i1; float f0; float f1; };\n";
  Buffer buffer{BufferKind::Parameters, "parameters", Scalar::UInt, 6, {}};
  const std::array<std::uint32_t, 6> words = {
      static_cast<std::uint32_t>(random_.below(10)),
      static_cast<std::uint32_t>(random_.bits()),
      static_cast<std::uint32_t>(random_.between(-20, 20)),
      static_cast<std::uint32_t>(random_.bits()),
      std::bit_cast<std::uint32_t>(static_cast<float>(random_.between(-50, 50)) * 0.25F),
      std::bit_cast<std::uint32_t>(1.7F)};
  buffer.bytes.resize(sizeof(words));
  std::memcpy(buffer.bytes.data(), words.data(), sizeof(words));
  program_.buffers.push_back(std::move(buffer));
  parameters_.emplace_back("constant Parameters& parameters [[buffer(0)]]");
  for (const auto& [name, type] : {std::pair{"u0", kUInt},
                                   {"u1", kUInt},
                                   {"i0", kInt},
                                   {"i1", kInt},
                                   {"f0", kFloat},
                                   {"f1", kFloat}}) {
    uniforms_.push_back({std::string("parameters.") + name, type, false, true, false, {}});
  }
  for (std::size_t i = 0; i < random_.below(3); ++i) {
    const std::string name = "chosen" + std::to_string(i);
    program_.prologue +=
        "constant int " + name + " [[function_constant(" + std::to_string(i) + ")]];\n";
    const std::int64_t value = random_.between(0, 5);
    program_.constants.push_back(static_cast<std::int32_t>(value));
    uniforms_.push_back({name, kInt, false, true, true, {0, 5}});
  }
}

void KernelGenerator::add_function(std::size_t number) {
  Scope scope;
  scope.features = scope_.features;
  scope.features.barriers = scope.features.matrices = scope.features.atomics = false;
  scope.features.mathematics = false;
  // Lanes that have left by a return wait for the others at the end of the function.
  scope.features.early_return = random_.chance(50);
  scope.allows_group_operations = random_.chance(50);
  scope.scalars = scope_.scalars;
  scope.functions = scope_.functions;
  scope.is_uniform_flow = false;
  scope.depth = 1;

  using Parameter = Scope::Callable::Parameter;
  Scope::Callable function;
  function.name = "helper" + std::to_string(number);
  function.result = scope.any_type(random_);
  std::string head = function.result.name() + " " + function.name + "(";
  const std::size_t count = 1 + random_.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    const auto kind = random_.pick({Parameter::Kind::Value, Parameter::Kind::Value,
                                    Parameter::Kind::Reference, Parameter::Kind::Array});
    const Type type = scope.any_type(random_);
    const std::string name = "p" + std::to_string(i);
    function.parameters.push_back({kind, type});
    head += i == 0 ? "" : ", ";
    if (kind == Parameter::Kind::Array) {
      head += "thread " + type.name() + "* " + name;
      scope.arrays.push_back({name + "[", "]", type, 4, true, false});
    } else {
      head += kind == Parameter::Kind::Reference ? "thread " + type.name() + "& " + name
                                                 : type.name() + " " + name;
      scope.variables.push_back({name, type, true, false, false, {}});
    }
  }
  // A function has no built-in inputs of its own.
  head += ", uint lane)";
  scope.variables.push_back({"lane", kUInt, false, false, true, {0, 31}});
  scope.variables.push_back({"acc", kUInt, true, false, false, {}});

  if (random_.chance(30)) {
    head = "template <int N> " + head;
    scope.variables.push_back({"N", kInt, false, true, true, {0, 7}});
    function.name += "<" + std::to_string(random_.between(0, 7)) + ">";
  } else if (random_.chance(50)) {
    head = "__attribute__((noinline)) " + head;
  } else {
    head = "inline " + head;
  }

  StatementGenerator statements(random_, scope, structures_);
  statements.set_return("return $;", function.result);
  Function made;
  made.head = head;
  made.body.push_back(line("uint acc = lane;"));
  for (Statement& statement : statements.open_block(1 + random_.below(3))) {
    made.body.push_back(std::move(statement));
  }
  Expression result = statements.expressions().value(function.result, 2);
  if (function.result.is_integer() && !function.result.is_vector()) {
    made.end = "  return " + function.result.name() + "(acc ^ uint(" + result.print() + "));\n";
  } else {
    made.end = "  return " + result.print() + ";\n";
  }
  program_.functions.push_back(std::move(made));
  scope_.functions.push_back(std::move(function));
}

void KernelGenerator::add_functions() {
  if (!scope_.features.calls) {
    return;
  }
  const std::size_t count = 1 + random_.below(2);
  for (std::size_t i = 0; i < count; ++i) {
    add_function(i);
  }
}

void KernelGenerator::add_buffer(BufferKind kind,
                                 const std::string& name,
                                 Scalar element,
                                 std::size_t count) {
  const std::string type = Type{element, 1}.name();
  std::string declared = type;
  if (name == "counters" || name == "own_cells") {
    declared = "atomic_uint";
  } else if (name == "signed_counters") {
    declared = "atomic_int";
  } else if (name == "float_counters") {
    declared = "atomic_float";
  }
  const std::string index = std::to_string(program_.buffers.size());
  const std::string space = name == "table"             ? "constant "
                            : kind == BufferKind::Input ? "device const "
                                                        : "device ";
  parameters_.push_back(space + declared + "* " + name + " [[buffer(" + index + ")]]");
  program_.buffers.push_back({kind, name, element, count, {}});
}

void KernelGenerator::add_buffers() {
  const std::size_t input_count = std::bit_ceil(std::max<std::size_t>(256, 2 * threads()));
  for (const Scalar scalar : scope_.scalars) {
    if (scalar == Scalar::Bool) {
      continue;
    }
    const std::string name = "in_" + Type{scalar, 1}.name();
    add_buffer(BufferKind::Input, name, scalar, input_count);
    arrays_.push_back({name + "[", "]", {scalar, 1}, input_count, false, true});
  }
  add_buffer(BufferKind::Input, "table", Scalar::Float, 64);
  arrays_.push_back({"table[", "]", kFloat, 64, false, true});

  add_buffer(BufferKind::Output, "out_acc", Scalar::UInt, threads());
  std::vector<Scalar> stored;
  for (const Scalar scalar : scope_.scalars) {
    if (scalar != Scalar::Bool && random_.chance(40)) {
      stored.push_back(scalar);
    }
  }
  const std::string n = std::to_string(threads()) + "u";
  for (const Scalar scalar : stored) {
    const std::string name = "out_" + Type{scalar, 1}.name();
    add_buffer(BufferKind::Output, name, scalar, threads() * kOwnSlots);
    // Places of a thread's own: side by side, a grid apart, or from the end.
    const std::size_t layout = random_.below(3);
    const std::string before = layout == 0   ? name + "[gid * 4u + uint("
                               : layout == 1 ? name + "[gid + " + n + " * uint("
                                             : name + "[" + n + " * 4u - 1u - gid * 4u - uint(";
    arrays_.push_back({before, ")]", {scalar, 1}, kOwnSlots, true, false});
  }
  if (scope_.features.mathematics) {
    add_buffer(BufferKind::Output, "out_math", Scalar::Float, threads() * kOwnSlots);
  }
  if (scope_.features.atomics) {
    add_buffer(BufferKind::Output, "counters", Scalar::UInt, 64);
    add_buffer(BufferKind::Output, "signed_counters", Scalar::Int, 16);
    add_buffer(BufferKind::Output, "float_counters", Scalar::Float, 8);
    add_buffer(BufferKind::Output, "own_cells", Scalar::UInt, threads());
    program_.buffers[program_.buffers.size() - 2].bytes.resize(8 * sizeof(float));
  }
}

std::string KernelGenerator::signature() const {
  const Extent& grid = program_.grid;
  const Extent& group = program_.group;
  const bool three = group.z > 1 || grid.z > 1;
  const bool two = !three && (group.y > 1 || grid.y > 1);
  const std::string vector = three ? "uint3" : two ? "uint2" : "uint";
  std::string text = "kernel void fuzz(";
  for (const std::string& parameter : parameters_) {
    text += parameter + ",\n    ";
  }
  text += vector + " position [[thread_position_in_grid]],\n    " + vector +
          " size [[threads_per_grid]],\n    " + vector +
          " group_position [[threadgroup_position_in_grid]],\n    " + vector +
          " group_size [[threads_per_threadgroup]],\n    "
          "uint lid [[thread_index_in_threadgroup]],\n    "
          "uint lane [[thread_index_in_simdgroup]],\n    "
          "uint simdgroup [[simdgroup_index_in_threadgroup]])";
  return text;
}

Block KernelGenerator::preamble() {
  const Extent& grid = program_.grid;
  const Extent& group = program_.group;
  const bool three = group.z > 1 || grid.z > 1;
  const bool two = !three && (group.y > 1 || grid.y > 1);
  const auto last = [](std::uint32_t count) {
    return Range{0, static_cast<std::int64_t>(count) - 1};
  };
  Block made;
  const auto known = [&](const std::string& name, Range range, bool uniform) {
    scope_.variables.push_back({name, kUInt, false, uniform, true, range});
  };
  if (three) {
    made.push_back(
        line("const uint gid = (position.z * size.y + position.y) * size.x + position.x;"));
    made.push_back(line("const uint group_threads = group_size.x * group_size.y * group_size.z;"));
    known("position.z", last(grid.z), false);
    known("group_position.z", {0, (grid.z - 1) / group.z}, true);
  } else if (two) {
    made.push_back(line("const uint gid = position.y * size.x + position.x;"));
    made.push_back(line("const uint group_threads = group_size.x * group_size.y;"));
  } else {
    made.push_back(line("const uint gid = position;"));
    made.push_back(line("const uint group_threads = group_size;"));
    known("group_position", {0, (grid.x - 1) / group.x}, true);
  }
  if (three || two) {
    known("position.x", last(grid.x), false);
    known("position.y", last(grid.y), false);
    known("group_position.x", {0, (grid.x - 1) / group.x}, true);
  }
  known("lid", last(group.total()), false);
  known("lane", {0, 31}, false);
  known("simdgroup", {0, (group.total() - 1) / 32}, false);
  known("group_threads", {1, group.total()}, true);
  known("gid", last(grid.total()), false);
  made.push_back(line("uint acc = fold(1u, gid);"));
  scope_.variables.push_back({"acc", kUInt, true, false, false, {}});
  if (scope_.features.barriers) {
    static const std::vector<Scalar> tile_types = {Scalar::UInt,   Scalar::Int,   Scalar::Float,
                                                   Scalar::UShort, Scalar::ULong, Scalar::Half,
                                                   Scalar::UChar};
    for (std::size_t i = 0; i < 2; ++i) {
      const Type type = {random_.pick(tile_types), 1};
      const std::string name = "tile" + std::to_string(i);
      made.push_back(line("threadgroup " + type.name() + " " + name + "[1024];"));
      scope_.tiles.push_back({name, "", type, 1024, true, false});
    }
    made.push_back(line("threadgroup atomic_uint cells[8];"));
  }
  return made;
}

void KernelGenerator::add_kernel() {
  scope_.variables.insert(scope_.variables.end(), uniforms_.begin(), uniforms_.end());
  scope_.arrays.insert(scope_.arrays.end(), arrays_.begin(), arrays_.end());
  Function& kernel = program_.kernel;
  kernel.head = signature();
  kernel.body = preamble();
  StatementGenerator statements(random_, scope_, structures_);
  statements.set_return("out_acc[gid] = acc; return;", {});
  for (Statement& statement : statements.open_block(3 + random_.below(7))) {
    kernel.body.push_back(std::move(statement));
  }
  for (const Variable& variable : scope_.variables) {
    if (variable.is_writable && variable.name != "acc") {
      kernel.body.push_back(line("acc = fold(acc, " + variable.name + ");"));
    }
  }
  for (const Array& array : scope_.arrays) {
    if (array.is_writable && array.element.count == 1 && array.length >= 3) {
      kernel.body.push_back(line("acc = fold(acc, " + array.before + "acc % " +
                                 std::to_string(array.length) + "u" + array.after + ");"));
    }
  }
  kernel.end = "  out_acc[gid] = acc;\n";
}

}  // namespace

Program generate(std::uint64_t seed) {
  return KernelGenerator(seed).make();
}

}  // namespace pewter::fuzz
