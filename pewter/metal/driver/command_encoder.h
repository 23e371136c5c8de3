#pragma once

#include <Metal/MTLCommandEncoder.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "pewter/metal/driver/command_buffer.h"

namespace pewter::driver {

/// The body of MTL::CommandEncoder, base of all encoders. Used by one thread at a time.
class CommandEncoder : public Object {
 public:
  using Public = MTL::CommandEncoder;
  static constexpr ClassInfo kClass{"MTL::CommandEncoder", &Object::kClass};

  ~CommandEncoder() override;

  void end();
  /// Ends it without a word, because the command buffer has been committed.
  void detach() { is_open_ = false; }
  void insert_signpost(String* text);
  void push_debug_group();
  void pop_debug_group();

  /// Takes the time between the commands before and behind.
  void sample(CounterSampleBuffer* samples, std::uint64_t index);
  /// Takes the time when the encoder begins and ends, as a pass descriptor wants it.
  template <class Attachments>
  void sample_ends(const Attachments& attachments) {
    for (const auto& [number, attachment] : attachments.items) {
      if (attachment && attachment->sample_buffer) {
        CounterSampleBuffer* samples = attachment->sample_buffer.get();
        sample_unless_declined(samples, attachment->start_index);
        end_samples_.emplace_back(samples, attachment->end_index);
      }
    }
  }

  std::uint32_t number() const { return number_; }
  const std::vector<Ref<String>>& signposts() const { return signposts_; }

  Ref<String> label;

 protected:
  CommandEncoder(const ClassInfo& class_info, Ref<CommandBuffer> buffer);

  /// Whether commands may still be added; a mistake, as done by `action`, when not.
  bool is_open(const char* action);

  CommandBuffer& buffer() const { return *buffer_; }
  template <class T>
  T& append() {
    return buffer_->storage().append<T>(number_);
  }

 private:
  void sample_unless_declined(CounterSampleBuffer* samples, std::uint64_t index);

  const Ref<CommandBuffer> buffer_;
  std::uint32_t number_ = 0;
  bool is_open_ = true;
  std::uint32_t debug_groups_ = 0;
  std::vector<Ref<String>> signposts_;
  std::vector<std::pair<CounterSampleBuffer*, std::uint64_t>> end_samples_;
};

}  // namespace pewter::driver
