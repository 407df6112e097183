// Runs wgsl jobs on a device: compiles the pipelines of a job and runs one range with them.
// Internal to this folder.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/exec/executor.h"

namespace weft::exec {

struct WgslPipelines {
  std::vector<gpu::Pipeline> pipelines;       // One pipeline for each entry point.
  std::vector<std::size_t> pipeline_of_step;  // Index into `pipelines` of each step's pipeline.
  // The workgroup size of each entry point, or an error if it is unknown. An unknown size leaves
  // the origin of a part unknown too.
  std::vector<Result<std::array<std::uint32_t, 3>>> workgroup_sizes;
};

// Makes a string that holds everything that a job's pipelines depend on.
[[nodiscard]] std::string pipelines_key(const Job& job, const std::map<std::string, double>& tuned);

// Fails with invalid_argument if the shader does not compile or does not fit its manifest.
[[nodiscard]] Async<Result<std::shared_ptr<const WgslPipelines>>> compile_wgsl(
    gpu::Device& device, std::shared_ptr<const Job> job, std::map<std::string, double> tuned);

// Runs the pieces of the range one after another with one set of buffers. The caller has checked
// the range with range_fits().
[[nodiscard]] Async<Result<Output>> run_wgsl(gpu::Device& device, std::shared_ptr<const Job> job,
                                             std::shared_ptr<const WgslPipelines> pipelines,
                                             RunOptions options);

}  // namespace weft::exec
