#include "apps/cli/commands/chat_network.h"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <unistd.h>

#include "apps/cli/answer_output.h"
#include "apps/cli/exit_code.h"
#include "common/base/format.h"
#include "common/json/quote.h"
#include "decisions/ledger/answer_pay.h"

namespace weft::cli {
namespace {

volatile std::sig_atomic_t stopped = 0;

// Installed without SA_RESTART, so that a signal also ends the wait for a line.
void note_stops() {
  struct sigaction action = {};
  action.sa_handler = [](int) { stopped = 1; };
  ::sigaction(SIGINT, &action, nullptr);
}

std::string message(std::string_view role, std::string_view text) {
  return weft::format(R"({{"role":"{}","content":{}}})", role, json::quote(text));
}

std::string body_of(const NetworkChatOptions& options, const std::string& model,
                    const std::string& messages) {
  const llm::Sampling& by = options.sampling;
  std::string out = weft::format(
      R"({{"model":{},"messages":[{}],"stream":true,"stream_options":{{"include_usage":true}},"max_tokens":{},"temperature":{},"top_k":{},"top_p":{},"min_p":{},"repetition_penalty":{},"presence_penalty":{},"frequency_penalty":{})",
      json::quote(model), messages, options.tokens_max, by.temperature, by.top_k, by.top_p,
      by.min_p, by.repetition_penalty, by.presence_penalty, by.frequency_penalty);
  if (by.seed != 0) out += weft::format(R"(,"seed":{})", by.seed);
  if (options.price_max)
    out += weft::format(R"(,"max_price":{})", std::llround(*options.price_max * 1e6));
  return out + "}";
}

std::string figures(const NetworkAnswer& answer, const NetworkModel& model, bool pays) {
  const double after = answer.whole_s - answer.first_s;
  const std::uint64_t tokens = answer.prompt_tokens + answer.answer_tokens;
  std::string out = weft::format("{} tokens", answer.answer_tokens);
  if (answer.answer_tokens > 1 && after > 0)
    out += weft::format(", {:.1f}/s", static_cast<double>(answer.answer_tokens - 1) / after);
  out += weft::format(", the first after {:.2f} s", answer.first_s);
  if (pays)
    out += weft::format(", about {:.6f} credits",
                        static_cast<double>(ledger::price_of_tokens(tokens, model.price)) / 1e6);
  std::string workers;
  for (const std::string& worker : answer.workers)
    workers += (workers.empty() ? "" : " and ") + worker.substr(0, 8);
  return out + (workers.empty() ? "" : ", by " + workers);
}

Result<> chat(const NetworkChatOptions& options) {
  WEFT_ASSIGN(const NetworkModels network, NetworkModels::create(options.network));
  WEFT_ASSIGN(const NetworkModel model, network.choose(options.model, "text"));
  const bool terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  std::fprintf(stderr, "%s at %s (%s): %s credits for 1,000 tokens, context %llu.%s\n",
               model.name.c_str(), options.network.coordinator.c_str(), model.state.c_str(),
               weft::format("{:.6f}", static_cast<double>(model.price) / 1e6).c_str(),
               static_cast<unsigned long long>(model.context),
               terminal ? " Ctrl-C ends an answer, Ctrl-D the conversation." : "");
  note_stops();
  std::string messages;
  const auto add = [&](std::string_view role, std::string_view text) {
    messages += (messages.empty() ? "" : ",") + message(role, text);
  };
  if (!options.system.empty()) add("system", options.system);
  std::string line;
  while (true) {
    if (terminal) std::fputs("> ", stdout);
    std::fflush(stdout);
    stopped = 0;
    if (!std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    const std::string before = messages;
    add("user", line);
    std::string said;
    const auto answer = network.stream(body_of(options, model.name, messages),
                                       {.say =
                                            [&said](std::string_view text) {
                                              said += text;
                                              print_answer(text);
                                            },
                                        .wanted = [] { return stopped == 0; }});
    if (!answer && (answer.error().code != ErrorCode::cancelled || stopped == 0)) {
      if (!said.empty()) std::fputs("\n", stdout);
      // A failed answer ends a script with the error; on a terminal the conversation continues.
      if (!terminal) return std::unexpected(answer.error());
      (void)report("chat", answer.error());
      messages = before;
      continue;
    }
    std::fputs(!answer || answer->finish == "length" ? " [...]\n" : "\n", stdout);
    std::fflush(stdout);
    if (answer) std::fprintf(stderr, "%s\n", figures(*answer, model, network.has_key()).c_str());
    if (answer) said = answer->text;
    add("assistant", said);
  }
  if (terminal) std::fputs("\n", stdout);
  return {};
}

}  // namespace

int network_chat_command(const NetworkChatOptions& options) {
  const Result<> done = chat(options);
  return done ? 0 : report("chat", done.error());
}

}  // namespace weft::cli
