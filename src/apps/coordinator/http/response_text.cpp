#include "apps/coordinator/http/response_text.h"

#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"
#include "common/json/quote.h"

namespace weft::coordinator {

namespace wire = protocol::serving;

ResponseText::ResponseText(const OpenAiRequest& request, std::int64_t created)
    : response_(request.response),
      stream_(request.stream),
      model_(request.model),
      temperature_(request.ask.temperature),
      top_p_(request.ask.top_p),
      conversation_(request.conversation),
      created_(created),
      parser_(request.tools) {}

std::string ResponseText::event(std::string_view type, const std::string& members) {
  if (!stream_) return {};
  return weft::format("event: {0}\ndata: {{\"type\":\"{0}\",\"sequence_number\":{1},{2}}}\n\n",
                      type, sequence_++, members);
}

std::string ResponseText::begin() {
  if (!stream_) return {};
  const std::string response = "\"response\":" + response_json();
  std::string out = event("response.created", response);
  out += event("response.in_progress", response);
  return out;
}

// --- Items.

std::string ResponseText::part_json(const Item& item) {
  if (item.kind == Item::Kind::thought)
    return weft::format(R"({{"type":"reasoning_text","text":{}}})", json::quote(item.text));
  return weft::format(R"({{"type":"output_text","text":{},"annotations":[],"logprobs":[]}})",
                      json::quote(item.text));
}

std::string ResponseText::item_json(const Item& item) {
  // An item that has just begun has no parts yet.
  const std::string parts = item.text.empty() ? "" : part_json(item);
  switch (item.kind) {
    case Item::Kind::thought:
      return weft::format(R"({{"type":"reasoning","id":"{}","summary":[],"content":[{}]}})",
                          item.id, parts);
    case Item::Kind::call:
      return weft::format(
          R"({{"type":"function_call","id":"{}","call_id":"{}","name":{},"arguments":{},"status":"{}"}})",
          item.id, item.call_id, json::quote(item.name), json::quote(item.text), item.state);
    case Item::Kind::message:
      break;
  }
  return weft::format(
      R"({{"type":"message","id":"{}","status":"{}","role":"assistant","content":[{}]}})", item.id,
      item.state, parts);
}

std::string ResponseText::place(bool with_content) const {
  return weft::format(R"("item_id":"{}","output_index":{}{})", items_.back().id, items_.size() - 1,
                      with_content ? R"(,"content_index":0)" : "");
}

std::string ResponseText::open_item(Item item) {
  std::string out;
  if (!items_.empty()) out = close_item("completed");
  items_.push_back(std::move(item));
  const Item& begun = items_.back();
  out += event("response.output_item.added",
               weft::format(R"("output_index":{},"item":{})", items_.size() - 1, item_json(begun)));
  if (begun.kind != Item::Kind::call)
    out += event("response.content_part.added", place(true) + ",\"part\":" + part_json(begun));
  return out;
}

// Closes the last item if it is still in progress.
std::string ResponseText::close_item(std::string_view state) {
  Item& item = items_.back();
  if (item.state != "in_progress") return {};
  item.state = state;
  std::string out;
  if (item.kind == Item::Kind::call) {
    out = event("response.function_call_arguments.done",
                weft::format(R"({},"name":{},"arguments":{})", place(false), json::quote(item.name),
                             json::quote(item.text)));
  } else {
    const bool message = item.kind == Item::Kind::message;
    out = event(message ? "response.output_text.done" : "response.reasoning_text.done",
                weft::format(R"({},"text":{}{})", place(true), json::quote(item.text),
                             message ? R"(,"logprobs":[])" : ""));
    out += event("response.content_part.done", place(true) + ",\"part\":" + part_json(item));
  }
  return out + event("response.output_item.done", weft::format(R"("output_index":{},"item":{})",
                                                               items_.size() - 1, item_json(item)));
}

std::string ResponseText::grow(Item::Kind kind, const std::string& text) {
  if (text.empty()) return {};
  std::string out;
  if (items_.empty() || items_.back().kind != kind || items_.back().state != "in_progress") {
    const bool message = kind == Item::Kind::message;
    out = open_item({.kind = kind,
                     .id = weft::format("{}_{}{:02}", message ? "msg" : "rs",
                                        response_->id.substr(5), items_.size()),
                     .text = {}});
  }
  items_.back().text += text;
  const bool message = kind == Item::Kind::message;
  return out + event(message ? "response.output_text.delta" : "response.reasoning_text.delta",
                     weft::format(R"({},"delta":{}{})", place(true), json::quote(text),
                                  message ? R"(,"logprobs":[])" : ""));
}

std::string ResponseText::add_call(const tools::Piece& piece) {
  const std::string number = weft::format("{:02}", items_.size());
  // A call's id has nine letters and digits, because the templates of some models refuse longer
  // ids.
  std::string out = open_item({.kind = Item::Kind::call,
                               .id = "fc_" + response_->id.substr(5) + number,
                               .text = {},
                               .call_id = response_->id.substr(5, 7) + number,
                               .name = piece.name});
  items_.back().text = piece.arguments;
  out += event("response.function_call_arguments.delta",
               weft::format(R"({},"delta":{})", place(false), json::quote(piece.arguments)));
  return out + close_item("completed");
}

std::string ResponseText::keep(const std::vector<tools::Piece>& pieces) {
  std::string out;
  for (const tools::Piece& piece : pieces) {
    thinks_ = piece.kind == tools::Piece::Kind::thought;
    switch (piece.kind) {
      case tools::Piece::Kind::thought:
        out += grow(Item::Kind::thought, piece.text);
        break;
      case tools::Piece::Kind::text:
      // A cut call is kept as text; the status says that it was cut off.
      case tools::Piece::Kind::cut:
        out += grow(Item::Kind::message, piece.text);
        break;
      case tools::Piece::Kind::call:
        out += add_call(piece);
        break;
    }
  }
  return out;
}

std::string ResponseText::tokens(std::size_t, const std::vector<SaidToken>& tokens) {
  std::string out;
  for (const SaidToken& token : tokens) {
    out += keep(parser_.push(token.text));
    if (thinks_) ++thought_tokens_;
  }
  return out;
}

std::string ResponseText::end(std::size_t, const inference::AnswerEnd& end) {
  end_ = end;
  const bool whole = end.reason == "eos" || end.reason == "stop";
  std::string out = keep(parser_.finish(whole));
  if (!items_.empty()) out += close_item(whole ? "completed" : "incomplete");
  ended_ = true;
  store();
  return out;
}

// --- The document of the whole response.

void ResponseText::store() {
  if (!response_->store || response_->kept == nullptr || end_.reason == "failed" ||
      end_.reason == "cancelled")
    return;
  ItemMessages answer;
  for (const Item& item : items_) {
    if (item.kind == Item::Kind::message) answer.add("assistant", item.text);
    if (item.kind == Item::Kind::call) answer.add_call(item.call_id, item.name, item.text);
  }
  std::string messages = response_->messages;
  if (const std::string more = answer.take(); !more.empty()) messages += "," + more;
  stored_ = true;
  const auto kept = response_->kept->put(response_->id,
                                         {.owner = response_->owner,
                                          .document = response_json(),
                                          .messages = std::move(messages),
                                          .conversation = conversation_},
                                         now());
  if (kept) return;
  stored_ = false;
  log_info("A response is not stored: {}", kept.error().message);
}

std::string_view ResponseText::status() const {
  if (!ended_) return "in_progress";
  if (end_.reason == "failed") return "failed";
  return end_.reason == "length" || end_.reason == "cancelled" ? "incomplete" : "completed";
}

std::string ResponseText::response_json() const {
  const ResponseRequest& asked = *response_;
  std::string output;
  if (ended_) {
    for (const Item& item : items_) output += (output.empty() ? "" : ",") + item_json(item);
  }
  std::string usage = "null", error = "null", incomplete = "null", network = "null";
  if (ended_) {
    usage = weft::format(
        R"({{"input_tokens":{},"input_tokens_details":{{"cached_tokens":{}}},"output_tokens":{},"output_tokens_details":{{"reasoning_tokens":{}}},"total_tokens":{}}})",
        end_.prompt_tokens, end_.cached_tokens, end_.answer_tokens,
        std::min<std::uint64_t>(thought_tokens_, end_.answer_tokens),
        end_.prompt_tokens + end_.answer_tokens);
    network = network_json(end_);
    if (end_.reason == "failed")
      error = weft::format(R"({{"code":"server_error","message":{}}})",
                           json::quote(end_.error.message));
    if (status() == "incomplete")
      incomplete = weft::format(R"({{"reason":"{}"}})",
                                end_.reason == "length" ? "max_output_tokens" : "cancelled");
  }
  return weft::format(
      R"({{"id":"{}","object":"response","created_at":{},"status":"{}","background":false,"error":{},"incomplete_details":{},)"
      R"("instructions":{},"max_output_tokens":{},"model":{},"output":[{}],"parallel_tool_calls":{},"previous_response_id":{},)"
      R"("reasoning":{{"effort":null,"summary":null}},"store":{},"temperature":{},"text":{},"tool_choice":{},"tools":{},)"
      R"("top_p":{},"truncation":"disabled","usage":{},"metadata":{},"weft":{}}})",
      asked.id, created_, status(), error, incomplete, asked.instructions_json,
      asked.tokens_max ? std::to_string(*asked.tokens_max) : "null", json::quote(model_), output,
      asked.parallel, asked.previous.empty() ? "null" : json::quote(asked.previous),
      ended_ ? stored_ : asked.store, temperature_, asked.text_json, asked.tool_choice_json,
      asked.tools_json, top_p_, usage, asked.metadata_json, network);
}

std::string ResponseText::close() {
  if (!stream_) return {};
  const std::string_view type = status() == "failed"       ? "response.failed"
                                : status() == "incomplete" ? "response.incomplete"
                                                           : "response.completed";
  return event(type, "\"response\":" + response_json());
}

std::string ResponseText::document() { return response_json(); }

}  // namespace weft::coordinator
