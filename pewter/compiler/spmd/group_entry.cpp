#include "pewter/compiler/spmd/group_entry.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "pewter/base/kernel_abi.h"

namespace pewter::compiler::spmd {
namespace {

using Builder = llvm::IRBuilder<>;

constexpr const char* kProgramBytes = "pewter.program_bytes";
constexpr const char* kFrameBytes = "pewter.frame_bytes";
constexpr std::uint32_t kFrameAlignment = 64;

/// Makes a program that runs to its end into one that can stop at each barrier.
///
/// The result takes one more argument, the memory for its frame, and returns the handle.
llvm::Function* to_coroutine(llvm::Function& program) {
  llvm::Module& module = *program.getParent();
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::SmallVector<llvm::Type*, 5> parameters(program.getFunctionType()->params());
  parameters.push_back(pointer);
  auto* coroutine = llvm::Function::Create(llvm::FunctionType::get(pointer, parameters, false),
                                           llvm::GlobalValue::InternalLinkage,
                                           program.getName() + ".coroutine", module);
  coroutine->copyAttributesFrom(&program);
  coroutine->setLinkage(llvm::GlobalValue::InternalLinkage);
  coroutine->setPresplitCoroutine();
  coroutine->addFnAttr(llvm::Attribute::NoInline);
  coroutine->splice(coroutine->begin(), &program);
  for (unsigned i = 0; i < program.arg_size(); ++i) {
    program.getArg(i)->replaceAllUsesWith(coroutine->getArg(i));
  }
  program.eraseFromParent();

  llvm::BasicBlock& first = coroutine->getEntryBlock();
  Builder builder(&first, first.getFirstNonPHIOrDbgOrAlloca());
  llvm::Value* null = llvm::ConstantPointerNull::get(builder.getPtrTy());
  llvm::Value* id = builder.CreateIntrinsic(llvm::Intrinsic::coro_id, {},
                                            {builder.getInt32(kFrameAlignment), null, null, null});
  llvm::Value* size =
      builder.CreateIntrinsic(llvm::Intrinsic::coro_size, {builder.getInt64Ty()}, {});
  builder.CreateCall(
      module.getOrInsertFunction(kFrameBytes, builder.getVoidTy(), builder.getInt64Ty()), {size});
  llvm::Value* handle = builder.CreateIntrinsic(llvm::Intrinsic::coro_begin, {},
                                                {id, coroutine->getArg(coroutine->arg_size() - 1)});

  llvm::BasicBlock* suspended = llvm::BasicBlock::Create(context, "suspended", coroutine);
  llvm::BasicBlock* destroyed = llvm::BasicBlock::Create(context, "destroyed", coroutine);
  Builder(destroyed).CreateBr(suspended);
  Builder end(suspended);
  llvm::Value* none = llvm::ConstantTokenNone::get(context);
  end.CreateIntrinsic(llvm::Intrinsic::coro_end, {}, {handle, end.getFalse(), none});
  end.CreateRet(handle);

  const auto suspend = [&](llvm::Instruction* at, llvm::BasicBlock* resumed, bool is_final) {
    Builder stop(at);
    llvm::Value* state =
        stop.CreateIntrinsic(llvm::Intrinsic::coro_suspend, {}, {none, stop.getInt1(is_final)});
    llvm::SwitchInst* choice = stop.CreateSwitch(state, suspended, 2);
    choice->addCase(stop.getInt8(0), resumed);
    choice->addCase(stop.getInt8(1), destroyed);
    at->eraseFromParent();
  };
  std::vector<llvm::Instruction*> barriers;
  std::vector<llvm::Instruction*> returns;
  for (llvm::Instruction& instruction : llvm::instructions(*coroutine)) {
    if (device_call(instruction).kind == DeviceCall::Kind::GroupBarrier) {
      barriers.push_back(&instruction);
    } else if (llvm::isa<llvm::ReturnInst>(instruction) && instruction.getParent() != suspended) {
      returns.push_back(&instruction);
    }
  }
  for (llvm::Instruction* barrier : barriers) {
    llvm::BasicBlock* resumed = llvm::SplitBlock(barrier->getParent(), barrier->getNextNode());
    llvm::Instruction* jump = barrier->getParent()->getTerminator();
    barrier->eraseFromParent();
    suspend(jump, resumed, false);
  }
  llvm::BasicBlock* never = llvm::BasicBlock::Create(context, "never", coroutine);
  Builder(never).CreateUnreachable();
  for (llvm::Instruction* finish : returns) {
    suspend(finish, never, true);
  }
  return coroutine;
}

/// A loop from `begin` while below `end`; `body` is called with the builder inside.
template <typename Body>
void build_loop(Builder& builder, llvm::Value* begin, llvm::Value* end, unsigned step, Body body) {
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  llvm::LLVMContext& context = function->getContext();
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* top = llvm::BasicBlock::Create(context, "program", function);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context, "programs.done", function);
  builder.CreateCondBr(builder.CreateICmpULT(begin, end), top, done);
  builder.SetInsertPoint(top);
  llvm::PHINode* index = builder.CreatePHI(builder.getInt32Ty(), 2);
  index->addIncoming(begin, before);
  body(index);
  llvm::Value* next = builder.CreateAdd(index, builder.getInt32(step), "", true, true);
  index->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpULT(next, end), top, done);
  builder.SetInsertPoint(done);
}

void build_in_sequence(Builder& builder,
                       llvm::Function& entry,
                       const Programs& programs,
                       unsigned width,
                       llvm::Value* row_group) {
  llvm::Value* launch = entry.getArg(0);
  llvm::Value* group = entry.getArg(1);
  llvm::Value* first = entry.getArg(2);
  llvm::Value* count = entry.getArg(3);
  llvm::Value* rest = builder.CreateAnd(count, width - 1);
  llvm::Value* whole = builder.CreateAdd(first, builder.CreateSub(count, rest));
  programs.full->addFnAttr(llvm::Attribute::AlwaysInline);
  build_loop(builder, first, whole, width, [&](llvm::Value* index) {
    builder.CreateCall(programs.full, {launch, group, index, row_group});
  });
  if (programs.partial == nullptr) {
    return;
  }
  llvm::BasicBlock* part = llvm::BasicBlock::Create(entry.getContext(), "part", &entry);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(entry.getContext(), "done", &entry);
  builder.CreateCondBr(builder.CreateICmpNE(rest, builder.getInt32(0)), part, done);
  builder.SetInsertPoint(part);
  builder.CreateCall(programs.partial, {launch, group, whole, row_group, rest});
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
}

void build_rows(Builder& builder, llvm::Function& entry, const Programs& programs, unsigned width) {
  const auto field = [&](std::size_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), entry.getArg(1), offset);
  };
  entry.removeParamAttr(1, llvm::Attribute::ReadOnly);
  llvm::Value* count =
      builder.CreateLoad(builder.getInt32Ty(), field(offsetof(abi::Group, row_groups)));
  llvm::Value* progress = field(offsetof(abi::Group, row_group));
  build_loop(builder, builder.getInt32(0), count, 1, [&](llvm::Value* row_group) {
    // Whoever reports a fault reads it at any moment.
    builder.CreateStore(row_group, progress, /*isVolatile=*/true);
    build_in_sequence(builder, entry, programs, width, row_group);
  });
}

void build_in_turns(Builder& builder,
                    llvm::Function& entry,
                    const Programs& programs,
                    unsigned width) {
  llvm::Module& module = *entry.getParent();
  llvm::Value* launch = entry.getArg(0);
  llvm::Value* group = entry.getArg(1);
  llvm::Value* count = entry.getArg(3);
  llvm::Function* full = to_coroutine(*programs.full);
  llvm::Function* partial = programs.partial != nullptr ? to_coroutine(*programs.partial) : nullptr;
  llvm::FunctionCallee bytes_call = module.getOrInsertFunction(kProgramBytes, builder.getInt64Ty());
  auto* bytes_function = llvm::cast<llvm::Function>(bytes_call.getCallee());
  bytes_function->setDoesNotAccessMemory();
  bytes_function->addFnAttr(llvm::Attribute::WillReturn);
  llvm::Value* bytes = builder.CreateCall(bytes_call);
  llvm::Value* memory = builder.CreateLoad(
      builder.getPtrTy(), builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), group,
                                                             offsetof(abi::Group, program_memory)));
  llvm::Value* rest = builder.CreateAnd(count, width - 1);
  llvm::Value* whole = builder.CreateSub(count, rest);
  const auto frame = [&](llvm::Value* index) {
    llvm::Value* number = builder.CreateZExt(builder.CreateUDiv(index, builder.getInt32(width)),
                                             builder.getInt64Ty());
    return builder.CreateGEP(builder.getInt8Ty(), memory, builder.CreateMul(number, bytes));
  };
  build_loop(builder, builder.getInt32(0), whole, width, [&](llvm::Value* index) {
    builder.CreateCall(full, {launch, group, index, builder.getInt32(0), frame(index)});
  });
  llvm::LLVMContext& context = entry.getContext();
  llvm::BasicBlock* part = llvm::BasicBlock::Create(context, "part", &entry);
  llvm::BasicBlock* turn = llvm::BasicBlock::Create(context, "turn", &entry);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context, "done", &entry);
  llvm::Value* has_part =
      partial != nullptr ? builder.CreateICmpNE(rest, builder.getInt32(0)) : builder.getFalse();
  builder.CreateCondBr(has_part, part, turn);
  builder.SetInsertPoint(part);
  if (partial != nullptr) {
    builder.CreateCall(partial, {launch, group, whole, builder.getInt32(0), rest, frame(whole)});
  }
  builder.CreateBr(turn);
  builder.SetInsertPoint(turn);
  llvm::AllocaInst* waiting = Builder(&entry.getEntryBlock(), entry.getEntryBlock().begin())
                                  .CreateAlloca(builder.getInt1Ty());
  builder.CreateStore(builder.getFalse(), waiting);
  build_loop(builder, builder.getInt32(0), count, width, [&](llvm::Value* index) {
    llvm::BasicBlock* resume = llvm::BasicBlock::Create(context, "resume", &entry);
    llvm::BasicBlock* next = llvm::BasicBlock::Create(context, "next", &entry);
    llvm::Value* handle = frame(index);
    llvm::Value* ended = builder.CreateIntrinsic(llvm::Intrinsic::coro_done, {}, {handle});
    builder.CreateCondBr(ended, next, resume);
    builder.SetInsertPoint(resume);
    builder.CreateIntrinsic(llvm::Intrinsic::coro_resume, {}, {handle});
    builder.CreateStore(builder.getTrue(), waiting);
    builder.CreateBr(next);
    builder.SetInsertPoint(next);
  });
  builder.CreateCondBr(builder.CreateLoad(builder.getInt1Ty(), waiting), turn, done);
  builder.SetInsertPoint(done);
}

}  // namespace

void build_group_entry(llvm::Function& entry,
                       const Programs& programs,
                       unsigned width,
                       bool takes_rows) {
  Builder builder(llvm::BasicBlock::Create(entry.getContext(), "entry", &entry));
  if (programs.has_barriers) {
    build_in_turns(builder, entry, programs, width);
  } else if (takes_rows) {
    build_rows(builder, entry, programs, width);
  } else {
    build_in_sequence(builder, entry, programs, width, builder.getInt32(0));
  }
  builder.CreateRetVoid();
}

std::uint32_t resolve_program_bytes(llvm::Module& module) {
  std::uint64_t bytes = 0;
  if (llvm::Function* marker = module.getFunction(kFrameBytes)) {
    for (llvm::User* user : llvm::make_early_inc_range(marker->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      if (const auto* size = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0))) {
        bytes = std::max(bytes, size->getZExtValue());
      }
      call->eraseFromParent();
    }
    marker->eraseFromParent();
  }
  bytes = llvm::alignTo(bytes, kFrameAlignment);
  if (llvm::Function* marker = module.getFunction(kProgramBytes)) {
    for (llvm::User* user : llvm::make_early_inc_range(marker->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), bytes));
      call->eraseFromParent();
    }
    marker->eraseFromParent();
  }
  return static_cast<std::uint32_t>(bytes);
}

}  // namespace pewter::compiler::spmd
