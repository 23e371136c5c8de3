#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdlib>

#include "bench/support/device.h"

namespace bench {
namespace {

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) {
    fail(std::string(call) + ": OpenCL error " + std::to_string(code));
  }
}

class OpenClMemory final : public Memory {
 public:
  OpenClMemory(cl_command_queue queue, cl_mem given, std::size_t size)
      : memory(given), queue_(queue), size_(size) {}
  ~OpenClMemory() override { clReleaseMemObject(memory); }
  OpenClMemory(const OpenClMemory&) = delete;
  OpenClMemory& operator=(const OpenClMemory&) = delete;

  void write(const void* bytes, std::size_t size) override {
    check(clEnqueueWriteBuffer(queue_, memory, CL_TRUE, 0, size, bytes, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  void read(void* bytes, std::size_t size) override {
    check(clEnqueueReadBuffer(queue_, memory, CL_TRUE, 0, size, bytes, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  void touch() override {
    cl_int code = CL_SUCCESS;
    void* mapped = clEnqueueMapBuffer(queue_, memory, CL_TRUE, CL_MAP_WRITE, 0, size_, 0, nullptr,
                                      nullptr, &code);
    check(code, "clEnqueueMapBuffer");
    touch_pages(mapped, size_);
    check(clEnqueueUnmapMemObject(queue_, memory, mapped, 0, nullptr, nullptr),
          "clEnqueueUnmapMemObject");
    check(clFinish(queue_), "clFinish");
  }

  const cl_mem memory;

 private:
  const cl_command_queue queue_;
  const std::size_t size_;
};

class OpenClKernel final : public Kernel {
 public:
  OpenClKernel(cl_program program, cl_kernel given) : kernel(given), program_(program) {}
  ~OpenClKernel() override {
    clReleaseKernel(kernel);
    clReleaseProgram(program_);
  }
  OpenClKernel(const OpenClKernel&) = delete;
  OpenClKernel& operator=(const OpenClKernel&) = delete;

  const cl_kernel kernel;

 private:
  const cl_program program_;
};

class OpenClDevice final : public Device {
 public:
  OpenClDevice() {
    cl_platform_id platform = nullptr;
    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr), "clGetDeviceIDs");
    cl_int code = CL_SUCCESS;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device_, 0, &code);
    check(code, "clCreateCommandQueue");
  }

  ~OpenClDevice() override {
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  OpenClDevice(const OpenClDevice&) = delete;
  OpenClDevice& operator=(const OpenClDevice&) = delete;

  std::unique_ptr<Memory> memory(std::size_t bytes) override {
    cl_int code = CL_SUCCESS;
    cl_mem memory = clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &code);
    check(code, "clCreateBuffer");
    return std::make_unique<OpenClMemory>(queue_, memory, bytes);
  }

  std::unique_ptr<Kernel> kernel(const std::string& file, const std::string& name) override {
    return compile(kernel_text(file + ".cl"), name);
  }

  std::unique_ptr<Kernel> compile(const std::string& source, const std::string& name) override {
    cl_int code = CL_SUCCESS;
    const char* text = source.c_str();
    cl_program program = clCreateProgramWithSource(context_, 1, &text, nullptr, &code);
    check(code, "clCreateProgramWithSource");
    const char* options = std::getenv("BENCH_OPENCL_OPTIONS");
    code =
        clBuildProgram(program, 1, &device_, options != nullptr ? options : "", nullptr, nullptr);
    if (code != CL_SUCCESS) {
      char log[4096] = {};
      clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, sizeof(log), log, nullptr);
      fail(log);
    }
    cl_kernel kernel = clCreateKernel(program, name.c_str(), &code);
    check(code, "clCreateKernel");
    return std::make_unique<OpenClKernel>(program, kernel);
  }

  std::string small_source(const std::string& factor) const override {
    return "kernel void scale(global float* out, global const float* in) {\n"
           "  size_t i = get_global_id(0);\n"
           "  out[i] = " +
           factor + "f * in[i] + out[i];\n}\n";
  }

  void dispatch(const Kernel& kernel,
                Size grid,
                Size group,
                std::initializer_list<Argument> arguments) override {
    cl_kernel handle = static_cast<const OpenClKernel&>(kernel).kernel;
    cl_uint index = 0;
    for (const Argument& argument : arguments) {
      if (argument.memory != nullptr) {
        const auto* memory = static_cast<const OpenClMemory*>(argument.memory);
        check(clSetKernelArg(handle, index, sizeof(cl_mem), &memory->memory), "clSetKernelArg");
      } else {
        check(clSetKernelArg(handle, index, argument.size, argument.bytes), "clSetKernelArg");
      }
      ++index;
    }
    const std::size_t global[] = {grid.width, grid.height};
    const std::size_t local[] = {group.width, group.height};
    check(clEnqueueNDRangeKernel(queue_, handle, grid.height > 1 ? 2 : 1, nullptr, global, local, 0,
                                 nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }

  void finish() override { check(clFinish(queue_), "clFinish"); }

 private:
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
};

}  // namespace

std::unique_ptr<Device> open_device() {
  return std::make_unique<OpenClDevice>();
}

}  // namespace bench
