// Requests: handed to chains, followed token by token, ended once.
#include <algorithm>
#include <utility>

#include "apps/coordinator/serving/desk.h"
#include "common/base/log.h"

namespace weft::coordinator {

namespace wire = protocol::serving;

namespace {

constexpr std::size_t conversations_max = 4096;

}  // namespace

void keep_prints(Prints& prints, const std::vector<protocol::serving::Print>& told, std::size_t answered) {
  for (const wire::Print& print : told) {
    if (!prints.contains(print.at) && prints.size() >= answered / 16 + 16) continue;
    if (auto bytes = from_base64(print.data)) prints[print.at] = std::move(*bytes);
  }
}

Result<> Desk::ask(AnswerRequest what, Instant now) {
  const auto model = models_.find(what.model);
  if (model == models_.end()) return fail(ErrorCode::not_found, "The model '{}' does not exist here.", what.model);
  if (model->second.waiting.size() >= settings_.waiting_max) {
    ++counters_.refused;
    return fail(ErrorCode::resource_exhausted, "{} requests for {} wait already; try again in a moment.", model->second.waiting.size(), what.model);
  }
  ++counters_.requests;
  const RequestId id = what.id;
  const std::string name = what.model;
  requests_[id] = {.what = std::move(what), .since = now};
  model->second.waiting.push_back(id);
  hand_out(name, now);
  form_where_needed(name, now);
  return {};
}

void Desk::drop(RequestId id, Instant now) {
  const auto request = requests_.find(id);
  if (request == requests_.end()) return;
  if (const auto chain = chains_.find(request->second.chain); chain != chains_.end() && chain->second.state == ChainState::ready)
    world_.send(chain->second.members[0].worker, wire::Drop{.request = id});
  end(id, "cancelled", {ErrorCode::cancelled, "The client has gone."}, now);
}

void Desk::hand_out(const std::string& name, Instant now) {
  const auto model = models_.find(name);
  if (model == models_.end()) return;
  auto& waiting = model->second.waiting;
  while (!waiting.empty()) {
    const Request& request = requests_.at(waiting.front());
    const auto known = conversations_.find(request.what.conversation);
    ChainId best = 0;
    const auto rank = [&](ChainId id) {
      const Chain& chain = chains_.at(id);
      return std::pair(known == conversations_.end() || known->second != id, chain.requests.size());
    };
    for (const auto& [id, chain] : chains_) {
      if (chain.model != name || chain.state != ChainState::ready || chain.retiring || chain.requests.size() >= settings_.sequences) continue;
      if (best == 0 || rank(id) < rank(best)) best = id;
    }
    if (best == 0) return;
    const RequestId id = waiting.front();
    waiting.pop_front();
    chains_.at(best).requests.insert(id);
    ask_chain(id, best, now);
  }
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
  chain.progress = now;
  if (!conversations_.contains(request.what.conversation)) conversations_order_.push_back(request.what.conversation);
  conversations_[request.what.conversation] = chain_id;
  if (conversations_order_.size() > conversations_max) {
    conversations_.erase(conversations_order_.front());
    conversations_order_.pop_front();
  }
  wire::Ask ask = request.what.ask;
  ask.request = id;
  ask.chain = chain_id;
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
                .answer_tokens = static_cast<std::uint32_t>(request.answered.size()),
                .shards = request.shards,
                .resumed = request.resumed,
                .answered = request.answered,
                .prints = request.prints};
  for (const auto& [worker, work] : request.work) end.work.push_back({.worker = worker, .work = work});
  const auto chain = chains_.find(request.chain);
  if (chain != chains_.end()) {
    chain->second.requests.erase(id);
    chain->second.progress = now;
    end.transport = chain->second.transport;
    for (const Member& member : chain->second.members) {
      if (const auto worker = workers_.find(member.worker); worker != workers_.end()) end.workers.push_back(worker->second.key.text());
    }
  }
  if (const auto model = models_.find(request.what.model); model != models_.end()) std::erase(model->second.waiting, id);
  if (end.reason == "failed") ++counters_.failed;
  world_.ended(id, end);
  hand_out(request.what.model, now);
}

// The request, where that worker answers it in that epoch of its chain.
Desk::Request* Desk::request_of(ServingId session, RequestId id, std::uint32_t epoch) {
  const auto request = requests_.find(id);
  if (request == requests_.end()) return nullptr;
  const auto chain = chains_.find(request->second.chain);
  if (chain == chains_.end() || chain->second.epoch != epoch || chain->second.state != ChainState::ready ||
      chain->second.members[0].worker != session)
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
  if (message.first != request->answered.size() || request->answered.size() + message.tokens.size() > request->what.ask.tokens_max) {
    log_warning("A worker tells of tokens that are not the next ones of an answer.");
    return dissolve(request->chain, now);
  }
  if (!message.tokens.empty()) chains_.at(request->chain).progress = now;
  for (const wire::Token& token : message.tokens) request->answered.push_back(token.id);
  keep_prints(request->prints, message.prints, request->answered.size());
  request->prompt_tokens = std::min(message.prompt_tokens, settings_.context_max);
  count_work(*request, message.tokens.size());
  counters_.tokens += message.tokens.size();
  world_.tokens(message.request, message.tokens);
}

void Desk::on(ServingId session, const wire::Answered& message, Instant now) {
  if (audit_hears(session, message)) return;
  Request* request = request_of(session, message.request, message.epoch);
  if (request == nullptr) return;
  request->prompt_tokens = std::min(message.prompt_tokens, settings_.context_max);
  if (message.reason != "failed") count_work(*request, 0);
  const bool known = message.reason == "eos" || message.reason == "stop" || message.reason == "length";
  if (known) return end(message.request, message.reason, {}, now);
  const ErrorCode code = message.reason == "failed" ? error_code_from(message.code) : ErrorCode::internal;
  // A device that is lost says nothing about the request.
  if (code == ErrorCode::device_lost || code == ErrorCode::out_of_memory) return dissolve(request->chain, now);
  end(message.request, "failed", {code, message.message.empty() ? "The worker ended the answer." : message.message}, now);
}

}  // namespace weft::coordinator
