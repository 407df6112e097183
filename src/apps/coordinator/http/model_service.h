// Language models as the coordinator serves them: the desk (decisions/inference/desk.h) on a thread
// of its own, with the workers' sockets (serving_sockets.h), the catalog of models
// (model_catalog.h), requests of clients (completions.h) and what audits need
// (completion_records.h). This class hands events to that thread; its parts are private to its
// source.
//
// Threading: every function from any thread; setters and listen() before start(). Lifetime:
// outlives the server's handlers; stop() ends every answer. Errors: told to the client, unavailable
// if too much waits.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/coordinator/http/answer_accounts.h"
#include "apps/coordinator/http/openai.h"
#include "apps/coordinator/http/paged_list.h"
#include "decisions/inference/desk.h"
#include "decisions/jobs/book.h"
#include "platform/net/server.h"
#include "platform/store/group_commit.h"

namespace weft::coordinator {

class ModelCatalog;
struct ModelPage;

class ModelService {
 public:
  // `models` are those that were added before; `commits` makes changes of them durable, and
  // outlives the service. `checks`: what clients are told of how answers are verified.
  [[nodiscard]] static Result<std::unique_ptr<ModelService>> open(
      store::GroupCommit& commits, std::vector<inference::ModelCard> models, jobs::Book& book,
      inference::DeskSettings settings = {}, billing::AnswerChecks checks = {});
  ~ModelService();
  ModelService(const ModelService&) = delete;

  // Told of every answer that has ended, and of audits, on the service's thread.
  void listen(AnswerListener listener);
  // What reads prompts and knows what tokens say; without it nothing is answered. Lives as long as
  // the service.
  void set_texts(ModelTexts& texts);
  // Whose key may remove every model, and add any number.
  void set_operator(std::string key);
  // The bound on models of one owner; 0: none.
  void set_models_per_owner(std::size_t most);

  void start();
  void stop();

  // On /v1/serve.
  [[nodiscard]] net::SocketRoute socket();

  void answer(OpenAiRequest request, const net::IncomingRequest& from, const net::Respond& respond,
              ChargedAnswers charged = {});
  // Comes back as AnswerListener::audited, also where the answer is not known any more.
  void audit(const billing::AnswerAuditOrder& order);
  // Comes back as AnswerListener::traced, also where the answer is not known any more.
  void trace(const billing::AnswerTraceOrder& order);
  // Forgets what an audit would need, and tells an answer that waited for it.
  void settled(const billing::AnswerId& answer, billing::AnswerFate fate);
  // Closes the worker's connection; Book says until when it may not come back.
  void bar(const PublicKey& worker);

  // Terms and bounds of models.
  [[nodiscard]] const ModelCatalog& catalog() const;
  void add(inference::ModelCard card, const net::Respond& respond);
  void remove(std::string name, std::string owner, const net::Respond& respond);
  // The models that one of these clients added; and removes them.
  using Cards = std::function<void(Result<std::vector<inference::ModelCard>>)>;
  void models_of(std::vector<std::string> owners, const Cards& done);
  void remove_of(std::vector<std::string> owners, const std::function<void(Result<>)>& done);
  // Its card; not_found if there is no such model.
  void find(std::string name, const std::function<void(Result<inference::ModelCard>)>& done);
  void list(const ModelPage& page, const net::Respond& respond);
  void show(std::string name, const net::Respond& respond);

  // What serves models now, as model_documents.h writes it.
  void status(const SharedLists::Take& take);
  void metrics(const std::function<void(std::string)>& done);

 private:
  class Parts;
  explicit ModelService(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace weft::coordinator
