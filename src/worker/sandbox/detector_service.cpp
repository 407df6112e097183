#include "worker/sandbox/detector_service.h"

#include <array>
#include <utility>
#include <vector>

#include "engine/onnx/operators/infer.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/read_model.h"
#include "engine/onnx/vision/detection.h"

namespace weft::worker {
namespace {

// A side of an input, as in the page's wire.ts.
constexpr std::int64_t side_max = 4096;
constexpr std::uint64_t colours = 3;

// The bytes of the outputs, as far as they are known before a run, with four bytes a value.
std::uint64_t output_bytes(const onnx::Graph& graph, const onnx::DetectorInput& input) {
  auto picture = onnx::Tensor::shape_only(
      onnx::ElementType::f32, {1, static_cast<std::int64_t>(colours), input.height, input.width});
  if (!picture) return 0;
  std::vector<onnx::Tensor> inputs;
  inputs.push_back(std::move(*picture));
  const auto inference = onnx::infer(graph, std::move(inputs));
  if (!inference) return 0;  // The error appears again at a run.
  std::uint64_t sum = 0;
  for (const auto output : graph.outputs)
    if (const auto& value = inference->values[output])
      sum += static_cast<std::uint64_t>(value->count()) * sizeof(float);
  return sum;
}

onnx::Graph outline_of(const onnx::Graph& graph) {
  onnx::Graph out = graph;
  for (onnx::Value& value : out.values)
    if (value.constant) value.constant = value.constant->without_bytes();
  return out;
}

// (level - mean) * scale in 32 bits, as the page's shader computes it.
onnx::Tensor tensor_of_levels(ByteSpan levels, const onnx::DetectorInput& input,
                              const onnx::PixelScale& scale) {
  std::array<float, 256> values{};
  for (std::size_t level = 0; level < values.size(); ++level)
    values[level] = (static_cast<float>(level) - scale.mean) * scale.scale;
  std::vector<float> out(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) out[i] = values[levels[i]];
  return onnx::Tensor::of<float>({1, static_cast<std::int64_t>(colours), input.height, input.width},
                                 out);
}

}  // namespace

std::uint64_t held_bytes(std::uint64_t file_bytes, const onnx::Graph& graph,
                         const onnx::DetectorInput& input) {
  std::uint64_t weights = 0;
  for (const onnx::Value& value : graph.values)
    if (value.constant) weights += value.constant->byte_count();
  const auto levels =
      colours * static_cast<std::uint64_t>(input.width) * static_cast<std::uint64_t>(input.height);
  // One frame arrives, one waits and one is computed; the last one is also held as floats.
  constexpr std::uint64_t frames = 3;
  return file_bytes + 2 * weights + output_bytes(graph, input) + frames * levels +
         sizeof(float) * levels;
}

Result<ByteVector> DetectorService::answer(const Frame& request) {
  if (request.kind == FrameKind::open_detector) return open(request.payload);
  if (request.kind == FrameKind::find_boxes) return find(request.payload);
  return fail(ErrorCode::internal, "The child for a detector does not know the request {}.",
              static_cast<std::uint32_t>(request.kind));
}

Result<ByteVector> DetectorService::open(ByteSpan payload) {
  is_open_ = false;
  detector_.reset();
  model_.reset();
  graph_ = {};
  Unpacker in(payload);
  WEFT_ASSIGN(const std::uint64_t held_max, in.number());
  WEFT_ASSIGN(const ByteSpan file, in.bytes());
  WEFT_ASSIGN(onnx::Model read, onnx::read_model(file));
  WEFT_ASSIGN(onnx::Graph graph, onnx::prepare(std::move(read)));
  WEFT_ASSIGN(input_, onnx::detector_input(graph));
  if (input_.width < 1 || input_.height < 1 || input_.width > side_max || input_.height > side_max)
    return fail(ErrorCode::resource_exhausted, "The model's input is too large.");
  if (held_bytes(file.size(), graph, input_) > held_max)
    return fail(ErrorCode::resource_exhausted, "The model needs more than {} MiB here.",
                held_max >> 20);
  convention_ = onnx::usual_convention(graph);
  if (device_ == nullptr) {
    graph_ = std::move(graph);
  } else {
    graph_ = outline_of(graph);
    const bool one_plan = onnx::has_one_plan(graph);
    model_ = std::make_unique<onnx::GpuModel>(
        *device_, std::move(graph), onnx::GpuModel::Options{.release_constants = one_plan});
    WEFT_ASSIGN(detector_, gpu::run(*instance_, onnx::GpuDetector::create(*device_, *model_)));
  }
  is_open_ = true;
  return Packer()
      .number(static_cast<std::uint64_t>(input_.width))
      .number(static_cast<std::uint64_t>(input_.height))
      .number(device_ == nullptr ? 0 : 1)
      .text(device_ == nullptr ? std::string_view() : device_->adapter().device)
      .take();
}

Result<ByteVector> DetectorService::find(ByteSpan payload) {
  if (!is_open_) return fail(ErrorCode::internal, "The child for a detector has no open model.");
  Unpacker in(payload);
  onnx::Placement placement;
  for (double* value : {&placement.left, &placement.top, &placement.scale_x, &placement.scale_y}) {
    WEFT_ASSIGN(*value, in.real());
  }
  WEFT_ASSIGN(const ByteSpan levels, in.bytes());
  if (levels.size() != colours * static_cast<std::uint64_t>(input_.width) *
                           static_cast<std::uint64_t>(input_.height))
    return fail(ErrorCode::invalid_argument, "A frame of {} bytes is not one of {} x {} pixels.",
                levels.size(), input_.width, input_.height);
  std::vector<onnx::Tensor> inputs;
  inputs.push_back(tensor_of_levels(levels, input_, convention_.scale));
  std::vector<onnx::Detection> boxes;
  std::int64_t classes = 0;
  if (detector_ != nullptr) {
    WEFT_ASSIGN(auto found, gpu::run(*instance_, detector_->detect(std::move(inputs), {nullptr},
                                                                   {.placement = placement})));
    boxes = std::move(found.boxes);
    classes = found.classes;
  } else {
    WEFT_ASSIGN(const std::vector<onnx::Tensor> outputs,
                onnx::interpret(graph_, std::move(inputs)));
    WEFT_ASSIGN(boxes, onnx::detections_of(outputs, input_.width, input_.height, placement, {}));
    std::vector<onnx::Shape> shapes;
    for (const onnx::Tensor& output : outputs) shapes.push_back(output.shape());
    classes = onnx::class_count(shapes);
  }
  Packer out;
  out.number(boxes.size());
  for (const onnx::Detection& box : boxes) {
    out.number(static_cast<std::uint64_t>(box.class_id)).real(box.score);
    for (const double side : box.box) out.real(side);
    out.text(onnx::class_label(box.class_id, classes));
  }
  return out.take();
}

}  // namespace weft::worker
