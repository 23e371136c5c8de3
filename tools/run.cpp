#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tools/commands.h"
#include "tools/dispatch.h"
#include "tools/kernel.h"
#include "tools/npy.h"
#include "tools/run_request.h"
#include "tools/sizes.h"
#include "tools/statistics.h"

namespace pewter::tools {
namespace {

constexpr const char* kFooter = R"(Buffer sources:
  zeros:TYPE:SHAPE  ones:TYPE:SHAPE  range:TYPE:SHAPE  normal:TYPE:SHAPE
  random:TYPE:SHAPE[:LOW:HIGH]       between 0 and 1, whole numbers 0 to 99, or as given
  fill:TYPE:SHAPE:NUMBER             values:TYPE:N,N,...
  FILE.npy                           a NumPy array
Types are f32 f16 bf16 i8 u8 i16 u16 i32 u32 i64 u64 or MSL's own names: float, half4, uint2, ...
Sizes take K, M and G (1024, 1024^2, 1024^3); shapes and grids take x: 640x480.
Parameters are named as in the source, or by buffer index: --buffer 0=zeros:f32:16.

Examples:
  pewter run saxpy.metal --grid 1M --buffer x=random:f32:1M --buffer y=ones:f32:1M \
      --bytes a=float:2 --show y
  pewter run blur.metal --kernel blur_rows --grid 640x480 --group 16x16 \
      --buffer image=photo.npy --buffer out=zeros:f32:640x480 --constant 3=bool:true --save out=blurred.npy
  pewter run reduce.metal --grid 4M --group 256 --threadgroup shared=1K --buffer in=ones:f32:4M \
      --buffer out=zeros:f32:16K --time --repeat 20
  pewter run saxpy.metal --grid 1M --buffer x=ones:f32:1M --buffer y=ones:f32:1M --bytes a=float:2 --explain
)";

/// The compiler explains itself in its log, which is chosen when it is first needed.
void log_explanations() {
  setenv("PEWTER_LOG", "spmd", 1);
}

std::string times(double best, double median, std::size_t count) {
  return count == 1 ? fmt::format("{:.3f} ms", best)
                    : fmt::format("{:.3f} ms best, {:.3f} ms median of {}", best, median, count);
}

void print_times(const Kernel& kernel, const RunRequest& request, const RunResult& result) {
  std::vector<double> sorted = result.run_ms;
  std::sort(sorted.begin(), sorted.end());
  std::uint64_t bytes = 0;
  for (const auto& given : request.buffers) {
    bytes += given.value.byte_count;
  }
  fmt::print("compile  {:.3f} ms\n", kernel.compile_ms);
  fmt::print("run      {}\n", times(sorted.front(), sorted[sorted.size() / 2], sorted.size()));
  if (bytes > 0 && sorted.front() > 0) {
    fmt::print("rate     {:.3g} GB/s, each buffer touched once\n",
               static_cast<double>(bytes) / sorted.front() / 1e6);
  }
}

std::string shape_text(const MTL::Size& size) {
  return fmt::format("{} x {} x {}", size.width, size.height, size.depth);
}

std::size_t buffer_index(const RunRequest& request, const std::string& name) {
  std::size_t index = 0;
  while (request.buffers[index].name != name) {
    ++index;
  }
  return index;
}

void run(const RunFlags& flags) {
  const RunRequest request = parse_run_flags(flags);
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const Kernel kernel = compile_kernel(request);
  const RunResult result = run_kernel(kernel, request);

  fmt::print("{}: {} threads in groups of {}, {}\n", kernel.name, shape_text(result.grid),
             shape_text(result.group),
             request.repeat == 1 ? "once" : fmt::format("{} times", request.repeat));
  if (request.time) {
    print_times(kernel, request, result);
  }
  for (const std::string& name : request.show) {
    const std::size_t index = buffer_index(request, name);
    const BufferSource& source = request.buffers[index].value;
    fmt::print("{}", describe(name, source.type, source.shape, result.content(index)));
  }
  for (const auto& [name, file] : request.save) {
    const std::size_t index = buffer_index(request, name);
    const BufferSource& source = request.buffers[index].value;
    write_buffer(file, source.type, source.shape, result.content(index));
    fmt::print("wrote {}\n", file);
  }
}

}  // namespace

void add_run_command(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand("run", "Compile a kernel from a .metal file and run it");
  command->footer(kFooter);
  command->add_option("FILE", flags->file, "Metal source file")->required()->type_name(" ");
  command->add_option("--kernel,-k", flags->kernel, "Kernel to run (default: the only one)")
      ->type_name("NAME");
  command->add_option("--grid,-g", flags->grid, "Threads: N, WxH or WxHxD")
      ->required()
      ->type_name("SIZE");
  command->add_option("--group", flags->group, "Threads of a threadgroup (default: suits the grid)")
      ->type_name("SIZE");
  const auto each = [&](const char* name, std::vector<std::string>& values, const char* form,
                        const char* help) {
    command->add_option(name, values, help)->type_name(form)->allow_extra_args(false)->take_all();
  };
  each("--buffer,-b", flags->buffers, "NAME=SOURCE", "Bind a buffer");
  each("--bytes", flags->bytes, "NAME=TYPE:VALUE", "Bind a value, as setBytes does");
  each("--threadgroup", flags->threadgroup, "NAME=BYTES",
       "Set the length of a threadgroup argument");
  each("--constant,-c", flags->constants, "INDEX=TYPE:VALUE",
       "Set a function constant, also by name");
  each("--define,-D", flags->defines, "NAME[=VALUE]", "Define a macro");
  each("--show,-s", flags->show, "NAME", "Print a buffer's statistics and histogram");
  each("--save", flags->save, "NAME=FILE.npy", "Write a buffer to a file");
  command->add_flag("--time,-t", flags->time, "Print compile time, run time and GB/s");
  command->add_option("--repeat,-n", flags->repeat,
                      "Run so many times; buffers keep their content");
  command->add_option("--seed", flags->seed, "Seed of random and normal (default: 0)");
  command->add_flag("--explain", flags->explain,
                    "Say how the kernel runs: lanes, branches, accesses, and why");
  command->callback([flags] {
    if (flags->explain) {
      log_explanations();
    }
    run(*flags);
  });
}

}  // namespace pewter::tools
