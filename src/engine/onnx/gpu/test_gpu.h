// The device for the tests of this folder: the best device of this machine (lavapipe if it has no
// GPU), shared by the tests of one program.
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
    // The device is validated, so that a mistake in a binding is an error instead of a crash.
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
