// Binds a graph to a device for one set of input shapes: it infers values, turns nodes into
// kernels, compiles the kernels and makes all objects that a run needs. Private to the folder.
//
// Threading: the device's thread. Lifetime: the constructor's arguments outlive it, and it outlives
// its plans, which share its constants and pipelines.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/gpu/pipeline_cache.h"
#include "engine/onnx/gpu/convolution_matrices.h"
#include "engine/onnx/gpu/input_rules.h"
#include "engine/onnx/gpu/plan.h"

namespace weft::onnx {

class PlanBinder {
 public:
  PlanBinder(gpu::Device& device, const Graph& graph, const InputRules& rules,
             const GpuModel::Options& options)
      : device_(device),
        graph_(graph),
        rules_(rules),
        options_(options),
        choices_(options.choices),
        matrices_(options.halves ? matrix_unit_of(device) : std::nullopt),
        pipelines_(device, {.pipelines_max = 4096}) {}

  // Fails as inference does, with unsupported if `halves` is set and the device has no shader-f16,
  // with resource_exhausted if values take more than value_bytes_max, and with out_of_memory.
  [[nodiscard]] Async<Result<std::unique_ptr<ModelPlan>>> bind(const std::vector<Tensor>& inputs);
  // Returns the choices of the options together with those that were measured since.
  [[nodiscard]] const ConvolutionChoices& choices() const { return choices_; }

 private:
  [[nodiscard]] KernelContext context_of(const ModelPlan& plan) const {
    return {.graph = graph_,
            .inference = plan.inference,
            .choices = &choices_,
            .halves = options_.halves,
            .matrices = matrices_ ? &*matrices_ : nullptr};
  }
  // Infers the values that are known before a run.
  [[nodiscard]] Async<Result<>> infer_values(ModelPlan& plan, const std::vector<Tensor>& inputs);
  void make_steps(ModelPlan& plan, const std::vector<Tensor>& inputs) const;
  [[nodiscard]] Result<> check_value_bytes(const MemoryPlan& memory) const;
  void make_slots(ModelPlan& plan) const;
  [[nodiscard]] Async<Result<>> bind_steps(ModelPlan& plan);
  // Indices of the buffers that hold kernels' constant data, by the address of the data.
  using DataPlaces = std::map<const void*, std::size_t>;
  [[nodiscard]] std::vector<gpu::BoundBuffer> buffers_of(ModelPlan& plan, const Kernel& kernel,
                                                         DataPlaces& data);
  [[nodiscard]] gpu::BoundBuffer value_at(std::uint32_t binding, const ModelPlan& plan,
                                          ValueId id) const;
  // Makes the staging buffer for the values that are read back, at the end or for nodes of the
  // processor.
  void make_staging(ModelPlan& plan) const;
  [[nodiscard]] std::vector<bool> kept_values() const;
  [[nodiscard]] const gpu::Buffer& constant(ModelPlan& plan, ValueId id);
  [[nodiscard]] gpu::Buffer buffer_of(std::span<const std::uint32_t> words) const;

  gpu::Device& device_;
  const Graph& graph_;
  const InputRules& rules_;
  const GpuModel::Options& options_;
  ConvolutionChoices choices_;
  const std::optional<MatrixUnit> matrices_;  // Set only if values are stored in 16 bits.
  gpu::PipelineCache pipelines_;
  std::map<ValueId, gpu::Buffer> weights_;  // Constants of the graph, shared by plans.
};

}  // namespace weft::onnx
