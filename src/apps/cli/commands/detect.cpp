#include "apps/cli/commands/detect.h"

#include <chrono>
#include <cstdio>

#include "apps/cli/exit_code.h"
#include "apps/cli/image.h"
#include "apps/cli/interruption.h"
#include "apps/cli/json_line.h"
#include "apps/cli/onnx_device.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/vision/detection.h"

namespace weft::cli {
// glaze names types in clang only where they have linkage, so these stand in no unnamed namespace.
namespace documents {

// The document of --json; the names are its keys.
struct DetectionDocument {
  std::string label;
  std::int64_t class_id = 0;
  double score = 0;
  std::array<double, 4> box_in_image{};
};
struct PictureDocument {
  std::string image;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<DetectionDocument> detections;
  double run_s = 0;
};
struct DetectDocument {
  std::string device;
  std::optional<NetworkJob> job;  // If a network computed it.
  std::vector<PictureDocument> images;
};

}  // namespace documents

namespace {

using namespace documents;

struct DetectorInput {
  std::int64_t width = 0;
  std::int64_t height = 0;
};
Result<DetectorInput> detector_input(const onnx::Graph& graph) {
  if (graph.inputs.size() == 1 && graph.inputs[0].type == onnx::ElementType::f32 &&
      graph.inputs[0].shape && graph.inputs[0].shape->size() == 4) {
    const auto& shape = *graph.inputs[0].shape;
    if (shape[0].size.value_or(1) == 1 && shape[1].size.value_or(3) == 3 && shape[2].size &&
        shape[3].size)
      return DetectorInput{.width = *shape[3].size, .height = *shape[2].size};
  }
  return fail(ErrorCode::unsupported,
              "The model is not a detector that is known: its input must be f32 of shape [1, 3, "
              "height, width].");
}

// How pictures are fitted and scaled for a kind of detector, unless the options say otherwise.
struct Convention {
  onnx::Fit fit = onnx::Fit::letterbox;
  onnx::PixelScale scale;
};
Result<Convention> convention_for(const DetectOptions& options, std::size_t outputs) {
  Convention out;
  if (outputs == 2) out = {.fit = onnx::Fit::stretch, .scale = {.mean = 127, .scale = 1.0f / 128}};
  if (!options.fit.empty()) {
    WEFT_ASSIGN(out.fit, onnx::fit_from(options.fit));
  }
  if (options.channels != "RGB" && options.channels != "BGR")
    return fail(ErrorCode::invalid_argument, "--channels '{}' is not RGB or BGR.",
                options.channels);
  out.scale.blue_first = options.channels == "BGR";
  out.scale.mean = options.mean.value_or(out.scale.mean);
  out.scale.scale = options.scale.value_or(out.scale.scale);
  return out;
}

Result<> draw_detections(const std::string& file, onnx::Picture picture,
                         const std::vector<onnx::Detection>& found) {
  constexpr std::array<std::array<std::uint8_t, 3>, 6> colours = {{{255, 99, 71},
                                                                   {50, 205, 50},
                                                                   {30, 144, 255},
                                                                   {255, 215, 0},
                                                                   {218, 112, 214},
                                                                   {0, 206, 209}}};
  const std::int64_t thickness = std::max<std::int64_t>(2, picture.width / 400);
  for (const onnx::Detection& detection : found)
    onnx::draw_box(picture, detection.box,
                   colours[static_cast<std::size_t>(detection.class_id) % colours.size()],
                   thickness);
  return write_image(file, picture);
}

// A picture, what the model gets of it, and what it made of that.
struct SeenPicture {
  onnx::Picture picture;
  onnx::Placement placement;
  onnx::Tensor input;
  std::vector<onnx::Tensor> outputs;
  double run_s = 0;
};

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

Result<> compute_here(const DetectOptions& options, onnx::Graph graph,
                      std::vector<SeenPicture>& pictures, DetectDocument& document) {
  WEFT_ASSIGN(const auto device, OnnxDevice::open(std::move(graph), {.device = options.device}));
  document.device = device->name();
  for (SeenPicture& seen : pictures) {
    const auto begun = std::chrono::steady_clock::now();
    WEFT_ASSIGN(seen.outputs, device->run({seen.input}));
    seen.run_s = seconds_since(begun);
  }
  return {};
}

// All pictures are one job, a picture an item.
Result<> compute_there(const DetectOptions& options, const onnx::Graph& graph,
                       std::vector<SeenPicture>& pictures, DetectDocument& document) {
  Items items;
  for (const SeenPicture& seen : pictures) items.push_back({seen.input});
  const auto begun = std::chrono::steady_clock::now();
  WEFT_ASSIGN(NetworkResults results, run_on_network(options.file, graph, items, options.at));
  const double each = seconds_since(begun) / static_cast<double>(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    pictures[i].outputs = std::move(results.outputs[i]);
    pictures[i].run_s = each;
  }
  document.device = "network";
  document.job = std::move(results.job);
  return {};
}

Result<DetectDocument> detect(const DetectOptions& options) {
  if (!options.png.empty() && options.images.size() != 1)
    return fail(ErrorCode::invalid_argument, "--png takes one picture; {} are given.",
                options.images.size());
  WEFT_ASSIGN(onnx::Model model, onnx::open_model_file(options.file));
  WEFT_ASSIGN(onnx::Graph graph, onnx::prepare(std::move(model)));
  WEFT_ASSIGN(const DetectorInput size, detector_input(graph));
  WEFT_ASSIGN(const Convention convention, convention_for(options, graph.outputs.size()));
  std::vector<SeenPicture> pictures;
  for (const std::string& file : options.images) {
    WEFT_ASSIGN(onnx::Picture picture, read_image(file));
    onnx::FittedPicture placed = onnx::fitted(picture, size.width, size.height, convention.fit);
    pictures.push_back({.picture = std::move(picture),
                        .placement = placed.placement,
                        .input = onnx::tensor_of_picture(placed.picture, convention.scale),
                        .outputs = {},
                        .run_s = 0});
  }
  DetectDocument document;
  WEFT_OK(options.network ? compute_there(options, graph, pictures, document)
                          : compute_here(options, std::move(graph), pictures, document));
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const SeenPicture& seen = pictures[i];
    PictureDocument entry{.image = options.images[i],
                          .width = seen.picture.width,
                          .height = seen.picture.height,
                          .detections = {},
                          .run_s = seen.run_s};
    WEFT_ASSIGN(
        const auto found,
        onnx::detections_of(seen.outputs, size.width, size.height, seen.placement,
                            {.score_min = options.score_min, .overlap_max = options.overlap_max}));
    const std::int64_t classes = onnx::class_count(seen.outputs);
    for (const onnx::Detection& detection : found)
      entry.detections.push_back({onnx::class_label(detection.class_id, classes),
                                  detection.class_id, detection.score, detection.box});
    if (!options.png.empty()) WEFT_OK(draw_detections(options.png, seen.picture, found));
    document.images.push_back(std::move(entry));
  }
  return document;
}

}  // namespace

int detect_command(const DetectOptions& options) {
  note_interruptions();
  const auto document = detect(options);
  if (!document) return report("detect", document.error());
  std::string text;
  if (options.json) {
    text = json_line(*document);
  } else {
    for (const PictureDocument& picture : document->images) {
      text += weft::format("{}: {} x {}, {:.3f} s on {}\n", picture.image, picture.width,
                           picture.height, picture.run_s, document->device);
      for (const DetectionDocument& found : picture.detections)
        text += weft::format("  {:<16} {:.3f}  {:.1f} {:.1f} {:.1f} {:.1f}\n", found.label,
                             found.score, found.box_in_image[0], found.box_in_image[1],
                             found.box_in_image[2], found.box_in_image[3]);
    }
  }
  if (!options.json && document->job) text += to_line(*document->job);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace weft::cli
