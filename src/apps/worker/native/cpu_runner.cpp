#include "apps/worker/native/cpu_runner.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/base/check.h"

namespace weft::worker {
namespace {

// The CPU executor never waits for anything, so its coroutine ends inside start().
Result<exec::Output> run_to_end(exec::Executor& executor, std::shared_ptr<const exec::Job> job, exec::RunOptions options) {
  std::optional<Result<exec::Output>> result;
  start<Result<exec::Output>>(executor.run(std::move(job), options), [&](Result<exec::Output> output) { result = std::move(output); });
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
  job->data.assign(2, ByteVector(side * side, 3));
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

Result<exec::Output> CpuRunner::run(const TaskRun& task) { return run_to_end(*executor_, task.job, task.options); }

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
