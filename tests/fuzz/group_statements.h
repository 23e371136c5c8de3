#pragma once

#include "tests/fuzz/expression_generator.h"
#include "tests/fuzz/program.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/scope.h"

namespace pewter::fuzz {

/// Statements in which threads work together, without races and with one possible outcome.
class GroupStatements {
 public:
  GroupStatements(Random& random, Scope& scope, ExpressionGenerator& expressions)
      : random_(random), scope_(scope), expressions_(expressions) {}

  /// A function across the simdgroup or the quadgroup.
  Statement cross_lane();
  /// An exchange through threadgroup memory; in uniform control flow only.
  Statement exchange();
  /// An atomic whose outcome does not depend on the order of the threads.
  Statement atomic();
  /// A product of matrices; in uniform control flow of full simdgroups only.
  Statement matrix();
  /// A mathematical function, stored where a small error is allowed.
  Statement mathematics();

 private:
  Expression value(const Type& type) { return expressions_.value(type, 2); }
  Expression uint_value() { return value({Scalar::UInt, 1}); }
  Statement shuffle(const std::string& group, const Type& type);
  Statement vote(const std::string& group);
  Statement threadgroup_atomic();
  std::string declare(const Type& type, bool uniform = false);

  Random& random_;
  Scope& scope_;
  ExpressionGenerator& expressions_;
};

}  // namespace pewter::fuzz
