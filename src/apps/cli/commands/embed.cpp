#include "apps/cli/commands/embed.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

#include "apps/cli/embedding_model.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/interruption.h"
#include "apps/cli/model_file.h"
#include "common/base/bytes.h"
#include "common/base/format.h"
#include "common/json/json.h"
#include "common/json/quote.h"
#include "engine/llm/encoders/encoder.h"

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

struct Embedded {
  std::string model;
  std::vector<std::vector<float>> vectors{};
  std::uint64_t tokens = 0;
};

Result<Embedded> embed_here(const EmbedOptions& options, const std::vector<std::string>& texts) {
  WEFT_ASSIGN(const auto model,
              EmbeddingModel::open(
                  {.model = options.model, .device = options.device, .adapter = options.adapter}));
  if (options.dimensions > model->config().embedding)
    return fail(ErrorCode::invalid_argument, "--dimensions is {}; the model's vectors have {}.",
                options.dimensions, model->config().embedding);
  if (model->tokenizer() == nullptr)
    return fail(ErrorCode::invalid_argument,
                "The file {} has no tokenizer, so the model cannot read texts.", options.model);
  Embedded out{.model = model->config().name};
  std::vector<std::vector<llm::Token>> tokens;
  for (const std::string& text : texts) {
    WEFT_ASSIGN(tokens.emplace_back(),
                model->tokenizer()->encode(text, {.add_special = true, .parse_special = true}));
    out.tokens += tokens.back().size();
  }
  WEFT_ASSIGN(out.vectors, model->embed(std::move(tokens)));
  if (options.dimensions > 0) {
    for (auto& vector : out.vectors) vector = llm::shortened(vector, options.dimensions);
  }
  return out;
}

Result<> take_vectors(const std::string& document, Embedded& out) {
  WEFT_ASSIGN(const json::Value root, json::parse(document, {.bytes_max = document.size() + 1}));
  WEFT_ASSIGN(const auto members, root.members());
  for (const auto& [key, value] : members) {
    if (key == "usage") {
      WEFT_ASSIGN(const auto usage, value.members());
      for (const auto& [name, count] : usage) {
        if (name != "prompt_tokens") continue;
        WEFT_ASSIGN(const std::int64_t tokens, count.integer());
        out.tokens += static_cast<std::uint64_t>(tokens);
      }
    }
    if (key != "data") continue;
    WEFT_OK(value.for_each({.count_max = 1 << 20}, [&](const json::Value& one) -> Result<> {
      WEFT_ASSIGN(const auto fields, one.members());
      for (const auto& [name, field] : fields) {
        if (name != "embedding") continue;
        WEFT_ASSIGN(const std::string text, field.string({.bytes_max = document.size()}));
        const auto bytes = from_base64(text);
        if (!bytes) return field.error("is not base64");
        std::vector<float>& vector = out.vectors.emplace_back(bytes->size() / sizeof(float));
        std::memcpy(vector.data(), bytes->data(), vector.size() * sizeof(float));
      }
      return {};
    }));
  }
  return {};
}

Result<Embedded> embed_there(const EmbedOptions& options, const std::vector<std::string>& texts) {
  constexpr std::size_t together = 256;  // Number of texts in one request.
  WEFT_ASSIGN(const NetworkModels network, NetworkModels::create(options.at));
  WEFT_ASSIGN(const NetworkModel model, network.choose(options.model, "embedding"));
  Embedded out{.model = model.name};
  note_interruptions();
  for (std::size_t at = 0; at < texts.size(); at += together) {
    const std::size_t end = std::min(texts.size(), at + together);
    std::string input;
    for (std::size_t i = at; i < end; ++i)
      input += (input.empty() ? "" : ",") + json::quote(texts[i]);
    std::string body = weft::format(R"({{"model":{},"encoding_format":"base64","input":[{}])",
                                    json::quote(model.name), input);
    if (options.dimensions > 0) body += weft::format(R"(,"dimensions":{})", options.dimensions);
    WEFT_ASSIGN(const std::string document,
                network.post("/v1/embeddings", body + "}", [] { return !interrupted(); }));
    WEFT_OK(take_vectors(document, out));
    if (out.vectors.size() != end)
      return fail(ErrorCode::data_loss, "The network answered with {} vectors to {} texts.",
                  out.vectors.size(), end);
  }
  return out;
}

Result<std::string> embed(const EmbedOptions& options) {
  WEFT_ASSIGN(const auto texts, texts_of(options));
  WEFT_ASSIGN(const Embedded made,
              options.network ? embed_there(options, texts) : embed_here(options, texts));
  std::string out;
  for (std::size_t i = 0; i < made.vectors.size(); ++i) {
    const std::string text = vector_text(options, made.vectors[i]);
    out += options.json ? weft::format(R"({}{{"object":"embedding","index":{},"embedding":{}}})",
                                       out.empty() ? "" : ",", i, text)
                        : text + "\n";
  }
  if (!options.json) return out;
  return weft::format(
      R"({{"object":"list","data":[{}],"model":{},"usage":{{"prompt_tokens":{},"total_tokens":{}}}}})"
      "\n",
      out, json::quote(made.model), made.tokens, made.tokens);
}

}  // namespace

int embed_command(const EmbedOptions& options) {
  const Result<std::string> output = embed(options);
  if (!output) return report("embed", output.error());
  std::fwrite(output->data(), 1, output->size(), stdout);
  return 0;
}

}  // namespace weft::cli
