// The desk (serving/desk.h) at work: a thread that owns it, the workers' sockets on /v1/serve, and
// the answers on their way to clients over HTTP.
//
// Threading: every function from any thread. Lifetime: outlives the server's handlers; stop() ends
// every answer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "apps/coordinator/http/answer_form.h"
#include "apps/coordinator/http/model_registry.h"
#include "apps/coordinator/http/model_texts.h"
#include "apps/coordinator/http/openai.h"
#include "apps/coordinator/http/paged_list.h"
#include "common/base/guarded.h"
#include "decisions/billing/answers.h"
#include "decisions/billing/model_prices.h"
#include "decisions/inference/desk.h"
#include "decisions/jobs/book.h"
#include "platform/net/server.h"

namespace weft::coordinator {

// What a request needs to know of a model before it is asked.
struct ModelTerms {
  MicroCredits price = 0;  // For 1,000 tokens, now.
  std::uint32_t context = 0;
  PublicKey owner = {};  // The client that added it.
};
// A request that was admitted with an API key: an id for each of its answers, and what its reply
// says of the key's rates.
struct ChargedAnswers {
  std::vector<billing::AnswerId> answers;
  std::map<std::string, std::string> headers;
};

// A page of the list of models: at most `limit` after the one of that name, as OpenAI's lists have
// it.
struct ModelPage {
  static constexpr std::size_t limit_max = 1024;  // As many as there can be.
  std::string after;
  std::size_t limit = limit_max;
};

class ModelService final : private inference::DeskWorld {
 public:
  // `models` are those that were added before; `commits` makes changes of them durable, and
  // outlives the service. `checks`: what clients are told of how answers are verified.
  [[nodiscard]] static Result<std::unique_ptr<ModelService>> open(
      store::GroupCommit& commits, std::vector<inference::ModelCard> models, jobs::Book& book,
      inference::DeskSettings settings = {}, billing::AnswerChecks checks = {});
  ~ModelService() override;

  // Told of every answer that has ended, and of audits. Set before start(); called on the
  // service's thread.
  struct Listener {
    std::function<void(billing::AnswerReport)> ended;
    std::function<void(billing::AnswerAudited)> audited;
    std::function<void(billing::AnswerTraced)> traced;
  };
  void listen(Listener listener) { listener_ = std::move(listener); }
  // What reads prompts and knows what tokens say; without it nothing is answered. Set before
  // start(); lives as long as the service.
  void set_texts(ModelTexts& texts) { texts_ = &texts; }
  // Whose key may remove every model, and add any number. Set before start().
  void set_operator(std::string key) { operator_ = std::move(key); }
  // The bound on models of one owner; 0: none. Set before start().
  void set_models_per_owner(std::size_t most) { models_per_owner_max_ = most; }

  void start();
  void stop();

  // On /v1/serve.
  [[nodiscard]] net::SocketRoute socket();

  void answer(OpenAiRequest request, const net::IncomingRequest& from, const net::Respond& respond,
              ChargedAnswers charged = {});
  // Nothing where there is no such model.
  [[nodiscard]] std::optional<ModelTerms> terms(const std::string& model) const;
  // Comes back as Listener::audited, also where the answer is not known any more.
  void audit(const billing::AnswerAuditOrder& order);
  // Comes back as Listener::traced (model_traces.cpp).
  void trace(const billing::AnswerTraceOrder& order);
  // Forgets what an audit would need, and tells an answer that waited for it.
  void settled(const billing::AnswerId& answer, billing::AnswerFate fate);
  // Closes the worker's line; Book says until when it may not come back.
  void bar(const PublicKey& worker);
  void add(inference::ModelCard card, const net::Respond& respond);
  void remove(std::string name, std::string owner, const net::Respond& respond);
  // Those that one of these clients added; and removes them (owner_models.cpp).
  // How many devices of the client's owner have added.
  [[nodiscard]] std::size_t count_of(const PublicKey& client) const;
  [[nodiscard]] std::size_t models_per_owner() const { return models_per_owner_max_; }
  using Cards = std::function<void(Result<std::vector<inference::ModelCard>>)>;
  void models_of(std::vector<std::string> owners, const Cards& done);
  void remove_of(std::vector<std::string> owners, const std::function<void(Result<>)>& done);
  void list(const ModelPage& page, const net::Respond& respond);
  void show(std::string name, const net::Respond& respond);
  void status(const SharedLists::Take& take);
  // Prometheus text.
  void metrics(const std::function<void(std::string)>& done);

 private:
  class Answer;
  using Event = std::function<void(inference::Desk&, Instant)>;
  static constexpr std::size_t events_max = 65536;
  static constexpr std::size_t chains_shown_max = 1000;

  ModelService(ModelRegistry registry, jobs::Book& book, inference::DeskSettings settings,
               billing::AnswerChecks checks);
  [[nodiscard]] bool post(Event event);
  void run();
  void drop_gone(Instant now);
  void set_terms(const inference::ModelCard& card);
  // Whether both keys are of one owner, and `client` may act for it.
  [[nodiscard]] bool acts_for(const std::string& client, const std::string& owner) const;
  // Removes one that is there; durable when it returns.
  [[nodiscard]] Result<> take_out(const std::string& name, inference::Desk& desk, Instant time);
  void report(inference::RequestId request, const inference::AnswerEnd& end);
  // One request under way: its reply, the ids of its answers, and what was asked.
  struct Asking {
    std::shared_ptr<Answer> answer;
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
  void refuse(const Asking& asking, const Error& error);
  void read_prompts(const std::shared_ptr<Asking>& asking);
  void ask(const std::shared_ptr<Asking>& asking, const ModelTexts::Read& read,
           inference::Desk& desk, Instant time);
  void ask_next(const std::shared_ptr<Asking>& asking, inference::Desk& desk, Instant time);
  void give_up(Asking& asking);
  [[nodiscard]] std::string model_json(const inference::ModelCard& card,
                                       std::span<const inference::ServedModel> served) const;

  void send(inference::ServingId session,
            const protocol::serving::ServingCoordinatorMessage& message) override;
  void send_hop(inference::ServingId session, ByteVector frame) override;
  void close(inference::ServingId session, const std::string& reason) override;
  void tokens(inference::RequestId request,
              const std::vector<protocol::serving::Token>& tokens) override;
  void ended(inference::RequestId request, const inference::AnswerEnd& end) override;
  void audited(inference::RequestId request, const inference::AuditEnd& end) override;
  void traced(inference::RequestId request, const inference::TraceEnd& end) override;
  bool is_trusted(const PublicKey& worker) override { return book_.is_known(worker); }
  bool ends_so(inference::RequestId request, std::string_view reason) override;

  ModelRegistry registry_;
  jobs::Book& book_;
  const billing::AnswerChecks checks_;
  const std::string activations_;  // The operator's setting (inference/arithmetic.h).
  const bool newcomers_answer_;    // As inference::DeskSettings.
  inference::Desk desk_;
  struct Place {
    std::shared_ptr<Answer> answer;
    std::size_t choice = 0;
    std::shared_ptr<AnswerWriter> writer{};
    std::shared_ptr<Asking> asking{};
    AnswerTrust trust = AnswerTrust::established;
    std::vector<SaidToken> held{};  // While the answer waits for its audit.
    inference::AnswerEnd end{};     // Once it has one.
  };
  void finish(Place place, inference::AnswerEnd end);
  std::map<inference::ServingId, std::shared_ptr<net::Peer>> peers_;
  std::map<inference::ServingId, PublicKey> joined_;
  std::map<inference::RequestId, Place> answers_;
  std::map<billing::AnswerId, Place> held_;  // Ended, and waiting for their audit.
  inference::RequestId request_ids_ = 0;
  ModelTexts* texts_ = nullptr;
  Listener listener_;
  std::string operator_;
  std::size_t models_per_owner_max_ = 16;
  Guarded<std::map<std::string, ModelTerms>> terms_;
  Guarded<billing::ModelPrices> prices_;
  // What was asked and answered, until it is settled.
  struct Kept {
    billing::AnswerId answer;
    std::string model;
    std::uint32_t embedding = 0;
    bool rounded = false;  // Activations in int8, whose fingerprints differ by more.
    protocol::serving::Ask ask;
    std::uint32_t tokens = 0;  // See AnswerEnd::checked_tokens.
    bool whole = false;
    bool exact = false;  // As AnswerEnd.
    bool must_audit = false;
    bool shadow = false;
    inference::Prints prints{};
    std::optional<inference::Pipeline> pipeline{};
  };
  // Asks newcomers what trusted workers were asked, as if it were a client's question.
  void shadow(const Kept& kept);
  std::map<inference::RequestId, Kept> asked_;
  std::map<billing::AnswerId, Kept> finished_;
  std::map<inference::RequestId, billing::AnswerId> audits_, traces_;

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Event> queue_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace weft::coordinator
