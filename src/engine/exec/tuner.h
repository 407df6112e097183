// Chooses values for the overrides that a job's author leaves to the worker ("tune"). Each
// combination of values runs a part of the task twice, and the fastest combination wins. If the
// job's results are compared exactly, a combination that changes the bytes is the author's mistake,
// and the job is refused. Internal to this folder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/exec/wgsl_task.h"

namespace weft::exec {

using Overrides = std::map<std::string, double>;

// The largest number of combinations that are measured. If a manifest has more combinations, the
// later ones (in the order of the manifest) are left out.
inline constexpr std::size_t tune_combinations_measured_max = 16;

// Returns the combinations, at most `tune_combinations_measured_max`. For a job without "tune" it
// returns one empty combination.
[[nodiscard]] std::vector<Overrides> combinations(const manifest::Manifest& manifest);

struct Tuned {
  Overrides overrides;
  std::shared_ptr<const WgslPipelines> pipelines;
};
// Skips the combinations that do not compile on this device. If none compiles, fails with the error
// of the first combination.
[[nodiscard]] Async<Result<Tuned>> tune(gpu::Device& device, std::shared_ptr<const Job> job,
                                        RunOptions options);

}  // namespace weft::exec
