#include "decisions/inference/request_queue.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/inference/modality.h"

namespace weft::inference {

namespace wire = protocol::serving;

namespace {

constexpr std::int64_t answers_of_pace = 4;  // A new answer weighs 1/4 in the mean.

bool may_answer(const DeskTables& tables, const Chain& chain, const AnswerRequest& request) {
  if (request.shadow) return !tables.chains.is_trusted(chain);
  return request.for_newcomers || tables.chains.is_trusted(chain);
}

// True if the answer's tokens end in the way that the worker reports.
bool ends_so(const DeskTables& tables, const AnswerRequest& request, std::size_t answered,
             const std::string& reason) {
  const ModelCard& card = tables.models.at(request.model);
  // A model that makes vectors has no tokens to end with; its vector is checked when it comes.
  if (makes_vectors(card)) return true;
  if (reason == "length")
    return answered >= request.ask.tokens_max ||
           request.ask.prompt.size() + answered >= tables.shards.context_of(card);
  return (reason != "eos" && reason != "stop") || tables.world.ends_so(request.id, reason);
}

// Tells the worker that the client no longer wants the answer.
void tell_dropped(const DeskTables& tables, RequestId id, ChainId chain_id) {
  const Chain* const chain = tables.chains.find(chain_id);
  if (chain != nullptr && chain->state == ChainState::ready)
    tables.world.send(chain->members[0].worker, wire::Drop{.request = id});
}

}  // namespace

void RequestQueue::end_all(const std::string& model, Instant now) {
  std::vector<RequestId> ids;
  for (const auto& [id, request] : requests_) {
    if (request.what.model == model) ids.push_back(id);
  }
  for (const RequestId id : ids)
    end(id, "failed", {ErrorCode::not_found, "The model was removed."}, now);
}

Result<> RequestQueue::ask(AnswerRequest what, Instant now) {
  const auto queue = queues_.find(what.model);
  if (queue == queues_.end())
    return fail(ErrorCode::not_found, "The model '{}' does not exist here.", what.model);
  auto& waiting = queue->second.waiting;
  if (waiting.size() >= tables_.settings.waiting_max && !make_room(what.model, what.asker, now)) {
    ++tables_.counters.refused;
    return fail(ErrorCode::resource_exhausted,
                "{} requests for the model {} wait already; try again in a moment.", waiting.size(),
                what.model);
  }
  const auto wait = wait_of(what.model);
  if (what.patience && wait && *wait > *what.patience) {
    ++tables_.counters.refused;
    return fail(ErrorCode::deadline_exceeded,
                "The request would wait about {:.1f} s for its turn; deadline_ms allows {:.1f} s.",
                seconds(*wait), seconds(*what.patience));
  }
  ++tables_.counters.requests;
  const RequestId id = what.id;
  const std::string name = what.model;
  Request& request = requests_[id];
  request = {.what = std::move(what), .since = now};
  if (request.what.patience) request.deadline = now + *request.what.patience;
  waiting.push_back(id);
  hand_out(name, now);
  return {};
}

// The estimate assumes that each place takes the next waiting request after the mean time of one
// answer.
std::optional<Duration> RequestQueue::wait_of(const std::string& model) const {
  const Queue& queue = queues_.at(model);
  std::size_t places = 0, taken = 0;
  for (const auto& [id, chain] : tables_.chains.all()) {
    if (chain.model != model || chain.state != ChainState::ready || chain.retiring) continue;
    places += tables_.chains.capacity_of(chain);
    taken += chain.requests.size();
  }
  if (places == 0 || queue.pace == Duration::zero()) return std::nullopt;
  const std::size_t before = queue.waiting.size() + taken;
  if (before < places) return Duration::zero();
  return queue.pace * (before - places + 1) / places;
}

// Ends each request whose deadline has passed, so that it takes no place any more.
void RequestQueue::end_late(Instant now) {
  std::vector<RequestId> late;
  for (const auto& [id, request] : requests_) {
    if (request.deadline && now >= *request.deadline) late.push_back(id);
  }
  for (const RequestId id : late) {
    tell_dropped(tables_, id, requests_.at(id).chain);
    end(id, "failed",
        {ErrorCode::deadline_exceeded, "The answer was not complete within deadline_ms."}, now);
  }
}

void RequestQueue::end_unserved(const std::function<std::string(const std::string& model)>& trouble,
                                Instant now) {
  std::vector<RequestId> late;
  for (const auto& [id, request] : requests_) {
    if (!request.chain && now - request.since > tables_.settings.patience) late.push_back(id);
  }
  for (const RequestId id : late) {
    std::string why = trouble(requests_.at(id).what.model);
    if (why.empty()) why = "No worker had room for the request; try again later.";
    end(id, "failed", {ErrorCode::unavailable, std::move(why)}, now);
  }
}

void RequestQueue::drop(RequestId id, Instant now) {
  const auto request = requests_.find(id);
  if (request == requests_.end()) return;
  tell_dropped(tables_, id, request->second.chain);
  end(id, "cancelled", {ErrorCode::cancelled, "The client has closed the connection."}, now);
}

// The first waiting request of the asker with the fewest requests under way. Only requests for
// which `can` is true are considered.
std::deque<RequestId>::iterator RequestQueue::next_of(
    const std::string& model, const std::function<bool(const Request&)>& can) {
  std::map<std::uint64_t, std::size_t> running;
  for (const auto& [id, chain] : tables_.chains.all()) {
    if (chain.model != model) continue;
    for (const RequestId request : chain.requests) ++running[requests_.at(request).what.asker];
  }
  const auto count = [&](RequestId id) {
    const auto own = running.find(requests_.at(id).what.asker);
    return own == running.end() ? 0 : own->second;
  };
  auto& waiting = queues_.at(model).waiting;
  auto best = waiting.end();
  for (auto one = waiting.begin(); one != waiting.end(); ++one) {
    if (!can(requests_.at(*one))) continue;
    if (best == waiting.end() || count(*one) < count(*best)) best = one;
  }
  return best;
}

bool RequestQueue::make_room(const std::string& model, std::uint64_t asker, Instant now) {
  const auto& queue = queues_.at(model).waiting;
  std::map<std::uint64_t, std::size_t> waiting;
  for (const RequestId id : queue) ++waiting[requests_.at(id).what.asker];
  const auto most =
      std::ranges::max_element(waiting, {}, [](const auto& entry) { return entry.second; });
  if (most == waiting.end() || most->second <= waiting[asker] + 1) return false;
  const auto last = std::ranges::find_if(queue.rbegin(), queue.rend(), [&](RequestId id) {
    const Request& request = requests_.at(id);
    return request.what.asker == most->first && request.shards == 0;
  });
  if (last == queue.rend()) return false;
  ++tables_.counters.refused;
  end(*last, "failed",
      {ErrorCode::resource_exhausted,
       "Other clients sent requests, and too many of yours wait; try again in a moment."},
      now);
  return true;
}

ChainId RequestQueue::chain_for(const Request& request) const {
  const ChainId known = conversations_.chain_of(request.what.conversation);
  const auto rank = [&](ChainId id) {
    return std::pair(known != id, tables_.chains.at(id).requests.size());
  };
  ChainId best;
  for (const auto& [id, chain] : tables_.chains.all()) {
    if (chain.model != request.what.model || !tables_.chains.has_place(chain) ||
        !may_answer(tables_, chain, request.what))
      continue;
    if (!best || rank(id) < rank(best)) best = id;
  }
  return best;
}

void RequestQueue::hand_out(const std::string& model, Instant now) {
  const auto queue = queues_.find(model);
  if (queue == queues_.end()) return;
  auto& waiting = queue->second.waiting;
  while (!waiting.empty()) {
    const auto next = next_of(
        model, [&](const Request& request) { return static_cast<bool>(chain_for(request)); });
    if (next == waiting.end()) return;
    const RequestId id = *next;
    const ChainId chain = chain_for(requests_.at(id));
    waiting.erase(next);
    tables_.chains.at(chain).requests.insert(id);
    ask_chain(id, chain, now);
  }
}

void RequestQueue::resume(ChainId id, Instant now) {
  for (const RequestId request : tables_.chains.at(id).requests) ask_chain(request, id, now);
}

void RequestQueue::give_back(const Chain& chain, Instant now) {
  std::vector<RequestId> tired;
  for (auto request = chain.requests.rbegin(); request != chain.requests.rend(); ++request) {
    Request& waits = requests_.at(*request);
    waits.chain = {};
    waits.since = now;
    if (waits.resumed >= tables_.settings.resumes_max) {
      tired.push_back(*request);
    } else {
      queues_.at(chain.model).waiting.push_front(*request);
    }
  }
  for (const RequestId request : tired)
    end(request, "failed",
        {ErrorCode::unavailable, "The workers that answered the request were lost too many times."},
        now);
}

void RequestQueue::ask_chain(RequestId id, ChainId chain_id, Instant now) {
  Request& request = requests_.at(id);
  Chain& chain = tables_.chains.at(chain_id);
  if (request.shards == 0) {
    request.shards = static_cast<std::uint32_t>(chain.members.size());
  } else {
    ++request.resumed;
    ++tables_.counters.resumed;
  }
  request.chain = chain_id;
  if (request.begun == Instant{}) request.begun = now;
  chain.progress = now;
  conversations_.answered_by(request.what.conversation, chain_id);
  wire::Ask ask = request.what.ask;
  ask.request = id;
  ask.chain = chain_id.number();
  ask.epoch = chain.epoch;
  ask.answered = request.record.tokens();
  tables_.world.send(chain.members[0].worker, ask);
}

void RequestQueue::end(RequestId id, std::string reason, Error error, Instant now) {
  auto node = requests_.extract(id);
  if (node.empty()) return;
  const Request& request = node.mapped();
  AnswerEnd end = request.record.end(std::move(reason), std::move(error));
  end.shards = request.shards;
  end.resumed = request.resumed;
  if (Chain* const chain = tables_.chains.find(request.chain)) {
    chain->requests.erase(id);
    chain->progress = now;
    end.transport = chain->transport;
    end.exact = request.resumed == 0 && tables_.chains.is_exact(*chain);
    if (request.resumed == 0)
      end.pipeline = tables_.chains.pipeline_of(request.chain, request.record.sequence());
    for (const ChainMember& member : chain->members) {
      if (const ServingWorker* const worker = tables_.workers.find(member.worker))
        end.workers.push_back(worker->key.text());
    }
  }
  if (const auto queue = queues_.find(request.what.model); queue != queues_.end())
    std::erase(queue->second.waiting, id);
  if (end.reason == "failed") ++tables_.counters.failed;
  tables_.world.ended(id, end);
  hand_out(request.what.model, now);
}

RequestQueue::Request* RequestQueue::request_of(ServingId session, RequestId id,
                                                std::uint32_t epoch) {
  const auto request = requests_.find(id);
  if (request == requests_.end()) return nullptr;
  const Chain* const chain = tables_.chains.find(request->second.chain);
  if (chain == nullptr || chain->epoch != epoch || chain->state != ChainState::ready ||
      chain->members[0].worker != session)
    return nullptr;
  return &request->second;
}

void RequestQueue::count_work(Request& request, std::uint64_t drawn) const {
  const std::uint64_t tokens = request.record.work_of(drawn);
  if (tokens == 0) return;
  for (const ChainMember& member : tables_.chains.at(request.chain).members) {
    if (const ServingWorker* const worker = tables_.workers.find(member.worker))
      request.record.add_work(worker->key, tokens * (member.end - member.begin));
  }
}

std::optional<ChainId> RequestQueue::on(ServingId session, const wire::Tokens& message,
                                        Instant now) {
  Request* const request = request_of(session, message.request, message.epoch);
  if (request == nullptr) return std::nullopt;
  const std::uint32_t vocabulary = tables_.models.at(request->what.model).vocabulary;
  if (!request->record.take(message, request->what.ask, vocabulary)) {
    log_warning("A worker sends tokens that are not the next ones of its answer.");
    return request->chain;
  }
  if (!message.tokens.empty()) tables_.chains.at(request->chain).progress = now;
  count_work(*request, message.tokens.size());
  tables_.counters.tokens += message.tokens.size();
  tables_.world.tokens(message.request, message.tokens);
  return std::nullopt;
}

std::optional<ChainId> RequestQueue::on(ServingId session, const wire::Answered& message,
                                        Instant now) {
  Request* const request = request_of(session, message.request, message.epoch);
  if (request == nullptr) return std::nullopt;
  if (!ends_so(tables_, request->what, request->record.tokens().size(), message.reason)) {
    log_warning("A worker ends an answer ({}) too early.", message.reason);
    return request->chain;
  }
  request->record.ended(message, request->what.ask.prompt.size());
  const ModelCard& card = tables_.models.at(request->what.model);
  if (message.reason == "eos" && makes_vectors(card) &&
      !request->record.take_vector(message.vector, card.embedding))
    return request->chain;
  if (message.reason != "failed") count_work(*request, 0);
  if (message.reason == "eos" || message.reason == "stop" || message.reason == "length") {
    Duration& pace = queues_.at(request->what.model).pace;
    const Duration took = now - request->begun;
    pace = pace == Duration::zero() ? took : pace + (took - pace) / answers_of_pace;
    end(message.request, message.reason, {}, now);
    return std::nullopt;
  }
  const ErrorCode code =
      message.reason == "failed" ? error_code_from(message.code) : ErrorCode::internal;
  // The request is not at fault if a device is lost or out of memory: the chain is dissolved, and
  // the request goes to another one.
  if (code == ErrorCode::device_lost || code == ErrorCode::out_of_memory) return request->chain;
  // The worker's message goes to the log only, because a client must read no text that a worker
  // wrote.
  log_info("A worker could not answer ({}): {}", message.code, message.message);
  end(message.request, "failed",
      {code, weft::format("The worker could not answer ({}).", to_string(code))}, now);
  return std::nullopt;
}

RequestQueue::Demand RequestQueue::demand(const std::string& model) const {
  const auto queue = queues_.find(model);
  if (queue == queues_.end() || queue->second.waiting.empty()) return {};
  const auto& waiting = queue->second.waiting;
  return {.waiting = waiting.size(),
          .since = requests_.at(waiting.front()).since,
          .wants_trusted = std::ranges::any_of(waiting, [&](RequestId id) {
            const AnswerRequest& what = requests_.at(id).what;
            return !what.for_newcomers && !what.shadow;
          })};
}

std::string RequestQueue::inconsistency() const {
  std::size_t waiting = 0;
  for (const auto& [name, queue] : queues_) {
    waiting += queue.waiting.size();
    for (const RequestId id : queue.waiting) {
      const auto request = requests_.find(id);
      if (request == requests_.end() || request->second.what.model != name ||
          request->second.chain || std::ranges::count(queue.waiting, id) != 1)
        return weft::format("request {} does not wait for {}", id, name);
      if (const ChainId chain = chain_for(request->second))
        return weft::format("request {} waits although chain {} has a place", id, chain.number());
    }
  }
  for (const auto& [id, chain] : tables_.chains.all()) {
    for (const RequestId request : chain.requests) {
      const auto entry = requests_.find(request);
      if (entry == requests_.end() || entry->second.chain != id)
        return weft::format("request {} of chain {} is not its own", request, id.number());
    }
  }
  for (const auto& [id, request] : requests_) {
    if (!request.chain) {
      --waiting;
      continue;
    }
    const Chain* const chain = tables_.chains.find(request.chain);
    if (chain == nullptr || !chain->requests.contains(id))
      return weft::format("request {} is not answered by its chain {}", id, request.chain.number());
    if (request.record.tokens().size() > request.what.ask.tokens_max)
      return weft::format("request {} has {} tokens", id, request.record.tokens().size());
  }
  return waiting == 0 ? "" : "requests without a chain are not those that wait";
}

}  // namespace weft::inference
