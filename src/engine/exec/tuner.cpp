#include "engine/exec/tuner.h"

#include <algorithm>
#include <limits>

#include "common/base/format.h"

namespace weft::exec {

std::vector<Overrides> combinations(const manifest::Manifest& manifest) {
  std::vector<Overrides> all{{}};
  for (const auto& [name, values] : manifest.tune) {
    std::vector<Overrides> longer;
    for (const Overrides& shorter : all) {
      for (const double value : values) {
        longer.push_back(shorter);
        longer.back()[name] = value;
      }
    }
    all = std::move(longer);
  }
  if (all.size() > tune_combinations_measured_max) all.resize(tune_combinations_measured_max);
  return all;
}

Async<Result<Tuned>> tune(gpu::Device& device, std::shared_ptr<const Job> job, RunOptions options) {
  // An eighth of the task is enough for a measurement. A job that cannot be cut runs whole.
  RunOptions sample = options;
  if (manifest::can_cut(job->manifest))
    sample.range.count = std::max<std::uint32_t>(1, options.range.count / 8);

  Tuned best;
  double best_seconds = std::numeric_limits<double>::infinity();
  std::optional<Error> first_error;
  std::optional<std::vector<ByteVector>> expected;
  for (Overrides& overrides : combinations(job->manifest)) {
    auto pipelines = co_await compile_wgsl(device, job, overrides);
    if (!pipelines) {
      if (pipelines.error().code == ErrorCode::device_lost) co_return pass(std::move(pipelines));
      if (!first_error) first_error = std::move(pipelines.error());
      continue;
    }
    double seconds = std::numeric_limits<double>::infinity();
    // Runs twice and keeps the shorter time, because the first run may include work that the driver
    // delays until a pipeline is used.
    for (int attempt = 0; attempt < 2; ++attempt) {
      WEFT_CO_ASSIGN(Output output, co_await run_wgsl(device, job, *pipelines, sample));
      seconds = std::min(seconds, output.gpu_seconds);
      if (job->manifest.verify.compare.exact && expected && *expected != output.outputs) {
        std::string values;
        for (const auto& [name, value] : overrides) values += weft::format(" {}={}", name, value);
        co_return fail(ErrorCode::invalid_argument,
                       "The job's \"tune\" changes its results:{} gives other bytes than the first "
                       "combination.",
                       values);
      }
      if (!expected) expected = std::move(output.outputs);
    }
    if (seconds < best_seconds) {
      best_seconds = seconds;
      best = {.overrides = std::move(overrides), .pipelines = std::move(*pipelines)};
    }
  }
  if (best.pipelines == nullptr) co_return std::unexpected(*first_error);
  co_return best;
}

}  // namespace weft::exec
