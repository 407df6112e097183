// The reply to a client that asked a model, for one choice or several: a stream that is written as
// tokens come, or one document at the end. A request that fails before any output gets an HTTP
// error status, or is passed to a fallback endpoint (OpenAiRequest::otherwise).
//
// Threading: one thread; the server hands over the stream on one of its threads (late_stream.h).
// Errors: sent to the client in the interface's format, never returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/coordinator/http/answer_form.h"
#include "apps/coordinator/http/late_stream.h"
#include "apps/coordinator/http/openai.h"
#include "platform/net/http.h"

namespace weft::coordinator {

class CompletionReply {
 public:
  struct Client {
    std::function<bool()> connected{};  // Empty: the client is always connected.
    net::Respond respond;
    std::map<std::string, std::string> headers{};  // Headers that every reply gets.
  };
  // `created` is in seconds since 1970.
  CompletionReply(const OpenAiRequest& request, Client client, std::int64_t created);

  // True while the client is connected.
  [[nodiscard]] bool is_wanted() const;
  // Takes the result of a look (a request without generation, looks.h). Called before end().
  void tell(Told told) { form_->tell(std::move(told)); }
  void tokens(std::size_t choice, const std::vector<SaidToken>& tokens);
  // Ends one choice. Returns true if this ends the reply, because the choice was the last one or
  // because the request failed before any output.
  [[nodiscard]] bool end(std::size_t choice, const inference::AnswerEnd& end);

 private:
  [[nodiscard]] std::string param_of(const Error& error) const;
  [[nodiscard]] net::Reply with_headers(net::Reply reply) const;
  void respond(net::Reply reply);
  void begin();

  const std::unique_ptr<AnswerForm> form_;
  const bool streams_;
  const std::string held_by_;  // The request's key that constrains the answer.
  std::size_t left_;           // Choices that have not ended.
  Client client_;              // `respond` is empty after it was called.
  bool begun_ = false;
  const std::function<void(const Error& why, net::Respond respond)> otherwise_;
  const std::shared_ptr<LateStream> stream_ = std::make_shared<LateStream>();
};

}  // namespace weft::coordinator
