// Runs one range of a job on a GPU (or of a kernel on the CPU) and returns the outputs. `weft run`,
// the sandboxed child process of the native worker and the browser use the same code.
//
// Threading: as gpu::Device. Errors: invalid_argument for mistakes in the manifest or the shader (a
// shader that does not compile gives "LINE:COLUMN: the compiler's message - while ..."),
// resource_exhausted for a job that exceeds the bounds, out_of_memory, device_lost.
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

// The resources that one task may use on this worker. The wall time is enforced by the process that
// can end the task: the sandbox's parent process.
struct Bounds {
  std::uint64_t binding_bytes_max = std::uint64_t{256} << 20;
  std::uint64_t bytes_max = std::uint64_t{1} << 30;
  std::uint32_t dispatches_max = 65536;
  std::chrono::milliseconds wall_max{30'000};
};

// A manifest with its data, shared by all tasks of a job. data[i] belongs to bindings[i] (a
// kernel's data is a and b, and data[0] of an onnx job is the model) and is empty if the binding
// has no data.
struct Job {
  manifest::Manifest manifest;
  std::string shader;  // The shader as WGSL text.
  std::vector<ByteVector> data;
};

struct RunOptions {
  manifest::Range range;
  // Cuts the range into dispatches of at most this many workgroups along the split axis. 0 runs the
  // range as one dispatch.
  std::uint32_t piece_workgroups_max = 0;
  // Only for jobs that cannot be cut: runs `step_count` steps, beginning with step `step_first`; 0
  // runs all steps. The outputs start from `state`, which holds the outputs (in manifest order) of
  // the run of the previous steps. If `state` is null, they start from the initial values in the
  // manifest.
  std::uint32_t step_first = 0;
  std::uint32_t step_count = 0;
  std::shared_ptr<const std::vector<ByteVector>> state{};
  // The bytes that the task may take on the device, if this is less than Bounds::bytes_max. 0 sets
  // no further limit.
  std::uint64_t bytes_max = 0;
};

struct Output {
  std::vector<ByteVector> outputs;  // One element for each output binding, in manifest order.
  // Measured by GPU timestamps. Without usable timestamps it is `wall_seconds`.
  double gpu_seconds = 0;
  double wall_seconds = 0;
  std::uint32_t dispatches = 0;
};

// Checks, without running the job, that a device and `bounds` allow its first task.
[[nodiscard]] Result<> fits(const Job& job, const gpu::Device& device, const Bounds& bounds);
// Checks, without running the job, that a device and `bounds` allow the range and the steps of
// `options`.
[[nodiscard]] Result<> range_fits(const Job& job, const gpu::Device& device, const Bounds& bounds,
                                  const RunOptions& options);

class Executor {
 public:
  virtual ~Executor() = default;
  // Compiles the job's pipelines and runs nothing. Later runs of the job reuse the pipelines.
  [[nodiscard]] virtual Async<Result<>> prepare(std::shared_ptr<const Job> job) = 0;
  [[nodiscard]] virtual Async<Result<Output>> run(std::shared_ptr<const Job> job,
                                                  RunOptions options) = 0;
};

// Runs wgsl and kernel jobs on a device, which must outlive the executor. It keeps the pipelines of
// the most recently used jobs. `models` runs onnx jobs (see onnx::create_model_executor); without
// `models`, onnx jobs fail with unsupported.
[[nodiscard]] std::unique_ptr<Executor> create_gpu_executor(gpu::Device& device, Bounds bounds,
                                                            std::unique_ptr<Executor> models = {});
// Runs kernel jobs on the CPU; all other jobs fail with unsupported.
[[nodiscard]] std::unique_ptr<Executor> create_cpu_executor(Bounds bounds);

}  // namespace weft::exec
