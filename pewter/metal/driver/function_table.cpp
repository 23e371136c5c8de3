#include "pewter/metal/driver/function_table.h"

#include <Metal/MTLArgumentEncoder.hpp>
#include <algorithm>

#include "pewter/base/indirect_abi.h"
#include "pewter/base/log.h"
#include "pewter/metal/driver/compute_pipeline.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/function.h"
#include "pewter/metal/driver/ns_error.h"
#include "pewter/metal/driver/pipeline_descriptor.h"

namespace pewter::driver {
namespace {

// The size, and the numbers of the functions.
static_assert(sizeof(abi::FunctionTable) == sizeof(std::uint64_t));

constexpr std::uint64_t kMaxFunctions = std::uint64_t{1} << 20;

}  // namespace

VisibleFunctionTable::VisibleFunctionTable(std::uint64_t count,
                                           std::vector<compiler::LinkedFunction> functions)
    : Resource(kClass, MTL::ResourceStorageModeShared),
      words_(count + 1),
      linked_(std::move(functions)) {
  words_[0] = count;
}

void VisibleFunctionTable::set(const FunctionHandle* function, std::uint64_t index) {
  if (index >= count()) {
    logging::error("metal", "setFunction at index {} of a function table of {}", index, count());
    return;
  }
  const bool is_known =
      function == nullptr ||
      (function->number <= linked_.size() && linked_[function->number - 1] == function->function);
  if (!is_known) {
    logging::error("metal", "setFunction: the function table's pipeline is not linked with '{}'",
                   function->name->text);
    return;
  }
  words_[index + 1] = function != nullptr ? function->number : 0;
}

bool VisibleFunctionTable::fits(const std::vector<compiler::LinkedFunction>& linked) const {
  return linked_.size() <= linked.size() &&
         std::equal(linked_.begin(), linked_.end(), linked.begin());
}

void VisibleFunctionTable::discard() {
  std::fill(words_.begin() + 1, words_.end(), 0);
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using driver::get;
using driver::handle;
using driver::impl;
using Descriptor = driver::VisibleFunctionTableDescriptor;
using Handle = driver::FunctionHandle;
using Pipeline = driver::ComputePipelineState;
using Table = driver::VisibleFunctionTable;

MTL::FunctionType MTL::FunctionHandle::functionType() const {
  return impl<Handle>(this) != nullptr ? FunctionTypeVisible : static_cast<FunctionType>(0);
}

NS::String* MTL::FunctionHandle::name() const {
  auto* self = impl<Handle>(this);
  return self != nullptr ? handle(self->name) : nullptr;
}

MTL::Device* MTL::FunctionHandle::device() const {
  return driver::device_of(impl<Handle>(this));
}

MTL::VisibleFunctionTableDescriptor* MTL::VisibleFunctionTableDescriptor::alloc() {
  return handle(driver::make<Descriptor>());
}

MTL::VisibleFunctionTableDescriptor* MTL::VisibleFunctionTableDescriptor::init() {
  return this;
}

MTL::VisibleFunctionTableDescriptor*
MTL::VisibleFunctionTableDescriptor::visibleFunctionTableDescriptor() {
  return alloc()->init()->autorelease();
}

NS::UInteger MTL::VisibleFunctionTableDescriptor::functionCount() const {
  return get(this, &Descriptor::function_count);
}

void MTL::VisibleFunctionTableDescriptor::setFunctionCount(NS::UInteger functionCount) {
  driver::set(this, &Descriptor::function_count, functionCount);
}

MTL::ResourceID MTL::VisibleFunctionTable::gpuResourceID() const {
  auto* self = impl<Table>(this);
  return {self != nullptr ? reinterpret_cast<std::uintptr_t>(self->data()) : 0};
}

void MTL::VisibleFunctionTable::setFunction(const FunctionHandle* function, NS::UInteger index) {
  if (auto* self = impl<Table>(this)) {
    self->set(function != nullptr ? impl<Handle>(function) : nullptr, index);
  }
}

void MTL::VisibleFunctionTable::setFunctions(const FunctionHandle* const functions[],
                                             NS::Range range) {
  for (NS::UInteger number = 0; functions != nullptr && number < range.length; ++number) {
    setFunction(functions[number], range.location + number);
  }
}

MTL::FunctionHandle* MTL::ComputePipelineState::functionHandle(const Function* function) {
  auto* self = impl<Pipeline>(this);
  auto* wanted = impl<driver::Function>(function);
  if (self == nullptr || wanted == nullptr) {
    return nullptr;
  }
  const pewter::compiler::LinkedFunction key{wanted->library, wanted->kernel.name,
                                             wanted->constants};
  for (std::size_t position = 0; position < self->tabled; ++position) {
    if (self->linked[position] == key) {
      return driver::autoreleased(driver::make_ref<Handle>(key, position + 1));
    }
  }
  pewter::logging::error("metal", "functionHandle: pipeline '{}' is not linked with '{}'",
                         self->kernel_name, wanted->kernel.name);
  return nullptr;
}

MTL::FunctionHandle* MTL::ComputePipelineState::functionHandle(const NS::String* name) {
  auto* self = impl<Pipeline>(this);
  auto* wanted = impl<driver::String>(name);
  if (self == nullptr || wanted == nullptr) {
    return nullptr;
  }
  for (std::size_t position = 0; position < self->tabled; ++position) {
    if (self->linked[position].name == wanted->text) {
      return driver::autoreleased(driver::make_ref<Handle>(self->linked[position], position + 1));
    }
  }
  pewter::logging::error("metal", "functionHandle: pipeline '{}' is not linked with '{}'",
                         self->kernel_name, wanted->text);
  return nullptr;
}

MTL::ComputePipelineState* MTL::ComputePipelineState::newComputePipelineState(
    const NS::Array* functions, NS::Error** error) {
  auto* self = impl<Pipeline>(this);
  if (self == nullptr) {
    return nullptr;
  }
  if (!self->descriptor || !self->descriptor->support_adding_binary_functions) {
    driver::report(
        error, driver::library_error(LibraryErrorUnsupported,
                                     "the pipeline was made without supportAddingBinaryFunctions"));
    return nullptr;
  }
  // Those that were added before stay where they are.
  auto added = driver::linked_functions(impl<pewter::foundation::Array>(functions));
  if (!added) {
    driver::report(error, driver::library_error(LibraryErrorUnsupported, added.error().message));
    return nullptr;
  }
  std::vector<pewter::compiler::LinkedFunction> more = self->added;
  more.insert(more.end(), added->begin(), added->end());
  auto outcome = driver::build_pipeline(*self->descriptor, PipelineOptionNone, more);
  driver::report(error, std::move(outcome.error));
  return handle(outcome.pipeline.leak());
}

MTL::VisibleFunctionTable* MTL::ComputePipelineState::newVisibleFunctionTable(
    const VisibleFunctionTableDescriptor* descriptor) {
  auto* self = impl<Pipeline>(this);
  auto* wanted = impl<Descriptor>(descriptor);
  if (self == nullptr || wanted == nullptr) {
    return nullptr;
  }
  if (wanted->function_count > driver::kMaxFunctions) {
    pewter::logging::error("metal", "newVisibleFunctionTable of {} functions, limit {}",
                           wanted->function_count, driver::kMaxFunctions);
    return nullptr;
  }
  return handle(driver::make<Table>(wanted->function_count, self->linked));
}
