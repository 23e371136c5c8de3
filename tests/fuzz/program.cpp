#include "tests/fuzz/program.h"

#include <algorithm>

namespace pewter::fuzz {

std::string Expression::print() const {
  std::string out = text.front();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    out += operands[i].print();
    out += text[i + 1];
  }
  return out;
}

void Statement::print(std::string& out, unsigned depth) const {
  out.append(std::size_t{2} * depth, ' ');
  for (const auto& part : parts) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      out += *text;
    } else if (const auto* expression = std::get_if<Expression>(&part)) {
      out += expression->print();
    } else {
      out += "{\n" + fuzz::print(std::get<Block>(part), depth + 1);
      out.append(std::size_t{2} * depth, ' ');
      out += "}";
    }
  }
  out += "\n";
}

std::string print(const Block& block, unsigned depth) {
  std::string out;
  for (const Statement& statement : block) {
    statement.print(out, depth);
  }
  return out;
}

std::string Program::source() const {
  std::string out = prologue;
  for (const Function& function : functions) {
    out += function.head + " {\n" + print(function.body, 1) + function.end + "}\n";
  }
  out += kernel.head + " {\n" + print(kernel.body, 1) + kernel.end + "}\n";
  return out;
}

std::size_t Program::line_count() const {
  const std::string text = source();
  const auto lines = [](const std::string& s) {
    return static_cast<std::size_t>(std::count(s.begin(), s.end(), '\n'));
  };
  return lines(text) - lines(prologue);
}

}  // namespace pewter::fuzz
