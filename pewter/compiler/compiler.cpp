#include "pewter/compiler/compiler.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "pewter/base/cpu.h"
#include "pewter/base/environment.h"
#include "pewter/base/hash.h"
#include "pewter/base/kernel_abi.h"
#include "pewter/base/log.h"
#include "pewter/compiler/artifact.h"
#include "pewter/compiler/backend_loader.h"
#include "pewter/compiler/disk_cache.h"
#include "pewter/compiler/library_file.h"

namespace pewter::compiler {
namespace {

/// Bytes of the wire formats below; raised when they change.
constexpr std::uint64_t kFormatVersion = 7;

constexpr std::uint32_t kMinLanes = 8;
constexpr std::uint32_t kMaxLanes = 1024;

CompileFailure plain_failure(const std::string& text) {
  Diagnostic diagnostic;
  diagnostic.text = text;
  diagnostic.rendered = "error: " + text + "\n";
  return CompileFailure{{std::move(diagnostic)}};
}

Digest library_key(const std::string& source, const LibraryOptions& options) {
  Hasher hasher;
  hasher.add("library").add(kFormatVersion).add(backend_identity()).add(source);
  hasher.add(options.language_version).add(static_cast<std::uint64_t>(options.math_mode));
  hasher.add(static_cast<std::uint64_t>(options.math_functions));
  hasher.add(options.source_name).add(static_cast<std::uint64_t>(options.enable_logging));
  hasher.add(options.macros.size());
  for (const auto& [name, value] : options.macros) {
    hasher.add(name).add(value);
  }
  return hasher.digest();
}

/// For a unit of a file, whose text is known by its digest.
Digest unit_key(const Digest& text, const LibraryOptions& options) {
  Hasher hasher;
  hasher.add("unit").add(text.high).add(text.low);
  const Digest rest = library_key("", options);
  return hasher.add(rest.high).add(rest.low).digest();
}

Digest kernel_key(const Digest& library, const KernelRequest& request) {
  Hasher hasher;
  hasher.add("kernel").add(kFormatVersion).add(abi::kKernelAbiVersion);
  hasher.add(library.high).add(library.low).add(request.kernel).add(target_cpu());
  for (const auto& [index, value] : request.constants) {
    hasher.add(index).add(std::span<const std::byte>(value));
  }
  hasher.add(static_cast<std::uint64_t>(request.mode)).add(request.lanes);
  hasher.add(static_cast<std::uint64_t>(request.needs_parts));
  hasher.add(static_cast<std::uint64_t>(request.shape.kind));
  for (const LinkedFunction& function : request.linked) {
    const Digest identity = function.library->identity(function.name);
    hasher.add("linked").add(identity.high).add(identity.low).add(function.name);
    for (const auto& [index, value] : function.constants) {
      hasher.add(index).add(std::span<const std::byte>(value));
    }
  }
  for (const std::uint32_t size : request.shape.size) {
    hasher.add(size);
  }
  return hasher.digest();
}

/// What `PEWTER_MODE` and `PEWTER_LANES` say, read once.
struct ModeSettings {
  ExecutionMode mode = ExecutionMode::Spmd;
  std::uint32_t lanes = 0;
};

bool is_lane_count(std::uint64_t lanes) {
  return lanes >= kMinLanes && lanes <= kMaxLanes && (lanes & (lanes - 1)) == 0;
}

const ModeSettings& mode_settings() {
  static const ModeSettings settings = [] {
    ModeSettings found;
    const std::string mode = environment::text("PEWTER_MODE").value_or("spmd");
    if (mode == "scalar") {
      found.mode = ExecutionMode::Scalar;
    } else if (mode != "spmd") {
      logging::warning("environment", "PEWTER_MODE={} is neither 'scalar' nor 'spmd'; using spmd",
                       mode);
    }
    if (const auto lanes = environment::number("PEWTER_LANES")) {
      if (is_lane_count(*lanes)) {
        found.lanes = static_cast<std::uint32_t>(*lanes);
      } else {
        logging::warning("environment",
                         "PEWTER_LANES={} is not a power of two from {} to {}; choosing by kernel",
                         *lanes, kMinLanes, kMaxLanes);
      }
    }
    return found;
  }();
  return settings;
}

/// What a library's own macros say of the mode, for requests that do not.
Result<void, CompileFailure> follow_macros(const LibraryOptions& options, KernelRequest& request) {
  for (const auto& [name, value] : options.macros) {
    if (name == "PEWTER_MODE" && request.mode == ExecutionMode::Default) {
      if (value != "scalar" && value != "spmd") {
        return plain_failure(
            fmt::format("macro PEWTER_MODE is '{}'; it may be scalar or spmd", value));
      }
      request.mode = value == "scalar" ? ExecutionMode::Scalar : ExecutionMode::Spmd;
    }
    if (name == "PEWTER_LANES" && request.lanes == 0) {
      const char* end = value.data() + value.size();
      std::uint32_t lanes = 0;
      const auto [stop, error] = std::from_chars(value.data(), end, lanes);
      if (error != std::errc() || stop != end || !is_lane_count(lanes)) {
        return plain_failure(
            fmt::format("macro PEWTER_LANES is '{}'; it may be a power of two from {} to {}", value,
                        kMinLanes, kMaxLanes));
      }
      request.lanes = lanes;
    }
  }
  return {};
}

/// Fills in what was left open, and drops what makes no difference, so that equal code has one key.
void settle_mode(KernelRequest& request) {
  if (request.mode == ExecutionMode::Default) {
    request.mode = mode_settings().mode;
  }
  if (request.mode == ExecutionMode::Scalar) {
    request.lanes = 0;
    request.shape = {};
    request.needs_parts = true;
  } else if (request.lanes == 0) {
    request.lanes = mode_settings().lanes;
  }
}

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

class CachedLibrary : public Library {
 public:
  CachedLibrary(std::string source, LibraryOptions options, Digest key)
      : options_(std::move(options)), key_(key), source_(std::move(source)) {}

  /// A unit of a file, whose text is read when it is needed.
  CachedLibrary(LibraryFile file, std::size_t unit, LibraryUnit facts)
      : options_(std::move(facts.options)),
        key_(unit_key(file.text_digest(unit), options_)),
        info_(std::move(facts.info)),
        file_(std::move(file)),
        unit_(unit) {}

  /// Fills `info` from the disk cache or by parsing.
  Result<void, CompileFailure> open() {
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

  const LibraryInfo& info() const override { return info_; }

  Digest identity(const std::string&) const override { return key_; }

  Result<FunctionBody, CompileFailure> body(
      const std::string& function,
      const std::map<std::uint32_t, ConstantBytes>& constants) override {
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
    if (parsed_ == nullptr) {
      if (auto parsed = parse(); !parsed) {
        return std::move(parsed).error();
      }
    }
    return parsed_->body(function, request.constants);
  }

  Result<std::shared_ptr<const KernelCode>, CompileFailure> compile(
      const KernelRequest& asked) override {
    const KernelInfo* known_kernel = info_.find(asked.kernel);
    if (known_kernel == nullptr || known_kernel->kind != FunctionKind::Kernel) {
      return plain_failure(
          known_kernel == nullptr
              ? fmt::format("there is no kernel named '{}'", asked.kernel)
              : fmt::format("'{}' is a visible function, not a kernel", asked.kernel));
    }
    KernelRequest request = asked;
    if (auto followed = follow_macros(options_, request); !followed) {
      return std::move(followed).error();
    }
    settle_mode(request);
    if (request.lanes != 0 && !is_lane_count(request.lanes)) {
      return plain_failure(fmt::format("{} lanes: a program has a power of two from {} to {}",
                                       request.lanes, kMinLanes, kMaxLanes));
    }
    if (auto checked = check_constants(request); !checked) {
      return std::move(checked).error();
    }
    const Digest key = kernel_key(key_, request);
    auto code = find_or_compile(key, request);
    if (code && request.record != nullptr) {
      request.record->add(key, *code);
    }
    return code;
  }

 private:
  Result<std::shared_ptr<const KernelCode>, CompileFailure> find_or_compile(
      const Digest& key, const KernelRequest& request) {
    for (const std::shared_ptr<CodeArchive>& archive : request.archives) {
      auto found = archive->find(key);
      if (!found) {
        return plain_failure(found.error().message);
      }
      if (*found != nullptr) {
        explain(request, **found);
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
      if (is_cacheable() && is_cacheable(request)) {
        if (const auto bytes = DiskCache::shared().load(key)) {
          if (auto code = parse_kernel_code(*bytes)) {
            explain(request, *code);
            return remember(key, std::move(*code));
          }
        }
      }
    }
    // Before the lock, for two libraries may link each other's functions.
    std::vector<FunctionBody> bodies;
    for (const LinkedFunction& function : request.linked) {
      auto body = function.library->body(function.name, function.constants);
      if (!body) {
        return std::move(body).error();
      }
      bodies.push_back(std::move(*body));
    }
    return compile_now(key, request, bodies);
  }

  Result<std::shared_ptr<const KernelCode>, CompileFailure> compile_now(
      const Digest& key, const KernelRequest& request, const std::vector<FunctionBody>& bodies) {
    std::scoped_lock lock(mutex_);
    if (const auto known = kernels_.find(key.high ^ key.low); known != kernels_.end()) {
      return known->second;
    }
    if (parsed_ == nullptr) {
      if (auto parsed = parse(); !parsed) {
        return std::move(parsed).error();
      }
    }
    const auto start = std::chrono::steady_clock::now();
    auto code = parsed_->compile(request, bodies, target_cpu());
    if (!code) {
      return std::move(code).error();
    }
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    logging::detail("compiler", "compiled '{}' in {:.1f} ms", request.kernel, taken.count());
    explain(request, *code);
    if (is_cacheable() && is_cacheable(request)) {
      DiskCache::shared().store(key, serialise(*code));
    }
    return remember(key, std::move(*code));
  }

  Result<void, CompileFailure> parse() {
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
  bool is_cacheable() const {
    return options_.include_paths.empty() && options_.source_folder.empty() && info_.self_contained;
  }
  static bool is_cacheable(const KernelRequest& request) {
    return std::all_of(request.linked.begin(), request.linked.end(), [](const auto& function) {
      return function.library->info().self_contained;
    });
  }

  Result<void, CompileFailure> check_constants(KernelRequest& request) const {
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
        return plain_failure(fmt::format("function constant '{}' takes {} bytes, not {}",
                                         known->name, expected, value->second.size()));
      }
      ++value;
    }
    return {};
  }

  /// Says how a kernel will run, for those who log the area "spmd".
  void explain(const KernelRequest& request, const KernelCode& code) const {
    if (!logging::wanted("spmd")) {
      return;
    }
    const KernelExplanation& facts = code.explanation;
    const std::string where = fmt::format("{}:{}: '{}'", options_.source_name,
                                          info_.find(request.kernel)->line, request.kernel);
    if (facts.mode == ExecutionMode::Scalar) {
      logging::detail("spmd", "{} runs one thread at a time{}{}", where,
                      code.needs_fibers ? ", each on a fiber" : "",
                      facts.fallback.empty() ? "" : ": " + facts.fallback);
      return;
    }
    logging::detail(
        "spmd",
        "{}{} runs {} threads at a time{}; branches: {} uniform, {} divergent; accesses, "
        "by vectors of lanes: {} uniform, {} consecutive, {} strided, {} gathered",
        where, describe(request.shape), facts.lanes,
        code.program_bytes != 0 ? ", which wait at barriers as coroutines" : "",
        facts.uniform_branches, facts.divergent_branches, facts.uniform_accesses,
        facts.consecutive_accesses, facts.strided_accesses, facts.gathers);
  }

  static std::string describe(const GroupShape& shape) {
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

  std::shared_ptr<const KernelCode> remember(const Digest& key, KernelCode code) {
    return kernels_[key.high ^ key.low] = std::make_shared<const KernelCode>(std::move(code));
  }

  const LibraryOptions options_;
  const Digest key_;
  LibraryInfo info_;  // written by open() alone
  const std::optional<LibraryFile> file_;
  const std::size_t unit_ = 0;

  std::mutex mutex_;  // guards the members below
  std::string source_;
  std::unique_ptr<ParsedLibrary> parsed_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const KernelCode>> kernels_;
};

/// The units of a file as one library.
class LinkedLibrary : public Library {
 public:
  explicit LinkedLibrary(std::vector<std::shared_ptr<Library>> units) : units_(std::move(units)) {
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      add(units_[unit]->info(), unit);
    }
  }

  const LibraryInfo& info() const override { return info_; }

  Result<std::shared_ptr<const KernelCode>, CompileFailure> compile(
      const KernelRequest& request) override {
    const auto owner = owners_.find(request.kernel);
    if (owner == owners_.end()) {
      return plain_failure(fmt::format("there is no kernel named '{}'", request.kernel));
    }
    return units_[owner->second]->compile(request);
  }

  Digest identity(const std::string& function) const override {
    const auto owner = owners_.find(function);
    return owner != owners_.end() ? units_[owner->second]->identity(function) : Digest();
  }

  Result<FunctionBody, CompileFailure> body(
      const std::string& function,
      const std::map<std::uint32_t, ConstantBytes>& constants) override {
    const auto owner = owners_.find(function);
    if (owner == owners_.end()) {
      return plain_failure(fmt::format("there is no visible function named '{}'", function));
    }
    return units_[owner->second]->body(function, constants);
  }

 private:
  void add(const LibraryInfo& info, std::size_t unit) {
    std::vector<std::uint32_t> positions;
    for (const FunctionConstant& constant : info.constants) {
      const auto same = std::find_if(
          info_.constants.begin(), info_.constants.end(), [&](const FunctionConstant& other) {
            return other.name == constant.name && other.index == constant.index &&
                   other.type == constant.type;
          });
      positions.push_back(static_cast<std::uint32_t>(same - info_.constants.begin()));
      if (same == info_.constants.end()) {
        info_.constants.push_back(constant);
      }
    }
    for (KernelInfo kernel : info.kernels) {
      for (std::uint32_t& constant : kernel.constants) {
        constant = constant < positions.size() ? positions[constant] : 0;
      }
      owners_.emplace(kernel.name, unit);
      info_.kernels.push_back(std::move(kernel));
    }
  }

  const std::vector<std::shared_ptr<Library>> units_;
  LibraryInfo info_;
  std::unordered_map<std::string, std::size_t> owners_;
};

Result<std::shared_ptr<Library>> open_file(std::shared_ptr<const FileBytes> bytes,
                                           const std::string& name) {
  auto file = LibraryFile::open(std::move(bytes), name);
  if (!file) {
    return file.error();
  }
  std::vector<std::shared_ptr<Library>> units;
  for (std::size_t unit = 0; unit < file->unit_count(); ++unit) {
    auto facts = file->facts(unit);
    if (!facts) {
      return facts.error();
    }
    units.push_back(std::make_shared<CachedLibrary>(*file, unit, std::move(*facts)));
  }
  if (units.size() == 1) {
    return std::move(units.front());
  }
  return std::shared_ptr<Library>(std::make_shared<LinkedLibrary>(std::move(units)));
}

}  // namespace

std::string CompileFailure::text() const {
  std::string joined;
  for (const Diagnostic& diagnostic : diagnostics) {
    joined += diagnostic.rendered;
  }
  return joined;
}

const KernelInfo* LibraryInfo::find(const std::string& name) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const KernelInfo& kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

Result<std::shared_ptr<Library>, CompileFailure> open_library(const std::string& source,
                                                              const LibraryOptions& options) {
  auto library = std::make_shared<CachedLibrary>(source, options, library_key(source, options));
  if (auto opened = library->open(); !opened) {
    return std::move(opened).error();
  }
  return std::shared_ptr<Library>(std::move(library));
}

Result<PreprocessedText, CompileFailure> preprocess(const std::string& source,
                                                    const LibraryOptions& options) {
  auto backend = load_backend();
  if (!backend) {
    return plain_failure(backend.error().message);
  }
  return (*backend)->preprocess(source, options);
}

Result<LibraryUnit, CompileFailure> build_unit(const std::string& source,
                                               const LibraryOptions& options,
                                               std::vector<std::string>& dependencies) {
  auto preprocessed = preprocess(source, options);
  if (!preprocessed) {
    return std::move(preprocessed).error();
  }
  dependencies = std::move(preprocessed->dependencies);
  LibraryUnit unit;
  unit.text = std::move(preprocessed->text);
  // What is left for those who compile the text: its macros and includes are in it.
  unit.options.language_version = options.language_version;
  unit.options.math_mode = options.math_mode;
  unit.options.math_functions = options.math_functions;
  unit.options.enable_logging = options.enable_logging;
  unit.options.source_name = options.source_name;
  auto backend = load_backend();
  if (!backend) {
    return plain_failure(backend.error().message);
  }
  auto parsed = (*backend)->parse(unit.text, unit.options);
  if (!parsed) {
    return std::move(parsed).error();
  }
  unit.info = (*parsed)->info();
  return unit;
}

Result<LibraryFileContents> read_library_file(const std::string& path) {
  auto bytes = FileBytes::map(path);
  if (!bytes) {
    return bytes.error();
  }
  auto file = LibraryFile::open(*bytes, path);
  if (!file) {
    return file.error();
  }
  LibraryFileContents contents;
  contents.kind = file->kind();
  for (std::size_t number = 0; number < file->unit_count(); ++number) {
    auto unit = file->facts(number);
    auto text = file->text(number);
    auto sources = file->sources(number);
    if (!unit || !text || !sources) {
      return !unit ? unit.error() : !text ? text.error() : sources.error();
    }
    unit->text = std::move(*text);
    unit->sources = std::move(*sources);
    contents.units.push_back(std::move(*unit));
  }
  return contents;
}

Result<std::shared_ptr<Library>> open_library_file(const std::string& path) {
  auto bytes = FileBytes::map(path);
  if (!bytes) {
    return bytes.error();
  }
  return open_file(*bytes, path);
}

Result<std::shared_ptr<Library>> open_library_data(std::span<const std::byte> bytes) {
  return open_file(FileBytes::copy(bytes), "library data");
}

CacheStatus cache_status() {
  const DiskCache& cache = DiskCache::shared();
  const DiskCache::Usage usage = cache.usage();
  CacheStatus status;
  status.directory = cache.directory().string();
  status.enabled = cache.enabled();
  status.bytes = usage.bytes;
  status.entries = usage.entries;
  status.limit_bytes = cache.limit_bytes();
  return status;
}

Result<std::uint64_t> clear_cache() {
  return DiskCache::shared().clear();
}

std::string llvm_version() {
  return PEWTER_LLVM_VERSION;
}

std::string target_cpu() {
  static const std::string target = environment::text("PEWTER_TARGET").value_or(cpu::level());
  return target;
}

}  // namespace pewter::compiler
