#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cli/commands/chat.h"
#include "apps/cli/commands/chat_network.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/coordinator_options.h"
#include "apps/cli/commands/generate.h"

namespace weft::cli {
namespace {

CLI::Option* add_model(CLI::App& command, LanguageModelOptions& options) {
  CLI::Option* model = command.add_option("--model", options.model, "GGUF file of the model")
                           ->required()
                           ->type_name("FILE");
  command.add_option("--device", options.device, "Device to use: gpu or cpu")
      ->type_name("{gpu,cpu}");
  command.add_option("--adapter", options.adapter, "Number of the GPU in 'weft bench gpu --list'");
  command
      .add_option("--activations", options.activations,
                  "Type of activations: f32, int8 for speed, or f16 for many sequences at once")
      ->type_name("{f32,int8,f16}");
  command
      .add_option("--kv", options.kv, "Type of the keys and values in the cache: f32, f16 or q8_0")
      ->type_name("{f32,f16,q8_0}");
  command.add_option(
      "--context", options.context,
      "Positions that fit into a sequence (0: the model's own number, at most 4096)");
  command
      .add_option("--threads", options.threads,
                  "Threads of the CPU engine (0: as many as the machine has)")
      ->check(CLI::Range(0, 256));
  return model;
}

void add_sampling(CLI::App& command, llm::Sampling& sampling) {
  command.add_option("--temperature", sampling.temperature,
                     "Sampling temperature (0: always the best token; 1: by probability)");
  command.add_option("--top-k", sampling.top_k, "Draw from the K best tokens (0: all tokens)");
  command.add_option("--top-p", sampling.top_p,
                     "Draw from the best tokens that together have this probability");
  command.add_option("--min-p", sampling.min_p,
                     "Draw from tokens with at least this part of the best token's probability");
  command.add_option("--repetition-penalty", sampling.repetition_penalty,
                     "Divisor of the logits of tokens that have occurred");
  command.add_option("--presence-penalty", sampling.presence_penalty,
                     "Value subtracted from the logits of tokens that have occurred");
  command.add_option("--frequency-penalty", sampling.frequency_penalty,
                     "Value subtracted from the logit of a token for each time it has occurred");
  command.add_option("--penalty-window", sampling.penalty_window,
                     "Number of previous tokens that the penalties consider");
  command.add_option("--seed", sampling.seed,
                     "Seed; the same seed on the same device draws the same tokens");
}

void add_generate(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command =
      app.add_subcommand("generate",
                         "Continues a text, or answers messages, with a model on this machine\n\n"
                         "  weft generate --model m.gguf --prompt 'Once upon a time' -n 64\n"
                         "  weft generate --model m.gguf --messages chat.json --json");
  add_model(*command, options->model);
  CLI::Option* prompt = command->add_option("--prompt", options->prompt, "Text to continue");
  CLI::Option* messages = command
                              ->add_option("--messages", options->messages_file,
                                           "File with a JSON array of {\"role\", \"content\"}")
                              ->type_name("FILE");
  prompt->excludes(messages);
  command->add_option("-n,--tokens", options->tokens_max, "Most tokens to draw");
  add_sampling(*command, options->sampling);
  command->add_option("--stop", options->stop, "Text before which the answer ends (repeatable)");
  CLI::Option* held = command
                          ->add_option("--grammar", options->grammar_file,
                                       "File with a GBNF grammar that the answer must follow")
                          ->type_name("FILE");
  command
      ->add_option("--schema", options->schema_file,
                   "File with a JSON schema that the answer must follow")
      ->excludes(held)
      ->type_name("FILE");
  command->add_option("--logprobs", options->logprobs,
                      "Number of best candidates to report for each token");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback([options, prompt, messages, &chosen] {
    if (prompt->count() + messages->count() != 1)
      throw CLI::ValidationError("generate", "name one of --prompt and --messages");
    chosen = [options] { return generate_command(*options); };
  });
}

void add_chat(CLI::App& app, std::function<int()>& chosen) {
  struct Options {
    ChatOptions here;
    NetworkChatOptions there;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "chat",
      "Holds a conversation with a model on this machine, or with one of a network\n\n"
      "  weft chat --model m.gguf\n"
      "  weft chat --network --coordinator http://127.0.0.1:7300 --model NAME");
  CLI::Option* model = add_model(*command, options->here.model);
  model->required(false)->description(
      "GGUF file; with --network, the name of a model in the network");
  command->add_option("--system", options->here.system,
                      "System message, which the model reads before the conversation");
  command->add_option("-n,--tokens", options->here.tokens_max, "Most tokens of an answer");
  add_sampling(*command, options->here.sampling);
  add_network(*command, options->there.network);
  command
      ->add_option(
          "--max-price", options->there.price_max,
          "Most credits for 1,000 tokens with --network; a more expensive model is not used")
      ->check(CLI::Range(0.0, 1e6));
  command->callback([options, model, &chosen] {
    if (!asks_network(options->there.network)) {
      if (model->count() == 0) throw CLI::RequiredError("--model");
      chosen = [options] { return chat_command(options->here); };
      return;
    }
    options->there.model = options->here.model.model;
    options->there.system = options->here.system;
    options->there.tokens_max = options->here.tokens_max;
    options->there.sampling = options->here.sampling;
    chosen = [options] { return network_chat_command(options->there); };
  });
}

}  // namespace

void add_model_commands(CLI::App& app, std::function<int()>& chosen) {
  add_generate(app, chosen);
  add_chat(app, chosen);
}

}  // namespace weft::cli
