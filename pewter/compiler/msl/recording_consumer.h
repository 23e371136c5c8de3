#pragma once

#include <functional>
#include <vector>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclGroup.h"
#include "clang/CodeGen/ModuleBuilder.h"

namespace pewter::compiler::msl {

/// Remembers what the parser would have told a code generator, to tell it later, and more than
/// once.
///
/// A fresh generator for each kernel emits only what that kernel reaches, however large the
/// library.
class RecordingConsumer : public clang::ASTConsumer {
 public:
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) {
      declarations_.push_back(declaration);
    }
    record([group](clang::CodeGenerator& generator) { generator.HandleTopLevelDecl(group); });
    return true;
  }

  void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override {
    record([function](clang::CodeGenerator& generator) {
      generator.HandleInlineFunctionDefinition(function);
    });
  }

  void HandleTagDeclDefinition(clang::TagDecl* tag) override {
    record([tag](clang::CodeGenerator& generator) { generator.HandleTagDeclDefinition(tag); });
  }

  void HandleCXXStaticMemberVarInstantiation(clang::VarDecl* variable) override {
    record([variable](clang::CodeGenerator& generator) {
      generator.HandleCXXStaticMemberVarInstantiation(variable);
    });
  }

  void CompleteTentativeDefinition(clang::VarDecl* variable) override {
    record([variable](clang::CodeGenerator& generator) {
      generator.CompleteTentativeDefinition(variable);
    });
  }

  /// Tells `generator` everything, in order, including what its questions bring in meanwhile.
  void replay(clang::CodeGenerator& generator, clang::ASTContext& context) {
    for (std::size_t next = 0; next < events_.size(); ++next) {
      // A copy: an event may record more, and the vector may move.
      const auto event = events_[next];
      event(generator);
    }
    live_ = &generator;
    generator.HandleTranslationUnit(context);
    live_ = nullptr;
  }

  /// Declarations of the user's file and of what was read from the prelude, in order of appearance.
  const std::vector<clang::Decl*>& declarations() const { return declarations_; }

 private:
  using Event = std::function<void(clang::CodeGenerator&)>;

  void record(Event event) {
    if (live_ != nullptr) {
      event(*live_);
    }
    events_.push_back(std::move(event));
  }

  std::vector<clang::Decl*> declarations_;
  std::vector<Event> events_;
  clang::CodeGenerator* live_ = nullptr;
};

}  // namespace pewter::compiler::msl
