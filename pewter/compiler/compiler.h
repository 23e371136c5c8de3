#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pewter/base/hash.h"
#include "pewter/base/result.h"

/// MSL text in, machine code and reflection out. The one header of the compiler that others
/// include.
namespace pewter::compiler {

enum class Severity { Note, Warning, Error };

/// One message of the compiler, at the user's own position.
struct Diagnostic {
  Severity severity = Severity::Error;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string text;
  /// As a terminal shows it: `file:line:column: error: text`, the source line, a caret, and notes.
  std::string rendered;
};

/// Why a library or a kernel could not be built: every diagnostic, not just the first.
struct CompileFailure {
  std::vector<Diagnostic> diagnostics;

  /// All diagnostics as one text, in source order.
  std::string text() const;
};

enum class MathMode : std::uint8_t { Safe, Relaxed, Fast };

/// Which functions `exp` and others mean that are not called by `metal::fast` or `metal::precise`.
enum class MathFunctions : std::uint8_t { Fast, Precise };

/// How to read a source text. Every member takes part in cache keys.
struct LibraryOptions {
  /// `major << 16 | minor`, as MTLLanguageVersion; 0 means the newest supported.
  std::uint32_t language_version = 0;
  MathMode math_mode = MathMode::Fast;
  MathFunctions math_functions = MathFunctions::Fast;
  /// `name` to `value`, defined before the first line of the source.
  std::vector<std::pair<std::string, std::string>> macros;
  std::vector<std::string> include_paths;
  /// Where `#include "..."` looks first; empty for nowhere.
  std::string source_folder = {};
  /// Whether messages of kernels reach the host; otherwise they are left out.
  bool enable_logging = false;
  /// The name that diagnostics give to the source text.
  std::string source_name = "program_source";

  bool operator==(const LibraryOptions&) const = default;
};

enum class ScalarType : std::uint8_t {
  None,
  Bool,
  Char,
  UChar,
  Short,
  UShort,
  Int,
  UInt,
  Long,
  ULong,
  Half,
  BFloat,
  Float,
  /// A structure, array, pointer or anything else that is not a scalar or vector.
  Other,
};

/// Element type, columns and rows: `float4` is {Float, 1, 4}, `half4x3` is {Half, 4, 3}.
struct ValueType {
  ScalarType scalar = ScalarType::None;
  std::uint8_t columns = 1;
  std::uint8_t rows = 1;

  bool operator==(const ValueType&) const = default;
};

enum class ParameterKind : std::uint8_t {
  Buffer,
  Threadgroup,
  Builtin,
  Texture,
  Sampler,
  /// A `visible_function_table`, which takes an index of the buffers.
  FunctionTable,
};
enum class Access : std::uint8_t { ReadOnly, ReadWrite, WriteOnly };

/// A member of the structure that a buffer holds, as the host writes it into an argument buffer.
///
/// Members of nested structures stand here one by one, with their offsets in the outermost one.
struct Member {
  std::string name;
  /// From `[[id(n)]]`, or the next one after the member before.
  std::uint32_t id = 0;
  std::uint64_t offset = 0;
  /// Of one element.
  std::uint64_t size = 0;
  std::uint32_t alignment = 1;
  /// Elements of an array, each with an id of its own; 1 otherwise.
  std::uint32_t count = 1;
  /// A pointer to a buffer rather than a value.
  bool is_pointer = false;
  ValueType type;
  /// A texture or sampler, which the host writes as a resource's id.
  bool is_texture = false;
  bool is_sampler = false;
  bool is_function_table = false;
  /// A pipeline, or an indirect command buffer for kernels to write to.
  bool is_pipeline = false;
  bool is_command_buffer = false;
};

/// One parameter of a kernel as the host sees it.
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::Buffer;
  /// Index of `[[buffer(n)]]`, `[[threadgroup(n)]]`, `[[texture(n)]]` or `[[sampler(n)]]`.
  std::uint32_t index = 0;
  /// Textures or samplers of an array, which take that many indices; 1 otherwise.
  std::uint32_t count = 1;
  /// MTL::TextureType of a texture.
  std::uint8_t texture_type = 0;
  bool is_depth_texture = false;
  /// The pointee for pointers and references, as the user spelled it.
  std::string type_name;
  ValueType type;
  std::uint64_t size = 0;
  std::uint32_t alignment = 1;
  Access access = Access::ReadOnly;
  /// When the type is a structure.
  std::vector<Member> members;
  /// Whether the parameter is a reference or `constant` object rather than an array of unknown
  /// length.
  bool is_reference = false;
  /// Name of the function constant that switches this parameter on; empty when it is always there.
  std::string enabled_by;
  /// Name of the built-in input, for instance "thread_position_in_grid"; empty for other kinds.
  std::string builtin;
};

/// A `[[function_constant(n)]]` of the library.
struct FunctionConstant {
  std::string name;
  std::uint32_t index = 0;
  ValueType type;
  /// False when the program asks `is_function_constant_defined` before every use.
  bool required = true;
};

enum class FunctionKind : std::uint8_t {
  Kernel,
  /// `[[visible]]`: for kernels of other libraries to call, through function tables or by its name.
  Visible,
};

/// A function that the host can ask for by name, known without compiling its body.
struct KernelInfo {
  std::string name;
  FunctionKind kind = FunctionKind::Kernel;
  std::vector<Parameter> parameters;
  /// Indices into `LibraryInfo::constants` of those that the signature or, as far as is known, the
  /// body mentions.
  std::vector<std::uint32_t> constants;
  /// From `[[max_total_threads_per_threadgroup(n)]]`; 0 when absent.
  std::uint32_t max_total_threads = 0;
  /// From `[[required_threads_per_threadgroup(x, y, z)]]`; zeros when absent.
  std::uint32_t required_threads[3] = {0, 0, 0};
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// What a library holds.
struct LibraryInfo {
  std::vector<KernelInfo> kernels;
  std::vector<FunctionConstant> constants;
  std::vector<Diagnostic> warnings;
  /// Whether the text includes nothing but the standard library, so that equal texts mean equal
  /// libraries.
  bool self_contained = true;

  /// The kernel with that host name; null when there is none.
  const KernelInfo* find(const std::string& name) const;
};

/// Bytes of a function constant's value, in the layout of its MSL type.
using ConstantBytes = std::vector<std::byte>;

/// How threads are run: one at a time, or the lanes of a program together.
///
/// Scalar mode is the plain reading of a kernel, which every other way of running it must agree
/// with. `PEWTER_MODE` chooses when nobody asks for one of them.
enum class ExecutionMode : std::uint8_t { Default, Scalar, Spmd };

/// What is known of the threadgroups that a kernel will run in.
struct GroupShape {
  enum class Kind : std::uint8_t {
    /// Nothing.
    Any,
    /// One row of threads.
    Linear,
    /// Just this size.
    Exact,
  };
  Kind kind = Kind::Any;
  std::array<std::uint32_t, 3> size = {0, 0, 0};

  bool operator==(const GroupShape&) const = default;
};

class CodeArchive;
class Library;

/// A visible function for a kernel to call.
struct LinkedFunction {
  std::shared_ptr<Library> library;
  std::string name;
  /// Values by function constant index.
  std::map<std::uint32_t, ConstantBytes> constants;

  bool operator==(const LinkedFunction&) const = default;
};

/// Whether groups end in the middle of a program. Where code leaves out what that takes,
/// `KernelCode::handles_parts` says so.
enum class GroupParts : std::uint8_t {
  Needed,
  /// Left out where it costs much.
  Possible,
  /// Left out, because all groups are of whole simdgroups.
  Unlikely
};

/// Which kernel to compile, and how.
struct KernelRequest {
  std::string kernel;
  /// Values by function constant index.
  std::map<std::uint32_t, ConstantBytes> constants;
  /// What the kernel may call besides its own library. In function tables, a function's number is
  /// its position here, counted from 1.
  std::vector<LinkedFunction> linked = {};
  /// Where code is looked for before it is compiled.
  std::vector<std::shared_ptr<CodeArchive>> archives = {};
  /// Whether to fail rather than compile what no archive has.
  bool only_from_archives = false;
  /// Gets a copy of the code; may be null.
  std::shared_ptr<CodeArchive> record = nullptr;
  ExecutionMode mode = ExecutionMode::Default;
  /// Lanes of a program, a power of two from 8 to 1024; 0 lets the compiler choose, or
  /// `PEWTER_LANES`.
  std::uint32_t lanes = 0;
  GroupShape shape = {};
  GroupParts parts = GroupParts::Needed;
};

/// A branch or an access to memory in a kernel's text.
struct ExplainedPlace {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  /// "branch", "load", "store" or "atomic".
  std::string kind;
  /// How lanes do it, and why: "divergent: depends on the thread".
  std::string manner;
};

/// How a kernel was compiled, and what the compiler saw in it.
struct KernelExplanation {
  ExecutionMode mode = ExecutionMode::Scalar;
  /// Lanes of a program; 1 in scalar mode.
  std::uint32_t lanes = 1;
  /// Why a kernel that was to run on lanes does not; empty otherwise.
  std::string fallback;
  std::uint32_t uniform_branches = 0;
  std::uint32_t divergent_branches = 0;
  std::uint32_t uniform_accesses = 0;
  std::uint32_t consecutive_accesses = 0;
  std::uint32_t strided_accesses = 0;
  std::uint32_t gathers = 0;
  /// Loops whose last lanes run alone, one after the other, and switches that lanes run alone when
  /// they part in them.
  std::uint32_t released_loops = 0;
  std::uint32_t released_switches = 0;

  // Not kept in caches.
  /// Why there are so many lanes.
  std::string width_reason;
  /// Each place and kind once, in the order of the text; empty where the compiler was not asked to
  /// explain.
  std::vector<ExplainedPlace> places;
};

/// A compiled kernel: a relocatable object and what the executor must know to run it.
struct KernelCode {
  /// ELF relocatable object, position independent.
  std::vector<std::byte> object;
  /// Symbol of the `abi::EntryPoint`.
  std::string entry;
  /// Static threadgroup variables; dynamic arguments follow them.
  std::uint32_t threadgroup_bytes = 0;
  /// Whether threads wait for each other, so that each needs a fiber.
  bool needs_fibers = false;
  bool uses_barriers = false;
  bool uses_simdgroup = false;
  bool uses_atomics = false;
  /// A bit for each `[[buffer(n)]]` that the kernel, with these constants, reads or writes.
  std::uint32_t required_buffers = 0;
  /// The same for `[[texture(n)]]`, `[[sampler(n)]]` and `[[threadgroup(n)]]`.
  std::array<std::uint64_t, 2> required_textures = {0, 0};
  std::uint32_t required_samplers = 0;
  std::uint32_t required_threadgroup_arguments = 0;
  /// Those of `required_buffers` that it writes with streaming stores
  /// (`__builtin_nontemporal_store`).
  std::uint32_t streamed_buffers = 0;
  /// Whether it writes messages to the host.
  bool uses_log = false;
  /// Estimated bytes of stack that one thread needs.
  std::uint32_t stack_bytes = 0;
  /// Whether the entry point runs a whole group, programs that wait for each other included.
  bool runs_whole_groups = false;
  /// Whether it also runs the groups behind it in its row: see `Group::row_groups`.
  bool takes_rows = false;
  /// Bytes of `Group::program_memory` for each program of a group; 0 when none is needed.
  std::uint32_t program_bytes = 0;
  /// Whether groups may have any number of threads, rather than a multiple of the lanes of a
  /// program.
  bool handles_parts = true;
  /// Whether code for another shape of groups would be wrong.
  bool depends_on_shape = false;
  /// Whether code for just the size of a dispatch's groups would be faster.
  bool gains_from_size = false;
  /// Whether scalar mode gives the same bits, and may be faster for some data.
  bool may_lose_to_scalar = false;
  KernelExplanation explanation;
};

/// The body of a visible function in the compiler's own form, for the pipelines that link it.
struct FunctionBody {
  /// Its symbol in other libraries that declare it.
  std::string symbol;
  /// LLVM bitcode.
  std::vector<std::byte> bitcode;
};

/// A parsed source text. Safe to use from any thread.
class Library {
 public:
  virtual ~Library() = default;

  virtual const LibraryInfo& info() const = 0;

  /// Whether neither the request nor the library nor the environment asks for a mode or a number
  /// of lanes.
  virtual bool leaves_mode_open(const KernelRequest& request) const = 0;

  /// Stands for the text and the options that `function` is compiled from.
  virtual Digest identity(const std::string& function) const = 0;

  /// The body of a visible function with these constants.
  virtual Result<FunctionBody, CompileFailure> body(
      const std::string& function, const std::map<std::uint32_t, ConstantBytes>& constants) = 0;

  /// Machine code for one kernel, from memory, from an archive, from the disk cache or compiled
  /// now. What was found or made is added to `request.record`, if there is one.
  ///
  /// Fails when the kernel does not exist, a required constant is missing or of the wrong size, or
  /// its body does not compile.
  virtual Result<std::shared_ptr<const KernelCode>, CompileFailure> compile(
      const KernelRequest& request) = 0;
};

/// Compiled kernels by what they were compiled from, in memory or in a file. Safe to use from any
/// thread.
class CodeArchive {
 public:
  virtual ~CodeArchive() = default;

  /// The code that was compiled for `key`; null when there is none. Fails when it is damaged.
  virtual Result<std::shared_ptr<const KernelCode>> find(const Digest& key) = 0;
  virtual void add(const Digest& key, const std::shared_ptr<const KernelCode>& code) = 0;
  virtual std::size_t size() const = 0;
  /// Fails when the file cannot be written.
  virtual Result<void> write(const std::string& path) const = 0;
};

std::shared_ptr<CodeArchive> new_archive();
/// Maps a file that CodeArchive::write made. Fails, with the reason, when it did not, when it is of
/// another version or for other processors, or when it is damaged.
Result<std::shared_ptr<CodeArchive>> open_archive(const std::string& path);

/// Reads MSL. A text that this machine has compiled before with the same options and version is
/// served from the disk cache, without loading Clang. Safe to call from any thread.
Result<std::shared_ptr<Library>, CompileFailure> open_library(const std::string& source,
                                                              const LibraryOptions& options);

/// A text without macros and includes, and the files that it includes, the standard library's
/// excepted.
struct PreprocessedText {
  std::string text;
  std::vector<std::string> dependencies;
};
Result<PreprocessedText, CompileFailure> preprocess(const std::string& source,
                                                    const LibraryOptions& options);

/// One text of a library file.
struct LibraryUnit {
  /// Preprocessed, so that it needs no other file.
  std::string text;
  LibraryOptions options;
  LibraryInfo info;
  /// The texts that it was made from, by name, when they are kept.
  std::vector<std::pair<std::string, std::string>> sources;
};

/// Preprocesses and checks a text; bodies of templates are checked when a pipeline needs them.
Result<LibraryUnit, CompileFailure> build_unit(const std::string& source,
                                               const LibraryOptions& options,
                                               std::vector<std::string>& dependencies);

/// What `pewter metal -c`, `metallib` and `metal-ar` make.
enum class LibraryFileKind : std::uint8_t { Object, Library, Archive };

/// The bytes of a file: versioned, with a checksum for its table of contents and for each section.
std::vector<std::byte> write_library_file(LibraryFileKind kind,
                                          const std::vector<LibraryUnit>& units);

struct LibraryFileContents {
  LibraryFileKind kind = LibraryFileKind::Library;
  std::vector<LibraryUnit> units;
};

/// Reads a whole file. Fails, with the reason, when pewter did not make it or it is damaged.
Result<LibraryFileContents> read_library_file(const std::string& path);

/// Opens a library file for running: mapped into memory, texts are read when a kernel of theirs is
/// compiled. Fails as read_library_file does.
Result<std::shared_ptr<Library>> open_library_file(const std::string& path);
/// The same for bytes in memory, which are copied.
Result<std::shared_ptr<Library>> open_library_data(std::span<const std::byte> bytes);

/// Where the disk cache is and how full.
struct CacheStatus {
  std::string directory;
  bool enabled = true;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  std::uint64_t limit_bytes = 0;
};
CacheStatus cache_status();

/// Deletes every entry of the disk cache. Returns how many bytes that freed.
Result<std::uint64_t> clear_cache();

/// Version of Clang and LLVM that the compiler is built with, for instance "19.1.7".
std::string llvm_version();

/// CPU that code is compiled for, for instance "x86-64-v3".
std::string target_cpu();

}  // namespace pewter::compiler
