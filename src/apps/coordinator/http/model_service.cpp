#include "apps/coordinator/http/model_service.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "apps/coordinator/http/embeddings.h"
#include "apps/coordinator/http/late_stream.h"
#include "apps/coordinator/http/line_addresses.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "common/crypto/keys.h"
#include "common/json/quote.h"
#include "decisions/inference/arithmetic.h"
#include "decisions/inference/modality.h"

namespace weft::coordinator {

namespace wire = protocol::serving;

namespace {

constexpr Duration look_every = std::chrono::milliseconds(50);  // Whether clients are still there.

Error busy_error() {
  return {ErrorCode::unavailable, "The coordinator has too much to do; try again later."};
}

// Whether the network could not serve it, and not the request is wrong: no worker began it.
bool is_for_others(const inference::AnswerEnd& end) {
  if (end.shards > 0) return false;
  const ErrorCode code = end.error.code;
  return code == ErrorCode::unavailable || code == ErrorCode::deadline_exceeded ||
         (code == ErrorCode::resource_exhausted && !end.error.message.contains("context"));
}

// Whether the model gives what is asked for. The message begins with the key that is wrong.
Result<> check_modality(const OpenAiRequest& request, const inference::ModelCard& card) {
  const bool vectors = inference::makes_vectors(card);
  if (request.embedding && !vectors)
    return fail(ErrorCode::invalid_argument,
                "model: '{}' writes text and makes no vectors; ask a model whose output is "
                "\"embedding\" in /v1/models.",
                card.name);
  if (request.embedding && request.embedding->dimensions > card.embedding)
    return fail(ErrorCode::invalid_argument, "dimensions: is {}; the vectors of '{}' have {}.",
                request.embedding->dimensions, card.name, card.embedding);
  if (!request.embedding && request.look.what.empty() && vectors)
    return fail(ErrorCode::invalid_argument,
                "model: '{}' makes vectors and writes no text; ask /v1/embeddings.", card.name);
  return {};
}

}  // namespace

// One request's answer, of one choice or several: told bit by bit, or at the end.
class ModelService::Answer {
 public:
  Answer(const OpenAiRequest& request, std::function<bool()> connected, net::Respond respond,
         std::map<std::string, std::string> headers)
      : form_(make_answer_form(request, unix_now() / 1000)),
        streams_(request.stream),
        held_by_(request.held_by),
        left_(form_->choices()),
        headers_(std::move(headers)),
        connected_(std::move(connected)),
        respond_(std::move(respond)),
        otherwise_(request.otherwise) {}

  [[nodiscard]] bool is_wanted() const { return !connected_ || connected_(); }

  void tell(Told told) { form_->tell(std::move(told)); }
  void tokens(std::size_t choice, const std::vector<SaidToken>& tokens) {
    // What a stream says is made in the order in which it is said.
    if (streams_) begin();
    const std::string bits = form_->tokens(choice, tokens);
    if (streams_) stream_->write(bits);
  }
  // Whether it was the last choice.
  bool end(std::size_t choice, const inference::AnswerEnd& end) {
    if (end.reason == "failed" && !begun_ && respond_ && otherwise_ && is_for_others(end)) {
      begun_ = true;
      otherwise_(end.error, std::exchange(respond_, nullptr));
      return true;
    }
    if (end.reason == "failed" && !begun_ && respond_) {
      // Nothing was said yet: the status can still tell. Other choices are not waited for.
      std::exchange(respond_,
                    nullptr)(with_headers(openai_error(end.error, param_of(end.error), end.trust)));
      begun_ = true;
      return true;
    }
    if (streams_ && respond_) begin();
    const std::string bits = form_->end(choice, end);
    if (streams_) stream_->write(bits);
    if (--left_ > 0) return false;
    if (streams_) {
      stream_->write(form_->close());
      stream_->finish();
    } else if (respond_) {
      net::Reply reply = net::json_reply(200, form_->document());
      if (!end.trust.empty()) reply.headers["x-weft-trust"] = end.trust;
      std::exchange(respond_, nullptr)(with_headers(std::move(reply)));
    }
    return true;
  }

 private:
  // A worker refuses what the answer is held to, which it alone reads.
  [[nodiscard]] std::string param_of(const Error& error) const {
    if (error.code == ErrorCode::deadline_exceeded) return "deadline_ms";
    if (error.message.starts_with("model: ")) return "model";
    if (error.message.starts_with("dimensions: ")) return "dimensions";
    const bool refused =
        error.code == ErrorCode::invalid_argument || error.code == ErrorCode::unsupported;
    return refused ? held_by_ : std::string();
  }
  void begin() {
    if (std::exchange(begun_, true)) return;
    net::Reply reply{.headers = {{"content-type", "text/event-stream; charset=utf-8"},
                                 {"cache-control", "no-cache"}}};
    reply.stream = [late = stream_](std::shared_ptr<net::ReplyStream> stream) {
      late->take(std::move(stream));
    };
    std::exchange(respond_, nullptr)(with_headers(std::move(reply)));
    stream_->write(form_->begin());
  }
  [[nodiscard]] net::Reply with_headers(net::Reply reply) const {
    reply.headers.insert(headers_.begin(), headers_.end());
    return reply;
  }
  const std::unique_ptr<AnswerForm> form_;
  const bool streams_;
  const std::string held_by_;  // The request's key that says what the answer is held to.
  std::size_t left_;
  const std::map<std::string, std::string> headers_;
  const std::function<bool()> connected_;
  net::Respond respond_;
  bool begun_ = false;
  const std::function<void(const Error& why, net::Respond respond)> otherwise_;
  const std::shared_ptr<LateStream> stream_ = std::make_shared<LateStream>();
};

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
    : registry_(std::move(registry)),
      book_(book),
      checks_(checks),
      activations_(settings.activations),
      newcomers_answer_(settings.newcomers_answer),
      desk_(*this, std::move(settings)) {
  for (const inference::ModelCard& card : registry_.cards()) {
    set_terms(card);
    desk_.put_model(card, now());
  }
}

ModelService::~ModelService() { stop(); }

void ModelService::start() {
  thread_ = std::thread([this] { run(); });
}

void ModelService::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool ModelService::post(Event event) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_ || queue_.size() >= events_max) return false;
    queue_.push_back(std::move(event));
  }
  more_.notify_all();
  return true;
}

void ModelService::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    std::optional<Instant> wake = desk_.next_deadline();
    if (!answers_.empty()) wake = std::min(wake.value_or(Instant::max()), now() + look_every);
    if (queue_.empty()) {
      if (wake) {
        more_.wait_until(lock, *wake, [this] { return ending_ || !queue_.empty(); });
      } else {
        more_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      }
    }
    auto events = std::exchange(queue_, {});
    lock.unlock();
    const Instant time = now();
    for (const Event& event : events) event(desk_, time);
    drop_gone(time);
    desk_.tick(time);
    lock.lock();
  }
  lock.unlock();
  while (!answers_.empty()) {
    const inference::RequestId id = answers_.begin()->first;
    ended(id, {.reason = "failed",
               .error = {ErrorCode::unavailable, "The coordinator is being stopped."}});
  }
  while (!held_.empty()) {
    auto node = held_.extract(held_.begin());
    finish(std::move(node.mapped()),
           {.reason = "failed",
            .error = {ErrorCode::unavailable, "The coordinator is being stopped."}});
  }
  while (!asked_.empty()) report(asked_.begin()->first, {.reason = "failed"});
}

void ModelService::drop_gone(Instant time) {
  std::vector<inference::RequestId> gone;
  for (const auto& [id, place] : answers_) {
    if (!place.answer->is_wanted()) gone.push_back(id);
  }
  for (const inference::RequestId id : gone) desk_.drop(id, time);
}

// --- Workers.

net::SocketRoute ModelService::socket() {
  return {
      .path = "/v1/serve",
      .greets = true,
      .message_bytes_max = protocol::frame_bytes_max,
      .opened =
          [this](const std::shared_ptr<net::Peer>& peer) {
            if (!post([this, peer](inference::Desk&, Instant) { peers_[peer->id()] = peer; }))
              peer->close("busy");
          },
      .text =
          [this](const std::shared_ptr<net::Peer>& peer, const std::string& text) {
            auto message = wire::decode_worker(text);
            if (!message) {
              log_info("A serving worker sends nonsense: {}", message.error().message);
              return peer->close(message.error().message);
            }
            auto* offer = std::get_if<wire::Offer>(&*message);
            if (offer != nullptr) offer->lines = lines_to_pass_on(offer->lines, peer->address());
            const auto key = offer == nullptr ? std::nullopt : book_.worker_of(offer->token);
            const bool queued = post([this, id = peer->id(), key, message = std::move(*message)](
                                         inference::Desk& desk, Instant time) {
              const auto* what = std::get_if<wire::Offer>(&message);
              if (what == nullptr) {
                if (std::holds_alternative<wire::Pulse>(message)) {
                  if (const auto known = peers_.find(id); known != peers_.end()) {
                    if (const auto trip = known->second->round_trip())
                      desk.measured(id, *trip, time);
                  }
                }
                return desk.hear(id, message, time);
              }
              if (!key) return close(id, "The token belongs to no connected worker.");
              if (book_.is_barred(*key, unix_now()))
                return close(id, "Its wallet was convicted of a wrong answer and is suspended.");
              if (!joined_.emplace(id, *key).second) return close(id, "A worker offers once.");
              if (const auto known = peers_.find(id); known != peers_.end()) {
                known->second->admit();
                if (book_.is_known(*key)) known->second->recognise();
              }
              desk.join(id, *key, *what, time);
            });
            if (!queued) peer->close("The coordinator has too much to do; try again later.");
          },
      .binary =
          [this](const std::shared_ptr<net::Peer>& peer, const std::string& bytes) {
            const ByteSpan span = as_bytes(bytes);
            const bool queued =
                post([id = peer->id(), frame = ByteVector(span.begin(), span.end())](
                         inference::Desk& desk, Instant time) mutable {
                  desk.hop(id, std::move(frame), time);
                });
            if (!queued) peer->close("The coordinator has too much to do; try again later.");
          },
      .oversized =
          [](const std::shared_ptr<net::Peer>& peer, std::size_t bytes) {
            peer->close(weft::format("A message of {} bytes is over the bound.", bytes));
          },
      .closed =
          [this](const std::shared_ptr<net::Peer>& peer) {
            (void)post([this, id = peer->id()](inference::Desk& desk, Instant time) {
              peers_.erase(id);
              joined_.erase(id);
              book_.worker_blobs().remove_line(id);
              desk.left(id, time);
            });
          },
      .cost = 1};
}

void ModelService::send(inference::ServingId session,
                        const wire::ServingCoordinatorMessage& message) {
  const auto peer = peers_.find(session);
  if (peer == peers_.end()) return;
  const auto worker = joined_.find(session);
  if (const auto* load = std::get_if<wire::Load>(&message);
      load != nullptr && worker != joined_.end())
    book_.worker_blobs().allow_model(worker->second, session,
                                     std::array{load->model, load->chunks});
  peer->second->send_text(wire::encode(message));
}

void ModelService::send_hop(inference::ServingId session, ByteVector frame) {
  if (const auto peer = peers_.find(session); peer != peers_.end())
    peer->second->send_binary(std::string(as_text(frame)));
}

void ModelService::close(inference::ServingId session, const std::string& reason) {
  if (const auto peer = peers_.find(session); peer != peers_.end()) peer->second->close(reason);
}

// --- Answers.

void ModelService::set_terms(const inference::ModelCard& card) {
  prices_.with([&](auto& prices) { prices.set(card.name, card.price, now()); });
  terms_.with([&](auto& terms) {
    terms[card.name] = {.context = desk_.context_of(card),
                        .owner = PublicKey::parse(card.owner).value_or(PublicKey())};
  });
}

std::optional<ModelTerms> ModelService::terms(const std::string& model) const {
  auto terms = terms_.with([&](const auto& all) {
    const auto found = all.find(model);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  });
  if (terms)
    terms->price = prices_.with([&](const auto& prices) { return prices.price(model, now()); });
  return terms;
}

void ModelService::answer(OpenAiRequest request, const net::IncomingRequest& from,
                          const net::Respond& respond, ChargedAnswers charged) {
  auto answer =
      std::make_shared<Answer>(request, from.connected, respond, std::move(charged.headers));
  const auto asking = std::make_shared<Asking>(Asking{.answer = std::move(answer),
                                                      .ids = std::move(charged.answers),
                                                      .request = std::move(request)});
  const bool queued = post([this, asking](inference::Desk&, Instant) { read_prompts(asking); });
  if (!queued) refuse(*asking, busy_error());
}

// Nothing was asked of any worker.
void ModelService::refuse(const Asking& asking, const Error& error) {
  for (const billing::AnswerId& id : asking.ids)
    listener_.ended({.id = id, .end = {.reason = "failed"}});
  (void)asking.answer->end(0, {.reason = "failed", .error = error});
}

void ModelService::read_prompts(const std::shared_ptr<Asking>& asking) {
  const OpenAiRequest& request = asking->request;
  const inference::ModelCard* const card = registry_.find(request.model);
  if (card == nullptr)
    return refuse(*asking, {ErrorCode::not_found,
                            weft::format("The model '{}' does not exist here.", request.model)});
  if (auto fits = check_modality(request, *card); !fits) return refuse(*asking, fits.error());
  if (texts_ == nullptr)
    return refuse(*asking, {ErrorCode::unavailable, "This coordinator cannot read models' texts."});
  texts_->read({.file = card->file_hash(),
                .file_bytes = card->bytes,
                .head_bytes = card->header_bytes,
                .chat = request.chat,
                .prompts = request.prompts,
                .now = unix_now() / 1000,
                .format = request.ask.format,
                .rule = request.ask.rule,
                .look = request.look},
               [this, asking](Result<ModelTexts::Read> read) {
                 const auto shared = std::make_shared<Result<ModelTexts::Read>>(std::move(read));
                 const bool queued =
                     post([this, asking, shared](inference::Desk& desk, Instant time) {
                       if (!*shared) return refuse(*asking, shared->error());
                       ask(asking, **shared, desk, time);
                     });
                 if (!queued) refuse(*asking, busy_error());
               });
}

void ModelService::ask(const std::shared_ptr<Asking>& asking, const ModelTexts::Read& read,
                       inference::Desk& desk, Instant time) {
  const OpenAiRequest& request = asking->request;
  if (!request.look.what.empty()) {
    for (const billing::AnswerId& id : asking->ids)
      listener_.ended({.id = id, .end = {.reason = "told"}});
    asking->answer->tell(read.told);
    (void)asking->answer->end(0, {.reason = "told"});
    return;
  }
  const inference::ModelCard* const card = registry_.find(request.model);
  if (card == nullptr)
    return refuse(*asking, {ErrorCode::not_found,
                            weft::format("The model '{}' does not exist here.", request.model)});
  asking->trust =
      request.trust.value_or(newcomers_answer_ ? AnswerTrust::all : AnswerTrust::established);
  if (asking->trust == AnswerTrust::all && !newcomers_answer_)
    return refuse(*asking,
                  {ErrorCode::permission_denied,
                   "This coordinator lets no newcomers answer clients, as the header x-weft-trust "
                   "asks; its operator can (`weft serve --allow-anyone`)."});
  asking->read = read;
  if (request.embedding) {
    for (const auto& tokens : request.embedding->tokens)
      asking->read.prompts.push_back({.tokens = tokens});
  }
  // An answer needs room for one token at least; a vector needs none.
  const std::size_t context = desk.context_of(*card);
  const std::size_t tokens_max =
      std::min(context, wire::prompt_tokens_max) - (request.embedding ? 0 : 1);
  const std::size_t known = read.tokens->size();
  for (const ReadPrompt& prompt : asking->read.prompts) {
    if (prompt.tokens.empty())
      return refuse(*asking, {ErrorCode::invalid_argument,
                              "The prompt is empty; a text begins with at least one token."});
    if (prompt.tokens.size() > tokens_max && request.embedding)
      return refuse(*asking,
                    {ErrorCode::resource_exhausted,
                     weft::format("A text has {} tokens; at most {} fit into the context: cut it.",
                                  prompt.tokens.size(), tokens_max)});
    if (prompt.tokens.size() > tokens_max)
      return refuse(
          *asking,
          {ErrorCode::resource_exhausted,
           weft::format("The prompt has {} tokens; at most {} fit into the context of {}, which "
                        "the answer shares: shorten it.",
                        prompt.tokens.size(), tokens_max, context)});
    for (const std::int32_t token : prompt.tokens) {
      if (token < 0 || static_cast<std::size_t>(token) >= known)
        return refuse(
            *asking, {ErrorCode::invalid_argument,
                      weft::format("{} is not a token of the model, which has {}.", token, known)});
    }
  }
  for (const wire::Bias& one : request.ask.bias) {
    if (one.token < 0 || static_cast<std::size_t>(one.token) >= known)
      return refuse(*asking,
                    {ErrorCode::invalid_argument,
                     weft::format("A bias is given for {}, which is not a token of the model, "
                                  "which has {}.",
                                  one.token, known)});
  }
  // Another endpoint is not kept waiting for a worker that may never come.
  if (request.otherwise) {
    const auto models = desk.models();
    const auto served = std::ranges::find(models, request.model, &inference::ServedModel::name);
    const bool none = served == models.end() || served->state == "no worker" ||
                      (served->state == "newcomers" && asking->trust != AnswerTrust::all);
    if (none)
      return refuse(*asking, {ErrorCode::unavailable,
                              weft::format("No worker serves {} now.", request.model)});
  }
  asking->begun = time;
  const std::size_t at_once = request.embedding ? EmbeddingRequest::under_way_max : asking->count();
  while (asking->next < std::min(asking->count(), at_once)) ask_next(asking, desk, time);
}

// What is not asked any more since its request has ended.
void ModelService::give_up(Asking& asking) {
  for (; asking.next < asking.ids.size(); ++asking.next)
    listener_.ended({.id = asking.ids[asking.next], .end = {.reason = "failed"}});
  asking.next = asking.count();
}

void ModelService::ask_next(const std::shared_ptr<Asking>& asking, inference::Desk& desk,
                            Instant time) {
  if (asking->next >= asking->count()) return;
  const OpenAiRequest& request = asking->request;
  const inference::ModelCard* const card = registry_.find(request.model);
  if (card == nullptr || !asking->answer->is_wanted()) return give_up(*asking);
  const std::size_t choice = asking->next++;
  const std::size_t at = choice / request.choices;
  const ReadPrompt& prompt = asking->read.prompts[at];
  inference::AnswerRequest one{.id = ++request_ids_,
                               .model = request.model,
                               .conversation = request.conversation,
                               .asker = request.asker,
                               .ask = request.ask,
                               .patience = request.patience,
                               .for_newcomers = asking->trust == AnswerTrust::all};
  if (one.patience) *one.patience -= std::min(*one.patience, time - asking->begun);
  one.ask.prompt = prompt.tokens;
  if (one.ask.format.starts_with("tool")) one.ask.calls = request.prompts[at];
  one.ask.seed += choice % request.choices;
  one.ask.prints = true;
  Kept& kept = asked_[one.id];
  kept = {.answer = choice < asking->ids.size() ? asking->ids[choice] : billing::AnswerId{},
          .model = request.model,
          .embedding = card->embedding,
          .rounded = !request.embedding && inference::activations_of(*card, activations_) != "f32",
          .ask = one.ask,
          .must_audit = asking->trust == AnswerTrust::verified};
  if (asking->ids.empty()) crypto::random_bytes(kept.answer.bytes);
  answers_[one.id] = {.answer = asking->answer,
                      .choice = choice,
                      .writer = std::make_shared<AnswerWriter>(
                          asking->read.tokens,
                          AnswerWriter::Options{.stop = request.ask.stop,
                                                .shows_calls = request.shows_calls,
                                                .begins_in_thought = prompt.begins_in_thought}),
                      .asking = asking,
                      .trust = asking->trust};
  const inference::RequestId id = one.id;
  if (auto asked = desk.ask(std::move(one), time); !asked)
    ended(id, {.reason = "failed", .error = asked.error()});
}

void ModelService::report(inference::RequestId request, const inference::AnswerEnd& end) {
  auto node = asked_.extract(request);
  if (node.empty() || !listener_.ended) return;
  Kept& kept = node.mapped();
  const billing::AnswerId id = kept.answer;
  kept.tokens = end.checked_tokens();
  kept.whole = end.checked_to_its_end();
  kept.ask.answered = end.answered;
  kept.prints = end.prints;
  kept.exact = end.exact;
  kept.pipeline = end.pipeline;
  const bool must_audit = kept.must_audit;
  if (end.reason != "failed" && end.reason != "cancelled" && !kept.shadow) shadow(kept);
  finished_[id] = std::move(kept);
  listener_.ended({.id = id, .end = end, .must_audit = must_audit});
}

void ModelService::shadow(const Kept& kept) {
  if (!desk_.has_room_for_shadow(kept.model)) return;
  const inference::RequestId id = ++request_ids_;
  Kept& own = asked_[id];
  own = {.answer = {},
         .model = kept.model,
         .embedding = kept.embedding,
         .rounded = kept.rounded,
         .ask = kept.ask,
         .shadow = true};
  own.ask.answered.clear();
  crypto::random_bytes(own.answer.bytes);
  const bool queued =
      post([this, id, model = kept.model, ask = own.ask](inference::Desk& desk, Instant time) {
        const auto asked = desk.ask({.id = id,
                                     .model = model,
                                     .conversation = id,
                                     .ask = ask,
                                     .for_newcomers = false,
                                     .shadow = true},
                                    time);
        if (!asked) asked_.erase(id);
      });
  if (!queued) asked_.erase(id);
}

void ModelService::audit(const billing::AnswerAuditOrder& order) {
  const auto unaudited = [this, id = order.id] { listener_.audited({.id = id}); };
  const bool queued = post([this, order, unaudited](inference::Desk& desk, Instant time) {
    const auto kept = finished_.find(order.id);
    if (kept == finished_.end()) return unaudited();
    inference::AuditRequest request{.id = ++request_ids_,
                                    .model = kept->second.model,
                                    .ask = kept->second.ask,
                                    .except = order.except,
                                    .draw = order.draw};
    // A vector was not drawn.
    if (!request.ask.answered.empty())
      request.ask.redraw = billing::audit_tolerance(kept->second.rounded, false).error_max;
    audits_[request.id] = order.id;
    desk.audit(std::move(request), time);
  });
  if (!queued) unaudited();
}

void ModelService::audited(inference::RequestId request, const inference::AuditEnd& end) {
  const auto node = audits_.extract(request);
  if (node.empty()) return;
  billing::AnswerAudited out{.id = node.mapped()};
  const auto kept = finished_.find(out.id);
  if (end.error || kept == finished_.end()) {
    log_info("An answer could not be audited: {}",
             end.error ? end.error->message : "it is not known any more.");
    if (kept != finished_.end() && !end.auditors.empty())
      out.verdict = billing::AnswerVerdict::unheard;
    out.auditors = end.auditors;
    return listener_.audited(std::move(out));
  }
  const Kept& what = kept->second;
  const billing::AuditReading reading = billing::read_audit(
      what.prints, end,
      {.tokens = what.tokens,
       .drawn = static_cast<std::uint32_t>(what.ask.answered.size()),
       .complete = what.whole},
      what.embedding, billing::audit_tolerance(what.rounded, what.exact && end.exact));
  out.auditors = end.auditors;
  out.verdict = reading.verdict;
  out.reason = reading.reason;
  out.doubtful = reading.doubtful;
  log_debug("An answer's audit: {:.2g} off, {:.2g} others. {}", reading.error, reading.missing,
            reading.reason);
  listener_.audited(std::move(out));
}

void ModelService::settled(const billing::AnswerId& answer, billing::AnswerFate fate) {
  (void)post([this, answer, fate](inference::Desk&, Instant) {
    finished_.erase(answer);
    auto node = held_.extract(answer);
    if (node.empty()) return;
    Place& place = node.mapped();
    inference::AnswerEnd end = place.end;
    if (fate == billing::AnswerFate::verified) {
      end.trust = "verified";
    } else {
      place.held.clear();
      end = {.reason = "failed",
             .error = {ErrorCode::unavailable,
                       fate == billing::AnswerFate::refuted
                           ? "An audit refuted the answer, which was asked for as verified: it is "
                             "not told and costs nothing; ask again."
                           : "No other worker could audit the answer, which was asked for as "
                             "verified: it is not told and costs nothing."},
             .trust = fate == billing::AnswerFate::refuted ? "refuted" : "pending"};
    }
    finish(std::move(place), std::move(end));
  });
}

void ModelService::bar(const PublicKey& worker) {
  (void)post([worker](inference::Desk& desk, Instant time) {
    desk.expel(worker, "Its wallet was convicted of a wrong answer and is suspended.", time);
  });
}

void ModelService::tokens(inference::RequestId request, const std::vector<wire::Token>& tokens) {
  const auto found = answers_.find(request);
  if (found == answers_.end()) return;
  Place& place = found->second;
  std::vector<SaidToken> said = place.writer->write(tokens);
  if (place.trust != AnswerTrust::verified) return place.answer->tokens(place.choice, said);
  std::ranges::move(said, std::back_inserter(place.held));
}

// A grammar that is complete ends an answer without a token.
bool ModelService::ends_so(inference::RequestId request, std::string_view reason) {
  const auto found = answers_.find(request);
  const auto asked = asked_.find(request);
  if (found == answers_.end() || asked == asked_.end()) return true;
  const AnswerWriter& writer = *found->second.writer;
  if (reason == "stop") return writer.may_have_stopped();
  return writer.at_end() || !asked->second.ask.format.empty();
}

void ModelService::ended(inference::RequestId request, const inference::AnswerEnd& end) {
  auto node = answers_.extract(request);
  if (node.empty()) return report(request, end);
  Place& place = node.mapped();
  inference::AnswerEnd told = end;
  if (end.reason != "failed") told.trust = place.trust == AnswerTrust::all ? "anyone" : "pending";
  const auto asked = asked_.find(request);
  if (asked != asked_.end()) told.seed = asked->second.ask.seed;
  // The client hears of it when the core has settled it.
  if (place.trust == AnswerTrust::verified && end.reason != "failed" && asked != asked_.end() &&
      listener_.ended) {
    place.end = std::move(told);
    held_[asked->second.answer] = std::move(place);
    return report(request, end);
  }
  report(request, end);
  finish(std::move(place), std::move(told));
}

// All that is left of an answer, to its client.
void ModelService::finish(Place place, inference::AnswerEnd end) {
  const auto answer = place.answer;
  if (!place.held.empty()) answer->tokens(place.choice, place.held);
  inference::AnswerEnd told = end;
  const bool whole = end.reason == "eos" || end.reason == "stop" || end.reason == "length";
  if (whole) {
    if (std::string rest = place.writer->finish(); !rest.empty())
      answer->tokens(place.choice, {{.text = std::move(rest)}});
    if (place.writer->stopped()) told.reason = "stop";
  }
  if (!answer->end(place.choice, told)) {
    if (place.asking->next < place.asking->count()) {
      (void)post([this, asking = place.asking](inference::Desk& desk, Instant time) {
        ask_next(asking, desk, time);
      });
    }
    return;
  }
  give_up(*place.asking);
  // Its other choices have no listener any more.
  std::vector<inference::RequestId> others;
  for (const auto& [id, other] : answers_) {
    if (other.answer == answer) others.push_back(id);
  }
  for (const inference::RequestId id : others) answers_.erase(id);
  if (!others.empty()) {
    (void)post([others](inference::Desk& desk, Instant time) {
      for (const inference::RequestId id : others) desk.drop(id, time);
    });
  }
}

// --- Models.

std::string ModelService::model_json(const inference::ModelCard& card,
                                     std::span<const inference::ServedModel> served) const {
  const auto found = std::ranges::find(served, card.name, &inference::ServedModel::name);
  const inference::ServedModel state = found == served.end() ? inference::ServedModel{} : *found;
  const Instant time = now();
  const auto [price, next] = prices_.with([&](const auto& prices) {
    return std::pair(prices.price(card.name, time), prices.next(card.name, time));
  });
  return weft::format(
      R"({{"id":{},"object":"model","created":{},"owned_by":{},"weft":{{"state":"{}","chains":{},"shards":{},"running":{},"waiting":{},)"
      R"("file":"{}","bytes":{},"architecture":{},"layers":{},"context":{},"context_served":{},"shards_min":{},"price_per_1k_tokens":{},"price_next_per_1k_tokens":{},)"
      R"("modalities":{{"input":["text"],"output":["{}"]}},"arithmetic":{{"activations":"{}","wire":"{}","exact":{}}},)"
      R"("trust":{{"audited_share_newcomers":1,"audited_share_min":{},"verified":{}}}}}}})",
      json::quote(card.name), card.created / 1000, json::quote(card.owner), state.state,
      state.chains, state.shards, state.running, state.waiting, card.file, card.bytes,
      json::quote(card.architecture), card.layers, card.context, desk_.context_of(card),
      card.shards_min, price, next ? weft::format("{}", *next) : "null",
      inference::makes_vectors(card) ? "embedding" : "text",
      inference::makes_vectors(card) ? "f32" : inference::activations_of(card, activations_),
      state.wire, state.exact, checks_.floor, state.auditable);
}

void ModelService::add(inference::ModelCard card, const net::Respond& respond) {
  const bool queued = post([this, card = std::move(card), respond](inference::Desk& desk,
                                                                   Instant time) {
    if (const inference::ModelCard* old = registry_.find(card.name);
        old != nullptr && !acts_for(card.owner, old->owner))
      return respond(
          net::problem({ErrorCode::permission_denied,
                        weft::format("The model {} belongs to another client.", card.name)}));
    const auto own = std::ranges::count_if(
        registry_.cards(), [&](const auto& other) { return acts_for(card.owner, other.owner); });
    if (registry_.find(card.name) == nullptr && models_per_owner_max_ > 0 &&
        static_cast<std::size_t>(own) >= models_per_owner_max_ && card.owner != operator_)
      return respond(net::problem(
          {ErrorCode::resource_exhausted,
           weft::format("The client has {} models already, the most that one may add; remove one "
                        "(`weft model remove`).",
                        own)}));
    if (auto stored = registry_.put(card); !stored) return respond(net::problem(stored.error()));
    set_terms(card);
    desk.put_model(card, time);
    respond(net::json_reply(201, model_json(card, desk_.models())));
  });
  if (!queued) respond(net::problem(busy_error()));
}

void ModelService::remove(std::string name, std::string owner, const net::Respond& respond) {
  const bool queued = post([this, name = std::move(name), owner = std::move(owner), respond](
                               inference::Desk& desk, Instant time) {
    const inference::ModelCard* card = registry_.find(name);
    if (card != nullptr && !acts_for(owner, card->owner) && owner != operator_)
      return respond(net::problem({ErrorCode::permission_denied,
                                   weft::format("The model {} belongs to another client.", name)}));
    if (auto removed = take_out(name, desk, time); !removed)
      return respond(net::problem(removed.error()));
    respond(net::json_reply(
        200, weft::format(R"({{"id":{},"object":"model","deleted":true}})", json::quote(name))));
  });
  if (!queued) respond(net::problem(busy_error()));
}

void ModelService::list(const ModelPage& page, const net::Respond& respond) {
  const bool queued = post([this, page, respond](inference::Desk&, Instant) {
    std::vector<const inference::ModelCard*> cards;
    for (const inference::ModelCard& card : registry_.cards()) cards.push_back(&card);
    // In the order in which they were added, which no change of another one moves.
    const auto after = std::ranges::find(cards, page.after, &inference::ModelCard::name);
    const auto first = page.after.empty() || after == cards.end() ? cards.begin() : after + 1;
    const auto left = static_cast<std::size_t>(cards.end() - first);
    const auto served = desk_.models();
    std::string out;
    for (const inference::ModelCard* card : std::span(first, std::min(left, page.limit)))
      out += (out.empty() ? "" : ",") + model_json(*card, served);
    respond(net::json_reply(200, weft::format(R"({{"object":"list","data":[{}],"has_more":{}}})",
                                              out, left > page.limit)));
  });
  if (!queued) respond(openai_error(busy_error()));
}

void ModelService::show(std::string name, const net::Respond& respond) {
  const bool queued = post([this, name = std::move(name), respond](inference::Desk&, Instant) {
    if (const inference::ModelCard* card = registry_.find(name))
      return respond(net::json_reply(200, model_json(*card, desk_.models())));
    respond(openai_error(
        {ErrorCode::not_found, weft::format("The model '{}' does not exist here.", name)}));
  });
  if (!queued) respond(openai_error(busy_error()));
}

void ModelService::status(const SharedLists::Take& take) {
  const bool queued = post([take](inference::Desk& desk, Instant) {
    const auto list = std::make_shared<PagedList>();
    for (const inference::ServedWorker& worker : desk.workers()) {
      std::string peers, lines;
      for (const inference::ServedPeer& peer : worker.peers)
        peers += weft::format(R"({}{{"worker":"{}","ms":{:.3f}}})", peers.empty() ? "" : ",",
                              peer.key, peer.ms);
      // How, and not where: addresses are for members of its chains.
      for (const std::string& line : worker.lines)
        lines += (lines.empty() ? "" : ",") + json::quote(line.substr(0, line.find(':')));
      std::string json = weft::format(
          R"({{"worker":"{}","memory_bytes":{},"memory_free":{},"shards":{},"running":{},"load":{:.3f},"gb_per_s":{:.3f},"coordinator_ms":{:.3f},)"
          R"("direct_hops":{},"lines":[{}],"peers":[{}]}})",
          worker.key, worker.memory_bytes, worker.memory_free, worker.shards, worker.running,
          worker.load, worker.gb_per_s, worker.coordinator_ms, worker.direct_hops, lines, peers);
      list->rows.push_back({.key = worker.key, .json = std::move(json)});
    }
    std::string chains;
    const auto served = desk.chains();
    for (const inference::ServedChain& chain :
         std::span(served).first(std::min(served.size(), chains_shown_max))) {
      std::string members;
      for (const inference::ServedMember& member : chain.members) {
        members += weft::format(
            R"({}{{"worker":"{}","first_layer":{},"end_layer":{},"ms":{:.3f}}})",
            members.empty() ? "" : ",", member.key, member.begin, member.end, member.ms);
      }
      chains += weft::format(
          R"({}{{"model":{},"state":"{}","transport":{},"wire":"{}","epoch":{},"running":{},"members":[{}]}})",
          chains.empty() ? "" : ",", json::quote(chain.model), chain.state,
          json::quote(chain.transport), chain.wire, chain.epoch, chain.running, members);
    }
    std::string models;
    for (const inference::ServedModel& model : desk.models()) {
      models += weft::format(
          R"({}{{"model":{},"state":"{}","chains":{},"shards":{},"covered":{},"running":{},"waiting":{}}})",
          models.empty() ? "" : ",", json::quote(model.name), model.state, model.chains,
          model.shards, model.covered, model.running, model.waiting);
    }
    const inference::ServingCounters& counters = desk.counters();
    list->before = weft::format(
        R"({{"models":[{}],"chains":[{}],"requests":{},"tokens":{},"resumed":{},"failed":{},"refused":{},"relayed_hops":{},"relayed_bytes":{},"direct_hops":{},"direct_bytes":{},"replanned":{},"workers":[)",
        models, chains, counters.requests, counters.tokens, counters.resumed, counters.failed,
        counters.refused, counters.relayed_hops, counters.relayed_bytes, counters.direct_hops,
        counters.direct_bytes, counters.replanned);
    list->sort();
    take(std::shared_ptr<const PagedList>(list));
  });
  if (!queued) take(TooMany<SharedList>::answer());
}

void ModelService::metrics(const std::function<void(std::string)>& done) {
  const bool queued = post([done](inference::Desk& desk, Instant) {
    const inference::ServingCounters& c = desk.counters();
    std::string out;
    const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
      out +=
          weft::format("# HELP weft_llm_{0} {1}\n# TYPE weft_llm_{0} counter\nweft_llm_{0} {2}\n",
                       name, help, value);
    };
    counter("requests_total", "Requests for answers of language models.", c.requests);
    counter("tokens_total", "Tokens that were answered with.", c.tokens);
    counter("resumed_total", "Answers that continued after the loss of a worker.", c.resumed);
    counter("failed_total", "Requests that failed.", c.failed);
    counter("refused_total", "Requests that were refused since too many waited.", c.refused);
    counter("audits_total", "Answers that another worker read again.", c.audits);
    counter("stage_searches_total", "Answers of chains whose guilty stage was searched.", c.traces);
    counter("frame_disputes_total",
            "Pairs in chains that did not say the same of their frames, and were kept apart.",
            c.disputes);
    counter("relayed_bytes_total", "Bytes of hops that the coordinator passed on.",
            c.relayed_bytes);
    counter("direct_bytes_total", "Bytes of hops that went from worker to worker.", c.direct_bytes);
    counter("replanned_total", "Chains that became others since a token comes sooner that way.",
            c.replanned);
    done(out);
  });
  if (!queued) done({});
}

}  // namespace weft::coordinator
