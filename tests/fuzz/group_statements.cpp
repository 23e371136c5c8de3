#include "tests/fuzz/group_statements.h"

namespace pewter::fuzz {
namespace {

constexpr Type kUInt = {Scalar::UInt, 1};
constexpr Type kInt = {Scalar::Int, 1};
constexpr Type kFloat = {Scalar::Float, 1};

const std::string kBarrier = "threadgroup_barrier(mem_flags::mem_threadgroup);";
const std::string kRelaxed = ", memory_order_relaxed)";

}  // namespace

std::string GroupStatements::declare(const Type& type, bool uniform) {
  const std::string name = scope_.name("g");
  scope_.variables.push_back({name, type, true, uniform, false, {}});
  return name;
}

// Prologue functions of these names leave out lanes that are not there.
Statement GroupStatements::shuffle(const std::string& group, const Type& type) {
  Expression moved = value(type);
  const char* kind =
      random_.pick({"shuffle", "shuffle_xor", "shuffle_up", "shuffle_down", "rotate_up",
                    "rotate_down", "fill_up", "fill_down", "broadcast"});
  const std::int64_t width = group == "simd" ? 32 : 4;
  const std::string text = kind;
  // Only shuffle takes a different lane in each thread; Metal wants the others' argument uniform.
  Expression distance = text == "shuffle" || text == "broadcast"
                            ? expressions_.small(width - 1, text == "broadcast")
                        : text == "shuffle_xor" ? expressions_.small(width - 1, true)
                                                : expressions_.small(width / 2, true);
  Statement made;
  if (text.starts_with("fill")) {
    Expression filling = value(type);
    const std::string name = declare(type);
    made.parts = {type.name() + " " + name + " = " + group + "_" + text + "_if_there(",
                  std::move(moved),
                  ", ",
                  std::move(filling),
                  ", uint(",
                  std::move(distance),
                  "), lane);"};
    return made;
  }
  const std::string name = declare(type);
  made.parts = {type.name() + " " + name + " = " + group + "_" + text + "_if_there(",
                std::move(moved), ", uint(", std::move(distance), "), lane);"};
  return made;
}

Statement GroupStatements::vote(const std::string& group) {
  const char* pattern =
      random_.pick({"uint(ulong(@_ballot_bits($)))", "uint(@_any($))", "uint(@_all($))",
                    "uint(@_is_first())", "uint(@_active_bits())"});
  std::string text = pattern;
  text.replace(text.find('@'), 1, group);
  const std::size_t hole = text.find('$');
  Statement made;
  if (hole == std::string::npos) {
    const std::string name = declare(kUInt);
    made.parts = {"uint " + name + " = " + text + ";"};
    return made;
  }
  Expression condition = expressions_.condition(2);
  const std::string name = declare(kUInt);
  made.parts = {"uint " + name + " = " + text.substr(0, hole), std::move(condition),
                text.substr(hole + 1) + ";"};
  return made;
}

Statement GroupStatements::cross_lane() {
  const Features& features = scope_.features;
  const std::string group =
      features.quadgroup && (!features.simdgroup || random_.chance(30)) ? "quad" : "simd";
  if (random_.chance(25)) {
    return vote(group);
  }
  const Type type = scope_.any_type(random_);
  if (type.is_bool() || random_.chance(40)) {
    return shuffle(group, type.is_bool() ? kUInt : type);
  }
  const bool bitwise = type.is_integer() && random_.chance(25);
  const std::string function =
      bitwise ? random_.pick({"and", "or", "xor"})
              : random_.pick({"sum", "product", "min", "max", "prefix_inclusive_sum",
                              "prefix_exclusive_sum", "prefix_inclusive_product",
                              "prefix_exclusive_product", "broadcast_first"});
  Expression operand = value(type);
  const std::string name = declare(type);
  // Either zero is the smaller of two.
  const std::string after = type.is_float() && (function == "min" || function == "max")
                                ? ") + " + type.name() + "(0);"
                                : ");";
  Statement made;
  made.parts = {type.name() + " " + name + " = " + group + "_" + function + "(", std::move(operand),
                after};
  return made;
}

Statement GroupStatements::threadgroup_atomic() {
  Statement made;
  Expression slot = expressions_.small(7);
  Expression amount = uint_value();
  Expression read = expressions_.small(7);
  const std::string operation = random_.pick({"add", "or", "xor", "max"});
  const std::string name = declare(kUInt);
  made.parts = {"if (lid < 8u) atomic_store_explicit(&cells[lid], 0u" + kRelaxed + "; " +
                    "if (group_threads < 8u && lid == 0u) for (uint k = 0u; k < 8u; ++k) "
                    "atomic_store_explicit(&cells[k], 0u" +
                    kRelaxed + "; " + kBarrier + " atomic_fetch_" + operation + "_explicit(&cells[",
                std::move(slot),
                "], ",
                std::move(amount),
                kRelaxed + "; " + kBarrier + " uint " + name + " = atomic_load_explicit(&cells[",
                std::move(read),
                "]" + kRelaxed + "; " + kBarrier};
  return made;
}

Statement GroupStatements::exchange() {
  if (random_.chance(15)) {
    return threadgroup_atomic();
  }
  if (scope_.tiles.empty()) {
    return {{kBarrier}};
  }
  const Array tile = random_.pick(scope_.tiles);
  const std::string& name = tile.before;
  const std::string type = tile.element.name();
  const std::string zero = type + "(0)";
  Statement made;
  Expression written = value(tile.element);
  switch (random_.below(6)) {
    case 0: {  // Each thread writes its place and reads another's.
      Expression place = expressions_.small(1023);
      const std::string result = declare(tile.element);
      const std::string own =
          random_.pick({"lid", "group_threads - 1u - lid", "(lid + 3u) % group_threads"});
      made.parts = {name + "[" + own + "] = ", std::move(written),
                    "; " + kBarrier + " " + type + " " + result + " = " + name + "[uint(",
                    std::move(place), ") % group_threads]; " + kBarrier};
      return made;
    }
    case 1: {  // Some threads leave their place as it was.
      Expression condition = expressions_.condition(2);
      Expression place = expressions_.small(1023);
      const std::string result = declare(tile.element);
      made.parts = {name + "[lid] = " + zero + "; if (",
                    std::move(condition),
                    ") " + name + "[lid] = ",
                    std::move(written),
                    "; " + kBarrier + " " + type + " " + result + " = " + name + "[(lid + uint(",
                    std::move(place),
                    ")) % group_threads]; " + kBarrier};
      return made;
    }
    case 2: {  // One thread's value for all.
      Expression chosen = expressions_.small(1023, true);
      const std::string result = declare(tile.element, true);
      made.parts = {
          "if (lid == uint(", std::move(chosen),
          ") % group_threads) " + name + "[0] = ", std::move(written),
          "; " + kBarrier + " " + type + " " + result + " = " + name + "[0]; " + kBarrier};
      return made;
    }
    case 3: {  // A tree.
      const std::string result = declare(tile.element, true);
      made.parts = {name + "[lid] = ", std::move(written),
                    "; " + kBarrier +
                        " for (uint half_count = 512u; half_count > 0u; half_count "
                        ">>= 1) { if (lid < half_count && lid + half_count < group_threads) " +
                        name + "[lid] = joined(" + name + "[lid], " + name +
                        "[lid + half_count]); " + kBarrier + " } " + type + " " + result + " = " +
                        name + "[0]; " + kBarrier};
      return made;
    }
    case 4: {  // A scan.
      const std::string result = declare(tile.element);
      made.parts = {name + "[lid] = ", std::move(written),
                    "; " + kBarrier + " for (uint step = 1u; step < group_threads; step *= 2u) { " +
                        type + " before = lid >= step ? " + name + "[lid - step] : " + zero + "; " +
                        kBarrier + " " + name + "[lid] = joined(" + name + "[lid], before); " +
                        kBarrier + " } " + type + " " + result + " = " + name + "[lid]; " +
                        kBarrier};
      return made;
    }
    default: {  // Within the simdgroup.
      Expression place = expressions_.small(31);
      const std::string result = declare(tile.element);
      made.parts = {kBarrier + " " + name + "[lid] = ", std::move(written),
                    "; simdgroup_barrier(mem_flags::mem_threadgroup); " + type + " " + result +
                        " = " + name + "[min((lid & ~31u) + uint(",
                    std::move(place), "), group_threads - 1u)]; " + kBarrier};
      return made;
    }
  }
}

Statement GroupStatements::atomic() {
  Statement made;
  Expression slot = expressions_.small(7);
  switch (random_.below(5)) {
    case 0: {  // Order does not matter for one operation on one place.
      struct Row {
        const char* name;
        const char* place;
      };
      const Row row = random_.pick<Row>({{"add", ""},
                                         {"sub", "8u + "},
                                         {"or", "16u + "},
                                         {"and", "24u + "},
                                         {"xor", "32u + "},
                                         {"min", "40u + "},
                                         {"max", "48u + "}});
      made.parts = {std::string("atomic_fetch_") + row.name + "_explicit(&counters[" + row.place,
                    std::move(slot), "], ", uint_value(), kRelaxed + ";"};
      return made;
    }
    case 1: {
      const bool least = random_.chance(50);
      made.parts = {std::string("atomic_fetch_") + (least ? "min" : "max") +
                        "_explicit(&signed_counters[" + (least ? "" : "8u + "),
                    std::move(slot), "], ", value(kInt), kRelaxed + ";"};
      return made;
    }
    case 2:  // Small whole numbers add up exactly.
      made.parts = {"atomic_fetch_add_explicit(&float_counters[", std::move(slot), "], float(",
                    expressions_.small(1), ")" + kRelaxed + ";"};
      return made;
    case 3: {  // Every ticket is drawn once, whoever draws it.
      const std::string name = scope_.name("q");
      made.parts = {"uint " + name + " = atomic_fetch_add_explicit(&counters[56], 1u" + kRelaxed +
                    "; atomic_fetch_xor_explicit(&counters[57], fold(7u, " + name + ")" + kRelaxed +
                    ";"};
      return made;
    }
    default: {  // A place that no other thread knows.
      Expression written = uint_value();
      const bool exchanged = random_.chance(50);
      const std::string name = declare(kUInt);
      made.parts = {"uint " + name + " = " +
                        (exchanged ? "atomic_exchange_explicit(&own_cells[gid], "
                                   : "atomic_fetch_add_explicit(&own_cells[gid], "),
                    std::move(written), kRelaxed + ";"};
      return made;
    }
  }
}

Statement GroupStatements::matrix() {
  std::vector<std::string> types = {"float"};
  for (const Scalar scalar : scope_.scalars) {
    if (scalar == Scalar::Half || scalar == Scalar::BFloat) {
      types.push_back(Type{scalar, 1}.name());
    }
  }
  const std::string type = random_.pick(types);
  const std::string name = scope_.name("m");
  const std::string matrix = "simdgroup_matrix<" + type + ", 8, 8> ";
  const std::string transposed = random_.chance(40) ? ", ulong2(0, 0), true" : "";
  Expression first = expressions_.small(63, true);
  Expression second = expressions_.small(63, true);
  Expression element = expressions_.small(1);
  const std::string result = declare(kFloat);
  Statement made;
  made.parts = {matrix + name + "a, " + name + "b, " + name + "c; simdgroup_load(" + name +
                    "a, in_" + type + " + uint(",
                std::move(first),
                "), 8ul); simdgroup_load(" + name + "b, in_" + type + " + uint(",
                std::move(second),
                "), 9ul" + transposed + "); simdgroup_load(" + name + "c, in_" + type +
                    " + simdgroup * 2u, 8ul); simdgroup_multiply_accumulate(" + name + "c, " +
                    name + "a, " + name + "b, " + name + "c); simdgroup_multiply_accumulate(" +
                    name + "c, " + name + "c, " + name + "b, " + name + "a); float " + result +
                    " = float(" + name + "c.thread_elements()[",
                std::move(element),
                "]);"};
  return made;
}

Statement GroupStatements::mathematics() {
  const std::string call = random_.pick({"exp(clamp($, -80.0f, 80.0f))",
                                         "exp2(clamp($, -100.0f, 100.0f))",
                                         "log(clamp(fabs($), 1e-30f, 1e30f))",
                                         "log2(clamp(fabs($), 1e-30f, 1e30f))",
                                         "sin(clamp($, -100.0f, 100.0f))",
                                         "cos(clamp($, -100.0f, 100.0f))",
                                         "tan(clamp($, -1.5f, 1.5f))",
                                         "tanh($)",
                                         "atan($)",
                                         "asin(clamp($, -1.0f, 1.0f))",
                                         "acos(clamp($, -1.0f, 1.0f))",
                                         "sinh(clamp($, -40.0f, 40.0f))",
                                         "cosh(clamp($, -40.0f, 40.0f))",
                                         "rsqrt(clamp(fabs($), 1e-20f, 1e20f))",
                                         "pow(clamp(fabs($), 0.01f, 100.0f), 1.75f)",
                                         "log10(clamp(fabs($), 1e-30f, 1e30f))",
                                         "exp10(clamp($, -30.0f, 30.0f))",
                                         "asinh(clamp($, -1e10f, 1e10f))",
                                         "acosh(clamp(fabs($), 1.0f, 1e10f))",
                                         "atanh(clamp($, -0.99f, 0.99f))",
                                         "fmod(clamp($, -1000.0f, 1000.0f), 1.375f)",
                                         "atan2(clamp($, -1e6f, 1e6f), 0.75f)"});
  const std::size_t hole = call.find('$');
  Expression place = expressions_.small(3);
  Statement made;
  made.parts = {"out_math[gid * 4u + uint(", std::move(place), ")] = " + call.substr(0, hole),
                value(kFloat), call.substr(hole + 1) + ";"};
  return made;
}

}  // namespace pewter::fuzz
