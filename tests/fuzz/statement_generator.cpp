#include "tests/fuzz/statement_generator.h"

#include <algorithm>

namespace pewter::fuzz {
namespace {

constexpr Type kUInt = {Scalar::UInt, 1};
constexpr unsigned kMaxDepth = 3;

Statement text_of(std::initializer_list<std::variant<std::string, Expression, Block>> parts) {
  return {parts};
}

}  // namespace

void StatementGenerator::declare(const std::string& name,
                                 const Type& type,
                                 bool uniform,
                                 bool writable) {
  scope_.variables.push_back({name, type, writable, uniform, false, {}});
  if (type.is_vector() && !uniform && writable) {
    scope_.arrays.push_back({name + "[", "]", type.component(), type.count, writable, false});
  }
}

Block StatementGenerator::open_block(std::size_t count) {
  Block made;
  for (std::size_t i = 0; i < count; ++i) {
    made.push_back(statement());
  }
  return made;
}

Block StatementGenerator::block(std::size_t count) {
  const Scope::Mark mark = scope_.mark();
  Block made = open_block(count);
  scope_.rewind(mark);
  return made;
}

Block StatementGenerator::nested(std::size_t count, bool uniform, bool is_loop) {
  const bool was_uniform = scope_.is_uniform_flow;
  const bool was_loop = scope_.in_loop;
  scope_.is_uniform_flow = was_uniform && uniform;
  scope_.in_loop = was_loop || is_loop;
  ++scope_.depth;
  Block made = block(count);
  --scope_.depth;
  scope_.is_uniform_flow = was_uniform;
  scope_.in_loop = was_loop;
  return made;
}

Statement StatementGenerator::statement() {
  const Features& features = scope_.features;
  const bool may_nest = scope_.depth < kMaxDepth;
  switch (random_.below(27)) {
    case 0:
    case 1:
    case 2:
      return declaration();
    case 3:
    case 4:
      return element_assignment();
    case 5:
    case 6:
    case 7:
      return may_nest ? branch() : assignment();
    case 8:
    case 9:
      return may_nest && features.loops ? for_loop() : assignment();
    case 10:
      return may_nest && features.loops ? while_loop() : fold();
    case 11:
      return may_nest && features.switches ? selection() : declaration();
    case 12:
    case 13:
      return jump();
    case 14:
      return early_return();
    case 15:
      return features.arrays ? array_declaration() : declaration();
    case 16:
      return features.structures ? structure_declaration() : declaration();
    case 17:
      return features.structures && features.arrays ? structure_array_declaration() : assignment();
    case 18:
      return features.calls ? call() : fold();
    case 19:
    case 20:
      if ((features.simdgroup || features.quadgroup) && scope_.allows_group_operations) {
        return groups_.cross_lane();
      }
      return assignment();
    case 21:
      return features.barriers && scope_.is_uniform_flow ? groups_.exchange() : assignment();
    case 22:
      return features.atomics ? groups_.atomic() : fold();
    case 23:
      return features.matrices && scope_.is_uniform_flow ? groups_.matrix() : declaration();
    case 24:
      return features.mathematics ? groups_.mathematics() : fold();
    case 25:
      return row_product();
    default:
      return assignment();
  }
}

Statement StatementGenerator::declaration() {
  const Type type = scope_.any_type(random_);
  const bool uniform = random_.chance(20);
  Expression value = expressions_.value(type, 2, uniform);
  const std::string name = scope_.name("v");
  declare(name, type, uniform);
  return text_of({type.name() + " " + name + " = ", std::move(value), ";"});
}

Statement StatementGenerator::assignment() {
  std::vector<Variable> targets;
  for (const Variable& variable : scope_.variables) {
    if (variable.is_writable && (!variable.is_uniform || scope_.is_uniform_flow)) {
      targets.push_back(variable);
    }
  }
  if (targets.empty()) {
    return declaration();
  }
  const Variable& target = random_.pick(targets);
  const Type& type = target.type;
  if (type.is_vector() && random_.chance(40)) {
    const char* names[] = {"x", "y", "z", "w", "yx", "xy"};
    const std::size_t last = type.count;
    const std::size_t chosen = random_.below(last + 2);
    const std::string members = names[chosen < last ? chosen : 4 + chosen - last];
    const Type part = {type.scalar, static_cast<unsigned>(members.size())};
    return text_of(
        {target.name + "." + members + " = ", expressions_.value(part, 3, target.is_uniform), ";"});
  }
  const bool can_compound = type.is_vector() ? !type.is_bool()
                                             : type.scalar == Scalar::UInt ||
                                                   type.scalar == Scalar::ULong || type.is_float();
  const std::string operation =
      can_compound && random_.chance(50) ? random_.pick({" += ", " -= ", " *= "}) : " = ";
  return text_of({target.name + operation, expressions_.value(type, 2, target.is_uniform), ";"});
}

Statement StatementGenerator::element_assignment() {
  std::vector<Array> targets;
  for (const Array& array : scope_.arrays) {
    if (array.is_writable) {
      targets.push_back(array);
    }
  }
  if (targets.empty()) {
    return declaration();
  }
  const Array target = random_.pick(targets);
  Expression place = expressions_.element(target);
  place.is_fixed = true;
  return text_of({std::move(place), " = ", expressions_.value(target.element, 3), ";"});
}

Statement StatementGenerator::array_declaration() {
  const Type type = scope_.any_type(random_);
  const std::size_t length = random_.pick(
      {std::size_t{3}, std::size_t{4}, std::size_t{8}, std::size_t{16}, std::size_t{5}});
  const std::string name = scope_.name("a");
  const std::string counter = scope_.name("k");
  const Scope::Mark mark = scope_.mark();
  scope_.variables.push_back(
      {counter, kUInt, false, true, true, {0, static_cast<std::int64_t>(length) - 1}});
  Expression value = expressions_.value(type, 2);
  scope_.rewind(mark);
  scope_.arrays.push_back({name + "[", "]", type, length, true, false});
  const std::string size = std::to_string(length);
  return text_of({type.name() + " " + name + "[" + size + "]; for (uint " + counter + " = 0u; " +
                      counter + " < " + size + "u; ++" + counter + ") " + name + "[" + counter +
                      "] = ",
                  std::move(value), ";"});
}

Statement StatementGenerator::structure_declaration() {
  const Structure& structure = random_.pick(structures_);
  const std::string name = scope_.name("s");
  Statement made;
  made.parts.emplace_back(structure.name + " " + name + ";");
  for (const Structure::Member& member : structure.members) {
    if (member.length == 0) {
      made.parts.emplace_back(" " + name + "." + member.name + " = ");
      made.parts.emplace_back(expressions_.value(member.type, 2));
      made.parts.emplace_back(";");
    } else {
      made.parts.emplace_back(" for (uint k = 0u; k < " + std::to_string(member.length) +
                              "u; ++k) " + name + "." + member.name + "[k] = ");
      made.parts.emplace_back(expressions_.value(member.type, 2));
      made.parts.emplace_back(";");
    }
  }
  for (const Structure::Member& member : structure.members) {
    const std::string path = name + "." + member.name;
    if (member.length == 0) {
      declare(path, member.type, false);
    } else {
      scope_.arrays.push_back({path + "[", "]", member.type, member.length, true, false});
    }
  }
  return made;
}

Statement StatementGenerator::structure_array_declaration() {
  const Structure& structure = random_.pick(structures_);
  const std::string name = scope_.name("t");
  const std::size_t length = random_.pick({std::size_t{2}, std::size_t{4}, std::size_t{6}});
  const std::string counter = scope_.name("k");
  Statement made;
  made.parts.emplace_back(structure.name + " " + name + "[" + std::to_string(length) +
                          "]; for (uint " + counter + " = 0u; " + counter + " < " +
                          std::to_string(length) + "u; ++" + counter + ") {");
  const Scope::Mark mark = scope_.mark();
  scope_.variables.push_back(
      {counter, kUInt, false, true, true, {0, static_cast<std::int64_t>(length) - 1}});
  for (const Structure::Member& member : structure.members) {
    std::string target = " " + name + "[" + counter + "]." + member.name;
    if (member.length != 0) {
      made.parts.emplace_back(" for (uint k = 0u; k < " + std::to_string(member.length) +
                              "u; ++k)");
      target += "[k]";
    }
    made.parts.emplace_back(target + " = ");
    made.parts.emplace_back(expressions_.value(member.type, 2));
    made.parts.emplace_back(";");
  }
  scope_.rewind(mark);
  made.parts.emplace_back(" }");
  for (const Structure::Member& member : structure.members) {
    if (member.length == 0) {
      scope_.arrays.push_back({name + "[", "]." + member.name, member.type, length, true, false});
    }
  }
  return made;
}

Statement StatementGenerator::branch() {
  const bool uniform = random_.chance(30);
  Expression condition = expressions_.condition(2, uniform);
  Statement made = text_of({"if (", std::move(condition), ") "});
  made.parts.emplace_back(nested(1 + random_.below(3), uniform, false));
  if (random_.chance(35)) {
    made.parts.emplace_back(" else if (");
    const bool second = random_.chance(30);
    made.parts.emplace_back(expressions_.condition(2, second));
    made.parts.emplace_back(") ");
    made.parts.emplace_back(nested(1 + random_.below(2), uniform && second, false));
  }
  if (random_.chance(50)) {
    made.parts.emplace_back(" else ");
    made.parts.emplace_back(nested(1 + random_.below(3), false, false));
  }
  return made;
}

Statement StatementGenerator::for_loop() {
  const bool uniform = random_.chance(40);
  const std::int64_t limit = random_.between(2, scope_.depth > 1 ? 4 : 8);
  const std::string counter = scope_.name("i");
  const bool constant = random_.chance(30);
  Expression bound = constant ? form({Scalar::Int, 1}, std::to_string(limit), {})
                              : expressions_.small(limit, uniform);
  bound.is_ranged = true;
  bound.range = {0, limit};
  const bool backward = random_.chance(25);
  const std::string step = !backward && random_.chance(25) ? " += 2" : "";
  const std::string type = random_.pick({"int", "uint", "short", "long"});

  Statement made;
  if (backward) {
    made = text_of({"for (int " + counter + " = int(", std::move(bound),
                    "); " + counter + " > 0; --" + counter + ") "});
  } else {
    made = text_of({"for (" + type + " " + counter + " = 0; " + counter + " < " + type + "(",
                    std::move(bound),
                    "); " + (step.empty() ? "++" + counter : counter + step) + ") "});
  }
  const Scope::Mark mark = scope_.mark();
  // Jumps under divergent conditions make the rounds of a loop differ.
  const bool together = (constant || uniform) && !(scope_.features.jumps && random_.chance(50));
  const Type counter_type = backward || type == "int" ? Type{Scalar::Int, 1}
                            : type == "uint"          ? kUInt
                            : type == "short"         ? Type{Scalar::Short, 1}
                                                      : Type{Scalar::Long, 1};
  scope_.variables.push_back(
      {counter, counter_type, false, together && scope_.is_uniform_flow, true, {0, limit}});
  made.parts.emplace_back(nested(1 + random_.below(3), together, true));
  scope_.rewind(mark);
  return made;
}

Statement StatementGenerator::while_loop() {
  const std::int64_t limit = random_.between(2, scope_.depth > 1 ? 4 : 9);
  const std::string counter = scope_.name("w");
  const bool uniform = random_.chance(25) && scope_.is_uniform_flow;
  const bool together = uniform && !(scope_.features.jumps && random_.chance(50));
  const Scope::Mark mark = scope_.mark();
  scope_.variables.push_back({counter, kUInt, false, together, true, {0, limit}});
  Expression condition = expressions_.condition(2, uniform);
  const bool at_end = random_.chance(40);
  Block body = nested(1 + random_.below(3), together, true);
  scope_.rewind(mark);
  const std::string round = "++" + counter + " < " + std::to_string(limit) + "u && ";
  if (at_end) {
    return text_of({"uint " + counter + " = 0u; do ", std::move(body), " while (" + round,
                    std::move(condition), ");"});
  }
  return text_of(
      {"uint " + counter + " = 0u; while (" + round, std::move(condition), ") ", std::move(body)});
}

Statement StatementGenerator::selection() {
  const bool uniform = random_.chance(25);
  const std::int64_t highest = random_.between(1, 5);
  Statement made = text_of({"switch (", expressions_.small(highest, uniform), ") {\n"});
  const std::string indent(std::size_t{2} * (scope_.depth + 2), ' ');
  for (std::int64_t value = 0; value < highest; ++value) {
    if (random_.chance(20)) {
      continue;
    }
    made.parts.emplace_back(indent + "case " + std::to_string(value) + ": ");
    made.parts.emplace_back(nested(1 + random_.below(2), uniform, false));
    made.parts.emplace_back(random_.chance(80) ? " break;\n" : "\n");
  }
  made.parts.emplace_back(indent + "default: ");
  made.parts.emplace_back(nested(1 + random_.below(2), uniform, false));
  made.parts.emplace_back("\n" + std::string(std::size_t{2} * (scope_.depth + 1), ' ') + "}");
  return made;
}

Statement StatementGenerator::jump() {
  if (!scope_.in_loop) {
    return assignment();
  }
  // Where threads are together they have to stay together.
  const bool uniform = scope_.is_uniform_flow;
  if (!uniform && !scope_.features.jumps) {
    return assignment();
  }
  Expression condition = expressions_.condition(2, uniform);
  const std::string word = random_.pick({"break;", "continue;"});
  if (random_.chance(50)) {
    return text_of({"if (", std::move(condition), ") " + word});
  }
  const Scope::Mark mark = scope_.mark();
  Block body;
  body.push_back(assignment());
  scope_.rewind(mark);
  body.push_back(text_of({word}));
  return text_of({"if (", std::move(condition), ") ", std::move(body)});
}

Statement StatementGenerator::early_return() {
  if (!scope_.features.early_return || return_text_.empty()) {
    return assignment();
  }
  Expression condition = expressions_.condition(2);
  const std::size_t hole = return_text_.find('$');
  if (hole == std::string::npos) {
    return text_of({"if (", std::move(condition), ") { " + return_text_ + " }"});
  }
  return text_of({"if (", std::move(condition), ") { " + return_text_.substr(0, hole),
                  expressions_.value(return_type_, 2), return_text_.substr(hole + 1) + " }"});
}

Statement StatementGenerator::call() {
  if (scope_.functions.empty()) {
    return declaration();
  }
  const Scope::Callable function = random_.pick(scope_.functions);
  Statement made;
  std::vector<std::string> names;
  for (const auto& parameter : function.parameters) {
    names.emplace_back();
    if (parameter.kind == Scope::Callable::Parameter::Kind::Value) {
      continue;
    }
    names.back() = scope_.name("r");
    const bool is_array = parameter.kind == Scope::Callable::Parameter::Kind::Array;
    made.parts.emplace_back(parameter.type.name() + " " + names.back() +
                            (is_array ? "[4] = {" : " = "));
    for (unsigned i = 0; i < (is_array ? 4 : 1); ++i) {
      made.parts.emplace_back(i == 0 ? "" : ", ");
      made.parts.emplace_back(expressions_.value(parameter.type, 2));
    }
    made.parts.emplace_back(is_array ? "}; " : "; ");
  }
  const std::string result = scope_.name("v");
  made.parts.emplace_back(function.result.name() + " " + result + " = " + function.name + "(");
  for (std::size_t i = 0; i < names.size(); ++i) {
    made.parts.emplace_back(i == 0 ? "" : ", ");
    if (names[i].empty()) {
      made.parts.emplace_back(expressions_.value(function.parameters[i].type, 2));
    } else {
      made.parts.emplace_back(names[i]);
    }
  }
  made.parts.emplace_back(", lane);");
  declare(result, function.result, false);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& parameter = function.parameters[i];
    if (parameter.kind == Scope::Callable::Parameter::Kind::Reference) {
      declare(names[i], parameter.type, false);
    } else if (parameter.kind == Scope::Callable::Parameter::Kind::Array) {
      scope_.arrays.push_back({names[i] + "[", "]", parameter.type, 4, true, false});
    }
  }
  return made;
}

Statement StatementGenerator::fold() {
  const Type type = scope_.any_type(random_);
  return text_of({"acc = fold(acc, ", expressions_.value(type, 3), ");"});
}

Statement StatementGenerator::row_product() {
  const auto numbers = std::find_if(scope_.arrays.begin(), scope_.arrays.end(),
                                    [](const Array& array) { return array.before == "in_uint["; });
  if (numbers == scope_.arrays.end()) {
    return fold();
  }
  // Rows end within the second half.
  const std::size_t starts = numbers->length / 2;
  const std::string length = random_.pick(std::vector<std::string>{"8", "11", "16", "24"});
  return text_of({"acc = fold(acc, row_product<" + length + ">(in_uint + ",
                  expressions_.index(starts), ", in_uint + ", expressions_.index(starts), "));"});
}

}  // namespace pewter::fuzz
