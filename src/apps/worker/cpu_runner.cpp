#include "apps/worker/cpu_runner.h"

#include <algorithm>

#include "common/base/check.h"

namespace weft::worker {
namespace {

constexpr std::uint64_t products_per_piece = std::uint64_t{1} << 28;  // A tenth of a second or so.

// The executor on the processor never waits, so its coroutine is over when start() returns.
Result<exec::Output> run_now(Async<Result<exec::Output>> work) {
  std::optional<Result<exec::Output>> result;
  start<Result<exec::Output>>(std::move(work), [&](Result<exec::Output> output) { result = std::move(output); });
  check(result.has_value(), "kernels on the processor run to their end");
  return std::move(*result);
}

}  // namespace

CpuRunner::CpuRunner(exec::Bounds bounds, std::function<void(std::function<void()>)> post)
    : executor_(exec::create_cpu_executor(bounds)), post_(std::move(post)), thread_([this] { work(); }) {}

CpuRunner::~CpuRunner() {
  cancelled_ = true;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

void CpuRunner::run(TaskRun task, std::function<void(Result<exec::Output>)> done) {
  cancelled_ = false;
  {
    const std::lock_guard lock(mutex_);
    request_ = Request{.task = std::move(task), .done = std::move(done)};
  }
  changed_.notify_all();
}

Result<exec::Output> CpuRunner::run_in_pieces(const TaskRun& task) {
  const Instant deadline = now() + task.wall_max;
  const manifest::Manifest& manifest = task.job->manifest;
  const std::uint64_t products_per_row = std::max<std::uint64_t>(1, std::uint64_t{manifest.kernel.n} * manifest.kernel.k);
  const auto rows = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(products_per_piece / products_per_row, 1, ~std::uint32_t{0}));
  exec::Output whole;
  for (const manifest::Range& piece : manifest::pieces(manifest, task.options.range, rows)) {
    if (cancelled_) return fail(ErrorCode::cancelled, "The task was cancelled.");
    if (now() > deadline) {
      return fail(ErrorCode::deadline_exceeded, "It took longer than {} ms and was ended.",
                  std::chrono::duration_cast<std::chrono::milliseconds>(task.wall_max).count());
    }
    WEFT_ASSIGN(exec::Output part, run_now(executor_->run(task.job, {.range = piece, .piece_workgroups_max = 0})));
    // Rows of the result, in order.
    whole.outputs.resize(part.outputs.size());
    for (std::size_t i = 0; i < part.outputs.size(); ++i) append(whole.outputs[i], part.outputs[i]);
    whole.gpu_seconds += part.gpu_seconds;
    whole.wall_seconds += part.wall_seconds;
    whole.dispatches += part.dispatches;
  }
  return whole;
}

void CpuRunner::work() {
  for (;;) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return request_.has_value() || stopping_; });
      if (stopping_) return;
      request = *std::exchange(request_, std::nullopt);
    }
    Result<exec::Output> output = run_in_pieces(request.task);
    post_([done = std::move(request.done), output = std::move(output)]() mutable { done(std::move(output)); });
  }
}

}  // namespace weft::worker
