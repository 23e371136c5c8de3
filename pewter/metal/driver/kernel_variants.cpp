#include "pewter/metal/driver/kernel_variants.h"

#include <fmt/format.h>

#include <system_error>

#include "pewter/base/log.h"
#include "pewter/metal/driver/background.h"

namespace pewter::driver {
namespace {

using Shape = compiler::GroupShape;

bool has_smaller_groups(const abi::Launch& launch) {
  for (int axis = 0; axis < 3; ++axis) {
    if (launch.threads_per_grid[axis] % launch.threads_per_threadgroup[axis] != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

/// Outlives the pipeline while it is being made.
class KernelVariants::Rival : public std::enable_shared_from_this<Rival> {
 public:
  Rival(std::shared_ptr<compiler::Library> library, compiler::KernelRequest request)
      : library_(std::move(library)), request_(std::move(request)) {
    request_.mode = compiler::ExecutionMode::Scalar;
  }

  void join(executor::Dispatch& dispatch) {
    dispatch.trial = &trial_;
    dispatch.rival = ready_.load(std::memory_order_acquire);
    if (dispatch.rival == nullptr) {
      if (trial_.is_due() && !is_asked_.exchange(true, std::memory_order_relaxed)) {
        make_in_background();
      }
    } else if (logging::wanted("spmd")) {
      log_change();
    }
  }

  const executor::Trial& trial() const { return trial_; }

 private:
  void make_in_background() {
    try {
      run_in_background([self = shared_from_this()] { self->make(); });
    } catch (const std::system_error& error) {
      logging::warning("spmd", "'{}' stays on lanes without a trial: {}", request_.kernel,
                       error.what());
    }
  }

  void make() {
    // Fibers would cost more than lanes ever could.
    if (build(*library_, request_, variant_) && !variant_.code->needs_fibers) {
      ready_.store(variant_.kernel.get(), std::memory_order_release);
    }
  }

  void log_change() {
    const bool is_preferred = trial_.prefers_rival();
    if (was_preferred_.exchange(is_preferred, std::memory_order_relaxed) != is_preferred) {
      logging::write(logging::Level::Detail, "spmd",
                     fmt::format("'{}' runs {}, which was found to be faster", request_.kernel,
                                 is_preferred ? "one thread at a time" : "on lanes"));
    }
  }

  std::shared_ptr<compiler::Library> library_;
  compiler::KernelRequest request_;
  Variant variant_;
  executor::Trial trial_;
  std::atomic<const executor::LoadedKernel*> ready_ = nullptr;
  std::atomic<bool> is_asked_ = false;
  std::atomic<bool> was_preferred_ = false;
};

Result<std::unique_ptr<KernelVariants>, compiler::CompileFailure> KernelVariants::create(
    std::shared_ptr<compiler::Library> library,
    compiler::KernelRequest request,
    const GroupSize& required_size) {
  std::unique_ptr<KernelVariants> variants(new KernelVariants);
  variants->library_ = std::move(library);
  variants->request_ = std::move(request);
  const bool is_fixed = required_size[0] * required_size[1] * required_size[2] != 0;
  variants->first_.shape =
      is_fixed ? Shape{Shape::Kind::Exact, required_size} : Shape{Shape::Kind::Linear, {}};
  if (auto built = build(*variants->library_, variants->request_, variants->first_); !built) {
    return std::move(built).error();
  }
  if (variants->request_.record != nullptr && !variants->first_.code->handles_parts) {
    // Most dispatches have a last group that is smaller than the others.
    variants->find(variants->first_.shape, true);
  }
  // What a dispatch asks for later is compiled, whatever the pipeline was made from.
  variants->request_.record = nullptr;
  variants->request_.only_from_archives = false;
  if (variants->code().may_lose_to_scalar &&
      variants->library_->leaves_mode_open(variants->request_)) {
    variants->rival_ = std::make_shared<Rival>(variants->library_, variants->request_);
  }
  return variants;
}

KernelVariants::~KernelVariants() {
  for (Variant* variant = others_.load(std::memory_order_relaxed); variant != nullptr;) {
    Variant* next = variant->next;
    delete variant;
    variant = next;
  }
}

Result<void, compiler::CompileFailure> KernelVariants::build(compiler::Library& library,
                                                             compiler::KernelRequest request,
                                                             Variant& variant) {
  request.shape = variant.shape;
  if (variant.needs_parts) {
    request.parts = compiler::GroupParts::Needed;
  }
  auto code = library.compile(request);
  if (!code) {
    return std::move(code).error();
  }
  const compiler::KernelCode& made = **code;
  auto kernel =
      executor::LoadedKernel::load(made.object, made.entry,
                                   {made.needs_fibers, made.stack_bytes, made.program_bytes,
                                    made.explanation.lanes, made.takes_rows, made.uses_atomics});
  if (!kernel) {
    compiler::Diagnostic diagnostic;
    diagnostic.text =
        fmt::format("'{}' cannot be loaded: {}", request.kernel, kernel.error().message);
    diagnostic.rendered = "error: " + diagnostic.text + "\n";
    return compiler::CompileFailure{{std::move(diagnostic)}};
  }
  variant.code = *code;
  variant.kernel = *kernel;
  return {};
}

const KernelVariants::Variant& KernelVariants::find(const Shape& shape, bool needs_parts) const {
  const auto known = [&]() -> const Variant* {
    for (const Variant* variant = others_.load(std::memory_order_acquire); variant != nullptr;
         variant = variant->next) {
      if (variant->shape == shape && (variant->needs_parts || !needs_parts)) {
        return variant;
      }
    }
    return nullptr;
  };
  if (const Variant* variant = known()) {
    return *variant;
  }
  std::scoped_lock lock(mutex_);
  if (const Variant* variant = known()) {
    return *variant;
  }
  auto variant = std::make_unique<Variant>();
  variant->shape = shape;
  variant->needs_parts = needs_parts;
  if (auto built = build(*library_, request_, *variant); !built) {
    variant->problem = built.error().text();
  }
  variant->next = others_.load(std::memory_order_relaxed);
  others_.store(variant.get(), std::memory_order_release);
  return *variant.release();
}

/// The variant itself, or the same for groups that end in the middle of a program.
const KernelVariants::Variant* KernelVariants::suited(const Variant* variant,
                                                      std::uint32_t thread_count,
                                                      bool has_edge) const {
  if (variant->code == nullptr || variant->code->handles_parts ||
      (!has_edge && thread_count % variant->code->explanation.lanes == 0)) {
    return variant;
  }
  return &find(variant->shape, true);
}

const executor::Trial* KernelVariants::trial() const {
  return rival_ != nullptr ? &rival_->trial() : nullptr;
}

Result<void> KernelVariants::choose(executor::Dispatch& dispatch) const {
  dispatch.rival = nullptr;
  dispatch.trial = nullptr;
  if (rival_ != nullptr) {
    rival_->join(dispatch);
  }
  return choose_own(dispatch);
}

Result<void> KernelVariants::choose_own(executor::Dispatch& dispatch) const {
  // Most kernels are the same for all dispatches, which need no arithmetic then.
  if (!first_.code->depends_on_shape && !first_.code->gains_from_size &&
      first_.code->handles_parts) {
    dispatch.kernel = first_.kernel.get();
    dispatch.edge_kernel = dispatch.kernel;
    return {};
  }
  const abi::Launch& launch = dispatch.launch;
  const GroupSize size = {launch.threads_per_threadgroup[0], launch.threads_per_threadgroup[1],
                          launch.threads_per_threadgroup[2]};
  const bool has_edge = has_smaller_groups(launch);
  const std::uint32_t thread_count = size[0] * size[1] * size[2];
  const Variant* whole = &first_;
  const Variant* edge = &first_;
  // What was compiled first is right for rows of threads, or for the one size that is allowed.
  const Shape exact{Shape::Kind::Exact, size};
  const bool first_is_right =
      !first_.code->depends_on_shape ||
      (first_.shape.kind == Shape::Kind::Linear ? size[1] == 1 && size[2] == 1
                                                : first_.shape == exact && !has_edge);
  if (!first_is_right || first_.code->gains_from_size) {
    whole = first_.shape == exact ? &first_ : &find(exact, false);
    if (!has_edge) {
      edge = whole;
    } else if (!first_is_right) {
      edge = &find({Shape::Kind::Any, {}}, true);
    }
  }
  whole = suited(whole, thread_count, has_edge);
  edge = suited(edge, thread_count, has_edge);
  for (const Variant* variant : {whole, edge}) {
    if (variant->kernel == nullptr) {
      return failure(variant->problem);
    }
  }
  dispatch.kernel = whole->kernel.get();
  dispatch.edge_kernel = edge->kernel.get();
  return {};
}

}  // namespace pewter::driver
