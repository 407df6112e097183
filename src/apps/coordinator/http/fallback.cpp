#include "apps/coordinator/http/fallback.h"

#include <algorithm>
#include <array>

#include "apps/coordinator/http/late_stream.h"
#include "apps/coordinator/http/openai.h"
#include "apps/coordinator/http/openai_reading.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "common/json/json.h"
#include "common/json/quote.h"
#include "platform/net/streamed_request.h"

namespace weft::coordinator {

namespace {

constexpr std::string_view header = "weft-fallback";
constexpr std::string_view event_begin = "data: {";

std::string member(const std::string& mark, char next) {
  return weft::format(R"("weft_fallback":{}{})", mark, next == '}' ? "" : ",");
}

bool streams(const net::Response& head) {
  const auto type = head.headers.find("content-type");
  return type != head.headers.end() && type->second.starts_with("text/event-stream");
}

}  // namespace

Result<std::string> without_terms(std::string_view body) {
  constexpr std::array<std::string_view, 3> own{"fallback", "max_price", "deadline_ms"};
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = reading::body_bytes_max}));
  WEFT_ASSIGN(const auto members, root.members({.count_max = 256}));
  std::string out;
  for (const auto& [key, value] : members) {
    if (std::ranges::contains(own, key)) continue;
    out += (out.empty() ? "" : ",") + json::quote(key) + ":";
    out += value.text();
  }
  return "{" + out + "}";
}

std::string EventMarker::take(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    if (passing_) {
      out += c;
      passing_ = c != '\n';
      continue;
    }
    line_ += c;
    if (c == '\n') {
      out += std::exchange(line_, {});
    } else if (line_.size() > event_begin.size()) {
      // The byte after the brace tells whether the document is empty.
      line_.insert(event_begin.size(), member(mark_, c));
      out += std::exchange(line_, {});
      passing_ = true;
    } else if (!event_begin.starts_with(line_)) {
      out += std::exchange(line_, {});
      passing_ = true;
    }
  }
  return out;
}

std::string marked_document(std::string_view document, const std::string& mark) {
  const std::size_t brace = document.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || document[brace] != '{') return std::string(document);
  const std::size_t next = document.find_first_not_of(" \t\r\n", brace + 1);
  std::string out(document);
  if (next != std::string_view::npos) out.insert(brace + 1, member(mark, document[next]));
  return out;
}

Result<std::unique_ptr<Fallback>> Fallback::create(Options options) {
  WEFT_ASSIGN(net::Url url, net::Url::parse(options.url));
  return std::unique_ptr<Fallback>(new Fallback(std::move(url), std::move(options)));
}

Fallback::~Fallback() { ending_ = true; }

void Fallback::answer(FallbackRequest request, const Error& why, const net::Respond& respond) {
  const bool queued = pool_.post(
      ++asked_, [this, request = std::move(request), why, respond] { ask(request, why, respond); });
  if (!queued) respond(openai_error(why));
}

void Fallback::ask(const FallbackRequest& request, const Error& why, const net::Respond& respond) {
  const auto wanted = [this, &request] {
    return !ending_ && (!request.connected || request.connected());
  };
  auto body = without_terms(request.body);
  if (!body) return respond(openai_error(body.error()));
  net::Request asked = net::post(request.path, std::move(*body));
  if (!options_.key.empty()) asked = net::with_bearer(std::move(asked), options_.key);
  const std::string by = url_.authority();
  const std::string mark =
      weft::format(R"({{"by":{},"why":{}}})", json::quote(by), json::quote(why.message));

  std::shared_ptr<LateStream> stream;
  EventMarker marker(mark);
  std::string document;
  const auto begun = [&](const net::Response& head) {
    if (!streams(head)) return;
    stream = std::make_shared<LateStream>();
    net::Reply reply{.headers = {{"content-type", "text/event-stream; charset=utf-8"},
                                 {"cache-control", "no-cache"},
                                 {std::string(header), by}}};
    reply.stream = [stream](std::shared_ptr<net::ReplyStream> out) {
      stream->take(std::move(out));
    };
    respond(std::move(reply));
  };
  const auto take = [&](std::string_view bytes) {
    if (stream) {
      stream->write(marker.take(bytes));
      return true;
    }
    document += bytes;
    return document.size() <= document_bytes_max;
  };
  const auto answer = net::send_streamed(url_, options_.tls, asked,
                                         {.begun = begun, .bytes = take, .wanted = wanted});
  if (stream) {
    stream->write(marker.finish());
    if (!answer)
      stream->write(
          "data: " +
          openai_error_json(
              {ErrorCode::unavailable,
               weft::format("The answer of the fallback {} ended before it was complete.", by)}) +
          "\n\n");
    return stream->finish();
  }
  // An error of the operator's key at the endpoint is not shown to the client.
  const bool refused = answer && (answer->status == 401 || answer->status == 403);
  if (!answer || refused || answer->status >= 500) {
    log_warning("The fallback {} did not answer: {}", by,
                answer ? weft::format("status {}", answer->status) : answer.error().message);
    Error error{why.code,
                weft::format("{} The fallback {} did not answer either.", why.message, by)};
    net::Reply reply = openai_error(error);
    reply.headers[std::string(header)] = by;
    return respond(std::move(reply));
  }
  net::Reply reply = net::json_reply(answer->status,
                                     marked_document(answer->ok() ? document : answer->body, mark));
  reply.headers[std::string(header)] = by;
  respond(std::move(reply));
}

}  // namespace weft::coordinator
