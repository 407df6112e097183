// Language models as the coordinator serves them: the desk (decisions/inference/desk.h) on a thread
// of its own, with the workers' sockets (serving_sockets.h), the catalog of models
// (model_catalog.h), requests of clients (completions.h) and what audits need
// (completion_records.h). This class hands events to that thread and the desk's effects to these
// parts.
//
// Threading: every function from any thread; setters and listen() before start(). Lifetime:
// outlives the server's handlers; stop() ends every answer. Errors: told to the client, unavailable
// if too much waits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/coordinator/http/completion_records.h"
#include "apps/coordinator/http/completions.h"
#include "apps/coordinator/http/inference_thread.h"
#include "apps/coordinator/http/model_catalog.h"
#include "apps/coordinator/http/paged_list.h"
#include "apps/coordinator/http/serving_sockets.h"
#include "decisions/inference/desk.h"
#include "decisions/jobs/book.h"
#include "platform/net/server.h"

namespace weft::coordinator {

class ModelService final : private inference::DeskWorld {
 public:
  // `models` are those that were added before; `commits` makes changes of them durable, and
  // outlives the service. `checks`: what clients are told of how answers are verified.
  [[nodiscard]] static Result<std::unique_ptr<ModelService>> open(
      store::GroupCommit& commits, std::vector<inference::ModelCard> models, jobs::Book& book,
      inference::DeskSettings settings = {}, billing::AnswerChecks checks = {});
  ~ModelService() override;

  // Told of every answer that has ended, and of audits, on the service's thread.
  void listen(CompletionRecords::Listener listener) { records_.listen(std::move(listener)); }
  // What reads prompts and knows what tokens say; without it nothing is answered. Lives as long as
  // the service.
  void set_texts(ModelTexts& texts) { completions_.set_texts(texts); }
  // Whose key may remove every model, and add any number.
  void set_operator(std::string key) { catalog_.set_operator(std::move(key)); }
  // The bound on models of one owner; 0: none.
  void set_models_per_owner(std::size_t most) { catalog_.set_models_per_owner(most); }

  void start();
  void stop() { thread_.stop(); }

  // On /v1/serve.
  [[nodiscard]] net::SocketRoute socket() { return sockets_.route(); }

  void answer(OpenAiRequest request, const net::IncomingRequest& from, const net::Respond& respond,
              ChargedAnswers charged = {});
  // Comes back as Listener::audited, also where the answer is not known any more.
  void audit(const billing::AnswerAuditOrder& order);
  // Forgets what an audit would need, and tells an answer that waited for it.
  void settled(const billing::AnswerId& answer, billing::AnswerFate fate);
  // Closes the worker's connection; Book says until when it may not come back.
  void bar(const PublicKey& worker);

  // Terms and bounds of models.
  [[nodiscard]] const ModelCatalog& catalog() const { return catalog_; }
  void add(inference::ModelCard card, const net::Respond& respond);
  void remove(std::string name, std::string owner, const net::Respond& respond);
  // The models that one of these clients added; and removes them.
  using Cards = std::function<void(Result<std::vector<inference::ModelCard>>)>;
  void models_of(std::vector<std::string> owners, const Cards& done);
  void remove_of(std::vector<std::string> owners, const std::function<void(Result<>)>& done);
  void list(const ModelPage& page, const net::Respond& respond);
  void show(std::string name, const net::Respond& respond);

  // What serves models now, as model_documents.h writes it.
  void status(const SharedLists::Take& take);
  void metrics(const std::function<void(std::string)>& done);

 private:
  ModelService(ModelRegistry registry, jobs::Book& book, inference::DeskSettings settings,
               billing::AnswerChecks checks);
  [[nodiscard]] std::string json_of(const inference::ModelCard& card,
                                    std::span<const inference::ServedModel> served,
                                    Instant now) const;

  // DeskWorld: each effect by the part that has it.
  void send(inference::ServingId session,
            const protocol::serving::ServingCoordinatorMessage& message) override;
  void send_hop(inference::ServingId session, ByteVector frame) override;
  void close(inference::ServingId session, const std::string& reason) override;
  void tokens(inference::RequestId request,
              const std::vector<protocol::serving::Token>& tokens) override;
  void ended(inference::RequestId request, const inference::AnswerEnd& end) override;
  void audited(inference::RequestId request, const inference::AuditEnd& end) override;
  bool is_trusted(const PublicKey& worker) override { return book_.is_known(worker); }
  bool ends_so(inference::RequestId request, std::string_view reason) override;

  jobs::Book& book_;
  const billing::AnswerChecks checks_;
  const std::string activations_;  // The operator's setting (inference/arithmetic.h).
  InferenceThread thread_;         // Stopped by the destructor before anything else.
  ModelCatalog catalog_;
  inference::Desk desk_;
  CompletionRecords records_;
  Completions completions_;
  ServingSockets sockets_;
};

}  // namespace weft::coordinator
