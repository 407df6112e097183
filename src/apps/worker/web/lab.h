// One manifest tried on this machine, without a coordinator: what the playground stands on.
// Compiles, measures and runs with the code that runs leased tasks (manifest, exec), on a device of
// its own, so that a stranger's lease never waits for a try.
//
// Every call answers JSON, the outputs' bytes come beside it. Calls may overlap; runs go one after
// the other. Errors: a manifest that breaks the format's rules, with the place; a shader that does
// not compile, "LINE:COLUMN: ..."; no GPU. Threading: the Worker's one thread. Lifetime: the
// module's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/async.h"
#include "common/base/bytes.h"
#include "common/base/result.h"
#include "engine/exec/executor.h"
#include "engine/gpu/device.h"

namespace weft::worker::web {

class Lab {
 public:
  using TakeOutput =
      std::function<void(ByteSpan bytes)>;  // Called for each output in turn, before the answer.

  // { device: as the engine's event, limits: { WebGPU's names }, timestamps }. Makes the device, or
  // a new one after a loss.
  [[nodiscard]] Async<Result<std::string>> open();
  // { messages: [{ kind, line, column, text }] }: everything the browser's compiler says.
  [[nodiscard]] Async<Result<std::string>> compile(std::string wgsl);
  // {} where the manifest keeps the format's rules, fits this device and its pipelines compile;
  // nothing is run.
  [[nodiscard]] Async<Result<std::string>> check(std::string manifest);
  // All tasks in turn, outputs joined: { name, outputs: [{ name, type, shape }], tasks, dispatches,
  // gpuSeconds, wallSeconds, byTimestamps, root }. gpuSeconds is the GPU's own clock where
  // byTimestamps says so, else wall time. For "kernel" jobs without a GPU: on the CPU, if `cpu`.
  [[nodiscard]] Async<Result<std::string>> run(std::string manifest, bool cpu, TakeOutput take);
  // { copyBytesPerSecond, f32OperationsPerSecond, int8OperationsPerSecond, byTimestamps }, measured
  // in about a third of a second.
  [[nodiscard]] Async<Result<std::string>> measure();

 private:
  [[nodiscard]] Async<Result<>> need_device();

  std::unique_ptr<gpu::Instance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<exec::Executor> executor_;  // Dies before its device.
  bool running_ = false;
};

}  // namespace weft::worker::web
