#include "apps/coordinator/http/completion_reply.h"

#include <utility>

namespace weft::coordinator {

namespace {

// True if a valid request failed only because the network could not serve it, so that no worker has
// begun the answer.
bool is_for_others(const inference::AnswerEnd& end) {
  if (end.shards > 0) return false;
  const ErrorCode code = end.error.code;
  return code == ErrorCode::unavailable || code == ErrorCode::deadline_exceeded ||
         (code == ErrorCode::resource_exhausted && !end.error.message.contains("context"));
}

}  // namespace

CompletionReply::CompletionReply(const OpenAiRequest& request, Client client, std::int64_t created)
    : form_(make_answer_form(request, created)),
      streams_(request.stream),
      held_by_(request.held_by),
      left_(form_->choices()),
      client_(std::move(client)),
      otherwise_(request.otherwise) {}

bool CompletionReply::is_wanted() const { return !client_.connected || client_.connected(); }

void CompletionReply::tokens(std::size_t choice, const std::vector<SaidToken>& tokens) {
  // A stream must begin before form_ makes its next text.
  if (streams_) begin();
  const std::string bits = form_->tokens(choice, tokens);
  if (streams_) stream_->write(bits);
}

bool CompletionReply::end(std::size_t choice, const inference::AnswerEnd& end) {
  if (end.reason == "failed" && !begun_ && client_.respond) {
    begun_ = true;
    if (otherwise_ && is_for_others(end)) {
      otherwise_(end.error, std::exchange(client_.respond, nullptr));
    } else {
      // The HTTP status can report the error, because no byte of the reply was sent yet. The reply
      // ends without the other choices.
      respond(openai_error(end.error, param_of(end.error), end.trust));
    }
    return true;
  }
  if (streams_ && client_.respond) begin();
  const std::string bits = form_->end(choice, end);
  if (streams_) stream_->write(bits);
  if (--left_ > 0) return false;
  if (streams_) {
    stream_->write(form_->close());
    stream_->finish();
  } else if (client_.respond) {
    net::Reply reply = net::json_reply(200, form_->document());
    if (!end.trust.empty()) reply.headers["x-weft-trust"] = end.trust;
    respond(std::move(reply));
  }
  return true;
}

// The request's key that an error is about. Only workers read the format and rule of an answer, so
// an error without a key in its message is about the key that constrains the answer (held_by_).
std::string CompletionReply::param_of(const Error& error) const {
  if (error.code == ErrorCode::deadline_exceeded) return "deadline_ms";
  if (error.message.starts_with("model: ")) return "model";
  if (error.message.starts_with("dimensions: ")) return "dimensions";
  const bool refused =
      error.code == ErrorCode::invalid_argument || error.code == ErrorCode::unsupported;
  return refused ? held_by_ : std::string();
}

net::Reply CompletionReply::with_headers(net::Reply reply) const {
  reply.headers.insert(client_.headers.begin(), client_.headers.end());
  return reply;
}

void CompletionReply::respond(net::Reply reply) {
  std::exchange(client_.respond, nullptr)(with_headers(std::move(reply)));
}

void CompletionReply::begin() {
  if (std::exchange(begun_, true)) return;
  net::Reply reply{.headers = {{"content-type", "text/event-stream; charset=utf-8"},
                               {"cache-control", "no-cache"}}};
  reply.stream = [late = stream_](std::shared_ptr<net::ReplyStream> stream) {
    late->take(std::move(stream));
  };
  respond(std::move(reply));
  stream_->write(form_->begin());
}

}  // namespace weft::coordinator
