// Tries one manifest on this machine, without a coordinator, for the page's playground. It
// compiles, measures and runs with the code that runs leased tasks (manifest, exec), on a device of
// its own, so that leased tasks never wait for the playground.
//
// Every call returns JSON; the bytes of outputs are passed separately. Calls may overlap; runs go
// one after the other. A call fails for a manifest that breaks the format's rules (with the place),
// for a shader that does not compile ("LINE:COLUMN: ..."), and without a GPU. Threading: the
// Worker's one thread. Lifetime: as long as the module.
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
      std::function<void(ByteSpan bytes)>;  // Called for each output in order, before the answer.

  // Opens the device, or a new one after a loss. Returns { device: as in the engine's event,
  // limits: { WebGPU's names }, timestamps }.
  [[nodiscard]] Async<Result<std::string>> open();
  // Returns all messages of the browser's compiler: { messages: [{ kind, line, column, text }] }.
  [[nodiscard]] Async<Result<std::string>> compile(std::string wgsl);
  // Returns {} if the manifest keeps the format's rules and fits this device, and if its pipelines
  // compile. Runs nothing.
  [[nodiscard]] Async<Result<std::string>> check(std::string manifest);
  // Runs all tasks in order and joins the outputs. Returns { name, outputs: [{ name, type, shape
  // }], tasks, dispatches, gpuSeconds, wallSeconds, byTimestamps, root }. gpuSeconds is measured by
  // the GPU's clock if byTimestamps is true, else it is wall time. With `cpu`, "kernel" jobs run on
  // the CPU, without a GPU.
  [[nodiscard]] Async<Result<std::string>> run(std::string manifest, bool cpu, TakeOutput take);
  // Measures for about a third of a second and returns { copyBytesPerSecond,
  // f32OperationsPerSecond, int8OperationsPerSecond, byTimestamps }.
  [[nodiscard]] Async<Result<std::string>> measure();

 private:
  [[nodiscard]] Async<Result<>> need_device();

  std::unique_ptr<gpu::Instance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<exec::Executor> executor_;  // Declared after its device, to be destroyed first.
  bool running_ = false;
};

}  // namespace weft::worker::web
