#include "pewter/compiler/spmd/half_vectors.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

namespace pewter::compiler::spmd {
namespace {

constexpr std::uint64_t kSignBit = 0x8000;
constexpr std::uint64_t kOtherBits = 0x7fff;
// Of a float: the bits that bfloat has, and the one that makes a NaN quiet.
constexpr std::uint64_t kUpperHalf = 0xffff0000;
constexpr std::uint64_t kQuietBit = 0x00400000;

/// Of half or bfloat.
bool is_half_vector(const llvm::Type* type) {
  return type->isVectorTy() && type->getScalarType()->is16bitFPTy();
}

/// Functions that LLVM computes in float and rounds when it has single values.
bool is_computed_in_float(llvm::Intrinsic::ID function) {
  switch (function) {
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::maximum:
    case llvm::Intrinsic::maxnum:
    case llvm::Intrinsic::minimum:
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::nearbyint:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::round:
    case llvm::Intrinsic::roundeven:
    case llvm::Intrinsic::sqrt:
    case llvm::Intrinsic::trunc:
      return true;
    default:
      return false;
  }
}

class Replacement {
 public:
  explicit Replacement(llvm::Function& function) : builder_(function.getContext()) {
    // Definitions before their uses, phis excepted.
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) {
      for (llvm::Instruction& instruction : *block) {
        if (is_half_vector(instruction.getType()) || uses_half_vector(instruction)) {
          found_.push_back(&instruction);
        }
      }
    }
  }

  void run() {
    for (llvm::Instruction* instruction : found_) {
      builder_.SetInsertPoint(instruction);
      if (llvm::Value* bits = replaced_result(*instruction); bits != nullptr) {
        bits_[instruction] = bits;
        replaced_.push_back(instruction);
      } else if (llvm::Value* value = replaced_use(*instruction); value != nullptr) {
        instruction->replaceAllUsesWith(value);
        replaced_.push_back(instruction);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction); store != nullptr) {
        store->setOperand(0, bits_of(store->getValueOperand()));
      } else {
        keep(*instruction);
      }
    }
    for (const auto& [phi, bits] : phis_) {
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
        builder_.SetInsertPoint(phi->getIncomingBlock(i)->getTerminator());
        bits->addIncoming(bits_of(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
      }
    }
    for (llvm::Instruction* instruction : replaced_) {
      instruction->replaceAllUsesWith(llvm::PoisonValue::get(instruction->getType()));
    }
    for (llvm::Instruction* instruction : replaced_) {
      instruction->eraseFromParent();
    }
    llvm::SmallVector<llvm::WeakTrackingVH, 16> unused(loads_.begin(), loads_.end());
    for (const auto& [value, bits] : bits_) {
      unused.emplace_back(bits);
    }
    for (const auto& [value, floats] : rounded_) {
      unused.emplace_back(floats);
    }
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
  }

 private:
  static bool uses_half_vector(const llvm::Instruction& instruction) {
    return llvm::any_of(instruction.operands(), [](const llvm::Use& operand) {
      return is_half_vector(operand->getType());
    });
  }

  llvm::Type* bits_type(llvm::Type* type) {
    return llvm::VectorType::get(builder_.getInt16Ty(), llvm::cast<llvm::VectorType>(type));
  }

  llvm::Value* bits_of(llvm::Value* value) {
    if (const auto known = bits_.find(value); known != bits_.end()) {
      return known->second;
    }
    // A constant, or an argument.
    return builder_.CreateBitCast(value, bits_type(value->getType()));
  }

  /// Loaded as bits where that is all: LLVM keeps a single bfloat that is used in another block as
  /// a float, and rounds it again.
  llvm::Value* bits_of_single(llvm::Value* value) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
        load != nullptr && load->isSimple() && load->hasOneUse()) {
      loads_.push_back(load);
      llvm::IRBuilder<> at_load(load);
      return at_load.CreateAlignedLoad(at_load.getInt16Ty(), load->getPointerOperand(),
                                       load->getAlign());
    }
    return builder_.CreateBitCast(value, builder_.getInt16Ty());
  }

  llvm::Value* number(std::uint64_t bits, llvm::Type* type) {
    return llvm::ConstantInt::get(bits_type(type), bits);
  }

  static llvm::VectorType* floats(llvm::Type* type) {
    return llvm::VectorType::get(llvm::Type::getFloatTy(type->getContext()),
                                 llvm::cast<llvm::VectorType>(type));
  }

  static llvm::VectorType* words(llvm::Type* type) {
    return llvm::VectorType::get(llvm::Type::getInt32Ty(type->getContext()),
                                 llvm::cast<llvm::VectorType>(type));
  }

  llvm::Value* floats_of(llvm::Value* value) {
    llvm::Type* type = value->getType();
    if (type->getScalarType()->isHalfTy()) {
      return builder_.CreateFPExt(builder_.CreateBitCast(bits_of(value), type), floats(type));
    }
    if (const auto known = rounded_.find(value); known != rounded_.end()) {
      return known->second;
    }
    llvm::Value* shifted = builder_.CreateShl(builder_.CreateZExt(bits_of(value), words(type)), 16);
    return builder_.CreateBitCast(shifted, floats(type));
  }

  /// The bits of what is nearest to floats, ties to even; NaN stays NaN. `instruction` makes it,
  /// and whoever needs bfloats as floats again gets them without a detour.
  llvm::Value* rounded(llvm::Instruction& instruction, llvm::Value* exact) {
    if (instruction.getType()->getScalarType()->isHalfTy()) {
      return builder_.CreateBitCast(builder_.CreateFPTrunc(exact, instruction.getType()),
                                    bits_type(instruction.getType()));
    }
    llvm::Type* type = words(instruction.getType());
    llvm::Value* all = builder_.CreateBitCast(exact, type);
    llvm::Value* odd = builder_.CreateAnd(builder_.CreateLShr(all, 16), 1);
    llvm::Value* nearest =
        builder_.CreateAdd(all, builder_.CreateAdd(odd, llvm::ConstantInt::get(type, kOtherBits)));
    llvm::Value* quiet = builder_.CreateOr(all, llvm::ConstantInt::get(type, kQuietBit));
    llvm::Value* chosen =
        builder_.CreateSelect(builder_.CreateFCmpUNO(exact, exact), quiet, nearest);
    rounded_[&instruction] = builder_.CreateBitCast(
        builder_.CreateAnd(chosen, llvm::ConstantInt::get(type, kUpperHalf)), exact->getType());
    return builder_.CreateTrunc(builder_.CreateLShr(chosen, 16), bits_type(instruction.getType()));
  }

  llvm::Value* computed_in_float(llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const unsigned count = call != nullptr ? call->arg_size() : instruction.getNumOperands();
    llvm::SmallVector<llvm::Value*, 3> operands;
    for (unsigned i = 0; i < count; ++i) {
      operands.push_back(floats_of(instruction.getOperand(i)));
    }
    llvm::Value* exact = nullptr;
    if (call != nullptr) {
      exact = builder_.CreateIntrinsic(call->getIntrinsicID(), {floats(instruction.getType())},
                                       operands);
    } else {
      exact =
          builder_.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(instruction.getOpcode()),
                               operands[0], operands[1]);
    }
    return rounded(instruction, exact);
  }

  /// The bits of a vector that an instruction makes; null when it has to make it itself.
  llvm::Value* replaced_result(llvm::Instruction& instruction) {
    llvm::Type* type = instruction.getType();
    if (!is_half_vector(type)) {
      return nullptr;
    }
    switch (instruction.getOpcode()) {
      case llvm::Instruction::PHI: {
        auto* phi = llvm::cast<llvm::PHINode>(&instruction);
        llvm::PHINode* bits = builder_.CreatePHI(bits_type(type), phi->getNumIncomingValues());
        phis_.emplace_back(phi, bits);
        return bits;
      }
      case llvm::Instruction::Load: {
        auto* load = llvm::cast<llvm::LoadInst>(&instruction);
        llvm::LoadInst* bits = builder_.CreateAlignedLoad(
            bits_type(type), load->getPointerOperand(), load->getAlign(), load->isVolatile());
        bits->setAAMetadata(load->getAAMetadata());
        return bits;
      }
      case llvm::Instruction::Select:
        return builder_.CreateSelect(instruction.getOperand(0), bits_of(instruction.getOperand(1)),
                                     bits_of(instruction.getOperand(2)));
      case llvm::Instruction::Freeze:
        return builder_.CreateFreeze(bits_of(instruction.getOperand(0)));
      case llvm::Instruction::ShuffleVector: {
        auto& shuffle = llvm::cast<llvm::ShuffleVectorInst>(instruction);
        return builder_.CreateShuffleVector(bits_of(shuffle.getOperand(0)),
                                            bits_of(shuffle.getOperand(1)),
                                            shuffle.getShuffleMask());
      }
      case llvm::Instruction::InsertElement:
        return builder_.CreateInsertElement(bits_of(instruction.getOperand(0)),
                                            bits_of_single(instruction.getOperand(1)),
                                            instruction.getOperand(2));
      case llvm::Instruction::BitCast:
        return builder_.CreateBitCast(instruction.getOperand(0), bits_type(type));
      case llvm::Instruction::FNeg:
        return builder_.CreateXor(bits_of(instruction.getOperand(0)), number(kSignBit, type));
      case llvm::Instruction::FAdd:
      case llvm::Instruction::FSub:
      case llvm::Instruction::FMul:
      case llvm::Instruction::FDiv:
        return computed_in_float(instruction);
      case llvm::Instruction::FPTrunc: {
        llvm::Value* exact = instruction.getOperand(0);
        const bool is_float = exact->getType()->getScalarType()->isFloatTy();
        return is_float ? rounded(instruction, exact) : nullptr;
      }
      case llvm::Instruction::Call:
        return replaced_call(llvm::cast<llvm::CallInst>(instruction));
      default:
        return nullptr;
    }
  }

  llvm::Value* replaced_call(llvm::CallInst& call) {
    llvm::Type* type = call.getType();
    switch (call.getIntrinsicID()) {
      case llvm::Intrinsic::fabs:
        return builder_.CreateAnd(bits_of(call.getArgOperand(0)), number(kOtherBits, type));
      case llvm::Intrinsic::copysign:
        return builder_.CreateOr(
            builder_.CreateAnd(bits_of(call.getArgOperand(0)), number(kOtherBits, type)),
            builder_.CreateAnd(bits_of(call.getArgOperand(1)), number(kSignBit, type)));
      default:
        return is_computed_in_float(call.getIntrinsicID()) ? computed_in_float(call) : nullptr;
    }
  }

  /// What an instruction makes of vectors, made of their bits; null when it has to take
  /// them as they are.
  llvm::Value* replaced_use(llvm::Instruction& instruction) {
    llvm::Type* type = instruction.getType();
    switch (instruction.getOpcode()) {
      case llvm::Instruction::ExtractElement: {
        llvm::Value* bits = builder_.CreateExtractElement(bits_of(instruction.getOperand(0)),
                                                          instruction.getOperand(1));
        for (llvm::Use& use : llvm::make_early_inc_range(instruction.uses())) {
          if (llvm::isa<llvm::StoreInst>(use.getUser())) {
            use.set(bits);
          }
        }
        return builder_.CreateBitCast(bits, type);
      }
      case llvm::Instruction::FCmp: {
        auto& compare = llvm::cast<llvm::FCmpInst>(instruction);
        return builder_.CreateFCmp(compare.getPredicate(), floats_of(compare.getOperand(0)),
                                   floats_of(compare.getOperand(1)));
      }
      case llvm::Instruction::FPExt:
        return builder_.CreateFPExt(floats_of(instruction.getOperand(0)), type);
      case llvm::Instruction::BitCast:
        return is_half_vector(type)
                   ? nullptr
                   : builder_.CreateBitCast(bits_of(instruction.getOperand(0)), type);
      default:
        return nullptr;
    }
  }

  /// The instruction stays, and takes what it used to.
  void keep(llvm::Instruction& instruction) {
    for (llvm::Use& operand : instruction.operands()) {
      if (const auto known = bits_.find(operand.get()); known != bits_.end()) {
        operand.set(builder_.CreateBitCast(known->second, operand->getType()));
      }
    }
    if (is_half_vector(instruction.getType())) {
      builder_.SetInsertPoint(instruction.getNextNode());
      bits_[&instruction] = builder_.CreateBitCast(&instruction, bits_type(instruction.getType()));
    }
  }

  llvm::IRBuilder<> builder_;
  std::vector<llvm::Instruction*> found_;
  std::vector<llvm::Instruction*> replaced_;
  // Of single values that are loaded as bits.
  std::vector<llvm::LoadInst*> loads_;
  std::vector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> bits_;
  // bfloats as floats.
  llvm::DenseMap<llvm::Value*, llvm::Value*> rounded_;
};

}  // namespace

void replace_half_vectors(llvm::Function& function) {
  if (!function.isDeclaration()) {
    Replacement(function).run();
  }
}

}  // namespace pewter::compiler::spmd
