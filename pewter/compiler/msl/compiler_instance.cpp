#include "pewter/compiler/msl/compiler_instance.h"

#include <algorithm>
#include <utility>

#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/MemoryBuffer.h"

#include "pewter/compiler/msl/diagnostics.h"
#include "pewter/compiler/msl/invocation.h"
#include "pewter/compiler/msl/prelude.h"

namespace pewter::compiler::msl {

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

std::unique_ptr<clang::CompilerInstance> make_text_instance(const std::string& text,
                                                            const LibraryOptions& options,
                                                            const std::string& prelude_path,
                                                            clang::DiagnosticConsumer* consumer) {
  std::vector<std::string> arguments = common_arguments();
  for (const char* argument : {"-x", "c++", "-include-pch", prelude_path.c_str()}) {
    arguments.emplace_back(argument);
  }
  for (std::string& argument : text_arguments(options)) {
    arguments.push_back(std::move(argument));
  }
  arguments.emplace_back(kSourcePath);
  auto instance = make_instance(arguments, consumer);
  if (instance == nullptr) {
    return nullptr;
  }
  // The prelude's files are virtual and never change under it.
  instance->getPreprocessorOpts().DisablePCHOrModuleValidation =
      clang::DisableValidationForModuleKind::All;

  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(file_system_with_stdlib());
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  memory->addFile(kSourcePath, 0, llvm::MemoryBuffer::getMemBufferCopy(text, kSourcePath));
  files->pushOverlay(memory);
  instance->createFileManager(files);
  instance->createSourceManager(instance->getFileManager());
  return instance->createTarget() ? std::move(instance) : nullptr;
}

std::vector<std::string> files_read(clang::CompilerInstance& instance) {
  const clang::SourceManager& sources = instance.getSourceManager();
  std::vector<std::string> names;
  for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
    const llvm::StringRef name = file->first.getName();
    if (name != kSourcePath && !name.starts_with(kStdlibFolder)) {
      names.push_back(name.str());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace pewter::compiler::msl
