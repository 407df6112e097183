#include "apps/coordinator/http/embeddings.h"

#include <bit>
#include <cmath>

#include "apps/coordinator/http/openai_reading.h"
#include "common/base/bytes.h"
#include "common/base/format.h"
#include "common/json/quote.h"

namespace weft::coordinator {

namespace {

using reading::Members;

// Larger numbers could make the request longer than a frame.
constexpr std::int64_t token_max = (1 << 24) - 1;

Result<std::vector<std::int32_t>> tokens_of(const json::Value& list) {
  std::vector<std::int32_t> out;
  WEFT_OK(list.for_each(
      {.count_max = protocol::serving::prompt_tokens_max}, [&](const json::Value& one) -> Result<> {
        WEFT_ASSIGN(const auto token, one.integer_as<std::int32_t>({.min = 0, .max = token_max}));
        out.push_back(token);
        return {};
      }));
  if (out.empty()) return list.error("must not be empty");
  return out;
}

Result<> add_text(const json::Value& value, OpenAiRequest& out) {
  if (value.kind() == json::Kind::array) {
    WEFT_ASSIGN(out.embedding->tokens.emplace_back(), tokens_of(value));
  } else {
    WEFT_ASSIGN(out.prompts.emplace_back(),
                value.string({.bytes_max = protocol::serving::text_bytes_max}));
    if (out.prompts.back().empty()) return value.error("must not be empty");
  }
  if (!out.embedding->tokens.empty() && !out.prompts.empty())
    return value.error("is not of the same kind as those before: texts, or lists of tokens");
  return {};
}

// Reads one text, several texts, one text as tokens, or several texts as tokens.
Result<> read_input(const json::Value& input, OpenAiRequest& out) {
  if (input.kind() == json::Kind::string) return add_text(input, out);
  bool of_numbers = false, first = true;
  WEFT_OK(input.for_each({.count_max = std::max<std::size_t>(protocol::serving::prompt_tokens_max,
                                                             EmbeddingRequest::texts_max)},
                         [&](const json::Value& one) -> Result<> {
                           if (std::exchange(first, false))
                             of_numbers = one.kind() == json::Kind::number;
                           if (of_numbers) return {};
                           if (out.prompt_count() == EmbeddingRequest::texts_max)
                             return input.error("has more than {} texts",
                                                EmbeddingRequest::texts_max);
                           return add_text(one, out);
                         }));
  if (first) return input.error("must not be empty");
  return of_numbers ? add_text(input, out) : Result<>();
}

// The first `dimensions` numbers, scaled to length 1.
std::vector<float> shortened(std::vector<float> vector, std::uint32_t dimensions) {
  if (dimensions == 0 || dimensions >= vector.size()) return vector;
  vector.resize(dimensions);
  double squares = 0;
  for (const float x : vector) squares += double{x} * x;
  const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  for (float& x : vector) x = static_cast<float>(x * scale);
  return vector;
}

std::string json_of(const std::vector<float>& vector, bool base64) {
  if (base64) {
    ByteVector bytes;
    for (const float x : vector) append_le(bytes, std::bit_cast<std::uint32_t>(x));
    return "\"" + to_base64(bytes) + "\"";
  }
  std::string out = "[";
  for (const float x : vector) out += weft::format("{}{}", out.size() > 1 ? "," : "", x);
  return out + "]";
}

}  // namespace

Result<OpenAiRequest> read_embedding_request(std::string_view body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = reading::body_bytes_max}));
  WEFT_ASSIGN(const Members members, reading::members_of(root));
  OpenAiRequest out;
  out.chat = false;
  out.names_bound = true;  // No bound is needed, because no token is drawn.
  out.embedding = std::make_shared<EmbeddingRequest>();
  const auto model = members.find("model");
  if (model == members.end()) return root.error("lacks the key \"model\"");
  WEFT_ASSIGN(out.model, model->second.string({.bytes_max = 256}));
  const auto input = members.find("input");
  if (input == members.end()) return root.error("lacks the key \"input\"");
  WEFT_OK(read_input(input->second, out));
  if (const auto format = members.find("encoding_format"); format != members.end()) {
    WEFT_ASSIGN(const std::string word, format->second.string({.bytes_max = 64}));
    if (word != "float" && word != "base64")
      return format->second.error("must be \"float\" or \"base64\"");
    out.embedding->base64 = word == "base64";
  }
  WEFT_OK(reading::read_count(members, "dimensions", 1, EmbeddingRequest::dimensions_max,
                              out.embedding->dimensions));
  WEFT_OK(reading::read_terms(members, out));
  out.held_by = "input";
  return out;
}

EmbeddingText::EmbeddingText(const OpenAiRequest& request)
    : model_(request.model), request_(request.embedding), vectors_(request.prompt_count()) {}

std::string EmbeddingText::end(std::size_t choice, const inference::AnswerEnd& end) {
  vectors_[choice] = json_of(shortened(end.vector, request_->dimensions), request_->base64);
  tokens_ += end.prompt_tokens;
  if (choice == 0) first_ = end;
  return {};
}

std::string EmbeddingText::document() {
  std::string data;
  for (std::size_t i = 0; i < vectors_.size(); ++i)
    data += weft::format(R"({}{{"object":"embedding","index":{},"embedding":{}}})",
                         i == 0 ? "" : ",", i, vectors_[i]);
  return weft::format(
      R"({{"object":"list","data":[{}],"model":{},"usage":{{"prompt_tokens":{},"total_tokens":{}}},"weft":{}}})",
      data, json::quote(model_), tokens_, tokens_, network_json(first_));
}

}  // namespace weft::coordinator
