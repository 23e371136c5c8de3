#include "pewter/compiler/codegen/entry_point.h"

#include <cstddef>
#include <functional>
#include <map>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/codegen/thread_values.h"
#include "pewter/compiler/codegen/threadgroup_memory.h"
#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::codegen {
namespace {

constexpr const char* kBufferCall = "pewter.buffer";
constexpr const char* kThreadgroupCall = "pewter.threadgroup_argument";

using Builder = llvm::IRBuilder<>;
using Triple = std::array<llvm::Value*, 3>;

// Nothing writes to a launch or a group while its threads run.
void mark_invariant(llvm::LoadInst& load) {
  load.setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load.getContext(), {}));
}

/// The values that a thread's built-in inputs are made of; whatever is not used folds away.
class ThreadValues {
 public:
  ThreadValues(Builder& builder, llvm::Value* launch, llvm::Value* group)
      : builder_(builder), launch_(launch), group_(group) {}

  /// The built-in input `name` as three i32 values; only the first counts for scalars.
  Triple input(const std::string& name) {
    const auto found = inputs().find(name);
    return found == inputs().end() ? Triple{} : found->second(*this);
  }

 private:
  using Input = std::function<Triple(ThreadValues&)>;

  static const std::map<std::string, Input>& inputs() {
    static const std::map<std::string, Input> table = {
        {"thread_position_in_threadgroup", [](ThreadValues& v) { return v.position_in_group(); }},
        {"thread_position_in_grid", [](ThreadValues& v) { return v.position_in_grid(); }},
        {"thread_index_in_threadgroup", [](ThreadValues& v) { return v.own(ThreadValue::Index); }},
        {"threadgroup_position_in_grid",
         [](ThreadValues& v) { return v.group_triple(offsetof(abi::Group, position)); }},
        {"threads_per_threadgroup",
         [](ThreadValues& v) { return v.group_triple(offsetof(abi::Group, size)); }},
        {"dispatch_threads_per_threadgroup",
         [](ThreadValues& v) {
           return v.launch_triple(offsetof(abi::Launch, threads_per_threadgroup));
         }},
        {"threads_per_grid",
         [](ThreadValues& v) { return v.launch_triple(offsetof(abi::Launch, threads_per_grid)); }},
        {"grid_size",
         [](ThreadValues& v) { return v.launch_triple(offsetof(abi::Launch, threads_per_grid)); }},
        {"grid_origin",
         [](ThreadValues& v) { return v.launch_triple(offsetof(abi::Launch, grid_origin)); }},
        {"threadgroups_per_grid",
         [](ThreadValues& v) {
           return v.launch_triple(offsetof(abi::Launch, threadgroups_per_grid));
         }},
        {"thread_index_in_simdgroup", [](ThreadValues& v) { return v.own(ThreadValue::SimdLane); }},
        {"simdgroup_index_in_threadgroup",
         [](ThreadValues& v) { return v.own(ThreadValue::Simdgroup); }},
        {"thread_index_in_quadgroup", [](ThreadValues& v) { return v.own(ThreadValue::QuadLane); }},
        {"quadgroup_index_in_threadgroup",
         [](ThreadValues& v) { return v.own(ThreadValue::Quadgroup); }},
        {"simdgroups_per_threadgroup",
         [](ThreadValues& v) { return v.groups_of(v.group_size(), 5); }},
        {"quadgroups_per_threadgroup",
         [](ThreadValues& v) { return v.groups_of(v.group_size(), 2); }},
        {"dispatch_simdgroups_per_threadgroup",
         [](ThreadValues& v) { return v.groups_of(v.dispatch_size(), 5); }},
        {"dispatch_quadgroups_per_threadgroup",
         [](ThreadValues& v) { return v.groups_of(v.dispatch_size(), 2); }},
        {"threads_per_simdgroup",
         [](ThreadValues& v) { return v.scalar(v.number(abi::kSimdWidth)); }},
        {"thread_execution_width",
         [](ThreadValues& v) { return v.scalar(v.number(abi::kSimdWidth)); }},
    };
    return table;
  }

  llvm::Value* number(std::uint32_t value) { return builder_.getInt32(value); }
  Triple scalar(llvm::Value* value) { return {value, number(0), number(0)}; }
  Triple own(ThreadValue value) { return scalar(thread_value(builder_, value)); }

  Triple load_triple(llvm::Value* base, std::size_t offset) {
    Triple result;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      llvm::Value* address = builder_.CreateConstInBoundsGEP1_64(
          builder_.getInt8Ty(), base, offset + axis * sizeof(std::uint32_t));
      auto* load = builder_.CreateAlignedLoad(builder_.getInt32Ty(), address, llvm::Align(4));
      mark_invariant(*load);
      result[axis] = load;
    }
    return result;
  }

  Triple launch_triple(std::size_t offset) { return load_triple(launch_, offset); }
  Triple group_triple(std::size_t offset) { return load_triple(group_, offset); }

  Triple position_in_group() {
    return {thread_value(builder_, ThreadValue::X), thread_value(builder_, ThreadValue::Y),
            thread_value(builder_, ThreadValue::Z)};
  }

  Triple position_in_grid() {
    const Triple local = position_in_group();
    const Triple group = group_triple(offsetof(abi::Group, position));
    const Triple size = launch_triple(offsetof(abi::Launch, threads_per_threadgroup));
    const Triple origin = launch_triple(offsetof(abi::Launch, grid_origin));
    Triple result;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      // A grid has fewer than 2^32 threads along each axis.
      llvm::Value* first = builder_.CreateMul(group[axis], size[axis], "", true);
      result[axis] = builder_.CreateAdd(builder_.CreateAdd(origin[axis], first, "", true),
                                        local[axis], "", true);
    }
    return result;
  }

  llvm::Value* product(const Triple& size) {
    return builder_.CreateMul(builder_.CreateMul(size[0], size[1]), size[2]);
  }
  llvm::Value* group_size() { return product(group_triple(offsetof(abi::Group, size))); }
  llvm::Value* dispatch_size() {
    return product(launch_triple(offsetof(abi::Launch, threads_per_threadgroup)));
  }
  Triple groups_of(llvm::Value* threads, std::uint32_t shift) {
    llvm::Value* rounded = builder_.CreateAdd(threads, number((1U << shift) - 1));
    return scalar(builder_.CreateLShr(rounded, number(shift)));
  }

  Builder& builder_;
  llvm::Value* launch_;
  llvm::Value* group_;
};

/// A built-in input in the shape that the kernel's IR argument wants, through memory: Clang chooses
/// that shape.
llvm::Value* shape_input(Builder& builder,
                         const Triple& input,
                         const ValueType& type,
                         llvm::Argument& argument) {
  llvm::Type* element =
      type.scalar == ScalarType::UShort ? builder.getInt16Ty() : builder.getInt32Ty();
  if (type.rows == 1 && argument.getType()->isIntegerTy()) {
    return builder.CreateZExtOrTrunc(input[0], argument.getType());
  }
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  Builder top(&function->getEntryBlock(), function->getEntryBlock().begin());
  llvm::AllocaInst* slot = top.CreateAlloca(llvm::ArrayType::get(element, 4));
  slot->setAlignment(llvm::Align(16));
  for (unsigned axis = 0; axis < type.rows; ++axis) {
    builder.CreateStore(builder.CreateTrunc(input[axis], element),
                        builder.CreateConstInBoundsGEP1_64(element, slot, axis));
  }
  if (argument.getType()->isPointerTy()) {
    return slot;
  }
  return builder.CreateAlignedLoad(argument.getType(), slot, llvm::Align(16));
}

llvm::FunctionCallee marker(llvm::Module& module, const char* name) {
  llvm::LLVMContext& context = module.getContext();
  llvm::FunctionCallee callee = module.getOrInsertFunction(name, llvm::PointerType::get(context, 0),
                                                           llvm::Type::getInt32Ty(context));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->addFnAttr(llvm::Attribute::Speculatable);
  return callee;
}

llvm::Value* binding(Builder& builder, llvm::Module& module, const PlannedParameter& planned) {
  const bool is_buffer = planned.parameter.kind == ParameterKind::Buffer;
  llvm::Value* bound =
      builder.CreateCall(marker(module, is_buffer ? kBufferCall : kThreadgroupCall),
                         {builder.getInt32(planned.parameter.index)});
  if (planned.enabled_by.empty()) {
    return bound;
  }
  llvm::GlobalVariable* constant = module.getNamedGlobal(planned.enabled_by);
  if (constant == nullptr) {
    return bound;
  }
  llvm::Value* enabled = builder.CreateLoad(builder.getInt8Ty(), constant);
  return builder.CreateSelect(builder.CreateTrunc(enabled, builder.getInt1Ty()), bound,
                              llvm::ConstantPointerNull::get(builder.getPtrTy()));
}

llvm::Function* make_function(llvm::Module& module,
                              const char* name,
                              llvm::ArrayRef<llvm::Type*> parameters,
                              const KernelPlan& plan) {
  auto* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), parameters, false),
      llvm::GlobalValue::ExternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("target-cpu", plan.cpu);
  function->addFnAttr("probe-stack", "inline-asm");
  for (llvm::Argument& argument : function->args()) {
    if (argument.getType()->isPointerTy()) {
      argument.addAttr(llvm::Attribute::NonNull);
      argument.addAttr(llvm::Attribute::ReadOnly);
    }
  }
  return function;
}

}  // namespace

Result<void> build_thread_function(llvm::Module& module, const KernelPlan& plan) {
  llvm::Function* kernel = module.getFunction(plan.function);
  if (kernel == nullptr || kernel->isDeclaration()) {
    return failure("kernel '" + plan.name + "' has no body");
  }
  if (kernel->arg_size() != plan.parameters.size()) {
    return failure("kernel '" + plan.name + "' has a parameter of a type that is not supported");
  }
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Function* thread = make_function(module, kThreadFunction,
                                         {pointer, pointer, llvm::Type::getInt32Ty(context)}, plan);
  Builder builder(llvm::BasicBlock::Create(context, "entry", thread));
  ThreadValues values(builder, thread->getArg(0), thread->getArg(1));

  llvm::SmallVector<llvm::Value*, 16> arguments;
  for (std::size_t position = 0; position < plan.parameters.size(); ++position) {
    const PlannedParameter& planned = plan.parameters[position];
    llvm::Argument& argument = *kernel->getArg(static_cast<unsigned>(position));
    if (planned.parameter.kind == ParameterKind::Builtin) {
      arguments.push_back(shape_input(builder, values.input(planned.parameter.builtin),
                                      planned.parameter.type, argument));
    } else {
      arguments.push_back(binding(builder, module, planned));
    }
  }
  builder.CreateCall(kernel, arguments);
  builder.CreateRetVoid();
  return {};
}

std::uint32_t bind_arguments(llvm::Module& module) {
  llvm::Function* thread = module.getFunction(kThreadFunction);
  llvm::BasicBlock& entry = thread->getEntryBlock();
  Builder builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  llvm::Value* launch = thread->getArg(0);
  llvm::Value* base = nullptr;
  const auto group_base = [&] {
    if (base == nullptr) {
      auto* load = builder.CreateLoad(
          builder.getPtrTy(),
          builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), thread->getArg(1),
                                             offsetof(abi::Group, threadgroup_memory)));
      mark_invariant(*load);
      load->setMetadata(spmd::kThreadgroupMemory, llvm::MDNode::get(load->getContext(), {}));
      base = load;
    }
    return base;
  };

  std::uint32_t used = 0;
  std::map<std::pair<bool, std::uint64_t>, llvm::Value*> bound;
  // Erased at the end: the builder may stand before one of them.
  std::vector<llvm::CallInst*> replaced;
  for (llvm::Instruction& instruction : llvm::instructions(*thread)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
    if (callee == nullptr) {
      continue;
    }
    if (callee->getName() == kThreadgroupBase) {
      call->replaceAllUsesWith(group_base());
      replaced.push_back(call);
      continue;
    }
    const bool is_buffer = callee->getName() == kBufferCall;
    if (!is_buffer && callee->getName() != kThreadgroupCall) {
      continue;
    }
    const std::uint64_t index =
        llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue();
    llvm::Value*& address = bound[{is_buffer, index}];
    if (address == nullptr && is_buffer) {
      used |= 1U << index;
      auto* load = builder.CreateLoad(
          builder.getPtrTy(),
          builder.CreateConstInBoundsGEP1_64(
              builder.getInt8Ty(), launch, offsetof(abi::Launch, buffers) + index * sizeof(void*)));
      mark_invariant(*load);
      address = load;
    } else if (address == nullptr) {
      auto* offset = builder.CreateLoad(
          builder.getInt32Ty(),
          builder.CreateConstInBoundsGEP1_64(
              builder.getInt8Ty(), launch,
              offsetof(abi::Launch, threadgroup_offsets) + index * sizeof(std::uint32_t)));
      mark_invariant(*offset);
      address = builder.CreateGEP(builder.getInt8Ty(), group_base(),
                                  builder.CreateZExt(offset, builder.getInt64Ty()));
    }
    call->replaceAllUsesWith(address);
    replaced.push_back(call);
  }
  for (llvm::CallInst* call : replaced) {
    call->eraseFromParent();
  }
  return used;
}

llvm::Function* declare_entry_point(llvm::Module& module, const KernelPlan& plan) {
  llvm::Type* pointer = llvm::PointerType::get(module.getContext(), 0);
  llvm::Type* integer = llvm::Type::getInt32Ty(module.getContext());
  return make_function(module, kEntryFunction, {pointer, pointer, integer, integer}, plan);
}

void build_entry_point(llvm::Module& module, const KernelPlan& plan, bool on_fibers) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* integer = llvm::Type::getInt32Ty(context);
  llvm::Function* thread = module.getFunction(kThreadFunction);
  thread->setLinkage(llvm::GlobalValue::InternalLinkage);
  thread->addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::Function* entry = declare_entry_point(module, plan);
  llvm::Value* first = entry->getArg(2);
  Builder builder(llvm::BasicBlock::Create(context, "entry", entry));
  if (on_fibers) {
    builder.CreateCall(thread, {entry->getArg(0), entry->getArg(1), first});
    builder.CreateRetVoid();
    return;
  }
  llvm::BasicBlock* start = builder.GetInsertBlock();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(context, "thread", entry);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context, "done", entry);
  llvm::Value* end = builder.CreateAdd(first, entry->getArg(3));
  builder.CreateCondBr(builder.CreateICmpULT(first, end), loop, done);
  builder.SetInsertPoint(loop);
  llvm::PHINode* index = builder.CreatePHI(integer, 2);
  index->addIncoming(first, start);
  builder.CreateCall(thread, {entry->getArg(0), entry->getArg(1), index});
  llvm::Value* next = builder.CreateAdd(index, builder.getInt32(1));
  index->addIncoming(next, loop);
  builder.CreateCondBr(builder.CreateICmpULT(next, end), loop, done);
  builder.SetInsertPoint(done);
  builder.CreateRetVoid();
}

}  // namespace pewter::compiler::codegen
