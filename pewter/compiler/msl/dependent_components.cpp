#include "pewter/compiler/msl/dependent_components.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"

namespace pewter::compiler::msl {
namespace {

bool names_components(const clang::DeclarationName& name) {
  if (!name.isIdentifier() || name.getAsIdentifierInfo() == nullptr) {
    return false;
  }
  const llvm::StringRef text = name.getAsIdentifierInfo()->getName();
  return text.size() <= 4 && (text.find_first_not_of("xyzw") == llvm::StringRef::npos ||
                              text.find_first_not_of("rgba") == llvm::StringRef::npos);
}

/// What Clang would keep for `call` without overloads in sight; null when it is to stay.
clang::Expr* plain_operator(clang::CXXOperatorCallExpr* call, clang::ASTContext& context) {
  if (!call->isTypeDependent() || call->getNumArgs() == 0) {
    return nullptr;
  }
  const auto* changed =
      llvm::dyn_cast<clang::CXXDependentScopeMemberExpr>(call->getArg(0)->IgnoreParens());
  if (changed == nullptr || !names_components(changed->getMember())) {
    return nullptr;
  }
  const clang::OverloadedOperatorKind kind = call->getOperator();
  if (kind == clang::OO_PlusPlus || kind == clang::OO_MinusMinus) {
    // A second argument, which nobody wrote, marks the form that stands behind its operand.
    const bool is_postfix = call->getNumArgs() == 2;
    return clang::UnaryOperator::Create(
        context, call->getArg(0), clang::UnaryOperator::getOverloadedOpcode(kind, is_postfix),
        context.DependentTy, is_postfix ? clang::VK_PRValue : clang::VK_LValue, clang::OK_Ordinary,
        call->getOperatorLoc(), /*CanOverflow=*/false, call->getFPFeatures());
  }
  if (call->getNumArgs() != 2 || !call->isAssignmentOp() || kind == clang::OO_Equal) {
    return nullptr;
  }
  return clang::CompoundAssignOperator::Create(
      context, call->getArg(0), call->getArg(1), clang::BinaryOperator::getOverloadedOpcode(kind),
      context.DependentTy, clang::VK_LValue, clang::OK_Ordinary, call->getOperatorLoc(),
      call->getFPFeatures(), context.DependentTy, context.DependentTy);
}

class Rebuilder : public clang::RecursiveASTVisitor<Rebuilder> {
 public:
  explicit Rebuilder(clang::ASTContext& context) : context_(context) {}

  // NOLINTNEXTLINE(readability-identifier-naming): the name that the visitor calls.
  bool VisitStmt(clang::Stmt* parent) {
    for (clang::Stmt*& child : parent->children()) {
      if (auto* call = llvm::dyn_cast_if_present<clang::CXXOperatorCallExpr>(child)) {
        if (clang::Expr* plain = plain_operator(call, context_)) {
          child = plain;
        }
      }
    }
    return true;
  }

 private:
  clang::ASTContext& context_;
};

}  // namespace

void rebuild_component_operators(clang::Decl* declaration, clang::ASTContext& context) {
  Rebuilder(context).TraverseDecl(declaration);
}

}  // namespace pewter::compiler::msl
