#include "pewter/compiler/msl/translation_unit.h"

#include <fmt/core.h>

#include <utility>

#include "clang/AST/Mangle.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Parse/Parser.h"
#include "clang/Sema/EnterExpressionEvaluationContext.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"

#include "pewter/compiler/msl/compiler_instance.h"
#include "pewter/compiler/msl/dependent_components.h"
#include "pewter/compiler/msl/invocation.h"
#include "pewter/compiler/msl/pragmas.h"
#include "pewter/compiler/msl/prelude.h"
#include "pewter/compiler/msl/recording_consumer.h"

namespace pewter::compiler::msl {

namespace {

/// Macros can make an endless text of a short one.
constexpr std::size_t kMaxTokens = std::size_t{2} << 20;
/// Digits of a number; converting them takes time that grows with the square.
constexpr unsigned kMaxNumberLength = 4096;

void report(clang::Preprocessor& preprocessor,
            const clang::Token& token,
            clang::DiagnosticsEngine::Level level,
            const std::string& text) {
  clang::DiagnosticsEngine& diagnostics = preprocessor.getDiagnostics();
  diagnostics.Report(token.getLocation(), diagnostics.getCustomDiagID(level, "%0")) << text;
}

/// Whether a token is fit for the parser; reports when it is not.
bool is_fit(clang::Preprocessor& preprocessor, const clang::Token& token) {
  std::string problem;
  if (token.is(clang::tok::numeric_constant) && token.getLength() > kMaxNumberLength) {
    problem = fmt::format("number of {} characters, the limit is {}", token.getLength(),
                          kMaxNumberLength);
  } else if (token.isOneOf(clang::tok::kw__BitInt, clang::tok::kw__ExtInt)) {
    problem = fmt::format("'{}' is no part of the language", preprocessor.getSpelling(token));
  }
  if (!problem.empty()) {
    report(preprocessor, token, clang::DiagnosticsEngine::Error, problem);
  }
  return problem.empty();
}

constexpr std::size_t kSpareEnds = 16;

/// All tokens of the text, the end-of-file token included. Reads no further than the limit.
std::vector<clang::Token> read_tokens(clang::Preprocessor& preprocessor) {
  std::vector<clang::Token> tokens;
  while (true) {
    clang::Token& token = tokens.emplace_back();
    preprocessor.Lex(token);
    if (token.is(clang::tok::eof)) {
      return tokens;
    }
    if (tokens.size() > kMaxTokens) {
      report(
          preprocessor, token, clang::DiagnosticsEngine::Fatal,
          fmt::format("the text has more than {} tokens once its macros are expanded", kMaxTokens));
      token.startToken();
      token.setKind(clang::tok::eof);
      return tokens;
    }
    if (!is_fit(preprocessor, token)) {
      tokens.pop_back();
    }
  }
}

/// Moves what stands behind the user's text to its end, where an error is that Clang sees only
/// then. Behind a text that breaks off it goes: Clang crashes on an attribute that a pragma
/// follows.
void hide_text_behind(std::vector<clang::Token>& tokens, const clang::SourceManager& sources) {
  const clang::SourceLocation end =
      sources.getLocForEndOfFile(sources.getMainFileID())
          .getLocWithOffset(-static_cast<std::int32_t>(text_behind().size()));
  tokens.back().setLocation(end);
  if (tokens.size() < 3) {
    return;
  }
  const auto pragma = tokens.end() - 2;
  if (pragma->isNot(clang::tok::annot_pragma_attribute) ||
      !sources.isBeforeInTranslationUnit(end, pragma->getLocation())) {
    return;
  }
  pragma->setAnnotationEndLoc(end);
  pragma->setLocation(end);
  std::size_t depth = 0;
  for (const clang::Token& token : tokens) {
    if (token.is(clang::tok::l_brace)) {
      ++depth;
    } else if (token.is(clang::tok::r_brace) && depth > 0) {
      --depth;
    }
  }
  if (depth > 0) {
    pragma->startToken();
    pragma->setKind(clang::tok::semi);
    pragma->setLocation(end);
    pragma->setLength(1);
  }
}

}  // namespace

/// Parses through the token rewriter and keeps the compiler's state.
class ParseAction : public clang::ASTFrontendAction {
 public:
  explicit ParseAction(const Repairs& repairs) : repairs_(repairs) {}

  RecordingConsumer& consumer() { return *consumer_; }

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef) override {
    define_keywords(instance.getPreprocessor());
    define_pragmas(instance.getPreprocessor());
    auto consumer = std::make_unique<RecordingConsumer>();
    consumer_ = consumer.get();
    return consumer;
  }

  void ExecuteAction() override {
    clang::CompilerInstance& instance = getCompilerInstance();
    if (!instance.hasSema()) {
      instance.createSema(clang::TU_Complete, nullptr);
    }
    clang::Sema& sema = instance.getSema();
    clang::Preprocessor& preprocessor = instance.getPreprocessor();
    parser_ = std::make_unique<clang::Parser>(preprocessor, sema, /*SkipFunctionBodies=*/false);
    preprocessor.EnterMainSourceFile();
    if (clang::ExternalASTSource* external = sema.getASTContext().getExternalSource()) {
      external->StartTranslationUnit(consumer_);
    }

    std::vector<clang::Token> tokens = read_tokens(preprocessor);
    hide_text_behind(tokens, preprocessor.getSourceManager());
    tokens_ = TokenRewriter(preprocessor, repairs_).rewrite(std::move(tokens));
    // Recovering from errors, Clang may read on behind the end, and crash where nothing is.
    const clang::Token end = tokens_.back();
    tokens_.insert(tokens_.end(), kSpareEnds, end);
    preprocessor.EnterTokenStream(tokens_, /*DisableMacroExpansion=*/true, /*IsReinject=*/false);

    parser_->Initialize();
    clang::Scope* file_scope = sema.TUScope;
    clang::Parser::DeclGroupPtrTy group;
    clang::Sema::ModuleImportState import_state;
    clang::EnterExpressionEvaluationContext evaluated(
        sema, clang::Sema::ExpressionEvaluationContext::PotentiallyEvaluated);
    for (bool at_end = parser_->ParseFirstTopLevelDecl(group, import_state); !at_end;
         at_end = parser_->ParseTopLevelDecl(group, import_state)) {
      if (group) {
        for (clang::Decl* declaration : group.get()) {
          rebuild_component_operators(declaration, sema.getASTContext());
        }
        consumer_->HandleTopLevelDecl(group.get());
      }
    }
    for (clang::Decl* weak : sema.WeakTopLevelDecls()) {
      consumer_->HandleTopLevelDecl(clang::DeclGroupRef(weak));
    }
    // The end of the file took the scope away; instantiating kernels later looks names up in it.
    sema.TUScope = file_scope;
  }

  void EndSourceFileAction() override { parser_.reset(); }

 private:
  const Repairs& repairs_;
  RecordingConsumer* consumer_ = nullptr;
  std::vector<clang::Token> tokens_;
  // Owns the scopes.
  std::unique_ptr<clang::Parser> parser_;
};

TranslationUnit::TranslationUnit() = default;

TranslationUnit::~TranslationUnit() {
  if (action_) {
    action_->EndSourceFile();
  }
}

bool TranslationUnit::attempt(const std::string& source,
                              const LibraryOptions& options,
                              const std::string& prelude_path,
                              const Repairs& repairs) {
  diagnostics_ = std::make_unique<DiagnosticCollector>(repairs);
  instance_ = make_text_instance(text_before(options) + source + text_behind(), options,
                                 prelude_path, diagnostics_.get());
  if (instance_ == nullptr) {
    return false;
  }
  action_ = std::make_unique<ParseAction>(repairs);
  if (!action_->BeginSourceFile(*instance_, instance_->getFrontendOpts().Inputs[0])) {
    action_.reset();
    return false;
  }
  if (llvm::Error error = action_->Execute()) {
    llvm::consumeError(std::move(error));
    return false;
  }
  return !instance_->getDiagnostics().hasErrorOccurred();
}

Result<void, CompileFailure> TranslationUnit::parse(const std::string& source,
                                                    const LibraryOptions& options,
                                                    const std::string& prelude_path,
                                                    Repairs& repairs,
                                                    std::unique_ptr<TranslationUnit>& unit) {
  // Each round cures what the last one found; a round that finds nothing to cure ends it.
  while (true) {
    unit.reset(new TranslationUnit);
    const bool good = unit->attempt(source, options, prelude_path, repairs);
    std::vector<Diagnostic> messages = unit->diagnostics_->take();
    if (good) {
      unit->warnings_ = std::move(messages);
      return {};
    }
    if (!repairs.merge(unit->diagnostics_->repairs())) {
      unit.reset();
      return messages.empty() ? plain_failure("the text ends in the middle of something")
                              : CompileFailure{std::move(messages)};
    }
  }
}

std::vector<Diagnostic> TranslationUnit::errors() const {
  return diagnostics_ != nullptr ? diagnostics_->errors() : std::vector<Diagnostic>();
}

const std::vector<clang::Decl*>& TranslationUnit::declarations() const {
  return action_->consumer().declarations();
}

Result<std::unique_ptr<llvm::Module>, CompileFailure> TranslationUnit::generate(
    clang::FunctionDecl* function,
    llvm::LLVMContext& llvm_context,
    std::string& function_name,
    bool with_positions) {
  clang::Sema& sema = instance_->getSema();
  if (function->isTemplateInstantiation() && !function->isDefined()) {
    // An implicit instantiation is emitted only where it is used, so it does not weigh on later
    // kernels.
    const clang::SourceLocation place = function->getPointOfInstantiation();
    function->setTemplateSpecializationKind(clang::TSK_ImplicitInstantiation, place);
    sema.InstantiateFunctionDefinition(place, function, /*Recursive=*/true,
                                       /*DefinitionRequired=*/true);
    sema.PerformPendingInstantiations();
  }
  const clang::FunctionDecl* definition = nullptr;
  if (instance_->getDiagnostics().hasErrorOccurred() || !function->isDefined(definition)) {
    return CompileFailure{diagnostics_->take()};
  }

  clang::CodeGenOptions options = instance_->getCodeGenOpts();
  if (with_positions) {
    options.setDebugInfo(llvm::codegenoptions::LocTrackingOnly);
  }
  std::unique_ptr<clang::CodeGenerator> generator(clang::CreateLLVMCodeGen(
      instance_->getDiagnostics(), "kernel", &instance_->getVirtualFileSystem(),
      instance_->getHeaderSearchOpts(), instance_->getPreprocessorOpts(), options, llvm_context));
  generator->Initialize(context());
  const auto* symbol = llvm::cast<llvm::GlobalValue>(
      generator->GetAddrOfGlobal(clang::GlobalDecl(definition), /*isForDefinition=*/false));
  function_name = symbol->getName().str();
  action_->consumer().replay(*generator, context());
  if (instance_->getDiagnostics().hasErrorOccurred()) {
    return CompileFailure{diagnostics_->take()};
  }
  return std::unique_ptr<llvm::Module>(generator->ReleaseModule());
}

bool TranslationUnit::self_contained() {
  return files_read(*instance_).empty();
}

std::string TranslationUnit::symbol(const clang::VarDecl* variable) {
  return clang::ASTNameGenerator(context()).getName(variable);
}

namespace {

using DeferredChecks = llvm::SmallSetVector<clang::Decl*, 4>;
DeferredChecks& deferred_checks(clang::Sema& sema);

// Clang has no way to reach the list; the arguments of an explicit instantiation are exempt from
// access control.
template <DeferredChecks clang::Sema::* Member>
struct DeferredChecksAccess {
  friend DeferredChecks& deferred_checks(clang::Sema& sema) { return sema.*Member; }
};
template struct DeferredChecksAccess<&clang::Sema::DeclsToCheckForDeferredDiags>;

/// Forgets which functions Clang means to check once more for device code.
///
/// The list would be stored, and every program that uses the prelude would read all those functions
/// at once.
class DeferredCheckRemover : public clang::SemaConsumer {
 public:
  void InitializeSema(clang::Sema& sema) override { sema_ = &sema; }
  void ForgetSema() override { sema_ = nullptr; }
  void HandleTranslationUnit(clang::ASTContext&) override { deferred_checks(*sema_).clear(); }

 private:
  clang::Sema* sema_ = nullptr;
};

class PreludeAction : public clang::GeneratePCHAction {
 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef file) override {
    define_keywords(instance.getPreprocessor());
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<DeferredCheckRemover>());
    consumers.push_back(GeneratePCHAction::CreateASTConsumer(instance, file));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }
};

}  // namespace

Result<void> write_prelude(const std::string& output_path) {
  std::vector<std::string> arguments = common_arguments();
  const std::string prelude = fmt::format("{}/pewter_prelude.h", kStdlibFolder);
  for (const char* argument : {"-x", "c++-header", "-emit-pch", "-fno-pch-timestamp",
                               "-Wno-everything", "-o", output_path.c_str(), prelude.c_str()}) {
    arguments.emplace_back(argument);
  }
  DiagnosticCollector diagnostics;
  const auto instance = make_instance(arguments, &diagnostics);
  if (instance != nullptr) {
    instance->createFileManager(file_system_with_stdlib());
    PreludeAction action;
    if (instance->ExecuteAction(action)) {
      return {};
    }
  }
  return failure(CompileFailure{diagnostics.take()}.text());
}

}  // namespace pewter::compiler::msl
