#include "pewter/compiler/msl/constant_use.h"

#include <vector>

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"

#include "pewter/compiler/msl/attributes.h"

namespace pewter::compiler::msl {
namespace {

/// The function whose body is written in the source: for an instantiation, its template's.
const clang::FunctionDecl* written_body(const clang::FunctionDecl* function) {
  if (const clang::FunctionDecl* pattern = function->getTemplateInstantiationPattern()) {
    function = pattern;
  }
  const clang::FunctionDecl* definition = nullptr;
  return function->isDefined(definition) ? definition : nullptr;
}

/// Functions among the arguments of a template, which its body calls by the names of parameters.
void add_functions(llvm::ArrayRef<clang::TemplateArgument> arguments,
                   std::vector<const clang::FunctionDecl*>& functions) {
  for (const clang::TemplateArgument& argument : arguments) {
    if (argument.getKind() == clang::TemplateArgument::Pack) {
      add_functions(argument.pack_elements(), functions);
    } else if (argument.getKind() == clang::TemplateArgument::Declaration) {
      if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(argument.getAsDecl())) {
        functions.push_back(function);
      }
    }
  }
}

std::vector<const clang::FunctionDecl*> function_arguments(const clang::FunctionDecl* function) {
  std::vector<const clang::FunctionDecl*> functions;
  if (const auto* arguments = function->getTemplateSpecializationArgs()) {
    add_functions(arguments->asArray(), functions);
  }
  return functions;
}

/// Walks everything that a function reaches, once.
class Walker : public clang::RecursiveASTVisitor<Walker> {
 public:
  explicit Walker(ConstantUse::Variables& found) : found_(found) {}

  void walk(const clang::FunctionDecl* function) {
    enqueue(function);
    while (!pending_.empty()) {
      clang::Stmt* body = pending_.back();
      pending_.pop_back();
      TraverseStmt(body);
    }
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    mention(reference->getDecl());
    return true;
  }

  bool VisitMemberExpr(clang::MemberExpr* member) {
    mention(member->getMemberDecl());
    return true;
  }

  bool VisitOverloadExpr(clang::OverloadExpr* overloads) {
    for (const clang::NamedDecl* candidate : overloads->decls()) {
      mention(candidate->getUnderlyingDecl());
    }
    return true;
  }

  bool VisitDependentScopeDeclRefExpr(clang::DependentScopeDeclRefExpr* reference) {
    const clang::NestedNameSpecifier* scope = reference->getQualifier();
    if (scope != nullptr && scope->getAsType() != nullptr) {
      mention_member(clang::QualType(scope->getAsType(), 0), reference->getDeclName());
    }
    return true;
  }

  bool VisitCXXDependentScopeMemberExpr(clang::CXXDependentScopeMemberExpr* member) {
    const clang::QualType base = member->getBaseType();
    mention_member(
        member->isArrow() && !base->getPointeeType().isNull() ? base->getPointeeType() : base,
        member->getMember());
    return true;
  }

  bool VisitCXXConstructExpr(clang::CXXConstructExpr* construction) {
    mention(construction->getConstructor());
    return true;
  }

 private:
  /// A member of a class template whose arguments are not known yet, in all forms of the template.
  void mention_member(clang::QualType type, clang::DeclarationName name) {
    const auto* specialised = type->getAs<clang::TemplateSpecializationType>();
    auto* declaration = specialised != nullptr
                            ? llvm::dyn_cast_or_null<clang::ClassTemplateDecl>(
                                  specialised->getTemplateName().getAsTemplateDecl())
                            : nullptr;
    if (declaration == nullptr) {
      return;
    }
    llvm::SmallVector<clang::ClassTemplatePartialSpecializationDecl*, 4> partial;
    declaration->getPartialSpecializations(partial);
    std::vector<const clang::CXXRecordDecl*> forms(partial.begin(), partial.end());
    forms.push_back(declaration->getTemplatedDecl());
    for (const clang::CXXRecordDecl* form : forms) {
      for (const clang::NamedDecl* member : form->lookup(name)) {
        mention(member->getUnderlyingDecl());
      }
    }
  }

  void mention(const clang::NamedDecl* declaration) {
    // The standard library uses no function constants.
    if (declaration->isFromASTFile()) {
      return;
    }
    if (const auto* function_template = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
      enqueue(function_template->getTemplatedDecl());
    } else if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      enqueue(function);
    } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      if (attribute(variable, "function_constant") != nullptr) {
        found_.insert(variable->getCanonicalDecl());
      } else if (variable->hasGlobalStorage() && variable->getAnyInitializer() != nullptr &&
                 seen_.insert(variable->getCanonicalDecl()).second) {
        pending_.push_back(const_cast<clang::Expr*>(variable->getAnyInitializer()));
      }
    }
  }

  void enqueue(const clang::FunctionDecl* function) {
    for (const clang::FunctionDecl* argument : function_arguments(function)) {
      enqueue(argument);
    }
    const clang::FunctionDecl* body = written_body(function);
    if (body != nullptr && seen_.insert(body->getCanonicalDecl()).second) {
      pending_.push_back(body->getBody());
    }
  }

  ConstantUse::Variables& found_;
  std::set<const clang::Decl*> seen_;
  std::vector<clang::Stmt*> pending_;
};

}  // namespace

const ConstantUse::Variables& ConstantUse::of(const clang::FunctionDecl* function) {
  // Instantiations share what their template reaches, unless functions are among the arguments.
  const clang::FunctionDecl* body =
      function_arguments(function).empty() ? written_body(function) : nullptr;
  const clang::Decl* key =
      body != nullptr ? body->getCanonicalDecl() : function->getCanonicalDecl();
  const auto [entry, fresh] = known_.try_emplace(key);
  if (fresh) {
    Walker(entry->second).walk(function);
  }
  return entry->second;
}

}  // namespace pewter::compiler::msl
