// Runs a graph on a GPU. The graph is compiled to kernels for the shapes of its inputs, bound once
// for each set of shapes, and run as one submit. Nodes without a kernel are computed by the
// processor, which splits the run into several submits.
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
    bool keep_all = false;  // Keeps every value, for `observe`.
    // Means the same as ScheduleOptions::halves; a run fails if the device lacks shader-f16.
    bool halves = false;
    // Measures each convolution that `choices` does not contain when a plan is bound. This takes
    // seconds, once.
    bool measure_convolutions = false;
    ConvolutionChoices choices = {};
    std::size_t barrier = ~std::size_t{0};  // Means the same as ScheduleOptions::barrier.
    std::uint64_t value_bytes_max = 0;      // The most bytes of values on the device; 0: no bound.
    std::size_t plans_max = 8;              // The most plans; the longest unused is dropped first.
    // Frees the constants in this process's memory when the first plan has them on the device. No
    // other plan can be bound afterwards, so use this only if has_one_plan() is true for the graph.
    bool release_constants = false;
  };
  // Counts and sizes of a bound plan.
  struct Statistics {
    std::size_t nodes_on_gpu = 0;
    std::size_t nodes_on_processor = 0;
    std::size_t dispatches = 0;
    std::size_t submits = 0;                   // The number of submits of the latest run.
    std::uint64_t memory_bytes = 0;            // The bytes of the memory that values share.
    std::uint64_t unshared_bytes = 0;          // The bytes that values would take without sharing.
    std::vector<std::string> processor_nodes;  // Each as "NAME (OP)".
  };
  // The time of one kernel of a plan, which is measured by repeating the kernel alone.
  struct KernelTime {
    std::string node;   // Name of the node; of the first one if several are fused.
    std::string label;  // Label of the kernel, such as "Conv+Relu".
    double seconds = 0;
    std::uint64_t bytes = 0;  // Bytes that the kernel reads and writes, each counted once.
  };
  struct Measurement {
    double seconds = 0;         // The time of all kernels, in runs that follow without a pause.
    double submit_seconds = 0;  // The time of one separate run, from the first command to the end.
    double record_seconds = 0;  // The processor's part of submit_seconds: record and submit.
    double run_seconds = 0;     // The time of a run with upload of inputs and readback of outputs.
    std::vector<KernelTime> kernels;
    [[nodiscard]] std::uint64_t bytes() const;
  };
  using Observe = std::function<void(const Node& node, ValueId id, const Tensor& value)>;

  GpuModel(gpu::Device& device, Graph graph, Options options);
  GpuModel(const GpuModel&) = delete;
  ~GpuModel();

  // Returns the outputs in the graph's order. Fails as interpret() does, and with errors of the
  // device. If keep_all is set, `observe` is called after the run with every value that was
  // computed.
  [[nodiscard]] Async<Result<std::vector<Tensor>>> run(std::vector<Tensor> inputs,
                                                       Observe observe = {});
  // Runs the graph with inputs that are already on the device. `buffers` has a buffer for each
  // input that is given by type and shape only, and null for each other input. The buffers are read
  // when the run begins, with the first submit; their elements take four bytes, as kernel.h says.
  // Fails with unsupported for a buffer of an i64 input and for a buffer of an input whose values
  // belong to a plan.
  [[nodiscard]] Async<Result<std::vector<Tensor>>> run_on_device(
      std::vector<Tensor> inputs, std::vector<const gpu::Buffer*> buffers, Observe observe = {});
  // The outputs of a run as buffers on the device, in the graph's order.
  struct DeviceOutputs {
    std::uint64_t plan = 0;  // Number of the bound plan; each plan has its own buffers.
    std::vector<gpu::BoundBuffer> values;
    std::vector<const Tensor*> about;  // The types and shapes of the outputs.
  };
  // Functions that record commands before and after a run, into the submit of the run.
  struct Around {
    // This function may write the buffers of inputs.
    std::function<void(gpu::Encoder&)> before = {};
    std::function<void(gpu::Encoder&, const DeviceOutputs&)> after;
  };
  // Runs as run_on_device() does, but reads nothing back: it returns after the submit, and the
  // caller reads the results of the commands that `after` recorded. Returns false, without calling
  // `after`, if an output is not on the device as f32, i32 or u32, or if the shape of an output is
  // known only during a run.
  [[nodiscard]] Async<Result<bool>> run_around(std::vector<Tensor> inputs,
                                               std::vector<const gpu::Buffer*> buffers,
                                               Around around);
  // Reads back the outputs of the latest run_around(). Call it once, before any other run.
  [[nodiscard]] Async<Result<std::vector<Tensor>>> outputs();
  // Overwrites the values that runs left on the device with zeros, before runs for another client.
  void clear_values();
  // Measures how long a run takes on the device. Nodes that the processor computes count only in
  // run_seconds.
  [[nodiscard]] Async<Result<Measurement>> measure(std::vector<Tensor> inputs);
  // Statistics of the plan that ran last.
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }
  // Returns the choices of the options together with those that were measured since.
  [[nodiscard]] const ConvolutionChoices& choices() const;
  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  using Plan = ModelPlan;
  // Checks the inputs, binds a plan for them if there is no such plan yet, and resets the
  // statistics.
  Async<Result<Plan*>> begin(const std::vector<Tensor>& inputs,
                             const std::vector<const gpu::Buffer*>& buffers);

  gpu::Device& device_;
  Graph graph_;
  const Options options_;
  const InputRules rules_;
  std::unique_ptr<BoundPlans> plans_;
  Plan* latest_ = nullptr;  // Plan of the latest run_around(), until outputs() is called.
  Statistics statistics_;
};

// True if every run of the graph has the same plan: the shapes of inputs are fixed, and no plan
// depends on the values of inputs.
[[nodiscard]] bool has_one_plan(const Graph& graph);

}  // namespace weft::onnx
