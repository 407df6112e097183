#include "apps/cli/commands/tokenize.h"

#include <charconv>
#include <cstdio>

#include "apps/cli/exit_code.h"
#include "apps/cli/model_file.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::cli {
namespace {

Result<std::string> input_of(const TokenizeOptions& options) {
  if (options.file && !options.words.empty())
    return fail(ErrorCode::invalid_argument, "Give either --file or the text, not both.");
  if (options.file) return read_input(*options.file);
  if (options.words.empty()) return read_input("-");
  if (!options.decode && options.words.size() > 1)
    return fail(ErrorCode::invalid_argument,
                "The text is given as {} arguments; put it between quotes.", options.words.size());
  std::string text;
  for (const std::string& word : options.words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

// Parses numbers that are separated by spaces, commas or brackets.
Result<std::vector<tokenizer::Token>> parse_ids(std::string_view text) {
  constexpr std::string_view between = " \t\r\n,[]";
  std::vector<tokenizer::Token> tokens;
  for (std::size_t at = text.find_first_not_of(between); at != std::string_view::npos;
       at = text.find_first_not_of(between, at)) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    tokenizer::Token token = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), token);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size())
      return fail(ErrorCode::invalid_argument, "'{}' is not the id of a token.", word);
    tokens.push_back(token);
    at = end;
  }
  return tokens;
}

Result<std::string> run(const TokenizeOptions& options) {
  WEFT_ASSIGN(const ModelFile model, open_model(options.model));
  WEFT_ASSIGN(const auto tokenizer, tokenizer::Tokenizer::create(model.header.metadata));
  WEFT_ASSIGN(const std::string input, input_of(options));
  if (options.decode) {
    WEFT_ASSIGN(const auto tokens, parse_ids(input));
    return tokenizer->decode(tokens, {});
  }
  WEFT_ASSIGN(const auto tokens,
              tokenizer->encode(input, {.add_special = options.add_special,
                                        .parse_special = options.parse_special}));
  std::string line;
  for (const tokenizer::Token token : tokens)
    line.append(line.empty() ? "" : " ").append(std::to_string(token));
  return line + "\n";
}

}  // namespace

int tokenize_command(const TokenizeOptions& options) {
  const Result<std::string> output = run(options);
  if (!output) return report("tokenize", output.error());
  std::fwrite(output->data(), 1, output->size(), stdout);
  return 0;
}

}  // namespace weft::cli
