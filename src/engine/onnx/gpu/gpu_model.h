// A graph on a GPU: compiled to kernels for the shapes of its inputs, bound once for each set of
// them, and run as one submit. Nodes without a kernel are computed by the processor in between.
//
//   WEFT_CO_ASSIGN(auto model, GpuModel::create(device, std::move(graph), {}));
//   WEFT_CO_ASSIGN(const auto outputs, co_await model->run(std::move(inputs)));
//
// Threading: the device's thread; one run at a time. Lifetime: the device outlives the model.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/onnx/gpu/convolution_choices.h"
#include "engine/onnx/gpu/input_rules.h"
#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

class BoundPlans;
struct ModelPlan;

class GpuModel {
 public:
  struct Options {
    bool fuse = true;
    bool keep_all = false;  // Every value can be observed.
    bool halves = false;  // As ScheduleOptions has it; a run fails if the device has no shader-f16.
    // Measures each convolution that `choices` does not know when a plan is bound: seconds, once.
    bool measure_convolutions = false;
    ConvolutionChoices choices = {};
    std::size_t barrier = ~std::size_t{0};  // As ScheduleOptions has it.
    std::uint64_t value_bytes_max = 0;      // What values may take on the device; 0: any.
    std::size_t plans_max = 8;  // For sets of input shapes; the longest unused goes first.
    // Constants leave this process's memory when the first plan has them on the device. No other
    // plan can be bound then: for graphs with has_one_plan().
    bool release_constants = false;
  };
  // What a bound plan consists of.
  struct Statistics {
    std::size_t nodes_on_gpu = 0;
    std::size_t nodes_on_processor = 0;
    std::size_t dispatches = 0;
    std::size_t submits = 0;                   // In the latest run.
    std::uint64_t memory_bytes = 0;            // Memory of values, shared.
    std::uint64_t unshared_bytes = 0;          // What they would take without sharing.
    std::vector<std::string> processor_nodes;  // "NAME (OP)".
  };
  // One kernel of a plan, repeated by itself.
  struct KernelTime {
    std::string node;   // The node's name; the first one's where several are fused.
    std::string label;  // "Conv+Relu"
    double seconds = 0;
    std::uint64_t bytes = 0;  // All that it reads and writes, once.
  };
  struct Measurement {
    double seconds = 0;         // All kernels, from GPU memory to GPU memory, run after run.
    double submit_seconds = 0;  // One such run by itself, from its first command to its answer.
    double record_seconds = 0;  // What the processor takes of that: recording and handing over.
    double run_seconds = 0;     // With inputs going up and outputs coming down.
    std::vector<KernelTime> kernels;
    [[nodiscard]] std::uint64_t bytes() const;
  };
  using Observe = std::function<void(const Node& node, ValueId id, const Tensor& value)>;

  GpuModel(gpu::Device& device, Graph graph, Options options);
  GpuModel(const GpuModel&) = delete;
  ~GpuModel();

  // Outputs in the graph's order. Fails as interpret() does, and with what the device says.
  // `observe` is called after the run with every value that was computed, if keep_all is set.
  [[nodiscard]] Async<Result<std::vector<Tensor>>> run(std::vector<Tensor> inputs,
                                                       Observe observe = {});
  // The same where inputs lie on the device already: `buffers` has one for each input that is given
  // by type and shape only, and null for the others. They are read when the run begins, with the
  // first submit; elements take four bytes, as kernel.h says. Fails with unsupported for an i64 and
  // for an input that says shapes.
  [[nodiscard]] Async<Result<std::vector<Tensor>>> run_on_device(
      std::vector<Tensor> inputs, std::vector<const gpu::Buffer*> buffers, Observe observe = {});
  // Outputs of a run in the graph's order, where they lie on the device.
  struct DeviceOutputs {
    std::uint64_t plan = 0;  // Number of the bound plan; each plan has buffers of its own.
    std::vector<gpu::BoundBuffer> values;
    std::vector<const Tensor*> about;  // Their types and shapes.
  };
  // What is recorded around a run, into its submit.
  struct Around {
    std::function<void(gpu::Encoder&)> before = {};  // Writes the buffers of inputs, say.
    std::function<void(gpu::Encoder&, const DeviceOutputs&)> after;
  };
  // As run_on_device(), but nothing comes down: returns after the submit, and what `after` recorded
  // is read by the caller. False if an output is not on the device as f32, i32 or u32, or has a
  // shape that only the run knows; then `after` was not called.
  [[nodiscard]] Async<Result<bool>> run_around(std::vector<Tensor> inputs,
                                               std::vector<const gpu::Buffer*> buffers,
                                               Around around);
  // The outputs of run_around(), if nothing ran since; once.
  [[nodiscard]] Async<Result<std::vector<Tensor>>> outputs();
  // Overwrites what runs left on the device with zeros, before runs for another client.
  void clear_values();
  // How long a run takes on the device. Nodes that the processor computes count in run_seconds
  // only.
  [[nodiscard]] Async<Result<Measurement>> measure(std::vector<Tensor> inputs);
  // Statistics of the plan that ran last.
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }
  // With what was measured since.
  [[nodiscard]] const ConvolutionChoices& choices() const;
  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  using Plan = ModelPlan;
  // Checks inputs, binds a plan for them if there is none, and begins its statistics.
  Async<Result<Plan*>> begin(const std::vector<Tensor>& inputs,
                             const std::vector<const gpu::Buffer*>& buffers);

  gpu::Device& device_;
  Graph graph_;
  const Options options_;
  const InputRules rules_;
  std::unique_ptr<BoundPlans> plans_;
  Plan* latest_ = nullptr;  // What run_around() ran, until its outputs are given.
  Statistics statistics_;
};

// True if each run of the graph is bound in the same way: input shapes are fixed, and no values of
// inputs belong to a plan.
[[nodiscard]] bool has_one_plan(const Graph& graph);

}  // namespace weft::onnx
