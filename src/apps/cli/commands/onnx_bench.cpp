#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

#include "apps/cli/commands/onnx.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/image.h"
#include "apps/cli/json_line.h"
#include "apps/cli/onnx_device.h"
#include "apps/cli/onnx_files.h"
#include "engine/gpu/measure.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The document of --json; the members' names are its keys.
struct BenchKernelDocument {
  std::string node;
  std::string kernel;
  double seconds = 0;
  std::uint64_t bytes = 0;
};
struct BenchVariantDocument {
  double seconds = 0;         // Time of one of many runs, from GPU memory to GPU memory.
  double submit_seconds = 0;  // Time of a single run, from its first command to its answer.
  double record_seconds = 0;  // CPU time of a single run: recording and submitting.
  double run_seconds = 0;     // Time of a run including transfers of inputs and outputs.
  std::size_t dispatches = 0;
  std::uint64_t bytes = 0;  // Bytes that the kernels read and write.
  std::uint64_t memory_bytes = 0;
  double roofline = 0;  // The least possible time on this device, divided by the real one.
  std::vector<std::string> nodes_on_processor;
  std::vector<BenchKernelDocument> kernels;
};
// The time from a picture in memory, 8 bits a channel, to boxes on the CPU.
struct BenchPictureDocument {
  std::string image;
  std::int64_t width = 0;
  std::int64_t height = 0;
  double seconds = 0;  // Median time, then least and greatest time.
  double seconds_least = 0;
  double seconds_most = 0;
  std::size_t runs = 0;
  std::size_t boxes = 0;
  std::size_t dispatches = 0;
  std::size_t submits = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
};
struct OnnxBenchDocument {
  std::string device;
  double bytes_per_s = 0;       // Rate of a copy kernel on this device.
  double operations_per_s = 0;  // Multiply-adds in f32 a second.
  std::uint64_t multiply_adds = 0;
  BenchVariantDocument fused;
  BenchVariantDocument unfused;
  std::optional<BenchPictureDocument> picture;
};

}  // namespace documents

namespace {

using namespace documents;

// Generates numbers between 0 and 1, equal in every run; integers are zeros.
Result<onnx::Tensor> made_up(const onnx::Tensor& about) {
  WEFT_ASSIGN(onnx::Tensor tensor, onnx::Tensor::create(about.type(), about.shape()));
  std::mt19937 random(17);
  if (tensor.type() == onnx::ElementType::f32)
    for (float& value : tensor.mutable_values<float>())
      value = static_cast<float>(random() & 0xffff) / 65536.0f;
  if (tensor.type() == onnx::ElementType::f16)
    for (onnx::Half& value : tensor.mutable_values<onnx::Half>())
      value = onnx::Half(static_cast<float>(random() & 0xffff) / 65536.0f);
  return tensor;
}

Result<std::vector<onnx::Tensor>> bench_inputs(const OnnxBenchOptions& options,
                                               const onnx::Graph& graph) {
  WEFT_ASSIGN(const auto shapes, onnx::input_shapes(graph));
  std::vector<onnx::Tensor> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    WEFT_ASSIGN(onnx::Tensor input, options.inputs.empty()
                                        ? made_up(shapes[i])
                                        : read_onnx_input(options.inputs, i, graph.inputs[i].name));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Result<BenchVariantDocument> bench_variant(OnnxDevice& device,
                                           const std::vector<onnx::Tensor>& inputs) {
  WEFT_ASSIGN(const auto measured, device.measure(inputs));
  const onnx::GpuModel::Statistics& counted = device.gpu_model()->statistics();
  BenchVariantDocument out{.seconds = measured.seconds,
                           .submit_seconds = measured.submit_seconds,
                           .record_seconds = measured.record_seconds,
                           .run_seconds = measured.run_seconds,
                           .dispatches = counted.dispatches,
                           .bytes = measured.bytes(),
                           .memory_bytes = counted.memory_bytes,
                           .roofline = 0,
                           .nodes_on_processor = counted.processor_nodes,
                           .kernels = {}};
  for (const onnx::GpuModel::KernelTime& kernel : measured.kernels)
    out.kernels.push_back({kernel.node, kernel.label, kernel.seconds, kernel.bytes});
  return out;
}

// Measures after untimed runs that warm up the device.
Result<BenchPictureDocument> bench_picture(OnnxDevice& device, const std::string& file) {
  constexpr std::size_t runs = 101, untimed = 10;
  WEFT_ASSIGN(const onnx::Picture picture, read_image(file));
  WEFT_ASSIGN(const onnx::DetectorInput input, onnx::detector_input(device.graph()));
  WEFT_OK(device.look(input, onnx::usual_convention(device.graph())));
  BenchPictureDocument out{
      .image = file, .width = picture.width, .height = picture.height, .runs = runs};
  std::vector<double> times;
  for (std::size_t i = 0; i < untimed + runs; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    WEFT_ASSIGN(const onnx::GpuDetector::Found found, device.see(picture, {}));
    const auto ended = std::chrono::steady_clock::now();
    if (i < untimed) continue;
    times.push_back(std::chrono::duration<double>(ended - begun).count());
    out.boxes = found.boxes.size();
    out.dispatches = found.dispatches + onnx::PictureDetector::dispatches;
    out.submits = found.submits;
    out.bytes_down = found.bytes_down;
  }
  out.bytes_up = device.picture_bytes();
  std::ranges::sort(times);
  out.seconds = times[times.size() / 2];
  out.seconds_least = times.front();
  out.seconds_most = times.back();
  return out;
}

Result<OnnxBenchDocument> bench_onnx(const OnnxBenchOptions& options) {
  WEFT_ASSIGN(onnx::Model model, onnx::open_model_file(options.file));
  onnx::PrepareOptions prepare;
  WEFT_ASSIGN(prepare.sizes, symbol_sizes(options.sizes));
  WEFT_ASSIGN(const onnx::Graph graph, onnx::prepare(std::move(model), prepare));
  WEFT_ASSIGN(const auto inputs, bench_inputs(options, graph));
  OnnxBenchDocument out;
  std::vector<onnx::Tensor> shapes;
  for (const onnx::Tensor& input : inputs)
    shapes.push_back(input.count() <= 64 ? input : input.without_bytes());
  WEFT_ASSIGN(const onnx::Inference inference, onnx::infer(graph, std::move(shapes)));
  out.multiply_adds = onnx::cost_of(graph, inference).multiply_adds;
  for (const bool fuse : {true, false}) {
    WEFT_ASSIGN(
        const auto device,
        OnnxDevice::open(graph, {.fuse = fuse, .storage = options.storage, .tune = options.tune}));
    WEFT_ASSIGN((fuse ? out.fused : out.unfused), bench_variant(*device, inputs));
    if (!fuse) continue;
    out.device = device->name();
    if (!options.image.empty()) {
      WEFT_ASSIGN(out.picture, bench_picture(*device, options.image));
    }
    WEFT_ASSIGN(const OnnxDevice::Rates rates, device->rates());
    out.bytes_per_s = rates.bytes_per_s;
    out.operations_per_s = rates.operations_per_s;
  }
  for (BenchVariantDocument* variant : {&out.fused, &out.unfused}) {
    const double least =
        std::max(static_cast<double>(variant->bytes) / out.bytes_per_s,
                 2 * static_cast<double>(out.multiply_adds) / out.operations_per_s);
    variant->roofline = variant->seconds > 0 ? least / variant->seconds : 0;
  }
  return out;
}

void print_bench(const OnnxBenchOptions& options, const OnnxBenchDocument& document) {
  std::string out = weft::format(
      "{}: {:.0f} GB/s, {:.2f} TFLOP/s in f32; the model takes {:.3f} GFLOP\n\n"
      "{:<8} {:>11} {:>11} {:>11} {:>11} {:>10} {:>14} {:>12} {:>9}\n",
      document.device, document.bytes_per_s * 1e-9, document.operations_per_s * 1e-12,
      2e-9 * static_cast<double>(document.multiply_adds), "", "kernels ms", "submit ms",
      "record ms", "run ms", "dispatches", "bytes moved", "memory", "roofline");
  for (const auto& [name, variant] :
       {std::pair("fused", &document.fused), {"unfused", &document.unfused}})
    out += weft::format(
        "{:<8} {:>11.3f} {:>11.3f} {:>11.3f} {:>11.3f} {:>10} {:>14} {:>12} {:>8.1f}%\n", name,
        variant->seconds * 1e3, variant->submit_seconds * 1e3, variant->record_seconds * 1e3,
        variant->run_seconds * 1e3, variant->dispatches, variant->bytes, variant->memory_bytes,
        variant->roofline * 100);
  if (const auto& seen = document.picture)
    out += weft::format(
        "\n{}: {} x {} pixels to {} boxes in {:.3f} ms ({:.3f} to {:.3f}, {} runs); {} dispatches, "
        "{} submit{}, {} bytes up, {} bytes down\n",
        seen->image, seen->width, seen->height, seen->boxes, seen->seconds * 1e3,
        seen->seconds_least * 1e3, seen->seconds_most * 1e3, seen->runs, seen->dispatches,
        seen->submits, seen->submits == 1 ? "" : "s", seen->bytes_up, seen->bytes_down);
  const BenchVariantDocument& listed = options.unfused ? document.unfused : document.fused;
  out += weft::format("\n{:>10} {:>12} {:>8}  kernels, each by itself, slowest first\n", "ms",
                      "bytes", "GB/s");
  std::vector<BenchKernelDocument> kernels = listed.kernels;
  std::ranges::stable_sort(kernels, std::greater(), &BenchKernelDocument::seconds);
  for (const BenchKernelDocument& kernel : kernels)
    out += weft::format(
        "{:>10.4f} {:>12} {:>8.1f}  {} ({})\n", kernel.seconds * 1e3, kernel.bytes,
        kernel.seconds > 0 ? static_cast<double>(kernel.bytes) / kernel.seconds * 1e-9 : 0.0,
        kernel.node, kernel.kernel);
  for (const std::string& node : listed.nodes_on_processor)
    out += weft::format("the processor computed node {}\n", node);
  std::fwrite(out.data(), 1, out.size(), stdout);
}

}  // namespace

int onnx_bench_command(const OnnxBenchOptions& options) {
  const auto document = bench_onnx(options);
  if (!document) return report("onnx bench", document.error());
  if (options.json) {
    std::fputs(json_line(*document).c_str(), stdout);
  } else {
    print_bench(options, *document);
  }
  return 0;
}

}  // namespace weft::cli
