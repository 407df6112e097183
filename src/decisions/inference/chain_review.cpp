#include "decisions/inference/chain_review.h"

#include <algorithm>

#include "decisions/inference/chain_question.h"
#include "decisions/inference/modality.h"
#include "decisions/inference/smoothing.h"
#include "decisions/mesh/repair.h"

namespace weft::inference {

void ChainReview::heard(ServingId session, const std::vector<protocol::serving::ShardPace>& paces) {
  ServingWorker& worker = tables_.workers.at(session);
  for (const protocol::serving::ShardPace& pace : paces) {
    const ShardId id(pace.shard);
    const Shard* const shard = tables_.shards.find(id);
    // A shard that weighs also runs rounded weights, which are faster.
    if (shard == nullptr || shard->worker != session || shard->weighs ||
        !(pace.ms > 0 && pace.ms <= told_ms_max))
      continue;
    const ModelCard& card = tables_.models.at(shard->model);
    const double layers = shard->end - shard->begin +
                          (shard->end == card.layers ? static_cast<double>(card.last_bytes) /
                                                           static_cast<double>(card.layer_bytes)
                                                     : 0);
    worker.gb_per_s =
        smoothed(worker.gb_per_s, layers * static_cast<double>(card.layer_bytes) / (pace.ms * 1e6));
    if (Chain* const chain = tables_.chains.find(shard->chain)) {
      for (ChainMember& member : chain->members) {
        if (member.shard == id) member.ms = smoothed(member.ms, pace.ms);
      }
    }
  }
}

void ChainReview::look(Instant now) {
  const DeskSettings& settings = tables_.settings;
  if (now - looked_ < settings.look_every) return;
  looked_ = now;
  tables_.lines.forget_separations(now);
  std::vector<ChainId> ids;
  for (const auto& [id, chain] : tables_.chains.all()) {
    if (chain.state == ChainState::ready && now - chain.changed >= settings.quiet)
      ids.push_back(id);
  }
  for (const ChainId id : ids) {
    Chain& chain = tables_.chains.at(id);
    const auto placed = better(id, now);
    chain.looks = placed ? chain.looks + 1 : 0;
    if (placed && chain.looks >= settings.looks_min) keeper_.change(id, *placed, now);
  }
}

std::vector<Candidate> ChainReview::candidates(ChainId id) const {
  const Chain& chain = tables_.chains.at(id);
  std::vector<Candidate> all =
      tables_.shards.candidates({}, chain.trusted ? Whom::trusted : Whom::all);
  for (Candidate& one : all) {
    for (const ShardId number : tables_.workers.at(one.session).shards) {
      const Shard& shard = tables_.shards.at(number);
      if (shard.model != chain.model || !shard.loaded || shard.weighs ||
          (shard.chain && shard.chain != id))
        continue;
      one.held_begin = shard.begin;
      one.held_end = shard.end;
      if (shard.chain == id) {
        one.memory_free += shard.bytes;
        --one.load;
      }
    }
  }
  return all;
}

std::optional<std::vector<Placed>> ChainReview::better(ChainId id, Instant now) const {
  const Chain& chain = tables_.chains.at(id);
  const ModelCard& card = tables_.models.at(chain.model);
  if (makes_vectors(card)) return std::nullopt;
  // The chain is compared only if the speed of each member has been measured.
  for (const ChainMember& member : chain.members) {
    const ServingWorker* const worker = tables_.workers.find(member.worker);
    if (worker == nullptr || worker->gb_per_s == 0) return std::nullopt;
  }
  const std::vector<Candidate> all = candidates(id);
  const MeshQuestion asked = mesh_question(chain_question(tables_, card, all));
  std::vector<mesh::Shard> running;
  for (const ChainMember& member : chain.members)
    running.push_back({.node = mesh_name(member.worker), .begin = member.begin, .end = member.end});
  const auto repair =
      mesh::repair(asked.model, running, asked.nodes, asked.latency, seconds(now - chain.changed),
                   {.plan = asked.options,
                    .gain_min = tables_.settings.gain_min,
                    .quiet_seconds = seconds(tables_.settings.quiet)});
  if (!repair || repair->change == mesh::Repair::Change::keep || repair->plan.shards == running)
    return std::nullopt;
  std::vector<Placed> out;
  for (const mesh::Shard& shard : repair->plan.shards) {
    const auto node = std::ranges::find(asked.nodes, shard.node, &mesh::Node::id);
    out.push_back({.session = all[static_cast<std::size_t>(node - asked.nodes.begin())].session,
                   .begin = shard.begin,
                   .end = shard.end});
  }
  return out;
}

}  // namespace weft::inference
