#include "decisions/inference/line_map.h"

#include <algorithm>
#include <string_view>

#include "common/base/format.h"
#include "decisions/inference/smoothing.h"

namespace weft::inference {

namespace wire = protocol::serving;

namespace {

constexpr std::string_view coordinator_vertex = "coordinator";

std::pair<ServingId, ServingId> pair_of(ServingId a, ServingId b) { return std::minmax(a, b); }

}  // namespace

std::string mesh_name(ServingId session) { return weft::format("{}", session); }

void LineMap::joined(ServingId session, Instant now) {
  (void)topology_.heard({.id = mesh_name(session)}, now);
}

void LineMap::left(ServingId session) {
  std::erase_if(relayed_, [&](const auto& entry) {
    return entry.first.first == session || entry.first.second == session;
  });
  topology_.gone(mesh_name(session));
}

void LineMap::heard(ServingId session, const wire::Pulse& pulse, Instant now) {
  ServingWorker& worker = workers_.at(session);
  mesh::Heartbeat beat{
      .id = mesh_name(session), .load = worker.pulse.load, .memory_free = pulse.memory_free};
  for (const wire::PeerLatency& peer : pulse.peers) {
    const auto others = workers_.sessions_of(peer.worker);
    if (others.empty() || others.front() == session || !(peer.ms >= 0 && peer.ms <= told_ms_max))
      continue;
    const ServingId other = others.front();
    beat.peers.push_back({.peer = mesh_name(other), .seconds = peer.ms / 1e3, .bytes_per_s = 0});
    const auto known = worker.peers.emplace(other, peer.ms).first;
    known->second += smoothing * (peer.ms - known->second);
  }
  (void)topology_.heard(beat, now);
}

void LineMap::measured(ServingId session, Duration round_trip, Instant now) {
  ServingWorker* const worker = workers_.find(session);
  if (worker == nullptr || round_trip < Duration::zero()) return;
  worker->coordinator_ms = seconds(round_trip) * 500;
  (void)topology_.heard({.id = std::string(coordinator_vertex),
                         .peers = {{.peer = mesh_name(session),
                                    .seconds = seconds(round_trip) / 2,
                                    .bytes_per_s = 0}},
                         .relays = true},
                        now);
}

bool LineMap::is_relayed(ServingId a, ServingId b, Instant now) const {
  const auto found = relayed_.find(pair_of(a, b));
  return found != relayed_.end() && now < found->second;
}

void LineMap::set_relayed(ServingId a, ServingId b, Instant now) {
  if (relayed_.size() >= pairs_max)
    std::erase_if(relayed_, [&](const auto& entry) { return entry.second <= now; });
  if (a != b && relayed_.size() < pairs_max) relayed_[pair_of(a, b)] = now + settings_.relayed_for;
}

std::optional<mesh::Link> LineMap::between(const Candidate& from, const Candidate& to) const {
  // Assumed bandwidths, because only times are measured.
  constexpr double direct_bytes_per_s = 25e6, relayed_bytes_per_s = 50e6;
  // Longer than any measured way, so that another chain is faster.
  constexpr mesh::Link apart{.seconds = 10, .bytes_per_s = relayed_bytes_per_s};
  if (separations_.apart(workers_.key(from.session), workers_.key(to.session))) return apart;
  if (auto edge = topology_.edge(mesh_name(from.session), mesh_name(to.session))) {
    edge->bytes_per_s = direct_bytes_per_s;
    return edge;
  }
  if (from.prefers_peers && to.prefers_peers) return std::nullopt;
  const double there = workers_.at(from.session).coordinator_ms,
               on = workers_.at(to.session).coordinator_ms;
  if (there == 0 || on == 0) return std::nullopt;
  return mesh::Link{.seconds = (there + on) / 1e3, .bytes_per_s = relayed_bytes_per_s};
}

std::string LineMap::inconsistency() const {
  for (const auto& [pair, until] : relayed_) {
    if (!workers_.contains(pair.first) || !workers_.contains(pair.second))
      return weft::format("workers {} and {} have a relayed line, and one of them has left",
                          pair.first, pair.second);
  }
  return {};
}

}  // namespace weft::inference
