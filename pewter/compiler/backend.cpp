#include "pewter/compiler/backend.h"

#include <fmt/core.h>

#include <functional>
#include <utility>

#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include "pewter/compiler/codegen/kernel_compiler.h"
#include "pewter/compiler/compile_thread.h"
#include "pewter/compiler/msl/compiler_instance.h"
#include "pewter/compiler/msl/preprocess.h"
#include "pewter/compiler/msl/reflection.h"
#include "pewter/compiler/msl/translation_unit.h"

namespace pewter::compiler {
namespace {

CompileFailure single_failure(const std::string& text, const KernelInfo& kernel) {
  Diagnostic diagnostic;
  diagnostic.line = kernel.line;
  diagnostic.column = kernel.column;
  diagnostic.text = text;
  diagnostic.rendered = "error: " + text + "\n";
  return CompileFailure{{std::move(diagnostic)}};
}

// LLVM calls these and then ends the process.
void on_fatal_error(void*, const char* reason, bool) {
  abandon_work(fmt::format("internal compiler error: {}", reason).c_str());
}

/// Keeps what LLVM reports while it makes code, where LLVM would print it and, for errors, exit.
class CodeDiagnostics : public llvm::DiagnosticHandler {
 public:
  explicit CodeDiagnostics(std::string& problem) : problem_(problem) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    // A frame of more bytes than fit in four is only warned of, and wrong.
    const bool is_problem =
        info.getSeverity() == llvm::DS_Error || info.getKind() == llvm::DK_StackSize;
    if (is_problem && problem_.empty()) {
      llvm::raw_string_ostream stream(problem_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

 private:
  std::string& problem_;
};

/// Where a module is made and compiled, and what LLVM said of it that is an error.
struct CodeContext {
  CodeContext() { llvm.setDiagnosticHandler(std::make_unique<CodeDiagnostics>(problem)); }

  std::string problem;
  llvm::LLVMContext llvm;
};

/// Data of a program; its machine code holds all of it, zeros too.
constexpr std::uint64_t kMaxConstantBytes = std::uint64_t{64} << 20;

/// Fails for more constant data than machine code may hold.
Result<void> check_constant_data(const llvm::Module& module) {
  std::uint64_t bytes = 0;
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.hasInitializer() && !llvm::isa<llvm::UndefValue>(variable.getInitializer())) {
      const std::uint64_t size = module.getDataLayout().getTypeAllocSize(variable.getValueType());
      bytes = size > kMaxConstantBytes ? size : bytes + size;
      if (bytes > kMaxConstantBytes) {
        return failure(fmt::format("variables at file scope take {} bytes, the limit is {}", bytes,
                                   kMaxConstantBytes));
      }
    }
  }
  return {};
}

/// What Clang knows of a text. Dropped, never freed, when work on it was abandoned.
struct ParsedText {
  msl::Repairs repairs;
  std::unique_ptr<msl::TranslationUnit> unit;
  msl::Reflection reflection;
};

class ClangLibrary : public ParsedLibrary {
 public:
  ClangLibrary(std::string source, LibraryOptions options, std::string prelude_path)
      : source_(std::move(source)),
        options_(std::move(options)),
        prelude_path_(std::move(prelude_path)) {}

  Result<void, CompileFailure> parse() {
    Result<void, CompileFailure> parsed;
    if (auto run = guarded([&] { parsed = parse_text(); }); !run) {
      return std::move(run).error();
    }
    if (parsed) {
      info_ = text_->reflection.info;
    }
    return parsed;
  }

  const LibraryInfo& info() const override { return info_; }

  Result<FunctionBody, CompileFailure> body(
      const std::string& function,
      const std::map<std::uint32_t, ConstantBytes>& constants) override {
    return guarded_for<FunctionBody>(function, [&](std::size_t position) {
      return generate_body(position, function, constants);
    });
  }

  Result<KernelCode, CompileFailure> compile(const KernelRequest& request,
                                             const std::vector<FunctionBody>& linked,
                                             const std::string& cpu) override {
    return guarded_for<KernelCode>(request.kernel, [&](std::size_t position) {
      return generate_kernel(position, request, linked, cpu);
    });
  }

  Result<KernelExplanation, CompileFailure> explain(const KernelRequest& request,
                                                    const std::vector<FunctionBody>& linked,
                                                    const std::string& cpu) override {
    auto code = guarded_for<KernelCode>(request.kernel, [&](std::size_t position) {
      return compile_once(position, request, linked, cpu, true);
    });
    if (!code) {
      return std::move(code).error();
    }
    return std::move(code->explanation);
  }

 private:
  /// A library file may promise what its text does not hold.
  static CompileFailure not_there(const std::string& function) {
    return msl::plain_failure(fmt::format("the text has no function named '{}'", function));
  }

  std::size_t position_of(const KernelInfo& info) const {
    return static_cast<std::size_t>(&info - info_.kernels.data());
  }

  /// Runs work on `text_`, for one kernel of it if there is one. When it had to be abandoned, so is
  /// the text: the next request gets a fresh one.
  Result<void, CompileFailure> guarded(const std::function<void()>& work,
                                       const KernelInfo* kernel = nullptr) {
    const auto run = run_compiler(work);
    if (run) {
      return {};
    }
    // Most bugs of Clang's lie in wait behind an error of the text, which is what its author has
    // to know.
    CompileFailure failure;
    if (run.error().is_bug && text_->unit != nullptr) {
      failure.diagnostics = text_->unit->errors();
    }
    leave_for_good(std::move(text_));
    text_ = std::make_unique<ParsedText>();
    CompileFailure last = kernel != nullptr ? single_failure(run.error().message, *kernel)
                                            : msl::plain_failure(run.error().message);
    failure.diagnostics.push_back(std::move(last.diagnostics.front()));
    return failure;
  }

  /// What `make` gives for the kernel or visible function of that name, from its position.
  template <typename T, typename Make>
  Result<T, CompileFailure> guarded_for(const std::string& function, const Make& make) {
    const KernelInfo* info = info_.find(function);
    if (info == nullptr) {
      return not_there(function);
    }
    Result<T, CompileFailure> made = CompileFailure{};
    if (auto run = guarded([&] { made = make(position_of(*info)); }, info); !run) {
      return std::move(run).error();
    }
    return made;
  }

  Result<void, CompileFailure> parse_text() {
    if (auto parsed = msl::TranslationUnit::parse(source_, options_, prelude_path_, text_->repairs,
                                                  text_->unit);
        !parsed) {
      return parsed;
    }
    auto reflection = msl::reflect(*text_->unit);
    if (!reflection) {
      return std::move(reflection).error();
    }
    text_->reflection = std::move(*reflection);
    text_->reflection.info.warnings = text_->unit->take_warnings();
    text_->reflection.info.self_contained = text_->unit->self_contained();
    return {};
  }

  /// What was made, or why it could not be, at its kernel.
  template <typename T>
  Result<T, CompileFailure> located(Result<T> made,
                                    const CodeContext& context,
                                    std::size_t position) const {
    if (!made || !context.problem.empty()) {
      return single_failure(made ? context.problem : made.error().message, info_.kernels[position]);
    }
    return std::move(*made);
  }

  Result<FunctionBody, CompileFailure> generate_body(
      std::size_t position,
      const std::string& function,
      const std::map<std::uint32_t, ConstantBytes>& constants) {
    CodeContext context;
    FunctionBody body;
    auto module = generate(position, context.llvm, body.symbol, false);
    if (!module) {
      return std::move(module).error();
    }
    KernelRequest request;
    request.kernel = function;
    request.constants = constants;
    codegen::KernelPlan plan;
    fill_plan(position, request, target_cpu(), plan);
    plan.function = body.symbol;
    auto bitcode = located(codegen::write_function(**module, plan), context, position);
    if (!bitcode) {
      return std::move(bitcode).error();
    }
    body.bitcode = std::move(*bitcode);
    return body;
  }

  Result<KernelCode, CompileFailure> generate_kernel(std::size_t position,
                                                     const KernelRequest& request,
                                                     const std::vector<FunctionBody>& linked,
                                                     const std::string& cpu) {
    auto code = compile_once(position, request, linked, cpu, false);
    if (code && !code->explanation.fallback.empty()) {
      const auto located = compile_once(position, request, linked, cpu, true);
      if (!located) {
        code->explanation.fallback = located.error().diagnostics.front().text;
      }
    }
    return code;
  }

  // With positions only as far as threads can run together: nothing else needs them.
  Result<KernelCode, CompileFailure> compile_once(std::size_t position,
                                                  const KernelRequest& request,
                                                  const std::vector<FunctionBody>& linked,
                                                  const std::string& cpu,
                                                  bool with_positions) {
    CodeContext context;
    codegen::KernelPlan plan;
    auto module = generate(position, context.llvm, plan.function, with_positions);
    if (!module) {
      return std::move(module).error();
    }
    if (auto checked = check_constant_data(**module); !checked) {
      return single_failure(checked.error().message, info_.kernels[position]);
    }
    fill_plan(position, request, cpu, plan);
    plan.linked = linked;
    plan.programs_only = with_positions;
    return located(codegen::compile_kernel(**module, plan), context, position);
  }

  // An instantiation may need repairs that the first parse could not see: then the text is parsed
  // again with them.
  Result<std::unique_ptr<llvm::Module>, CompileFailure> generate(std::size_t position,
                                                                 llvm::LLVMContext& context,
                                                                 std::string& symbol,
                                                                 bool with_positions) {
    while (true) {
      if (text_->unit == nullptr) {
        if (auto parsed = parse_text(); !parsed) {
          return std::move(parsed).error();
        }
      }
      auto module = text_->unit->generate(text_->reflection.kernels[position].declaration, context,
                                          symbol, with_positions);
      if (module) {
        return module;
      }
      // Errors have marked the syntax tree; the next request gets a fresh one.
      const msl::Repairs found = text_->unit->repairs();
      text_->reflection.kernels.clear();
      text_->reflection.constants.clear();
      text_->unit.reset();
      if (!text_->repairs.merge(found)) {
        return module;
      }
    }
  }

  void fill_plan(std::size_t position,
                 const KernelRequest& request,
                 const std::string& cpu,
                 codegen::KernelPlan& plan) {
    plan.name = request.kernel;
    // "machine:processor", or a processor of this machine's kind.
    const std::size_t colon = cpu.find(':');
    plan.triple = colon != std::string::npos ? cpu.substr(0, colon) : "";
    plan.cpu = cpu.substr(colon != std::string::npos ? colon + 1 : 0);
    plan.math_mode = options_.math_mode;
    plan.math_functions = options_.math_functions;
    plan.enable_logging = options_.enable_logging;
    plan.mode = request.mode;
    plan.lanes = request.lanes;
    plan.shape = request.shape;
    plan.parts = request.parts;
    for (const msl::KernelParameter& parameter : text_->reflection.kernels[position].parameters) {
      plan.parameters.push_back(
          {parameter.parameter, parameter.enabled_by != nullptr
                                    ? text_->unit->symbol(parameter.enabled_by)
                                    : std::string()});
    }
    for (std::size_t index = 0; index < text_->reflection.constants.size(); ++index) {
      const FunctionConstant& constant = text_->reflection.info.constants[index];
      codegen::PlannedConstant planned;
      planned.name = constant.name;
      planned.symbol = text_->unit->symbol(text_->reflection.constants[index]);
      planned.index = constant.index;
      const auto value = request.constants.find(constant.index);
      if (value != request.constants.end()) {
        planned.value = value->second;
      }
      plan.constants.push_back(std::move(planned));
    }
  }

  const std::string source_;
  const LibraryOptions options_;
  const std::string prelude_path_;
  std::unique_ptr<ParsedText> text_ = std::make_unique<ParsedText>();
  LibraryInfo info_;  // written by parse() alone
};

class ClangBackend : public Backend {
 public:
  explicit ClangBackend(const char* prelude_path) : prelude_path_(prelude_path) {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_fatal_error);
  }

  Result<std::unique_ptr<ParsedLibrary>, CompileFailure> parse(
      const std::string& source, const LibraryOptions& options) override {
    auto library = std::make_unique<ClangLibrary>(source, options, prelude_path_);
    if (auto parsed = library->parse(); !parsed) {
      return std::move(parsed).error();
    }
    return std::unique_ptr<ParsedLibrary>(std::move(library));
  }

  Result<PreprocessedText, CompileFailure> preprocess(const std::string& source,
                                                      const LibraryOptions& options) override {
    Result<PreprocessedText, CompileFailure> text = CompileFailure{};
    const auto run = run_compiler([&] { text = msl::preprocess(source, options, prelude_path_); });
    if (!run) {
      return msl::plain_failure(run.error().message);
    }
    return text;
  }

 private:
  const std::string prelude_path_;
};

}  // namespace
}  // namespace pewter::compiler

extern "C" __attribute__((visibility("default"))) pewter::compiler::Backend*
pewter_compiler_backend(const char* prelude_path) {
  // Lives as long as the process: the library that holds its code is never closed, and destructors
  // of static objects may still ask it.
  static auto* const backend = new pewter::compiler::ClangBackend(prelude_path);
  return backend;
}
