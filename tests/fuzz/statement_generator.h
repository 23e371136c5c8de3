#pragma once

#include <cstddef>
#include <string>

#include "tests/fuzz/expression_generator.h"
#include "tests/fuzz/group_statements.h"
#include "tests/fuzz/program.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/scope.h"

namespace pewter::fuzz {

/// A structure of the program, declared before its functions.
struct Structure {
  struct Member {
    std::string name;
    Type type;
    /// 0 when it is not an array.
    unsigned length = 0;
  };
  std::string name;
  std::vector<Member> members;
};

/// Makes statements that end, read nothing that has not been written, and write no memory that
/// another thread touches.
class StatementGenerator {
 public:
  StatementGenerator(Random& random, Scope& scope, const std::vector<Structure>& structures)
      : random_(random),
        scope_(scope),
        structures_(structures),
        expressions_(random, scope),
        groups_(random, scope, expressions_) {}

  /// What to do before a return in mid-function, for instance storing a result. A '$' takes a value
  /// of the function's type.
  void set_return(std::string text, const Type& type) {
    return_text_ = std::move(text);
    return_type_ = type;
  }

  /// About `count` statements with a scope of their own.
  Block block(std::size_t count);

  /// The same, leaving what they declare in scope.
  Block open_block(std::size_t count);

  ExpressionGenerator& expressions() { return expressions_; }

 private:
  Statement statement();
  Statement declaration();
  Statement assignment();
  Statement element_assignment();
  Statement array_declaration();
  Statement structure_declaration();
  Statement structure_array_declaration();
  Statement branch();
  Statement for_loop();
  Statement while_loop();
  Statement selection();
  Statement jump();
  Statement early_return();
  Statement call();
  Statement fold();
  Statement row_product();

  /// A block whose threads come together only when `uniform`.
  Block nested(std::size_t count, bool uniform, bool is_loop);
  void declare(const std::string& name, const Type& type, bool uniform, bool writable = true);

  Random& random_;
  Scope& scope_;
  const std::vector<Structure>& structures_;
  ExpressionGenerator expressions_;
  GroupStatements groups_;
  std::string return_text_;
  Type return_type_;
};

}  // namespace pewter::fuzz
