#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/detect.h"
#include "apps/cli/commands/onnx.h"

namespace weft::cli {
namespace {

void add_inspect(CLI::App& parent, std::function<int()>& chosen) {
  auto options = std::make_shared<OnnxInspectOptions>();
  CLI::App* command =
      parent.add_subcommand("inspect", "Graph, parameters, operations and memory of a model");
  command->add_option("file", options->file, "An ONNX file")->required()->type_name("FILE");
  command
      ->add_option("--size", options->sizes,
                   "A size for a symbol in an input's shape; 1 where none is given")
      ->type_name("NAME=SIZE");
  command->add_flag("--json", options->json, "One JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return onnx_inspect_command(*options); }; });
}

void add_run(CLI::App& parent, std::function<int()>& chosen) {
  auto options = std::make_shared<OnnxRunOptions>();
  CLI::App* command = parent.add_subcommand("run",
                                            "Runs a model once on this machine\n\n"
                                            "  weft onnx run m.onnx --inputs in --outputs out");
  command->add_option("file", options->file, "An ONNX file")->required()->type_name("FILE");
  command
      ->add_option("--inputs", options->inputs,
                   "A folder with input_0.pb, input_1.pb, ... (serialised tensors) or NAME.npy")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option("--outputs", options->outputs,
                   "A folder for output_0.pb and output_0.npy, output_1.pb, ...")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--device", options->device, "gpu or cpu")->type_name("{gpu,cpu}");
  command->add_flag("--unfused", options->unfused,
                    "On a GPU, each node by kernels of its own, as on the processor");
  command->add_flag("--json", options->json, "One JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return onnx_run_command(*options); }; });
}

void add_detect(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<DetectOptions>();
  CLI::App* command =
      app.add_subcommand("detect",
                         "What a detector sees in pictures: class, score and box in pixels\n\n"
                         "  weft detect yolov5n.onnx street.jpg --png boxes.png");
  command->add_option("file", options->file, "An ONNX file")->required()->type_name("FILE");
  command->add_option("images", options->images, "PNG or JPEG pictures")
      ->required()
      ->type_name("FILE");
  command->add_option("--device", options->device, "gpu or cpu")->type_name("{gpu,cpu}");
  command->add_option("--png", options->png, "The picture with its boxes")->type_name("FILE");
  command->add_option("--score", options->score_min, "Boxes below this score are left out");
  command->add_option("--overlap", options->overlap_max,
                      "Of two boxes of a class that overlap by more, the better one stays");
  command
      ->add_option("--fit", options->fit,
                   "How pictures become as large as the model's input; what is usual for the kind "
                   "of detector where it is not given")
      ->type_name("{letterbox,topleft,stretch}");
  command->add_option("--channels", options->channels, "The order of the model's channels")
      ->type_name("{RGB,BGR}");
  command->add_option("--mean", options->mean, "Taken from each pixel's 0 to 255");
  command->add_option("--scale", options->scale, "Then each is multiplied by this");
  command->add_flag("--json", options->json, "One JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return detect_command(*options); }; });
}

}  // namespace

void add_onnx_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* onnx = app.add_subcommand("onnx", "ONNX models on this machine");
  onnx->require_subcommand(1);
  add_inspect(*onnx, chosen);
  add_run(*onnx, chosen);
  add_detect(app, chosen);
}

}  // namespace weft::cli
