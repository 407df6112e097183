#include "decisions/inference/answer_audits.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"

namespace weft::inference {

namespace wire = protocol::serving;

void AnswerAudits::audit(AuditRequest request, Instant now) {
  const RequestId id = request.id;
  if (audits_.size() >= tables_.settings.audits_waiting_max ||
      !tables_.models.contains(request.model))
    return tables_.world.audited(id,
                                 {.error = Error{ErrorCode::resource_exhausted,
                                                 "Too many answers are being audited already."}});
  Audit& audit = audits_[id];
  audit.what = std::move(request);
  audit.since = now;
  begin_or_wait(id);
}

void AnswerAudits::begin_or_wait(RequestId id) {
  Audit& audit = audits_.at(id);
  audit.waiting = true;
  if (!may_begin() || begin(audit)) return;
  audit.waiting = std::ranges::any_of(audits_, [&](const auto& entry) {
    const Audit& other = entry.second;
    return other.shard && other.what.model == audit.what.model &&
           !std::ranges::contains(audit.what.except, tables_.workers.key(other.worker));
  });
  if (!audit.waiting)
    end(id, Error{ErrorCode::unavailable,
                  "No other worker that could audit the answer holds the model."});
}

bool AnswerAudits::may_begin() const {
  return static_cast<std::size_t>(std::ranges::count_if(audits_, [](const auto& entry) {
           return !entry.second.waiting;
         })) < tables_.settings.audits_max;
}

bool AnswerAudits::begin(Audit& audit) {
  if (!audit.plain) {
    const ChainId chain = tables_.chains.next_id();
    const auto [shard, busy] = weighing_.choose(tables_.models.at(audit.what.model),
                                                audit.what.except, audit.what.draw, chain);
    if (busy) return false;  // It is worth waiting for, so that floods of answers cannot avoid it.
    if (shard) {
      use(audit, shard, chain);
      audit.waiting = false;
      ++tables_.counters.audits;
      return true;
    }
  }
  if (!by_chain(audit) && !by_holder(audit) && !by_room(audit)) return false;
  audit.waiting = false;
  ++tables_.counters.audits;
  return true;
}

bool AnswerAudits::by_chain(Audit& audit) {
  std::vector<ChainId> able;
  for (const auto& [id, chain] : tables_.chains.all()) {
    if (chain.model != audit.what.model || chain.state != ChainState::ready) continue;
    const bool other = std::ranges::none_of(chain.members, [&](const ChainMember& member) {
      return std::ranges::contains(audit.what.except, tables_.workers.key(member.worker));
    });
    if (other) able.push_back(id);
  }
  if (able.empty()) return false;
  audit.chain = able[audit.what.draw % able.size()];
  const Chain& chain = tables_.chains.at(audit.chain);
  audit.epoch = chain.epoch;
  audit.worker = chain.members.front().worker;
  for (const ChainMember& member : chain.members)
    audit.auditors.push_back(tables_.workers.key(member.worker));
  ask(audit);
  return true;
}

bool AnswerAudits::by_holder(Audit& audit) {
  const std::uint32_t layers = tables_.models.at(audit.what.model).layers;
  std::vector<ShardId> able;
  for (const auto& [id, shard] : tables_.shards.all()) {
    if (shard.chain || !shard.can_take(audit.what.model, 0, layers)) continue;
    if (!std::ranges::contains(audit.what.except, tables_.workers.key(shard.worker)))
      able.push_back(id);
  }
  if (able.empty()) return false;
  const ShardId shard = able[audit.what.draw % able.size()];
  const ChainId chain = tables_.chains.next_id();
  // Lends the shard to the audit, so that the worker's engine has no other use during the audit.
  tables_.shards.lend(shard, chain);
  use(audit, shard, chain);
  return true;
}

void AnswerAudits::use(Audit& audit, ShardId id, ChainId chain) const {
  const Shard& shard = tables_.shards.at(id);
  audit.shard = id;
  audit.chain = chain;
  audit.worker = shard.worker;
  audit.auditors.push_back(tables_.workers.key(shard.worker));
  if (shard.loaded) link(audit);  // A shard that is still loading is linked by loaded().
}

// Prefers a worker that serves nothing to one that serves other models and has room beside them.
bool AnswerAudits::by_room(Audit& audit) {
  const ModelCard& card = tables_.models.at(audit.what.model);
  std::vector<Candidate> able = tables_.shards.candidates({});
  std::erase_if(able, [&](Candidate& one) {
    const ServingWorker& worker = tables_.workers.at(one.session);
    one.memory_free = tables_.shards.memory_beside(worker);
    // Excludes a worker that uses this model already, because it takes its audits one after the
    // other.
    const bool at_work = tables_.shards.any_of(
        worker, [&](const Shard& shard) { return shard.chain && shard.model == card.name; });
    return at_work || std::ranges::contains(audit.what.except, worker.key);
  });
  std::vector<Candidate> idle = able;
  std::erase_if(idle, [](const Candidate& one) { return one.load > 0; });
  auto worker = tables_.shards.place(card, 0, card.layers, idle);
  if (!worker) worker = tables_.shards.place(card, 0, card.layers, able);
  if (!worker) return false;
  const ChainId chain = tables_.chains.next_id();
  use(audit, tables_.shards.load(*worker, chain, card.name, 0, card.layers), chain);
  return true;
}

void AnswerAudits::link(Audit& audit) const {
  tables_.world.send(audit.worker,
                     wire::Link{.chain = audit.chain.number(),
                                .epoch = ++audit.epoch,
                                .index = 0,
                                .wire = tables_.settings.wire,
                                .members = {{.worker = tables_.workers.key(audit.worker),
                                             .shard = audit.shard.number(),
                                             .lines = {}}}});
}

void AnswerAudits::ask(const Audit& audit) const {
  wire::Ask ask = audit.what.ask;
  ask.request = audit.what.id;
  ask.chain = audit.chain.number();
  ask.epoch = audit.epoch;
  ask.audit = true;
  ask.prints = true;
  ask.tokens_max = static_cast<std::uint32_t>(ask.answered.size());
  tables_.world.send(audit.worker, ask);
}

void AnswerAudits::end(RequestId id, std::optional<Error> error) {
  auto node = audits_.extract(id);
  if (node.empty()) return;
  Audit& audit = node.mapped();
  const Chain* const by_chain = tables_.chains.find(audit.chain);
  bool exact = by_chain != nullptr && tables_.chains.is_exact(*by_chain);
  const Shard* const shard = audit.shard ? tables_.shards.find(audit.shard) : nullptr;
  if (shard != nullptr) {
    exact = shard->exact;
    tables_.world.send(audit.worker, wire::Unlink{.chain = audit.chain.number()});
    if (shard->loaded && !error) {
      tables_.shards.lend(audit.shard, {});  // The shard stands by again, for the next audit.
    } else {
      tables_.shards.unload(audit.shard);  // The worker may still be busy with it.
    }
  } else if (!audit.shard && error && !audit.waiting && tables_.workers.contains(audit.worker)) {
    tables_.world.send(audit.worker, wire::Drop{.request = id});
  }
  tables_.world.audited(id, {.error = std::move(error),
                             .auditors = std::move(audit.auditors),
                             .prints = std::move(audit.prints),
                             .beside = std::move(audit.beside),
                             .redrawn = audit.redrawn,
                             .doubtful = std::move(audit.doubtful),
                             .exact = exact});
  for (auto& [other, waits] : audits_) {
    if (waits.waiting && may_begin() && begin(waits)) break;
  }
}

void AnswerAudits::look(Instant now) {
  std::vector<RequestId> lost, slow;
  for (const auto& [id, audit] : audits_) {
    const Shard* const shard = audit.shard ? tables_.shards.find(audit.shard) : nullptr;
    if (shard != nullptr && shard->weighs && !shard->loaded &&
        now - audit.since > tables_.settings.audit_max / 2)
      slow.push_back(id);
  }
  for (const RequestId id : slow) {
    Audit& audit = audits_.at(id);
    tables_.shards.lend(audit.shard, {});  // It goes on loading, for later audits.
    audit.plain = true;
    audit.take_back();
    begin_or_wait(id);
  }
  for (auto& [id, audit] : audits_) {
    if (audit.waiting && may_begin()) (void)begin(audit);
    const Chain* const chain = tables_.chains.find(audit.chain);
    const bool broken =
        !audit.waiting && !audit.shard && (chain == nullptr || chain->epoch != audit.epoch);
    if (broken || now - audit.since > tables_.settings.audit_max) lost.push_back(id);
  }
  for (const RequestId id : lost)
    end(id, Error{ErrorCode::deadline_exceeded,
                  "The audit did not end in time, or the chain that ran it was lost."});
}

void AnswerAudits::end_on(ServingId worker) {
  weighing_.forget(worker);
  std::vector<RequestId> lost;
  for (const auto& [id, audit] : audits_) {
    if (audit.worker == worker) lost.push_back(id);
  }
  for (const RequestId id : lost)
    end(id, Error{ErrorCode::unavailable, "The worker that audited the answer has left."});
}

void AnswerAudits::end_of_model(const std::string& model) {
  weighing_.forget(model);
  std::vector<RequestId> lost;
  for (const auto& [id, audit] : audits_) {
    if (audit.what.model == model) lost.push_back(id);
  }
  for (const RequestId id : lost)
    end(id, Error{ErrorCode::not_found, "The model was changed or removed."});
}

const AnswerAudits::Audit* AnswerAudits::of_chain(ChainId chain) const {
  const auto found = std::ranges::find_if(audits_, [&](const auto& entry) {
    return entry.second.shard && entry.second.chain == chain;
  });
  return found == audits_.end() ? nullptr : &found->second;
}
AnswerAudits::Audit* AnswerAudits::of_chain(ChainId chain) {
  return const_cast<Audit*>(std::as_const(*this).of_chain(chain));
}

bool AnswerAudits::loaded(ChainId chain) {
  Audit* const audit = of_chain(chain);
  if (audit != nullptr) link(*audit);
  return audit != nullptr;
}

bool AnswerAudits::unloaded(ChainId chain, const std::string& message) {
  Audit* const audit = of_chain(chain);
  if (audit == nullptr) return false;
  if (!tables_.shards.at(audit->shard).weighs) {
    end(audit->what.id, Error{ErrorCode::unavailable, message});
    return true;
  }
  log_info("A root cannot weigh the answers of {}: {}", audit->what.model, message);
  weighing_.refused(audit->shard);
  audit->take_back();
  begin_or_wait(audit->what.id);
  return true;
}

bool AnswerAudits::linked(ServingId session, const wire::Linked& message) const {
  const Audit* const audit = of_chain(ChainId(message.chain));
  if (audit == nullptr) return false;
  if (audit->worker == session && audit->epoch == message.epoch) ask(*audit);
  return true;
}

bool AnswerAudits::broken(ServingId session, const wire::Broken& message) {
  const Audit* const audit = of_chain(ChainId(message.chain));
  if (audit == nullptr || audit->worker != session) return false;
  end(audit->what.id, Error{ErrorCode::unavailable, message.message});
  return true;
}

bool AnswerAudits::on(ServingId session, const wire::Tokens& message) {
  const auto found = audits_.find(message.request);
  if (found == audits_.end()) return false;
  Audit& audit = found->second;
  if (audit.worker != session || audit.epoch != message.epoch) return true;
  keep_prints(audit.prints, message.prints, audit.what.ask.answered.size());
  keep_prints(audit.beside, message.beside, audit.what.ask.answered.size());
  return true;
}

bool AnswerAudits::on(ServingId session, const wire::Answered& message) {
  const auto found = audits_.find(message.request);
  if (found == audits_.end()) return false;
  if (found->second.worker != session || found->second.epoch != message.epoch) return true;
  found->second.redrawn = message.redrawn;
  found->second.doubtful = message.doubtful;
  std::optional<Error> error;
  if (message.reason == "failed") error = Error{error_code_from(message.code), message.message};
  end(message.request, std::move(error));
  return true;
}

std::size_t AnswerAudits::holders_of(ShardId shard) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      audits_, [&](const auto& entry) { return entry.second.shard == shard; }));
}

std::string AnswerAudits::inconsistency() const {
  for (const auto& [id, audit] : audits_) {
    if (audit.waiting) {
      if (audit.shard) return weft::format("audit {} waits and has a shard", id);
      continue;
    }
    const ServingWorker* const worker = tables_.workers.find(audit.worker);
    if (worker == nullptr)
      return weft::format("audit {} is asked of worker {}, which has left", id, audit.worker);
    if (std::ranges::contains(audit.what.except, worker->key))
      return weft::format("audit {} is asked of worker {}, which may not", id, audit.worker);
    const Shard* const shard = tables_.shards.find(audit.shard);
    if (audit.shard &&
        (shard == nullptr || shard->worker != audit.worker || shard->chain != audit.chain))
      return weft::format("audit {} does not have its shard {}", id, audit.shard.number());
  }
  return {};
}

}  // namespace weft::inference
