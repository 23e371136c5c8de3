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
      ++tally_.consecutive_accesses;
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

/// `rows + a * b` for rows of sums in registers and factors in memory. A function of its own, so
/// that the sums of one multiplication have the registers to themselves.
llvm::Function* Emitter::multiply_function(llvm::Type* element) {
  constexpr const char* kName = "pewter.multiply_matrices";
  llvm::Module& module = *target_.getParent();
  if (llvm::Function* known = module.getFunction(kName)) {
    return known;
  }
  llvm::LLVMContext& context = module.getContext();
  auto* row_type = llvm::FixedVectorType::get(element, kRows);
  auto* result_type =
      llvm::StructType::get(context, llvm::SmallVector<llvm::Type*, kRows>(kRows, row_type));
  llvm::SmallVector<llvm::Type*, 12> parameters(kRows, row_type);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* number = llvm::Type::getInt64Ty(context);
  parameters.append({pointer, number, pointer, number});
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result_type, parameters, false),
                                          llvm::GlobalValue::InternalLinkage, kName, module);
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
  const auto row_address = [&](unsigned parameter, unsigned row) {
    return body.CreateGEP(body.getInt8Ty(), function->getArg(parameter),
                          body.CreateMul(function->getArg(parameter + 1), body.getInt64(row)));
  };
  for (unsigned k = 0; k < kRows; ++k) {
    llvm::Value* factors =
        body.CreateAlignedLoad(row_type, row_address(kRows + 2, k), llvm::Align(4));
    for (unsigned row = 0; row < kRows; ++row) {
      llvm::Value* factor =
          body.CreateLoad(element, body.CreateConstGEP1_32(element, row_address(kRows, row), k));
      sums[row] = body.CreateIntrinsic(llvm::Intrinsic::fma, {row_type},
                                       {body.CreateVectorSplat(kRows, factor), factors, sums[row]});
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

void Emitter::emit_matrix_multiply(llvm::CallInst& call) {
  llvm::SmallVector<Chunks, 2> operands[3];
  std::vector<MatrixInMemory> factors[2];
  for (unsigned i = 0; i < 3; ++i) {
    llvm::Value* argument = call.getArgOperand(i);
    const auto parts = MatrixPairs::parts(argument);
    if (keeps_rows_ && parts) {
      const auto* there = i < 2 ? rows_in_memory(call, parts->first) : nullptr;
      if (there != nullptr) {
        factors[i] = *there;
        continue;
      }
      operands[i] = rows_of(parts->first, parts->second);
    } else {
      operands[i] = components(argument);
      if (operands[i].size() != 2) {
        give_up("a matrix that is not made here", call);
        return;
      }
      for (Chunks& component : operands[i]) {
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
        operands[i] = to_rows(operands[i]);
      }
    }
    if (i < 2) {
      factors[i] = store_rows(operands[i]);
    }
  }
  llvm::SmallVector<Chunks, 2>& sums = operands[2];
  llvm::Function* function = multiply_function(sums[0][0]->getType()->getScalarType());
  for (unsigned group = 0; group < lanes_.width / abi::kSimdWidth; ++group) {
    llvm::SmallVector<llvm::Value*, 12> arguments;
    const auto sum_of = [&](unsigned row) -> llvm::Value*& {
      return sums[row / 4][group * (kRows / 2) + row % 4];
    };
    for (unsigned row = 0; row < kRows; ++row) {
      arguments.push_back(sum_of(row));
    }
    for (const auto& factor : factors) {
      arguments.append({factor[group].address, factor[group].row_bytes});
    }
    llvm::CallInst* product = builder_.CreateCall(function, arguments);
    product->setCallingConv(function->getCallingConv());
    for (unsigned row = 0; row < kRows; ++row) {
      sum_of(row) = builder_.CreateExtractValue(product, row);
    }
  }
  // A component that is used by itself is taken out of the rows there.
  components_[&call] = keeps_rows_ ? sums : to_lanes(sums);
}

}  // namespace pewter::compiler::spmd
