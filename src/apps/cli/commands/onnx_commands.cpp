#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/coordinator_options.h"
#include "apps/cli/commands/detect.h"
#include "apps/cli/commands/onnx.h"
#include "apps/cli/commands/vision_help.h"

namespace weft::cli {
namespace {

void add_inspect(CLI::App& parent, std::function<int()>& chosen) {
  auto options = std::make_shared<OnnxInspectOptions>();
  CLI::App* command = parent.add_subcommand(
      "inspect", "Shows the graph, parameters, operations and memory of a model");
  command->add_option("file", options->file, "ONNX file of the model")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--size", options->sizes,
                   "Size for a named dimension of the inputs (default: 1; repeatable)")
      ->type_name("NAME=SIZE");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return onnx_inspect_command(*options); }; });
}

// Adds the options for computing in a network: --network, --coordinator (which implies --network),
// and the price limits of the job.
void add_network_items(CLI::App& command, bool& network, NetworkItemsOptions& at) {
  add_network_choice(command, network, at.coordinator, "Compute in a network, as one job");
  command
      .add_option("--wallet", at.wallet,
                  "Wallet file that pays; created if missing (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  command
      .add_option_function<double>(
          "--budget", [&at](double credits) { at.budget = std::llround(credits * 1e6); },
          "Credits set aside for the job; what it does not cost is returned (default: 1)")
      ->type_name("CREDITS")
      ->check(CLI::Range(0.0001, 9e12));
  command
      .add_option("--tasks", at.tasks,
                  "Number of tasks that the job is divided into (default: one for each four items)")
      ->check(CLI::Range(1U, 65536U));
  add_tls(command, at.tls);
}

void add_storage(CLI::App& command, std::string& storage) {
  command
      .add_option("--storage", storage,
                  "Type of floats in a GPU's memory; sums are computed in f32. f16 halves the "
                  "memory traffic and rounds each number to 11 bits")
      ->type_name("{f32,f16}");
}

void add_run(CLI::App& parent, std::function<int()>& chosen) {
  auto options = std::make_shared<OnnxRunOptions>();
  CLI::App* command = parent.add_subcommand("run",
                                            "Runs a model, once or over a data set\n\n"
                                            "  weft onnx run m.onnx --inputs in --outputs out\n"
                                            "  weft onnx run m.onnx --inputs set --outputs out "
                                            "--coordinator http://127.0.0.1:7300");
  command->add_option("file", options->file, "ONNX file of the model")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--inputs", options->inputs,
                   "Folder with input_0.pb, input_1.pb, ... (serialised tensors) or NAME.npy, or "
                   "with one such folder for each item of a data set")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option("--outputs", options->outputs,
                   "Folder to write output_0.pb and output_0.npy, output_1.pb, ... to")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--device", options->device, "Device to use: gpu or cpu")
      ->type_name("{gpu,cpu}");
  add_storage(*command, options->storage);
  command->add_flag("--unfused", options->unfused,
                    "Run each node with its own kernels on a GPU, as on the processor");
  command->add_flag("--tune", options->tune,
                    "Measure the best tiling of convolutions on a GPU, and keep it for later runs");
  add_network_items(*command, options->network, options->at);
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback([options, &chosen] {
    options->network = chooses_network(options->network, options->at.coordinator);
    chosen = [options] { return onnx_run_command(*options); };
  });
}

void add_sizes(CLI::App& command, SymbolSizes& sizes) {
  command
      .add_option("--size", sizes,
                  "Size for a named dimension of the inputs (default: 1; repeatable)")
      ->type_name("NAME=SIZE");
}

void add_compile(CLI::App& parent, std::function<int()>& chosen) {
  auto options = std::make_shared<OnnxCompileOptions>();
  CLI::App* command = parent.add_subcommand("compile",
                                            "Writes a model as WGSL modules, program.json and "
                                            "weights.bin, for any program with WebGPU\n\n"
                                            "  weft onnx compile m.onnx --out m.program");
  command->add_option("file", options->file, "ONNX file of the model")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", options->out, "Folder to write to, new or empty")
      ->required()
      ->type_name("FOLDER");
  add_sizes(*command, options->sizes);
  command->add_flag("--unfused", options->unfused, "Give each node its own kernels");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return onnx_compile_command(*options); }; });
}

void add_bench(CLI::App& parent, std::function<int()>& chosen) {
  auto options = std::make_shared<OnnxBenchOptions>();
  CLI::App* command = parent.add_subcommand(
      "bench", "Measures time, dispatches and bytes of a model on this machine's GPU, by kernel");
  command->add_option("file", options->file, "ONNX file of the model")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--inputs", options->inputs,
                   "Folder with input_0.pb, ... or NAME.npy (default: generated numbers)")
      ->type_name("FOLDER");
  command
      ->add_option(
          "--image", options->image,
          "Picture (PNG or JPEG) for a detector, to measure the time from its pixels to boxes too")
      ->type_name("FILE");
  add_sizes(*command, options->sizes);
  add_storage(*command, options->storage);
  command->add_flag("--unfused", options->unfused,
                    "List the kernels of the unfused model instead of the fused one");
  command->add_flag("--tune", options->tune,
                    "Measure the best tiling of convolutions, and keep it for later runs");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return onnx_bench_command(*options); }; });
}

void add_split(CLI::App& parent, std::function<int()>& chosen) {
  auto options = std::make_shared<OnnxSplitOptions>();
  CLI::App* command = parent.add_subcommand("split",
                                            "Splits a model into several that run one after the "
                                            "other, with about equal work and little data\n"
                                            "to hand over\n\n"
                                            "  weft onnx split m.onnx --parts 3 --out m.parts");
  command->add_option("file", options->file, "ONNX file of the model")
      ->required()
      ->type_name("FILE");
  command->add_option("--parts", options->parts, "Number of parts")->type_name("N");
  command->add_option("--out", options->out, "Folder to write to, new or empty")
      ->required()
      ->type_name("FOLDER");
  add_sizes(*command, options->sizes);
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return onnx_split_command(*options); }; });
}

void add_reshape(CLI::App& parent, std::function<int()>& chosen) {
  auto options = std::make_shared<OnnxReshapeOptions>();
  CLI::App* command = parent.add_subcommand(
      "reshape",
      "Writes a model for inputs of other sizes: targets of reshapes and grid constants follow\n\n"
      "  weft onnx reshape m.onnx --shape 1x3x320x320 --out m320.onnx");
  command->add_option("file", options->file, "ONNX file of the model")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--shape", options->shapes,
                   "Sizes of an input, with its name if the model has several inputs (repeatable)")
      ->required()
      ->type_name("[NAME=]SIZExSIZE...");
  command->add_option("--out", options->out, "ONNX file to write")->required()->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return onnx_reshape_command(*options); }; });
}

void add_quantize(CLI::App& parent, std::function<int()>& chosen) {
  auto options = std::make_shared<OnnxQuantizeOptions>();
  CLI::App* command = parent.add_subcommand("quantize",
                                            "Writes a model with its weights as 8-bit integers and "
                                            "one scale for each channel: a quarter of the\n"
                                            "bytes; computations use floats\n\n"
                                            "  weft onnx quantize m.onnx --out m8.onnx");
  command->add_option("file", options->file, "ONNX file of the model")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", options->out, "ONNX file to write")->required()->type_name("FILE");
  command->add_option("--keep", options->kept, "Node whose weights stay floats (repeatable)")
      ->type_name("NODE");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return onnx_quantize_command(*options); }; });
}

void add_detect(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<DetectOptions>();
  CLI::App* command =
      app.add_subcommand("detect",
                         "Detects objects in pictures: class, score and box in pixels\n\n"
                         "  weft detect yolov5n.onnx street.jpg --png boxes.png\n"
                         "  weft detect yolov5n.onnx *.jpg --coordinator http://127.0.0.1:7300");
  command->add_option("file", options->file, "ONNX file of the detector")
      ->required()
      ->type_name("FILE");
  command->add_option("images", options->images, "Pictures (PNG or JPEG)")
      ->required()
      ->type_name("FILE");
  command->add_option("--device", options->device, "Device to use: gpu or cpu")
      ->type_name("{gpu,cpu}");
  add_storage(*command, options->storage);
  command->add_option("--png", options->png, "Picture file (PNG) to write, with the boxes drawn")
      ->type_name("FILE");
  command->add_option("--score", options->score_min,
                      "Least score of a box; boxes below it are left out");
  command->add_option("--overlap", options->overlap_max,
                      "Most overlap of two boxes of a class; of a pair above it, the box with the "
                      "better score stays");
  command
      ->add_option("--fit", options->fit,
                   "Method that fits pictures to the size of the model's input (default: that of "
                   "the detector's kind)")
      ->type_name("{letterbox,topleft,stretch}");
  command->add_option("--channels", options->channels, "Order of the model's colour channels")
      ->type_name("{RGB,BGR}");
  command->add_option("--mean", options->mean, "Value subtracted from each channel's 0 to 255");
  command->add_option("--scale", options->scale,
                      "Factor that each channel is multiplied by after --mean is subtracted");
  add_network_items(*command, options->network, options->at);
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback([options, &chosen] {
    options->network = chooses_network(options->network, options->at.coordinator);
    options->at.name = "detect";
    chosen = [options] { return detect_command(*options); };
  });
}

void add_vision_help(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* vision = app.add_subcommand("vision", "Cameras that are shared from the page Vision");
  vision->require_subcommand(1);
  auto options = std::make_shared<VisionHelpOptions>();
  CLI::App* command = vision->add_subcommand(
      "help",
      "Helps a shared camera: gets its model and pictures, and sends what it finds in them.\n"
      "The link is the one that \"Share the work\" shows on the page Vision.\n\n"
      "  weft vision help 'https://HOST:7300/vision#camera=...'\n"
      "  weft vision help 'https://HOST:7300/vision#camera=...' --device cpu --ca-cert "
      "cert.pem");
  command->add_option("link", options->link, "The link of the camera")
      ->required()
      ->type_name("LINK");
  command
      ->add_option("--device", options->device,
                   "gpu (the best one), cpu, or a part of a GPU's name (weft bench gpu --list)")
      ->type_name("DEVICE");
  command->add_flag("--unsafe-sandbox", options->unsafe_sandbox,
                    "Run the camera's model even if this machine cannot confine its process");
  add_ca_cert(*command, options->tls);
  command->add_flag("--tls-insecure", options->tls.insecure, "Accept any certificate");
  command->add_flag("--json", options->json, "One JSON document on standard output, at the end");
  command->callback(
      [options, &chosen] { chosen = [options] { return vision_help_command(*options); }; });
}

}  // namespace

void add_onnx_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* onnx = app.add_subcommand("onnx", "Runs, inspects, measures and converts ONNX models");
  onnx->require_subcommand(1);
  add_inspect(*onnx, chosen);
  add_run(*onnx, chosen);
  add_compile(*onnx, chosen);
  add_bench(*onnx, chosen);
  add_split(*onnx, chosen);
  add_reshape(*onnx, chosen);
  add_quantize(*onnx, chosen);
  add_detect(app, chosen);
  add_vision_help(app, chosen);
}

}  // namespace weft::cli
