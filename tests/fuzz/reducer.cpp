#include "tests/fuzz/reducer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/fuzz/expression_generator.h"

namespace pewter::fuzz {
namespace {

void collect_blocks(Block& block, std::vector<Block*>& found) {
  found.push_back(&block);
  for (Statement& statement : block) {
    for (auto& part : statement.parts) {
      if (auto* inner = std::get_if<Block>(&part)) {
        collect_blocks(*inner, found);
      }
    }
  }
}

// In the same order for equal programs, so that an index names the same block in a copy.
std::vector<Block*> blocks_of(Program& program) {
  std::vector<Block*> found;
  collect_blocks(program.kernel.body, found);
  for (Function& function : program.functions) {
    collect_blocks(function.body, found);
  }
  return found;
}

void collect_expressions(Expression& expression, std::vector<Expression*>& found) {
  found.push_back(&expression);
  for (Expression& operand : expression.operands) {
    collect_expressions(operand, found);
  }
}

std::vector<Expression*> expressions_of(Program& program) {
  std::vector<Expression*> found;
  for (Block* block : blocks_of(program)) {
    for (Statement& statement : *block) {
      for (auto& part : statement.parts) {
        if (auto* expression = std::get_if<Expression>(&part)) {
          collect_expressions(*expression, found);
        }
      }
    }
  }
  return found;
}

class Reduction {
 public:
  Reduction(Program program, const Interesting& is_interesting)
      : program_(std::move(program)), is_interesting_(is_interesting) {}

  Program run() {
    for (bool changed = true; changed;) {
      changed = shrink_grid();
      changed = drop_functions() || changed;
      changed = drop_statements() || changed;
      changed = open_statements() || changed;
      changed = simplify_expressions() || changed;
    }
    return std::move(program_);
  }

 private:
  bool accept(Program candidate) {
    if (!is_interesting_(candidate)) {
      return false;
    }
    program_ = std::move(candidate);
    return true;
  }

  bool shrink_grid() {
    bool changed = false;
    const auto attempt = [&](Extent grid) {
      Program candidate = program_;
      candidate.grid = grid;
      const bool same =
          grid.x == program_.grid.x && grid.y == program_.grid.y && grid.z == program_.grid.z;
      changed = (!same && accept(std::move(candidate))) || changed;
    };
    const Extent& group = program_.group;
    attempt({std::min(program_.grid.x, group.x), std::min(program_.grid.y, group.y),
             std::min(program_.grid.z, group.z)});
    attempt({program_.grid.x, program_.grid.y, 1});
    attempt({program_.grid.x, 1, 1});
    return changed;
  }

  bool drop_functions() {
    bool changed = false;
    for (std::size_t i = program_.functions.size(); i-- > 0;) {
      Program candidate = program_;
      candidate.functions.erase(candidate.functions.begin() + static_cast<std::ptrdiff_t>(i));
      changed = accept(std::move(candidate)) || changed;
    }
    return changed;
  }

  bool drop_statements() {
    bool changed = false;
    for (std::size_t at = 0; at < blocks_of(program_).size(); ++at) {
      std::size_t size = blocks_of(program_)[at]->size();
      for (std::size_t chunk = std::max<std::size_t>(size / 2, 1); chunk > 0 && size > 0;
           chunk /= 2) {
        // From the end: what stands last depends on what stands first.
        for (std::size_t end = size; end >= chunk; end -= std::min(end, chunk)) {
          Program candidate = program_;
          Block& block = *blocks_of(candidate)[at];
          const auto begin = block.begin() + static_cast<std::ptrdiff_t>(end - chunk);
          block.erase(begin, begin + static_cast<std::ptrdiff_t>(chunk));
          changed = accept(std::move(candidate)) || changed;
          if (end == chunk) {
            break;
          }
        }
        size = blocks_of(program_)[at]->size();
      }
    }
    return changed;
  }

  // Replaces a statement by what stands inside.
  bool open_statements() {
    bool changed = false;
    for (std::size_t at = 0; at < blocks_of(program_).size(); ++at) {
      for (std::size_t i = 0; i < blocks_of(program_)[at]->size(); ++i) {
        const Statement statement = (*blocks_of(program_)[at])[i];
        for (const auto& part : statement.parts) {
          const auto* inner = std::get_if<Block>(&part);
          if (inner == nullptr) {
            continue;
          }
          Program candidate = program_;
          Block& block = *blocks_of(candidate)[at];
          const auto place = block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
          block.insert(place, inner->begin(), inner->end());
          if (accept(std::move(candidate))) {
            changed = true;
            break;
          }
        }
      }
    }
    return changed;
  }

  bool replace_expression(std::size_t at, Expression by) {
    Program candidate = program_;
    *expressions_of(candidate)[at] = std::move(by);
    return accept(std::move(candidate));
  }

  bool simplify_expressions() {
    bool changed = false;
    for (std::size_t at = 0; at < expressions_of(program_).size(); ++at) {
      const Expression expression = *expressions_of(program_)[at];
      if (expression.is_fixed) {
        continue;
      }
      const Expression simplest = literal_like(expression);
      if (simplest.print() == expression.print()) {
        continue;
      }
      if (replace_expression(at, simplest)) {
        changed = true;
        continue;
      }
      for (const Expression& operand : expression.operands) {
        const bool fits = !expression.is_ranged ||
                          (operand.is_ranged && operand.range.low >= expression.range.low &&
                           operand.range.high <= expression.range.high);
        if (operand.type == expression.type && fits && replace_expression(at, operand)) {
          changed = true;
          --at;
          break;
        }
      }
    }
    return changed;
  }

  Program program_;
  const Interesting& is_interesting_;
};

}  // namespace

Program reduce(Program program, const Interesting& is_interesting) {
  return Reduction(std::move(program), is_interesting).run();
}

}  // namespace pewter::fuzz
