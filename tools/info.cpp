#include <fmt/core.h>
#include <pewter/cache.h>
#include <pewter/processor.h>
#include <pewter/version.h>

#include <Metal/Metal.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/commands.h"
#include "tools/sizes.h"

namespace pewter::tools {
namespace {

constexpr const char* kFooter = R"(Examples:
  pewter info             for people
  pewter info --json      for programs
)";

struct Family {
  MTL::GPUFamily family;
  const char* name;
};

constexpr Family kFamilies[] = {
    {MTL::GPUFamilyApple7, "Apple7"},   {MTL::GPUFamilyApple8, "Apple8"},
    {MTL::GPUFamilyApple9, "Apple9"},   {MTL::GPUFamilyMac2, "Mac2"},
    {MTL::GPUFamilyCommon3, "Common3"}, {MTL::GPUFamilyMetal3, "Metal3"},
};

nlohmann::json device_facts() {
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) {
    return nullptr;
  }
  nlohmann::json families = nlohmann::json::array();
  for (const Family& family : kFamilies) {
    if (device->supportsFamily(family.family)) {
      families.push_back(family.name);
    }
  }
  const MTL::Size group = device->maxThreadsPerThreadgroup();
  return {
      {"name", device->name()->utf8String()},
      {"families", families},
      {"unified_memory", device->hasUnifiedMemory()},
      {"max_threads_per_threadgroup", {group.width, group.height, group.depth}},
      {"max_threadgroup_memory", device->maxThreadgroupMemoryLength()},
      {"max_buffer_length", device->maxBufferLength()},
      {"recommended_working_set", device->recommendedMaxWorkingSetSize()},
  };
}

nlohmann::json facts() {
  const Version versions = version();
  const Processor cpu = processor();
  const CacheStatus cache = cache_status();
  return {
      {"version",
       {{"pewter", versions.pewter}, {"llvm", versions.llvm}, {"language", versions.language}}},
      {"device", device_facts()},
      {"processor",
       {{"name", cpu.name},
        {"target", cpu.target},
        {"features", cpu.features},
        {"threads", cpu.threads}}},
      {"cache",
       {{"directory", cache.directory},
        {"enabled", cache.enabled},
        {"entries", cache.entries},
        {"bytes", cache.bytes},
        {"limit_bytes", cache.limit_bytes}}},
  };
}

std::string words(const nlohmann::json& list) {
  std::string text;
  for (const auto& word : list) {
    text += (text.empty() ? "" : " ") + word.get<std::string>();
  }
  return text.empty() ? "none" : text;
}

void line(const char* name, const std::string& text) {
  fmt::print("{:<20}{}\n", name, text);
}

void print_device(const nlohmann::json& device) {
  if (device.is_null()) {
    line("device", "none (PEWTER_DEVICE=none)");
    return;
  }
  const auto& group = device["max_threads_per_threadgroup"];
  line("device", device["name"]);
  line("families", words(device["families"]));
  line("memory", device["unified_memory"].get<bool>() ? "unified" : "separate");
  line("threadgroup limit",
       fmt::format("{} x {} x {} threads, {}", group[0].get<std::uint64_t>(),
                   group[1].get<std::uint64_t>(), group[2].get<std::uint64_t>(),
                   format_bytes(device["max_threadgroup_memory"])));
  line("buffer limit", format_bytes(device["max_buffer_length"]));
  line("working set", format_bytes(device["recommended_working_set"]));
}

void print_text(const nlohmann::json& all) {
  const auto& versions = all["version"];
  const auto& cpu = all["processor"];
  const auto& cache = all["cache"];
  line("pewter", versions["pewter"]);
  line("language", "Metal " + versions["language"].get<std::string>());
  line("clang, llvm", versions["llvm"]);
  print_device(all["device"]);
  line("processor", cpu["name"]);
  line("features", words(cpu["features"]));
  line("kernels compile for", cpu["target"]);
  line("kernel threads", std::to_string(cpu["threads"].get<std::uint32_t>()));
  line("cache", cache["enabled"].get<bool>() ? cache["directory"].get<std::string>() : "off");
  line("cache size",
       fmt::format("{} in {} entries, at most {}", format_bytes(cache["bytes"]),
                   cache["entries"].get<std::uint64_t>(), format_bytes(cache["limit_bytes"])));
}

}  // namespace

void add_info_command(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("info", "Show device, limits, processor, versions and cache");
  command->footer(kFooter);
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json] {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    const nlohmann::json all = facts();
    if (*json) {
      fmt::print("{}\n", all.dump(2));
    } else {
      print_text(all);
    }
  });
}

}  // namespace pewter::tools
