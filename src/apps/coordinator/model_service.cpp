#include "apps/coordinator/model_service.h"

#include <algorithm>
#include <format>
#include <utility>

#include "common/base/log.h"
#include "common/crypto/keys.h"

namespace weft::coordinator {

namespace wire = protocol::serving;

namespace {

constexpr Duration look_every = std::chrono::milliseconds(50);  // Whether clients are still there.

std::string random_id() {
  Hash id;
  crypto::random_bytes(id.bytes);
  return id.text().substr(0, 24);
}

Error busy_error() { return {ErrorCode::unavailable, "The coordinator has too much to do; try again later."}; }

}  // namespace

// One request's answer, of one choice or several: told bit by bit, or at the end.
class ModelService::Answer : public std::enable_shared_from_this<Answer> {
 public:
  Answer(const OpenAiRequest& request, std::function<bool()> connected, net::Respond respond, std::map<std::string, std::string> headers)
      : text_(request, (request.chat ? "chatcmpl-" : "cmpl-") + random_id(), unix_now() / 1000),
        streams_(request.stream),
        left_(text_.choices()),
        headers_(std::move(headers)),
        connected_(std::move(connected)),
        respond_(std::move(respond)) {}

  [[nodiscard]] bool is_wanted() const { return !connected_ || connected_(); }

  void tokens(std::size_t choice, const std::vector<wire::Token>& tokens) {
    const std::string bits = text_.tokens(choice, tokens);
    if (streams_) {
      begin();
      write(bits);
    }
  }
  // Whether it was the last choice.
  bool end(std::size_t choice, const AnswerEnd& end) {
    if (end.reason == "failed" && !begun_ && respond_) {
      // Nothing was said yet: the status can still tell. Other choices are not waited for.
      std::exchange(respond_, nullptr)(with_headers(openai_error(end.error)));
      begun_ = true;
      return true;
    }
    const std::string bits = text_.end(choice, end);
    if (streams_ && respond_) begin();
    if (streams_) write(bits);
    if (--left_ > 0) return false;
    if (streams_) {
      write(text_.close());
      finish();
    } else if (respond_) {
      std::exchange(respond_, nullptr)(with_headers(net::json_reply(200, text_.document())));
    }
    return true;
  }

 private:
  void begin() {
    if (std::exchange(begun_, true)) return;
    net::Reply reply{.headers = {{"content-type", "text/event-stream; charset=utf-8"}, {"cache-control", "no-cache"}}};
    reply.stream = [self = shared_from_this()](std::shared_ptr<net::ReplyStream> stream) { self->take(std::move(stream)); };
    std::exchange(respond_, nullptr)(with_headers(std::move(reply)));
    write(text_.begin());
  }
  [[nodiscard]] net::Reply with_headers(net::Reply reply) const {
    reply.headers.insert(headers_.begin(), headers_.end());
    return reply;
  }
  // The stream comes on a thread of the server's.
  void take(std::shared_ptr<net::ReplyStream> stream) {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) stream->send(std::exchange(waiting_, {}));
    if (finished_) return stream->close();
    stream_ = std::move(stream);
  }
  void write(const std::string& bits) {
    if (bits.empty()) return;
    const std::lock_guard lock(mutex_);
    if (stream_) {
      stream_->send(bits);
    } else {
      waiting_ += bits;
    }
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    if (stream_) stream_->close();
    stream_.reset();
  }

  AnswerText text_;
  const bool streams_;
  std::size_t left_;
  const std::map<std::string, std::string> headers_;
  const std::function<bool()> connected_;
  net::Respond respond_;
  bool begun_ = false;
  std::mutex mutex_;  // Of what follows.
  std::shared_ptr<net::ReplyStream> stream_;
  std::string waiting_;
  bool finished_ = false;
};

Result<std::unique_ptr<ModelService>> ModelService::open(const std::filesystem::path& data, Book& book, DeskSettings settings) {
  WEFT_ASSIGN(ModelRegistry registry, ModelRegistry::open(data / "models.jsonl"));
  return std::unique_ptr<ModelService>(new ModelService(std::move(registry), book, std::move(settings)));
}

ModelService::ModelService(ModelRegistry registry, Book& book, DeskSettings settings)
    : registry_(std::move(registry)), book_(book), desk_(*this, std::move(settings)) {
  for (const ModelCard& card : registry_.cards()) {
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
    const RequestId id = answers_.begin()->first;
    ended(id, {.reason = "failed", .error = {ErrorCode::unavailable, "The coordinator is being stopped."}});
  }
  while (!asked_.empty()) report(asked_.begin()->first, {.reason = "failed"});
}

void ModelService::drop_gone(Instant time) {
  std::vector<RequestId> gone;
  for (const auto& [id, place] : answers_) {
    if (!place.answer->is_wanted()) gone.push_back(id);
  }
  for (const RequestId id : gone) desk_.drop(id, time);
}

// --- Workers.

net::SocketRoute ModelService::socket() {
  return {.path = "/v1/serve",
          .message_bytes_max = protocol::frame_bytes_max,
          .opened =
              [this](std::shared_ptr<net::Peer> peer) {
                if (!post([this, peer](Desk&, Instant) { peers_[peer->id()] = peer; })) peer->close("busy");
              },
          .text =
              [this](const std::shared_ptr<net::Peer>& peer, const std::string& text) {
                auto message = wire::decode_worker(text);
                if (!message) {
                  log_info("A serving worker sends nonsense: {}", message.error().message);
                  return peer->close(message.error().message);
                }
                const auto* offer = std::get_if<wire::Offer>(&*message);
                const auto key = offer == nullptr ? std::nullopt : book_.worker_of(offer->token);
                const bool queued = post([this, id = peer->id(), key, message = std::move(*message)](Desk& desk, Instant time) {
                  const auto* what = std::get_if<wire::Offer>(&message);
                  if (what == nullptr) {
                    if (std::holds_alternative<wire::Pulse>(message)) {
                      if (const auto known = peers_.find(id); known != peers_.end()) {
                        if (const auto trip = known->second->round_trip()) desk.measured(id, *trip, time);
                      }
                    }
                    return desk.hear(id, message, time);
                  }
                  if (!key) return close(id, "The token belongs to no connected worker.");
                  if (book_.is_barred(*key, unix_now())) return close(id, "Its wallet was convicted of a wrong answer and is suspended.");
                  if (std::exchange(joined_[id], true)) return close(id, "A worker offers once.");
                  desk.join(id, *key, *what, time);
                });
                if (!queued) peer->close("The coordinator has too much to do; try again later.");
              },
          .binary =
              [this](const std::shared_ptr<net::Peer>& peer, const std::string& bytes) {
                const ByteSpan span = as_bytes(bytes);
                const bool queued = post([id = peer->id(), frame = ByteVector(span.begin(), span.end())](Desk& desk, Instant time) mutable {
                  desk.hop(id, std::move(frame), time);
                });
                if (!queued) peer->close("The coordinator has too much to do; try again later.");
              },
          .oversized = [](const std::shared_ptr<net::Peer>& peer,
                          std::size_t bytes) { peer->close(std::format("A message of {} bytes is over the bound.", bytes)); },
          .closed =
              [this](const std::shared_ptr<net::Peer>& peer) {
                (void)post([this, id = peer->id()](Desk& desk, Instant time) {
                  peers_.erase(id);
                  joined_.erase(id);
                  desk.left(id, time);
                });
              },
          .cost = 1};
}

void ModelService::send(ServingId session, const wire::ServingCoordinatorMessage& message) {
  if (const auto peer = peers_.find(session); peer != peers_.end()) peer->second->send_text(wire::encode(message));
}

void ModelService::send_hop(ServingId session, ByteVector frame) {
  if (const auto peer = peers_.find(session); peer != peers_.end()) peer->second->send_binary(std::string(as_text(frame)));
}

void ModelService::close(ServingId session, const std::string& reason) {
  if (const auto peer = peers_.find(session); peer != peers_.end()) peer->second->close(reason);
}

// --- Answers.

void ModelService::set_terms(const ModelCard& card) {
  terms_.with([&](auto& terms) { terms[card.name] = {.price = card.price, .context = desk_.context_of(card)}; });
}

std::optional<ModelTerms> ModelService::terms(const std::string& model) const {
  return terms_.with([&](const auto& terms) {
    const auto found = terms.find(model);
    return found == terms.end() ? std::nullopt : std::optional(found->second);
  });
}

void ModelService::answer(OpenAiRequest request, const net::IncomingRequest& from, const net::Respond& respond, ChargedAnswers charged) {
  auto answer = std::make_shared<Answer>(request, from.connected, respond, std::move(charged.headers));
  const auto ids = std::make_shared<std::vector<AnswerId>>(std::move(charged.answers));
  const bool queued = post([this, answer, ids, request = std::move(request)](Desk& desk, Instant time) {
    std::size_t choice = 0;
    const ModelCard* const card = registry_.find(request.model);
    // Those that are not asked any more, since one before could not be.
    const auto give_up = [&] {
      for (std::size_t i = choice + 1; i < ids->size(); ++i) listener_.ended({.id = (*ids)[i], .end = {.reason = "failed"}});
    };
    for (const std::string& prompt : request.prompts) {
      for (std::uint32_t i = 0; i < request.choices; ++i, ++choice) {
        AnswerRequest one{.id = ++request_ids_, .model = request.model, .conversation = request.conversation, .ask = request.ask};
        one.ask.prompt = prompt;
        one.ask.seed += i;
        one.ask.prints = true;
        one.ask.now = unix_now() / 1000;
        Kept& kept = asked_[one.id];
        kept = {.answer = choice < ids->size() ? (*ids)[choice] : AnswerId{},
                .model = request.model,
                .embedding = card == nullptr ? 0 : card->embedding,
                .ask = one.ask};
        if (ids->empty()) crypto::random_bytes(kept.answer.bytes);
        answers_[one.id] = {.answer = answer, .choice = choice};
        const RequestId id = one.id;
        if (auto asked = desk.ask(std::move(one), time); !asked) {
          ended(id, {.reason = "failed", .error = asked.error()});
          return give_up();
        }
      }
    }
  });
  if (queued) return;
  for (const AnswerId& id : *ids) listener_.ended({.id = id, .end = {.reason = "failed"}});
  respond(openai_error(busy_error()));
}

void ModelService::report(RequestId request, const AnswerEnd& end) {
  auto node = asked_.extract(request);
  if (node.empty() || !listener_.ended) return;
  Kept& kept = node.mapped();
  const AnswerId id = kept.answer;
  kept.whole = end.reason != "cancelled";
  kept.ask.answered = end.answered;
  kept.prints = end.prints;
  finished_[id] = std::move(kept);
  listener_.ended({.id = id, .end = end});
}

void ModelService::audit(const AnswerAuditOrder& order) {
  const auto nobody = [this, id = order.id] { listener_.audited({.id = id}); };
  const bool queued = post([this, order, nobody](Desk& desk, Instant time) {
    const auto kept = finished_.find(order.id);
    if (kept == finished_.end()) return nobody();
    AuditRequest request{.id = ++request_ids_, .model = kept->second.model, .ask = kept->second.ask, .except = order.except, .draw = order.draw};
    audits_[request.id] = order.id;
    desk.audit(std::move(request), time);
  });
  if (!queued) nobody();
}

void ModelService::audited(RequestId request, const AuditEnd& end) {
  const auto node = audits_.extract(request);
  if (node.empty()) return;
  AnswerAudited out{.id = node.mapped()};
  const auto kept = finished_.find(out.id);
  if (end.error || kept == finished_.end()) {
    log_info("An answer could not be audited: {}", end.error ? end.error->message : "it is not known any more.");
    if (kept != finished_.end() && !end.auditors.empty()) out.verdict = AnswerVerdict::unheard;
    out.auditors = end.auditors;
    return listener_.audited(std::move(out));
  }
  const Kept& what = kept->second;
  const PrintsVerdict verdict =
      compare_prints(what.prints, end.prints, static_cast<std::uint32_t>(what.ask.answered.size()), what.whole, what.embedding);
  out.auditors = end.auditors;
  out.verdict = AnswerVerdict::unheard;
  if (verdict.readable) {
    out.verdict = verdict.agrees ? AnswerVerdict::agrees : AnswerVerdict::differs;
    out.reason = verdict.reason;
  }
  log_debug("An answer's fingerprints {}: {:.2g} off, {:.2g} others.", verdict.agrees ? "agree" : "differ", verdict.error, verdict.missing);
  listener_.audited(std::move(out));
}

void ModelService::settled(const AnswerId& answer) {
  (void)post([this, answer](Desk&, Instant) { finished_.erase(answer); });
}

void ModelService::bar(const PublicKey& worker) {
  (void)post([worker](Desk& desk, Instant time) { desk.expel(worker, "Its wallet was convicted of a wrong answer and is suspended.", time); });
}

void ModelService::tokens(RequestId request, const std::vector<wire::Token>& tokens) {
  if (const auto place = answers_.find(request); place != answers_.end()) place->second.answer->tokens(place->second.choice, tokens);
}

void ModelService::ended(RequestId request, const AnswerEnd& end) {
  report(request, end);
  auto node = answers_.extract(request);
  if (node.empty()) return;
  const auto answer = node.mapped().answer;
  if (!answer->end(node.mapped().choice, end)) return;
  // Nobody listens to its other choices any more.
  std::vector<RequestId> others;
  for (const auto& [id, place] : answers_) {
    if (place.answer == answer) others.push_back(id);
  }
  for (const RequestId id : others) answers_.erase(id);
  if (!others.empty()) {
    (void)post([others](Desk& desk, Instant time) {
      for (const RequestId id : others) desk.drop(id, time);
    });
  }
}

// --- Models.

std::string ModelService::model_json(const ModelCard& card) const {
  const auto served = desk_.models();
  const auto found = std::ranges::find(served, card.name, &ServedModel::name);
  const ServedModel state = found == served.end() ? ServedModel{} : *found;
  return std::format(
      R"({{"id":{},"object":"model","created":{},"owned_by":{},"weft":{{"state":"{}","chains":{},"shards":{},"running":{},"waiting":{},)"
      R"("file":"{}","bytes":{},"architecture":{},"layers":{},"context":{},"shards_min":{},"price_per_1k_tokens":{}}}}})",
      json_string(card.name), card.created / 1000, json_string(card.owner), state.state, state.chains, state.shards, state.running, state.waiting,
      card.file, card.bytes, json_string(card.architecture), card.layers, card.context, card.shards_min, card.price);
}

void ModelService::add(ModelCard card, const net::Respond& respond) {
  const bool queued = post([this, card = std::move(card), respond](Desk& desk, Instant time) {
    if (const ModelCard* old = registry_.find(card.name); old != nullptr && old->owner != card.owner)
      return respond(net::problem({ErrorCode::permission_denied, std::format("The model {} belongs to another client.", card.name)}));
    if (auto stored = registry_.put(card); !stored) return respond(net::problem(stored.error()));
    set_terms(card);
    desk.put_model(card, time);
    respond(net::json_reply(201, model_json(card)));
  });
  if (!queued) respond(net::problem(busy_error()));
}

void ModelService::remove(std::string name, std::string owner, const net::Respond& respond) {
  const bool queued = post([this, name = std::move(name), owner = std::move(owner), respond](Desk& desk, Instant time) {
    const ModelCard* card = registry_.find(name);
    if (card != nullptr && card->owner != owner)
      return respond(net::problem({ErrorCode::permission_denied, std::format("The model {} belongs to another client.", name)}));
    if (auto removed = registry_.remove(name); !removed) return respond(net::problem(removed.error()));
    terms_.with([&](auto& terms) { terms.erase(name); });
    desk.remove_model(name, time);
    respond(net::json_reply(200, std::format(R"({{"id":{},"object":"model","deleted":true}})", json_string(name))));
  });
  if (!queued) respond(net::problem(busy_error()));
}

void ModelService::list(const net::Respond& respond) {
  const bool queued = post([this, respond](Desk&, Instant) {
    std::string out;
    for (const ModelCard& card : registry_.cards()) out += (out.empty() ? "" : ",") + model_json(card);
    respond(net::json_reply(200, R"({"object":"list","data":[)" + out + "]}"));
  });
  if (!queued) respond(openai_error(busy_error()));
}

void ModelService::show(std::string name, const net::Respond& respond) {
  const bool queued = post([this, name = std::move(name), respond](Desk&, Instant) {
    if (const ModelCard* card = registry_.find(name)) return respond(net::json_reply(200, model_json(*card)));
    respond(openai_error({ErrorCode::not_found, std::format("The model '{}' does not exist here.", name)}));
  });
  if (!queued) respond(openai_error(busy_error()));
}

void ModelService::status(const net::Respond& respond) {
  const bool queued = post([respond](Desk& desk, Instant) {
    std::string workers;
    for (const ServedWorker& worker : desk.workers()) {
      std::string peers, lines;
      for (const ServedPeer& peer : worker.peers)
        peers += std::format(R"({}{{"worker":"{}","ms":{:.3f}}})", peers.empty() ? "" : ",", peer.key, peer.ms);
      for (const std::string& line : worker.lines) lines += (lines.empty() ? "" : ",") + json_string(line.substr(0, line.find('#')));
      workers += std::format(
          R"({}{{"worker":"{}","memory_bytes":{},"memory_free":{},"shards":{},"running":{},"load":{:.3f},"gb_per_s":{:.3f},"coordinator_ms":{:.3f},)"
          R"("direct_hops":{},"lines":[{}],"peers":[{}]}})",
          workers.empty() ? "" : ",", worker.key, worker.memory_bytes, worker.memory_free, worker.shards, worker.running, worker.load,
          worker.gb_per_s, worker.coordinator_ms, worker.direct_hops, lines, peers);
    }
    std::string chains;
    for (const ServedChain& chain : desk.chains()) {
      std::string members;
      for (const ServedMember& member : chain.members) {
        members += std::format(R"({}{{"worker":"{}","first_layer":{},"end_layer":{},"ms":{:.3f}}})", members.empty() ? "" : ",", member.key,
                               member.begin, member.end, member.ms);
      }
      chains +=
          std::format(R"({}{{"model":{},"state":"{}","transport":{},"wire":"{}","epoch":{},"running":{},"members":[{}]}})", chains.empty() ? "" : ",",
                      json_string(chain.model), chain.state, json_string(chain.transport), chain.wire, chain.epoch, chain.running, members);
    }
    std::string models;
    for (const ServedModel& model : desk.models()) {
      models +=
          std::format(R"({}{{"model":{},"state":"{}","chains":{},"shards":{},"covered":{},"running":{},"waiting":{}}})", models.empty() ? "" : ",",
                      json_string(model.name), model.state, model.chains, model.shards, model.covered, model.running, model.waiting);
    }
    const ServingCounters& counters = desk.counters();
    respond(net::json_reply(
        200,
        std::format(
            R"({{"workers":[{}],"models":[{}],"chains":[{}],"requests":{},"tokens":{},"resumed":{},"failed":{},"refused":{},"relayed_hops":{},"relayed_bytes":{},"direct_hops":{},"direct_bytes":{},"replanned":{}}})",
            workers, models, chains, counters.requests, counters.tokens, counters.resumed, counters.failed, counters.refused, counters.relayed_hops,
            counters.relayed_bytes, counters.direct_hops, counters.direct_bytes, counters.replanned)));
  });
  if (!queued) respond(net::problem(busy_error()));
}

void ModelService::metrics(std::function<void(std::string)> done) {
  const bool queued = post([done](Desk& desk, Instant) {
    const ServingCounters& c = desk.counters();
    std::string out;
    const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
      out += std::format("# HELP weft_llm_{0} {1}\n# TYPE weft_llm_{0} counter\nweft_llm_{0} {2}\n", name, help, value);
    };
    counter("requests_total", "Requests for answers of language models.", c.requests);
    counter("tokens_total", "Tokens that were answered with.", c.tokens);
    counter("resumed_total", "Answers that went on behind the loss of a worker.", c.resumed);
    counter("failed_total", "Requests that failed.", c.failed);
    counter("refused_total", "Requests that were refused since too many waited.", c.refused);
    counter("audits_total", "Answers that another worker read again.", c.audits);
    counter("relayed_bytes_total", "Bytes of hops that the coordinator passed on.", c.relayed_bytes);
    counter("direct_bytes_total", "Bytes of hops that went from worker to worker.", c.direct_bytes);
    counter("replanned_total", "Chains that became others since a token comes sooner that way.", c.replanned);
    done(out);
  });
  if (!queued) done({});
}

}  // namespace weft::coordinator
