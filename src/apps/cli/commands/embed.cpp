#include "apps/cli/commands/embed.h"

#include <cstdio>
#include <span>

#include "apps/cli/exit_code.h"
#include "apps/cli/model_file.h"
#include "common/base/bytes.h"
#include "common/base/format.h"
#include "common/json/quote.h"
#include "engine/llm/encoders/encoder.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::cli {
namespace {

Result<std::vector<std::string>> texts_of(const EmbedOptions& options) {
  if (!options.texts.empty()) {
    if (options.file)
      return fail(ErrorCode::invalid_argument, "Give either --file or texts, not both.");
    return options.texts;
  }
  WEFT_ASSIGN(const std::string all, read_input(options.file.value_or("-")));
  std::vector<std::string> out;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    out.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  if (out.empty()) return fail(ErrorCode::invalid_argument, "There is no text to embed.");
  return out;
}

std::string vector_text(const EmbedOptions& options, std::span<const float> vector) {
  if (options.base64) {
    ByteVector bytes;
    for (const float x : vector) append_le(bytes, std::bit_cast<std::uint32_t>(x));
    const std::string text = to_base64(bytes);
    return options.json ? "\"" + text + "\"" : text;
  }
  std::string out;
  for (const float x : vector)
    out += weft::format("{}{}", out.empty() ? "" : options.json ? "," : " ", x);
  return options.json ? "[" + out + "]" : out;
}

Result<std::string> embed(const EmbedOptions& options) {
  WEFT_ASSIGN(const ModelFile file, open_model(options.model));
  WEFT_ASSIGN(const llm::EncoderModel model, llm::read_encoder(file.header));
  if (options.dimensions > model.config.embedding)
    return fail(ErrorCode::invalid_argument, "--dimensions is {}; the model's vectors have {}.",
                options.dimensions, model.config.embedding);
  WEFT_ASSIGN(const auto tokenizer, tokenizer::Tokenizer::create(file.header.metadata));
  WEFT_ASSIGN(const auto texts, texts_of(options));
  std::vector<std::vector<llm::Token>> tokens;
  std::size_t count = 0;
  for (const std::string& text : texts) {
    WEFT_ASSIGN(tokens.emplace_back(),
                tokenizer->encode(text, {.add_special = true, .parse_special = true}));
    count += tokens.back().size();
  }
  WEFT_ASSIGN(const auto encoder, llm::Encoder::create(model, *file.source, 0));
  WEFT_ASSIGN(const auto vectors, encoder->embed(tokens));
  std::string out;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const auto vector =
        options.dimensions > 0 ? llm::shortened(vectors[i], options.dimensions) : vectors[i];
    const std::string text = vector_text(options, vector);
    out += options.json ? weft::format(R"({}{{"object":"embedding","index":{},"embedding":{}}})",
                                       out.empty() ? "" : ",", i, text)
                        : text + "\n";
  }
  if (!options.json) return out;
  return weft::format(
      R"({{"object":"list","data":[{}],"model":{},"usage":{{"prompt_tokens":{},"total_tokens":{}}}}})"
      "\n",
      out, json::quote(model.config.name), count, count);
}

}  // namespace

int embed_command(const EmbedOptions& options) {
  const Result<std::string> output = embed(options);
  if (!output) return report("embed", output.error());
  std::fwrite(output->data(), 1, output->size(), stdout);
  return 0;
}

}  // namespace weft::cli
