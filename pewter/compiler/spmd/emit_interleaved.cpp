#include <algorithm>

#include "pewter/compiler/spmd/emitter.h"

namespace pewter::compiler::spmd {
namespace {

// Structures larger than this are gathered: most of what would be loaded is not wanted.
constexpr unsigned kMaxStride = 8;
constexpr const char* kWholeStructures = "strided: structures of neighbouring threads, moved whole";
constexpr const char* kMaskedStructures =
    "strided: structures of neighbouring threads, moved together under a mask";

/// Whether every element of the structures is accessed.
template <typename Group>
bool is_whole(const Group& group) {
  for (unsigned element = 0; element < group.stride; ++element) {
    if (!llvm::is_contained(group.elements, element)) {
      return false;
    }
  }
  return true;
}

/// What is certain of an address that is some elements away from that of an access.
llvm::Align align_of_elements(llvm::Instruction& access, const llvm::DataLayout& layout) {
  return llvm::commonAlignment(llvm::getLoadStoreAlignment(&access),
                               layout.getTypeStoreSize(llvm::getLoadStoreType(&access)));
}

}  // namespace

/// Elements from lane to lane, when it is the same number between all of them and a small one.
std::optional<unsigned> Emitter::element_stride(const llvm::Value* pointer,
                                                std::uint64_t size) const {
  const Shape& shape = analyses_.shapes.of(pointer);
  if (shape.kind != Shape::Kind::Affine || shape.terms.size() != 1 ||
      shape.terms[0].factor != nullptr || shape.accuracy == Shape::Accuracy::LaneZero) {
    return std::nullopt;
  }
  const std::vector<std::int64_t>& lanes = shape.terms[0].lanes;
  const std::int64_t stride = lanes[1] - lanes[0];
  const auto bytes = static_cast<std::int64_t>(size);
  if (stride <= bytes || stride % bytes != 0 || stride / bytes > kMaxStride) {
    return std::nullopt;
  }
  for (std::size_t lane = 1; lane < lanes.size(); ++lane) {
    if (lanes[lane] - lanes[lane - 1] != stride) {
      return std::nullopt;
    }
  }
  return static_cast<unsigned>(stride / bytes);
}

/// The accesses after `first` in its block to the same structures, up to where memory may change.
std::optional<Emitter::Interleaved> Emitter::find_interleaved(llvm::Instruction& first) const {
  const bool is_load = llvm::isa<llvm::LoadInst>(first);
  llvm::Type* type = llvm::getLoadStoreType(&first);
  const std::uint64_t size = layout_.getTypeStoreSize(type);
  const auto address_of = [&](const llvm::Instruction& access) {
    return split_address(analyses_.evolution, llvm::getLoadStorePointerOperand(&access));
  };
  const auto stride = element_stride(llvm::getLoadStorePointerOperand(&first), size);
  if (!stride || layout_.getTypeSizeInBits(type) != size * 8) {
    return std::nullopt;
  }
  const Address first_address = address_of(first);
  Interleaved found;
  found.stride = *stride;
  std::vector<std::int64_t> offsets;
  for (llvm::Instruction* next = &first; next != nullptr; next = next->getNextNode()) {
    const bool is_access =
        is_load ? llvm::isa<llvm::LoadInst>(next) : llvm::isa<llvm::StoreInst>(next);
    if (is_access && llvm::getLoadStoreType(next) == type && !next->isAtomic() &&
        !next->isVolatile() && matrix_half(next) == nullptr) {
      const Address address = address_of(*next);
      const std::int64_t distance = address.offset - first_address.offset;
      const auto bytes = static_cast<std::int64_t>(size);
      if (address.base == first_address.base && distance % bytes == 0 &&
          std::abs(distance) < bytes * static_cast<std::int64_t>(*stride)) {
        found.members.push_back(next);
        offsets.push_back(distance / bytes);
        continue;
      }
    }
    if (is_load ? next->mayWriteToMemory() : next->mayReadOrWriteMemory()) {
      break;
    }
  }
  const auto [lowest, highest] = std::minmax_element(offsets.begin(), offsets.end());
  if (*highest - *lowest >= static_cast<std::int64_t>(*stride)) {
    // Two neighbouring structures; the first access alone then.
    found.members.resize(1);
    offsets.assign(1, 0);
  }
  const std::int64_t low = *std::min_element(offsets.begin(), offsets.end());
  for (const std::int64_t offset : offsets) {
    found.elements.push_back(static_cast<unsigned>(offset - low));
    found.last_element = std::max(found.last_element, found.elements.back());
  }
  return found;
}

/// Lane l of the result is element `element + l * stride` of what `parts` hold; part i begins at
/// element `starts[i]`.
llvm::Value* Emitter::pick_elements(llvm::ArrayRef<llvm::Value*> parts,
                                    llvm::ArrayRef<unsigned> starts,
                                    unsigned element,
                                    unsigned stride) {
  const unsigned per_chunk = lanes_.per_chunk;
  // Pairs of parts first: a shuffle takes two.
  llvm::Value* joined = nullptr;
  llvm::SmallVector<bool, 16> taken(per_chunk, false);
  for (std::size_t part = 0; part < parts.size(); part += 2) {
    const bool is_pair = part + 1 < parts.size();
    llvm::SmallVector<int, 16> order(per_chunk, llvm::PoisonMaskElem);
    llvm::SmallVector<int, 16> blend(per_chunk);
    bool any = false;
    for (unsigned lane = 0; lane < per_chunk; ++lane) {
      const unsigned wanted = element + lane * stride;
      blend[lane] = static_cast<int>(lane);
      for (unsigned which = 0; which < (is_pair ? 2U : 1U) && !taken[lane]; ++which) {
        const unsigned start = starts[part + which];
        if (wanted >= start && wanted < start + per_chunk) {
          order[lane] = static_cast<int>(wanted - start + which * per_chunk);
          blend[lane] = static_cast<int>(lane + per_chunk);
          taken[lane] = true;
          any = true;
        }
      }
    }
    if (!any) {
      continue;
    }
    llvm::Value* picked = builder_.CreateShuffleVector(
        parts[part], is_pair ? parts[part + 1] : llvm::PoisonValue::get(parts[part]->getType()),
        order);
    joined = joined == nullptr ? picked : builder_.CreateShuffleVector(joined, picked, blend);
  }
  return joined;
}

/// Whether vectors that are partly wanted cost less than each lane's own accesses.
bool Emitter::pays_under_mask(const Interleaved& group) const {
  return group.stride * 2 <= group.members.size() * lanes_.per_chunk;
}

/// Which elements of a vector that begins at element `start` of a chunk's structures are accessed
/// by active lanes.
llvm::Value* Emitter::elements_wanted(const Interleaved& group, unsigned start, unsigned chunk) {
  const unsigned per_chunk = lanes_.per_chunk;
  llvm::SmallVector<int, 16> lane_of(per_chunk);
  llvm::SmallVector<llvm::Constant*, 16> is_member(per_chunk);
  for (unsigned i = 0; i < per_chunk; ++i) {
    const unsigned position = start + i;
    lane_of[i] = static_cast<int>(position / group.stride);
    is_member[i] = builder_.getInt1(llvm::is_contained(group.elements, position % group.stride));
  }
  return builder_.CreateAnd(builder_.CreateShuffleVector(active(chunk), lane_of),
                            llvm::ConstantVector::get(is_member));
}

// Structures of all lanes of a chunk lie side by side: they are loaded whole, and their elements
// sorted out in registers.
bool Emitter::emit_interleaved_load(llvm::LoadInst& load) {
  const bool is_masked = !mask_.empty();
  if (load.isAtomic() || load.isVolatile() || (is_masked && !has_masked_access(load.getType()))) {
    return false;
  }
  const auto group = find_interleaved(load);
  if (!group || (is_masked && !pays_under_mask(*group))) {
    return false;
  }
  const unsigned per_chunk = lanes_.per_chunk;
  const unsigned total = (per_chunk - 1) * group->stride + group->last_element + 1;
  llvm::Type* type = load.getType();
  // The address of the first element may be computed later; it differs from this one's by a
  // constant.
  const std::int64_t back = static_cast<std::int64_t>(group->elements[0]) *
                            static_cast<std::int64_t>(layout_.getTypeStoreSize(type));
  const llvm::Align align = align_of_elements(load, layout_);
  llvm::SmallVector<Chunks, 8> results(group->members.size());
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    count(Form::StridedAccess, group->members, is_masked ? kMaskedStructures : kWholeStructures);
    set_accessor(load.getPointerOperand(), chunk);
    llvm::Value* start = builder_.CreateGEP(builder_.getInt8Ty(),
                                            scalar_at(load.getPointerOperand(), chunk * per_chunk),
                                            builder_.getInt64(static_cast<std::uint64_t>(-back)));
    llvm::SmallVector<llvm::Value*, 8> parts;
    llvm::SmallVector<unsigned, 8> starts;
    for (unsigned at = 0; at < total; at += per_chunk) {
      // The last one ends where the structures do.
      starts.push_back(std::min(at, total - per_chunk));
      llvm::Value* place = builder_.CreateConstGEP1_32(type, start, starts.back());
      llvm::Type* vector_type = chunk_type(type);
      parts.push_back(
          is_masked ? static_cast<llvm::Value*>(builder_.CreateMaskedLoad(
                          vector_type, place, align, elements_wanted(*group, starts.back(), chunk),
                          llvm::Constant::getNullValue(vector_type)))
                    : builder_.CreateAlignedLoad(vector_type, place, align));
    }
    for (std::size_t i = 0; i < group->members.size(); ++i) {
      results[i].push_back(pick_elements(parts, starts, group->elements[i], group->stride));
    }
  }
  clear_accessor();
  for (std::size_t i = 0; i < group->members.size(); ++i) {
    define_vector(group->members[i], std::move(results[i]));
  }
  return true;
}

// Nothing that is not stored to may be touched: neither elements between those of the accesses nor
// those of lanes that are not active.
bool Emitter::emit_interleaved_store(llvm::StoreInst& store) {
  const bool can_be_masked =
      lanes_.has_masked_stores && has_masked_access(store.getValueOperand()->getType());
  if (store.isAtomic() || store.isVolatile() || (!mask_.empty() && !can_be_masked)) {
    return false;
  }
  auto known = interleaved_stores_.find(&store);
  if (known == interleaved_stores_.end()) {
    const auto group = find_interleaved(store);
    if (!group ||
        !((mask_.empty() && is_whole(*group)) || (can_be_masked && pays_under_mask(*group)))) {
      return false;
    }
    for (llvm::Instruction* member : group->members) {
      interleaved_stores_[llvm::cast<llvm::StoreInst>(member)] = *group;
    }
    known = interleaved_stores_.find(&store);
  }
  const Interleaved& group = known->second;
  if (group.members.back() != &store) {
    return true;
  }
  const bool is_masked = !mask_.empty() || !is_whole(group);
  const unsigned per_chunk = lanes_.per_chunk;
  llvm::Type* type = store.getValueOperand()->getType();
  const auto size = static_cast<std::int64_t>(layout_.getTypeStoreSize(type));
  // Nothing is stored of elements without a value.
  std::vector<Chunks> values(group.stride,
                             Chunks(lanes_.chunks(), llvm::PoisonValue::get(chunk_type(type))));
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    values[group.elements[i]] =
        vector(llvm::cast<llvm::StoreInst>(group.members[i])->getValueOperand());
  }
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    count(Form::StridedAccess, group.members, is_masked ? kMaskedStructures : kWholeStructures);
    set_accessor(store.getPointerOperand(), chunk);
    llvm::Value* start = builder_.CreateGEP(
        builder_.getInt8Ty(), scalar_at(store.getPointerOperand(), chunk * per_chunk),
        builder_.getInt64(
            static_cast<std::uint64_t>(-size * static_cast<std::int64_t>(group.elements.back()))));
    for (unsigned part = 0; part < group.stride; ++part) {
      // Position p of this vector is element p % stride of lane p / stride.
      llvm::Value* joined = nullptr;
      for (unsigned element = 0; element < group.stride; element += 2) {
        const bool is_pair = element + 1 < group.stride;
        llvm::SmallVector<int, 16> order(per_chunk, llvm::PoisonMaskElem);
        llvm::SmallVector<int, 16> blend(per_chunk);
        bool any = false;
        for (unsigned i = 0; i < per_chunk; ++i) {
          const unsigned position = part * per_chunk + i;
          const unsigned wanted = position % group.stride;
          const unsigned lane = position / group.stride;
          const bool here = llvm::is_contained(group.elements, wanted) &&
                            (wanted == element || (is_pair && wanted == element + 1));
          order[i] =
              here ? static_cast<int>(lane + (wanted - element) * per_chunk) : llvm::PoisonMaskElem;
          blend[i] = static_cast<int>(here ? i + per_chunk : i);
          any = any || here;
        }
        if (!any) {
          continue;
        }
        llvm::Value* picked = builder_.CreateShuffleVector(
            values[element][chunk],
            is_pair ? values[element + 1][chunk]
                    : llvm::PoisonValue::get(values[element][chunk]->getType()),
            order);
        joined = joined == nullptr ? picked : builder_.CreateShuffleVector(joined, picked, blend);
      }
      if (joined == nullptr) {
        continue;
      }
      llvm::Value* place = builder_.CreateConstGEP1_32(type, start, part * per_chunk);
      const llvm::Align align = align_of_elements(store, layout_);
      if (is_masked) {
        builder_.CreateMaskedStore(joined, place, align,
                                   elements_wanted(group, part * per_chunk, chunk));
      } else {
        builder_.CreateAlignedStore(joined, place, align);
      }
    }
  }
  clear_accessor();
  return true;
}

}  // namespace pewter::compiler::spmd
