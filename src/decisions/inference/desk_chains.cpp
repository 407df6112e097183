// Chains: formed, linked, mended, dissolved.
#include <algorithm>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/inference/arithmetic.h"
#include "decisions/inference/desk.h"
#include "decisions/inference/modality.h"

namespace weft::inference {

namespace wire = protocol::serving;

namespace {

constexpr Duration form_again_after =
    std::chrono::seconds(2);  // After a shard could not be loaded.

}  // namespace

std::uint32_t Desk::context_of(const ModelCard& card) const {
  return std::min(card.context, settings_.context_max);
}

std::uint64_t Desk::memory_free(const Worker& worker) const {
  std::uint64_t used = 0;
  // A worker that only stands by makes room.
  for (const std::uint32_t id : worker.shards) {
    const Shard& shard = shards_.at(id);
    if (shard.chain) used += shard.bytes;
  }
  return worker.offer.memory_bytes - std::min(used, worker.offer.memory_bytes);
}

// Workers that could take a shard; none that is a member of the chain already.
std::vector<Candidate> Desk::candidates(const Chain* except, Whom whom) const {
  std::vector<Candidate> out;
  for (const auto& [session, worker] : workers_) {
    if (whom != Whom::all && is_trusted(session) != (whom == Whom::trusted)) continue;
    if (except != nullptr && std::ranges::contains(except->members, session, &Member::worker))
      continue;
    out.push_back(
        {.session = session,
         .memory_free = memory_free(worker),
         .gb_per_s = speed_of(worker),
         .load = static_cast<std::uint32_t>(std::ranges::count_if(
             worker.shards,
             [&](std::uint32_t shard) { return static_cast<bool>(shards_.at(shard).chain); })),
         .prefers_peers = !worker.offer.lines.empty()});
  }
  return out;
}

std::uint32_t Desk::send_load(ServingId worker, ChainId chain, const std::string& model,
                              std::uint32_t begin, std::uint32_t end) {
  const ModelCard& card = models_.at(model).card;
  const std::uint32_t id = ++shard_ids_;
  const std::uint32_t context = context_of(card);
  const auto bytes_of = [&](std::uint32_t sequences) {
    return shard_bytes(card, begin, end, context, sequences);
  };
  // A whole model is for many requests: the few that it was placed for, and as many more as a part
  // of what memory is left has room for.
  std::uint64_t bytes = bytes_of(settings_.sequences), cache_bytes = 0;
  std::uint32_t sequences = settings_.sequences;
  if (begin == 0 && end == card.layers) {
    sequences = std::max(settings_.sequences, settings_.batch);
    const std::uint64_t free = memory_free(workers_.at(worker)),
                        more = static_cast<std::uint64_t>(
                            settings_.cache_share *
                            static_cast<double>(free - std::min(free, bytes)));
    bytes = std::min(bytes_of(sequences), bytes + more);
    cache_bytes = bytes - bytes_of(0);
  }
  shards_[id] = {
      .worker = worker, .chain = chain, .bytes = bytes, .model = model, .begin = begin, .end = end};
  workers_.at(worker).shards.insert(id);
  world_.send(worker, wire::Load{.shard = id,
                                 .name = card.name,
                                 .model = card.file_hash(),
                                 .bytes = card.bytes,
                                 .header_bytes = card.header_bytes,
                                 .chunk_bytes = card.chunk_bytes,
                                 .chunks = card.chunks_hash(),
                                 .first_layer = begin,
                                 .end_layer = end,
                                 .context = context,
                                 .sequences = sequences,
                                 .cache_bytes = cache_bytes,
                                 .activations = activations_of(card, settings_.activations)});
  return id;
}

void Desk::load(ChainId id, Member& member, Instant) {
  leave_standby(member.worker);
  member.linked = false;
  member.shard = send_load(member.worker, id, chains_.at(id).model, member.begin, member.end);
}

void Desk::unload(std::uint32_t shard) {
  const auto found = shards_.find(shard);
  if (found == shards_.end()) return;
  ++room_;
  if (const auto worker = workers_.find(found->second.worker); worker != workers_.end()) {
    worker->second.shards.erase(shard);
    world_.send(found->second.worker, wire::Unload{.shard = shard});
  }
  shards_.erase(found);
}

bool Desk::form(Model& model, Whom whom, Instant now) {
  ++counters_.plans;
  const ModelCard& card = model.card;
  // Another chain is for those who do not serve the model yet.
  std::vector<Candidate> workers = candidates(nullptr, whom);
  std::erase_if(workers, [&](const Candidate& one) {
    return std::ranges::any_of(workers_.at(one.session).shards, [&](std::uint32_t shard) {
      return shards_.at(shard).chain && shards_.at(shard).model == card.name;
    });
  });
  // As many chains as those who wait fill; the first of all is for one.
  const std::size_t full = (model.waiting.size() + settings_.sequences - 1) / settings_.sequences;
  const auto waiting = static_cast<std::uint32_t>(std::clamp<std::size_t>(full, 1, 64));
  const bool one = waiting == 1 && settings_.strategy == mesh::Strategy::hybrid;
  // A model that makes vectors is served whole.
  const auto strategy = makes_vectors(card) ? mesh::Strategy::batch
                        : one               ? mesh::Strategy::layer
                                            : settings_.strategy;
  const auto chains = place(question(card, workers), strategy, waiting);
  if (chains.empty()) {
    model.trouble = trouble_of(model, whom);
    return false;
  }
  for (const auto& placed : chains) {
    const ChainId id = ++chain_ids_;
    Chain& chain = chains_[id];
    chain = {.model = card.name, .since = now, .progress = now, .changed = now};
    chain.trusted = whom == Whom::trusted;
    for (const Placed& part : placed)
      chain.members.push_back({.worker = part.session, .begin = part.begin, .end = part.end});
    for (Member& member : chain.members) load(id, member, now);
    log_info("Model {} is loaded by a chain of {}.", card.name, placed.size());
  }
  return true;
}

std::string Desk::trouble_of(const Model& model, Whom whom) const {
  if (workers_.empty())
    return "No worker serves language models now; join with `weft work`, or open the page.";
  if (whom != Whom::trusted)
    return weft::format("The {} connected workers have no room for {} now.", workers_.size(),
                        model.card.name);
  const auto trusted =
      std::ranges::count_if(workers_, [&](const auto& entry) { return is_trusted(entry.first); });
  if (trusted == 0)
    return weft::format(
        "Only workers that have no standing yet could serve {} now, and their "
        "answers reach no client; an invited worker (`weft work --invite`) or an "
        "established one has to join.",
        model.card.name);
  return weft::format(
      "The {} connected workers that are invited or established have no room for {} "
      "now.",
      trusted, model.card.name);
}

bool Desk::is_trusted(ServingId session) const {
  const auto worker = workers_.find(session);
  return worker != workers_.end() && world_.is_trusted(worker->second.key);
}

bool Desk::is_trusted(const Chain& chain) const {
  return std::ranges::all_of(chain.members,
                             [&](const Member& member) { return is_trusted(member.worker); });
}

bool Desk::is_exact(const Chain& chain) const {
  const bool whole = chain.members.size() == 1 || wire_of(models_.at(chain.model).card) == "f32";
  return whole && std::ranges::all_of(chain.members, [&](const Member& member) {
           const auto shard = shards_.find(member.shard);
           return shard != shards_.end() && shard->second.exact;
         });
}

bool Desk::may_answer(const Chain& chain, const Request& request) const {
  if (request.what.shadow) return !is_trusted(chain);
  return request.what.for_newcomers || is_trusted(chain);
}

// Goes on from loading to linking to ready as far as it is time.
void Desk::advance(ChainId id, Instant now) {
  Chain& chain = chains_.at(id);
  if (chain.state == ChainState::loading &&
      std::ranges::all_of(chain.members,
                          [&](const Member& m) { return shards_.at(m.shard).loaded; })) {
    relink(id, now);
  }
  if (chain.state == ChainState::linking && std::ranges::all_of(chain.members, &Member::linked)) {
    chain.state = ChainState::ready;
    chain.since = chain.progress = now;
    models_.at(chain.model).trouble.clear();
    // Those that it was answering go on.
    for (const RequestId request : chain.requests) ask_chain(request, id, now);
    hand_out(std::string(chain.model), now);
    stand_by(std::string(chain.model));
  }
}

void Desk::on(ServingId session, const wire::Loaded& message, Instant now) {
  const auto shard = shards_.find(message.shard);
  if (shard == shards_.end() || shard->second.worker != session) return;
  shard->second.loaded = true;
  shard->second.exact = message.device == "cpu";
  shard->second.sequences = message.sequences;
  // One that takes few has no use for the cache of many.
  if (message.sequences > 0 && message.sequences <= settings_.sequences) {
    const ModelCard& card = models_.at(shard->second.model).card;
    shard->second.bytes =
        std::min(shard->second.bytes, shard_bytes(card, shard->second.begin, shard->second.end,
                                                  context_of(card), settings_.sequences));
    ++room_;
  }
  if (!shard->second.chain) return stand_by(std::string(shard->second.model));
  if (chains_.contains(shard->second.chain)) advance(shard->second.chain, now);
  if (Audit* const audit = audit_of_chain(shard->second.chain)) link_audit(*audit);
  if (StageTrace* const trace = trace_of(shard->second.chain.number(), session)) link_stage(*trace);
}

void Desk::on(ServingId session, const wire::Unloaded& message, Instant now) {
  const auto shard = shards_.find(message.shard);
  if (shard == shards_.end() || shard->second.worker != session) return;
  const ChainId id = shard->second.chain;
  if (!id) return refuse_standby(message.shard);
  if (const Audit* const audit = audit_of_chain(id))
    return end_audit(audit->what.id, Error{ErrorCode::unavailable, message.message});
  if (StageTrace* const trace = trace_of(id.number(), session)) return next_auditor(*trace, now);
  const std::string name = chains_.at(id).model;
  Model& model = models_.at(name);
  model.trouble = message.message;
  model.retry = now + form_again_after;
  // It has less room than it says.
  Worker& worker = workers_.at(session);
  const auto bytes = shard->second.bytes;
  dissolve(id, now);
  if (message.code == to_string(ErrorCode::out_of_memory) ||
      message.code == to_string(ErrorCode::resource_exhausted))
    worker.offer.memory_bytes = std::min(worker.offer.memory_bytes, bytes - bytes / 8);
}

void Desk::on(ServingId session, const wire::Linked& message, Instant now) {
  if (const Audit* const audit = audit_of_chain(ChainId(message.chain))) {
    if (audit->worker == session && audit->epoch == message.epoch) ask_audit(*audit);
    return;
  }
  if (const StageTrace* const trace = trace_of(message.chain, session))
    return trace->epoch == message.epoch ? feed_stage(*trace) : void();
  const auto chain = chains_.find(ChainId(message.chain));
  if (chain == chains_.end() || chain->second.epoch != message.epoch ||
      chain->second.state != ChainState::linking)
    return;
  const auto member = std::ranges::find(chain->second.members, session, &Member::worker);
  if (member == chain->second.members.end()) return;
  member->linked = true;
  for (const std::uint32_t other : message.unreached) {
    if (other < chain->second.members.size())
      set_relayed(session, chain->second.members[other].worker, now);
  }
  // The word for all is that of the slowest line.
  if (chain->second.transport.empty() || message.line == "relay")
    chain->second.transport = message.line;
  advance(ChainId(message.chain), now);
}

void Desk::on(ServingId session, const wire::Broken& message, Instant now) {
  if (const Audit* const audit = audit_of_chain(ChainId(message.chain));
      audit != nullptr && audit->worker == session)
    return end_audit(audit->what.id, Error{ErrorCode::unavailable, message.message});
  if (StageTrace* const trace = trace_of(message.chain, session)) return next_auditor(*trace, now);
  const auto chain = chains_.find(ChainId(message.chain));
  if (chain == chains_.end() || chain->second.epoch != message.epoch) return;
  const auto& members = chain->second.members;
  const auto teller = std::ranges::find(members, session, &Member::worker);
  if (teller == members.end()) return;
  log_warning("A chain of {} is broken: {}", chain->second.model, message.message);
  // The word of one member convicts no other: the chain is formed again, if possible without the
  // two side by side.
  if (message.member < members.size())
    separations_.add(workers_.at(session).key, workers_.at(members[message.member].worker).key,
                     now + settings_.apart_for);
  dissolve(ChainId(message.chain), now);
}

void Desk::on(ServingId session, const wire::Signal& message, Instant) {
  const auto chain = chains_.find(ChainId(message.chain));
  if (chain == chains_.end() || chain->second.epoch != message.epoch) return;
  const auto& members = chain->second.members;
  if (message.from >= members.size() || message.to >= members.size() ||
      members[message.from].worker != session)
    return;
  world_.send(members[message.to].worker, message);
}

void Desk::lose_worker(ServingId session, Instant now) {
  const auto found = workers_.find(session);
  if (found == workers_.end()) return;
  const auto shards = found->second.shards;
  workers_.erase(found);
  forget_lines(session);
  std::set<ChainId> chains;
  for (const std::uint32_t shard : shards) {
    if (shards_.at(shard).chain) chains.insert(shards_.at(shard).chain);
    shards_.erase(shard);
  }
  for (const ChainId id : chains) {
    if (chains_.contains(id)) mend(id, now);
  }
  end_traces_on(session, now);
  end_audits_on(
      session);  // When it is known no more: what waits for an auditor must not be given to it.
}

// Puts every lost part on another worker. Where there is none, the chain ends and its requests wait
// for the next one.
void Desk::mend(ChainId id, Instant now) {
  Chain& chain = chains_.at(id);
  const ModelCard& card = models_.at(chain.model).card;
  ++chain.epoch;  // What the others still send is too late.
  chain.state = ChainState::loading;
  chain.since = chain.changed = now;
  for (Member& member : chain.members) {
    if (workers_.contains(member.worker)) continue;
    member.ms = 0;
    if (take_standby(id, member)) continue;
    // One that stands by with other layers of this model is warm: it has compiled what it takes.
    auto others = candidates(&chain, chain.trusted ? Whom::trusted : Whom::all);
    std::vector<Candidate> warm;
    std::ranges::copy_if(others, std::back_inserter(warm), [&](const Candidate& one) {
      return std::ranges::any_of(workers_.at(one.session).shards, [&](std::uint32_t shard) {
        return !shards_.at(shard).chain && shards_.at(shard).model == chain.model &&
               shards_.at(shard).loaded;
      });
    });
    auto spare =
        place_shard(card, member.begin, member.end, warm, context_of(card), settings_.sequences);
    if (!spare)
      spare = place_shard(card, member.begin, member.end, others, context_of(card),
                          settings_.sequences);
    if (!spare) return dissolve(id, now);
    member.worker = *spare;
    load(id, member, now);
  }
  advance(id, now);
}

void Desk::dissolve(ChainId id, Instant now) {
  auto node = chains_.extract(id);
  Chain& chain = node.mapped();
  for (const Member& member : chain.members) {
    if (!workers_.contains(member.worker)) continue;
    world_.send(member.worker, wire::Unlink{.chain = id.number()});
    unload(member.shard);
  }
  Model& model = models_.at(chain.model);
  std::vector<RequestId> tired;
  for (auto request = chain.requests.rbegin(); request != chain.requests.rend(); ++request) {
    Request& waits = requests_.at(*request);
    waits.chain = {};
    waits.since = now;
    if (waits.resumed >= settings_.resumes_max) {
      tired.push_back(*request);
    } else {
      model.waiting.push_front(*request);
    }
  }
  const std::string name = chain.model;
  for (const RequestId request : tired)
    end(request, "failed",
        {ErrorCode::unavailable, "The workers that answered were lost again and again."}, now);
  form_where_needed(name, now);
  hand_out(name, now);
}

}  // namespace weft::inference
