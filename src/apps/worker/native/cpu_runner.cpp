#include "apps/worker/native/cpu_runner.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/base/check.h"

namespace weft::worker {
namespace {

constexpr std::uint64_t products_per_piece = std::uint64_t{1} << 28;

// Runs a job to its end. The CPU executor never waits, so its coroutine ends inside start().
Result<exec::Output> run_to_end(exec::Executor& executor, std::shared_ptr<const exec::Job> job,
                                exec::RunOptions options) {
  std::optional<Result<exec::Output>> result;
  start<Result<exec::Output>>(executor.run(std::move(job), std::move(options)),
                              [&](Result<exec::Output> output) { result = std::move(output); });
  check(result.has_value(), "a CPU kernel runs to its end at once");
  return std::move(*result);
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "processor";
}

double measured_gop_per_s() {
  constexpr std::uint32_t side = 192;
  auto job = std::make_shared<exec::Job>();
  job->manifest.kind = manifest::Kind::kernel;
  job->manifest.name = "measure";
  job->manifest.kernel = {.name = "matmul_i8", .m = side, .n = side, .k = side, .a = {}, .b = {}};
  job->data.assign(2, ByteVector(std::size_t{side} * side, 3));
  const auto executor = exec::create_cpu_executor({});
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const Instant began = now();
    if (!run_to_end(*executor, job, {.range = {.first = 0, .count = side}})) return 0;
    best = std::max(best, 2.0 * side * side * side / seconds(now() - began) * 1e-9);
  }
  return best;
}

}  // namespace

CpuRunner::CpuRunner(exec::Bounds bounds) : executor_(exec::create_cpu_executor(bounds)) {}

Result<exec::Output> CpuRunner::run(const TaskRun& task) {
  interrupted_ = false;
  const Instant deadline = now() + task.wall_max;
  const manifest::Manifest& manifest = task.job->manifest;
  const std::uint64_t products_per_row =
      std::max<std::uint64_t>(1, std::uint64_t{manifest.kernel.n} * manifest.kernel.k);
  const auto rows = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(products_per_piece / products_per_row, 1, ~std::uint32_t{0}));
  exec::Output whole;
  for (const manifest::Range& piece : manifest::pieces(manifest, task.options.range, rows)) {
    if (interrupted_) return fail(ErrorCode::cancelled, "The task was cancelled.");
    if (now() > deadline) {
      return fail(ErrorCode::deadline_exceeded, "The task took longer than {} ms and was ended.",
                  std::chrono::duration_cast<std::chrono::milliseconds>(task.wall_max).count());
    }
    WEFT_ASSIGN(const exec::Output part, run_to_end(*executor_, task.job, {.range = piece}));
    // The parts are rows of the result, in order.
    whole.outputs.resize(part.outputs.size());
    for (std::size_t i = 0; i < part.outputs.size(); ++i) append(whole.outputs[i], part.outputs[i]);
    whole.gpu_seconds += part.gpu_seconds;
    whole.wall_seconds += part.wall_seconds;
    whole.dispatches += part.dispatches;
  }
  return whole;
}

protocol::Capabilities measure_cpu(std::uint64_t memory_bytes) {
  protocol::Capabilities capabilities;
  capabilities.device = protocol::DeviceKind::cpu;
  capabilities.description = processor_name();
  capabilities.backend = "cpu";
  capabilities.memory_bytes = memory_bytes;
  capabilities.f32_gflop_per_s = measured_gop_per_s();
  return capabilities;
}

}  // namespace weft::worker
