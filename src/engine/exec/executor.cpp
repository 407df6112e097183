#include <algorithm>
#include <deque>
#include <optional>

#include "common/base/format.h"
#include "engine/exec/bounds.h"
#include "engine/exec/matmul_task.h"
#include "engine/exec/tuner.h"
#include "engine/exec/wgsl_task.h"

namespace weft::exec {

namespace {

// A cache by key that keeps the `count_max` most recently used values.
template <class T, std::size_t count_max>
class Recent {
 public:
  const T* find(const std::string& key) {
    const auto found = std::ranges::find(entries_, key, &Entry::key);
    if (found == entries_.end()) return nullptr;
    std::rotate(entries_.begin(), found, found + 1);
    return &entries_.front().value;
  }
  void add(std::string key, T value) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.key == key; });
    entries_.push_front({.key = std::move(key), .value = std::move(value)});
    if (entries_.size() > count_max) entries_.pop_back();
  }

 private:
  struct Entry {
    std::string key;
    T value;
  };
  std::deque<Entry> entries_;  // The most recently used entry comes first.
};

class GpuExecutor final : public Executor {
 public:
  GpuExecutor(gpu::Device& device, Bounds bounds, std::unique_ptr<Executor> models)
      : device_(device), bounds_(bounds), models_(std::move(models)) {}

  Async<Result<>> prepare(std::shared_ptr<const Job> job) override {
    if (job->manifest.kind == manifest::Kind::onnx) {
      WEFT_CO_OK(has_models());
      co_return co_await models_->prepare(std::move(job));
    }
    WEFT_CO_OK(fits(*job, device_, bounds_));
    if (job->manifest.kind == manifest::Kind::kernel) co_return co_await make_matmul();
    // The best of several combinations is measured when the job runs. prepare() succeeds once one
    // combination compiles.
    std::optional<Error> first_error;
    for (const Overrides& overrides : combinations(job->manifest)) {
      auto pipelines = co_await pipelines_for(job, overrides);
      if (pipelines) co_return Result<>();
      if (!first_error) first_error = std::move(pipelines.error());
    }
    co_return std::unexpected(*first_error);
  }

  Async<Result<Output>> run(std::shared_ptr<const Job> job, RunOptions options) override {
    if (const auto reason = device_.lost())
      co_return fail(ErrorCode::device_lost, "The GPU device is lost: {}", *reason);
    if (job->manifest.kind == manifest::Kind::onnx) {
      WEFT_CO_OK(has_models());
      co_return co_await models_->run(std::move(job), std::move(options));
    }
    WEFT_CO_OK(range_fits(*job, device_, bounds_, options));
    if (job->manifest.kind == manifest::Kind::kernel) {
      WEFT_CO_OK(co_await make_matmul());
      co_return co_await run_matmul(device_, *matmul_, std::move(job), options);
    }
    WEFT_CO_ASSIGN(const Overrides overrides, co_await tuned(job, options));
    WEFT_CO_ASSIGN(auto pipelines, co_await pipelines_for(job, overrides));
    co_return co_await run_wgsl(device_, std::move(job), std::move(pipelines), options);
  }

 private:
  [[nodiscard]] Result<> has_models() const {
    if (models_) return {};
    return fail(ErrorCode::unsupported,
                "This worker runs no jobs of the kind \"onnx\"; workers with a GPU do.");
  }

  Async<Result<>> make_matmul() {
    if (!matmul_) {
      WEFT_CO_ASSIGN(kernels::MatmulI8 made, co_await kernels::MatmulI8::create(device_));
      // A concurrent run may already have created the kernel.
      if (!matmul_) matmul_.emplace(std::move(made));
    }
    co_return Result<>();
  }

  Async<Result<std::shared_ptr<const WgslPipelines>>> pipelines_for(std::shared_ptr<const Job> job,
                                                                    Overrides overrides) {
    std::string key = pipelines_key(*job, overrides);
    if (const auto* known = pipelines_.find(key)) co_return *known;
    WEFT_CO_ASSIGN(auto made, co_await compile_wgsl(device_, job, std::move(overrides)));
    pipelines_.add(std::move(key), made);
    co_return made;
  }

  // Returns the overrides with which this device runs the job fastest. They are measured at the
  // first call for a job and remembered.
  Async<Result<Overrides>> tuned(std::shared_ptr<const Job> job, RunOptions options) {
    if (job->manifest.tune.empty()) co_return Overrides();
    std::string key = pipelines_key(*job, {});
    for (const auto& [name, values] : job->manifest.tune) {
      for (const double value : values) key += weft::format("\n{}?{:a}", name, value);
    }
    if (const Overrides* known = tuned_.find(key)) co_return *known;
    WEFT_CO_ASSIGN(Tuned best, co_await tune(device_, job, options));
    pipelines_.add(pipelines_key(*job, best.overrides), std::move(best.pipelines));
    tuned_.add(std::move(key), best.overrides);
    co_return best.overrides;
  }

  gpu::Device& device_;
  const Bounds bounds_;
  const std::unique_ptr<Executor> models_;
  std::optional<kernels::MatmulI8> matmul_;
  Recent<std::shared_ptr<const WgslPipelines>, 8> pipelines_;
  Recent<Overrides, 64> tuned_;
};

class CpuExecutor final : public Executor {
 public:
  explicit CpuExecutor(Bounds bounds) : bounds_(bounds) {}

  Async<Result<>> prepare(std::shared_ptr<const Job> job) override {
    co_return check(*job, manifest::task_range(job->manifest, 0));
  }

  Async<Result<Output>> run(std::shared_ptr<const Job> job, RunOptions options) override {
    WEFT_CO_OK(check(*job, options.range));
    co_return run_matmul_on_cpu(*job, options);
  }

 private:
  Result<> check(const Job& job, manifest::Range range) const {
    if (job.manifest.kind != manifest::Kind::kernel) {
      return fail(ErrorCode::unsupported,
                  "A job of the kind \"{}\" needs a GPU; the CPU runs \"kernel\" jobs.",
                  manifest::to_string(job.manifest.kind));
    }
    WEFT_OK(check_job(job, range));
    const std::uint64_t bytes = footprint(job, range).bytes;
    if (bytes > bounds_.bytes_max) {
      return fail(ErrorCode::resource_exhausted,
                  "The task takes {} bytes; it may take at most {} (bytes_max).", bytes,
                  bounds_.bytes_max);
    }
    return {};
  }

  const Bounds bounds_;
};

}  // namespace

std::unique_ptr<Executor> create_gpu_executor(gpu::Device& device, Bounds bounds,
                                              std::unique_ptr<Executor> models) {
  return std::make_unique<GpuExecutor>(device, bounds, std::move(models));
}
std::unique_ptr<Executor> create_cpu_executor(Bounds bounds) {
  return std::make_unique<CpuExecutor>(bounds);
}

}  // namespace weft::exec
