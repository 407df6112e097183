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
    CLI::App* command = app.add_subcommand("tokenize", "Text to the ids of its tokens, or back");
    command->add_option("--model", options->model, "The model's GGUF file")
        ->required()
        ->type_name("FILE");
    command->add_flag("--add-special", options->add_special,
                      "Put BOS and EOS where the model wants them");
    command->add_flag("--parse-special", options->parse_special,
                      "Special tokens in the text are those tokens");
    command->add_flag("--decode", options->decode, "Take ids, write the bytes");
    command
        ->add_option("--file", options->file, "Read this file, byte for byte (- is standard input)")
        ->type_name("FILE");
    command->add_option("text", options->words, "The text, or with --decode the ids");
    command->callback(
        [options, &chosen] { chosen = [options] { return tokenize_command(*options); }; });
  }
  {
    auto options = std::make_shared<EmbedOptions>();
    CLI::App* command = app.add_subcommand(
        "embed",
        "Texts to vectors, by a bert or nomic-bert model on this machine, or by one of a "
        "network\n\n"
        "  weft embed --model m.gguf 'A text'\n"
        "  weft embed --model m.gguf --device cpu --file texts --json\n"
        "  weft embed --network --coordinator http://127.0.0.1:7300 --model NAME 'A text'");
    CLI::Option* model = command
                             ->add_option("--model", options->model,
                                          "A GGUF file; with --network, a model's name there")
                             ->type_name("FILE");
    add_network(*command, options->at);
    command->add_option("--file", options->file, "A text a line (- is standard input)")
        ->type_name("FILE");
    command->add_option("--device", options->device, "gpu or cpu")->type_name("{gpu,cpu}");
    command->add_option("--adapter", options->adapter,
                        "The GPU's number in 'weft bench gpu --list'");
    command->add_option("--dimensions", options->dimensions,
                        "Only the first so many elements, at length 1 again");
    command->add_flag("--base64", options->base64, "Vectors as little-endian f32 in base64");
    command->add_flag("--json", options->json, "One document, as /v1/embeddings of OpenAI's");
    command->add_option("text", options->texts, "The texts");
    command->callback([options, model, &chosen] {
      options->network = asks_network(options->at);
      if (!options->network && model->count() == 0) throw CLI::RequiredError("--model");
      chosen = [options] { return embed_command(*options); };
    });
  }
  {
    auto options = std::make_shared<RenderOptions>();
    CLI::App* command =
        app.add_subcommand("render", "A conversation as the text that a model continues");
    command->add_option("--model", options->model, "The model's GGUF file")->type_name("FILE");
    command
        ->add_option("--template", options->template_file,
                     "A Jinja template instead of the model's own")
        ->type_name("FILE");
    command
        ->add_option("--input", options->input,
                     "JSON with messages and the template's variables (- is standard input)")
        ->type_name("FILE");
    command->add_option("--now", options->now,
                        "The time that the template sees: 2026-01-02T03:04:05");
    command->callback(
        [options, &chosen] { chosen = [options] { return render_command(*options); }; });
  }
  {
    auto options = std::make_shared<InspectOptions>();
    CLI::App* command = app.add_subcommand("inspect", "What is in a model's file");
    command->add_option("file", options->file, "A GGUF file")->required()->type_name("FILE");
    command->add_flag("--json", options->json, "One JSON document on standard output");
    command->callback(
        [options, &chosen] { chosen = [options] { return inspect_command(*options); }; });
  }
}

}  // namespace weft::cli
