// Reports of the desk's state for pages, metrics and tests.
#include "decisions/inference/auditable.h"
#include "decisions/inference/desk_parts.h"

namespace weft::inference {

std::vector<ServedModel> Desk::models() const {
  const DeskTables& tables = parts_->tables;
  std::vector<ServedModel> out;
  for (const auto& [name, card] : tables.models) {
    ServedModel view{.name = name,
                     .state = ModelState::no_worker,
                     .waiting = static_cast<std::uint32_t>(parts_->requests.demand(name).waiting),
                     .wire = tables.chains.wire_of(name)};
    for (const ChainId id : tables.chains.of_model(name)) {
      const Chain& chain = tables.chains.at(id);
      const bool is_ready = chain.state == ChainState::ready;
      view.exact = tables.chains.has_exact_members(chain) && (view.exact || view.chains == 0);
      if (view.state != ModelState::ready)
        view.state = is_ready ? ModelState::ready : ModelState::loading;
      view.trusted += is_ready && tables.chains.is_trusted(chain) ? 1 : 0;
      ++view.chains;
      view.shards += static_cast<std::uint32_t>(chain.members.size());
      view.running += static_cast<std::uint32_t>(chain.requests.size());
      for (const ChainMember& member : chain.members)
        view.covered += parts_->standby.is_covered(chain, member, true) ? 1 : 0;
    }
    if (!tables.settings.newcomers_answer && view.state == ModelState::ready && view.trusted == 0)
      view.state = ModelState::newcomers;
    view.auditable = is_auditable(tables, card);
    view.weighable = tables.shards.is_weighable(card);
    view.weighed = parts_->weighing.any(card);
    out.push_back(std::move(view));
  }
  return out;
}

std::vector<ServedWorker> Desk::workers() const {
  const DeskTables& tables = parts_->tables;
  std::vector<ServedWorker> out;
  for (const auto& [session, worker] : tables.workers.all()) {
    ServedWorker view{.key = worker.key.text(),
                      .memory_bytes = worker.offer.memory_bytes,
                      .memory_free = tables.shards.memory_free(worker),
                      .shards = static_cast<std::uint32_t>(worker.shards.size()),
                      .running = worker.pulse.running,
                      .load = worker.pulse.load,
                      .gb_per_s = tables.workers.speed_of(worker),
                      .coordinator_ms = worker.coordinator_ms,
                      .direct_hops = worker.pulse.direct_hops,
                      .lines = worker.offer.lines};
    for (const auto& [peer, ms] : worker.peers) {
      if (const ServingWorker* const known = tables.workers.find(peer))
        view.peers.push_back({.key = known->key.text(), .ms = ms});
    }
    out.push_back(std::move(view));
  }
  return out;
}

std::vector<ServedChain> Desk::chains() const {
  const DeskTables& tables = parts_->tables;
  std::vector<ServedChain> out;
  for (const auto& [id, chain] : tables.chains.all()) {
    ServedChain view{.model = chain.model,
                     .state = chain.state,
                     .transport = chain.transport,
                     .wire = tables.chains.wire_of(chain.model),
                     .epoch = chain.epoch,
                     .running = static_cast<std::uint32_t>(chain.requests.size())};
    for (const ChainMember& member : chain.members) {
      const ServingWorker* const worker = tables.workers.find(member.worker);
      view.members.push_back({.key = worker == nullptr ? "" : worker->key.text(),
                              .begin = member.begin,
                              .end = member.end,
                              .ms = member.ms});
    }
    out.push_back(std::move(view));
  }
  return out;
}

}  // namespace weft::inference
