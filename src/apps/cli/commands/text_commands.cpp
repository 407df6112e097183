#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/coordinator_options.h"
#include "apps/cli/commands/embed.h"
#include "apps/cli/commands/inspect.h"
#include "apps/cli/commands/render.h"
#include "apps/cli/commands/tokenize.h"

namespace weft::cli {

void add_text_commands(CLI::App& app, std::function<int()>& chosen) {
  {
    auto options = std::make_shared<TokenizeOptions>();
    CLI::App* command = app.add_subcommand(
        "tokenize", "Converts a text to the ids of its tokens, or ids back to text");
    command->add_option("--model", options->model, "GGUF file of the model")
        ->required()
        ->type_name("FILE");
    command->add_flag("--add-special", options->add_special,
                      "Add BOS and EOS if the model wants them");
    command->add_flag("--parse-special", options->parse_special,
                      "Read the names of special tokens in the text as these tokens");
    command->add_flag("--decode", options->decode, "Convert ids to bytes");
    command->add_option("--file", options->file, "File to read, byte for byte (-: standard input)")
        ->type_name("FILE");
    command->add_option("text", options->words, "Text, or with --decode the ids");
    command->callback(
        [options, &chosen] { chosen = [options] { return tokenize_command(*options); }; });
  }
  {
    auto options = std::make_shared<EmbedOptions>();
    CLI::App* command = app.add_subcommand(
        "embed",
        "Converts texts to vectors, with a bert or nomic-bert model on this machine or one of a "
        "network\n\n"
        "  weft embed --model m.gguf 'A text'\n"
        "  weft embed --model m.gguf --device cpu --file texts --json\n"
        "  weft embed --network --coordinator http://127.0.0.1:7300 --model NAME 'A text'");
    CLI::Option* model =
        command
            ->add_option("--model", options->model,
                         "GGUF file; with --network, the name of a model in the network")
            ->type_name("FILE");
    add_network(*command, options->at);
    command->add_option("--file", options->file, "File with one text a line (-: standard input)")
        ->type_name("FILE");
    command->add_option("--device", options->device, "Device to use: gpu or cpu")
        ->type_name("{gpu,cpu}");
    command->add_option("--adapter", options->adapter,
                        "Number of the GPU in 'weft bench gpu --list'");
    command->add_option("--dimensions", options->dimensions,
                        "Number of first elements to keep, scaled to length 1 again (0: all)");
    command->add_flag("--base64", options->base64, "Print vectors as little-endian f32 in base64");
    command->add_flag("--json", options->json,
                      "Print one document in the form of OpenAI's /v1/embeddings");
    command->add_option("text", options->texts, "Texts to convert");
    command->callback([options, model, &chosen] {
      options->network = asks_network(options->at);
      if (!options->network && model->count() == 0) throw CLI::RequiredError("--model");
      chosen = [options] { return embed_command(*options); };
    });
  }
  {
    auto options = std::make_shared<RenderOptions>();
    CLI::App* command =
        app.add_subcommand("render", "Renders a conversation as the text that a model continues");
    command->add_option("--model", options->model, "GGUF file of the model")->type_name("FILE");
    command
        ->add_option("--template", options->template_file,
                     "File with a Jinja template to use instead of the model's")
        ->type_name("FILE");
    command
        ->add_option("--input", options->input,
                     "File with messages and variables of the template as JSON (-: standard input)")
        ->type_name("FILE");
    command->add_option("--now", options->now,
                        "Time that the template sees, such as 2026-01-02T03:04:05");
    command->callback(
        [options, &chosen] { chosen = [options] { return render_command(*options); }; });
  }
  {
    auto options = std::make_shared<InspectOptions>();
    CLI::App* command =
        app.add_subcommand("inspect", "Shows the metadata and tensors of a model's file");
    command->add_option("file", options->file, "GGUF file of the model")
        ->required()
        ->type_name("FILE");
    command->add_flag("--json", options->json, "Print one JSON document on standard output");
    command->callback(
        [options, &chosen] { chosen = [options] { return inspect_command(*options); }; });
  }
}

}  // namespace weft::cli
