// The service of language models: the desk (decisions/inference/desk.h) on a thread of its own, the
// workers' sockets (serving_sockets.h), the catalog of models (model_catalog.h), requests of
// clients (completions.h), and the records for audits (completion_records.h). This class passes
// events to that thread; its parts are private to its source file.
//
// Threading: every function from any thread; setters and listen() before start(). Lifetime:
// outlives the server's handlers; stop() ends every answer. Errors: sent to the client; unavailable
// if too many events wait.
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
  // Opens the service with the models that are stored. `commits` makes changes of models durable
  // and must outlive the service. `checks` tells clients how answers are verified.
  [[nodiscard]] static Result<std::unique_ptr<ModelService>> open(
      store::GroupCommit& commits, std::vector<inference::ModelCard> models, jobs::Book& book,
      inference::DeskSettings settings = {}, billing::AnswerChecks checks = {});
  ~ModelService();
  ModelService(const ModelService&) = delete;

  // Sets the callbacks for ended answers and for results of audits. They run on the service's
  // thread.
  void listen(AnswerListener listener);
  // Sets the reader of prompts and tokens, which must live as long as the service. Without a reader
  // no request can be answered.
  void set_texts(ModelTexts& texts);
  // Sets the operator's key, which may add any number of models and remove every model.
  void set_operator(std::string key);
  // Bounds the models of one owner; 0 removes the bound.
  void set_models_per_owner(std::size_t most);

  void start();
  void stop();

  // The WebSocket route /v1/serve for workers.
  [[nodiscard]] net::SocketRoute socket();

  void answer(OpenAiRequest request, const net::IncomingRequest& from, const net::Respond& respond,
              ChargedAnswers charged = {});
  // Audits an answer. The result is reported with AnswerListener::audited, even if no record of the
  // answer exists any more.
  void audit(const billing::AnswerAuditOrder& order);
  // Searches the guilty stage of a refuted answer. The result is reported with
  // AnswerListener::traced, even if no record of the answer exists any more.
  void trace(const billing::AnswerTraceOrder& order);
  // Forgets an answer's record, and sends the answer to its client if it waited for an audit.
  void settled(const billing::AnswerId& answer, billing::AnswerFate fate);
  // Closes the worker's connection. The Book records how long the worker may not come back.
  void bar(const PublicKey& worker);

  // The catalog with the terms and bounds of models.
  [[nodiscard]] const ModelCatalog& catalog() const;
  void add(inference::ModelCard card, const net::Respond& respond);
  void remove(std::string name, std::string owner, const net::Respond& respond);
  // models_of() lists the models that any of `owners` added; remove_of() removes them.
  using Cards = std::function<void(Result<std::vector<inference::ModelCard>>)>;
  void models_of(std::vector<std::string> owners, const Cards& done);
  void remove_of(std::vector<std::string> owners, const std::function<void(Result<>)>& done);
  // Calls `done` with the model's card, or not_found if the model does not exist.
  void find(std::string name, const std::function<void(Result<inference::ModelCard>)>& done);
  void list(const ModelPage& page, const net::Respond& respond);
  void show(std::string name, const net::Respond& respond);

  // Calls `take` with the list of /v1/serving (model_documents.h).
  void status(const SharedLists::Take& take);
  void metrics(const std::function<void(std::string)>& done);

 private:
  class Parts;
  explicit ModelService(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace weft::coordinator
