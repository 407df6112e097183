// Runs one range of a job on a GPU (or a kernel on the CPU) and gives back its outputs. The same
// code in `weft run`, in the native worker's sandboxed child and in the browser.
//
// Threading: as the device. Errors: invalid_argument for what the manifest got wrong (a shader that
// does not compile: "LINE:COLUMN: what the compiler says - while ..."), resource_exhausted for what
// is over the bounds, out_of_memory, device_lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/async.h"
#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/manifest/manifest.h"
#include "common/manifest/split.h"
#include "engine/gpu/device.h"

namespace weft::exec {

// What one task may take on this worker. Wall time is kept by the process that can end the work
// (the sandbox's parent).
struct Bounds {
  std::uint64_t binding_bytes_max = std::uint64_t{256} << 20;
  std::uint64_t bytes_max = std::uint64_t{1} << 30;
  std::uint32_t dispatches_max = 65536;
  std::chrono::milliseconds wall_max{30'000};
};

// A manifest with its bytes at hand: data[i] belongs to bindings[i] (for a kernel: a, b; for an
// onnx job the model is the first); empty if there is none. Shared by all tasks of a job.
struct Job {
  manifest::Manifest manifest;
  std::string shader;  // WGSL text.
  std::vector<ByteVector> data;
};

struct RunOptions {
  manifest::Range range;
  // Cuts the range into dispatches of at most this many workgroups along the axis; 0: one.
  std::uint32_t piece_workgroups_max = 0;
  // For a job that cannot be cut: so many steps from step_first on; 0: all of them. Outputs begin
  // with `state` (in manifest order), as the run of the steps before gave it; null: with what the
  // job says.
  std::uint32_t step_first = 0;
  std::uint32_t step_count = 0;
  std::shared_ptr<const std::vector<ByteVector>> state{};
  // On the device, where that is less than Bounds::bytes_max; 0: that.
  std::uint64_t bytes_max = 0;
};

struct Output {
  std::vector<ByteVector> outputs;  // In manifest order.
  // By timestamps where the device has them, else wall time of the dispatches.
  double gpu_seconds = 0;
  double wall_seconds = 0;
  std::uint32_t dispatches = 0;
};

// Checks a job against what a device offers and against bounds, without running it.
[[nodiscard]] Result<> fits(const Job& job, const gpu::Device& device, const Bounds& bounds);
// The same for one range, and for part of its steps.
[[nodiscard]] Result<> range_fits(const Job& job, const gpu::Device& device, const Bounds& bounds,
                                  const RunOptions& options);

class Executor {
 public:
  virtual ~Executor() = default;
  // Compiles the job's pipelines; nothing is run. Later runs of the same job reuse them.
  [[nodiscard]] virtual Async<Result<>> prepare(std::shared_ptr<const Job> job) = 0;
  [[nodiscard]] virtual Async<Result<Output>> run(std::shared_ptr<const Job> job,
                                                  RunOptions options) = 0;
};

// wgsl and kernel jobs on a device, which outlives the executor. Keeps the pipelines of the last
// few jobs. `models` runs onnx jobs (onnx::create_model_executor); without it they are unsupported.
[[nodiscard]] std::unique_ptr<Executor> create_gpu_executor(gpu::Device& device, Bounds bounds,
                                                            std::unique_ptr<Executor> models = {});
// kernel jobs on the CPU.
[[nodiscard]] std::unique_ptr<Executor> create_cpu_executor(Bounds bounds);

}  // namespace weft::exec
