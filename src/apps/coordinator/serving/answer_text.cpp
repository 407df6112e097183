#include "apps/coordinator/serving/answer_text.h"

#include <format>

namespace weft::coordinator {

namespace wire = protocol::serving;

namespace {

std::string finish_of(const AnswerEnd& end) { return end.reason == "length" ? "\"length\"" : "\"stop\""; }

std::string bytes_of(std::string_view text) {
  std::string out = "[";
  for (const char c : text) out += std::format("{}{}", out.size() > 1 ? "," : "", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return out + "]";
}

std::string event(const std::string& json) { return "data: " + json + "\n\n"; }

}  // namespace

AnswerText::AnswerText(const OpenAiRequest& request, std::string id, std::int64_t created)
    : chat_(request.chat),
      stream_(request.stream),
      include_usage_(request.include_usage),
      logprobs_(request.logprobs),
      n_(request.choices),
      model_(request.model),
      id_(std::move(id)),
      created_(created),
      choices_(request.prompts.size() * request.choices) {}

std::string AnswerText::head(bool chunk) const {
  const std::string_view object = chat_ ? (chunk ? "chat.completion.chunk" : "chat.completion") : "text_completion";
  return std::format(R"({{"id":"{}","object":"{}","created":{},"model":{},"system_fingerprint":null)", id_, object, created_, json_string(model_));
}

std::string AnswerText::chunk(std::size_t choice, const std::string& fields, const std::string& finish) const {
  return event(std::format(R"({},"choices":[{{"index":{},{},"finish_reason":{}}}]{}}})", head(true), choice, fields, finish,
                           include_usage_ ? ",\"usage\":null" : ""));
}

std::string AnswerText::begin() {
  if (!stream_ || !chat_) return {};
  std::string out;
  for (std::size_t i = 0; i < choices_.size(); ++i) out += chunk(i, R"("delta":{"role":"assistant","content":""},"logprobs":null)", "null");
  return out;
}

std::string AnswerText::logprobs(const std::vector<wire::Token>& tokens, std::size_t offset) const {
  if (!logprobs_) return "null";
  if (chat_) {
    std::string content;
    for (const wire::Token& token : tokens) {
      if (token.piece.empty()) continue;
      std::string top;
      for (const wire::TopToken& other : token.top) {
        top += std::format(R"({}{{"token":{},"logprob":{},"bytes":{}}})", top.empty() ? "" : ",", json_string(other.text), other.logprob,
                           bytes_of(other.text));
      }
      content += std::format(R"({}{{"token":{},"logprob":{},"bytes":{},"top_logprobs":[{}]}})", content.empty() ? "" : ",", json_string(token.piece),
                             token.logprob, bytes_of(token.piece), top);
    }
    return std::format(R"({{"content":[{}],"refusal":null}})", content);
  }
  std::string texts, numbers, tops, offsets;
  for (const wire::Token& token : tokens) {
    if (token.piece.empty()) continue;
    const std::string_view comma = texts.empty() ? "" : ",";
    std::string top;
    for (const wire::TopToken& other : token.top) top += std::format("{}{}:{}", top.empty() ? "" : ",", json_string(other.text), other.logprob);
    texts += std::format("{}{}", comma, json_string(token.piece));
    numbers += std::format("{}{}", comma, token.logprob);
    tops += std::format("{}{{{}}}", comma, top);
    offsets += std::format("{}{}", comma, offset);
    offset += token.piece.size();
  }
  return std::format(R"({{"tokens":[{}],"token_logprobs":[{}],"top_logprobs":[{}],"text_offset":[{}]}})", texts, numbers, tops, offsets);
}

std::string AnswerText::tokens(std::size_t choice, const std::vector<wire::Token>& tokens) {
  Choice& one = choices_[choice];
  std::string text;
  for (const wire::Token& token : tokens) text += token.text;
  const std::size_t offset = one.text.size();
  one.text += text;
  if (logprobs_ && !stream_) one.tokens.insert(one.tokens.end(), tokens.begin(), tokens.end());
  if (!stream_ || (text.empty() && !logprobs_)) return {};
  if (chat_) return chunk(choice, std::format(R"("delta":{{"content":{}}},"logprobs":{})", json_string(text), logprobs(tokens, 0)), "null");
  return chunk(choice, std::format(R"("text":{},"logprobs":{})", json_string(text), logprobs(tokens, offset)), "null");
}

std::string AnswerText::end(std::size_t choice, const AnswerEnd& end) {
  choices_[choice].end = end;
  if (!stream_) return {};
  if (end.reason == "failed") return event(openai_error_json(end.error));
  return chunk(choice, chat_ ? R"("delta":{},"logprobs":null)" : R"("text":"","logprobs":null)", finish_of(end));
}

std::uint64_t AnswerText::answer_tokens() const {
  std::uint64_t out = 0;
  for (const Choice& choice : choices_) out += choice.end.answer_tokens;
  return out;
}

std::string AnswerText::usage() const {
  std::uint64_t prompt = 0;
  // The choices of one prompt share it.
  for (std::size_t i = 0; i < choices_.size(); i += n_) prompt += choices_[i].end.prompt_tokens;
  const std::uint64_t answer = answer_tokens();
  return std::format(R"({{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{}}})", prompt, answer, prompt + answer);
}

// Who answered: not of OpenAI's interface, whose clients pass over it.
std::string AnswerText::network() const {
  const AnswerEnd& end = choices_.front().end;
  std::string workers;
  for (const std::string& worker : end.workers) workers += std::format("{}\"{}\"", workers.empty() ? "" : ",", worker);
  return std::format(R"({{"shards":{},"transport":"{}","resumed":{},"workers":[{}]}})", end.shards, end.transport, end.resumed, workers);
}

std::string AnswerText::close() const {
  if (!stream_) return {};
  std::string out;
  if (include_usage_) out += event(std::format(R"({},"choices":[],"usage":{},"weft":{}}})", head(true), usage(), network()));
  return out + "data: [DONE]\n\n";
}

std::string AnswerText::document() const {
  std::string list;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const Choice& choice = choices_[i];
    const std::string probabilities = logprobs(choice.tokens, 0);
    const std::string body =
        chat_ ? std::format(R"("message":{{"role":"assistant","content":{},"refusal":null}},"logprobs":{})", json_string(choice.text), probabilities)
              : std::format(R"("text":{},"logprobs":{})", json_string(choice.text), probabilities);
    list += std::format(R"({}{{"index":{},{},"finish_reason":{}}})", list.empty() ? "" : ",", i, body, finish_of(choice.end));
  }
  return std::format(R"({},"choices":[{}],"usage":{},"weft":{}}})", head(false), list, usage(), network());
}

}  // namespace weft::coordinator
