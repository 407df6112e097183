#include "decisions/inference/desk.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "decisions/inference/desk_parts.h"

namespace weft::inference {

namespace wire = protocol::serving;

Desk::Desk(DeskWorld& world, DeskSettings settings)
    : parts_(std::make_unique<Parts>(world, std::move(settings))) {}
Desk::~Desk() = default;

void Desk::put_model(const ModelCard& card, Instant now) {
  auto& models = parts_->tables.models;
  if (const auto old = models.find(card.name); old != models.end()) {
    const bool same = old->second.file == card.file && old->second.shards_min == card.shards_min;
    old->second = card;
    if (!same) {
      parts_->planning.model_changed(card.name);
      parts_->audits.end_of_model(card.name);
      for (const ChainId id : parts_->tables.chains.of_model(card.name))
        parts_->keeper.dissolve(id, now);
      for (const ShardId shard : parts_->tables.shards.of_model(card.name)) {
        if (!parts_->tables.shards.at(shard).chain) parts_->tables.shards.unload(shard);
      }
    }
  } else {
    models[card.name] = card;
    parts_->requests.add_model(card.name);
    parts_->planning.add_model(card.name, now);
  }
  parts_->planning.form_where_needed(card.name, now);
}

void Desk::remove_model(const std::string& name, Instant now) {
  if (!parts_->tables.models.contains(name)) return;
  parts_->planning.stop(name);  // No chain of the model is formed while its chains are dissolved.
  parts_->audits.end_of_model(name);
  parts_->requests.end_all(name, now);
  parts_->stop_serving(name, now);
  parts_->planning.remove_model(name);
  parts_->requests.remove_model(name);
  parts_->tables.models.erase(name);
}

void Desk::join(ServingId session, const PublicKey& key, const wire::Offer& offer, Instant now) {
  DeskTables& tables = parts_->tables;
  tables.workers.join(session, key, offer, now);
  tables.shards.made_room();
  tables.lines.joined(session, now);
  tables.world.send(
      session, wire::Serving{.pulse_ms = static_cast<std::uint32_t>(tables.settings.pulse /
                                                                    std::chrono::milliseconds(1))});
  parts_->planning.room_was_made();
  for (const auto& [name, card] : tables.models) {
    parts_->planning.form_where_needed(name, now);
    parts_->standby.stand_by(name);
  }
}

void Desk::hear(ServingId session, const wire::ServingWorkerMessage& message, Instant now) {
  ServingWorker* const worker = parts_->tables.workers.find(session);
  if (worker == nullptr) return;
  worker->heard = now;
  std::visit([&](const auto& what) { parts_->on(session, what, now); }, message);
}

void Desk::hop(ServingId session, ByteVector frame, Instant now) {
  ServingWorker* const worker = parts_->tables.workers.find(session);
  if (worker == nullptr) return;
  worker->heard = now;
  parts_->on_hop(session, std::move(frame), now);
}

void Desk::left(ServingId session, Instant now) { parts_->lose_worker(session, now); }

void Desk::measured(ServingId session, Duration round_trip, Instant now) {
  parts_->tables.lines.measured(session, round_trip, now);
}

Result<> Desk::ask(AnswerRequest request, Instant now) {
  const std::string model = request.model;
  if (auto asked = parts_->requests.ask(std::move(request), now); !asked) return asked;
  parts_->planning.form_where_needed(model, now);
  return {};
}

void Desk::drop(RequestId request, Instant now) { parts_->requests.drop(request, now); }

bool Desk::has_room_for_shadow(const std::string& model) const {
  const ChainTable& chains = parts_->tables.chains;
  return std::ranges::any_of(chains.all(), [&](const auto& entry) {
    const Chain& chain = entry.second;
    return chain.model == model && chain.state == ChainState::ready && !chain.retiring &&
           chain.requests.empty() && !chains.is_trusted(chain);
  });
}

void Desk::audit(AuditRequest request, Instant now) {
  parts_->audits.audit(std::move(request), now);
}

void Desk::trace(TraceRequest request, Instant now) {
  parts_->searches.search(std::move(request), now);
}

void Desk::expel(const PublicKey& worker, const std::string& why, Instant now) {
  for (const ServingId session : parts_->tables.workers.sessions_of(worker))
    parts_->close(session, why, now);
}

void Desk::tick(Instant now) {
  parts_->lose_silent(now);
  parts_->keeper.dissolve_stuck(now);
  parts_->audits.look(now);
  parts_->commitments.look(now);
  parts_->searches.look(now);
  parts_->requests.end_late(now);
  parts_->requests.end_unserved(
      [&](const std::string& model) { return parts_->planning.trouble(model); }, now);
  for (const auto& [name, card] : parts_->tables.models) {
    parts_->planning.form_where_needed(name, now);
    parts_->planning.shrink(name, now);
    parts_->standby.stand_by(name);
  }
  parts_->review.look(now);
}

// The deadline is one pulse after the last message of the worker that was heard longest ago. The
// desk's time limits need no exact alarms: tick() checks them all.
std::optional<Instant> Desk::next_deadline() const {
  const auto& workers = parts_->tables.workers.all();
  if (workers.empty() && parts_->requests.empty()) return std::nullopt;
  std::optional<Instant> soonest;
  for (const auto& [session, worker] : workers)
    soonest =
        std::min(soonest.value_or(Instant::max()), worker.heard + parts_->tables.settings.pulse);
  return soonest;
}

std::uint32_t Desk::context_of(const ModelCard& card) const {
  return parts_->tables.shards.context_of(card);
}

const ServingCounters& Desk::counters() const { return parts_->tables.counters; }

std::string Desk::inconsistency() const { return parts_->inconsistency(); }

}  // namespace weft::inference
