#include "engine/onnx/gpu/tune.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "engine/gpu/backend.h"
#include "engine/gpu/measure.h"
#include "engine/onnx/gpu/convolution.h"
#include "engine/onnx/gpu/convolution_matrices.h"
#include "engine/onnx/gpu/stored_kernel.h"
#include "engine/onnx/gpu/warm_up.h"

namespace weft::onnx {
namespace {

using gpu::BufferUsage;
constexpr double busy_seconds = 0.0005;

// Tiles to measure, whose pipeline is compiled at the same time as those of other tiles.
struct Tried {
  Tried(gpu::Device& device, const KernelContext& context, const ConvolutionTiles& cut,
        Kernel made_for_it)
      : tiles(cut), kernel(std::move(made_for_it)), compiled(device.backend().ready()) {
    const auto add = [&](std::uint64_t count, gpu::BindingKind kind) {
      layout.push_back({static_cast<std::uint32_t>(layout.size()), kind});
      words.push_back(count);
    };
    for (const KernelInput& input : kernel.inputs)
      add(input.value == no_value ? input.data->size()
                                  : static_cast<std::uint64_t>(context.tensor(input.value).count()),
          gpu::BindingKind::storage_read);
    for (const ValueId id : kernel.outputs)
      add(static_cast<std::uint64_t>(context.tensor(id).count()), gpu::BindingKind::storage);
    device.backend().create_pipeline(
        {.wgsl = kernel.wgsl, .label = "onnx " + kernel.label, .groups = {layout}},
        compiled.completion());
  }
  ConvolutionTiles tiles;
  Kernel kernel;
  gpu::GroupLayout layout;
  std::vector<std::uint64_t> words;  // Size of each buffer.
  gpu::Wait<gpu::Handle> compiled;
  gpu::Pipeline pipeline = {};
};

// Returns the seconds of a kernel with its own buffers, whose contents do not matter.
Async<Result<double>> seconds_of(gpu::Device& device, const Tried& tried) {
  std::vector<gpu::Buffer> buffers;
  for (const std::uint64_t count : tried.words)
    buffers.push_back(
        device.create_buffer({.size = (count * 4 + 15) / 16 * 16,
                              .usage = BufferUsage::storage | BufferUsage::copy_destination,
                              .label = "onnx measurement"}));
  std::vector<gpu::BoundBuffer> bound;
  for (std::uint32_t i = 0; i < buffers.size(); ++i)
    bound.push_back({.binding = i, .buffer = buffers[i]});
  const gpu::BindGroup group = device.create_bind_group(tried.pipeline, 0, bound);
  gpu::Meter meter(device);
  co_return co_await meter.seconds_each(
      [&](gpu::Pass& pass) { pass.run(tried.pipeline, {&group}, tried.kernel.workgroups); },
      {.busy_seconds = busy_seconds, .rounds = 3});
}

}  // namespace

Async<Result<>> tune_convolutions(gpu::Device& device, const Graph& graph,
                                  const Inference& inference, bool halves,
                                  ConvolutionChoices& choices) {
  // Matrices of software GPUs are slower than other cuts, and compile for seconds.
  const bool has_cores = halves && device.adapter().kind != gpu::AdapterKind::cpu;
  const std::optional<MatrixUnit> unit = has_cores ? matrix_unit_of(device) : std::nullopt;
  const MatrixUnit* const matrices = unit ? &*unit : nullptr;
  for (const Node& node : graph.nodes) {
    const auto& out = inference.values[node.outputs[0]];
    const KernelContext plain{.graph = graph, .inference = inference};
    if (node.op != "Conv" || !out || !inference.values[node.inputs[0]] ||
        !inference.values[node.inputs[1]])
      continue;
    const CallOf call(plain, node);
    const auto plan = plan_convolution(*call, call->input(0), call->input(1));
    if (!plan || out->count() == 0) continue;
    const std::string key = ConvolutionChoices::key_of(*plan, halves);
    if (choices.find(key)) continue;
    std::vector<bool> half(graph.values.size());  // The values that are stored in 16 bits.
    half[node.inputs[0]] = !std::ranges::contains(graph.input_ids, node.inputs[0]);
    half[node.outputs[0]] = true;
    const std::vector<Apart> together(half.size());
    const std::vector<std::uint64_t> begin(half.size());
    StoredKernels as_halves(half, together, begin);
    std::deque<Tried> tried;
    for (const ConvolutionTiles& tiles : convolution_candidates(*plan, matrices)) {
      ConvolutionChoices one;
      one.set(key, tiles);
      const KernelContext context{.graph = graph,
                                  .inference = inference,
                                  .choices = &one,
                                  .halves = halves,
                                  .matrices = matrices};
      auto kernels = convolution_kernels(context, node, *call, {});
      if (!kernels || kernels->size() != 1) break;
      if (halves) as_halves.change(kernels->front());
      tried.emplace_back(device, context, tiles, std::move(kernels->front()));
    }
    for (Tried& one : tried) {
      WEFT_CO_ASSIGN(const gpu::Handle handle, co_await one.compiled);
      one.pipeline = gpu::Pipeline(device.backend(), handle, gpu::ObjectKind::pipeline);
    }
    // The GPU was idle while the pipelines were compiled, and its clock has fallen.
    WEFT_CO_OK(co_await warm_up(device));
    std::optional<double> best;
    for (const Tried& one : tried) {
      WEFT_CO_ASSIGN(const double seconds, co_await seconds_of(device, one));
      if (best && *best <= seconds) continue;
      best = seconds;
      choices.set(key, one.tiles);
    }
  }
  co_return Result<>();
}

}  // namespace weft::onnx
