// The reply to one client that asked a model, for one choice or several: a stream that is written
// as tokens come, or one document at the end. A request that fails before anything was said gets
// an HTTP status that tells so; another endpoint may answer it instead (OpenAiRequest::otherwise).
//
// Threading: one thread; the stream is handed over on one of the server's (late_stream.h).
// Errors: told to the client as the interface's documents, never returned.
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
    std::function<bool()> connected{};  // Nothing: it is always there.
    net::Respond respond;
    std::map<std::string, std::string> headers{};  // Every reply has them.
  };
  // `created` in seconds since 1970.
  CompletionReply(const OpenAiRequest& request, Client client, std::int64_t created);

  // Whether the client is still there.
  [[nodiscard]] bool is_wanted() const;
  // What a look found, before its end.
  void tell(Told told) { form_->tell(std::move(told)); }
  void tokens(std::size_t choice, const std::vector<SaidToken>& tokens);
  // The end of one choice; true if the reply has ended with it: it was the last one, or the request
  // failed before anything was said.
  [[nodiscard]] bool end(std::size_t choice, const inference::AnswerEnd& end);

 private:
  [[nodiscard]] std::string param_of(const Error& error) const;
  [[nodiscard]] net::Reply with_headers(net::Reply reply) const;
  void respond(net::Reply reply);
  void begin();

  const std::unique_ptr<AnswerForm> form_;
  const bool streams_;
  const std::string held_by_;  // The request's key that says what the answer is held to.
  std::size_t left_;           // Choices that have not ended.
  Client client_;              // `respond` is empty once it was called.
  bool begun_ = false;
  const std::function<void(const Error& why, net::Respond respond)> otherwise_;
  const std::shared_ptr<LateStream> stream_ = std::make_shared<LateStream>();
};

}  // namespace weft::coordinator
