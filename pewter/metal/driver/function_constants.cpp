#include "pewter/metal/driver/function_constants.h"

#include <fmt/format.h>

#include "pewter/base/log.h"
#include "pewter/metal/driver/data_type.h"

namespace pewter::driver {
namespace {

using Value = FunctionConstantValues::Value;

/// `count` values one after the other; empty, with a message in the log, when they cannot be
/// constants.
std::vector<Value> read(const void* values, MTL::DataType type, NS::UInteger count) {
  const std::uint64_t size = size_of(value_type(type));
  if (values == nullptr || size == 0) {
    logging::error("metal",
                   "setConstantValue: {} is not a type of function constants, or there is no value",
                   static_cast<unsigned>(type));
    return {};
  }
  std::vector<Value> read;
  const auto* bytes = static_cast<const std::byte*>(values);
  for (NS::UInteger index = 0; index < count; ++index, bytes += size) {
    read.push_back({type, {bytes, bytes + size}});
  }
  return read;
}

/// Metal takes a value of another type of the same size for an enumeration, but not for what is
/// declared a scalar.
bool fits(const Value& value, const compiler::FunctionConstant& constant) {
  if (constant.type.scalar == compiler::ScalarType::Other) {
    return true;
  }
  return value_type(value.type) == constant.type;
}

}  // namespace

Result<std::map<std::uint32_t, compiler::ConstantBytes>> FunctionConstantValues::resolve(
    const compiler::LibraryInfo& library) const {
  std::map<std::uint32_t, compiler::ConstantBytes> values;
  std::string misfit;
  std::uint32_t misfit_index = 0;
  for (const compiler::FunctionConstant& constant : library.constants) {
    const Value* value = nullptr;
    if (auto named = by_name.find(constant.name); named != by_name.end()) {
      value = &named->second;
    }
    if (auto indexed = by_index.find(constant.index); indexed != by_index.end()) {
      value = &indexed->second;
    }
    if (value == nullptr) {
      continue;
    }
    if (fits(*value, constant)) {
      values.emplace(constant.index, value->bytes);
    } else if (misfit.empty() && !values.contains(constant.index)) {
      misfit = fmt::format(
          "function constant '{}' with index {} is of type {}, but its value is of type {}",
          constant.name, constant.index, spelling(constant.type),
          spelling(value_type(value->type)));
      misfit_index = constant.index;
    }
  }
  // The texts of a library file may each have a constant of that index, of types of their own.
  if (!misfit.empty() && !values.contains(misfit_index)) {
    return failure(misfit);
  }
  return values;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::FunctionConstantValues;
using driver::impl;

MTL::FunctionConstantValues* MTL::FunctionConstantValues::alloc() {
  return driver::handle(driver::make<Body>());
}

MTL::FunctionConstantValues* MTL::FunctionConstantValues::init() {
  return this;
}

void MTL::FunctionConstantValues::setConstantValue(const void* value,
                                                   MTL::DataType type,
                                                   NS::UInteger index) {
  setConstantValues(value, type, NS::Range(index, 1));
}

void MTL::FunctionConstantValues::setConstantValues(const void* values,
                                                    MTL::DataType type,
                                                    NS::Range range) {
  auto* self = impl<Body>(this);
  // Indices are 16-bit in Metal; a larger range is a mistake that must not take the memory of the
  // machine.
  if (self == nullptr || range.location > 65535 || range.length > 65536 - range.location) {
    pewter::logging::error("metal", "setConstantValues: indices {} .. {} exceed the limit of 65535",
                           range.location, range.Max());
    return;
  }
  NS::UInteger index = range.location;
  for (auto& value : driver::read(values, type, range.length)) {
    self->by_index[index++] = std::move(value);
  }
}

void MTL::FunctionConstantValues::setConstantValue(const void* value,
                                                   MTL::DataType type,
                                                   const NS::String* name) {
  auto* self = impl<Body>(this);
  if (self == nullptr || name == nullptr) {
    return;
  }
  for (auto& read : driver::read(value, type, 1)) {
    self->by_name[driver::text_of(name)] = std::move(read);
  }
}

void MTL::FunctionConstantValues::reset() {
  if (auto* self = impl<Body>(this)) {
    self->by_index.clear();
    self->by_name.clear();
  }
}
