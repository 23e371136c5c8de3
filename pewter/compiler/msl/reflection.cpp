#include "pewter/compiler/msl/reflection.h"

#include <algorithm>
#include <set>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/msl/attributes.h"
#include "pewter/compiler/msl/constant_use.h"
#include "pewter/compiler/msl/type_reflection.h"

namespace pewter::compiler::msl {
namespace {

class Reflector {
 public:
  explicit Reflector(TranslationUnit& unit) : unit_(unit), context_(unit.context()) {}

  Result<Reflection, CompileFailure> run() {
    for (clang::Decl* declaration : unit_.declarations()) {
      visit(declaration);
    }
    for (const clang::VarDecl* variable : constants_) {
      add_constant(variable);
    }
    const clang::SourceManager& sources = context_.getSourceManager();
    std::sort(functions_.begin(), functions_.end(),
              [&](const clang::FunctionDecl* left, const clang::FunctionDecl* right) {
                return sources.isBeforeInTranslationUnit(place_of(left), place_of(right));
              });
    for (clang::FunctionDecl* function : functions_) {
      add_kernel(function);
    }
    if (!failure_.diagnostics.empty()) {
      return std::move(failure_);
    }
    return std::move(reflection_);
  }

 private:
  // Where the user wrote the kernel down: for a template, its instantiation.
  static clang::SourceLocation place_of(const clang::FunctionDecl* function) {
    const clang::SourceLocation instantiation = function->getPointOfInstantiation();
    return instantiation.isValid() ? instantiation : function->getLocation();
  }

  // Kernels may stand in namespaces.
  void visit(clang::Decl* declaration) {
    if (declaration->isFromASTFile()) {
      return;
    }
    if (auto* space = llvm::dyn_cast<clang::NamespaceDecl>(declaration)) {
      for (clang::Decl* member : space->decls()) {
        visit(member);
      }
    } else if (auto* linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(declaration)) {
      for (clang::Decl* member : linkage->decls()) {
        visit(member);
      }
    } else if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      if (is_for_host(function)) {
        functions_.push_back(function);
      }
    } else if (auto* function_template = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
      for (clang::FunctionDecl* specialization : function_template->specializations()) {
        if (is_for_host(specialization)) {
          functions_.push_back(specialization);
        }
      }
    } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      if (attribute(variable, "function_constant") != nullptr) {
        constants_.push_back(variable);
      }
    }
  }

  // Kernels and visible functions.
  bool is_for_host(const clang::FunctionDecl* function) {
    if (function->isDependentContext() ||
        (attribute(function, "kernel") == nullptr && attribute(function, "visible") == nullptr) ||
        !seen_.insert(function->getCanonicalDecl()).second) {
      return false;
    }
    switch (function->getTemplateSpecializationKind()) {
      case clang::TSK_Undeclared:
        // A visible function that is only declared is another library's.
        return function->isDefined();
      case clang::TSK_ExplicitSpecialization:
        return true;
      case clang::TSK_ExplicitInstantiationDeclaration:
      case clang::TSK_ExplicitInstantiationDefinition:
        // A template with several instantiations is reachable only by its host names.
        return attribute(function, "host_name") != nullptr;
      case clang::TSK_ImplicitInstantiation:
        return false;
    }
    return false;
  }

  void error(clang::SourceLocation place, const std::string& text) {
    context_.getDiagnostics().Report(
        place, context_.getDiagnostics().getCustomDiagID(clang::DiagnosticsEngine::Error, "%0"))
        << text;
    std::vector<Diagnostic> collected = unit_.take_diagnostics();
    failure_.diagnostics.insert(failure_.diagnostics.end(), collected.begin(), collected.end());
  }

  void add_constant(const clang::VarDecl* variable) {
    const clang::AnnotateAttr* mark = attribute(variable, "function_constant");
    FunctionConstant constant;
    constant.name = variable->getName().str();
    std::uint64_t index = 0;
    if (!integer_argument(context_, mark, 0, index) || index > 65535) {
      error(mark->getLocation(), "function_constant needs an index from 0 to 65535");
      return;
    }
    constant.index = static_cast<std::uint32_t>(index);
    constant.type = value_type(variable->getType().getUnqualifiedType());
    if (constant.type.scalar == ScalarType::Other) {
      error(variable->getLocation(),
            "function constant '" + constant.name + "' must be a scalar or vector");
      return;
    }
    for (std::size_t other = 0; other < reflection_.info.constants.size(); ++other) {
      if (reflection_.info.constants[other].index == constant.index) {
        error(mark->getLocation(), "function constant index " + std::to_string(index) +
                                       " is already taken by '" +
                                       reflection_.info.constants[other].name + "'");
        return;
      }
    }
    reflection_.info.constants.push_back(constant);
    reflection_.constants.push_back(variable);
  }

  void add_kernel(clang::FunctionDecl* function) {
    KernelInfo info;
    const clang::AnnotateAttr* host_name = attribute(function, "host_name");
    info.name = host_name != nullptr ? string_argument(host_name) : function->getNameAsString();
    if (info.name.empty()) {
      error(host_name->getLocation(), "host_name needs a string literal that is not empty");
      return;
    }
    const clang::PresumedLoc place = context_.getSourceManager().getPresumedLoc(
        context_.getSourceManager().getExpansionLoc(place_of(function)));
    if (place.isValid()) {
      info.line = place.getLine();
      info.column = place.getColumn();
    }
    if (reflection_.info.find(info.name) != nullptr) {
      error(function->getLocation(), "there is already a kernel named '" + info.name + "'");
      return;
    }
    if (attribute(function, "kernel") == nullptr) {
      add_visible(function, std::move(info));
      return;
    }
    if (!function->getReturnType()->isVoidType()) {
      error(function->getLocation(), "kernel '" + info.name + "' must return void");
    }
    if (const auto* most = attribute(function, "max_total_threads_per_threadgroup")) {
      std::uint64_t threads = 0;
      if (!integer_argument(context_, most, 0, threads) || threads == 0) {
        error(most->getLocation(),
              "max_total_threads_per_threadgroup needs a constant greater than 0");
      }
      info.max_total_threads = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(threads, abi::kMaxThreadsPerThreadgroup));
    }
    if (const auto* required = attribute(function, "required_threads_per_threadgroup")) {
      for (unsigned axis = 0; axis < 3; ++axis) {
        std::uint64_t threads = 1;
        integer_argument(context_, required, axis, threads);
        info.required_threads[axis] = static_cast<std::uint32_t>(threads);
      }
    }

    Kernel kernel;
    kernel.declaration = function;
    for (const clang::ParmVarDecl* declared : function->parameters()) {
      kernel.parameters.push_back(read_parameter(declared));
    }
    assign_missing_indices(kernel, ParameterKind::Buffer, abi::kMaxBuffers);
    assign_missing_indices(kernel, ParameterKind::Threadgroup, abi::kMaxThreadgroupArguments);
    assign_missing_indices(kernel, ParameterKind::Texture, abi::kMaxTextures);
    assign_missing_indices(kernel, ParameterKind::Sampler, abi::kMaxSamplers);
    check_indices(function, kernel);
    for (const KernelParameter& parameter : kernel.parameters) {
      info.parameters.push_back(parameter.parameter);
    }
    if (!constants_.empty()) {
      list_constants(kernel, info);
    }
    reflection_.info.kernels.push_back(std::move(info));
    reflection_.kernels.push_back(std::move(kernel));
  }

  // A function whose parameters concern nobody but its callers.
  void add_visible(clang::FunctionDecl* function, KernelInfo info) {
    Kernel visible;
    visible.declaration = function;
    info.kind = FunctionKind::Visible;
    for (const clang::ParmVarDecl* declared : function->parameters()) {
      for (const auto* mark : declared->specific_attrs<clang::AnnotateAttr>()) {
        if (const AttributeRule* rule = rule_of(mark)) {
          error(mark->getLocation(), "attribute '" + std::string(rule->name) +
                                         "' is for parameters of kernels, and '" + info.name +
                                         "' is a visible function");
        }
      }
    }
    if (!constants_.empty()) {
      list_constants(visible, info);
    }
    reflection_.info.kernels.push_back(std::move(info));
    reflection_.kernels.push_back(std::move(visible));
  }

  // Those that the body can reach, and those that switch parameters on.
  void list_constants(const Kernel& kernel, KernelInfo& info) {
    ConstantUse::Variables used = constant_use_.of(kernel.declaration);
    for (const KernelParameter& parameter : kernel.parameters) {
      if (parameter.enabled_by != nullptr) {
        used.insert(parameter.enabled_by->getCanonicalDecl());
      }
    }
    for (std::size_t index = 0; index < reflection_.constants.size(); ++index) {
      if (used.count(reflection_.constants[index]->getCanonicalDecl()) != 0) {
        info.constants.push_back(static_cast<std::uint32_t>(index));
      }
    }
  }

  static constexpr std::uint32_t kUnassigned = ~0U;

  // Function tables are bound among the buffers.
  static ParameterKind index_space(ParameterKind kind) {
    return kind == ParameterKind::FunctionTable ? ParameterKind::Buffer : kind;
  }

  KernelParameter read_parameter(const clang::ParmVarDecl* declared) {
    KernelParameter result;
    Parameter& parameter = result.parameter;
    parameter.name = declared->getName().str();
    for (const auto* mark : declared->specific_attrs<clang::AnnotateAttr>()) {
      const AttributeRule* rule = rule_of(mark);
      if (rule != nullptr && rule->builtin_width > 0) {
        read_builtin(declared, *rule, parameter);
        return result;
      }
    }
    read_argument(declared, parameter);
    if (const auto* mark = attribute(declared, "function_constant")) {
      parameter.enabled_by = string_argument(mark);
      result.enabled_by = find_variable(parameter.enabled_by);
      if (result.enabled_by == nullptr) {
        error(mark->getLocation(), "there is no constant named '" + parameter.enabled_by + "'");
      }
    }
    return result;
  }

  void read_builtin(const clang::ParmVarDecl* declared,
                    const AttributeRule& rule,
                    Parameter& parameter) {
    parameter.kind = ParameterKind::Builtin;
    parameter.builtin = std::string(rule.name);
    parameter.type_name = declared->getType().getUnqualifiedType().getAsString();
    parameter.type = value_type(declared->getType().getUnqualifiedType());
    const bool right_scalar =
        parameter.type.scalar == ScalarType::UInt || parameter.type.scalar == ScalarType::UShort;
    if (!right_scalar || parameter.type.columns != 1 || parameter.type.rows > rule.builtin_width) {
      error(declared->getLocation(),
            "'" + parameter.builtin + "' must be ushort or uint" +
                (rule.builtin_width == 3 ? ", or a vector of 2 or 3 of them" : ""));
    }
  }

  void read_argument(const clang::ParmVarDecl* declared, Parameter& parameter) {
    const clang::QualType type = declared->getType();
    parameter.is_reference = type->isReferenceType();
    const clang::QualType pointee = type->getPointeeType();
    parameter.index = kUnassigned;
    if (const auto resource = resource_type(context_, type)) {
      read_resource(declared, *resource, parameter);
      return;
    }
    if (pointee.isNull()) {
      error(declared->getLocation(),
            "kernel parameter '" + parameter.name +
                "' must be a pointer or reference to device, constant or threadgroup memory, or "
                "carry the attribute of a built-in input");
      return;
    }
    const clang::QualType plain = context_.removeAddrSpaceQualType(pointee).getUnqualifiedType();
    parameter.type_name = plain.getAsString();
    parameter.type = value_type(plain);
    if (!plain->isIncompleteType() && !plain->isDependentType()) {
      parameter.size = context_.getTypeSizeInChars(plain).getQuantity();
      parameter.alignment =
          static_cast<std::uint32_t>(context_.getTypeAlignInChars(plain).getQuantity());
    }
    const clang::LangAS space = pointee.getAddressSpace();
    if (space == clang::LangAS::sycl_local) {
      parameter.kind = ParameterKind::Threadgroup;
      parameter.access = Access::ReadWrite;
      read_index(declared, "threadgroup", abi::kMaxThreadgroupArguments, parameter);
      return;
    }
    if (space != clang::LangAS::sycl_global && space != clang::LangAS::sycl_private) {
      error(declared->getLocation(), "kernel parameter '" + parameter.name +
                                         "' needs an address space: device, constant or "
                                         "threadgroup");
      return;
    }
    parameter.kind = ParameterKind::Buffer;
    parameter.members = members_of(context_, plain);
    parameter.access = pointee.isConstQualified() ? Access::ReadOnly : Access::ReadWrite;
    read_index(declared, "buffer", abi::kMaxBuffers, parameter);
  }

  void read_resource(const clang::ParmVarDecl* declared,
                     const ResourceType& resource,
                     Parameter& parameter) {
    const bool is_texture = resource.kind == ParameterKind::Texture;
    const bool is_table = resource.kind == ParameterKind::FunctionTable;
    parameter.kind = resource.kind;
    parameter.type_name = declared->getType().getUnqualifiedType().getAsString();
    parameter.type = resource.element;
    parameter.access = resource.access;
    parameter.count = resource.count;
    parameter.texture_type = resource.texture_type;
    parameter.is_depth_texture = resource.is_depth;
    parameter.size = sizeof(void*) * resource.count;
    parameter.alignment = alignof(void*);
    const std::uint32_t limit = is_texture ? abi::kMaxTextures
                                : is_table ? abi::kMaxBuffers
                                           : abi::kMaxSamplers;
    if (resource.count > limit) {
      error(declared->getLocation(), "parameter '" + parameter.name + "' is an array of " +
                                         std::to_string(resource.count) + ", the limit is " +
                                         std::to_string(limit));
      return;
    }
    const char* name = is_texture ? "texture" : is_table ? "buffer" : "sampler";
    read_index(declared, name, limit + 1 - resource.count, parameter);
  }

  void read_index(const clang::ParmVarDecl* declared,
                  const char* name,
                  std::uint32_t limit,
                  Parameter& parameter) {
    for (const char* other : {"buffer", "threadgroup", "texture", "sampler"}) {
      const auto* wrong = attribute(declared, other);
      if (wrong != nullptr && llvm::StringRef(other) != name) {
        const bool is_memory =
            parameter.kind == ParameterKind::Buffer || parameter.kind == ParameterKind::Threadgroup;
        error(wrong->getLocation(), "attribute '" + std::string(other) + "' does not fit the " +
                                        (is_memory ? "address space" : "type") + " of parameter '" +
                                        parameter.name + "'");
        return;
      }
    }
    const auto* mark = attribute(declared, name);
    if (mark == nullptr) {
      return;
    }
    std::uint64_t index = 0;
    if (!integer_argument(context_, mark, 0, index) || index >= limit) {
      error(mark->getLocation(), "index of '" + std::string(name) +
                                     "' must be a constant from 0 to " + std::to_string(limit - 1));
      return;
    }
    parameter.index = static_cast<std::uint32_t>(index);
  }

  // MSL: parameters without an index take the lowest free one, in order.
  void assign_missing_indices(Kernel& kernel, ParameterKind kind, std::uint32_t limit) {
    std::set<std::uint32_t> taken;
    for (const KernelParameter& entry : kernel.parameters) {
      if (index_space(entry.parameter.kind) != kind || entry.parameter.index == kUnassigned) {
        continue;
      }
      for (std::uint32_t element = 0; element < entry.parameter.count; ++element) {
        taken.insert(entry.parameter.index + element);
      }
    }
    std::uint32_t next = 0;
    for (KernelParameter& entry : kernel.parameters) {
      if (index_space(entry.parameter.kind) != kind || entry.parameter.index != kUnassigned) {
        continue;
      }
      while (taken.count(next) != 0) {
        ++next;
      }
      if (next + entry.parameter.count > limit) {
        error(kernel.declaration->getLocation(),
              "kernel has more than " + std::to_string(limit) + " parameters of one kind");
        return;
      }
      entry.parameter.index = next;
      next += entry.parameter.count;
    }
  }

  // Two parameters may share an index only when function constants choose between them.
  void check_indices(const clang::FunctionDecl* function, const Kernel& kernel) {
    for (std::size_t left = 0; left < kernel.parameters.size(); ++left) {
      for (std::size_t right = left + 1; right < kernel.parameters.size(); ++right) {
        const Parameter& a = kernel.parameters[left].parameter;
        const Parameter& b = kernel.parameters[right].parameter;
        if (index_space(a.kind) == index_space(b.kind) && a.kind != ParameterKind::Builtin &&
            a.index < b.index + b.count && b.index < a.index + a.count && a.enabled_by.empty() &&
            b.enabled_by.empty()) {
          error(function->getParamDecl(static_cast<unsigned>(right))->getLocation(),
                "parameters '" + a.name + "' and '" + b.name + "' both use index " +
                    std::to_string(std::max(a.index, b.index)));
        }
      }
    }
  }

  const clang::VarDecl* find_variable(const std::string& name) {
    for (clang::Decl* declaration : unit_.declarations()) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
      if (variable != nullptr && variable->getName() == name) {
        return variable;
      }
    }
    return nullptr;
  }

  TranslationUnit& unit_;
  clang::ASTContext& context_;
  std::set<const clang::Decl*> seen_;
  std::vector<clang::FunctionDecl*> functions_;
  std::vector<const clang::VarDecl*> constants_;
  ConstantUse constant_use_;
  Reflection reflection_;
  CompileFailure failure_;
};

}  // namespace

Result<Reflection, CompileFailure> reflect(TranslationUnit& unit) {
  return Reflector(unit).run();
}

}  // namespace pewter::compiler::msl
