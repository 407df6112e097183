// Chooses the overrides that a job's author left to the worker ("tune"): each combination runs a
// part of the task twice, and the fastest wins. Where the job is compared exactly, a combination
// that changes the bytes is the author's mistake and refused. Internal to this folder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/exec/wgsl_task.h"

namespace weft::exec {

using Overrides = std::map<std::string, double>;

// Combinations that are measured; the format allows more, which are left out in the order of the
// text.
inline constexpr std::size_t tune_combinations_measured_max = 16;

// All combinations, at most that many; one without overrides where the job tunes nothing.
[[nodiscard]] std::vector<Overrides> combinations(const manifest::Manifest& manifest);

struct Tuned {
  Overrides overrides;
  std::shared_ptr<const WgslPipelines> pipelines;
};
// Combinations that do not compile on this device are passed over; when none does, the error is
// that of the first.
[[nodiscard]] Async<Result<Tuned>> tune(gpu::Device& device, std::shared_ptr<const Job> job,
                                        RunOptions options);

}  // namespace weft::exec
