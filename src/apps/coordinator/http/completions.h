// Requests of clients for answers of models, from the prompts' texts to the last token: prompts are
// read, checked and asked of the desk one by one, and what workers send is written to the client.
// An answer that was asked for as verified is held back until its audit has settled it.
//
// Threading: answer() from any thread, setters before the thread of inference starts, all else on
// that thread. Lifetime: the parts outlive it. Errors: told to the client. Every answer that has
// an id is reported to the records exactly once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/coordinator/http/answer_accounts.h"
#include "apps/coordinator/http/completion_records.h"
#include "apps/coordinator/http/completion_reply.h"
#include "apps/coordinator/http/inference_thread.h"
#include "apps/coordinator/http/model_catalog.h"
#include "apps/coordinator/http/model_texts.h"
#include "apps/coordinator/http/openai.h"
#include "decisions/billing/answers.h"
#include "decisions/inference/desk.h"

namespace weft::coordinator {

class Completions {
 public:
  struct Parts {
    InferenceThread& thread;
    const ModelCatalog& models;
    CompletionRecords& records;
    std::string activations;        // The operator's setting (inference/arithmetic.h).
    bool newcomers_answer = false;  // As inference::DeskSettings.
  };
  explicit Completions(Parts parts) : parts_(std::move(parts)) {}
  Completions(const Completions&) = delete;

  // What reads prompts and knows what tokens say; without it nothing is answered. It lives as long
  // as this.
  void set_texts(ModelTexts& texts) { texts_ = &texts; }

  void answer(OpenAiRequest request, const net::IncomingRequest& from, net::Respond respond,
              ChargedAnswers charged);

  // Whether clients wait for answers of workers.
  [[nodiscard]] bool any() const { return !open_.empty(); }
  // Drops what was asked for clients that are gone.
  void drop_gone(inference::Desk& desk, Instant now);

  // What the desk says of requests.
  void tokens(inference::RequestId request, const std::vector<protocol::serving::Token>& tokens);
  // Whether the tokens so far end as a worker says that they do: "eos" or "stop".
  [[nodiscard]] bool ends_so(inference::RequestId request, std::string_view reason) const;
  void ended(inference::RequestId request, const inference::AnswerEnd& end);

  // Tells an answer that waited for its audit.
  void settled(const billing::AnswerId& answer, billing::AnswerFate fate);
  // Ends every answer: the coordinator is being stopped.
  void end_all();

 private:
  // One client's request: its reply, the ids of its answers, and what was asked.
  struct Request {
    std::shared_ptr<CompletionReply> reply;
    std::vector<billing::AnswerId> ids;
    OpenAiRequest request;
    // What is asked: each prompt as often as the request has choices, in order, `next` being the
    // first that was not asked yet.
    ModelTexts::Read read{};
    std::size_t next = 0;
    Instant begun{};
    AnswerTrust trust = AnswerTrust::established;
    [[nodiscard]] std::size_t count() const { return read.prompts.size() * request.choices; }
  };
  using SharedRequest = std::shared_ptr<Request>;
  // One of its answers.
  struct Open {
    SharedRequest request;
    std::size_t choice = 0;
    std::shared_ptr<AnswerWriter> writer{};
    std::vector<SaidToken> held{};  // While the answer waits for its audit.
    inference::AnswerEnd end{};     // Once it has one.
  };

  void refuse(const Request& request, const Error& error);
  void read_prompts(const SharedRequest& request);
  void begin(const SharedRequest& request, const ModelTexts::Read& read, inference::Desk& desk,
             Instant now);
  void tell_look(const Request& request, const Told& told);
  [[nodiscard]] Result<> check(Request& request, const ModelTexts::Read& read,
                               const inference::Desk& desk) const;
  void ask_next(const SharedRequest& request, inference::Desk& desk, Instant now);
  void give_up(Request& request);
  void finish(Open open, const inference::AnswerEnd& end);

  const Parts parts_;
  ModelTexts* texts_ = nullptr;
  std::map<inference::RequestId, Open> open_;
  std::map<billing::AnswerId, Open> held_;  // Ended, and waiting for their audit.
};

}  // namespace weft::coordinator
