#include "pewter/compiler/backend.h"

#include <utility>

#include "llvm/IR/LLVMContext.h"

#include "pewter/compiler/codegen/fatal_error.h"
#include "pewter/compiler/codegen/kernel_compiler.h"
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

class ClangLibrary : public ParsedLibrary {
 public:
  ClangLibrary(std::string source, LibraryOptions options, std::string prelude_path)
      : source_(std::move(source)),
        options_(std::move(options)),
        prelude_path_(std::move(prelude_path)) {}

  Result<void, CompileFailure> parse() {
    auto unit = msl::TranslationUnit::parse(source_, options_, prelude_path_, repairs_);
    if (!unit) {
      return std::move(unit).error();
    }
    unit_ = std::move(*unit);
    auto reflection = msl::reflect(*unit_);
    if (!reflection) {
      return std::move(reflection).error();
    }
    reflection_ = std::move(*reflection);
    reflection_.info.warnings = unit_->take_warnings();
    reflection_.info.self_contained = unit_->self_contained();
    return {};
  }

  const LibraryInfo& info() const override { return reflection_.info; }

  Result<FunctionBody, CompileFailure> body(
      const std::string& function,
      const std::map<std::uint32_t, ConstantBytes>& constants) override {
    const KernelInfo* info = reflection_.info.find(function);
    const std::size_t position = static_cast<std::size_t>(info - reflection_.info.kernels.data());
    llvm::LLVMContext context;
    FunctionBody body;
    auto module = generate(position, context, body.symbol);
    if (!module) {
      return std::move(module).error();
    }
    KernelRequest request;
    request.kernel = function;
    request.constants = constants;
    codegen::KernelPlan plan;
    fill_plan(position, request, target_cpu(), plan);
    plan.function = body.symbol;
    Result<std::vector<std::byte>> bitcode = codegen::write_function(**module, plan);
    if (!bitcode) {
      return single_failure(bitcode.error().message, reflection_.info.kernels[position]);
    }
    body.bitcode = std::move(*bitcode);
    return body;
  }

  Result<KernelCode, CompileFailure> compile(const KernelRequest& request,
                                             const std::vector<FunctionBody>& linked,
                                             const std::string& cpu) override {
    const KernelInfo* info = reflection_.info.find(request.kernel);
    const std::size_t position = static_cast<std::size_t>(info - reflection_.info.kernels.data());
    auto context = std::make_unique<llvm::LLVMContext>();
    codegen::KernelPlan plan;
    auto module = generate(position, *context, plan.function);
    if (!module) {
      return std::move(module).error();
    }
    fill_plan(position, request, cpu, plan);
    plan.linked = linked;
    Result<KernelCode> code = to_code(std::move(*module), std::move(context), plan);
    if (!code) {
      return single_failure(code.error().message, reflection_.info.kernels[position]);
    }
    if (!code->explanation.fallback.empty()) {
      locate_fallback(position, plan, code->explanation.fallback);
    }
    return std::move(*code);
  }

 private:
  // The kernel once more, this time with positions, as far as its threads can run together.
  void locate_fallback(std::size_t position, codegen::KernelPlan plan, std::string& reason) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = generate(position, *context, plan.function, true);
    if (!module) {
      return;
    }
    plan.programs_only = true;
    const auto code = to_code(std::move(*module), std::move(context), plan);
    if (!code) {
      reason = code.error().message;
    }
  }

  static Result<KernelCode> to_code(std::unique_ptr<llvm::Module> module,
                                    std::unique_ptr<llvm::LLVMContext> context,
                                    const codegen::KernelPlan& plan) {
    Result<KernelCode> code = failure("");
    const auto survived =
        codegen::survive_fatal_errors([&] { code = codegen::compile_kernel(*module, plan); });
    if (!survived) {
      // Whatever LLVM was changing may be half changed: it is left alone for good.
      [[maybe_unused]] const auto* left_module = module.release();
      [[maybe_unused]] const auto* left_context = context.release();
      return survived.error();
    }
    module.reset();  // before its context
    return code;
  }

  // An instantiation may need repairs that the first parse could not see: then the text is parsed
  // again with them.
  Result<std::unique_ptr<llvm::Module>, CompileFailure> generate(std::size_t position,
                                                                 llvm::LLVMContext& context,
                                                                 std::string& symbol,
                                                                 bool with_positions = false) {
    while (true) {
      if (unit_ == nullptr) {
        if (auto parsed = parse(); !parsed) {
          return std::move(parsed).error();
        }
      }
      auto module = unit_->generate(reflection_.kernels[position].declaration, context, symbol,
                                    with_positions);
      if (module) {
        return module;
      }
      // Errors have marked the syntax tree; the next request gets a fresh one.
      const msl::Repairs found = unit_->repairs();
      reflection_.kernels.clear();
      reflection_.constants.clear();
      unit_.reset();
      if (!repairs_.merge(found)) {
        return module;
      }
    }
  }

  void fill_plan(std::size_t position,
                 const KernelRequest& request,
                 const std::string& cpu,
                 codegen::KernelPlan& plan) {
    plan.name = request.kernel;
    plan.cpu = cpu;
    plan.math_mode = options_.math_mode;
    plan.enable_logging = options_.enable_logging;
    plan.mode = request.mode;
    plan.lanes = request.lanes;
    plan.shape = request.shape;
    plan.needs_parts = request.needs_parts;
    for (const msl::KernelParameter& parameter : reflection_.kernels[position].parameters) {
      plan.parameters.push_back({parameter.parameter, parameter.enabled_by != nullptr
                                                          ? unit_->symbol(parameter.enabled_by)
                                                          : std::string()});
    }
    for (std::size_t index = 0; index < reflection_.constants.size(); ++index) {
      const FunctionConstant& constant = reflection_.info.constants[index];
      codegen::PlannedConstant planned;
      planned.name = constant.name;
      planned.symbol = unit_->symbol(reflection_.constants[index]);
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
  msl::Repairs repairs_;
  std::unique_ptr<msl::TranslationUnit> unit_;
  msl::Reflection reflection_;
};

class ClangBackend : public Backend {
 public:
  explicit ClangBackend(const char* prelude_path) : prelude_path_(prelude_path) {}

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
    return msl::preprocess(source, options, prelude_path_);
  }

 private:
  const std::string prelude_path_;
};

}  // namespace
}  // namespace pewter::compiler

extern "C" __attribute__((visibility("default"))) pewter::compiler::Backend*
pewter_compiler_backend(const char* prelude_path) {
  // Lives as long as the process: the library that holds its code is never closed.
  static pewter::compiler::ClangBackend backend(prelude_path);
  return &backend;
}
