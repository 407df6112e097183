// What the tests of this folder run on: this machine's best device (lavapipe without a GPU), shared
// by the tests of one program.
#pragma once

#include <memory>

#include "engine/gpu/native/instance.h"
#include "engine/gpu/test_shared_pipelines.h"
#include "engine/onnx/gpu/gpu_model.h"

namespace weft::onnx::test {

struct GpuMachine {
  std::unique_ptr<gpu::PumpedInstance> instance = gpu::native::create_instance();
  std::unique_ptr<gpu::Device> device;
};
inline GpuMachine& gpu_machine() {
  static GpuMachine shared = [] {
    GpuMachine made;
    // Validated: a mistake in a binding is an error here, not a crash.
    auto device = gpu::run(*made.instance, made.instance->create_device({.label = "onnx"}));
    if (device) made.device = gpu::test::SharedPipelines::over(std::move(*device));
    return made;
  }();
  return shared;
}
inline Result<std::vector<Tensor>> run_now(GpuModel& model, std::vector<Tensor> inputs,
                                           GpuModel::Observe observe = {}) {
  return gpu::run(*gpu_machine().instance, model.run(std::move(inputs), std::move(observe)));
}

}  // namespace weft::onnx::test
