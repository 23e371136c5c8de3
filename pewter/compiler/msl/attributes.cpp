#include "pewter/compiler/msl/attributes.h"

#include <algorithm>
#include <array>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"

namespace pewter::compiler::msl {
namespace {

constexpr std::array kRules = {
#define PEWTER_ATTRIBUTE(name, subject, least, most) \
  AttributeRule{#name, Subject::subject, least, most, 0},
#define PEWTER_BUILTIN(name, width) AttributeRule{#name, Subject::Parameter, 0, 0, width},
#include "pewter/compiler/msl/attributes.def"
};

constexpr std::array<std::string_view, 10> kStandard = {
    "assume",       "carries_dependency", "deprecated", "fallthrough", "likely",
    "maybe_unused", "no_unique_address",  "nodiscard",  "noreturn",    "unlikely"};

constexpr std::array<std::string_view, 35> kUnsupported = {"amplification_count",
                                                           "amplification_id",
                                                           "attribute",
                                                           "barycentric_coord",
                                                           "base_instance",
                                                           "base_vertex",
                                                           "center_no_perspective",
                                                           "center_perspective",
                                                           "centroid_no_perspective",
                                                           "centroid_perspective",
                                                           "clip_distance",
                                                           "color",
                                                           "depth",
                                                           "early_fragment_tests",
                                                           "flat",
                                                           "fragment",
                                                           "front_facing",
                                                           "imageblock",
                                                           "instance_id",
                                                           "intersection",
                                                           "mesh",
                                                           "object",
                                                           "patch",
                                                           "payload",
                                                           "point_coord",
                                                           "point_size",
                                                           "position",
                                                           "primitive_id",
                                                           "raster_order_group",
                                                           "render_target_array_index",
                                                           "stage_in",
                                                           "stitchable",
                                                           "vertex",
                                                           "vertex_id",
                                                           "viewport_array_index"};

constexpr std::string_view kPrefix = "msl.";

bool appertains(Subject subject, const clang::Decl* declaration) {
  switch (subject) {
    case Subject::Function:
      return llvm::isa<clang::FunctionDecl>(declaration);
    case Subject::Parameter:
      return llvm::isa<clang::ParmVarDecl>(declaration);
    case Subject::Field:
      return llvm::isa<clang::FieldDecl>(declaration);
    case Subject::VariableOrParameter:
      return llvm::isa<clang::VarDecl>(declaration);
  }
  return false;
}

const char* subject_name(Subject subject) {
  switch (subject) {
    case Subject::Function:
      return "functions";
    case Subject::Parameter:
      return "kernel parameters";
    case Subject::Field:
      return "members of argument buffers";
    case Subject::VariableOrParameter:
      return "constants and kernel parameters";
  }
  return "";
}

/// Turns `pewter_msl("name", arguments...)` into an annotation that template instantiation carries
/// along.
class CarrierInfo : public clang::ParsedAttrInfo {
 public:
  CarrierInfo() {
    static constexpr Spelling kSpellings[] = {{clang::ParsedAttr::AS_GNU, kCarrierAttribute}};
    Spellings = kSpellings;
    NumArgs = 1;
    OptArgs = 15;
  }

  AttrHandling handleDeclAttribute(clang::Sema& sema,
                                   clang::Decl* declaration,
                                   const clang::ParsedAttr& parsed) const override {
    const auto* literal =
        parsed.getNumArgs() > 0 && parsed.isArgExpr(0)
            ? llvm::dyn_cast<clang::StringLiteral>(parsed.getArgAsExpr(0)->IgnoreParenImpCasts())
            : nullptr;
    const AttributeRule* rule =
        literal != nullptr ? find_attribute(literal->getString().str()) : nullptr;
    if (rule == nullptr) {
      return AttributeNotApplied;
    }
    clang::DiagnosticsEngine& diagnostics = sema.getDiagnostics();
    if (!appertains(rule->subject, declaration)) {
      const unsigned id = diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                      "attribute '%0' only applies to %1");
      diagnostics.Report(parsed.getLoc(), id)
          << llvm::StringRef(rule->name) << subject_name(rule->subject);
      return AttributeNotApplied;
    }
    llvm::SmallVector<clang::Expr*, 4> arguments;
    for (unsigned position = 1; position < parsed.getNumArgs(); ++position) {
      arguments.push_back(parsed.getArgAsExpr(position));
    }
    if (arguments.size() < rule->least_arguments || arguments.size() > rule->most_arguments) {
      const unsigned id = diagnostics.getCustomDiagID(
          clang::DiagnosticsEngine::Error, "attribute '%0' takes %1 argument(s), not %2");
      diagnostics.Report(parsed.getLoc(), id)
          << llvm::StringRef(rule->name)
          << (rule->least_arguments == rule->most_arguments
                  ? std::to_string(rule->most_arguments)
                  : std::to_string(rule->least_arguments) + " to " +
                        std::to_string(rule->most_arguments))
          << static_cast<unsigned>(arguments.size());
      return AttributeNotApplied;
    }
    sema.AddAnnotationAttr(declaration, parsed, kPrefix.data() + std::string(rule->name),
                           arguments);
    return AttributeApplied;
  }
};

/// Gives the user's variables and functions the storage and linkage that MSL means.
class DeclarationInfo : public clang::ParsedAttrInfo {
 public:
  DeclarationInfo() {
    static constexpr Spelling kSpellings[] = {{clang::ParsedAttr::AS_GNU, kDeclarationAttribute}};
    Spellings = kSpellings;
    IsSupportedByPragmaAttribute = 1;
  }

  bool diagAppertainsToDecl(clang::Sema&,
                            const clang::ParsedAttr&,
                            const clang::Decl*) const override {
    return true;
  }

  void getPragmaAttributeMatchRules(
      llvm::SmallVectorImpl<std::pair<clang::attr::SubjectMatchRule, bool>>& rules,
      const clang::LangOptions&) const override {
    rules.push_back({clang::attr::SubjectMatchRule_variable, true});
    rules.push_back({clang::attr::SubjectMatchRule_function, true});
  }

  AttrHandling handleDeclAttribute(clang::Sema& sema,
                                   clang::Decl* declaration,
                                   const clang::ParsedAttr&) const override {
    if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      hide(function);
      return AttributeApplied;
    }
    auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
    if (variable == nullptr || llvm::isa<clang::ParmVarDecl>(variable)) {
      return AttributeApplied;
    }
    if (attribute(variable, "function_constant") != nullptr) {
      // Its value arrives when a pipeline is made, so it has none here.
      variable->setStorageClass(clang::SC_Extern);
      variable->setConstexpr(false);
      return AttributeApplied;
    }
    const clang::LangAS space = variable->getType().getAddressSpace();
    if (space != clang::LangAS::sycl_local && space != clang::LangAS::sycl_private) {
      return AttributeApplied;
    }
    if (variable->isLocalVarDecl() && variable->getStorageClass() == clang::SC_None) {
      variable->setStorageClass(clang::SC_Static);
    }
    if (space == clang::LangAS::sycl_local) {
      variable->addAttr(clang::SectionAttr::CreateImplicit(sema.Context, kThreadgroupSection));
    }
    return AttributeApplied;
  }

 private:
  // An external function is generated whether a kernel needs it or not; a static one only when it
  // is called.
  static void hide(clang::FunctionDecl* function) {
    if (!llvm::isa<clang::CXXMethodDecl>(function) && !function->isTemplated() &&
        !function->isFunctionTemplateSpecialization() &&
        function->getDescribedFunctionTemplate() == nullptr &&
        function->getStorageClass() == clang::SC_None) {
      function->setStorageClass(clang::SC_Static);
    }
  }
};

const clang::ParsedAttrInfoRegistry::Add<CarrierInfo> kCarrier(kCarrierAttribute,
                                                               "an attribute of MSL");
const clang::ParsedAttrInfoRegistry::Add<DeclarationInfo> kDeclaration(
    kDeclarationAttribute, "storage and linkage of MSL declarations");

}  // namespace

const AttributeRule* find_attribute(std::string_view name) {
  const auto* found = std::find_if(kRules.begin(), kRules.end(),
                                   [&](const AttributeRule& rule) { return rule.name == name; });
  return found == kRules.end() ? nullptr : found;
}

bool is_standard_attribute(std::string_view name) {
  return std::find(kStandard.begin(), kStandard.end(), name) != kStandard.end();
}

bool is_unsupported_attribute(std::string_view name) {
  return std::find(kUnsupported.begin(), kUnsupported.end(), name) != kUnsupported.end();
}

const clang::AnnotateAttr* attribute(const clang::Decl* declaration, std::string_view name) {
  for (const auto* candidate : declaration->specific_attrs<clang::AnnotateAttr>()) {
    const llvm::StringRef text = candidate->getAnnotation();
    if (text.starts_with(kPrefix) && text.drop_front(kPrefix.size()) == llvm::StringRef(name)) {
      return candidate;
    }
  }
  return nullptr;
}

bool integer_argument(const clang::ASTContext& context,
                      const clang::AnnotateAttr* attribute,
                      unsigned position,
                      std::uint64_t& value) {
  if (attribute->args_size() <= position) {
    return false;
  }
  const clang::Expr* expression = attribute->args_begin()[position];
  clang::Expr::EvalResult result;
  if (expression->isValueDependent() || !expression->EvaluateAsInt(result, context)) {
    return false;
  }
  const llvm::APSInt integer = result.Val.getInt();
  if (integer.isNegative()) {
    return false;
  }
  value = integer.getZExtValue();
  return true;
}

std::string string_argument(const clang::AnnotateAttr* attribute) {
  if (attribute->args_size() == 0) {
    return {};
  }
  const clang::Expr* expression = (*attribute->args_begin())->IgnoreImplicit();
  if (const auto* constant = llvm::dyn_cast<clang::ConstantExpr>(expression)) {
    expression = constant->getSubExpr();
  }
  const auto* literal = llvm::dyn_cast<clang::StringLiteral>(expression->IgnoreParenImpCasts());
  return literal != nullptr ? literal->getString().str() : std::string();
}

const AttributeRule* rule_of(const clang::AnnotateAttr* attribute) {
  const llvm::StringRef text = attribute->getAnnotation();
  return text.starts_with(kPrefix) ? find_attribute(text.drop_front(kPrefix.size()).str())
                                   : nullptr;
}

}  // namespace pewter::compiler::msl
