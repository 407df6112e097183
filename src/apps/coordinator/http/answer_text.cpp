#include "apps/coordinator/http/answer_text.h"

#include <algorithm>
#include <span>

#include "common/base/format.h"
#include "common/base/utf8.h"
#include "common/json/quote.h"

namespace weft::coordinator {

namespace {

std::string bytes_of(std::string_view text) {
  std::string out = "[";
  for (const char c : text)
    out += weft::format("{}{}", out.size() > 1 ? "," : "",
                        static_cast<unsigned>(static_cast<unsigned char>(c)));
  return out + "]";
}

// Quotes the bytes of a token. A token may end inside a UTF-8 character.
std::string quote_piece(std::string_view piece) {
  return json::quote(utf8::replace_invalid(piece));
}

std::string event(const std::string& json) { return "data: " + json + "\n\n"; }

}  // namespace

AnswerText::AnswerText(const OpenAiRequest& request, std::string id, std::int64_t created)
    : chat_(request.chat),
      stream_(request.stream),
      include_usage_(request.include_usage),
      logprobs_(request.logprobs),
      n_(request.choices),
      top_(request.top),
      model_(request.model),
      id_(std::move(id)),
      created_(created) {
  const std::size_t count = request.prompts.size() * request.choices;
  choices_.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    choices_.push_back({.parser = tools::AnswerParser(request.tools),
                        .text = {},
                        .thought = {},
                        .calls = {},
                        .tokens = {},
                        .end = {}});
}

std::string AnswerText::finish_of(const Choice& choice) const {
  if (choice.end.reason == "length") return "\"length\"";
  return choice.calls.empty() ? "\"stop\"" : "\"tool_calls\"";
}

std::string AnswerText::keep(std::size_t choice, const std::vector<tools::Piece>& pieces) {
  Choice& one = choices_[choice];
  std::string text, thought, calls;
  for (const tools::Piece& piece : pieces) {
    switch (piece.kind) {
      case tools::Piece::Kind::thought:
        thought += piece.text;
        break;
      case tools::Piece::Kind::text:
      // A cut call is kept as text; finish_reason says that it was cut off.
      case tools::Piece::Kind::cut:
        text += piece.text;
        break;
      case tools::Piece::Kind::call: {
        // A call's id has nine letters and digits, because the templates of some models refuse
        // longer ids.
        const std::string unique = "000000" + id_;
        const Call call{.id = weft::format("{}{:01}{:02}", unique.substr(unique.size() - 6),
                                           choice % 10, one.calls.size() % 100),
                        .name = piece.name,
                        .arguments = piece.arguments};
        calls += weft::format(
            R"({}{{"index":{},"id":"{}","type":"function","function":{{"name":{},"arguments":{}}}}})",
            calls.empty() ? "" : ",", one.calls.size(), call.id, json::quote(call.name),
            json::quote(call.arguments));
        one.calls.push_back(call);
        break;
      }
    }
  }
  one.text += text;
  one.thought += thought;
  std::string out;
  const auto add = [&out](std::string_view key, const std::string& value) {
    if (!value.empty()) out += weft::format(R"({}"{}":{})", out.empty() ? "" : ",", key, value);
  };
  if (!thought.empty()) add("reasoning_content", json::quote(thought));
  if (!text.empty()) add("content", json::quote(text));
  if (!calls.empty()) add("tool_calls", "[" + calls + "]");
  return out;
}

std::string AnswerText::head(bool chunk) const {
  const std::string_view object =
      chat_ ? (chunk ? "chat.completion.chunk" : "chat.completion") : "text_completion";
  return weft::format(
      R"({{"id":"{}","object":"{}","created":{},"model":{},"system_fingerprint":null)", id_, object,
      created_, json::quote(model_));
}

std::string AnswerText::chunk(std::size_t choice, const std::string& fields,
                              const std::string& finish, const std::string& network) const {
  const std::string said = network.empty() ? "" : weft::format(R"(,"weft":{})", network);
  return event(weft::format(R"({},"choices":[{{"index":{},{},"finish_reason":{}}}]{}{}}})",
                            head(true), choice, fields, finish,
                            include_usage_ ? ",\"usage\":null" : "", said));
}

std::string AnswerText::begin() {
  if (!stream_ || !chat_) return {};
  std::string out;
  for (std::size_t i = 0; i < choices_.size(); ++i)
    out += chunk(i, R"("delta":{"role":"assistant","content":""},"logprobs":null)", "null");
  return out;
}

std::string AnswerText::logprobs(const std::vector<SaidToken>& tokens, std::size_t offset) const {
  if (!logprobs_) return "null";
  if (chat_) {
    std::string content;
    for (const SaidToken& token : tokens) {
      if (token.piece.empty()) continue;
      std::string top;
      for (const SaidToken::Other& other :
           std::span(token.top).first(std::min<std::size_t>(top_, token.top.size()))) {
        top += weft::format(R"({}{{"token":{},"logprob":{},"bytes":{}}})", top.empty() ? "" : ",",
                            quote_piece(other.piece), other.logprob, bytes_of(other.piece));
      }
      content += weft::format(R"({}{{"token":{},"logprob":{},"bytes":{},"top_logprobs":[{}]}})",
                              content.empty() ? "" : ",", quote_piece(token.piece), token.logprob,
                              bytes_of(token.piece), top);
    }
    return weft::format(R"({{"content":[{}],"refusal":null}})", content);
  }
  std::string texts, numbers, tops, offsets;
  for (const SaidToken& token : tokens) {
    if (token.piece.empty()) continue;
    const std::string_view comma = texts.empty() ? "" : ",";
    std::string top;
    for (const SaidToken::Other& other :
         std::span(token.top).first(std::min<std::size_t>(top_, token.top.size())))
      top +=
          weft::format("{}{}:{}", top.empty() ? "" : ",", quote_piece(other.piece), other.logprob);
    texts += weft::format("{}{}", comma, quote_piece(token.piece));
    numbers += weft::format("{}{}", comma, token.logprob);
    tops += weft::format("{}{{{}}}", comma, top);
    offsets += weft::format("{}{}", comma, offset);
    offset += token.piece.size();
  }
  return weft::format(
      R"({{"tokens":[{}],"token_logprobs":[{}],"top_logprobs":[{}],"text_offset":[{}]}})", texts,
      numbers, tops, offsets);
}

std::string AnswerText::tokens(std::size_t choice, const std::vector<SaidToken>& tokens) {
  Choice& one = choices_[choice];
  std::string text;
  for (const SaidToken& token : tokens) text += token.text;
  const std::size_t offset = one.text.size();
  std::string delta;
  if (chat_) {
    delta = keep(choice, one.parser.push(text));
  } else {
    one.text += text;
  }
  if (logprobs_ && !stream_) one.tokens.insert(one.tokens.end(), tokens.begin(), tokens.end());
  if (!stream_ || ((chat_ ? delta : text).empty() && !logprobs_)) return {};
  if (chat_)
    return chunk(choice,
                 weft::format(R"("delta":{{{}}},"logprobs":{})",
                              delta.empty() ? R"("content":"")" : delta, logprobs(tokens, 0)),
                 "null");
  return chunk(
      choice,
      weft::format(R"("text":{},"logprobs":{})", json::quote(text), logprobs(tokens, offset)),
      "null");
}

std::string AnswerText::end(std::size_t choice, const inference::AnswerEnd& end) {
  Choice& one = choices_[choice];
  one.end = end;
  const bool whole = end.reason == "eos" || end.reason == "stop";
  const std::string delta = chat_ ? keep(choice, one.parser.finish(whole)) : std::string();
  if (!stream_) return {};
  if (end.reason == "failed") return event(openai_error_json(end.error, {}, end.trust));
  const std::string rest =
      delta.empty()
          ? std::string()
          : chunk(choice, weft::format(R"("delta":{{{}}},"logprobs":null)", delta), "null");
  return rest + chunk(choice,
                      chat_ ? R"("delta":{},"logprobs":null)" : R"("text":"","logprobs":null)",
                      finish_of(one),
                      include_usage_ || end.trust.empty() ? std::string() : network_json(end));
}

std::uint64_t AnswerText::answer_tokens() const {
  std::uint64_t out = 0;
  for (const Choice& choice : choices_) out += choice.end.answer_tokens;
  return out;
}

std::string AnswerText::usage() const {
  std::uint64_t prompt = 0, cached = 0;
  // The tokens of a prompt are counted once, although all its choices use them.
  for (std::size_t i = 0; i < choices_.size(); i += n_) {
    prompt += choices_[i].end.prompt_tokens;
    cached += choices_[i].end.cached_tokens;
  }
  const std::uint64_t answer = answer_tokens();
  return weft::format(
      R"({{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},"prompt_tokens_details":{{"cached_tokens":{}}}}})",
      prompt, answer, prompt + answer, cached);
}

std::string AnswerText::close() {
  if (!stream_) return {};
  std::string out;
  if (include_usage_)
    out += event(weft::format(R"({},"choices":[],"usage":{},"weft":{}}})", head(true), usage(),
                              network_json(choices_.front().end)));
  return out + "data: [DONE]\n\n";
}

std::string AnswerText::document() {
  std::string list;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const Choice& choice = choices_[i];
    const std::string probabilities = logprobs(choice.tokens, 0);
    std::string calls;
    for (const Call& call : choice.calls)
      calls += weft::format(
          R"({}{{"id":"{}","type":"function","function":{{"name":{},"arguments":{}}}}})",
          calls.empty() ? "" : ",", call.id, json::quote(call.name), json::quote(call.arguments));
    const bool only_calls = choice.text.empty() && !calls.empty();
    const std::string body =
        chat_
            ? weft::format(
                  R"("message":{{"role":"assistant","content":{},"refusal":null{}{}}},"logprobs":{})",
                  only_calls ? "null" : json::quote(choice.text),
                  choice.thought.empty() ? ""
                                         : ",\"reasoning_content\":" + json::quote(choice.thought),
                  calls.empty() ? "" : ",\"tool_calls\":[" + calls + "]", probabilities)
            : weft::format(R"("text":{},"logprobs":{})", json::quote(choice.text), probabilities);
    list += weft::format(R"({}{{"index":{},{},"finish_reason":{}}})", list.empty() ? "" : ",", i,
                         body, finish_of(choice));
  }
  return weft::format(R"({},"choices":[{}],"usage":{},"weft":{}}})", head(false), list, usage(),
                      network_json(choices_.front().end));
}

}  // namespace weft::coordinator
