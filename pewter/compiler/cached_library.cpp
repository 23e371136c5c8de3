#include "pewter/compiler/cached_library.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "pewter/base/log.h"
#include "pewter/compiler/artifact.h"
#include "pewter/compiler/cache_keys.h"
#include "pewter/compiler/disk_cache.h"
#include "pewter/compiler/mode_choice.h"
#include "pewter/compiler/plain_failure.h"

namespace pewter::compiler {
namespace {

std::size_t scalar_bytes(ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
    case ScalarType::Char:
    case ScalarType::UChar:
      return 1;
    case ScalarType::Short:
    case ScalarType::UShort:
    case ScalarType::Half:
    case ScalarType::BFloat:
      return 2;
    case ScalarType::Int:
    case ScalarType::UInt:
    case ScalarType::Float:
      return 4;
    case ScalarType::Long:
    case ScalarType::ULong:
      return 8;
    case ScalarType::None:
    case ScalarType::Other:
      break;
  }
  return 0;
}

// A vector of three takes the room of four.
std::size_t value_bytes(const ValueType& type) {
  return scalar_bytes(type.scalar) * (type.rows == 3 ? 4 : type.rows);
}

std::string describe(const GroupShape& shape) {
  switch (shape.kind) {
    case GroupShape::Kind::Any:
      return " in groups of any shape";
    case GroupShape::Kind::Linear:
      return " in rows of threads";
    case GroupShape::Kind::Exact:
      break;
  }
  return fmt::format(" in groups of {} x {} x {}", shape.size[0], shape.size[1], shape.size[2]);
}

/// Where the threads of a kernel may run alone.
std::string describe_released(const KernelExplanation& facts) {
  const auto count = [](std::uint32_t number, const char* one, const char* many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
  };
  std::string text;
  if (facts.released_switches != 0) {
    text += "; threads that part in " + count(facts.released_switches, "switch", "switches") +
            " run alone";
  }
  if (facts.released_loops != 0) {
    text += "; the last threads of " + count(facts.released_loops, "loop", "loops") + " run alone";
  }
  return text;
}

std::string describe_scalar(const KernelCode& code) {
  const char* fibers = !code.needs_fibers   ? ""
                       : code.uses_barriers ? ", each on a fiber, to wait at barriers"
                                            : ", each on a fiber, to use values of its simdgroup";
  const std::string& fallback = code.explanation.fallback;
  return fmt::format(" runs one thread at a time{}: {}", fibers,
                     fallback.empty() ? "as PEWTER_MODE asks" : fallback);
}

/// The width and a line for each place, below the line of counts.
std::string describe_places(const KernelExplanation& facts) {
  std::string text = fmt::format("\n  width {}: {}", facts.lanes, facts.width_reason);
  const auto name = [](const ExplainedPlace& place) {
    return fmt::format("{}:{}:{}", place.file, place.line, place.column);
  };
  std::size_t longest = 0;
  for (const ExplainedPlace& place : facts.places) {
    longest = std::max(longest, name(place).size());
  }
  for (const ExplainedPlace& place : facts.places) {
    text += fmt::format("\n  {:<{}}  {:<6} {}", name(place), longest, place.kind, place.manner);
  }
  return text;
}

}  // namespace

CachedLibrary::CachedLibrary(std::string source, LibraryOptions options)
    : options_(std::move(options)),
      key_(library_key(source, options_)),
      source_(std::move(source)) {}

CachedLibrary::CachedLibrary(LibraryFile file, std::size_t unit, LibraryUnit facts)
    : options_(std::move(facts.options)),
      key_(unit_key(file.text_digest(unit), options_)),
      info_(std::move(facts.info)),
      file_(std::move(file)),
      unit_(unit) {}

Result<void, CompileFailure> CachedLibrary::open() {
  if (options_.include_paths.empty()) {
    if (const auto bytes = DiskCache::shared().load(key_)) {
      if (auto info = parse_library_info(*bytes)) {
        info_ = std::move(*info);
        return {};
      }
    }
  }
  std::scoped_lock lock(mutex_);
  if (auto parsed = parse(); !parsed) {
    return parsed;
  }
  info_ = parsed_->info();
  if (is_cacheable()) {
    DiskCache::shared().store(key_, serialise(info_));
  }
  return {};
}

bool CachedLibrary::leaves_mode_open(const KernelRequest& request) const {
  return compiler::leaves_mode_open(options_, request);
}

Result<std::shared_ptr<const KernelCode>, CompileFailure> CachedLibrary::compile(
    const KernelRequest& asked) {
  const KernelInfo* known_kernel = info_.find(asked.kernel);
  if (known_kernel == nullptr || known_kernel->kind != FunctionKind::Kernel) {
    return plain_failure(
        known_kernel == nullptr
            ? fmt::format("there is no kernel named '{}'", asked.kernel)
            : fmt::format("'{}' is a visible function, not a kernel", asked.kernel));
  }
  KernelRequest request = asked;
  if (auto settled = settle_mode(options_, request); !settled) {
    return std::move(settled).error();
  }
  if (auto checked = check_constants(request); !checked) {
    return std::move(checked).error();
  }
  const Digest key = kernel_key(key_, request);
  auto code = find_or_compile(key, request);
  if (code && request.record != nullptr) {
    request.record->add(key, *code);
  }
  if (code && logging::wanted("spmd")) {
    explain(key, request, **code, leaves_mode_open(asked));
  }
  return code;
}

Result<FunctionBody, CompileFailure> CachedLibrary::body(
    const std::string& function, const std::map<std::uint32_t, ConstantBytes>& constants) {
  const KernelInfo* known = info_.find(function);
  if (known == nullptr || known->kind != FunctionKind::Visible) {
    return plain_failure(fmt::format("there is no visible function named '{}'", function));
  }
  KernelRequest request;
  request.constants = constants;
  if (auto checked = check_constants(request); !checked) {
    return std::move(checked).error();
  }
  std::scoped_lock lock(mutex_);
  if (auto parsed = parse(); !parsed) {
    return std::move(parsed).error();
  }
  return parsed_->body(function, request.constants);
}

Result<std::shared_ptr<const KernelCode>, CompileFailure> CachedLibrary::find_or_compile(
    const Digest& key, const KernelRequest& request) {
  for (const std::shared_ptr<CodeArchive>& archive : request.archives) {
    auto found = archive->find(key);
    if (!found) {
      return plain_failure(found.error().message);
    }
    if (*found != nullptr) {
      return std::move(*found);
    }
  }
  if (request.only_from_archives) {
    return plain_failure(fmt::format("no binary archive holds kernel '{}'{}", request.kernel,
                                     describe(request.shape)));
  }
  {
    std::scoped_lock lock(mutex_);
    if (const auto known = kernels_.find(key.high ^ key.low); known != kernels_.end()) {
      return known->second;
    }
    if (is_cacheable(request)) {
      if (const auto bytes = DiskCache::shared().load(key)) {
        if (auto code = parse_kernel_code(*bytes)) {
          return remember(key, std::move(*code));
        }
      }
    }
  }
  auto bodies = linked_bodies(request);
  if (!bodies) {
    return std::move(bodies).error();
  }
  return compile_now(key, request, *bodies);
}

/// To be called without the lock, for two libraries may link each other's functions.
Result<std::vector<FunctionBody>, CompileFailure> CachedLibrary::linked_bodies(
    const KernelRequest& request) const {
  std::vector<FunctionBody> bodies;
  for (const LinkedFunction& function : request.linked) {
    auto body = function.library->body(function.name, function.constants);
    if (!body) {
      return std::move(body).error();
    }
    bodies.push_back(std::move(*body));
  }
  return bodies;
}

Result<std::shared_ptr<const KernelCode>, CompileFailure> CachedLibrary::compile_now(
    const Digest& key, const KernelRequest& request, const std::vector<FunctionBody>& bodies) {
  std::scoped_lock lock(mutex_);
  if (const auto known = kernels_.find(key.high ^ key.low); known != kernels_.end()) {
    return known->second;
  }
  if (auto parsed = parse(); !parsed) {
    return std::move(parsed).error();
  }
  const auto start = std::chrono::steady_clock::now();
  auto code = parsed_->compile(request, bodies, target_cpu());
  if (!code) {
    return std::move(code).error();
  }
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  logging::detail("compiler", "compiled '{}' in {:.1f} ms", request.kernel, taken.count());
  if (is_cacheable(request)) {
    DiskCache::shared().store(key, serialise(*code));
  }
  return remember(key, std::move(*code));
}

Result<void, CompileFailure> CachedLibrary::parse() {
  if (parsed_ != nullptr) {
    return {};
  }
  if (file_ && source_.empty()) {
    auto text = file_->text(unit_);
    if (!text) {
      return plain_failure(text.error().message);
    }
    source_ = std::move(*text);
  }
  auto backend = load_backend();
  if (!backend) {
    return plain_failure(backend.error().message);
  }
  auto parsed = (*backend)->parse(source_, options_);
  if (!parsed) {
    return std::move(parsed).error();
  }
  parsed_ = std::move(*parsed);
  return {};
}

// What was read from other files may change without our knowing.
bool CachedLibrary::is_cacheable() const {
  return options_.include_paths.empty() && options_.source_folder.empty() && info_.self_contained;
}

bool CachedLibrary::is_cacheable(const KernelRequest& request) const {
  return is_cacheable() &&
         std::all_of(request.linked.begin(), request.linked.end(),
                     [](const auto& function) { return function.library->info().self_contained; });
}

Result<void, CompileFailure> CachedLibrary::check_constants(KernelRequest& request) const {
  for (auto value = request.constants.begin(); value != request.constants.end();) {
    const auto known =
        std::find_if(info_.constants.begin(), info_.constants.end(),
                     [&](const FunctionConstant& c) { return c.index == value->first; });
    if (known == info_.constants.end()) {
      // A value for a constant that this library does not have is ignored, as Metal does.
      value = request.constants.erase(value);
      continue;
    }
    const std::size_t expected = value_bytes(known->type);
    if (value->second.size() != expected) {
      return plain_failure(fmt::format("function constant '{}' takes {} bytes, not {}", known->name,
                                       expected, value->second.size()));
    }
    ++value;
  }
  return {};
}

/// Says how a kernel will run, for those who log the area "spmd", once.
void CachedLibrary::explain(const Digest& key,
                            const KernelRequest& request,
                            const KernelCode& code,
                            bool is_open) {
  {
    std::scoped_lock lock(mutex_);
    if (!explained_.insert(key.high ^ key.low).second) {
      return;
    }
  }
  const std::string where = fmt::format("{}:{}: '{}'", options_.source_name,
                                        info_.find(request.kernel)->line, request.kernel);
  logging::write(logging::Level::Detail, "spmd",
                 where + (code.explanation.mode == ExecutionMode::Scalar
                              ? describe_scalar(code)
                              : describe_lanes(request, code, is_open)));
}

/// What is in caches, and where the text can be compiled again, what it has where.
std::string CachedLibrary::describe_lanes(const KernelRequest& request,
                                          const KernelCode& code,
                                          bool is_open) {
  const KernelExplanation& facts = code.explanation;
  std::string text = fmt::format(
      "{} runs {} threads at a time{}; branches: {} uniform, {} divergent; accesses, by vectors of "
      "lanes: {} uniform, {} consecutive, {} strided, {} gathered{}",
      describe(request.shape), facts.lanes,
      code.program_bytes != 0 ? ", which wait at barriers as coroutines" : "",
      facts.uniform_branches, facts.divergent_branches, facts.uniform_accesses,
      facts.consecutive_accesses, facts.strided_accesses, facts.gathers, describe_released(facts));
  if (code.may_lose_to_scalar && is_open) {
    text += "; when it has run for 20 ms, one thread at a time is tried as well";
  }
  const auto bodies = linked_bodies(request);
  if (!bodies) {
    return text;
  }
  std::scoped_lock lock(mutex_);
  if (const auto parsed = parse(); !parsed) {
    return text;
  }
  if (const auto found = parsed_->explain(request, *bodies, target_cpu())) {
    text += describe_places(*found);
  }
  return text;
}

std::shared_ptr<const KernelCode> CachedLibrary::remember(const Digest& key, KernelCode code) {
  return kernels_[key.high ^ key.low] = std::make_shared<const KernelCode>(std::move(code));
}

}  // namespace pewter::compiler
