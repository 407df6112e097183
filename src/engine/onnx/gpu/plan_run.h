// One run of a bound plan: inputs to their places, kernels recorded, nodes of the processor between
// two submits. Private to the folder.
//
// Threading: the device's thread. Lifetime: within the call of GpuModel that makes it.
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

  // `buffers` as GpuModel::run_on_device() has them.
  Result<> take(std::vector<Tensor> inputs, std::span<const gpu::Buffer* const> buffers);
  // Records what there is to compute; what nodes of the processor need is submitted and awaited.
  Async<Result<>> compute();
  // What is recorded next; made when it is asked for.
  gpu::Encoder& encoder();
  // Submits what is recorded, if anything.
  void submit();
  // Brings values down that are not here yet: one submit, one read.
  Async<Result<>> fetch(std::vector<ValueId> ids);
  // Null if it is on the device alone.
  [[nodiscard]] const Tensor* on_host(ValueId id) const;
  // After fetch().
  [[nodiscard]] Result<std::vector<Tensor>> outputs() const;
  // nullopt unless all of them lie on the device, with shapes that are known.
  [[nodiscard]] std::optional<GpuModel::DeviceOutputs> outputs_on_device() const;

 private:
  Result<> upload(ValueId id, const Tensor& value);
  // Records that an input on the device goes to its place.
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
