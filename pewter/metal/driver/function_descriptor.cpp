#include "pewter/metal/driver/function_descriptor.h"

namespace pewter::driver {

bool LinkedFunctions::is_empty() const {
  const auto empty = [](const Ref<foundation::Array>& array) {
    return !array || array->items.empty();
  };
  return empty(functions) && empty(binary_functions) && empty(private_functions);
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using driver::get;
using Descriptor = driver::FunctionDescriptor;
using Linked = driver::LinkedFunctions;

MTL::FunctionDescriptor* MTL::FunctionDescriptor::alloc() {
  return driver::handle(driver::make<Descriptor>());
}

MTL::FunctionDescriptor* MTL::FunctionDescriptor::init() {
  return this;
}

MTL::FunctionDescriptor* MTL::FunctionDescriptor::functionDescriptor() {
  return alloc()->init()->autorelease();
}

NS::String* MTL::FunctionDescriptor::name() const {
  return get(this, &Descriptor::name);
}

void MTL::FunctionDescriptor::setName(const NS::String* name) {
  driver::set(this, &Descriptor::name, name);
}

NS::String* MTL::FunctionDescriptor::specializedName() const {
  return get(this, &Descriptor::specialized_name);
}

void MTL::FunctionDescriptor::setSpecializedName(const NS::String* specializedName) {
  driver::set(this, &Descriptor::specialized_name, specializedName);
}

MTL::FunctionConstantValues* MTL::FunctionDescriptor::constantValues() const {
  return get(this, &Descriptor::constant_values);
}

void MTL::FunctionDescriptor::setConstantValues(const MTL::FunctionConstantValues* constantValues) {
  driver::set_copy(this, &Descriptor::constant_values, constantValues);
}

MTL::FunctionOptions MTL::FunctionDescriptor::options() const {
  return get(this, &Descriptor::options);
}

void MTL::FunctionDescriptor::setOptions(MTL::FunctionOptions options) {
  driver::set(this, &Descriptor::options, options);
}

NS::Array* MTL::FunctionDescriptor::binaryArchives() const {
  return get(this, &Descriptor::binary_archives);
}

void MTL::FunctionDescriptor::setBinaryArchives(const NS::Array* binaryArchives) {
  driver::set(this, &Descriptor::binary_archives, binaryArchives);
}

MTL::LinkedFunctions* MTL::LinkedFunctions::alloc() {
  return driver::handle(driver::make<Linked>());
}

MTL::LinkedFunctions* MTL::LinkedFunctions::init() {
  return this;
}

MTL::LinkedFunctions* MTL::LinkedFunctions::linkedFunctions() {
  return alloc()->init()->autorelease();
}

NS::Array* MTL::LinkedFunctions::functions() const {
  return get(this, &Linked::functions);
}

void MTL::LinkedFunctions::setFunctions(const NS::Array* functions) {
  driver::set(this, &Linked::functions, functions);
}

NS::Array* MTL::LinkedFunctions::binaryFunctions() const {
  return get(this, &Linked::binary_functions);
}

void MTL::LinkedFunctions::setBinaryFunctions(const NS::Array* binaryFunctions) {
  driver::set(this, &Linked::binary_functions, binaryFunctions);
}

NS::Dictionary* MTL::LinkedFunctions::groups() const {
  return get(this, &Linked::groups);
}

void MTL::LinkedFunctions::setGroups(const NS::Dictionary* groups) {
  driver::set(this, &Linked::groups, groups);
}

NS::Array* MTL::LinkedFunctions::privateFunctions() const {
  return get(this, &Linked::private_functions);
}

void MTL::LinkedFunctions::setPrivateFunctions(const NS::Array* privateFunctions) {
  driver::set(this, &Linked::private_functions, privateFunctions);
}
