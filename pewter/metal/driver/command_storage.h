#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "pewter/base/kernel_abi.h"
#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/texel_region.h"
#include "pewter/metal/executor/grid_run.h"

namespace pewter::driver {

class ComputePipelineState;
class CounterSampleBuffer;
class Event;
class IndirectCommandBuffer;
class Texture;

enum class CommandKind : std::uint8_t {
  Dispatch,
  IndirectDispatch,
  ExecuteCommands,
  Copy,
  CopyTexels,
  MakeLevels,
  Sample,
  ResolveSamples,
  Fill,
  Signal,
  Wait,
};

/// One step of a command buffer; what it does is in the structure that derives from it.
struct Command {
  CommandKind kind;
  /// Number of the encoder that it belongs to, in the order in which they were opened.
  std::uint32_t encoder = 0;
  Command* next = nullptr;
};

struct DispatchCommand : Command {
  static constexpr CommandKind kKind = CommandKind::Dispatch;

  const ComputePipelineState* pipeline;
  /// Whether it may run together with the dispatch before it.
  bool overlaps_previous;
  executor::Dispatch dispatch;
  executor::Grid grid;
};

/// A dispatch whose number of groups is read when it runs.
struct IndirectDispatchCommand : DispatchCommand {
  static constexpr CommandKind kKind = CommandKind::IndirectDispatch;

  const std::byte* threadgroups_per_grid;
};

/// Dispatches of an indirect command buffer, which are read when it runs.
struct ExecuteCommandsCommand : Command {
  static constexpr CommandKind kKind = CommandKind::ExecuteCommands;

  const IndirectCommandBuffer* commands;
  std::uint64_t first;
  std::uint64_t count;
  /// Where the range is, when it is read as well; null otherwise.
  const std::byte* range;
  /// What the commands may inherit.
  const ComputePipelineState* pipeline;
  abi::Launch launch;
};

struct CopyCommand : Command {
  static constexpr CommandKind kKind = CommandKind::Copy;

  std::byte* to;
  const std::byte* from;
  std::uint64_t byte_count;
};

struct CopyTexelsCommand : Command {
  static constexpr CommandKind kKind = CommandKind::CopyTexels;

  TexelRegion to;
  TexelRegion from;
};

/// Fills the mip levels of a texture from its first.
struct MakeLevelsCommand : Command {
  static constexpr CommandKind kKind = CommandKind::MakeLevels;

  const Texture* texture;
};

/// Takes the time.
struct SampleCommand : Command {
  static constexpr CommandKind kKind = CommandKind::Sample;

  CounterSampleBuffer* samples;
  std::uint64_t index;
};

/// Copies times that were taken before.
struct ResolveSamplesCommand : Command {
  static constexpr CommandKind kKind = CommandKind::ResolveSamples;

  const CounterSampleBuffer* samples;
  std::uint64_t first;
  std::uint64_t count;
  std::byte* to;
};

struct FillCommand : Command {
  static constexpr CommandKind kKind = CommandKind::Fill;

  std::byte* to;
  std::uint64_t byte_count;
  std::uint8_t value;
};

struct SignalCommand : Command {
  static constexpr CommandKind kKind = CommandKind::Signal;

  Event* event;
  std::uint64_t value;
};

struct WaitCommand : Command {
  static constexpr CommandKind kKind = CommandKind::Wait;

  Event* event;
  std::uint64_t value;
};

/// What a command buffer has recorded: commands, the bytes they point at, and references to
/// objects.
///
/// Storage is handed on from finished command buffers to new ones, so that a steady workload stops
/// allocating.
class CommandStorage {
 public:
  CommandStorage() = default;
  ~CommandStorage() { clear(); }
  CommandStorage(const CommandStorage&) = delete;
  CommandStorage& operator=(const CommandStorage&) = delete;

  /// Adds a command of type T, its own members not yet set.
  template <class T>
  T& append(std::uint32_t encoder) {
    static_assert(std::is_trivially_destructible_v<T>);
    auto* command = new (allocate(sizeof(T), alignof(T))) T;
    command->kind = T::kKind;
    command->encoder = encoder;
    command->next = nullptr;
    (last_ != nullptr ? last_->next : first_) = command;
    last_ = command;
    return *command;
  }

  /// Memory that stays where it is until clear(). `alignment` is a power of two.
  void* allocate(std::size_t bytes, std::size_t alignment);

  /// Holds a reference until clear(). Null is allowed.
  void keep(Object* object);

  Command* first() const { return first_; }

  /// Forgets everything but the memory.
  void clear();

 private:
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 16;

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t current_chunk_ = 0;
  std::size_t used_ = 0;
  Command* first_ = nullptr;
  Command* last_ = nullptr;
  std::vector<Ref<Object>> references_;
  // Objects kept lately, by address, so that one used again and again is kept once or twice.
  std::array<const Object*, 64> recent_ = {};
};

}  // namespace pewter::driver
