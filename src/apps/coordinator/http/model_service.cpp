#include "apps/coordinator/http/model_service.h"

#include <algorithm>
#include <utility>

#include "apps/coordinator/http/completion_records.h"
#include "apps/coordinator/http/completions.h"
#include "apps/coordinator/http/inference_thread.h"
#include "apps/coordinator/http/model_catalog.h"
#include "apps/coordinator/http/model_documents.h"
#include "apps/coordinator/http/serving_sockets.h"
#include "common/base/format.h"
#include "common/json/quote.h"
#include "decisions/inference/arithmetic.h"
#include "decisions/inference/onnx_interface.h"

namespace weft::coordinator {

// The desk and the parts that carry out its effects: each effect is passed to the part that handles
// it.
class ModelService::Parts final : private inference::DeskWorld {
 public:
  Parts(ModelRegistry registry, jobs::Book& of_workers, inference::DeskSettings settings,
        billing::AnswerChecks audits)
      : book(of_workers),
        checks(audits),
        activations(settings.activations),
        catalog(std::move(registry), of_workers),
        desk(*this, settings),
        records(thread, desk),
        completions({.thread = thread,
                     .models = catalog,
                     .records = records,
                     .activations = settings.activations,
                     .newcomers_answer = settings.newcomers_answer}),
        sockets(thread, of_workers) {
    catalog.load(desk, now());
  }

  void start() {
    thread.start(desk, {.clients_wait = [this] { return completions.any(); },
                        .look = [this](Instant now) { completions.drop_gone(desk, now); },
                        .end = [this] { completions.end_all(); }});
  }
  [[nodiscard]] std::string json_of(const inference::ModelCard& card,
                                    std::span<const inference::ServedModel> served,
                                    Instant now) const;

 private:
  void send(inference::ServingId session,
            const protocol::serving::ServingCoordinatorMessage& message) override {
    sockets.send(session, message);
  }
  void send_hop(inference::ServingId session, ByteVector frame) override {
    sockets.send_hop(session, std::move(frame));
  }
  void close(inference::ServingId session, const std::string& reason) override {
    sockets.close(session, reason);
  }
  void tokens(inference::RequestId request,
              const std::vector<protocol::serving::Token>& tokens) override {
    completions.tokens(request, tokens);
  }
  void ended(inference::RequestId request, const inference::AnswerEnd& end) override {
    completions.ended(request, end);
  }
  void audited(inference::RequestId request, const inference::AuditEnd& end) override {
    records.audited(request, end);
  }
  void traced(inference::RequestId request, const inference::TraceEnd& end) override {
    records.traced(request, end);
  }
  bool is_trusted(const PublicKey& worker) override { return book.is_known(worker); }
  bool is_root(const PublicKey& worker) override { return book.is_root(worker); }
  bool ends_so(inference::RequestId request, std::string_view reason) override {
    return completions.ends_so(request, reason);
  }

 public:
  jobs::Book& book;
  const billing::AnswerChecks checks;
  const std::string activations;  // The operator's number format (inference/arithmetic.h).
  InferenceThread thread;         // Stopped before any other part ends.
  ModelCatalog catalog;
  inference::Desk desk;
  CompletionRecords records;
  Completions completions;
  ServingSockets sockets;
};

Result<std::unique_ptr<ModelService>> ModelService::open(store::GroupCommit& commits,
                                                         std::vector<inference::ModelCard> models,
                                                         jobs::Book& book,
                                                         inference::DeskSettings settings,
                                                         billing::AnswerChecks checks) {
  WEFT_ASSIGN(ModelRegistry registry, ModelRegistry::open(commits, std::move(models)));
  return std::unique_ptr<ModelService>(new ModelService(
      std::make_unique<Parts>(std::move(registry), book, std::move(settings), checks)));
}

ModelService::ModelService(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ModelService::~ModelService() { stop(); }

void ModelService::listen(AnswerListener listener) { parts_->records.listen(std::move(listener)); }
void ModelService::set_texts(ModelTexts& texts) { parts_->completions.set_texts(texts); }
void ModelService::set_operator(std::string key) { parts_->catalog.set_operator(std::move(key)); }
void ModelService::set_models_per_owner(std::size_t most) {
  parts_->catalog.set_models_per_owner(most);
}
void ModelService::start() { parts_->start(); }
void ModelService::stop() { parts_->thread.stop(); }
net::SocketRoute ModelService::socket() { return parts_->sockets.route(); }
const ModelCatalog& ModelService::catalog() const { return parts_->catalog; }

// --- Requests for answers.

void ModelService::answer(OpenAiRequest request, const net::IncomingRequest& from,
                          const net::Respond& respond, ChargedAnswers charged) {
  parts_->completions.answer(std::move(request), from, respond, std::move(charged));
}

void ModelService::audit(const billing::AnswerAuditOrder& order) {
  const bool queued = parts_->thread.post([this, order](inference::Desk& desk, Instant now) {
    parts_->records.audit(order, desk, now);
  });
  if (!queued) parts_->records.audit_failed(order.id);
}

void ModelService::trace(const billing::AnswerTraceOrder& order) {
  const bool queued = parts_->thread.post([this, order](inference::Desk& desk, Instant now) {
    parts_->records.trace(order, desk, now);
  });
  if (!queued) parts_->records.trace_failed(order.id);
}

void ModelService::settled(const billing::AnswerId& answer, billing::AnswerFate fate) {
  (void)parts_->thread.post([this, answer, fate](inference::Desk&, Instant) {
    parts_->records.settled(answer);
    parts_->completions.settled(answer, fate);
  });
}

void ModelService::bar(const PublicKey& worker) {
  (void)parts_->thread.post([worker](inference::Desk& desk, Instant now) {
    desk.expel(worker, "The worker's wallet was convicted of a wrong answer and is suspended.",
               now);
  });
}

// --- Models.

namespace {

// The serving state of an ONNX model, which no worker serves because its requests become jobs.
inference::ServedModel not_served(const inference::ModelCard& card) {
  inference::ServedModel out;
  out.name = card.name;
  if (inference::is_onnx(card)) out.state = inference::ModelState::as_jobs;
  return out;
}

}  // namespace

std::string ModelService::Parts::json_of(const inference::ModelCard& card,
                                         std::span<const inference::ServedModel> served,
                                         Instant now) const {
  const auto found = std::ranges::find(served, card.name, &inference::ServedModel::name);
  const auto terms = catalog.terms(card.name);
  return model_json(card, {.served = found == served.end() ? not_served(card) : *found,
                           .context_served = desk.context_of(card),
                           .price = terms ? terms->price : 0,
                           .price_next = catalog.price_next(card.name, now),
                           .activations = inference::activations_of(card, activations),
                           .audited_share_min = checks.floor});
}

void ModelService::add(inference::ModelCard card, const net::Respond& respond) {
  const bool queued = parts_->thread.post(
      [this, card = std::move(card), respond](inference::Desk& desk, Instant now) {
        if (auto added = parts_->catalog.add(card, desk, now); !added)
          return respond(net::problem(added.error()));
        respond(net::json_reply(201, parts_->json_of(card, desk.models(), now)));
      });
  if (!queued) respond(net::problem(busy_error()));
}

void ModelService::remove(std::string name, std::string owner, const net::Respond& respond) {
  const bool queued = parts_->thread.post([this, name = std::move(name), owner = std::move(owner),
                                           respond](inference::Desk& desk, Instant now) {
    if (auto removed = parts_->catalog.remove(name, owner, desk, now); !removed)
      return respond(net::problem(removed.error()));
    respond(net::json_reply(
        200, weft::format(R"({{"id":{},"object":"model","deleted":true}})", json::quote(name))));
  });
  if (!queued) respond(net::problem(busy_error()));
}

void ModelService::models_of(std::vector<std::string> owners, const Cards& done) {
  const bool queued =
      parts_->thread.post([this, owners = std::move(owners), done](inference::Desk&, Instant) {
        done(parts_->catalog.of(owners));
      });
  if (!queued) done(std::unexpected(busy_error()));
}

void ModelService::remove_of(std::vector<std::string> owners,
                             const std::function<void(Result<>)>& done) {
  const bool queued = parts_->thread.post(
      [this, owners = std::move(owners), done](inference::Desk& desk, Instant now) {
        done(parts_->catalog.remove_of(owners, desk, now));
      });
  if (!queued) done(std::unexpected(busy_error()));
}

void ModelService::find(std::string name,
                        const std::function<void(Result<inference::ModelCard>)>& done) {
  const bool queued =
      parts_->thread.post([this, name = std::move(name), done](inference::Desk&, Instant) {
        const inference::ModelCard* const card = parts_->catalog.find(name);
        if (card != nullptr) return done(*card);
        done(std::unexpected(no_model_error(name)));
      });
  if (!queued) done(std::unexpected(busy_error()));
}

void ModelService::list(const ModelPage& page, const net::Respond& respond) {
  const bool queued = parts_->thread.post([this, page, respond](inference::Desk& desk,
                                                                Instant now) {
    const ModelCatalog::Page cards = parts_->catalog.page(page);
    const auto served = desk.models();
    std::string out;
    for (const inference::ModelCard* card : cards.cards)
      out += (out.empty() ? "" : ",") + parts_->json_of(*card, served, now);
    respond(net::json_reply(200, weft::format(R"({{"object":"list","data":[{}],"has_more":{}}})",
                                              out, cards.has_more)));
  });
  if (!queued) respond(openai_error(busy_error()));
}

void ModelService::show(std::string name, const net::Respond& respond) {
  const bool queued = parts_->thread.post(
      [this, name = std::move(name), respond](inference::Desk& desk, Instant now) {
        if (const inference::ModelCard* card = parts_->catalog.find(name))
          return respond(net::json_reply(200, parts_->json_of(*card, desk.models(), now)));
        respond(openai_error(no_model_error(name)));
      });
  if (!queued) respond(openai_error(busy_error()));
}

// --- The state of serving.

void ModelService::status(const SharedLists::Take& take) {
  const bool queued = parts_->thread.post([this, take](inference::Desk& desk, Instant) {
    auto models = desk.models();
    for (const inference::ModelCard* card : parts_->catalog.page({}).cards) {
      if (inference::is_onnx(*card)) models.push_back(not_served(*card));
    }
    take(serving_list({.workers = desk.workers(),
                       .chains = desk.chains(),
                       .models = std::move(models),
                       .counters = desk.counters()}));
  });
  if (!queued) take(TooMany<SharedList>::answer());
}

void ModelService::metrics(const std::function<void(std::string)>& done) {
  const bool queued = parts_->thread.post(
      [done](inference::Desk& desk, Instant) { done(inference_metrics(desk.counters())); });
  if (!queued) done({});
}

}  // namespace weft::coordinator
