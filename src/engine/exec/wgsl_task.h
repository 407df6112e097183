// A wgsl job on a device: its pipelines, and the run of one range with them. Internal to this
// folder.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/exec/executor.h"

namespace weft::exec {

struct WgslPipelines {
  std::vector<gpu::Pipeline> pipelines;       // One an entry point.
  std::vector<std::size_t> pipeline_of_step;  // Index into it.
  // Invocations of a workgroup, one an entry point; an error where it cannot be told (then the
  // origin of a part cannot either).
  std::vector<Result<std::array<std::uint32_t, 3>>> workgroup_sizes;
};

// Everything that a job's pipelines depend on, as one string.
[[nodiscard]] std::string pipelines_key(const Job& job, const std::map<std::string, double>& tuned);

// Fails with invalid_argument if the shader does not compile or does not fit its manifest.
[[nodiscard]] Async<Result<std::shared_ptr<const WgslPipelines>>> compile_wgsl(
    gpu::Device& device, std::shared_ptr<const Job> job, std::map<std::string, double> tuned);

// Runs pieces one after the other over one set of buffers. The range fits (range_fits).
[[nodiscard]] Async<Result<Output>> run_wgsl(gpu::Device& device, std::shared_ptr<const Job> job,
                                             std::shared_ptr<const WgslPipelines> pipelines,
                                             RunOptions options);

}  // namespace weft::exec
