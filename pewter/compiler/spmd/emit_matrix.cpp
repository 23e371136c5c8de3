#include <string>

#include "llvm/Analysis/VectorUtils.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/spmd/emitter.h"
#include "pewter/compiler/spmd/instruction_order.h"

namespace pewter::compiler::spmd {
namespace {

constexpr unsigned kRows = 8;

}  // namespace

/// A value that the program keeps as rows; nothing otherwise.
const MatrixPairs::Half* Emitter::matrix_half(const llvm::Value* value) const {
  return keeps_rows_ ? analyses_.matrices.find(value) : nullptr;
}

/// Rows out of the lanes' elements, of all simdgroups: the first four of each, then the others.
llvm::SmallVector<Chunks, 2> Emitter::to_rows(const llvm::SmallVector<Chunks, 2>& lanes) {
  llvm::SmallVector<Chunks, 2> rows(2);
  for (unsigned first = 0; first < lanes_.chunks(); first += chunks_per_simdgroup()) {
    llvm::Value* parts[2];
    for (unsigned component = 0; component < 2; ++component) {
      std::vector<llvm::Value*> chunks(lanes[component].begin() + first,
                                       lanes[component].begin() + first + chunks_per_simdgroup());
      while (chunks.size() > 1) {
        std::vector<llvm::Value*> pairs;
        for (std::size_t i = 0; i < chunks.size(); i += 2) {
          const auto count =
              llvm::cast<llvm::FixedVectorType>(chunks[i]->getType())->getNumElements();
          llvm::SmallVector<int, 64> order;
          for (unsigned k = 0; k < 2 * count; ++k) {
            order.push_back(static_cast<int>(k));
          }
          pairs.push_back(builder_.CreateShuffleVector(chunks[i], chunks[i + 1], order));
        }
        chunks = pairs;
      }
      parts[component] = chunks[0];
    }
    for (unsigned row = 0; row < kRows; ++row) {
      llvm::SmallVector<int, 8> order(kRows);
      for (unsigned lane = 0; lane < abi::kSimdWidth; ++lane) {
        for (unsigned component = 0; component < 2; ++component) {
          const MatrixPlace place = matrix_place(lane, component);
          if (place.row == row) {
            order[place.column] = static_cast<int>(lane + component * abi::kSimdWidth);
          }
        }
      }
      rows[row / 4].push_back(builder_.CreateShuffleVector(parts[0], parts[1], order));
    }
  }
  return rows;
}

/// The lanes' elements out of rows.
llvm::SmallVector<Chunks, 2> Emitter::to_lanes(const llvm::SmallVector<Chunks, 2>& rows) {
  const unsigned rows_per_simdgroup = kRows / 2;
  llvm::SmallVector<Chunks, 2> lanes(2);
  for (unsigned group = 0; group < lanes_.width / abi::kSimdWidth; ++group) {
    const auto row_at = [&](unsigned row) {
      return rows[row / 4][group * rows_per_simdgroup + row % 4];
    };
    for (unsigned component = 0; component < 2; ++component) {
      for (unsigned i = 0; i < chunks_per_simdgroup(); ++i) {
        // Each chunk takes from a few rows.
        llvm::Value* chunk = nullptr;
        for (unsigned row = 0; row < kRows; row += 2) {
          llvm::SmallVector<int, 16> order(lanes_.per_chunk, llvm::PoisonMaskElem);
          llvm::SmallVector<int, 16> blend(lanes_.per_chunk);
          bool any = false;
          for (unsigned k = 0; k < lanes_.per_chunk; ++k) {
            const MatrixPlace place = matrix_place(i * lanes_.per_chunk + k, component);
            const bool here = place.row / 2 == row / 2;
            order[k] = here ? static_cast<int>(place.row % 2 * kRows + place.column)
                            : llvm::PoisonMaskElem;
            blend[k] = static_cast<int>(here ? k + lanes_.per_chunk : k);
            any = any || here;
          }
          if (!any) {
            continue;
          }
          llvm::Value* part = builder_.CreateShuffleVector(row_at(row), row_at(row + 1), order);
          chunk = chunk == nullptr ? part : builder_.CreateShuffleVector(chunk, part, blend);
        }
        lanes[component].push_back(chunk);
      }
    }
  }
  return lanes;
}

/// Rows of two values of a thread, whichever way they are kept.
llvm::SmallVector<Chunks, 2> Emitter::rows_of(const llvm::Value* first, const llvm::Value* second) {
  if (analyses_.shapes.is_uniform(first) && first == second) {
    return {vector(first), vector(second)};
  }
  if (const MatrixPairs::Half* half = matrix_half(first);
      half != nullptr && half->other == second && half->component == 0) {
    return {vectors_.at(first), vectors_.at(second)};
  }
  return to_rows({vector(first), vector(second)});
}

/// What an operation on rows takes for an operand.
const Chunks& Emitter::row_operand(const llvm::Value* value) {
  return matrix_half(value) != nullptr ? vectors_.at(value) : vector(value);
}

/// A value that is kept as rows, for a use that is not.
const Chunks& Emitter::lanes_of_half(const llvm::Value* value, const MatrixPairs::Half& half) {
  const auto& own = vectors_.at(value);
  const auto& other = vectors_.at(half.other);
  const bool is_first = half.component == 0;
  auto lanes = to_lanes({is_first ? own : other, is_first ? other : own});
  return taken_apart_[value] = std::move(lanes[half.component]);
}

/// Loads both halves of a matrix, row by row.
void Emitter::emit_row_loads(llvm::LoadInst& load, const MatrixPairs::Half& half) {
  const auto size = static_cast<std::int64_t>(layout_.getTypeStoreSize(load.getType()));
  llvm::SmallVector<Chunks, 2> rows(2);
  std::vector<MatrixInMemory> matrices;
  for (unsigned first = 0; first < lanes_.width; first += abi::kSimdWidth) {
    llvm::Value* addresses[kRows];
    for (unsigned row = 0; row < kRows; ++row) {
      count(Form::ConsecutiveAccess, &load, "consecutive: rows of a matrix");
      llvm::Value* address = scalar_at(load.getPointerOperand(), first + first_lane_of_row(row));
      if (half.component == 1) {
        address = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), address,
                                              static_cast<std::uint64_t>(-size));
      }
      addresses[row] = address;
      set_accessor(load.getPointerOperand(), (first + row * 4) / lanes_.per_chunk);
      rows[row / 4].push_back(builder_.CreateAlignedLoad(chunk_type(load.getType()), address,
                                                         layout_.getABITypeAlign(load.getType())));
      clear_accessor();
    }
    matrices.push_back(
        {addresses[0],
         builder_.CreateSub(builder_.CreatePtrToInt(addresses[1], builder_.getInt64Ty()),
                            builder_.CreatePtrToInt(addresses[0], builder_.getInt64Ty()))});
  }
  const bool is_first = half.component == 0;
  matrices_in_memory_[is_first ? &load : half.other] = std::move(matrices);
  define_vector(is_first ? &load : half.other, std::move(rows[0]));
  define_vector(is_first ? half.other : &load, std::move(rows[1]));
}

/// Where the rows of a factor still are in memory; nothing when they may have been overwritten.
const std::vector<Emitter::MatrixInMemory>* Emitter::rows_in_memory(
    const llvm::CallInst& call, const llvm::Value* first) const {
  const auto found = matrices_in_memory_.find(first);
  if (found == matrices_in_memory_.end()) {
    return nullptr;
  }
  const auto* load = llvm::cast<llvm::LoadInst>(first);
  if (load->getParent() != call.getParent() || !load->getType()->isFloatTy()) {
    return nullptr;
  }
  for (const llvm::Instruction* next = load; next != &call; next = next->getNextNode()) {
    if (next->mayWriteToMemory() && device_call(*next).kind != DeviceCall::Kind::MatrixMultiply) {
      return nullptr;
    }
  }
  return &found->second;
}

/// `rows + a * b` for rows of sums in registers and factors in memory; with `count` of 2 for two
/// products of the same a, whose rows are beside each other in the sums. A function of its own, so
/// that the sums of one multiplication have the registers to themselves.
llvm::Function* Emitter::multiply_function(llvm::Type* element, unsigned count) {
  llvm::Module& module = *target_.getParent();
  const std::string name = "pewter.multiply_matrices." + std::to_string(count) + "." +
                           std::to_string(element->getTypeID());
  if (llvm::Function* known = module.getFunction(name)) {
    return known;
  }
  llvm::LLVMContext& context = module.getContext();
  auto* row_type = llvm::FixedVectorType::get(element, kRows);
  auto* sum_type = llvm::FixedVectorType::get(element, kRows * count);
  auto* result_type =
      llvm::StructType::get(context, llvm::SmallVector<llvm::Type*, kRows>(kRows, sum_type));
  llvm::SmallVector<llvm::Type*, 14> parameters(kRows, sum_type);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* number = llvm::Type::getInt64Ty(context);
  for (unsigned factor = 0; factor <= count; ++factor) {
    parameters.append({pointer, number});
  }
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result_type, parameters, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttrs(llvm::AttrBuilder(context, target_.getAttributes().getFnAttrs()));
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->addFnAttr(kOrdered);
  function->setOnlyReadsMemory();
  function->setDoesNotThrow();
  if (llvm::Triple(module.getTargetTriple()).getArch() == llvm::Triple::x86_64) {
    // Rows come and go in registers.
    function->setCallingConv(llvm::CallingConv::X86_RegCall);
  }
  llvm::IRBuilder<> body(llvm::BasicBlock::Create(context, "entry", function));
  llvm::SmallVector<llvm::Value*, kRows> sums;
  for (unsigned row = 0; row < kRows; ++row) {
    sums.push_back(function->getArg(row));
  }
  const auto row_address = [&](unsigned factor, unsigned row) {
    const unsigned parameter = kRows + 2 * factor;
    return body.CreateGEP(body.getInt8Ty(), function->getArg(parameter),
                          body.CreateMul(function->getArg(parameter + 1), body.getInt64(row)));
  };
  for (unsigned k = 0; k < kRows; ++k) {
    llvm::SmallVector<llvm::Value*, 2> rows;
    for (unsigned factor = 1; factor <= count; ++factor) {
      rows.push_back(body.CreateAlignedLoad(row_type, row_address(factor, k), llvm::Align(4)));
    }
    llvm::Value* factors = llvm::concatenateVectors(body, rows);
    for (unsigned row = 0; row < kRows; ++row) {
      llvm::Value* factor =
          body.CreateLoad(element, body.CreateConstGEP1_32(element, row_address(0, row), k));
      sums[row] =
          body.CreateIntrinsic(llvm::Intrinsic::fma, {sum_type},
                               {body.CreateVectorSplat(kRows * count, factor), factors, sums[row]});
    }
  }
  llvm::Value* result = llvm::PoisonValue::get(result_type);
  for (unsigned row = 0; row < kRows; ++row) {
    result = body.CreateInsertValue(result, sums[row], row);
  }
  body.CreateRet(result);
  return function;
}

/// Both halves of a factor in memory, of each simdgroup.
std::vector<Emitter::MatrixInMemory> Emitter::store_rows(const llvm::SmallVector<Chunks, 2>& rows) {
  std::vector<MatrixInMemory> matrices;
  for (unsigned group = 0; group < lanes_.width / abi::kSimdWidth; ++group) {
    llvm::Type* type = rows[0][0]->getType();
    llvm::AllocaInst* memory = new_slot(llvm::ArrayType::get(type, kRows), "matrix");
    for (unsigned row = 0; row < kRows; ++row) {
      builder_.CreateStore(rows[row / 4][group * (kRows / 2) + row % 4],
                           builder_.CreateConstGEP1_32(type, memory, row));
    }
    matrices.push_back({memory, builder_.getInt64(layout_.getTypeStoreSize(type))});
  }
  return matrices;
}

/// Where the factors of a product are, and the rows that it is added to; nothing, and the reason is
/// noted, for what has no vector form.
std::optional<Emitter::MatrixProduct> Emitter::matrix_product(llvm::CallInst& call) {
  MatrixProduct product;
  for (unsigned i = 0; i < 3; ++i) {
    llvm::Value* argument = call.getArgOperand(i);
    const auto parts = MatrixPairs::parts(argument);
    llvm::SmallVector<Chunks, 2> rows;
    if (keeps_rows_ && parts) {
      const auto* there = i < 2 ? rows_in_memory(call, parts->first) : nullptr;
      if (there != nullptr) {
        product.factors[i] = *there;
        continue;
      }
      rows = rows_of(parts->first, parts->second);
    } else {
      rows = components(argument);
      if (rows.size() != 2) {
        give_up("a matrix that is not made here", call);
        return std::nullopt;
      }
      for (Chunks& component : rows) {
        for (unsigned chunk = 0; !mask_.empty() && chunk < lanes_.chunks(); ++chunk) {
          component[chunk] =
              builder_.CreateSelect(active(chunk), component[chunk],
                                    llvm::Constant::getNullValue(component[chunk]->getType()));
        }
      }
      const bool is_rows =
          (llvm::isa<llvm::Constant>(argument) && lanes_.per_chunk == kRows) ||
          (keeps_rows_ && device_call(*argument).kind == DeviceCall::Kind::MatrixMultiply);
      if (!is_rows) {
        rows = to_rows(rows);
      }
    }
    if (i < 2) {
      product.factors[i] = store_rows(rows);
    } else {
      product.sums = std::move(rows);
    }
  }
  return product;
}

/// The next product, if it has the same first factor and can be computed together with this one.
llvm::CallInst* Emitter::matrix_partner(llvm::CallInst& call) const {
  const auto own = MatrixPairs::parts(call.getArgOperand(0));
  if (!lanes_.has_wide_vectors || !keeps_rows_ || !own) {
    return nullptr;
  }
  const auto is_there = [&](const llvm::Value* value) {
    const auto* made = llvm::dyn_cast<llvm::Instruction>(value);
    return made == nullptr || made->getParent() != call.getParent() || made->comesBefore(&call);
  };
  for (llvm::Instruction* next = call.getNextNode(); next != nullptr; next = next->getNextNode()) {
    if (device_call(*next).kind != DeviceCall::Kind::MatrixMultiply) {
      if (next->mayWriteToMemory()) {
        return nullptr;
      }
      continue;
    }
    auto* other = llvm::cast<llvm::CallInst>(next);
    const auto first = MatrixPairs::parts(other->getArgOperand(0));
    if (other->getType() != call.getType() || !first || first->first != own->first ||
        first->second != own->second) {
      return nullptr;
    }
    const auto parts = MatrixPairs::parts(other->getArgOperand(1));
    const auto sums = MatrixPairs::parts(other->getArgOperand(2));
    const bool has_sums =
        sums ? is_there(sums->first) && is_there(sums->second) : is_there(other->getArgOperand(2));
    return parts && is_there(parts->first) && is_there(parts->second) && has_sums ? other : nullptr;
  }
  return nullptr;
}

void Emitter::emit_matrix_multiply(llvm::CallInst& call) {
  if (components_.count(&call) != 0) {
    return;
  }
  llvm::SmallVector<llvm::CallInst*, 2> calls{&call};
  if (llvm::CallInst* partner = matrix_partner(call)) {
    calls.push_back(partner);
  }
  llvm::SmallVector<MatrixProduct, 2> products;
  for (llvm::CallInst* one : calls) {
    auto product = matrix_product(*one);
    if (!product) {
      return;
    }
    products.push_back(std::move(*product));
  }
  const auto count = static_cast<unsigned>(products.size());
  llvm::Function* function =
      multiply_function(products[0].sums[0][0]->getType()->getScalarType(), count);
  for (unsigned group = 0; group < lanes_.width / abi::kSimdWidth; ++group) {
    const auto sum_of = [&](MatrixProduct& product, unsigned row) -> llvm::Value*& {
      return product.sums[row / 4][group * (kRows / 2) + row % 4];
    };
    llvm::SmallVector<llvm::Value*, 14> arguments;
    for (unsigned row = 0; row < kRows; ++row) {
      llvm::SmallVector<llvm::Value*, 2> rows;
      for (MatrixProduct& product : products) {
        rows.push_back(sum_of(product, row));
      }
      arguments.push_back(llvm::concatenateVectors(builder_, rows));
    }
    const MatrixInMemory& first = products[0].factors[0][group];
    arguments.append({first.address, first.row_bytes});
    for (const MatrixProduct& product : products) {
      const MatrixInMemory& second = product.factors[1][group];
      arguments.append({second.address, second.row_bytes});
    }
    llvm::CallInst* made = builder_.CreateCall(function, arguments);
    made->setCallingConv(function->getCallingConv());
    for (unsigned row = 0; row < kRows; ++row) {
      llvm::Value* rows = builder_.CreateExtractValue(made, row);
      for (unsigned i = 0; i < count; ++i) {
        sum_of(products[i], row) = count == 1
                                       ? rows
                                       : builder_.CreateShuffleVector(
                                             rows, llvm::createSequentialMask(i * kRows, kRows, 0));
      }
    }
  }
  for (unsigned i = 0; i < count; ++i) {
    // A component that is used by itself is taken out of the rows there.
    components_[calls[i]] = keeps_rows_ ? products[i].sums : to_lanes(products[i].sums);
  }
}

}  // namespace pewter::compiler::spmd
