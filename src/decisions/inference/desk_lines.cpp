// Distances and speeds of workers: lines of chains, what heartbeats say, and chains that become
// others for it.
#include <algorithm>
#include <cmath>

#include "common/base/format.h"
#include "common/base/log.h"
#include "common/crypto/hmac.h"
#include "decisions/inference/desk.h"
#include "decisions/inference/modality.h"
#include "decisions/mesh/repair.h"

namespace weft::inference {

namespace wire = protocol::serving;

namespace {

constexpr std::string_view coordinator_vertex = "coordinator";
constexpr double smoothing = 0.25;  // How much of a new measurement counts.

std::string vertex(ServingId session) { return weft::format("{}", session); }
std::string_view kind_of(std::string_view line) { return line.substr(0, line.find(':')); }
std::pair<ServingId, ServingId> pair_of(ServingId a, ServingId b) { return std::minmax(a, b); }

}  // namespace

// --- Lines.

// All members have their layers: each is told of the others, in a new epoch.
void Desk::relink(ChainId id, Instant now) {
  Chain& chain = chains_.at(id);
  chain.state = ChainState::linking;
  chain.since = now;
  ++chain.epoch;
  chain.transport.clear();
  for (Member& member : chain.members) member.linked = false;
  if (commits(chain))
    roots_.begin(id.number(), chain.epoch, static_cast<std::uint32_t>(chain.members.size()));
  for (std::uint32_t i = 0; i < chain.members.size(); ++i)
    world_.send(chain.members[i].worker, link_of(id, i, now));
}

wire::Link Desk::link_of(ChainId id, std::uint32_t index, Instant now) const {
  const Chain& chain = chains_.at(id);
  const Member& self = chain.members[index];
  wire::Link link{.chain = id.number(),
                  .epoch = chain.epoch,
                  .index = index,
                  .wire = wire_of(models_.at(chain.model).card),
                  .members = {}};
  link.exact = std::ranges::all_of(
      chain.members, [&](const Member& member) { return shards_.at(member.shard).exact; });
  link.commits = commits(chain);
  for (std::uint32_t i = 0; i < chain.members.size(); ++i) {
    const Worker& worker = workers_.at(chain.members[i].worker);
    wire::Member member{
        .worker = worker.key, .shard = chain.members[i].shard, .lines = worker.offer.lines};
    // Without a token the two take the relay.
    if (i != index && !is_relayed(self.worker, chain.members[i].worker, now))
      member.token = token_of(id, chain.epoch, index, i);
    link.members.push_back(std::move(member));
  }
  const auto& lines = workers_.at(self.worker).offer.lines;
  if (settings_.ice && chain.members.size() > 1 &&
      std::ranges::any_of(lines, [](const auto& line) { return kind_of(line) == "webrtc"; }))
    link.ice = settings_.ice(workers_.at(self.worker).key);
  return link;
}

// The token of two members for one epoch: no other program can make it, and it opens nothing else.
std::string Desk::token_of(ChainId id, std::uint32_t epoch, std::uint32_t a,
                           std::uint32_t b) const {
  ByteVector message;
  append(message, as_bytes(std::string_view("weft-line-token-1")));
  append_le(message, id.number());
  append_le(message, epoch);
  append_le(message, std::min(a, b));
  append_le(message, std::max(a, b));
  return crypto::hmac_sha256(settings_.secret, message).text();
}

bool Desk::is_relayed(ServingId a, ServingId b, Instant now) const {
  const auto found = relayed_.find(pair_of(a, b));
  return found != relayed_.end() && now < found->second;
}
void Desk::set_relayed(ServingId a, ServingId b, Instant now) {
  constexpr std::size_t pairs_max = 65536;
  if (relayed_.size() >= pairs_max)
    std::erase_if(relayed_, [&](const auto& entry) { return entry.second <= now; });
  if (a != b && relayed_.size() < pairs_max) relayed_[pair_of(a, b)] = now + settings_.relayed_for;
}
void Desk::forget_lines(ServingId session) {
  std::erase_if(relayed_, [&](const auto& entry) {
    return entry.first.first == session || entry.first.second == session;
  });
  topology_.gone(vertex(session));
  for (auto& [other, worker] : workers_) worker.peers.erase(session);
}

// The next epoch continues after what may be lost, and without that line. If the other end is
// dead its connection says so too.
void Desk::on(ServingId session, const wire::Parted& message, Instant now) {
  const auto found = chains_.find(ChainId(message.chain));
  if (found == chains_.end() || found->second.epoch != message.epoch ||
      found->second.state == ChainState::loading)
    return;
  const auto& members = found->second.members;
  if (message.member >= members.size() || !std::ranges::contains(members, session, &Member::worker))
    return;
  const ServingId other = members[message.member].worker;
  if (is_relayed(session, other,
                 now)) {  // It is relayed already: such reports must not relink without end.
    log_warning(
        "A worker says that a line of a chain of {} broke which it does not have; another chain is "
        "formed.",
        found->second.model);
    separations_.add(workers_.at(session).key, workers_.at(other).key, now + settings_.apart_for);
    return dissolve(ChainId(message.chain), now);
  }
  log_info("A line of a chain of {} broke; its members are linked again.", found->second.model);
  set_relayed(session, other, now);
  relink(ChainId(message.chain), now);
}

// --- What heartbeats say.

const std::string& Desk::wire_of(const ModelCard& card) const {
  return card.wire.empty() ? settings_.wire : card.wire;
}

void Desk::on(ServingId session, const wire::Pulse& message, Instant now) {
  Worker& worker = workers_.at(session);
  const auto more = [](std::uint64_t is, std::uint64_t was) { return is > was ? is - was : 0; };
  counters_.direct_hops += more(message.direct_hops, worker.pulse.direct_hops);
  counters_.direct_bytes += more(message.direct_bytes, worker.pulse.direct_bytes);
  worker.pulse = message;
  worker.pulse.load = std::isfinite(message.load) ? std::clamp(message.load, 0.0, 1.0) : 0;
  mesh::Heartbeat beat{
      .id = vertex(session), .load = worker.pulse.load, .memory_free = message.memory_free};
  constexpr double ms_max = 60'000;
  for (const wire::PeerLatency& peer : message.peers) {
    const auto other = std::ranges::find_if(
        workers_, [&](const auto& entry) { return entry.second.key == peer.worker; });
    if (other == workers_.end() || other->first == session || !(peer.ms >= 0 && peer.ms <= ms_max))
      continue;
    beat.peers.push_back(
        {.peer = vertex(other->first), .seconds = peer.ms / 1e3, .bytes_per_s = 0});
    const auto known = worker.peers.emplace(other->first, peer.ms).first;
    known->second += smoothing * (peer.ms - known->second);
  }
  (void)topology_.heard(beat, now);
  for (const wire::ShardPace& pace : message.paces) {
    const auto shard = shards_.find(pace.shard);
    if (shard == shards_.end() || shard->second.worker != session ||
        !(pace.ms > 0 && pace.ms <= ms_max))
      continue;
    const ModelCard& card = models_.at(shard->second.model).card;
    const double layers =
        shard->second.end - shard->second.begin +
        (shard->second.end == card.layers
             ? static_cast<double>(card.last_bytes) / static_cast<double>(card.layer_bytes)
             : 0);
    const double speed = layers * static_cast<double>(card.layer_bytes) / (pace.ms * 1e6);
    worker.gb_per_s =
        worker.gb_per_s == 0 ? speed : worker.gb_per_s + smoothing * (speed - worker.gb_per_s);
    if (const auto chain = chains_.find(shard->second.chain); chain != chains_.end()) {
      for (Member& member : chain->second.members) {
        if (member.shard == pace.shard)
          member.ms = member.ms == 0 ? pace.ms : member.ms + smoothing * (pace.ms - member.ms);
      }
    }
  }
}

void Desk::measured(ServingId session, Duration round_trip, Instant now) {
  const auto worker = workers_.find(session);
  if (worker == workers_.end() || round_trip < Duration::zero()) return;
  worker->second.coordinator_ms = seconds(round_trip) * 500;
  (void)topology_.heard(
      {.id = std::string(coordinator_vertex),
       .peers = {{.peer = vertex(session), .seconds = seconds(round_trip) / 2, .bytes_per_s = 0}},
       .relays = true},
      now);
}

// Measured by its layers. What a worker offers (the bandwidth of copies) is brought to the same
// scale by those of whom both are known.
double Desk::speed_of(const Worker& worker) const {
  if (worker.gb_per_s > 0) return worker.gb_per_s;
  std::vector<double> shares;
  for (const auto& [session, other] : workers_) {
    if (other.gb_per_s > 0 && other.offer.gb_per_s > 0)
      shares.push_back(other.gb_per_s / other.offer.gb_per_s);
  }
  if (shares.empty()) return worker.offer.gb_per_s;
  const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
  std::ranges::nth_element(shares, middle);
  return worker.offer.gb_per_s * *middle;
}

Question Desk::question(const ModelCard& card, std::span<const Candidate> candidates) const {
  return {
      .card = card,
      .candidates = candidates,
      .context = context_of(card),
      .sequences = settings_.sequences,
      .wire = wire_of(card),
      .between = [this, candidates](std::size_t from, std::size_t to) -> std::optional<mesh::Link> {
        constexpr double direct_bytes_per_s = 25e6,
                         relayed_bytes_per_s = 50e6;  // Where only times were measured.
        // Longer than any measured way, so that another chain is faster.
        constexpr mesh::Link apart{.seconds = 10, .bytes_per_s = relayed_bytes_per_s};
        if (separations_.apart(workers_.at(candidates[from].session).key,
                               workers_.at(candidates[to].session).key))
          return apart;
        if (auto edge =
                topology_.edge(vertex(candidates[from].session), vertex(candidates[to].session))) {
          edge->bytes_per_s = direct_bytes_per_s;
          return edge;
        }
        if (candidates[from].prefers_peers && candidates[to].prefers_peers) return std::nullopt;
        const auto there = workers_.find(candidates[from].session),
                   on = workers_.find(candidates[to].session);
        if (there == workers_.end() || on == workers_.end() || there->second.coordinator_ms == 0 ||
            on->second.coordinator_ms == 0)
          return std::nullopt;
        return mesh::Link{
            .seconds = (there->second.coordinator_ms + on->second.coordinator_ms) / 1e3,
            .bytes_per_s = relayed_bytes_per_s};
      }};
}

// --- Chains that should be others: a worker became slow, or a better one came.

void Desk::look_at_chains(Instant now) {
  if (now - looked_ < settings_.look_every) return;
  looked_ = now;
  separations_.forget(now);
  std::vector<ChainId> ids;
  for (const auto& [id, chain] : chains_) {
    if (chain.state == ChainState::ready && now - chain.changed >= settings_.quiet)
      ids.push_back(id);
  }
  for (const ChainId id : ids) {
    Chain& chain = chains_.at(id);
    const auto better = better_chain(id, now);
    chain.looks = better ? chain.looks + 1 : 0;
    if (better && chain.looks >= settings_.looks_min) change(id, *better, now);
  }
}

std::optional<std::vector<Placed>> Desk::better_chain(ChainId id, Instant now) const {
  const Chain& chain = chains_.at(id);
  if (makes_vectors(models_.at(chain.model).card)) return std::nullopt;
  // Only what was measured is compared.
  for (const Member& member : chain.members) {
    const auto worker = workers_.find(member.worker);
    if (worker == workers_.end() || worker->second.gb_per_s == 0) return std::nullopt;
  }
  std::vector<Candidate> all = candidates(nullptr, chain.trusted ? Whom::trusted : Whom::all);
  for (Candidate& one : all) {
    for (const std::uint32_t number : workers_.at(one.session).shards) {
      const Shard& shard = shards_.at(number);
      if (shard.model != chain.model || !shard.loaded || (shard.chain && shard.chain != id))
        continue;
      one.held_begin = shard.begin;
      one.held_end = shard.end;
      if (shard.chain == id) {
        one.memory_free += shard.bytes;
        --one.load;
      }
    }
  }
  const MeshQuestion asked = mesh_question(question(models_.at(chain.model).card, all));
  std::vector<mesh::Shard> running;
  for (const Member& member : chain.members)
    running.push_back({.node = vertex(member.worker), .begin = member.begin, .end = member.end});
  const auto repair =
      mesh::repair(asked.model, running, asked.nodes, asked.latency, seconds(now - chain.changed),
                   {.plan = asked.options,
                    .gain_min = settings_.gain_min,
                    .quiet_seconds = seconds(settings_.quiet)});
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

// Members that stay as they are keep their layers; what is new is loaded, and its requests go on
// behind the tokens that they have.
void Desk::change(ChainId id, const std::vector<Placed>& placed, Instant now) {
  Chain& chain = chains_.at(id);
  log_info("A chain of {} becomes another one of {}: a token comes sooner that way.", chain.model,
           placed.size());
  ++counters_.replanned;
  ++chain.epoch;
  chain.state = ChainState::loading;
  chain.since = chain.changed = now;
  chain.looks = 0;
  std::vector<Member> old = std::exchange(chain.members, {});
  std::vector<std::size_t> missing;
  for (const Placed& part : placed) {
    const auto same = std::ranges::find_if(old, [&](const Member& member) {
      return member.worker == part.session && member.begin == part.begin && member.end == part.end;
    });
    if (same != old.end()) {
      chain.members.push_back(*same);
      old.erase(same);
    } else {
      missing.push_back(chain.members.size());
      chain.members.push_back({.worker = part.session, .begin = part.begin, .end = part.end});
    }
  }
  for (const Member& member : old) unload(member.shard);
  for (const std::size_t i : missing) {
    Member& member = chain.members[i];
    const auto held = std::ranges::find_if(shards_, [&](const auto& entry) {
      const Shard& shard = entry.second;
      return !shard.chain && shard.worker == member.worker && shard.model == chain.model &&
             shard.begin == member.begin && shard.end == member.end;
    });
    if (held != shards_.end()) {
      held->second.chain = id;
      member.shard = held->first;
    } else {
      load(id, member, now);
    }
  }
  advance(id, now);
}

}  // namespace weft::inference
