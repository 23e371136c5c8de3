#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// What the kernel works need of a device, so that each is written once and measured with Metal
/// and with OpenCL.
namespace bench {

class Memory {
 public:
  virtual ~Memory() = default;
  virtual void write(const void* bytes, std::size_t size) = 0;
  virtual void read(void* bytes, std::size_t size) = 0;
  /// Writes to every page.
  virtual void touch() = 0;
  /// Where the host can reach it while no kernel runs; null when it cannot.
  virtual void* address() { return nullptr; }
};

class Kernel {
 public:
  virtual ~Kernel() = default;
};

/// Memory, or a few bytes passed by value.
struct Argument {
  Argument(const std::unique_ptr<Memory>& given) : memory(given.get()) {}
  Argument(const float& value) : bytes(&value), size(sizeof(value)) {}
  Argument(const std::uint32_t& value) : bytes(&value), size(sizeof(value)) {}

  Memory* memory = nullptr;
  const void* bytes = nullptr;
  std::size_t size = 0;
};

struct Size {
  std::size_t width = 1;
  std::size_t height = 1;
};

/// One queue of a device. Errors end the program: a benchmark without a device has nothing to say.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::unique_ptr<Memory> memory(std::size_t bytes) = 0;
  /// A function of kernels/<file>.metal or .cl.
  virtual std::unique_ptr<Kernel> kernel(const std::string& file, const std::string& name) = 0;
  virtual std::unique_ptr<Kernel> compile(const std::string& source, const std::string& name) = 0;
  /// A small kernel `scale` (out, in) that no cache has seen with another `factor`.
  virtual std::string small_source(const std::string& factor) const = 0;

  /// Adds a dispatch to those that finish() waits for.
  virtual void dispatch(const Kernel& kernel,
                        Size grid,
                        Size group,
                        std::initializer_list<Argument> arguments) = 0;
  virtual void finish() = 0;
};

/// The device of this program.
std::unique_ptr<Device> open_device();

/// The text of a file of kernels/.
std::string kernel_text(const std::string& name);

template <typename T>
std::unique_ptr<Memory> memory_of(Device& device, const std::vector<T>& values) {
  auto memory = device.memory(values.size() * sizeof(T));
  memory->write(values.data(), values.size() * sizeof(T));
  return memory;
}

template <typename T>
std::vector<T> contents(Memory& memory, std::size_t count) {
  std::vector<T> values(count);
  memory.read(values.data(), count * sizeof(T));
  return values;
}

/// Writes a byte to every page of `size` bytes.
inline void touch_pages(void* memory, std::size_t size) {
  auto* bytes = static_cast<volatile char*>(memory);
  for (std::size_t i = 0; i < size; i += 4096) {
    bytes[i] = 1;
  }
}

[[noreturn]] void fail(const std::string& text);

}  // namespace bench
