#include "pewter/compiler/msl/type_reflection.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"

#include "pewter/compiler/msl/attributes.h"

namespace pewter::compiler::msl {
namespace {

ScalarType scalar_type(clang::QualType type) {
  const auto* builtin = type->getAs<clang::BuiltinType>();
  if (builtin == nullptr) {
    return ScalarType::Other;
  }
  switch (builtin->getKind()) {
    case clang::BuiltinType::Bool:
      return ScalarType::Bool;
    case clang::BuiltinType::Char_S:
    case clang::BuiltinType::SChar:
      return ScalarType::Char;
    case clang::BuiltinType::UChar:
      return ScalarType::UChar;
    case clang::BuiltinType::Short:
      return ScalarType::Short;
    case clang::BuiltinType::UShort:
      return ScalarType::UShort;
    case clang::BuiltinType::Int:
      return ScalarType::Int;
    case clang::BuiltinType::UInt:
      return ScalarType::UInt;
    case clang::BuiltinType::Long:
      return ScalarType::Long;
    case clang::BuiltinType::ULong:
      return ScalarType::ULong;
    case clang::BuiltinType::Float16:
      return ScalarType::Half;
    case clang::BuiltinType::BFloat16:
      return ScalarType::BFloat;
    case clang::BuiltinType::Float:
      return ScalarType::Float;
    default:
      return ScalarType::Other;
  }
}

/// A class template of the standard library and the MTL::TextureType of its objects.
struct TextureName {
  const char* name;
  std::uint8_t type;
  bool is_depth;
};

constexpr TextureName kTextureNames[] = {
    {"texture1d", 0, false},       {"texture1d_array", 1, false}, {"texture2d", 2, false},
    {"texture2d_array", 3, false}, {"texturecube", 5, false},     {"texturecube_array", 6, false},
    {"texture3d", 7, false},       {"texture_buffer", 9, false},  {"depth2d", 2, true},
    {"depth2d_array", 3, true},    {"depthcube", 5, true},        {"depthcube_array", 6, true},
};

// `metal::array<T, N>` counts as T[N].
std::pair<clang::QualType, std::uint64_t> element_of_array(const clang::CXXRecordDecl* record) {
  const auto* specialization =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  if (specialization == nullptr || specialization->getName() != "array" ||
      specialization->getTemplateArgs().size() != 2) {
    return {};
  }
  const clang::TemplateArgument& element = specialization->getTemplateArgs()[0];
  const clang::TemplateArgument& count = specialization->getTemplateArgs()[1];
  if (element.getKind() != clang::TemplateArgument::Type ||
      count.getKind() != clang::TemplateArgument::Integral) {
    return {};
  }
  return {element.getAsType(), count.getAsIntegral().getZExtValue()};
}

bool is_class_of_metal(const clang::CXXRecordDecl* record, llvm::StringRef name) {
  const auto* space =
      record != nullptr ? llvm::dyn_cast<clang::NamespaceDecl>(record->getDeclContext()) : nullptr;
  return space != nullptr && space->getName() == "metal" && record->getName() == name;
}

/// Walks over a structure and lists its members with their ids.
class MemberLister {
 public:
  explicit MemberLister(clang::ASTContext& context) : context_(context) {}

  // False when there are too many.
  bool list(const clang::CXXRecordDecl* record, std::uint64_t base) {
    const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(record);
    for (const clang::CXXBaseSpecifier& specifier : record->bases()) {
      const auto* parent = specifier.getType()->getAsCXXRecordDecl();
      const auto offset = layout.getBaseClassOffset(parent).getQuantity();
      if (!list(parent, base + static_cast<std::uint64_t>(offset))) {
        return false;
      }
    }
    for (const clang::FieldDecl* field : record->fields()) {
      const std::uint64_t bits = layout.getFieldOffset(field->getFieldIndex());
      std::uint64_t id = next_id_;
      if (const auto* mark = attribute(field, "id"); mark != nullptr) {
        integer_argument(context_, mark, 0, id);
      }
      next_id_ = static_cast<std::uint32_t>(id);
      if (!field->isBitField() && !add(field->getName(), field->getType(), 1, base + bits / 8)) {
        return false;
      }
    }
    return true;
  }

  std::vector<Member> take() { return std::move(members_); }

 private:
  static constexpr std::size_t kMostMembers = 4096;

  bool add(llvm::StringRef name, clang::QualType type, std::uint64_t count, std::uint64_t offset) {
    type = context_.removeAddrSpaceQualType(type.getCanonicalType()).getUnqualifiedType();
    if (const auto* array = context_.getAsConstantArrayType(type)) {
      return add(name, array->getElementType(), count * array->getSize().getZExtValue(), offset);
    }
    const auto* record = type->getAsCXXRecordDecl();
    if (const auto element = element_of_array(record); !element.first.isNull()) {
      return add(name, element.first, count * element.second, offset);
    }
    const auto size = static_cast<std::uint64_t>(context_.getTypeSizeInChars(type).getQuantity());
    const auto resource = resource_type(context_, type);
    const bool is_handle = is_class_of_metal(record, "compute_pipeline_state") ||
                           is_class_of_metal(record, "command_buffer");
    if (!resource && !is_handle && record != nullptr &&
        value_type(type).scalar == ScalarType::Other) {
      for (std::uint64_t number = 0; number < count; ++number) {
        if (!list(record, offset + number * size)) {
          return false;
        }
      }
      return true;
    }
    Member member;
    member.name = name.str();
    member.id = next_id_;
    member.offset = offset;
    member.size = size;
    member.alignment = static_cast<std::uint32_t>(context_.getTypeAlignInChars(type).getQuantity());
    member.count = static_cast<std::uint32_t>(count);
    member.is_pointer = type->isAnyPointerType() || type->isReferenceType();
    member.is_texture = resource && resource->kind == ParameterKind::Texture;
    member.is_sampler = resource && resource->kind == ParameterKind::Sampler;
    member.is_function_table = resource && resource->kind == ParameterKind::FunctionTable;
    member.is_pipeline = is_class_of_metal(record, "compute_pipeline_state");
    member.is_command_buffer = is_class_of_metal(record, "command_buffer");
    member.type = value_type(
        member.is_pointer
            ? context_.removeAddrSpaceQualType(type->getPointeeType()).getUnqualifiedType()
            : type);
    next_id_ += member.count;
    members_.push_back(std::move(member));
    return members_.size() <= kMostMembers;
  }

  clang::ASTContext& context_;
  std::vector<Member> members_;
  std::uint32_t next_id_ = 0;
};

}  // namespace

// `metal::vec<T, N>`, `metal::packed_vec<T, N>` and `metal::matrix<T, C, R>` are class templates of
// the prelude.
ValueType value_type(clang::QualType type) {
  const ScalarType scalar = scalar_type(type);
  if (scalar != ScalarType::Other) {
    return {scalar, 1, 1};
  }
  const auto* record = type->getAsCXXRecordDecl();
  const auto* specialization =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  if (specialization == nullptr) {
    return {ScalarType::Other, 1, 1};
  }
  const llvm::StringRef name = specialization->getName();
  const clang::TemplateArgumentList& arguments = specialization->getTemplateArgs();
  const auto number = [&](unsigned position) {
    return static_cast<std::uint8_t>(arguments[position].getAsIntegral().getZExtValue());
  };
  if ((name == "vec" || name == "packed_vec") && arguments.size() >= 2) {
    return {scalar_type(arguments[0].getAsType()), 1, number(1)};
  }
  if (name == "matrix" && arguments.size() >= 3) {
    return {scalar_type(arguments[0].getAsType()), number(1), number(2)};
  }
  return {ScalarType::Other, 1, 1};
}

std::optional<ResourceType> resource_type(clang::ASTContext& context, clang::QualType type) {
  type = context.removeAddrSpaceQualType(type.getCanonicalType()).getUnqualifiedType();
  const auto* record = type->getAsCXXRecordDecl();
  const auto* space =
      record != nullptr ? llvm::dyn_cast<clang::NamespaceDecl>(record->getDeclContext()) : nullptr;
  if (space == nullptr || space->getName() != "metal") {
    return std::nullopt;
  }
  if (const auto element = element_of_array(record); !element.first.isNull()) {
    auto result = resource_type(context, element.first);
    if (result) {
      result->count *= static_cast<std::uint32_t>(element.second);
    }
    return result;
  }
  if (record->getName() == "sampler") {
    ResourceType sampler;
    sampler.kind = ParameterKind::Sampler;
    return sampler;
  }
  if (record->getName() == "visible_function_table") {
    ResourceType table;
    table.kind = ParameterKind::FunctionTable;
    return table;
  }
  const auto* specialization = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  if (specialization == nullptr) {
    return std::nullopt;
  }
  for (const TextureName& row : kTextureNames) {
    if (record->getName() != row.name) {
      continue;
    }
    const clang::TemplateArgumentList& arguments = specialization->getTemplateArgs();
    constexpr Access kAccesses[] = {Access::ReadOnly, Access::ReadOnly, Access::WriteOnly,
                                    Access::ReadWrite};
    ResourceType texture;
    texture.texture_type = row.type;
    texture.is_depth = row.is_depth;
    texture.element = value_type(arguments[0].getAsType());
    if (arguments.size() > 1 && arguments[1].getKind() == clang::TemplateArgument::Integral) {
      texture.access = kAccesses[arguments[1].getAsIntegral().getZExtValue() & 3];
    }
    return texture;
  }
  return std::nullopt;
}

std::vector<Member> members_of(clang::ASTContext& context, clang::QualType type) {
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr || !record->isCompleteDefinition() || record->isUnion() ||
      record->isDependentType() || value_type(type).scalar != ScalarType::Other) {
    return {};
  }
  MemberLister lister(context);
  return lister.list(record, 0) ? lister.take() : std::vector<Member>();
}

}  // namespace pewter::compiler::msl
