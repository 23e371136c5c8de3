#include <algorithm>
#include <limits>

#include "llvm/IR/PatternMatch.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/spmd/emitter.h"

namespace pewter::compiler::spmd {

using Kind = DeviceCall::Kind;

unsigned Emitter::chunks_per_simdgroup() const {
  return std::min(abi::kSimdWidth, lanes_.width) / lanes_.per_chunk;
}

/// The lanes' values as an array in memory; conditions as bytes.
llvm::Value* Emitter::in_memory(const Chunks& values, const llvm::Twine& name) {
  llvm::Type* stored = memory_type(values[0]->getType()->getScalarType());
  llvm::AllocaInst* memory = new_slot(llvm::ArrayType::get(stored, lanes_.width), name);
  memory->setAlignment(llvm::Align(64));
  for (unsigned chunk = 0; chunk < values.size(); ++chunk) {
    llvm::Value* value = builder_.CreateZExtOrBitCast(values[chunk], chunk_type(stored));
    builder_.CreateAlignedStore(
        value, builder_.CreateConstGEP1_32(stored, memory, chunk * lanes_.per_chunk),
        llvm::Align(1));
  }
  return memory;
}

llvm::Value* Emitter::read_lanes(llvm::Value* memory, llvm::Type* element, llvm::Value* indices) {
  llvm::FixedVectorType* type = chunk_type(element);
  llvm::Value* addresses = builder_.CreateGEP(
      element, memory, builder_.CreateZExt(indices, chunk_type(builder_.getInt64Ty())));
  return builder_.CreateMaskedGather(
      type, addresses, layout_.getABITypeAlign(element),
      llvm::Constant::getAllOnesValue(chunk_type(builder_.getInt1Ty())),
      llvm::PoisonValue::get(type));
}

/// One bit for each lane of a simdgroup, as i32.
llvm::Value* Emitter::simdgroup_bits(const Chunks& mask, unsigned first_chunk) {
  llvm::Type* type = builder_.getInt32Ty();
  if (mask.empty()) {
    return llvm::Constant::getAllOnesValue(type);
  }
  llvm::Value* bits = llvm::ConstantInt::get(type, 0);
  for (unsigned i = 0; i < chunks_per_simdgroup(); ++i) {
    llvm::Value* own = builder_.CreateBitCast(lane_bits(mask[first_chunk + i]),
                                              builder_.getIntNTy(lanes_.per_chunk));
    bits = builder_.CreateOr(bits, builder_.CreateShl(builder_.CreateZExt(own, type),
                                                      std::uint64_t(i) * lanes_.per_chunk));
  }
  return bits;
}

void Emitter::define_grouped(const llvm::CallInst& call,
                             llvm::ArrayRef<llvm::Value*> per_simdgroup) {
  if (analyses_.shapes.is_uniform(&call)) {
    define_scalar(&call, per_simdgroup[0]);
    return;
  }
  Chunks result;
  for (llvm::Value* value : per_simdgroup) {
    result.append(chunks_per_simdgroup(), splat(value));
  }
  define_vector(&call, std::move(result));
}

llvm::Value* Emitter::combine(const DeviceCall& device, llvm::Value* a, llvm::Value* b) {
  const bool is_float = a->getType()->isFPOrFPVectorTy();
  const llvm::StringRef operation = device.operation;
  if (operation.ends_with("sum")) {
    return is_float ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
  }
  if (operation.ends_with("product")) {
    return is_float ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
  }
  if (operation == "and") {
    return builder_.CreateAnd(a, b);
  }
  if (operation == "or") {
    return builder_.CreateOr(a, b);
  }
  if (operation == "xor") {
    return builder_.CreateXor(a, b);
  }
  const bool is_min = operation == "min";
  llvm::Intrinsic::ID id = is_min ? llvm::Intrinsic::minnum : llvm::Intrinsic::maxnum;
  if (!is_float) {
    id = device.is_signed ? (is_min ? llvm::Intrinsic::smin : llvm::Intrinsic::smax)
                          : (is_min ? llvm::Intrinsic::umin : llvm::Intrinsic::umax);
  }
  return builder_.CreateBinaryIntrinsic(id, a, b);
}

/// What changes nothing when it is combined.
llvm::Constant* Emitter::identity(const DeviceCall& device, llvm::Type* type) {
  const llvm::StringRef operation = device.operation;
  const bool is_float = type->isFloatingPointTy();
  if (operation.ends_with("sum")) {
    return is_float ? llvm::ConstantFP::get(type, -0.0) : llvm::ConstantInt::get(type, 0);
  }
  if (operation.ends_with("product")) {
    return is_float ? llvm::ConstantFP::get(type, 1.0) : llvm::ConstantInt::get(type, 1);
  }
  if (operation == "and") {
    return llvm::Constant::getAllOnesValue(type);
  }
  if (operation == "min" || operation == "max") {
    if (is_float) {
      return llvm::ConstantFP::getNaN(type);
    }
    const unsigned bits = type->getIntegerBitWidth();
    const bool is_min = operation == "min";
    if (device.is_signed) {
      return llvm::ConstantInt::get(type, is_min ? llvm::APInt::getSignedMaxValue(bits)
                                                 : llvm::APInt::getSignedMinValue(bits));
    }
    return llvm::ConstantInt::get(
        type, is_min ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getZero(bits));
  }
  return llvm::Constant::getNullValue(type);
}

/// A value with something harmless in lanes that are not active.
Chunks Emitter::masked_operand(const llvm::Value* value, llvm::Constant* inactive) {
  Chunks result = vector(value);
  for (unsigned chunk = 0; !mask_.empty() && chunk < lanes_.chunks(); ++chunk) {
    result[chunk] = builder_.CreateSelect(active(chunk), result[chunk], splat(inactive));
  }
  return result;
}

/// Whether a condition holds in every active lane, one part of it after the other.
// Whether `first + lane < bound`, or another comparison, holds in every lane: that of the lane that
// comes next to the bound says it, unless lanes wrap, which counts as no.
llvm::Value* Emitter::bound_holds_everywhere(const llvm::ICmpInst& comparison, bool negate) {
  const unsigned varying = analyses_.shapes.is_uniform(comparison.getOperand(0)) ? 1 : 0;
  const llvm::Value* value = comparison.getOperand(varying);
  const llvm::Value* bound = comparison.getOperand(1 - varying);
  const Shape& shape = analyses_.shapes.of(value);
  if (!comparison.isRelational() || !analyses_.shapes.is_uniform(bound) ||
      !value->getType()->isIntegerTy() || value->getType()->getIntegerBitWidth() < 32 ||
      shape.kind != Shape::Kind::Affine || shape.accuracy != Shape::Accuracy::Exact ||
      shape.terms.size() != 1 || shape.has_factors()) {
    return nullptr;
  }
  const std::vector<std::int64_t>& lanes = shape.terms[0].lanes;
  const auto [low, high] = std::minmax_element(lanes.begin(), lanes.end());
  if (*high - *low > std::numeric_limits<std::int32_t>::max()) {
    return nullptr;
  }
  llvm::Value* lowest = scalar_at(value, static_cast<unsigned>(low - lanes.begin()));
  llvm::Value* highest = scalar_at(value, static_cast<unsigned>(high - lanes.begin()));
  auto predicate = varying == 0 ? comparison.getPredicate() : comparison.getSwappedPredicate();
  if (negate) {
    predicate = llvm::ICmpInst::getInversePredicate(predicate);
  }
  const bool is_below = llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);
  llvm::Value* in_order = builder_.CreateICmp(
      comparison.isSigned() ? llvm::ICmpInst::ICMP_SLE : llvm::ICmpInst::ICMP_ULE, lowest, highest);
  return builder_.CreateAnd(
      in_order, builder_.CreateICmp(predicate, is_below ? highest : lowest, scalar(bound)));
}

llvm::Value* Emitter::holds_everywhere(const llvm::Value* condition) {
  if (analyses_.shapes.is_uniform(condition)) {
    return scalar(condition);
  }
  llvm::Value* negated = nullptr;
  llvm::PatternMatch::match(condition,
                            llvm::PatternMatch::m_Not(llvm::PatternMatch::m_Value(negated)));
  const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(negated != nullptr ? negated : condition);
  if (comparison != nullptr && mask_.empty()) {
    if (llvm::Value* holds = bound_holds_everywhere(*comparison, negated != nullptr)) {
      return holds;
    }
  }
  const auto* both = llvm::dyn_cast<llvm::Instruction>(condition);
  const bool is_choice =
      both != nullptr && llvm::isa<llvm::SelectInst>(both) &&
      llvm::PatternMatch::match(both->getOperand(2), llvm::PatternMatch::m_Zero());
  if (both != nullptr && (both->getOpcode() == llvm::Instruction::And || is_choice)) {
    llvm::Value* first = holds_everywhere(both->getOperand(0));
    return builder_.CreateLogicalAnd(first, holds_everywhere(both->getOperand(1)));
  }
  Chunks conditions = vector(condition);
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::Value* holds = builder_.CreateSExt(conditions[chunk], mask_type());
    if (!mask_.empty()) {
      holds =
          builder_.CreateSelect(active(chunk), holds, llvm::Constant::getAllOnesValue(mask_type()));
    }
    conditions[chunk] = holds;
  }
  return all_of(conditions);
}

void Emitter::emit_cross_lane(llvm::CallInst& call, const DeviceCall& device) {
  if (device.is_cross_lane() && device.group > lanes_.width) {
    give_up("a simdgroup operation in a program of less than 32 lanes", call);
    return;
  }
  switch (device.kind) {
    case Kind::Lane: {
      Chunks numbers;
      for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
        numbers.push_back(lane_numbers(chunk, call.getType()));
      }
      define_scalar(&call, llvm::ConstantInt::get(call.getType(), 0));
      define_vector(&call, std::move(numbers));
      return;
    }
    case Kind::AllLanes:
      define_scalar(&call, holds_everywhere(call.getArgOperand(0)));
      return;
    case Kind::FewLanes:
      define_scalar(&call, emit_few(call.getArgOperand(0)));
      return;
    case Kind::Watch:
      emit_watch(call);
      return;
    case Kind::Work:
      emit_work(call);
      return;
    case Kind::Idle:
      define_scalar(&call, emit_idle(call));
      return;
    case Kind::LanesApart:
      define_scalar(&call, emit_apart(vector(call.getArgOperand(0))));
      return;
    case Kind::Same:
      define_scalar(&call, any_lane_of(vector(call.getArgOperand(0))));
      return;
    case Kind::Alone:
      emit_alone(call);
      return;
    case Kind::GroupBarrier:
      if (analyses_.lanes.others_wait) {
        builder_.Insert(call.clone());
        return;
      }
      builder_.CreateIntrinsic(llvm::Intrinsic::sideeffect, {}, {});
      return;
    case Kind::SimdgroupBarrier:
      // Lanes go in step, as long as accesses to memory keep their order.
      builder_.CreateIntrinsic(llvm::Intrinsic::sideeffect, {}, {});
      return;
    case Kind::Reduce:
      emit_reduce(call, device);
      return;
    case Kind::Scan:
      emit_scan(call, device);
      return;
    case Kind::Shuffle:
      emit_shuffle(call, device);
      return;
    case Kind::ShuffleAndFill:
      emit_shuffle_and_fill(call, device);
      return;
    case Kind::BroadcastFirst:
    case Kind::Ballot:
    case Kind::ActiveMask:
    case Kind::All:
    case Kind::Any:
    case Kind::IsFirst:
      if (device.group < abi::kSimdWidth) {
        emit_quad_vote(call, device);
      } else {
        emit_vote(call, device);
      }
      return;
    case Kind::MatrixMultiply:
      emit_matrix_multiply(call);
      return;
    case Kind::None:
    case Kind::ThreadValue:
      give_up("a value that was not computed", call);
      return;
  }
}

/// Rearranges lanes: lane l of the result is lane `source_lanes[l]` of the values.
Chunks Emitter::permute(const Chunks& values, llvm::ArrayRef<int> source_lanes) {
  const auto per_chunk = static_cast<int>(lanes_.per_chunk);
  Chunks result;
  for (unsigned chunk = 0; chunk < values.size(); ++chunk) {
    llvm::Value* joined = nullptr;
    llvm::SmallVector<int, 8> sources;
    for (int i = 0; i < per_chunk; ++i) {
      const int source =
          source_lanes[chunk * lanes_.per_chunk + static_cast<unsigned>(i)] / per_chunk;
      if (!llvm::is_contained(sources, source)) {
        sources.push_back(source);
      }
    }
    for (const int source : sources) {
      llvm::SmallVector<int, 16> order(lanes_.per_chunk, llvm::PoisonMaskElem);
      llvm::SmallVector<int, 16> blend(lanes_.per_chunk);
      for (int i = 0; i < per_chunk; ++i) {
        const int lane = source_lanes[chunk * lanes_.per_chunk + static_cast<unsigned>(i)];
        const bool is_own = lane / per_chunk == source;
        order[static_cast<unsigned>(i)] = is_own ? lane % per_chunk : llvm::PoisonMaskElem;
        blend[static_cast<unsigned>(i)] = is_own ? i + per_chunk : i;
      }
      llvm::Value* part =
          builder_.CreateShuffleVector(values[static_cast<unsigned>(source)], order);
      joined = joined == nullptr ? part : builder_.CreateShuffleVector(joined, part, blend);
    }
    result.push_back(joined);
  }
  return result;
}

// The order in which values are combined is that of the executor's own functions: halves are folded
// onto each other.
llvm::Value* Emitter::reduce_chunks(Chunks values, const DeviceCall& device) {
  while (values.size() > 1) {
    const std::size_t half = values.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      values[i] = combine(device, values[i], values[i + half]);
    }
    values.resize(half);
  }
  llvm::Value* folded = values[0];
  for (unsigned half = lanes_.per_chunk / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 8> low;
    llvm::SmallVector<int, 8> high;
    for (unsigned i = 0; i < half; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(i + half));
    }
    folded = combine(device, builder_.CreateShuffleVector(folded, low),
                     builder_.CreateShuffleVector(folded, high));
  }
  return builder_.CreateExtractElement(folded, std::uint64_t(0));
}

void Emitter::emit_reduce(llvm::CallInst& call, const DeviceCall& device) {
  const Chunks values = masked_operand(call.getArgOperand(0), identity(device, call.getType()));
  if (device.group == abi::kSimdWidth) {
    llvm::SmallVector<llvm::Value*, 4> results;
    for (unsigned first = 0; first < lanes_.chunks(); first += chunks_per_simdgroup()) {
      results.push_back(reduce_chunks(
          Chunks(values.begin() + first, values.begin() + first + chunks_per_simdgroup()), device));
    }
    define_grouped(call, results);
    return;
  }
  llvm::SmallVector<int, 32> by_two(lanes_.width);
  llvm::SmallVector<int, 32> by_one(lanes_.width);
  llvm::SmallVector<int, 32> first(lanes_.width);
  for (unsigned lane = 0; lane < lanes_.width; ++lane) {
    by_two[lane] = static_cast<int>(lane / 4 * 4 + (lane + 2) % 4);
    by_one[lane] = static_cast<int>(lane / 4 * 4 + (lane + 1) % 4);
    first[lane] = static_cast<int>(lane / 4 * 4);
  }
  Chunks folded = values;
  for (const auto& order : {by_two, by_one}) {
    const Chunks moved = permute(folded, order);
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      folded[chunk] = combine(device, folded[chunk], moved[chunk]);
    }
  }
  define_vector(&call, permute(folded, first));
}

/// Each lane's value goes to the lane `step` above it; the lowest of each group keep theirs.
Chunks Emitter::moved_up(const Chunks& values, unsigned step, unsigned group) {
  llvm::SmallVector<int, 32> order(lanes_.width);
  for (unsigned lane = 0; lane < lanes_.width; ++lane) {
    order[lane] = static_cast<int>(lane % group >= step ? lane - step : lane);
  }
  return permute(values, order);
}

llvm::Constant* Emitter::has_lanes_below(unsigned chunk, unsigned step, unsigned group) {
  llvm::SmallVector<llvm::Constant*, 16> flags;
  for (unsigned i = 0; i < lanes_.per_chunk; ++i) {
    flags.push_back(builder_.getInt1((chunk * lanes_.per_chunk + i) % group >= step));
  }
  return llvm::ConstantVector::get(flags);
}

/// In each lane what it and the lanes below it in its group come to.
Chunks Emitter::scan_chunks(Chunks values, const DeviceCall& device) {
  for (unsigned step = 1; step < device.group; step *= 2) {
    const Chunks before = moved_up(values, step, device.group);
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      values[chunk] =
          builder_.CreateSelect(has_lanes_below(chunk, step, device.group),
                                combine(device, before[chunk], values[chunk]), values[chunk]);
    }
  }
  return values;
}

void Emitter::emit_scan(llvm::CallInst& call, const DeviceCall& device) {
  llvm::Type* type = call.getType();
  llvm::Constant* neutral = identity(device, type);
  Chunks values = scan_chunks(masked_operand(call.getArgOperand(0), neutral), device);
  if (device.operation.starts_with("prefix_exclusive")) {
    llvm::Constant* start = device.operation.ends_with("product")
                                ? (type->isFloatingPointTy() ? llvm::ConstantFP::get(type, 1.0)
                                                             : llvm::ConstantInt::get(type, 1))
                                : llvm::Constant::getNullValue(type);
    const Chunks before = moved_up(values, 1, device.group);
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      values[chunk] = combine(device, splat(start),
                              builder_.CreateSelect(has_lanes_below(chunk, 1, device.group),
                                                    before[chunk], splat(neutral)));
    }
  }
  define_vector(&call, std::move(values));
}

void Emitter::emit_shuffle(llvm::CallInst& call, const DeviceCall& device) {
  llvm::Type* type = call.getType();
  const llvm::StringRef how = device.operation;
  const auto group = static_cast<int>(device.group);
  const Chunks own = vector(call.getArgOperand(0));
  const Chunks values = masked_operand(call.getArgOperand(0), llvm::Constant::getNullValue(type));
  const llvm::Value* argument = call.getArgOperand(1);
  // The place in the group that a lane reads from; outside of it, the lane keeps its own value.
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(argument)) {
    const int amount = static_cast<int>(number->getZExtValue() & 0xffff);
    llvm::SmallVector<int, 32> order(lanes_.width);
    llvm::SmallVector<bool, 32> outside(lanes_.width);
    for (int lane = 0; lane < static_cast<int>(lanes_.width); ++lane) {
      const int place = lane % group;
      int source = amount;
      if (how == "shuffle_up") {
        source = place - amount;
      } else if (how == "shuffle_down") {
        source = place + amount;
      } else if (how == "shuffle_xor") {
        source = place ^ amount;
      } else if (how == "shuffle_rotate_up") {
        source = static_cast<int>(static_cast<unsigned>(place - amount) % device.group);
      } else if (how == "shuffle_rotate_down") {
        source = (place + amount) % group;
      }
      const auto at = static_cast<unsigned>(lane);
      outside[at] = source < 0 || source >= group;
      order[at] = outside[at] ? lane : lane - place + source;
    }
    Chunks moved = permute(values, order);
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      llvm::SmallVector<llvm::Constant*, 16> flags;
      for (unsigned i = 0; i < lanes_.per_chunk; ++i) {
        flags.push_back(builder_.getInt1(outside[chunk * lanes_.per_chunk + i]));
      }
      moved[chunk] =
          builder_.CreateSelect(llvm::ConstantVector::get(flags), own[chunk], moved[chunk]);
    }
    define_vector(&call, std::move(moved));
    return;
  }
  const Chunks amounts = vector(argument);
  llvm::Value* memory = in_memory(values, "shuffled");
  Chunks result;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::Value* amount = builder_.CreateZExt(amounts[chunk], mask_type());
    if (!mask_.empty()) {
      amount =
          builder_.CreateSelect(active(chunk), amount, llvm::Constant::getNullValue(mask_type()));
    }
    llvm::Value* place = lane_numbers(chunk, builder_.getInt32Ty(), device.group);
    llvm::Value* source = amount;
    if (how == "shuffle_up" || how == "shuffle_rotate_up") {
      source = builder_.CreateSub(place, amount);
    } else if (how == "shuffle_down" || how == "shuffle_rotate_down") {
      source = builder_.CreateAdd(place, amount);
    } else if (how == "shuffle_xor") {
      source = builder_.CreateXor(place, amount);
    }
    llvm::Value* width = splat(builder_.getInt32(device.group));
    llvm::Value* rotated = builder_.CreateAnd(source, splat(builder_.getInt32(device.group - 1)));
    llvm::Value* inside = how.contains("rotate") ? nullptr : builder_.CreateICmpULT(source, width);
    llvm::Value* start = builder_.CreateSub(lane_numbers(chunk, builder_.getInt32Ty()), place);
    llvm::Value* moved = read_lanes(memory, type, builder_.CreateAdd(start, rotated));
    result.push_back(inside != nullptr ? builder_.CreateSelect(inside, moved, own[chunk]) : moved);
  }
  define_vector(&call, std::move(result));
}

void Emitter::emit_shuffle_and_fill(llvm::CallInst& call, const DeviceCall& device) {
  llvm::Type* type = call.getType();
  const auto* modulo = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(3));
  if (modulo == nullptr) {
    give_up("a shuffle with a modulo that is not constant", call);
    return;
  }
  const auto asked = static_cast<unsigned>(modulo->getZExtValue() & 0xffff);
  const unsigned width = asked == 0 || asked > device.group ? device.group : asked;
  const bool up = device.operation.ends_with("up");
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  llvm::Value* data = in_memory(masked_operand(call.getArgOperand(0), zero), "data");
  llvm::Value* fill = in_memory(masked_operand(call.getArgOperand(1), zero), "fill");
  const Chunks deltas = vector(call.getArgOperand(2));
  Chunks result;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::SmallVector<llvm::Constant*, 16> starts;
    llvm::SmallVector<llvm::Constant*, 16> places;
    llvm::SmallVector<llvm::Constant*, 16> ends;
    for (unsigned i = 0; i < lanes_.per_chunk; ++i) {
      const unsigned lane = chunk * lanes_.per_chunk + i;
      const unsigned place = lane % device.group;
      starts.push_back(builder_.getInt32(lane - place % width));
      places.push_back(builder_.getInt32(place % width));
      ends.push_back(builder_.getInt32(lane - place + device.group));
    }
    llvm::Value* delta = builder_.CreateZExt(deltas[chunk], mask_type());
    if (!mask_.empty()) {
      delta =
          builder_.CreateSelect(active(chunk), delta, llvm::Constant::getNullValue(mask_type()));
    }
    llvm::Value* widths = splat(builder_.getInt32(width));
    llvm::Value* shift = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, delta, widths);
    llvm::Value* place = llvm::ConstantVector::get(places);
    llvm::Value* position = up ? builder_.CreateSub(builder_.CreateAdd(place, widths), shift)
                               : builder_.CreateAdd(place, shift);
    llvm::Value* is_fill =
        up ? builder_.CreateICmpULT(position, widths) : builder_.CreateICmpUGE(position, widths);
    llvm::Value* source = builder_.CreateAdd(llvm::ConstantVector::get(starts),
                                             builder_.CreateURem(position, widths));
    llvm::Value* inside = builder_.CreateICmpULT(source, llvm::ConstantVector::get(ends));
    source = builder_.CreateSelect(inside, source, llvm::ConstantVector::get(starts));
    llvm::Value* taken = builder_.CreateSelect(is_fill, read_lanes(fill, type, source),
                                               read_lanes(data, type, source));
    result.push_back(builder_.CreateSelect(inside, taken, splat(zero)));
  }
  define_vector(&call, std::move(result));
}

void Emitter::emit_vote(llvm::CallInst& call, const DeviceCall& device) {
  llvm::SmallVector<llvm::Value*, 4> results;
  Chunks first_lanes;
  llvm::Value* memory = nullptr;
  Chunks votes = mask_;
  if (device.kind == Kind::Ballot || device.kind == Kind::Any || device.kind == Kind::All) {
    votes = masked_condition(mask_, call.getArgOperand(0), device.kind == Kind::All);
  } else if (device.kind == Kind::BroadcastFirst) {
    memory = in_memory(vector(call.getArgOperand(0)), "broadcast");
  }
  for (unsigned first = 0; first < lanes_.chunks(); first += chunks_per_simdgroup()) {
    llvm::Value* bits = simdgroup_bits(votes, first);
    llvm::Value* zero = builder_.getInt32(0);
    switch (device.kind) {
      case Kind::Ballot:
      case Kind::ActiveMask:
        results.push_back(builder_.CreateZExt(bits, builder_.getInt64Ty()));
        break;
      case Kind::Any:
        results.push_back(builder_.CreateICmpNE(bits, zero));
        break;
      case Kind::All:
        // No active lane says no.
        results.push_back(builder_.CreateICmpEQ(bits, zero));
        break;
      default: {
        llvm::Value* lane =
            builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, builder_.getFalse());
        if (device.kind == Kind::IsFirst) {
          for (unsigned i = 0; i < chunks_per_simdgroup(); ++i) {
            first_lanes.push_back(builder_.CreateICmpEQ(
                lane_numbers(first + i, builder_.getInt32Ty(), abi::kSimdWidth), splat(lane)));
          }
          break;
        }
        llvm::Value* index =
            builder_.CreateAdd(builder_.CreateAnd(lane, builder_.getInt32(abi::kSimdWidth - 1)),
                               builder_.getInt32(first * lanes_.per_chunk));
        results.push_back(builder_.CreateLoad(
            call.getType(), builder_.CreateGEP(call.getType(), memory,
                                               builder_.CreateZExt(index, builder_.getInt64Ty()))));
        break;
      }
    }
  }
  if (device.kind == Kind::IsFirst) {
    define_vector(&call, std::move(first_lanes));
  } else {
    define_grouped(call, results);
  }
}

void Emitter::emit_quad_vote(llvm::CallInst& call, const DeviceCall& device) {
  llvm::SmallVector<int, 32> by_two(lanes_.width);
  llvm::SmallVector<int, 32> by_one(lanes_.width);
  for (unsigned lane = 0; lane < lanes_.width; ++lane) {
    by_two[lane] = static_cast<int>(lane ^ 2U);
    by_one[lane] = static_cast<int>(lane ^ 1U);
  }
  // Each lane's own bit of its quad, joined over the quad.
  const auto joined = [&](const Chunks& flags) {
    Chunks bits;
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      llvm::SmallVector<llvm::Constant*, 16> own;
      for (unsigned i = 0; i < lanes_.per_chunk; ++i) {
        own.push_back(builder_.getInt32(1U << i % 4));
      }
      llvm::Value* all = llvm::ConstantVector::get(own);
      bits.push_back(flags.empty() ? all : builder_.CreateAnd(flags[chunk], all));
    }
    for (const auto& order : {by_two, by_one}) {
      const Chunks moved = permute(bits, order);
      for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
        bits[chunk] = builder_.CreateOr(bits[chunk], moved[chunk]);
      }
    }
    return bits;
  };
  Chunks votes = mask_;
  const bool has_condition =
      device.kind == Kind::Ballot || device.kind == Kind::Any || device.kind == Kind::All;
  if (has_condition) {
    votes = masked_condition(mask_, call.getArgOperand(0), device.kind == Kind::All);
  }
  const Chunks bits = joined(votes);
  llvm::Value* memory = device.kind == Kind::BroadcastFirst
                            ? in_memory(vector(call.getArgOperand(0)), "broadcast")
                            : nullptr;
  Chunks result;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::Value* zero = llvm::Constant::getNullValue(mask_type());
    llvm::Value* lowest = builder_.CreateAnd(bits[chunk], builder_.CreateNeg(bits[chunk]));
    llvm::SmallVector<llvm::Constant*, 16> own;
    llvm::SmallVector<llvm::Constant*, 16> starts;
    for (unsigned i = 0; i < lanes_.per_chunk; ++i) {
      own.push_back(builder_.getInt32(1U << i % 4));
      starts.push_back(builder_.getInt32((chunk * lanes_.per_chunk + i) / 4 * 4));
    }
    switch (device.kind) {
      case Kind::Ballot:
      case Kind::ActiveMask:
        result.push_back(builder_.CreateZExtOrTrunc(bits[chunk], chunk_type(call.getType())));
        break;
      case Kind::Any:
        result.push_back(builder_.CreateICmpNE(bits[chunk], zero));
        break;
      case Kind::All:
        result.push_back(builder_.CreateICmpEQ(bits[chunk], zero));
        break;
      case Kind::IsFirst:
        result.push_back(builder_.CreateICmpEQ(lowest, llvm::ConstantVector::get(own)));
        break;
      default: {
        // 1, 2, 4, 8 to 0, 1, 2, 3; a quad without lanes reads its first place.
        llvm::Value* place = builder_.CreateSub(builder_.CreateLShr(lowest, std::uint64_t(1)),
                                                builder_.CreateLShr(lowest, std::uint64_t(3)));
        result.push_back(read_lanes(memory, call.getType(),
                                    builder_.CreateAdd(llvm::ConstantVector::get(starts), place)));
        break;
      }
    }
  }
  define_vector(&call, std::move(result));
}

// Apple's layout: lane l holds row (l/16)*4 + (l/2)%4 and the columns (l/8)%2*4 + l%2*2 and the
// next. Rows of the product are sums of rows of b.

}  // namespace pewter::compiler::spmd
