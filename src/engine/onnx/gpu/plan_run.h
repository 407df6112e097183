// One run of a bound plan: it uploads inputs, records kernels, and runs nodes of the processor
// between two submits. Private to the folder.
//
// Threading: the device's thread. Lifetime: a PlanRun lives within one call of a GpuModel.
#pragma once

#include "engine/onnx/gpu/plan.h"

namespace weft::onnx {

class PlanRun {
 public:
  PlanRun(gpu::Device& device, const Graph& graph, ModelPlan& plan,
          GpuModel::Statistics& statistics)
      : device_(device),
        graph_(graph),
        plan_(plan),
        statistics_(statistics),
        context_{.graph = graph, .inference = plan.inference} {}

  // Takes the inputs of the run. `buffers` is that of GpuModel::run_on_device().
  Result<> take(std::vector<Tensor> inputs, std::span<const gpu::Buffer* const> buffers);
  // Records all steps. Before a node of the processor, it submits the recorded commands and waits
  // for their results.
  Async<Result<>> compute();
  // Returns the encoder for the next commands, and makes it if there is none.
  gpu::Encoder& encoder();
  // Submits the recorded commands, if there are any.
  void submit();
  // Reads back those of the values `ids` that are not on the host yet, with one submit and one
  // read.
  Async<Result<>> fetch(std::vector<ValueId> ids);
  // Returns a value on the host, or null if only the device holds it.
  [[nodiscard]] const Tensor* on_host(ValueId id) const;
  // Returns the outputs. Call it after fetch() of the outputs.
  [[nodiscard]] Result<std::vector<Tensor>> outputs() const;
  // Returns the outputs as buffers, or nullopt unless all of them are on the device with known
  // shapes.
  [[nodiscard]] std::optional<GpuModel::DeviceOutputs> outputs_on_device() const;

 private:
  Result<> upload(ValueId id, const Tensor& value);
  // Records the copy of an input that is on the device into the buffer of the plan.
  Result<> copy_from(ValueId id, const gpu::Buffer& buffer);
  Async<Result<>> on_processor(const Node& node);
  [[nodiscard]] std::uint64_t bytes_of(ValueId id) const;
  [[nodiscard]] bool is_half(ValueId id) const;
  [[nodiscard]] const gpu::Buffer& slot_of(ValueId id) const;

  gpu::Device& device_;
  const Graph& graph_;
  ModelPlan& plan_;
  GpuModel::Statistics& statistics_;
  const KernelContext context_;
};

}  // namespace weft::onnx
