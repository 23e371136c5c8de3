#include "pewter/metal/driver/buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pewter/base/log.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/heap.h"

namespace pewter::driver {
namespace {

/// Whether the device takes a buffer like that; says why not in the log.
bool acceptable(std::uint64_t length, MTL::ResourceOptions options) {
  if (length == 0) {
    logging::error("metal", "newBuffer: a buffer of 0 bytes cannot be made");
    return false;
  }
  if (length > device().max_buffer_length()) {
    logging::error("metal", "newBuffer: buffer of {} bytes exceeds maxBufferLength of {}", length,
                   device().max_buffer_length());
    return false;
  }
  if (storage_mode(options) > MTL::StorageModePrivate) {
    logging::error("metal", "newBuffer: storage mode {} is not one that buffers have",
                   static_cast<unsigned>(storage_mode(options)));
    return false;
  }
  return true;
}

Ref<Buffer> new_buffer(const MTL::Device* owner,
                       std::uint64_t length,
                       MTL::ResourceOptions options,
                       const std::source_location& where = std::source_location::current()) {
  if (impl<Device>(owner, where) == nullptr || !acceptable(length, options)) {
    return nullptr;
  }
  auto memory = DeviceMemory::allocate(length);
  return memory ? make_ref<Buffer>(*std::move(memory), length, options) : nullptr;
}

}  // namespace

Buffer::Buffer(DeviceMemory memory, std::uint64_t length, MTL::ResourceOptions options)
    : Resource(kClass, options),
      data_(memory.data()),
      length_(length),
      memory_(std::move(memory)) {}

Buffer::Buffer(void* memory,
               std::uint64_t length,
               MTL::ResourceOptions options,
               MTL::NewBufferDeallocatorFunction deallocator)
    : Resource(kClass, options),
      data_(static_cast<std::byte*>(memory)),
      length_(length),
      borrowed_(true),
      deallocator_(std::move(deallocator)) {}

Buffer::Buffer(Ref<Heap> heap,
               std::uint64_t heap_offset,
               std::byte* memory,
               std::uint64_t length,
               MTL::ResourceOptions options)
    : Resource(kClass, options, std::move(heap), heap_offset), data_(memory), length_(length) {}

Buffer::~Buffer() {
  if (borrowed_) {
    device().give_back(length_);
    if (deallocator_) {
      deallocator_(data_, length_);
    }
  }
  make_aliasable();
}

std::uint64_t Buffer::allocated_size() const {
  if (memory_) {
    return memory_->size();
  }
  return heap() != nullptr ? (length_ + kHeapAlignment - 1) / kHeapAlignment * kHeapAlignment
                           : length_;
}

void Buffer::discard() {
  if (memory_) {
    memory_->discard();
  }
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::Buffer;
using driver::handle;
using driver::impl;

MTL::Buffer* MTL::Device::newBuffer(NS::UInteger length, MTL::ResourceOptions options) {
  return handle(driver::new_buffer(this, length, options).leak());
}

MTL::Buffer* MTL::Device::newBuffer(const void* pointer,
                                    NS::UInteger length,
                                    MTL::ResourceOptions options) {
  if (pointer == nullptr) {
    pewter::logging::error("metal", "newBuffer: there are no bytes to copy at a null pointer");
    return nullptr;
  }
  auto buffer = driver::new_buffer(this, length, options);
  if (buffer) {
    std::memcpy(buffer->data(), pointer, length);
  }
  return handle(buffer.leak());
}

MTL::Buffer* MTL::Device::newBuffer(const void* pointer,
                                    NS::UInteger length,
                                    MTL::ResourceOptions options,
                                    const NewBufferDeallocatorFunction& deallocator) {
  if (impl<driver::Device>(this) == nullptr || !driver::acceptable(length, options)) {
    return nullptr;
  }
  const std::uint64_t page = driver::page_size();
  if (pointer == nullptr || reinterpret_cast<std::uintptr_t>(pointer) % page != 0 ||
      length % page != 0) {
    pewter::logging::error(
        "metal", "newBuffer: {} and a length of {} are not multiples of the page size of {}",
        fmt::ptr(pointer), length, page);
    return nullptr;
  }
  if (driver::storage_mode(options) == StorageModePrivate) {
    pewter::logging::error("metal", "newBuffer: the caller's memory cannot have private storage");
    return nullptr;
  }
  if (!driver::device().claim(length)) {
    pewter::logging::error("metal",
                           "newBuffer: {} bytes with {} already allocated exceed the machine's {}",
                           length, driver::device().allocated(), driver::device().memory_bytes());
    return nullptr;
  }
  return handle(driver::make<Body>(const_cast<void*>(pointer), length, options, deallocator));
}

NS::UInteger MTL::Buffer::length() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->length() : 0;
}

void* MTL::Buffer::contents() {
  auto* self = impl<Body>(this);
  const bool visible =
      self != nullptr && driver::storage_mode(self->options()) != StorageModePrivate;
  return visible ? self->data() : nullptr;
}

void MTL::Buffer::didModifyRange(NS::Range range) {
  auto* self = impl<Body>(this);
  if (self != nullptr &&
      (range.location > self->length() || range.length > self->length() - range.location)) {
    pewter::logging::error("metal", "didModifyRange: {} bytes from {} on exceed the buffer's {}",
                           range.length, range.location, self->length());
  }
}

// Markers are for a debugger that shows buffers; there is none yet.
void MTL::Buffer::addDebugMarker(const NS::String*, NS::Range) {}

void MTL::Buffer::removeAllDebugMarkers() {}

std::uint64_t MTL::Buffer::gpuAddress() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? reinterpret_cast<std::uintptr_t>(self->data()) : 0;
}
