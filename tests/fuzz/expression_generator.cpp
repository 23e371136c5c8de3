#include "tests/fuzz/expression_generator.h"

#include <algorithm>
#include <optional>

#include "tests/fuzz/operations.h"

namespace pewter::fuzz {
namespace {

constexpr Type kInt = {Scalar::Int, 1};
constexpr Type kUInt = {Scalar::UInt, 1};
constexpr Type kBool = {Scalar::Bool, 1};

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

std::string number(const Type& type, std::int64_t value) {
  if (type == kUInt) {
    return std::to_string(value) + "u";
  }
  if (type == kInt) {
    return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
  }
  return type.name() + "(" + std::to_string(value) + ")";
}

Expression ranged(const Type& type,
                  const std::string& pattern,
                  std::vector<Expression> operands,
                  Range range) {
  Expression made = form(type, pattern, std::move(operands));
  made.is_ranged = true;
  made.range = range;
  return made;
}

bool is_power_of_two(std::size_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

bool is_within(const Range& range, std::int64_t low, std::int64_t high) {
  return range.low >= low && range.high <= high;
}

std::string swizzle(Random& random, unsigned from, unsigned count) {
  static const char* const alphabets[] = {"xyzw", "rgba"};
  const char* names = alphabets[random.below(2)];
  std::string letters = ".";
  for (unsigned i = 0; i < count; ++i) {
    letters += names[random.below(from)];
  }
  return letters;
}

}  // namespace

Expression form(const Type& type, const std::string& pattern, std::vector<Expression> operands) {
  Expression made;
  made.type = type;
  made.text.emplace_back();
  for (const char letter : pattern) {
    if (letter == '$') {
      made.text.emplace_back();
    } else {
      made.text.back() += letter;
    }
  }
  made.operands = std::move(operands);
  return made;
}

Expression literal_like(const Expression& expression) {
  const Type& type = expression.type;
  Expression made = form(
      type, expression.is_ranged ? number(type, expression.range.low) : type.name() + "(1)", {});
  made.is_ranged = expression.is_ranged;
  made.range = {expression.range.low, expression.range.low};
  return made;
}

Expression ExpressionGenerator::literal(const Type& type) {
  if (type.is_vector()) {
    return form(type, type.name() + "($)", {literal(type.component())});
  }
  if (type.is_bool()) {
    return form(type, random_.pick({"true", "false"}), {});
  }
  if (type.is_float()) {
    const char* text =
        random_.pick({"0.0f", "(-0.0f)", "1.0f", "(-1.0f)", "0.5f", "(-2.25f)", "3.0f", "1e-3f",
                      "100.0f", "(-65504.0f)", "1e-30f", "1e-40f", "3e38f"});
    return form(type, type.scalar == Scalar::Float ? text : type.name() + "(" + text + ")", {});
  }
  static const std::vector<std::int64_t> small_numbers = {0,  1,  2,  3,  5,   7,
                                                          10, 31, 32, 63, 100, 127};
  if (random_.chance(70)) {
    return form(type, number(type, random_.pick(small_numbers)), {});
  }
  if (type.bits() == 64) {
    return form(type, type.name() + "(" + std::to_string(random_.bits() >> 1) + "ul)", {});
  }
  return form(type, type.name() + "(" + std::to_string(random_.bits() & 0xffffffffU) + "u)", {});
}

Expression ExpressionGenerator::element(const Array& array, bool uniform) {
  Expression at = index(array.length, uniform);
  return form(array.element, array.before + "$" + array.after, {std::move(at)});
}

Expression ExpressionGenerator::leaf(const Type& type, bool uniform) {
  // Few variables are bool, and a constant condition decides nothing.
  if (type == kBool && random_.chance(85)) {
    if (random_.chance(50)) {
      const std::string bit = std::to_string(1U << random_.below(4)) + "u";
      return form(type, "(($ & " + bit + ") != 0u)", {leaf(kUInt, uniform)});
    }
    const Type compared = scope_.scalar_type(random_);
    const std::string comparison = random_.pick({"($ < $)", "($ >= $)", "($ != $)"});
    if (compared != kBool) {
      return form(type, comparison, {leaf(compared, uniform), leaf(compared, uniform)});
    }
  }
  std::vector<const Variable*> variables;
  for (const Variable& variable : scope_.variables) {
    if (variable.type == type && (!uniform || variable.is_uniform)) {
      variables.push_back(&variable);
    }
  }
  std::vector<const Array*> arrays;
  for (const Array& array : scope_.arrays) {
    if (array.element == type && (!uniform || array.is_uniform)) {
      arrays.push_back(&array);
    }
  }
  if (!arrays.empty() && random_.chance(variables.empty() ? 60 : 25)) {
    return element(*random_.pick(arrays), uniform);
  }
  if (!variables.empty() && random_.chance(85)) {
    // The ones declared last are the most interesting.
    const std::size_t back = std::min(random_.below(variables.size()), random_.below(12));
    const Variable& chosen = *variables[variables.size() - 1 - back];
    return form(type, chosen.name, {});
  }
  if (type.is_integer() && !type.is_vector() && random_.chance(50)) {
    return affine(type, uniform);
  }
  return literal(type);
}

Expression ExpressionGenerator::operand(char kind, const Type& type, unsigned depth, bool uniform) {
  switch (kind) {
    case 't':
      return value(type, depth, uniform);
    case 'c':
      return value(type.component(), depth, uniform);
    case 'b':
      return condition(depth, uniform);
    case 'm':
      return value({Scalar::Bool, type.count}, depth, uniform);
    case 'u':
      return value(kUInt, depth, uniform);
    case 'r':
      return small(255, uniform);
    case 'v':
      return value({type.scalar, static_cast<unsigned>(random_.between(2, 4))}, depth, uniform);
    case 'x': {
      const Type other = {scope_.scalar_type(random_).scalar, type.count};
      if (!other.is_float()) {
        return value(other, depth, uniform);
      }
      const Type safe = {Scalar::Float, type.count};
      return form(safe, "clamp($, " + safe.name() + "(0), " + safe.name() + "(100))",
                  {value(safe, depth, uniform)});
    }
    case 'i':
    case 'f': {
      std::vector<Type> types = {kind == 'i' ? kInt : Type{Scalar::Float, 1}};
      for (const Scalar scalar : scope_.scalars) {
        const Type candidate = {scalar, 1};
        if (kind == 'i' ? candidate.is_integer() : candidate.is_float()) {
          types.push_back(candidate);
        }
      }
      return value(random_.pick(types), depth, uniform);
    }
    default:
      return literal(type);
  }
}

Expression ExpressionGenerator::from_pattern(
    const Type& type, const std::string& pattern, const char* kinds, unsigned depth, bool uniform) {
  std::string text = pattern;
  replace_all(text, "@T", type.name());
  replace_all(text, "@C", type.component().name());
  replace_all(text, "@U", type.bits() == 64 ? "ulong" : "uint");
  replace_all(text, "@M", std::to_string(type.bits() - 1));

  // One type for all operands whose only bond is each other.
  std::optional<Type> shared;
  std::vector<Expression> operands;
  for (const char* kind = kinds; *kind != '\0'; ++kind) {
    if (*kind == 's' || *kind == 'w' || *kind == 'y') {
      if (!shared) {
        shared = scope_.scalar_type(random_);
        shared->count = *kind == 's'   ? 1
                        : *kind == 'y' ? type.count
                                       : static_cast<unsigned>(random_.between(2, 4));
      }
      operands.push_back(value(*shared, depth, uniform));
    } else {
      operands.push_back(operand(*kind, type, depth, uniform));
    }
  }
  if (text == "swizzle") {
    text = "$" + swizzle(random_, operands[0].type.count, type.count);
  }
  return form(type, text, std::move(operands));
}

Expression ExpressionGenerator::value(const Type& type, unsigned depth, bool uniform) {
  if (depth == 0 || random_.chance(15)) {
    return leaf(type, uniform);
  }
  // A component of a vector is as good as a scalar.
  if (!type.is_vector() && !type.is_bool() && scope_.features.vectors && random_.chance(10)) {
    const Type vector = {type.scalar, static_cast<unsigned>(random_.between(2, 4))};
    std::vector<Expression> operands;
    operands.push_back(value(vector, depth - 1, uniform));
    if (random_.chance(30)) {
      operands.push_back(index(vector.count, uniform));
      return form(type, "$[$]", std::move(operands));
    }
    return form(type, "$" + swizzle(random_, vector.count, 1), std::move(operands));
  }
  const std::span<const Operation> table = operations(type);
  const Operation& operation = table[random_.below(table.size())];
  if (std::string(operation.pattern) == "construct") {
    std::vector<Expression> components;
    std::string pattern = type.name() + "(";
    for (unsigned i = 0; i < type.count; ++i) {
      pattern += i == 0 ? "$" : ", $";
      components.push_back(value(type.component(), depth - 1, uniform));
    }
    return form(type, pattern + ")", std::move(components));
  }
  return from_pattern(type, operation.pattern, operation.kinds, depth - 1, uniform);
}

// An integer that is affine, or nearly so, in what the thread knows about itself.
Expression ExpressionGenerator::affine(const Type& type, bool uniform) {
  std::vector<const Variable*> sources;
  for (const Variable& variable : scope_.variables) {
    if (variable.is_ranged && (!uniform || variable.is_uniform) &&
        is_within(variable.range, 0, type.bits() < 32 ? 100 : 1 << 20)) {
      sources.push_back(&variable);
    }
  }
  if (sources.empty()) {
    const std::int64_t value = random_.between(0, 9);
    return ranged(type, number(type, value), {}, {value, value});
  }
  const Variable& source = *random_.pick(sources);
  Expression made = ranged(source.type, source.name, {}, source.range);
  if (source.type != type) {
    const Range range = made.range;
    made = ranged(type, type.name() + "($)", {std::move(made)}, range);
  }
  if (type.bits() < 32) {
    return made;
  }
  for (std::size_t steps = random_.below(4); steps > 0; --steps) {
    const std::int64_t amount = random_.between(1, 6);
    const std::string text = number(type, amount);
    const Range range = made.range;
    switch (random_.below(7)) {
      case 0:
        made = ranged(type, "($ * " + text + ")", {std::move(made)},
                      {range.low * amount, range.high * amount});
        break;
      case 1:
        made = ranged(type, "($ + " + text + ")", {std::move(made)},
                      {range.low + amount, range.high + amount});
        break;
      case 2:
        if (range.low >= amount || type.is_signed()) {
          made = ranged(type, "($ - " + text + ")", {std::move(made)},
                        {range.low - amount, range.high - amount});
        }
        break;
      case 3:
        made = ranged(type, "(" + number(type, range.high) + " - $)", {std::move(made)},
                      {0, range.high - range.low});
        break;
      case 4:
        if (range.low >= 0) {
          made = ranged(type, "($ / " + text + ")", {std::move(made)},
                        {range.low / amount, range.high / amount});
        }
        break;
      case 5:
        if (range.low >= 0) {
          made = ranged(type, "($ % " + text + ")", {std::move(made)}, {0, amount - 1});
        }
        break;
      default: {
        const Variable& other = *random_.pick(sources);
        Expression second = ranged(other.type, other.name, {}, other.range);
        made = ranged(type, "($ + " + type.name() + "($))", {std::move(made), std::move(second)},
                      {range.low + other.range.low, range.high + other.range.high});
        break;
      }
    }
  }
  return made;
}

Expression ExpressionGenerator::small(std::int64_t high, bool uniform) {
  const Type type = random_.chance(50) ? kInt : kUInt;
  ++index_depth_;
  Expression made =
      random_.chance(60) || index_depth_ > 2 ? affine(type, uniform) : value(type, 2, uniform);
  --index_depth_;
  if (made.is_ranged && is_within(made.range, 0, high)) {
    return made;
  }
  // `high` need not be all ones: the remainder keeps to it, the mask only when it is.
  const auto count = static_cast<std::size_t>(high) + 1;
  if (is_power_of_two(count)) {
    return ranged(type, "($ & " + number(type, high) + ")", {std::move(made)}, {0, high});
  }
  return ranged(kUInt, "(uint($) % " + number(kUInt, high + 1) + ")", {std::move(made)}, {0, high});
}

Expression ExpressionGenerator::index(std::size_t length, bool uniform) {
  return small(static_cast<std::int64_t>(length) - 1, uniform);
}

}  // namespace pewter::fuzz
