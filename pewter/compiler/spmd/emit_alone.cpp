#include <algorithm>

#include "pewter/compiler/spmd/emitter.h"

namespace pewter::compiler::spmd {
namespace {

constexpr unsigned kWordBits = 64;
// Of so many iterations of a watched loop, the lanes of the first few are counted.
constexpr unsigned kIterationsBetween = 32;
constexpr unsigned kCountedIterations = 2;

}  // namespace

// The active lanes as bits, up to 64 in a word; only those for which `among` holds, if that is
// given.
llvm::SmallVector<llvm::Value*, 8> Emitter::lane_words(const Chunks* among) {
  llvm::SmallVector<llvm::Value*, 8> words;
  const unsigned chunks_per_word = kWordBits / lanes_.per_chunk;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::Value* lanes = active(chunk);
    if (among != nullptr) {
      lanes = builder_.CreateLogicalAnd(lanes, (*among)[chunk]);
    }
    llvm::Value* bits = builder_.CreateBitCast(lanes, builder_.getIntNTy(lanes_.per_chunk));
    bits = builder_.CreateZExt(bits, builder_.getInt64Ty());
    const unsigned place = chunk % chunks_per_word;
    if (place == 0) {
      words.push_back(bits);
    } else {
      words.back() =
          builder_.CreateOr(words.back(), builder_.CreateShl(bits, place * lanes_.per_chunk));
    }
  }
  return words;
}

llvm::Value* Emitter::count_lanes(const Chunks* among) {
  llvm::Value* count = builder_.getInt64(0);
  for (llvm::Value* word : lane_words(among)) {
    count = builder_.CreateAdd(count, builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, word));
  }
  return count;
}

llvm::Value* Emitter::emit_few(llvm::Value* few) {
  return builder_.CreateICmpULE(count_lanes(), builder_.CreateZExt(few, builder_.getInt64Ty()));
}

llvm::Value* Emitter::emit_apart(const Chunks& values) {
  llvm::Value* first = splat(any_lane_of(values));
  Chunks same;
  for (llvm::Value* value : values) {
    same.push_back(builder_.CreateICmpEQ(value, first));
  }
  return builder_.CreateICmpULT(builder_.CreateMul(count_lanes(&same), builder_.getInt64(4)),
                                count_lanes());
}

const Emitter::Watched& Emitter::watched(std::uint64_t number) {
  const auto [place, is_new] = watched_.try_emplace(number);
  if (is_new) {
    place->second = {new_slot(builder_.getInt1Ty(), "counts"),
                     new_slot(builder_.getInt64Ty(), "saved")};
  }
  return place->second;
}

void Emitter::emit_watch(llvm::CallInst& call) {
  const Watched& loop =
      watched(llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue());
  llvm::Value* turn =
      builder_.CreateAnd(scalar(call.getArgOperand(1)), builder_.getInt32(kIterationsBetween - 1));
  builder_.CreateStore(builder_.CreateICmpULT(turn, builder_.getInt32(kCountedIterations)),
                       loop.counts);
  llvm::Value* saved = builder_.CreateLoad(builder_.getInt64Ty(), loop.saved);
  builder_.CreateStore(
      builder_.CreateSelect(builder_.CreateIsNull(turn), builder_.getInt64(0), saved), loop.saved);
}

void Emitter::emit_work(llvm::CallInst& call) {
  const Watched& loop =
      watched(llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue());
  llvm::BasicBlock* count = new_block("work");
  llvm::BasicBlock* behind = new_block("work.counted");
  builder_.CreateCondBr(builder_.CreateLoad(builder_.getInt1Ty(), loop.counts), count, behind);
  builder_.SetInsertPoint(count);
  llvm::Type* type = builder_.getInt64Ty();
  llvm::Value* alone =
      builder_.CreateMul(count_lanes(), builder_.CreateZExt(call.getArgOperand(1), type));
  llvm::Value* together = builder_.CreateZExt(call.getArgOperand(2), type);
  llvm::Value* saved = builder_.CreateLoad(type, loop.saved);
  builder_.CreateStore(builder_.CreateAdd(saved, builder_.CreateSub(together, alone)), loop.saved);
  builder_.CreateBr(behind);
  builder_.SetInsertPoint(behind);
}

llvm::Value* Emitter::emit_idle(llvm::CallInst& call) {
  llvm::Type* type = builder_.getInt64Ty();
  const auto number = llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue();
  const auto outer = llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue();
  llvm::Value* saved = builder_.CreateLoad(type, watched(number).saved);
  llvm::Value* idle = builder_.CreateICmpSGT(saved, builder_.getInt64(0));
  if (outer != number) {
    // What lanes do alone is not seen any more, though it speaks for leaving the loop around as
    // well.
    llvm::AllocaInst* slot = watched(outer).saved;
    llvm::Value* more = builder_.CreateSelect(idle, saved, builder_.getInt64(0));
    builder_.CreateStore(builder_.CreateAdd(builder_.CreateLoad(type, slot), more), slot);
  }
  return idle;
}

// Of the first active lane; of the first lane when none is.
llvm::Value* Emitter::any_lane_of(const Chunks& values) {
  llvm::Value* lane = builder_.getInt64(0);
  const auto words = lane_words();
  for (unsigned i = static_cast<unsigned>(words.size()); i-- > 0;) {
    llvm::Value* first =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, words[i], builder_.getFalse());
    llvm::Value* is_here = builder_.CreateICmpNE(words[i], builder_.getInt64(0));
    lane = builder_.CreateSelect(is_here,
                                 builder_.CreateAdd(first, builder_.getInt64(i * kWordBits)), lane);
  }
  return lane_in_memory(in_memory(values, "same"), values[0]->getType()->getScalarType(), lane);
}

// What a lane's value is in memory: whole bytes of its own. LLVM counts short loops in integers of
// two bits, of which vectors in memory have several to a byte.
llvm::Type* Emitter::memory_type(llvm::Type* type) {
  const auto* integer = llvm::dyn_cast<llvm::IntegerType>(type);
  if (integer == nullptr) {
    return type;
  }
  const auto bits = static_cast<unsigned>(llvm::PowerOf2Ceil(integer->getBitWidth()));
  return builder_.getIntNTy(std::max(8U, bits));
}

// A lane of what in_memory() has written.
llvm::Value* Emitter::lane_in_memory(llvm::Value* memory, llvm::Type* type, llvm::Value* lane) {
  llvm::Type* stored = memory_type(type);
  llvm::Value* value = builder_.CreateLoad(stored, builder_.CreateGEP(stored, memory, lane));
  return stored == type ? value : builder_.CreateTrunc(value, type);
}

// What differs between lanes is handed over through memory, so that there is one call in a loop.
void Emitter::emit_alone(llvm::CallInst& call) {
  const auto words = lane_words();
  llvm::Type* word_type = builder_.getInt64Ty();
  llvm::AllocaInst* active_lanes =
      new_slot(llvm::ArrayType::get(word_type, words.size()), "active.lanes");
  for (unsigned i = 0; i < words.size(); ++i) {
    builder_.CreateStore(words[i], builder_.CreateConstGEP1_32(word_type, active_lanes, i));
  }
  llvm::SmallVector<llvm::Value*, 8> arguments;
  for (llvm::Value* argument : call.args()) {
    arguments.push_back(analyses_.shapes.is_uniform(argument)
                            ? scalar(argument)
                            : in_memory(vector(argument), "argument"));
  }
  const auto* type = llvm::cast<llvm::StructType>(call.getType());
  llvm::SmallVector<llvm::AllocaInst*, 4> results;
  for (llvm::Type* part : type->elements()) {
    results.push_back(new_slot(llvm::ArrayType::get(memory_type(part), lanes_.width), "result"));
    results.back()->setAlignment(llvm::Align(64));
  }

  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* next_word = new_block("alone.word");
  llvm::BasicBlock* next_lane = new_block("alone.lane");
  llvm::BasicBlock* word_done = new_block("alone.word.done");
  llvm::BasicBlock* done = new_block("alone.done");
  builder_.CreateBr(next_word);

  // The lane of the first bit; the word's first lane when no bit is left.
  llvm::PHINode* number = nullptr;
  const auto lane_of = [&](llvm::Value* bits) {
    llvm::Value* bit =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, builder_.getFalse());
    return builder_.CreateAdd(builder_.CreateMul(number, builder_.getInt64(kWordBits)),
                              builder_.CreateAnd(bit, kWordBits - 1));
  };
  const auto load_arguments = [&](llvm::Value* lane) {
    llvm::SmallVector<llvm::Value*, 8> values = arguments;
    for (unsigned i = 0; i < values.size(); ++i) {
      const llvm::Value* argument = call.getArgOperand(i);
      if (!analyses_.shapes.is_uniform(argument)) {
        values[i] = lane_in_memory(arguments[i], argument->getType(), lane);
      }
    }
    return values;
  };

  builder_.SetInsertPoint(next_word);
  number = builder_.CreatePHI(word_type, 2);
  number->addIncoming(builder_.getInt64(0), before);
  llvm::Value* word =
      builder_.CreateLoad(word_type, builder_.CreateGEP(word_type, active_lanes, number));
  llvm::Value* first_lane = lane_of(word);
  const auto first_values = load_arguments(first_lane);
  builder_.CreateCondBr(builder_.CreateIsNull(word), word_done, next_lane);

  // A lane's arguments are loaded before the call for the lane before: a processor that has
  // guessed wrong where that one's loop ends would have to wait for them afterwards.
  builder_.SetInsertPoint(next_lane);
  llvm::PHINode* left = builder_.CreatePHI(word_type, 2);
  left->addIncoming(word, next_word);
  llvm::PHINode* lane = builder_.CreatePHI(word_type, 2);
  lane->addIncoming(first_lane, next_word);
  llvm::SmallVector<llvm::Value*, 8> values = first_values;
  for (unsigned i = 0; i < values.size(); ++i) {
    if (values[i] != arguments[i]) {
      llvm::PHINode* value = builder_.CreatePHI(values[i]->getType(), 2);
      value->addIncoming(values[i], next_word);
      values[i] = value;
    }
  }
  llvm::Value* others = builder_.CreateAnd(left, builder_.CreateSub(left, builder_.getInt64(1)));
  left->addIncoming(others, next_lane);
  llvm::Value* other_lane = lane_of(others);
  lane->addIncoming(other_lane, next_lane);
  const auto other_values = load_arguments(other_lane);
  for (unsigned i = 0; i < values.size(); ++i) {
    if (values[i] != arguments[i]) {
      llvm::cast<llvm::PHINode>(values[i])->addIncoming(other_values[i], next_lane);
    }
  }
  llvm::Value* result =
      builder_.CreateCall(call.getFunctionType(), call.getCalledOperand(), values);
  for (unsigned i = 0; i < results.size(); ++i) {
    llvm::Type* stored = memory_type(type->getElementType(i));
    builder_.CreateStore(
        builder_.CreateZExtOrBitCast(builder_.CreateExtractValue(result, i), stored),
        builder_.CreateGEP(stored, results[i], lane));
  }
  builder_.CreateCondBr(builder_.CreateIsNull(others), word_done, next_lane);

  builder_.SetInsertPoint(word_done);
  llvm::Value* next = builder_.CreateAdd(number, builder_.getInt64(1));
  number->addIncoming(next, word_done);
  llvm::Value* is_last = builder_.CreateICmpEQ(next, builder_.getInt64(words.size()));
  builder_.CreateCondBr(is_last, done, next_word);

  builder_.SetInsertPoint(done);
  llvm::SmallVector<Chunks, 2>& parts = components_[&call];
  for (unsigned i = 0; i < results.size(); ++i) {
    parts.emplace_back();
    llvm::Type* part = type->getElementType(i);
    llvm::Type* stored = memory_type(part);
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      llvm::Value* value = builder_.CreateLoad(
          chunk_type(stored),
          builder_.CreateConstGEP1_32(stored, results[i], chunk * lanes_.per_chunk));
      parts.back().push_back(stored == part ? value
                                            : builder_.CreateTrunc(value, chunk_type(part)));
    }
  }
}

}  // namespace pewter::compiler::spmd
