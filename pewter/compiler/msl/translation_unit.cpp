#include "pewter/compiler/msl/translation_unit.h"

#include <fmt/core.h>

#include <utility>

#include "clang/AST/Mangle.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Parse/Parser.h"
#include "clang/Sema/EnterExpressionEvaluationContext.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"
#include "llvm/Support/MemoryBuffer.h"

#include "pewter/compiler/msl/attributes.h"
#include "pewter/compiler/msl/prelude.h"
#include "pewter/compiler/msl/recording_consumer.h"

namespace pewter::compiler::msl {
namespace {

constexpr const char* kSourcePath = "/pewter/source.metal";
constexpr std::uint32_t kNewestLanguageVersion = (3U << 16) | 2U;

// The one target that texts are parsed for; machine code is made for the machine's own level later.
std::vector<std::string> clang_arguments() {
  return {"-triple", "x86_64-unknown-linux-gnu", "-target-cpu", "x86-64-v3", "-aux-triple",
          "x86_64-unknown-linux-gnu", "-aux-target-cpu", "x86-64-v3", "-std=c++17",
          "-fsycl-is-device", "-sycl-std=2020", "-fdeclspec", "-fgnuc-version=4.2.1",
          "-nostdsysteminc", "-nobuiltininc", "-O2", "-disable-llvm-passes", "-fno-rtti",
          "-ffloat16-excess-precision=none", "-fbfloat16-excess-precision=none",
          "-ffp-contract=fast", "-cl-single-precision-constant", "-fno-threadsafe-statics",
          "-fno-builtin",
          // Whole vectors travel in registers; the code generator sets the convention back.
          "-fdefault-calling-conv=regcall", "-I", kStdlibFolder};
}

void define_keywords(clang::Preprocessor& preprocessor) {
  clang::IdentifierTable& table = preprocessor.getIdentifierTable();
  table.get("__global", clang::tok::kw___global);
  table.get("__local", clang::tok::kw___local);
  table.get("__private", clang::tok::kw___private);
}

std::unique_ptr<clang::CompilerInstance> make_instance(const std::vector<std::string>& arguments,
                                                       clang::DiagnosticConsumer* consumer) {
  auto instance = std::make_unique<clang::CompilerInstance>();
  instance->createDiagnostics(consumer, /*ShouldOwnClient=*/false);
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(argument.c_str());
  }
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers,
                                                 instance->getDiagnostics())) {
    return nullptr;
  }
  instance->setInvocation(std::move(invocation));
  instance->createDiagnostics(consumer, /*ShouldOwnClient=*/false);
  return instance;
}

// The user's text with what has to stand before and after it. `#line` keeps the user's positions.
std::string wrap_source(const std::string& source, const LibraryOptions& options) {
  const std::uint32_t version =
      options.language_version != 0 ? options.language_version : kNewestLanguageVersion;
  std::string text = fmt::format(
      "#line 1 \"compile options\"\n"
      "#pragma clang attribute push(__attribute__(({})), apply_to = any(variable, function))\n"
      "#undef __METAL_VERSION__\n#define __METAL_VERSION__ {}\n",
      kDeclarationAttribute, (version >> 16) * 100 + (version & 0xffff) * 10);
  if (options.math_mode == MathMode::Safe) {
    text += "#undef __METAL_FAST_MATH__\n";
  }
  for (const auto& [name, value] : options.macros) {
    text += fmt::format("#define {} {}\n", name, value);
  }
  text += fmt::format("#line 1 \"{}\"\n", options.source_name);
  text += source;
  text += "\n#pragma clang attribute pop\n";
  return text;
}

CompileFailure internal_failure(const std::string& text) {
  Diagnostic diagnostic;
  diagnostic.text = text;
  diagnostic.rendered = "error: " + text + "\n";
  return CompileFailure{{diagnostic}};
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

    std::vector<clang::Token> tokens;
    do {
      preprocessor.Lex(tokens.emplace_back());
    } while (tokens.back().isNot(clang::tok::eof));
    tokens_ = TokenRewriter(preprocessor, repairs_).rewrite(std::move(tokens));
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
  std::vector<std::string> arguments = clang_arguments();
  arguments.insert(arguments.end(), {"-x", "c++", "-include-pch", prelude_path, "-ferror-limit",
                                     "100", "-fshow-overloads=best", "-Wno-everything"});
  for (const std::string& path : options.include_paths) {
    arguments.insert(arguments.end(), {"-I", path});
  }
  arguments.emplace_back(kSourcePath);
  diagnostics_ = std::make_unique<DiagnosticCollector>(repairs);
  instance_ = make_instance(arguments, diagnostics_.get());
  if (instance_ == nullptr) {
    return false;
  }
  // The prelude's files are virtual and never change under it.
  instance_->getPreprocessorOpts().DisablePCHOrModuleValidation =
      clang::DisableValidationForModuleKind::All;

  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(file_system_with_stdlib());
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  memory->addFile(kSourcePath, 0,
                  llvm::MemoryBuffer::getMemBufferCopy(wrap_source(source, options), kSourcePath));
  files->pushOverlay(memory);
  instance_->createFileManager(files);
  instance_->createSourceManager(instance_->getFileManager());
  if (!instance_->createTarget()) {
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

Result<std::unique_ptr<TranslationUnit>, CompileFailure> TranslationUnit::parse(
    const std::string& source,
    const LibraryOptions& options,
    const std::string& prelude_path,
    Repairs& repairs) {
  // Each round cures what the last one found; a round that finds nothing to cure ends it.
  while (true) {
    std::unique_ptr<TranslationUnit> unit(new TranslationUnit);
    const bool good = unit->attempt(source, options, prelude_path, repairs);
    std::vector<Diagnostic> messages = unit->diagnostics_->take();
    if (good) {
      unit->warnings_ = std::move(messages);
      return unit;
    }
    if (!repairs.merge(unit->diagnostics_->repairs())) {
      return messages.empty() ? internal_failure("the text ends in the middle of something")
                              : CompileFailure{std::move(messages)};
    }
  }
}

const std::vector<clang::Decl*>& TranslationUnit::declarations() const {
  return action_->consumer().declarations();
}

Result<std::unique_ptr<llvm::Module>, CompileFailure> TranslationUnit::generate(
    clang::FunctionDecl* function, llvm::LLVMContext& llvm_context, std::string& function_name) {
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

  std::unique_ptr<clang::CodeGenerator> generator(clang::CreateLLVMCodeGen(
      instance_->getDiagnostics(), "kernel", &instance_->getVirtualFileSystem(),
      instance_->getHeaderSearchOpts(), instance_->getPreprocessorOpts(),
      instance_->getCodeGenOpts(), llvm_context));
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
  const clang::SourceManager& sources = instance_->getSourceManager();
  for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
    const llvm::StringRef name = file->first.getName();
    if (name != kSourcePath && !name.starts_with(kStdlibFolder)) {
      return false;
    }
  }
  return true;
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
  std::vector<std::string> arguments = clang_arguments();
  arguments.insert(arguments.end(),
                   {"-x", "c++-header", "-emit-pch", "-fno-pch-timestamp", "-Wno-everything", "-o",
                    output_path, std::string(kStdlibFolder) + "/pewter_prelude.h"});
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
