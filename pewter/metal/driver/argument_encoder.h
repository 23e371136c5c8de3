#pragma once

#include <Metal/MTLArgumentEncoder.hpp>
#include <Metal/MTLDevice.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pewter/compiler/compiler.h"
#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/buffer.h"

namespace pewter::driver {

/// The body of MTL::ArgumentDescriptor.
class ArgumentDescriptor final : public Object {
 public:
  using Public = MTL::ArgumentDescriptor;
  static constexpr ClassInfo kClass{"MTL::ArgumentDescriptor", &Object::kClass};

  ArgumentDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<ArgumentDescriptor>(*this); }

  MTL::DataType data_type = MTL::DataTypeNone;
  NS::UInteger index = 0;
  NS::UInteger array_length = 0;
  MTL::BindingAccess access = MTL::BindingAccessReadOnly;
  MTL::TextureType texture_type = MTL::TextureType2D;
  NS::UInteger constant_block_alignment = 0;
};

/// Where the members of an argument buffer lie: as in the C structure that the kernel declares.
struct ArgumentLayout {
  std::vector<compiler::Member> members;
  std::uint64_t size = 0;
  std::uint32_t alignment = 1;
};

/// The body of MTL::ArgumentEncoder.
class ArgumentEncoder final : public Object {
 public:
  using Public = MTL::ArgumentEncoder;
  static constexpr ClassInfo kClass{"MTL::ArgumentEncoder", &Object::kClass};

  explicit ArgumentEncoder(ArgumentLayout described)
      : Object(kClass), layout(std::move(described)) {}

  /// Writes into `length()` bytes of `buffer` from now on; nothing, with a message in the log, when
  /// they are not there.
  void set_target(Ref<Buffer> buffer, std::uint64_t offset);

  /// Where the argument with that id goes, if it is of that kind; null, with a message
  /// in the log, when there is no target or no such argument.
  enum class Kind : std::uint8_t {
    Value,
    Buffer,
    Texture,
    Sampler,
    FunctionTable,
    Pipeline,
    CommandBuffer,
  };
  std::byte* place(NS::UInteger id, Kind kind, const std::source_location& where) const;

  const ArgumentLayout layout;
  Ref<String> label;

 private:
  Ref<Buffer> buffer_;
  std::byte* target_ = nullptr;
};

}  // namespace pewter::driver
