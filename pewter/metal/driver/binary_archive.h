#pragma once

#include <Metal/MTLBinaryArchive.hpp>
#include <memory>

#include "pewter/compiler/compiler.h"
#include "pewter/metal/driver/body.h"
#include "pewter/metal/foundation/url.h"

namespace pewter::driver {

/// The body of MTL::BinaryArchiveDescriptor.
class BinaryArchiveDescriptor final : public Object {
 public:
  using Public = MTL::BinaryArchiveDescriptor;
  static constexpr ClassInfo kClass{"MTL::BinaryArchiveDescriptor", &Object::kClass};

  BinaryArchiveDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<BinaryArchiveDescriptor>(*this); }

  Ref<foundation::Url> url;
};

/// The body of MTL::BinaryArchive.
class BinaryArchive final : public Object {
 public:
  using Public = MTL::BinaryArchive;
  static constexpr ClassInfo kClass{"MTL::BinaryArchive", &Object::kClass};

  explicit BinaryArchive(std::shared_ptr<compiler::CodeArchive> archive)
      : Object(kClass), code(std::move(archive)) {}

  const std::shared_ptr<compiler::CodeArchive> code;
  Ref<String> label;
};

}  // namespace pewter::driver
