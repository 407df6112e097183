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
#include "engine/onnx/vision/convention.h"
#include "engine/onnx/vision/detection.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The document of --json; the members' names are its keys.
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
  std::optional<NetworkJob> job;  // Set if a network computed the boxes.
  std::vector<PictureDocument> images;
};

}  // namespace documents

namespace {

using namespace documents;

// Returns the usual convention of the detector's kind, changed by the options.
Result<onnx::Convention> convention_for(const DetectOptions& options, const onnx::Graph& graph) {
  onnx::Convention out = onnx::usual_convention(graph);
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

struct SeenPicture {
  onnx::Picture picture;
  std::vector<onnx::Detection> found;
  std::int64_t classes = 0;
  double run_s = 0;
};

// The settings with which objects are detected in pictures.
struct Search {
  onnx::DetectorInput input;
  onnx::Convention convention;
  onnx::DetectionBounds bounds;
};

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// The model's input for a picture that the CPU has resized.
struct FittedInput {
  onnx::Tensor tensor;
  onnx::Placement placement;
};
FittedInput fitted_input(const onnx::Picture& picture, const Search& search) {
  const onnx::FittedPicture placed =
      onnx::fitted(picture, search.input.width, search.input.height, search.convention.fit);
  return {.tensor = onnx::tensor_of_picture(placed.picture, search.convention.scale),
          .placement = placed.placement};
}

Result<> take_outputs(SeenPicture& seen, const std::vector<onnx::Tensor>& outputs,
                      const Search& search, const onnx::Placement& placement) {
  WEFT_ASSIGN(seen.found, onnx::detections_of(outputs, search.input.width, search.input.height,
                                              placement, search.bounds));
  std::vector<onnx::Shape> shapes;
  for (const onnx::Tensor& output : outputs) shapes.push_back(output.shape());
  seen.classes = onnx::class_count(shapes);
  return {};
}

Result<> compute_here(const DetectOptions& options, onnx::Graph graph, const Search& search,
                      std::vector<SeenPicture>& pictures, DetectDocument& document) {
  WEFT_ASSIGN(const auto device, OnnxDevice::open(std::move(graph), {.device = options.device,
                                                                     .storage = options.storage}));
  document.device = device->name();
  for (SeenPicture& seen : pictures) {
    if (device->gpu_model() != nullptr) {
      WEFT_OK(device->look(search.input, search.convention));
      const auto begun = std::chrono::steady_clock::now();
      auto found = device->see(seen.picture, search.bounds);
      seen.run_s = seconds_since(begun);
      if (found) {
        seen.found = std::move(found->boxes);
        seen.classes = found->classes;
        continue;
      }
      // A picture that is too large for the GPU is resized on the CPU.
      if (found.error().code != ErrorCode::resource_exhausted) return pass(std::move(found));
    }
    FittedInput input = fitted_input(seen.picture, search);
    const auto begun = std::chrono::steady_clock::now();
    WEFT_ASSIGN(const auto outputs, device->run({std::move(input.tensor)}));
    seen.run_s = seconds_since(begun);
    WEFT_OK(take_outputs(seen, outputs, search, input.placement));
  }
  return {};
}

// Runs one job for all pictures, with a picture for each item.
Result<> compute_there(const DetectOptions& options, const onnx::Graph& graph, const Search& search,
                       std::vector<SeenPicture>& pictures, DetectDocument& document) {
  if (options.storage != "f32")
    return fail(ErrorCode::invalid_argument,
                "--storage {} is for this machine's GPU; the workers of a network store f32.",
                options.storage);
  Items items;
  std::vector<onnx::Placement> placements;
  for (const SeenPicture& seen : pictures) {
    FittedInput input = fitted_input(seen.picture, search);
    items.push_back({std::move(input.tensor)});
    placements.push_back(input.placement);
  }
  const auto begun = std::chrono::steady_clock::now();
  WEFT_ASSIGN(NetworkResults results, run_on_network(options.file, graph, items, options.at));
  const double each = seconds_since(begun) / static_cast<double>(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    WEFT_OK(take_outputs(pictures[i], results.outputs[i], search, placements[i]));
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
  Search search{.input = {},
                .convention = {},
                .bounds = {.score_min = options.score_min, .overlap_max = options.overlap_max}};
  WEFT_ASSIGN(search.input, onnx::detector_input(graph));
  WEFT_ASSIGN(search.convention, convention_for(options, graph));
  std::vector<SeenPicture> pictures;
  for (const std::string& file : options.images) {
    WEFT_ASSIGN(onnx::Picture picture, read_image(file));
    pictures.push_back({.picture = std::move(picture), .found = {}});
  }
  DetectDocument document;
  WEFT_OK(options.network ? compute_there(options, graph, search, pictures, document)
                          : compute_here(options, std::move(graph), search, pictures, document));
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const SeenPicture& seen = pictures[i];
    PictureDocument entry{.image = options.images[i],
                          .width = seen.picture.width,
                          .height = seen.picture.height,
                          .detections = {},
                          .run_s = seen.run_s};
    for (const onnx::Detection& detection : seen.found)
      entry.detections.push_back({onnx::class_label(detection.class_id, seen.classes),
                                  detection.class_id, detection.score, detection.box});
    if (!options.png.empty()) WEFT_OK(draw_detections(options.png, seen.picture, seen.found));
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
