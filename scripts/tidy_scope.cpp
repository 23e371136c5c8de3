// A plug-in of clang-tidy that keeps the checks out of the headers of the system, where they spend nine tenths of
// their time and report nothing. Loaded by check_tidy.py, which builds it.
#include <clang-tidy/ClangTidyCheck.h>
#include <clang-tidy/ClangTidyModule.h>
#include <clang-tidy/ClangTidyModuleRegistry.h>
#include <clang/AST/ASTContext.h>
#include <clang/ASTMatchers/ASTMatchFinder.h>

namespace {

/// Matches the whole unit, which comes before anything in it, and leaves of it what others wrote.
class Scope : public clang::tidy::ClangTidyCheck {
 public:
  using ClangTidyCheck::ClangTidyCheck;

  void registerMatchers(clang::ast_matchers::MatchFinder* finder) override {
    finder->addMatcher(clang::ast_matchers::translationUnitDecl().bind("unit"), this);
  }

  void check(const clang::ast_matchers::MatchFinder::MatchResult& result) override {
    std::vector<clang::Decl*> ours;
    for (clang::Decl* declaration : result.Context->getTranslationUnitDecl()->decls()) {
      const clang::SourceLocation place = declaration->getLocation();
      if (place.isValid() && !result.SourceManager->isInSystemHeader(place)) {
        ours.push_back(declaration);
      }
    }
    result.Context->setTraversalScope(ours);
  }
};

class Module : public clang::tidy::ClangTidyModule {
 public:
  void addCheckFactories(clang::tidy::ClangTidyCheckFactories& factories) override {
    factories.registerCheck<Scope>("pewter-scope");
  }
};

const clang::tidy::ClangTidyModuleRegistry::Add<Module> registration("pewter", "Skips headers of the system.");

}  // namespace
