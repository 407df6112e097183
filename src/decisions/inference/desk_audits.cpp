// Audits: an answer read once more by others, for its fingerprints.
#include <algorithm>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "decisions/inference/desk.h"

namespace weft::inference {

namespace wire = protocol::serving;

void Desk::audit(AuditRequest request, Instant now) {
  const RequestId id = request.id;
  if (audits_.size() >= settings_.audits_waiting_max || !models_.contains(request.model))
    return world_.audited(
        id, {.error = Error{ErrorCode::resource_exhausted, "Too much is being audited."}});
  Audit& audit = audits_[id];
  audit.what = std::move(request);
  audit.since = now;
  audit.waiting = !may_begin_audit();
  if (audit.waiting || begin_audit(audit)) return;
  audit.waiting = std::ranges::any_of(audits_, [&](const auto& entry) {
    const Audit& other = entry.second;
    return other.shard != 0 && other.what.model == audit.what.model &&
           !std::ranges::contains(audit.what.except, workers_.at(other.worker).key);
  });
  if (!audit.waiting)
    end_audit(id, Error{ErrorCode::unavailable, "No other worker holds the model."});
}

bool Desk::may_begin_audit() const {
  return static_cast<std::size_t>(std::ranges::count_if(audits_, [](const auto& entry) {
           return !entry.second.waiting;
         })) <= settings_.audits_max;
}

// For each chain of trusted workers there must be another one that shares no member with it, or a
// trusted worker outside that holds all of the model or has room for it. Where no chain has formed,
// one of `shards_min` workers would.
bool Desk::is_auditable(const Model& model) const {
  const ModelCard& card = model.card;
  const std::uint64_t all =
      shard_bytes(card, 0, card.layers, context_of(card), settings_.sequences);
  std::set<ServingId> alone;
  for (const auto& [session, worker] : workers_) {
    if (!is_trusted(session)) continue;
    const bool holds = std::ranges::any_of(worker.shards, [&](std::uint32_t number) {
      const Shard& shard = shards_.at(number);
      return shard.model == card.name && shard.begin == 0 && shard.end == card.layers;
    });
    if (holds || memory_beside(worker) >= all) alone.insert(session);
  }
  std::vector<std::set<ServingId>> chains;
  for (const auto& [id, chain] : chains_) {
    if (chain.model != card.name || chain.state != ChainState::ready || !is_trusted(chain))
      continue;
    std::set<ServingId> members;
    for (const Member& member : chain.members) members.insert(member.worker);
    chains.push_back(std::move(members));
  }
  if (chains.empty()) return alone.size() > card.shards_min;
  return std::ranges::all_of(chains, [&](const auto& members) {
    const auto outside = [&](ServingId worker) { return !members.contains(worker); };
    return std::ranges::any_of(alone, outside) ||
           std::ranges::any_of(
               chains, [&](const auto& other) { return std::ranges::all_of(other, outside); });
  });
}

bool Desk::begin_audit(Audit& audit) {
  if (!audit_by_chain(audit) && !audit_by_holder(audit) && !audit_by_room(audit)) return false;
  audit.waiting = false;
  ++counters_.audits;
  return true;
}

bool Desk::audit_by_chain(Audit& audit) {
  std::vector<ChainId> able;
  for (const auto& [id, chain] : chains_) {
    if (chain.model != audit.what.model || chain.state != ChainState::ready) continue;
    const bool other = std::ranges::none_of(chain.members, [&](const Member& member) {
      return std::ranges::contains(audit.what.except, workers_.at(member.worker).key);
    });
    if (other) able.push_back(id);
  }
  if (able.empty()) return false;
  audit.chain = able[audit.what.draw % able.size()];
  const Chain& chain = chains_.at(audit.chain);
  audit.epoch = chain.epoch;
  audit.worker = chain.members.front().worker;
  for (const Member& member : chain.members)
    audit.auditors.push_back(workers_.at(member.worker).key);
  ask_audit(audit);
  return true;
}

bool Desk::audit_by_holder(Audit& audit) {
  const std::uint32_t layers = models_.at(audit.what.model).card.layers;
  std::vector<std::uint32_t> able;
  for (const auto& [id, shard] : shards_) {
    if (shard.chain || shard.model != audit.what.model || shard.begin != 0 || shard.end != layers)
      continue;
    if (!std::ranges::contains(audit.what.except, workers_.at(shard.worker).key))
      able.push_back(id);
  }
  if (able.empty()) return false;
  audit.shard = able[audit.what.draw % able.size()];
  audit.chain = ++chain_ids_;
  Shard& shard = shards_.at(audit.shard);
  shard.chain = audit.chain;  // Stands by no more, so that its engine has no other use meanwhile.
  audit.worker = shard.worker;
  audit.auditors.push_back(workers_.at(shard.worker).key);
  if (shard.loaded) link_audit(audit);  // Otherwise when it has been.
  return true;
}

// What is left beside the shards of chains and those that it stands by with.
std::uint64_t Desk::memory_beside(const Worker& worker) const {
  std::uint64_t used = 0;
  for (const std::uint32_t id : worker.shards) used += shards_.at(id).bytes;
  return worker.offer.memory_bytes - std::min(used, worker.offer.memory_bytes);
}

// One that serves nothing first; else one that serves other models and has room beside them.
bool Desk::audit_by_room(Audit& audit) {
  const ModelCard& card = models_.at(audit.what.model).card;
  std::vector<Candidate> able = candidates(nullptr);
  std::erase_if(able, [&](Candidate& one) {
    const Worker& worker = workers_.at(one.session);
    one.memory_free = memory_beside(worker);
    // One that has the model at work already takes its audits one after the other.
    const bool at_work = std::ranges::any_of(worker.shards, [&](std::uint32_t id) {
      return shards_.at(id).chain && shards_.at(id).model == card.name;
    });
    return at_work || std::ranges::contains(audit.what.except, worker.key);
  });
  std::vector<Candidate> idle = able;
  std::erase_if(idle, [](const Candidate& one) { return one.load > 0; });
  const auto place = [&](std::span<const Candidate> those) {
    return place_shard(card, 0, card.layers, those, context_of(card), settings_.sequences);
  };
  auto worker = place(idle);
  if (!worker) worker = place(able);
  if (!worker) return false;
  audit.chain = ++chain_ids_;
  audit.worker = *worker;
  audit.auditors.push_back(workers_.at(*worker).key);
  audit.shard = send_load(*worker, audit.chain, card.name, 0, card.layers);
  return true;
}

bool Desk::serves_audits_alone(const Shard& shard) const {
  const auto model = models_.find(shard.model);
  if (model == models_.end() || shard.begin != 0 || shard.end != model->second.card.layers)
    return false;
  if (shard.chain && chains_.contains(shard.chain)) return false;
  return std::ranges::any_of(chains_, [&](const auto& entry) {
    return entry.second.model == shard.model && entry.second.members.size() > 1;
  });
}

void Desk::link_audit(Audit& audit) {
  const Worker& worker = workers_.at(audit.worker);
  world_.send(audit.worker,
              wire::Link{.chain = audit.chain.number(),
                         .epoch = ++audit.epoch,
                         .index = 0,
                         .wire = settings_.wire,
                         .members = {{.worker = worker.key, .shard = audit.shard, .lines = {}}}});
}

void Desk::ask_audit(const Audit& audit) {
  wire::Ask ask = audit.what.ask;
  ask.request = audit.what.id;
  ask.chain = audit.chain.number();
  ask.epoch = audit.epoch;
  ask.audit = true;
  ask.prints = true;
  ask.tokens_max = static_cast<std::uint32_t>(ask.answered.size());
  world_.send(audit.worker, ask);
}

void Desk::end_audit(RequestId id, std::optional<Error> error) {
  auto node = audits_.extract(id);
  if (node.empty()) return;
  Audit& audit = node.mapped();
  const auto by_chain = chains_.find(audit.chain);
  bool exact = by_chain != chains_.end() && is_exact(by_chain->second);
  if (const auto shard = shards_.find(audit.shard); audit.shard != 0 && shard != shards_.end())
    exact = shard->second.exact;
  if (audit.shard != 0) {
    if (const auto shard = shards_.find(audit.shard); shard != shards_.end()) {
      world_.send(audit.worker, wire::Unlink{.chain = audit.chain.number()});
      if (shard->second.loaded && !error) {
        shard->second.chain = {};  // For the next audit, or to stand by.
        ++room_;
      } else {
        unload(audit.shard);  // It may be at it still.
      }
    }
  } else if (error && !audit.waiting && workers_.contains(audit.worker)) {
    world_.send(audit.worker, wire::Drop{.request = id});
  }
  world_.audited(id, {.error = std::move(error),
                      .auditors = std::move(audit.auditors),
                      .prints = std::move(audit.prints),
                      .redrawn = audit.redrawn,
                      .doubtful = std::move(audit.doubtful),
                      .exact = exact});
  for (auto& [other, waits] : audits_) {
    if (waits.waiting && may_begin_audit() && begin_audit(waits)) break;
  }
}

void Desk::look_after_audits(Instant now) {
  std::vector<RequestId> lost;
  for (auto& [id, audit] : audits_) {
    if (audit.waiting && may_begin_audit()) (void)begin_audit(audit);
    const auto chain = chains_.find(audit.chain);
    const bool broken = !audit.waiting && audit.shard == 0 &&
                        (chain == chains_.end() || chain->second.epoch != audit.epoch);
    if (broken || now - audit.since > settings_.audit_max) lost.push_back(id);
  }
  for (const RequestId id : lost)
    end_audit(id, Error{ErrorCode::deadline_exceeded, "The audit did not come to its end."});
}

void Desk::end_audits_on(ServingId worker) {
  std::vector<RequestId> lost;
  for (const auto& [id, audit] : audits_) {
    if (audit.worker == worker) lost.push_back(id);
  }
  for (const RequestId id : lost)
    end_audit(id, Error{ErrorCode::unavailable, "The auditor has left."});
}

void Desk::end_audits_of(const std::string& model) {
  std::vector<RequestId> lost;
  for (const auto& [id, audit] : audits_) {
    if (audit.what.model == model) lost.push_back(id);
  }
  for (const RequestId id : lost)
    end_audit(id, Error{ErrorCode::not_found, "The model was changed or removed."});
}

const Desk::Audit* Desk::audit_of_chain(ChainId chain) const {
  const auto found = std::ranges::find_if(audits_, [&](const auto& entry) {
    return entry.second.shard != 0 && entry.second.chain == chain;
  });
  return found == audits_.end() ? nullptr : &found->second;
}
Desk::Audit* Desk::audit_of_chain(ChainId chain) {
  return const_cast<Audit*>(std::as_const(*this).audit_of_chain(chain));
}

bool Desk::audit_hears(ServingId session, const wire::Tokens& message) {
  const auto found = audits_.find(message.request);
  if (found == audits_.end()) return false;
  Audit& audit = found->second;
  if (audit.worker != session || audit.epoch != message.epoch) return true;
  keep_prints(audit.prints, message.prints, audit.what.ask.answered.size());
  return true;
}

bool Desk::audit_hears(ServingId session, const wire::Answered& message) {
  const auto found = audits_.find(message.request);
  if (found == audits_.end()) return false;
  if (found->second.worker != session || found->second.epoch != message.epoch) return true;
  found->second.redrawn = message.redrawn;
  found->second.doubtful = message.doubtful;
  std::optional<Error> error;
  if (message.reason == "failed") error = Error{error_code_from(message.code), message.message};
  end_audit(message.request, std::move(error));
  return true;
}

void Desk::expel(const PublicKey& key, const std::string& why, Instant now) {
  std::vector<ServingId> sessions;
  for (const auto& [session, worker] : workers_) {
    if (worker.key == key) sessions.push_back(session);
  }
  for (const ServingId session : sessions) {
    world_.close(session, why);
    lose_worker(session, now);
  }
}

}  // namespace weft::inference
