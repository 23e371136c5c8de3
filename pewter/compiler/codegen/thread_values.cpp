#include "pewter/compiler/codegen/thread_values.h"

#include <cstddef>
#include <functional>

#include "llvm/IR/ConstantRange.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::codegen {
namespace {

using Builder = llvm::IRBuilder<>;

struct Marker {
  const char* name;
  /// Values are below this.
  std::uint32_t end;
};

// In the order of ThreadValue.
constexpr Marker kMarkers[kThreadValueCount] = {
    {"pewter.own_index_in_threadgroup", abi::kMaxThreadsPerThreadgroup},
    {"pewter.own_x", abi::kMaxThreadsPerThreadgroup},
    {"pewter.own_y", abi::kMaxThreadsPerThreadgroup},
    {"pewter.own_z", abi::kMaxThreadsPerThreadgroup},
    {"pewter.own_index_in_simdgroup", abi::kSimdWidth},
    {"pewter.own_simdgroup", abi::kMaxThreadsPerThreadgroup / abi::kSimdWidth},
    {"pewter.own_index_in_quadgroup", 4},
    {"pewter.own_quadgroup", abi::kMaxThreadsPerThreadgroup / 4},
};

using Values = std::array<llvm::Value*, kThreadValueCount>;

void replace(llvm::Function& thread, const Values& values) {
  for (std::size_t i = 0; i < kThreadValueCount; ++i) {
    llvm::Function* marker = thread.getParent()->getFunction(kMarkers[i].name);
    if (marker == nullptr) {
      continue;
    }
    for (llvm::User* user : llvm::make_early_inc_range(marker->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (call != nullptr && call->getFunction() == &thread) {
        call->replaceAllUsesWith(Builder(call).CreateZExtOrTrunc(values[i], call->getType()));
        call->eraseFromParent();
      }
    }
  }
}

llvm::Value*& at(Values& values, ThreadValue value) {
  return values[static_cast<std::size_t>(value)];
}

llvm::Value* group_size(Builder& builder, llvm::Value* group, unsigned axis) {
  return builder.CreateLoad(
      builder.getInt32Ty(),
      builder.CreateConstInBoundsGEP1_64(
          builder.getInt8Ty(), group, offsetof(abi::Group, size) + axis * sizeof(std::uint32_t)));
}

/// Quotient of numbers below 1025, without the processor's slow division: a float holds them
/// exactly, and half of one keeps away from whole quotients.
llvm::Value* small_quotient(Builder& builder, llvm::Value* dividend, llvm::Value* divisor) {
  llvm::Type* real = builder.getFloatTy();
  llvm::Value* above =
      builder.CreateFAdd(builder.CreateUIToFP(dividend, real), llvm::ConstantFP::get(real, 0.5));
  return builder.CreateFPToUI(builder.CreateFDiv(above, builder.CreateUIToFP(divisor, real)),
                              builder.getInt32Ty());
}

}  // namespace

llvm::Value* thread_value(Builder& builder, ThreadValue value) {
  const Marker& marker = kMarkers[static_cast<std::size_t>(value)];
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee = module.getOrInsertFunction(marker.name, builder.getInt32Ty());
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->addFnAttr(llvm::Attribute::Speculatable);
  function->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, marker.end)));
  return builder.CreateCall(callee);
}

bool uses_position(const llvm::Module& module) {
  for (const ThreadValue value : {ThreadValue::X, ThreadValue::Y, ThreadValue::Z}) {
    const llvm::Function* marker =
        module.getFunction(kMarkers[static_cast<std::size_t>(value)].name);
    if (marker != nullptr && !marker->use_empty()) {
      return true;
    }
  }
  return false;
}

void resolve_for_thread(llvm::Function& thread) {
  llvm::BasicBlock& entry = thread.getEntryBlock();
  Builder builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  llvm::Value* index = thread.getArg(2);
  llvm::Value* size[2] = {group_size(builder, thread.getArg(1), 0),
                          group_size(builder, thread.getArg(1), 1)};
  llvm::Value* row = builder.CreateUDiv(index, size[0]);
  Values values;
  at(values, ThreadValue::Index) = index;
  at(values, ThreadValue::X) = builder.CreateURem(index, size[0]);
  at(values, ThreadValue::Y) = builder.CreateURem(row, size[1]);
  at(values, ThreadValue::Z) = builder.CreateUDiv(row, size[1]);
  at(values, ThreadValue::SimdLane) = builder.CreateAnd(index, abi::kSimdWidth - 1);
  at(values, ThreadValue::Simdgroup) = builder.CreateLShr(index, std::uint64_t(5));
  at(values, ThreadValue::QuadLane) = builder.CreateAnd(index, 3);
  at(values, ThreadValue::Quadgroup) = builder.CreateLShr(index, std::uint64_t(2));
  replace(thread, values);
}

void resolve_for_lanes(llvm::Function& thread, unsigned width, const GroupShape& shape) {
  llvm::BasicBlock& entry = thread.getEntryBlock();
  Builder builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  const auto number = [&](std::uint32_t value) { return builder.getInt32(value); };
  llvm::FunctionCallee lane_call =
      thread.getParent()->getOrInsertFunction(spmd::kLaneCall, builder.getInt32Ty());
  auto* lane_function = llvm::cast<llvm::Function>(lane_call.getCallee());
  lane_function->setDoesNotAccessMemory();
  lane_function->setDoesNotThrow();
  lane_function->addFnAttr(llvm::Attribute::WillReturn);
  lane_function->addFnAttr(llvm::Attribute::Speculatable);
  lane_function->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, width)));
  const auto [size_x, size_y, size_z] = shape.size;
  const bool is_whole_group =
      shape.kind == GroupShape::Kind::Exact && size_x * size_y * size_z <= width;
  llvm::Value* first = is_whole_group ? number(0) : static_cast<llvm::Value*>(thread.getArg(2));
  llvm::Value* lane = builder.CreateCall(lane_call);
  llvm::Value* index = is_whole_group ? lane : builder.CreateAdd(first, lane, "", true, true);
  Values values;
  at(values, ThreadValue::Index) = index;
  at(values, ThreadValue::QuadLane) = builder.CreateAnd(lane, 3);
  at(values, ThreadValue::Quadgroup) = builder.CreateAdd(
      builder.CreateLShr(first, std::uint64_t(2)), builder.CreateLShr(lane, std::uint64_t(2)));
  llvm::Value* simdgroup = builder.CreateLShr(first, std::uint64_t(5));
  if (width < abi::kSimdWidth) {
    at(values, ThreadValue::SimdLane) =
        builder.CreateAdd(builder.CreateAnd(first, abi::kSimdWidth - 1), lane);
  } else {
    at(values, ThreadValue::SimdLane) = builder.CreateAnd(lane, abi::kSimdWidth - 1);
    simdgroup = builder.CreateAdd(simdgroup, builder.CreateLShr(lane, std::uint64_t(5)));
  }
  at(values, ThreadValue::Simdgroup) = simdgroup;

  llvm::Value*& x = at(values, ThreadValue::X);
  llvm::Value*& y = at(values, ThreadValue::Y);
  llvm::Value*& z = at(values, ThreadValue::Z);
  switch (shape.kind) {
    case GroupShape::Kind::Linear:
      x = index;
      y = z = number(0);
      break;
    case GroupShape::Kind::Exact:
      // The lanes' part stays a pattern that is known at compile time where sizes allow it.
      if (size_x % width == 0) {
        llvm::Value* row = builder.CreateUDiv(first, number(size_x));
        x = builder.CreateAdd(builder.CreateURem(first, number(size_x)), lane, "", true, true);
        y = builder.CreateURem(row, number(size_y));
        z = builder.CreateUDiv(row, number(size_y));
      } else if (width % size_x == 0 && (size_x * size_y) % width == 0) {
        llvm::Value* row = builder.CreateUDiv(first, number(size_x));
        x = builder.CreateURem(lane, number(size_x));
        y = builder.CreateAdd(builder.CreateURem(row, number(size_y)),
                              builder.CreateUDiv(lane, number(size_x)), "", true, true);
        z = builder.CreateUDiv(row, number(size_y));
      } else if (is_whole_group) {
        llvm::Value* row = builder.CreateUDiv(lane, number(size_x));
        x = builder.CreateURem(lane, number(size_x));
        y = builder.CreateURem(row, number(size_y));
        z = builder.CreateUDiv(row, number(size_y));
      } else {
        llvm::Value* row = builder.CreateUDiv(index, number(size_x));
        x = builder.CreateURem(index, number(size_x));
        y = builder.CreateURem(row, number(size_y));
        z = builder.CreateUDiv(row, number(size_y));
      }
      break;
    case GroupShape::Kind::Any: {
      llvm::Value* columns = group_size(builder, thread.getArg(1), 0);
      llvm::Value* rows = group_size(builder, thread.getArg(1), 1);
      llvm::Value* row = small_quotient(builder, index, columns);
      x = builder.CreateSub(index, builder.CreateMul(row, columns));
      z = small_quotient(builder, row, rows);
      y = builder.CreateSub(row, builder.CreateMul(z, rows));
      break;
    }
  }
  replace(thread, values);
}

}  // namespace pewter::compiler::codegen
