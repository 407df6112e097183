#include "decisions/inference/chain_keeper.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

namespace weft::inference {

namespace wire = protocol::serving;

void ChainKeeper::add(const std::string& model, const std::vector<Placed>& placed, bool trusted,
                      Instant now) {
  const ChainId id = tables_.chains.next_id();
  Chain& chain = tables_.chains.add(
      id, {.model = model, .since = now, .progress = now, .trusted = trusted, .changed = now});
  for (const Placed& part : placed)
    chain.members.push_back({.worker = part.session, .begin = part.begin, .end = part.end});
  for (ChainMember& member : chain.members) load(id, member);
  log_info("A chain loads the model {}; its number of workers is {}.", model, placed.size());
}

void ChainKeeper::load(ChainId id, ChainMember& member) {
  standby_.leave(member.worker);
  member.linked = false;
  member.shard =
      tables_.shards.load(member.worker, id, tables_.chains.at(id).model, member.begin, member.end);
}

void ChainKeeper::advance(ChainId id, Instant now) {
  Chain& chain = tables_.chains.at(id);
  if (chain.state == ChainState::loading &&
      std::ranges::all_of(chain.members, [&](const ChainMember& member) {
        return tables_.shards.at(member.shard).loaded;
      })) {
    links_.relink(id, now);
  }
  if (chain.state == ChainState::linking &&
      std::ranges::all_of(chain.members, &ChainMember::linked)) {
    chain.state = ChainState::ready;
    chain.since = chain.progress = now;
    owner_.ready(id, now);
  }
}

void ChainKeeper::mend(ChainId id, Instant now) {
  Chain& chain = tables_.chains.at(id);
  ++chain.epoch;  // Messages of the old epoch are now ignored.
  chain.state = ChainState::loading;
  chain.since = chain.changed = now;
  for (ChainMember& member : chain.members) {
    if (tables_.workers.contains(member.worker)) continue;
    member.ms = 0;
    if (standby_.take(id, member)) continue;
    if (!replace(id, member)) return dissolve(id, now);
  }
  advance(id, now);
}

bool ChainKeeper::replace(ChainId id, ChainMember& member) {
  const Chain& chain = tables_.chains.at(id);
  const ModelCard& card = tables_.models.at(chain.model);
  const auto others =
      tables_.shards.candidates(chain.workers(), chain.trusted ? Whom::trusted : Whom::all);
  // A worker that stands by with other layers of this model is preferred, because it has compiled
  // the kernels already.
  std::vector<Candidate> warm;
  std::ranges::copy_if(others, std::back_inserter(warm), [&](const Candidate& one) {
    return tables_.shards.any_of(tables_.workers.at(one.session), [&](const Shard& shard) {
      return !shard.chain && shard.model == chain.model && shard.loaded;
    });
  });
  auto spare = tables_.shards.place(card, member.begin, member.end, warm);
  if (!spare) spare = tables_.shards.place(card, member.begin, member.end, others);
  if (!spare) return false;
  member.worker = *spare;
  load(id, member);
  return true;
}

void ChainKeeper::change(ChainId id, const std::vector<Placed>& placed, Instant now) {
  Chain& chain = tables_.chains.at(id);
  log_info("A chain of the model {} changes to a faster one; its number of workers is {}.",
           chain.model, placed.size());
  ++tables_.counters.replanned;
  ++chain.epoch;
  chain.state = ChainState::loading;
  chain.since = chain.changed = now;
  chain.looks = 0;
  std::vector<ChainMember> old = std::exchange(chain.members, {});
  std::vector<std::size_t> missing;
  for (const Placed& part : placed) {
    const auto same = std::ranges::find_if(old, [&](const ChainMember& member) {
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
  for (const ChainMember& member : old) tables_.shards.unload(member.shard);
  for (const std::size_t i : missing) {
    ChainMember& member = chain.members[i];
    const auto held = std::ranges::find_if(tables_.shards.all(), [&](const auto& entry) {
      const Shard& shard = entry.second;
      return !shard.chain && shard.worker == member.worker &&
             shard.can_take(chain.model, member.begin, member.end);
    });
    if (held != tables_.shards.all().end()) {
      member.shard = held->first;
      tables_.shards.give(member.shard, id);
    } else {
      load(id, member);
    }
  }
  advance(id, now);
}

void ChainKeeper::dissolve(ChainId id, Instant now) {
  const Chain chain = tables_.chains.take(id);
  for (const ChainMember& member : chain.members) {
    if (!tables_.workers.contains(member.worker)) continue;
    tables_.world.send(member.worker, wire::Unlink{.chain = id.number()});
    tables_.shards.unload(member.shard);
  }
  owner_.dissolved(chain, now);
}

void ChainKeeper::dissolve_stuck(Instant now) {
  const DeskSettings& settings = tables_.settings;
  std::vector<ChainId> stuck;
  for (const auto& [id, chain] : tables_.chains.all()) {
    const Duration age = now - chain.since;
    if ((chain.state == ChainState::loading && age > settings.load_max) ||
        (chain.state == ChainState::linking && age > settings.link_max) ||
        (chain.state == ChainState::ready && !chain.requests.empty() &&
         now - chain.progress > settings.stall_max))
      stuck.push_back(id);
  }
  for (const ChainId id : stuck) {
    log_warning("A chain of the model {} makes no progress; the coordinator forms another one.",
                tables_.chains.at(id).model);
    dissolve(id, now);
  }
}

void ChainKeeper::on(ServingId session, const wire::Linked& message, Instant now) {
  Chain* const chain = tables_.chains.find(message.chain, message.epoch);
  if (chain == nullptr || chain->state != ChainState::linking) return;
  const auto member = std::ranges::find(chain->members, session, &ChainMember::worker);
  if (member == chain->members.end()) return;
  member->linked = true;
  for (const std::uint32_t other : message.unreached) {
    if (other < chain->members.size())
      tables_.lines.set_relayed(session, chain->members[other].worker, now);
  }
  // The transport of the chain is that of its slowest line: the relay, if any line needs it.
  if (chain->transport.empty() || message.line == "relay") chain->transport = message.line;
  advance(ChainId(message.chain), now);
}

void ChainKeeper::on(ServingId session, const wire::Broken& message, Instant now) {
  const Chain* const chain = tables_.chains.find(message.chain, message.epoch);
  if (chain == nullptr || chain->member_of(session) == nullptr) return;
  log_warning("A chain of {} is broken: {}", chain->model, message.message);
  // The report of one member does not prove that the other is guilty. The chain is formed again, if
  // possible without the two workers as neighbours.
  if (message.member < chain->members.size())
    tables_.lines.separate(tables_.workers.key(session),
                           tables_.workers.key(chain->members[message.member].worker), now);
  dissolve(ChainId(message.chain), now);
}

// Links the members again in a new epoch. The broken line is then relayed, and each request
// continues after the tokens that it has. If one of its two members is dead, the connection of that
// member will break, too.
void ChainKeeper::on(ServingId session, const wire::Parted& message, Instant now) {
  const Chain* const chain = tables_.chains.find(message.chain, message.epoch);
  if (chain == nullptr || chain->state == ChainState::loading ||
      message.member >= chain->members.size() || chain->member_of(session) == nullptr)
    return;
  const ServingId other = chain->members[message.member].worker;
  // If the line is already relayed, another link would lead to another such report, without end.
  if (tables_.lines.is_relayed(session, other, now)) {
    log_warning(
        "A worker reports that a direct line in a chain of the model {} broke, although it has no "
        "such line; the coordinator forms another chain.",
        chain->model);
    tables_.lines.separate(tables_.workers.key(session), tables_.workers.key(other), now);
    return dissolve(ChainId(message.chain), now);
  }
  log_info("A direct line in a chain of the model {} broke; the chain's members are linked again.",
           chain->model);
  tables_.lines.set_relayed(session, other, now);
  links_.relink(ChainId(message.chain), now);
}

void ChainKeeper::on(ServingId session, const wire::Signal& message) {
  const Chain* const chain = tables_.chains.find(message.chain, message.epoch);
  if (chain == nullptr) return;
  const auto& members = chain->members;
  if (message.from >= members.size() || message.to >= members.size() ||
      members[message.from].worker != session)
    return;
  tables_.world.send(members[message.to].worker, message);
}

}  // namespace weft::inference
