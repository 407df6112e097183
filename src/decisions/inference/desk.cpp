// What the desk does when models and workers come and go, and when time passes.
#include "decisions/inference/desk.h"

#include <algorithm>
#include <array>

#include "common/base/format.h"
#include "common/base/log.h"

namespace weft::inference {

namespace wire = protocol::serving;

void Desk::put_model(const ModelCard& card, Instant now) {
  if (const auto old = models_.find(card.name); old != models_.end()) {
    const bool same =
        old->second.card.file == card.file && old->second.card.shards_min == card.shards_min;
    old->second.card = card;
    if (!same) old->second.backoff.worked();
    if (!same) {
      end_audits_of(card.name);
      std::vector<ChainId> chains;
      for (const auto& [id, chain] : chains_) {
        if (chain.model == card.name) chains.push_back(id);
      }
      for (const ChainId id : chains) dissolve(id, now);
      std::vector<std::uint32_t> standing;
      for (const auto& [id, shard] : shards_) {
        if (shard.model == card.name && !shard.chain) standing.push_back(id);
      }
      for (const std::uint32_t shard : standing) unload(shard);
    }
  } else {
    models_[card.name] = {.card = card, .busy = now};
  }
  form_where_needed(card.name, now);
}

void Desk::remove_model(const std::string& name, Instant now) {
  const auto model = models_.find(name);
  if (model == models_.end()) return;
  model->second.retry = Instant::max();  // What is dissolved now forms no new chain.
  end_audits_of(name);
  std::vector<RequestId> requests;
  for (const auto& [id, request] : requests_) {
    if (request.what.model == name) requests.push_back(id);
  }
  for (const RequestId id : requests)
    end(id, "failed", {ErrorCode::not_found, "The model was removed."}, now);
  std::vector<ChainId> chains;
  for (const auto& [id, chain] : chains_) {
    if (chain.model == name) chains.push_back(id);
  }
  for (const ChainId id : chains) dissolve(id, now);
  std::vector<std::uint32_t> standing;
  for (const auto& [id, shard] : shards_) {
    if (shard.model == name) standing.push_back(id);
  }
  for (const std::uint32_t shard : standing) unload(shard);
  models_.erase(name);
}

void Desk::join(ServingId session, const PublicKey& key, const wire::Offer& offer, Instant now) {
  workers_[session] = {.key = key, .offer = offer, .heard = now};
  ++room_;
  (void)topology_.heard({.id = weft::format("{}", session)}, now);
  world_.send(session, wire::Serving{.pulse_ms = static_cast<std::uint32_t>(
                                         settings_.pulse / std::chrono::milliseconds(1))});
  std::vector<std::string> names;
  for (auto& [name, model] : models_) {
    model.retry = {};
    names.push_back(name);
  }
  for (const std::string& name : names) {
    form_where_needed(name, now);
    stand_by(name);
  }
}

void Desk::hear(ServingId session, const wire::ServingWorkerMessage& message, Instant now) {
  const auto worker = workers_.find(session);
  if (worker == workers_.end()) return;
  worker->second.heard = now;
  std::visit([&](const auto& what) { on(session, what, now); }, message);
}

void Desk::left(ServingId session, Instant now) { lose_worker(session, now); }

void Desk::hop(ServingId session, ByteVector bytes, Instant now) {
  const auto worker = workers_.find(session);
  if (worker == workers_.end()) return;
  worker->second.heard = now;
  const auto frame = wire::decode_hop(bytes);
  const auto nonsense = [&](std::string_view why) {
    world_.close(session, std::string(why));
    lose_worker(session, now);
  };
  if (!frame) return nonsense(frame.error().message);
  if (frame->to == wire::hop_to_coordinator) return open_frame(session, *frame);
  if (StageTrace* const trace = trace_of(frame->chain, session))
    return take_replayed(*trace, *frame, now);
  const auto chain = chains_.find(ChainId(frame->chain));
  if (chain == chains_.end() || chain->second.epoch != frame->epoch)
    return;  // Sent before it heard.
  const auto& members = chain->second.members;
  if (frame->from >= members.size() || frame->to >= members.size() ||
      members[frame->from].worker != session)
    return nonsense("A hop comes from a worker that is not that member of the chain.");
  ++counters_.relayed_hops;
  counters_.relayed_bytes += bytes.size();
  world_.send_hop(members[frame->to].worker, std::move(bytes));
}

void Desk::tick(Instant now) {
  std::vector<ServingId> silent;
  for (const auto& [session, worker] : workers_) {
    const bool loads = std::ranges::any_of(
        worker.shards, [&](std::uint32_t shard) { return !shards_.at(shard).loaded; });
    if (now - worker.heard > (loads ? settings_.silent_busy_max : settings_.silent_max))
      silent.push_back(session);
  }
  for (const ServingId session : silent) {
    log_warning("Serving worker {} is silent; what it served goes elsewhere.",
                workers_.at(session).key.text());
    world_.close(session, "Nothing was heard for too long.");
    lose_worker(session, now);
  }
  std::vector<ChainId> stuck;
  for (const auto& [id, chain] : chains_) {
    const Duration age = now - chain.since;
    if ((chain.state == ChainState::loading && age > settings_.load_max) ||
        (chain.state == ChainState::linking && age > settings_.link_max) ||
        (chain.state == ChainState::ready && !chain.requests.empty() &&
         now - chain.progress > settings_.stall_max))
      stuck.push_back(id);
  }
  for (const ChainId id : stuck) {
    log_warning("A chain of {} makes no progress; another one is formed.", chains_.at(id).model);
    dissolve(id, now);
  }
  look_after_audits(now);
  look_after_roots(now);
  look_after_traces(now);
  end_late(now);
  std::vector<RequestId> late;
  for (const auto& [id, request] : requests_) {
    if (!request.chain && now - request.since > settings_.patience) late.push_back(id);
  }
  for (const RequestId id : late) {
    const std::string& trouble = models_.at(requests_.at(id).what.model).trouble;
    end(id, "failed",
        {ErrorCode::unavailable,
         trouble.empty() ? "No worker had room for the request; try again later." : trouble},
        now);
  }
  std::vector<std::string> names;
  for (const auto& [name, model] : models_) names.push_back(name);
  for (const std::string& name : names) {
    form_where_needed(name, now);
    shrink(name, now);
    stand_by(name);
  }
  look_at_chains(now);
}

// Nothing here is so exact that it needs its own alarm.
std::optional<Instant> Desk::next_deadline() const {
  if (workers_.empty() && requests_.empty()) return std::nullopt;
  std::optional<Instant> soonest;
  for (const auto& [session, worker] : workers_)
    soonest = std::min(soonest.value_or(Instant::max()), worker.heard + settings_.pulse);
  return soonest;
}

std::vector<ServedModel> Desk::models() const {
  std::vector<ServedModel> out;
  for (const auto& [name, model] : models_) {
    ServedModel view{.name = name,
                     .state = "no worker",
                     .waiting = static_cast<std::uint32_t>(model.waiting.size()),
                     .wire = wire_of(model.card)};
    for (const auto& [id, chain] : chains_) {
      if (chain.model != name) continue;
      const bool exact = std::ranges::all_of(chain.members, [&](const Member& member) {
        const auto shard = shards_.find(member.shard);
        return shard != shards_.end() && shard->second.exact;
      });
      view.exact = exact && (view.exact || view.chains == 0);
      if (view.state != "ready")
        view.state = chain.state == ChainState::ready ? "ready" : "loading";
      view.trusted += chain.state == ChainState::ready && is_trusted(chain) ? 1 : 0;
      ++view.chains;
      view.shards += static_cast<std::uint32_t>(chain.members.size());
      view.running += static_cast<std::uint32_t>(chain.requests.size());
      for (const Member& member : chain.members)
        view.covered += is_covered(chain, member, true) ? 1 : 0;
    }
    if (!settings_.newcomers_answer && view.state == "ready" && view.trusted == 0)
      view.state = "newcomers";
    view.auditable = is_auditable(model);
    out.push_back(std::move(view));
  }
  return out;
}

std::vector<ServedWorker> Desk::workers() const {
  std::vector<ServedWorker> out;
  for (const auto& [session, worker] : workers_) {
    ServedWorker view{.key = worker.key.text(),
                      .memory_bytes = worker.offer.memory_bytes,
                      .memory_free = memory_free(worker),
                      .shards = static_cast<std::uint32_t>(worker.shards.size()),
                      .running = worker.pulse.running,
                      .load = worker.pulse.load,
                      .gb_per_s = speed_of(worker),
                      .coordinator_ms = worker.coordinator_ms,
                      .direct_hops = worker.pulse.direct_hops,
                      .lines = worker.offer.lines};
    for (const auto& [peer, ms] : worker.peers) {
      if (const auto known = workers_.find(peer); known != workers_.end())
        view.peers.push_back({.key = known->second.key.text(), .ms = ms});
    }
    out.push_back(std::move(view));
  }
  return out;
}

std::vector<ServedChain> Desk::chains() const {
  std::vector<ServedChain> out;
  for (const auto& [id, chain] : chains_) {
    constexpr std::array<std::string_view, 3> states{"loading", "linking", "ready"};
    ServedChain view{.model = chain.model,
                     .state = std::string(states[static_cast<std::size_t>(chain.state)]),
                     .transport = chain.transport,
                     .wire = wire_of(models_.at(chain.model).card),
                     .epoch = chain.epoch,
                     .running = static_cast<std::uint32_t>(chain.requests.size())};
    for (const Member& member : chain.members) {
      const auto worker = workers_.find(member.worker);
      view.members.push_back({.key = worker == workers_.end() ? "" : worker->second.key.text(),
                              .begin = member.begin,
                              .end = member.end,
                              .ms = member.ms});
    }
    out.push_back(std::move(view));
  }
  return out;
}

}  // namespace weft::inference
