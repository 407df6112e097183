// Requests: handed to chains, followed token by token, ended once.
#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"
#include "common/proof/fingerprint.h"
#include "decisions/inference/desk.h"
#include "decisions/inference/modality.h"
#include "decisions/inference/vectors.h"

namespace weft::inference {

namespace wire = protocol::serving;

namespace {

constexpr std::size_t conversations_max = 4096;

}  // namespace

void keep_prints(Prints& prints, const std::vector<protocol::serving::Print>& told,
                 std::size_t answered) {
  for (const wire::Print& print : told) {
    if (!prints.contains(print.at) && prints.size() >= answered / 16 + 16) continue;
    if (auto bytes = from_base64(print.data)) prints[print.at] = std::move(*bytes);
  }
}

Result<> Desk::ask(AnswerRequest what, Instant now) {
  const auto model = models_.find(what.model);
  if (model == models_.end())
    return fail(ErrorCode::not_found, "The model '{}' does not exist here.", what.model);
  if (model->second.waiting.size() >= settings_.waiting_max &&
      !make_room(model->second, what.asker, now)) {
    ++counters_.refused;
    return fail(ErrorCode::resource_exhausted,
                "{} requests for {} wait already; try again in a moment.",
                model->second.waiting.size(), what.model);
  }
  const auto wait = wait_of(what.model);
  if (what.patience && wait && *wait > *what.patience) {
    ++counters_.refused;
    return fail(ErrorCode::deadline_exceeded,
                "Its turn would come in about {:.1f} s; deadline_ms allows {:.1f} s.",
                seconds(*wait), seconds(*what.patience));
  }
  ++counters_.requests;
  const RequestId id = what.id;
  const std::string name = what.model;
  Request& request = requests_[id];
  request = {.what = std::move(what), .since = now};
  if (request.what.patience) request.deadline = now + *request.what.patience;
  model->second.waiting.push_back(id);
  hand_out(name, now);
  form_where_needed(name, now);
  return {};
}

// Those that wait take their turns as answers end, each after the mean time of one.
std::optional<Duration> Desk::wait_of(const std::string& name) const {
  const Model& model = models_.at(name);
  std::size_t places = 0, taken = 0;
  for (const auto& [id, chain] : chains_) {
    if (chain.model != name || chain.state != ChainState::ready || chain.retiring) continue;
    places += settings_.sequences;
    taken += chain.requests.size();
  }
  if (places == 0 || model.pace == Duration::zero()) return std::nullopt;
  const std::size_t before = model.waiting.size() + taken;
  if (before < places) return Duration::zero();
  return model.pace * (before - places + 1) / places;
}

// What is not wanted any more holds no place.
void Desk::end_late(Instant now) {
  std::vector<RequestId> late;
  for (const auto& [id, request] : requests_) {
    if (request.deadline && now >= *request.deadline) late.push_back(id);
  }
  for (const RequestId id : late) {
    const auto chain = chains_.find(requests_.at(id).chain);
    if (chain != chains_.end() && chain->second.state == ChainState::ready)
      world_.send(chain->second.members[0].worker, wire::Drop{.request = id});
    end(id, "failed",
        {ErrorCode::deadline_exceeded, "The answer was not there within deadline_ms."}, now);
  }
}

void Desk::drop(RequestId id, Instant now) {
  const auto request = requests_.find(id);
  if (request == requests_.end()) return;
  if (const auto chain = chains_.find(request->second.chain);
      chain != chains_.end() && chain->second.state == ChainState::ready)
    world_.send(chain->second.members[0].worker, wire::Drop{.request = id});
  end(id, "cancelled", {ErrorCode::cancelled, "The client has gone."}, now);
}

// The first request that waits, of the asker that has the fewest under way.
// `can`: of those that could be answered now.
std::deque<RequestId>::iterator Desk::next_of(Model& model,
                                              const std::function<bool(const Request&)>& can) {
  std::map<std::uint64_t, std::size_t> running;
  for (const auto& [id, chain] : chains_) {
    if (chain.model != model.card.name) continue;
    for (const RequestId request : chain.requests) ++running[requests_.at(request).what.asker];
  }
  const auto count = [&](RequestId id) {
    const auto own = running.find(requests_.at(id).what.asker);
    return own == running.end() ? 0 : own->second;
  };
  auto best = model.waiting.end();
  for (auto one = model.waiting.begin(); one != model.waiting.end(); ++one) {
    if (!can(requests_.at(*one))) continue;
    if (best == model.waiting.end() || count(*one) < count(*best)) best = one;
  }
  return best;
}

// Where all places to wait are taken, an asker with fewer of them takes the last of the one with
// the most. An answer that has begun is never given up.
bool Desk::make_room(Model& model, std::uint64_t asker, Instant now) {
  std::map<std::uint64_t, std::size_t> waiting;
  for (const RequestId id : model.waiting) ++waiting[requests_.at(id).what.asker];
  const auto most =
      std::ranges::max_element(waiting, {}, [](const auto& entry) { return entry.second; });
  if (most == waiting.end() || most->second <= waiting[asker] + 1) return false;
  const auto last =
      std::ranges::find_if(model.waiting.rbegin(), model.waiting.rend(), [&](RequestId id) {
        const Request& request = requests_.at(id);
        return request.what.asker == most->first && request.shards == 0;
      });
  if (last == model.waiting.rend()) return false;
  ++counters_.refused;
  end(*last, "failed",
      {ErrorCode::resource_exhausted,
       "Others asked, and too many of your requests wait; try again in a moment."},
      now);
  return true;
}

std::size_t Desk::capacity_of(const Chain& chain) const {
  if (chain.members.size() != 1) return settings_.sequences;
  const auto shard = shards_.find(chain.members[0].shard);
  return shard == shards_.end() || shard->second.sequences == 0 ? settings_.sequences
                                                                : shard->second.sequences;
}

void Desk::hand_out(const std::string& name, Instant now) {
  const auto model = models_.find(name);
  if (model == models_.end()) return;
  auto& waiting = model->second.waiting;
  const auto has_place = [&](const Chain& chain) {
    return chain.model == name && chain.state == ChainState::ready && !chain.retiring &&
           chain.requests.size() < capacity_of(chain);
  };
  while (!waiting.empty()) {
    const auto next = next_of(model->second, [&](const Request& request) {
      return std::ranges::any_of(chains_, [&](const auto& entry) {
        return has_place(entry.second) && may_answer(entry.second, request);
      });
    });
    if (next == waiting.end()) return;
    const Request& request = requests_.at(*next);
    const auto known = conversations_.find(request.what.conversation);
    ChainId best;
    const auto rank = [&](ChainId id) {
      const Chain& chain = chains_.at(id);
      return std::pair(known == conversations_.end() || known->second != id, chain.requests.size());
    };
    for (const auto& [id, chain] : chains_) {
      if (!has_place(chain) || !may_answer(chain, request)) continue;
      if (!best || rank(id) < rank(best)) best = id;
    }
    if (!best) return;
    const RequestId id = *next;
    waiting.erase(next);
    chains_.at(best).requests.insert(id);
    ask_chain(id, best, now);
  }
}

bool Desk::has_room_for_shadow(const std::string& name) const {
  return std::ranges::any_of(chains_, [&](const auto& entry) {
    const Chain& chain = entry.second;
    return chain.model == name && chain.state == ChainState::ready && !chain.retiring &&
           chain.requests.empty() && !is_trusted(chain);
  });
}

void Desk::ask_chain(RequestId id, ChainId chain_id, Instant now) {
  Request& request = requests_.at(id);
  Chain& chain = chains_.at(chain_id);
  if (request.shards == 0) {
    request.shards = static_cast<std::uint32_t>(chain.members.size());
  } else {
    ++request.resumed;
    ++counters_.resumed;
  }
  request.chain = chain_id;
  if (request.begun == Instant{}) request.begun = now;
  chain.progress = now;
  if (!conversations_.contains(request.what.conversation))
    conversations_order_.push_back(request.what.conversation);
  conversations_[request.what.conversation] = chain_id;
  if (conversations_order_.size() > conversations_max) {
    conversations_.erase(conversations_order_.front());
    conversations_order_.pop_front();
  }
  wire::Ask ask = request.what.ask;
  ask.request = id;
  ask.chain = chain_id.number();
  ask.epoch = chain.epoch;
  ask.answered = request.answered;
  world_.send(chain.members[0].worker, ask);
}

void Desk::end(RequestId id, std::string reason, Error error, Instant now) {
  auto node = requests_.extract(id);
  if (node.empty()) return;
  const Request& request = node.mapped();
  AnswerEnd end{.reason = std::move(reason),
                .error = std::move(error),
                .prompt_tokens = request.prompt_tokens,
                .cached_tokens = std::min(request.cached_tokens, request.prompt_tokens),
                .answer_tokens = static_cast<std::uint32_t>(request.answered.size()),
                .shards = request.shards,
                .resumed = request.resumed,
                .answered = request.answered,
                .prints = request.prints,
                .vector = request.vector};
  for (const auto& [worker, work] : request.work)
    end.work.push_back({.worker = worker, .work = work});
  const auto chain = chains_.find(request.chain);
  if (chain != chains_.end()) {
    chain->second.requests.erase(id);
    chain->second.progress = now;
    end.transport = chain->second.transport;
    end.exact = request.resumed == 0 && is_exact(chain->second);
    if (request.resumed == 0) end.pipeline = pipeline_of(chain->first, request);
    for (const Member& member : chain->second.members) {
      if (const auto worker = workers_.find(member.worker); worker != workers_.end())
        end.workers.push_back(worker->second.key.text());
    }
  }
  if (const auto model = models_.find(request.what.model); model != models_.end())
    std::erase(model->second.waiting, id);
  if (end.reason == "failed") ++counters_.failed;
  world_.ended(id, end);
  hand_out(request.what.model, now);
}

// The request, where that worker answers it in that epoch of its chain.
Desk::Request* Desk::request_of(ServingId session, RequestId id, std::uint32_t epoch) {
  const auto request = requests_.find(id);
  if (request == requests_.end()) return nullptr;
  const auto chain = chains_.find(request->second.chain);
  if (chain == chains_.end() || chain->second.epoch != epoch ||
      chain->second.state != ChainState::ready || chain->second.members[0].worker != session)
    return nullptr;
  return &request->second;
}

// The prompt counts for the chain that draws the first token behind it.
void Desk::count_work(Request& request, std::uint64_t tokens) {
  if (!request.prompt_counted && request.prompt_tokens > 0) {
    request.prompt_counted = true;
    tokens += request.prompt_tokens;
  }
  if (tokens == 0) return;
  for (const Member& member : chains_.at(request.chain).members) {
    if (const auto worker = workers_.find(member.worker); worker != workers_.end())
      request.work[worker->second.key] += tokens * (member.end - member.begin);
  }
}

void Desk::on(ServingId session, const wire::Tokens& message, Instant now) {
  if (audit_hears(session, message)) return;
  Request* request = request_of(session, message.request, message.epoch);
  if (request == nullptr) return;
  const auto& ask = request->what.ask;
  const std::uint32_t vocabulary = models_.at(request->what.model).card.vocabulary;
  const bool are_tokens = std::ranges::all_of(message.tokens, [&](const wire::Token& token) {
    return token.id >= 0 && static_cast<std::uint32_t>(token.id) < vocabulary;
  });
  if (message.first != request->answered.size() || !are_tokens ||
      request->answered.size() + message.tokens.size() > ask.tokens_max) {
    log_warning("A worker tells of tokens that are not the next ones of an answer.");
    return dissolve(request->chain, now);
  }
  if (!message.tokens.empty()) chains_.at(request->chain).progress = now;
  for (const wire::Token& token : message.tokens) request->answered.push_back(token.id);
  keep_prints(request->prints, message.prints, request->answered.size());
  request->prompt_tokens = static_cast<std::uint32_t>(ask.prompt.size());
  count_work(*request, message.tokens.size());
  counters_.tokens += message.tokens.size();
  world_.tokens(message.request, message.tokens);
}

// Its fingerprint is made here, so that the one that is audited is of the vector that is given
// away.
bool Desk::take_vector(Request& request, const std::string& text) {
  auto vector = read_vector(text, models_.at(request.what.model).card.embedding);
  if (!vector) {
    log_warning("A worker sends no vector of its model: {}", vector.error().message);
    return false;
  }
  if (const auto print = proof::fingerprint(*vector)) request.prints = {{0, *print}};
  request.vector = std::move(*vector);
  return true;
}

bool Desk::ends_so(const Request& request, const std::string& reason) const {
  const ModelCard& card = models_.at(request.what.model).card;
  if (makes_vectors(card)) return true;  // Its end is its vector, which take_vector() looks at.
  const auto& ask = request.what.ask;
  if (reason == "length") {
    const std::size_t all = ask.prompt.size() + request.answered.size();
    return request.answered.size() >= ask.tokens_max || all >= context_of(card);
  }
  return (reason != "eos" && reason != "stop") || world_.ends_so(request.what.id, reason);
}

void Desk::on(ServingId session, const wire::Answered& message, Instant now) {
  if (audit_hears(session, message) || trace_hears(session, message, now)) return;
  Request* request = request_of(session, message.request, message.epoch);
  if (request == nullptr) return;
  request->sequence = message.sequence;
  if (!ends_so(*request, message.reason)) {
    log_warning("A worker ends an answer ({}) before its end.", message.reason);
    return dissolve(request->chain, now);
  }
  request->prompt_tokens = static_cast<std::uint32_t>(request->what.ask.prompt.size());
  request->cached_tokens = message.reused_tokens;
  if (message.reason == "eos" && makes_vectors(models_.at(request->what.model).card) &&
      !take_vector(*request, message.vector))
    return dissolve(request->chain, now);
  if (message.reason != "failed") count_work(*request, 0);
  if (message.reason == "eos" || message.reason == "stop" || message.reason == "length") {
    constexpr std::int64_t smoothing = 4;  // A new answer counts as one of so many.
    Duration& pace = models_.at(request->what.model).pace;
    const Duration took = now - request->begun;
    pace = pace == Duration::zero() ? took : pace + (took - pace) / smoothing;
    return end(message.request, message.reason, {}, now);
  }
  const ErrorCode code =
      message.reason == "failed" ? error_code_from(message.code) : ErrorCode::internal;
  // A device that is lost says nothing about the request.
  if (code == ErrorCode::device_lost || code == ErrorCode::out_of_memory)
    return dissolve(request->chain, now);
  // Its words are for the log: a client reads nothing that a worker wrote.
  log_info("A worker could not answer ({}): {}", message.code, message.message);
  end(message.request, "failed",
      {code, weft::format("The worker could not answer ({}).", to_string(code))}, now);
}

}  // namespace weft::inference
