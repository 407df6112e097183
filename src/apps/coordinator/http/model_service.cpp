#include "apps/coordinator/http/model_service.h"

#include <algorithm>
#include <utility>

#include "apps/coordinator/http/model_documents.h"
#include "common/base/format.h"
#include "common/json/quote.h"
#include "decisions/inference/arithmetic.h"

namespace weft::coordinator {

Result<std::unique_ptr<ModelService>> ModelService::open(store::GroupCommit& commits,
                                                         std::vector<inference::ModelCard> models,
                                                         jobs::Book& book,
                                                         inference::DeskSettings settings,
                                                         billing::AnswerChecks checks) {
  WEFT_ASSIGN(ModelRegistry registry, ModelRegistry::open(commits, std::move(models)));
  return std::unique_ptr<ModelService>(
      new ModelService(std::move(registry), book, std::move(settings), checks));
}

ModelService::ModelService(ModelRegistry registry, jobs::Book& book,
                           inference::DeskSettings settings, billing::AnswerChecks checks)
    : book_(book),
      checks_(checks),
      activations_(settings.activations),
      catalog_(std::move(registry), book),
      desk_(*this, settings),
      records_(thread_, desk_),
      completions_({.thread = thread_,
                    .models = catalog_,
                    .records = records_,
                    .activations = settings.activations,
                    .newcomers_answer = settings.newcomers_answer}),
      sockets_(thread_, book) {
  catalog_.load(desk_, now());
}

ModelService::~ModelService() { stop(); }

void ModelService::start() {
  thread_.start(desk_, {.clients_wait = [this] { return completions_.any(); },
                        .look = [this](Instant now) { completions_.drop_gone(desk_, now); },
                        .end = [this] { completions_.end_all(); }});
}

// --- Effects of the desk.

void ModelService::send(inference::ServingId session,
                        const protocol::serving::ServingCoordinatorMessage& message) {
  sockets_.send(session, message);
}
void ModelService::send_hop(inference::ServingId session, ByteVector frame) {
  sockets_.send_hop(session, std::move(frame));
}
void ModelService::close(inference::ServingId session, const std::string& reason) {
  sockets_.close(session, reason);
}
void ModelService::tokens(inference::RequestId request,
                          const std::vector<protocol::serving::Token>& tokens) {
  completions_.tokens(request, tokens);
}
void ModelService::ended(inference::RequestId request, const inference::AnswerEnd& end) {
  completions_.ended(request, end);
}
void ModelService::audited(inference::RequestId request, const inference::AuditEnd& end) {
  records_.audited(request, end);
}
bool ModelService::ends_so(inference::RequestId request, std::string_view reason) {
  return completions_.ends_so(request, reason);
}

// --- Answers.

void ModelService::answer(OpenAiRequest request, const net::IncomingRequest& from,
                          const net::Respond& respond, ChargedAnswers charged) {
  completions_.answer(std::move(request), from, respond, std::move(charged));
}

void ModelService::audit(const billing::AnswerAuditOrder& order) {
  const bool queued = thread_.post(
      [this, order](inference::Desk& desk, Instant now) { records_.audit(order, desk, now); });
  if (!queued) records_.audit_failed(order.id);
}

void ModelService::settled(const billing::AnswerId& answer, billing::AnswerFate fate) {
  (void)thread_.post([this, answer, fate](inference::Desk&, Instant) {
    records_.settled(answer);
    completions_.settled(answer, fate);
  });
}

void ModelService::bar(const PublicKey& worker) {
  (void)thread_.post([worker](inference::Desk& desk, Instant now) {
    desk.expel(worker, "Its wallet was convicted of a wrong answer and is suspended.", now);
  });
}

// --- Models.

std::string ModelService::json_of(const inference::ModelCard& card,
                                  std::span<const inference::ServedModel> served,
                                  Instant now) const {
  const auto found = std::ranges::find(served, card.name, &inference::ServedModel::name);
  const auto terms = catalog_.terms(card.name);
  return model_json(card, {.served = found == served.end() ? inference::ServedModel{} : *found,
                           .context_served = desk_.context_of(card),
                           .price = terms ? terms->price : 0,
                           .price_next = catalog_.price_next(card.name, now),
                           .activations = inference::activations_of(card, activations_),
                           .audited_share_min = checks_.floor});
}

void ModelService::add(inference::ModelCard card, const net::Respond& respond) {
  const bool queued =
      thread_.post([this, card = std::move(card), respond](inference::Desk& desk, Instant now) {
        if (auto added = catalog_.add(card, desk, now); !added)
          return respond(net::problem(added.error()));
        respond(net::json_reply(201, json_of(card, desk.models(), now)));
      });
  if (!queued) respond(net::problem(busy_error()));
}

void ModelService::remove(std::string name, std::string owner, const net::Respond& respond) {
  const bool queued = thread_.post([this, name = std::move(name), owner = std::move(owner),
                                    respond](inference::Desk& desk, Instant now) {
    if (auto removed = catalog_.remove(name, owner, desk, now); !removed)
      return respond(net::problem(removed.error()));
    respond(net::json_reply(
        200, weft::format(R"({{"id":{},"object":"model","deleted":true}})", json::quote(name))));
  });
  if (!queued) respond(net::problem(busy_error()));
}

void ModelService::models_of(std::vector<std::string> owners, const Cards& done) {
  const bool queued = thread_.post([this, owners = std::move(owners), done](
                                       inference::Desk&, Instant) { done(catalog_.of(owners)); });
  if (!queued) done(std::unexpected(busy_error()));
}

void ModelService::remove_of(std::vector<std::string> owners,
                             const std::function<void(Result<>)>& done) {
  const bool queued =
      thread_.post([this, owners = std::move(owners), done](inference::Desk& desk, Instant now) {
        done(catalog_.remove_of(owners, desk, now));
      });
  if (!queued) done(std::unexpected(busy_error()));
}

void ModelService::list(const ModelPage& page, const net::Respond& respond) {
  const bool queued = thread_.post([this, page, respond](inference::Desk& desk, Instant now) {
    const ModelCatalog::Page cards = catalog_.page(page);
    const auto served = desk.models();
    std::string out;
    for (const inference::ModelCard* card : cards.cards)
      out += (out.empty() ? "" : ",") + json_of(*card, served, now);
    respond(net::json_reply(200, weft::format(R"({{"object":"list","data":[{}],"has_more":{}}})",
                                              out, cards.has_more)));
  });
  if (!queued) respond(openai_error(busy_error()));
}

void ModelService::show(std::string name, const net::Respond& respond) {
  const bool queued =
      thread_.post([this, name = std::move(name), respond](inference::Desk& desk, Instant now) {
        if (const inference::ModelCard* card = catalog_.find(name))
          return respond(net::json_reply(200, json_of(*card, desk.models(), now)));
        respond(openai_error(no_model_error(name)));
      });
  if (!queued) respond(openai_error(busy_error()));
}

// --- What serves models.

void ModelService::status(const SharedLists::Take& take) {
  const bool queued = thread_.post([take](inference::Desk& desk, Instant) {
    take(serving_list({.workers = desk.workers(),
                       .chains = desk.chains(),
                       .models = desk.models(),
                       .counters = desk.counters()}));
  });
  if (!queued) take(TooMany<SharedList>::answer());
}

void ModelService::metrics(const std::function<void(std::string)>& done) {
  const bool queued = thread_.post(
      [done](inference::Desk& desk, Instant) { done(inference_metrics(desk.counters())); });
  if (!queued) done({});
}

}  // namespace weft::coordinator
