// Serves requests of clients to models, from the text of the prompts to the last token: reads and
// checks the prompts, asks the desk for each answer, and writes the tokens of workers to the
// client. An answer that must be verified is held back until its audit is settled.
//
// Threading: answer() from any thread, setters before the thread of inference starts, all else on
// that thread. Lifetime: the parts outlive it. Errors: sent to the client. Every answer with an id
// is reported to the records exactly once.
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
    std::string activations;        // The operator's number format (inference/arithmetic.h).
    bool newcomers_answer = false;  // See inference::DeskSettings::newcomers_answer.
  };
  explicit Completions(Parts parts) : parts_(std::move(parts)) {}
  Completions(const Completions&) = delete;

  // Sets the reader of prompts and tokens, which must live as long as this object. Without a reader
  // no request can be answered.
  void set_texts(ModelTexts& texts) { texts_ = &texts; }

  void answer(OpenAiRequest request, const net::IncomingRequest& from, net::Respond respond,
              ChargedAnswers charged);

  // True while clients wait for answers of workers.
  [[nodiscard]] bool any() const { return !open_.empty(); }
  // Cancels the answers of clients that have disconnected.
  void drop_gone(inference::Desk& desk, Instant now);

  // Takes new tokens of a request from the desk.
  void tokens(inference::RequestId request, const std::vector<protocol::serving::Token>& tokens);
  // True if the tokens so far end for the reason that a worker reports: "eos" or "stop".
  [[nodiscard]] bool ends_so(inference::RequestId request, std::string_view reason) const;
  void ended(inference::RequestId request, const inference::AnswerEnd& end);

  // Sends an answer that waited for its audit to the client.
  void settled(const billing::AnswerId& answer, billing::AnswerFate fate);
  // Ends all answers because the coordinator stops.
  void end_all();

 private:
  // One client's request with its reply, the ids of its answers, and its content.
  struct Request {
    std::shared_ptr<CompletionReply> reply;
    std::vector<billing::AnswerId> ids;
    OpenAiRequest request;
    // The prompts in order, each to be asked once for each choice. `next` counts the answers that
    // were asked so far.
    ModelTexts::Read read{};
    std::size_t next = 0;
    Instant begun{};
    AnswerTrust trust = AnswerTrust::established;
    [[nodiscard]] std::size_t count() const { return read.prompts.size() * request.choices; }
  };
  using SharedRequest = std::shared_ptr<Request>;
  // One running answer of a client's request.
  struct Open {
    SharedRequest request;
    std::size_t choice = 0;
    std::shared_ptr<AnswerWriter> writer{};
    std::vector<SaidToken> held{};  // Tokens that the client gets after the audit.
    inference::AnswerEnd end{};     // The end, once the answer has ended.
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
  std::map<billing::AnswerId, Open> held_;  // Ended answers that wait for their audit.
};

}  // namespace weft::coordinator
