#include "apps/cli/commands/chat.h"

#include <cstdio>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

#include "apps/cli/answer_output.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/prompt.h"
#include "engine/llm/generator.h"

namespace weft::cli {
namespace {

bool say(std::string_view text) {
  print_answer(text);
  return true;
}

Result<> chat(const ChatOptions& options) {
  WEFT_ASSIGN(const auto model, LanguageModel::open(options.model));
  if (model->tokenizer() == nullptr)
    return fail(ErrorCode::unsupported, "The model has no vocabulary, so it cannot read text.");
  llm::Generator generator(model->engine(), *model->tokenizer());
  std::vector<ChatMessage> messages;
  if (!options.system.empty()) messages.push_back({"system", options.system});
  const bool terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  if (terminal)
    std::fprintf(stderr, "%s on %s. End with Ctrl-D.\n", model->engine().config().name.c_str(),
                 model->engine().device().c_str());

  std::string line;
  while (true) {
    if (terminal) say("> ");
    if (!std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    messages.push_back({"user", line});
    WEFT_ASSIGN(auto prompt, encode_messages(*model, messages));
    WEFT_OK(check_fits(*model, prompt));
    WEFT_ASSIGN(llm::Generation answer,
                model->run(generator.generate({.prompt = std::move(prompt),
                                               .tokens_max = options.tokens_max,
                                               .sampling = options.sampling},
                                              say)));
    say(answer.stop == llm::StopReason::length ? " [...]\n" : "\n");
    messages.push_back({"assistant", std::move(answer.text)});
  }
  if (terminal) say("\n");
  return {};
}

}  // namespace

int chat_command(const ChatOptions& options) {
  const Result<> done = chat(options);
  return done ? 0 : report("chat", done.error());
}

}  // namespace weft::cli
