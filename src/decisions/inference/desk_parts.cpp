#include "decisions/inference/desk_parts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "common/base/format.h"
#include "common/base/log.h"

namespace weft::inference {

namespace wire = protocol::serving;

// --- Changes of chains.

void Desk::Parts::ready(ChainId id, Instant now) {
  const std::string model = tables.chains.at(id).model;
  planning.served(model);
  requests.resume(id, now);
  requests.hand_out(model, now);
  standby.stand_by(model);
}

void Desk::Parts::dissolved(const Chain& chain, Instant now) {
  requests.give_back(chain, now);
  planning.form_where_needed(chain.model, now);
  requests.hand_out(chain.model, now);
}

void Desk::Parts::stop_serving(const std::string& model, Instant now) {
  for (const ChainId id : tables.chains.of_model(model)) {
    if (tables.chains.contains(id)) keeper.dissolve(id, now);
  }
  for (const ShardId shard : tables.shards.of_model(model)) tables.shards.unload(shard);
}

// --- Workers that leave.

void Desk::Parts::lose_worker(ServingId session, Instant now) {
  if (!tables.workers.contains(session)) return;
  const std::set<ShardId> shards = tables.workers.remove(session);
  tables.lines.left(session);
  std::set<ChainId> chains;
  for (const ShardId shard : shards) {
    if (const ChainId chain = tables.shards.at(shard).chain) chains.insert(chain);
    tables.shards.forget(shard);
  }
  // All chains of the worker stop taking requests before the first of them is mended, so that none
  // of them gets the requests of another.
  for (const ChainId id : chains) {
    if (Chain* const chain = tables.chains.find(id)) chain->state = ChainState::loading;
  }
  for (const ChainId id : chains) {
    if (tables.chains.contains(id)) keeper.mend(id, now);
  }
  searches.end_on(session, now);
  // Called after the worker is forgotten, so that a waiting audit or search is not given to it.
  audits.end_on(session);
}

void Desk::Parts::close(ServingId session, const std::string& why, Instant now) {
  tables.world.close(session, why);
  lose_worker(session, now);
}

void Desk::Parts::lose_silent(Instant now) {
  std::vector<ServingId> silent;
  for (const auto& [session, worker] : tables.workers.all()) {
    const bool loads = tables.shards.any_of(worker, [](const Shard& one) { return !one.loaded; });
    if (now - worker.heard > (loads ? tables.settings.silent_busy_max : tables.settings.silent_max))
      silent.push_back(session);
  }
  for (const ServingId session : silent) {
    log_warning("Serving worker {} is silent; other workers take over its requests.",
                tables.workers.key(session).text());
    close(session, "The coordinator has heard nothing from the worker for too long.", now);
  }
}

// --- Messages of workers.

void Desk::Parts::on(ServingId session, const wire::Loaded& message, Instant now) {
  if (!tables.shards.loaded(session, message)) return;
  const Shard& shard = tables.shards.at(ShardId(message.shard));
  const ChainId chain = shard.chain;
  if (!chain) return standby.stand_by(std::string(shard.model));
  if (tables.chains.contains(chain)) keeper.advance(chain, now);
  (void)audits.loaded(chain);
  (void)searches.loaded(chain, session);
}

void Desk::Parts::on(ServingId session, const wire::Unloaded& message, Instant now) {
  const Shard* const shard = tables.shards.find(ShardId(message.shard));
  if (shard == nullptr || shard->worker != session) return;
  const ChainId chain = shard->chain;
  const std::uint64_t bytes = shard->bytes;
  if (!chain)
    return shard->weighs ? weighing.refused(ShardId(message.shard))
                         : standby.refused(ShardId(message.shard));
  if (audits.unloaded(chain, message.message) || searches.failed(chain, session, now)) return;
  planning.refused(tables.chains.at(chain).model, message.message, now);
  keeper.dissolve(chain, now);
  // The worker has less memory than it offered.
  if (message.code == to_string(ErrorCode::out_of_memory) ||
      message.code == to_string(ErrorCode::resource_exhausted)) {
    ServingWorker& worker = tables.workers.at(session);
    worker.offer.memory_bytes = std::min(worker.offer.memory_bytes, bytes - bytes / 8);
  }
}

void Desk::Parts::on(ServingId session, const wire::Linked& message, Instant now) {
  if (!audits.linked(session, message) && !searches.linked(session, message))
    keeper.on(session, message, now);
}

void Desk::Parts::on(ServingId session, const wire::Broken& message, Instant now) {
  if (!audits.broken(session, message) && !searches.failed(ChainId(message.chain), session, now))
    keeper.on(session, message, now);
}

void Desk::Parts::on(ServingId session, const wire::Parted& message, Instant now) {
  keeper.on(session, message, now);
}

void Desk::Parts::on(ServingId session, const wire::Signal& message, Instant) {
  keeper.on(session, message);
}

void Desk::Parts::on(ServingId session, const wire::Frames& message, Instant now) {
  if (!commitments.on(session, message, now))
    close(session, "The worker's statement about its frames has no valid signature.", now);
}

void Desk::Parts::on(ServingId session, const wire::Reopened& message, Instant now) {
  searches.on(session, message, now);
}

void Desk::Parts::on(ServingId session, const wire::Pulse& message, Instant now) {
  ServingWorker& worker = tables.workers.at(session);
  const auto more = [](std::uint64_t is, std::uint64_t was) { return is > was ? is - was : 0; };
  tables.counters.direct_hops += more(message.direct_hops, worker.pulse.direct_hops);
  tables.counters.direct_bytes += more(message.direct_bytes, worker.pulse.direct_bytes);
  worker.pulse = message;
  worker.pulse.load = std::isfinite(message.load) ? std::clamp(message.load, 0.0, 1.0) : 0;
  tables.lines.heard(session, message, now);
  review.heard(session, message.paces);
}

void Desk::Parts::on(ServingId session, const wire::Tokens& message, Instant now) {
  if (audits.on(session, message)) return;
  if (const auto broken = requests.on(session, message, now)) keeper.dissolve(*broken, now);
}

void Desk::Parts::on(ServingId session, const wire::Answered& message, Instant now) {
  if (audits.on(session, message) || searches.on(session, message, now)) return;
  if (const auto broken = requests.on(session, message, now)) keeper.dissolve(*broken, now);
}

void Desk::Parts::on_hop(ServingId session, ByteVector bytes, Instant now) {
  const auto frame = wire::decode_hop(bytes);
  if (!frame) return close(session, frame.error().message, now);
  if (frame->to == wire::hop_to_coordinator) return searches.open_frame(session, *frame);
  if (searches.take_replayed(session, *frame, now)) return;
  const Chain* const chain = tables.chains.find(frame->chain, frame->epoch);
  if (chain == nullptr) return;  // The worker sent this before it heard of the next epoch.
  const auto& members = chain->members;
  if (frame->from >= members.size() || frame->to >= members.size() ||
      members[frame->from].worker != session)
    return close(session, "The worker sends a frame as a member of the chain that it is not.", now);
  ++tables.counters.relayed_hops;
  tables.counters.relayed_bytes += bytes.size();
  tables.world.send_hop(members[frame->to].worker, std::move(bytes));
}

// --- Invariants.

std::string Desk::Parts::inconsistency_of_owners() const {
  for (const auto& [id, shard] : tables.shards.all()) {
    std::size_t owners = audits.holders_of(id) + searches.holders_of(id);
    const Chain* const chain = tables.chains.find(shard.chain);
    if (chain != nullptr && shard.weighs)
      return weft::format("shard {} weighs answers and belongs to chain {}", id.number(),
                          shard.chain.number());
    if (chain != nullptr)
      owners +=
          static_cast<std::size_t>(std::ranges::count(chain->members, id, &ChainMember::shard));
    if (owners != (shard.chain ? 1U : 0U))
      return weft::format("shard {} has {} owners as a part of chain {}", id.number(), owners,
                          shard.chain.number());
  }
  return {};
}

std::string Desk::Parts::inconsistency() const {
  std::string found = tables.shards.inconsistency();
  if (found.empty()) found = inconsistency_of_owners();
  if (found.empty()) found = tables.chains.inconsistency();
  if (found.empty()) found = tables.lines.inconsistency();
  if (found.empty()) found = requests.inconsistency();
  if (found.empty()) found = audits.inconsistency();
  if (found.empty()) found = searches.inconsistency();
  return found;
}

}  // namespace weft::inference
