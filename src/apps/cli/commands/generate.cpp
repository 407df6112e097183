#include "apps/cli/commands/generate.h"

#include <cstdio>
#include <tuple>

#include "apps/cli/answer_output.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/json_line.h"
#include "apps/cli/prompt.h"
#include "engine/grammar/constraint.h"
#include "engine/llm/generator.h"
#include "engine/schema/schema.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The document of --json; the members' names are its keys.
using Candidate = std::tuple<llm::Token, float>;
struct TokenDocument {
  llm::Token id = 0;
  std::string text;
  float logprob = 0;
  std::vector<Candidate> top;
};
struct TimingDocument {
  double load_s = 0;
  std::uint64_t prefill_tokens = 0;
  double prefill_s = 0;
  std::uint64_t decode_tokens = 0;
  double decode_s = 0;
  double dispatches_per_token = 0;
  double submits_per_token = 0;
};
struct GenerateDocument {
  std::vector<llm::Token> prompt_tokens;
  std::vector<TokenDocument> tokens;
  std::string text;
  std::string stop;
  TimingDocument timing;
  std::string device;
};

}  // namespace documents

namespace {

using namespace documents;

std::string to_json(LanguageModel& model, std::vector<llm::Token> prompt, llm::Generation answer) {
  GenerateDocument document{.prompt_tokens = std::move(prompt),
                            .tokens = {},
                            .text = answer.text,
                            .stop = std::string(to_string(answer.stop)),
                            .timing = {},
                            .device = model.engine().device()};
  for (llm::GeneratedToken& token : answer.tokens) {
    TokenDocument out{
        .id = token.id, .text = std::move(token.text), .logprob = token.logprob, .top = {}};
    for (const llm::Drawn& drawn : token.top) out.top.emplace_back(drawn.token, drawn.logprob);
    document.tokens.push_back(std::move(out));
  }
  const llm::EngineCounters counters = model.engine().counters();
  const auto per_token = [&](std::uint64_t count) {
    return counters.decode_steps == 0
               ? 0
               : static_cast<double>(count) / static_cast<double>(counters.decode_steps);
  };
  document.timing = {.load_s = model.load_s(),
                     .prefill_tokens = answer.prefill_tokens,
                     .prefill_s = answer.prefill_s,
                     .decode_tokens = answer.tokens.empty()
                                          ? 0
                                          // The first token is not counted, because it comes from
                                          // the prompt's pass.
                                          : answer.tokens.size() - 1,
                     .decode_s = answer.decode_s,
                     .dispatches_per_token = per_token(counters.decode_dispatches),
                     .submits_per_token = per_token(counters.decode_submits)};
  return json_line(document);
}

// The grammar or schema of the answer; null if there is none.
Result<std::shared_ptr<grammar::Constraint>> constraint_of(const GenerateOptions& options,
                                                           const LanguageModel& model) {
  const std::string& file =
      options.grammar_file.empty() ? options.schema_file : options.grammar_file;
  if (file.empty()) return nullptr;
  WEFT_ASSIGN(const ByteVector bytes, read_file(file));
  Result<std::string> gbnf{as_text(bytes)};
  if (options.grammar_file.empty()) gbnf = schema::grammar_of_schema(as_text(bytes));
  if (!gbnf) return pass(std::move(gbnf), "while reading {}", file);
  auto made = grammar::Grammars(*model.tokenizer()).begin(*gbnf, {});
  if (!made) return pass(std::move(made), "while reading {}", file);
  return std::move(*made);
}

Result<> generate(const GenerateOptions& options) {
  WEFT_ASSIGN(const auto model, LanguageModel::open(options.model));
  WEFT_ASSIGN(const auto prompt, options.messages_file.empty()
                                     ? encode_prompt(*model, options.prompt)
                                     : encode_messages(*model, options.messages_file));
  WEFT_OK(check_fits(*model, prompt));
  WEFT_ASSIGN(const auto constraint, constraint_of(options, *model));
  llm::Generator generator(model->engine(), *model->tokenizer());
  llm::Generator::OnText on_text;
  if (!options.json) {
    on_text = [](std::string_view text) {
      print_answer(text);
      return true;
    };
  }
  WEFT_ASSIGN(auto answer, model->run(generator.generate({.prompt = prompt,
                                                          .tokens_max = options.tokens_max,
                                                          .sampling = options.sampling,
                                                          .stop = options.stop,
                                                          .top = options.logprobs,
                                                          .constraint = constraint},
                                                         on_text)));
  std::fputs(options.json ? to_json(*model, prompt, std::move(answer)).c_str() : "\n", stdout);
  return {};
}

}  // namespace

int generate_command(const GenerateOptions& options) {
  const Result<> done = generate(options);
  return done ? 0 : report("generate", done.error());
}

}  // namespace weft::cli
