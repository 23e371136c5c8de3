#include "pewter/metal/driver/function.h"

#include <fmt/format.h>

#include <algorithm>

#include "pewter/metal/driver/background.h"
#include "pewter/metal/driver/data_type.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/function_constants.h"
#include "pewter/metal/driver/function_descriptor.h"
#include "pewter/metal/driver/library.h"
#include "pewter/metal/driver/ns_error.h"
#include "pewter/metal/foundation/collections.h"

namespace pewter::driver {
namespace {

/// A function, or null and why.
struct Outcome {
  Ref<Function> function;
  Ref<foundation::Error> error;
};

/// `values` may be null; `specialized_name` empty.
Outcome specialize(const Library& library,
                   const std::string& name,
                   const FunctionConstantValues* values,
                   const std::string& specialized_name) {
  const compiler::LibraryInfo& info = library.compiled->info();
  const compiler::KernelInfo* kernel = info.find(name);
  if (kernel == nullptr) {
    return {nullptr,
            library_error(MTL::LibraryErrorFunctionNotFound,
                          fmt::format("there is no function named '{}' in the library", name))};
  }
  std::map<std::uint32_t, compiler::ConstantBytes> constants;
  if (values != nullptr) {
    auto resolved = values->resolve(info);
    if (!resolved) {
      return {nullptr, library_error(MTL::LibraryErrorCompileFailure,
                                     fmt::format("{}: {}", name, resolved.error().message))};
    }
    constants = *std::move(resolved);
  }
  auto function =
      make_ref<Function>(library.compiled, *kernel,
                         specialized_name.empty() ? name : specialized_name, std::move(constants));
  function->max_total_threads = library.max_total_threads;
  return {std::move(function), nullptr};
}

Outcome specialize(const Library& library, const FunctionDescriptor& descriptor) {
  auto outcome = specialize(library, descriptor.name ? descriptor.name->text : std::string(),
                            descriptor.constant_values.get(),
                            descriptor.specialized_name ? descriptor.specialized_name->text : "");
  if (outcome.function) {
    outcome.function->options = descriptor.options;
  }
  return outcome;
}

MTL::Function* deliver(Outcome outcome, NS::Error** error) {
  report(error, std::move(outcome.error));
  return handle(outcome.function.leak());
}

}  // namespace

FunctionConstant::FunctionConstant(const compiler::FunctionConstant& constant)
    : Object(kClass),
      name(make_string(constant.name)),
      type(data_type(constant.type)),
      index(constant.index),
      required(constant.required) {}

Function::Function(std::shared_ptr<compiler::Library> owner,
                   const compiler::KernelInfo& info,
                   std::string_view host_name,
                   std::map<std::uint32_t, compiler::ConstantBytes> values)
    : Object(kClass),
      library(std::move(owner)),
      kernel(info),
      constants(std::move(values)),
      name(make_string(host_name)) {}

const compiler::Parameter* Function::buffer_parameter(std::uint32_t index) const {
  for (const compiler::Parameter& parameter : kernel.parameters) {
    if (parameter.kind == compiler::ParameterKind::Buffer && parameter.index == index) {
      return &parameter;
    }
  }
  return nullptr;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::Function;
using Constant = driver::FunctionConstant;
using driver::get;
using driver::handle;
using driver::impl;
using driver::Ref;

MTL::Function* MTL::Library::newFunction(const NS::String* functionName) {
  auto* self = impl<driver::Library>(this);
  auto* name = impl<driver::String>(functionName);
  if (self == nullptr || name == nullptr) {
    return nullptr;
  }
  return handle(driver::specialize(*self, name->text, nullptr, {}).function.leak());
}

MTL::Function* MTL::Library::newFunction(const NS::String* name,
                                         const FunctionConstantValues* constantValues,
                                         NS::Error** error) {
  auto* self = impl<driver::Library>(this);
  if (self == nullptr) {
    return nullptr;
  }
  auto* values = impl<driver::FunctionConstantValues>(constantValues);
  return driver::deliver(driver::specialize(*self, driver::text_of(name), values, {}), error);
}

MTL::Function* MTL::Library::newFunction(const FunctionDescriptor* descriptor, NS::Error** error) {
  auto* self = impl<driver::Library>(this);
  auto* wanted = impl<driver::FunctionDescriptor>(descriptor);
  if (self == nullptr) {
    return nullptr;
  }
  if (wanted == nullptr) {
    driver::report(error, driver::library_error(LibraryErrorFunctionNotFound,
                                                "there is no function descriptor"));
    return nullptr;
  }
  return driver::deliver(driver::specialize(*self, *wanted), error);
}

void MTL::Library::newFunction(const NS::String* pFunctionName,
                               const FunctionConstantValues* pConstantValues,
                               const FunctionCompletionHandlerFunction& completionHandler) {
  auto descriptor = driver::make_ref<driver::FunctionDescriptor>();
  descriptor->name = driver::make_string(driver::text_of(pFunctionName));
  handle(descriptor)->setConstantValues(pConstantValues);
  newFunction(handle(descriptor), completionHandler);
}

void MTL::Library::newFunction(const FunctionDescriptor* pDescriptor,
                               const FunctionCompletionHandlerFunction& completionHandler) {
  auto* self = impl<driver::Library>(this);
  if (self == nullptr || !completionHandler) {
    return;
  }
  auto* given = impl<driver::FunctionDescriptor>(pDescriptor);
  auto wanted = given != nullptr ? Ref<driver::FunctionDescriptor>::adopt(
                                       static_cast<driver::FunctionDescriptor*>(given->copy()))
                                 : driver::make_ref<driver::FunctionDescriptor>();
  driver::run_in_background([library = Ref<driver::Library>(self), wanted, completionHandler] {
    const auto outcome = driver::specialize(*library, *wanted);
    completionHandler(handle(outcome.function), handle(outcome.error));
  });
}

MTL::FunctionConstant* MTL::FunctionConstant::alloc() {
  return handle(driver::make<Constant>());
}

MTL::FunctionConstant* MTL::FunctionConstant::init() {
  return this;
}

NS::String* MTL::FunctionConstant::name() const {
  return get(this, &Constant::name);
}

MTL::DataType MTL::FunctionConstant::type() const {
  return get(this, &Constant::type);
}

NS::UInteger MTL::FunctionConstant::index() const {
  return get(this, &Constant::index);
}

bool MTL::FunctionConstant::required() const {
  return get(this, &Constant::required);
}

NS::String* MTL::Function::label() const {
  return get(this, &Body::label);
}

void MTL::Function::setLabel(const NS::String* label) {
  driver::set(this, &Body::label, label);
}

MTL::Device* MTL::Function::device() const {
  return driver::device_of(impl<Body>(this));
}

MTL::FunctionType MTL::Function::functionType() const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return static_cast<FunctionType>(0);
  }
  return self->kernel.kind == pewter::compiler::FunctionKind::Visible ? FunctionTypeVisible
                                                                      : FunctionTypeKernel;
}

MTL::FunctionOptions MTL::Function::options() const {
  return get(this, &Body::options);
}

MTL::PatchType MTL::Function::patchType() const {
  return PatchTypeNone;
}

NS::Integer MTL::Function::patchControlPointCount() const {
  return impl<Body>(this) != nullptr ? -1 : 0;
}

NS::Array* MTL::Function::vertexAttributes() const {
  return nullptr;
}

NS::Array* MTL::Function::stageInputAttributes() const {
  return nullptr;
}

NS::String* MTL::Function::name() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? handle(self->name) : nullptr;
}

NS::Dictionary* MTL::Function::functionConstantsDictionary() const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return nullptr;
  }
  auto dictionary = driver::make_ref<pewter::foundation::Dictionary>();
  const auto& constants = self->library->info().constants;
  for (const std::uint32_t number : self->kernel.constants) {
    auto constant = driver::make_ref<Constant>(constants[number]);
    dictionary->insert(constant->name.get(), constant.get());
  }
  return driver::autoreleased(std::move(dictionary));
}
