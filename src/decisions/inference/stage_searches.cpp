#include "decisions/inference/stage_searches.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"

namespace weft::inference {

namespace wire = protocol::serving;

namespace {

constexpr std::size_t rows_max = 64;   // Stages send at most this number of rows in a frame.
constexpr std::uint32_t sequence = 1;  // Auditors know the answer by this sequence number.

std::vector<std::int32_t> tokens_of(const wire::Ask& ask) {
  std::vector<std::int32_t> out = ask.prompt;
  out.insert(out.end(), ask.answered.begin(), ask.answered.end());
  return out;
}

// Returns how many final states were asked for within the first `rows` rows.
std::size_t asked_within(const AnswerPlaces& places, std::size_t rows) {
  return static_cast<std::size_t>(std::ranges::count_if(
      places.asked, [&](const auto& entry) { return entry.second.positions <= rows; }));
}

}  // namespace

void StageSearches::search(TraceRequest request, Instant now) {
  const RequestId id = request.id;
  if (!tables_.models.contains(request.model) || request.pipeline.stages.size() < 2 ||
      searches_.size() >= waiting_max)
    return tables_.world.traced(id, {});
  LineOpening opening(tables_, request.pipeline);
  searches_.emplace(
      id, Search{.what = std::move(request), .opening = std::move(opening), .since = now});
  ++tables_.counters.traces;
  look(now);
}

StageSearches::Search* StageSearches::find(ChainId chain, ServingId session) {
  if (!chain) return nullptr;
  for (auto& [id, search] : searches_) {
    if (search.worker == session && search.chain == chain) return &search;
  }
  return nullptr;
}

void StageSearches::open_lines(Search& search, Instant now) {
  search.since = now;
  if (!search.opening.ask()) return end(search);
  if (search.opening.is_heard()) opened(search, now);
}

void StageSearches::open_frame(ServingId session, const wire::HopFrame& hop) {
  for (auto& [id, search] : searches_) {
    if (search.opening.take(session, hop)) return;
  }
}

void StageSearches::opened(Search& search, Instant now) {
  search.opening.close_step(tokens_of(search.what.ask));
  if (search.opening.step() == LineOpening::Step::done) return next_auditor(search, now);
  open_lines(search, now);
}

void StageSearches::next_auditor(Search& search, Instant now) {
  leave_stage(search);
  search.worker = 0;
  if (search.asked.size() >= tables_.settings.trace_auditors) return end(search);
  // The second auditor is asked only if the first one has found a guilty stage, because the finding
  // of one auditor proves nothing.
  if (search.asked.size() > search.end.findings.size()) return end(search);
  const ModelCard& card = tables_.models.at(search.what.model);
  std::uint64_t bytes = 0;
  for (const Pipeline::Stage& stage : search.what.pipeline.stages)
    bytes =
        std::max(bytes, shard_bytes(card, stage.begin, stage.end, tables_.shards.context_of(card),
                                    tables_.settings.sequences));
  std::vector<ServingId> able;
  for (const auto& [session, worker] : tables_.workers.all()) {
    if (!std::ranges::contains(search.what.except, worker.key) &&
        !std::ranges::contains(search.asked, worker.key) &&
        tables_.shards.memory_beside(worker) >= bytes)
      able.push_back(session);
  }
  if (able.empty()) return end(search);
  search.worker = able[search.what.draw % able.size()];
  search.auditor = tables_.workers.key(search.worker);
  search.asked.push_back(search.auditor);
  search.stage = 0;
  run_stage(search, now);
}

void StageSearches::run_stage(Search& search, Instant now) {
  const auto& stages = search.what.pipeline.stages;
  const std::size_t embedding = tables_.models.at(search.what.model).embedding;
  for (; search.stage < stages.size(); ++search.stage) {
    const bool last = search.is_last_stage();
    search.rows =
        stage_rows(search.opening.places(),
                   search.stage == 0 ? nullptr : &search.opening.lines()[search.stage - 1],
                   last ? nullptr : &search.opening.lines()[search.stage], embedding);
    if (search.rows.altered)
      return found(search, stages[search.stage].worker,
                   "The worker handed on frames other than the ones that it was given.", now);
    if (last ? asked_within(search.opening.places(), search.rows.in.size()) == 0
             : search.rows.out.empty())
      continue;
    search.own = {};
    search.shakes = false;
    search.joiner = {};
    search.chain = tables_.chains.next_id();
    search.since = now;
    search.shard = tables_.shards.load(search.worker, search.chain, search.what.model,
                                       stages[search.stage].begin, stages[search.stage].end);
    return;
  }
  const FinalStates committed = final_states(search.opening.lines().back(), embedding);
  if (const auto at = false_print(search.what, search.opening.places(), committed))
    return found(search, stages.front().worker,
                 weft::format("The fingerprint that the worker gave after token {} is not that of "
                              "the state that it was given.",
                              *at),
                 now);
  next_auditor(search, now);
}

void StageSearches::link_stage(Search& search) {
  const Pipeline& pipeline = search.what.pipeline;
  wire::Link link{.chain = search.chain.number(),
                  .epoch = ++search.epoch,
                  .index = search.stage,
                  .wire = tables_.chains.wire_of(search.what.model),
                  .exact = pipeline.exact,
                  .members = {}};
  // The desk plays all other members. They have no direct lines, so that the auditor sends all
  // frames to the desk.
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i)
    link.members.push_back({.worker = search.auditor, .shard = search.shard.number(), .lines = {}});
  tables_.world.send(search.worker, link);
}

void StageSearches::feed_stage(const Search& search) const {
  if (search.stage == 0) {
    wire::Ask ask = search.what.ask;
    ask.request = search.what.id;
    ask.chain = search.chain.number();
    ask.epoch = search.epoch;
    ask.audit = true;
    ask.prints = false;
    ask.redraw = 0;
    ask.tokens_max = static_cast<std::uint32_t>(ask.answered.size());
    return tables_.world.send(search.worker, ask);
  }
  const auto stage = static_cast<std::uint16_t>(search.stage);
  const bool last = search.is_last_stage();
  const std::vector<std::int32_t> tokens = tokens_of(search.what.ask);
  std::map<std::size_t, std::uint32_t> asked;  // Tickets by position.
  if (last) {
    for (const auto& [ticket, one] : search.opening.places().asked) asked[one.positions] = ticket;
  }
  for (std::size_t at = 0; at < search.rows.in.size();) {
    std::size_t to = std::min(at + rows_max, search.rows.in.size());
    const auto next = asked.upper_bound(at);
    if (next != asked.end()) to = std::min(to, next->first);
    proof::FrameHead head{.sequence = sequence, .at = static_cast<std::uint32_t>(at)};
    if (const auto ticket = asked.find(to); ticket != asked.end()) {
      head.want = std::to_underlying(proof::FrameWant::hidden);
      head.ticket = ticket->second;
    }
    std::vector<float> values;
    for (std::size_t row = at; row < to; ++row)
      values.insert(values.end(), search.rows.in[row].begin(), search.rows.in[row].end());
    ByteVector frame;
    proof::append_activations(frame, head, std::span(tokens).subspan(at, to - at), values);
    wire::cut_hops(search.chain.number(), search.epoch, static_cast<std::uint16_t>(stage - 1),
                   stage, frame,
                   [&](ByteVector hop) { tables_.world.send_hop(search.worker, std::move(hop)); });
    at = to;
  }
}

bool StageSearches::take_replayed(ServingId session, const wire::HopFrame& hop, Instant now) {
  Search* const search = find(ChainId(hop.chain), session);
  if (search == nullptr) return false;
  if (hop.epoch != search->epoch || !search->shard) return true;
  const auto message = search->joiner.take(hop);
  if (message && !*message) return true;
  if (!message || !take_output(*search, **message)) {
    next_auditor(*search, now);
  } else {
    judge_stage(*search, now);
  }
  return true;
}

bool StageSearches::take_output(Search& search, ByteSpan message) const {
  const std::size_t embedding = tables_.models.at(search.what.model).embedding;
  ByteReader in(message);
  proof::Activations frame = proof::read_activations(in);
  if (frame.head.kind == std::to_underlying(proof::FrameKind::hidden) &&
      frame.values.size() == embedding) {
    search.own.finals[frame.head.ticket] = std::move(frame.values);
  } else if (frame.head.kind == std::to_underlying(proof::FrameKind::pass) &&
             frame.values.size() == frame.tokens.size() * embedding &&
             frame.head.at == search.own.rows.size()) {
    for (std::size_t row = 0; row < frame.tokens.size(); ++row) {
      const auto from = frame.values.begin() + static_cast<std::ptrdiff_t>(row * embedding);
      search.own.rows.emplace_back(from, from + static_cast<std::ptrdiff_t>(embedding));
    }
  }
  return frame.head.kind != std::to_underlying(proof::FrameKind::fault);
}

void StageSearches::judge_stage(Search& search, Instant now) {
  const auto& stages = search.what.pipeline.stages;
  const bool last = search.is_last_stage();
  const bool is_whole = last ? search.own.finals.size() >=
                                   asked_within(search.opening.places(), search.rows.in.size())
                             : search.own.rows.size() >= search.rows.out.size();
  if (!is_whole) return;
  StageOutput claimed;
  if (last) {
    claimed.finals =
        final_states(search.opening.lines().back(), tables_.models.at(search.what.model).embedding);
  } else {
    claimed.rows = search.rows.out;
  }
  const StageOutput& own = search.shakes ? search.unshaken : search.own;
  const double error = stage_error(claimed, own, search.shakes ? &search.own : nullptr);
  const bool is_off = error > search.what.error_max;
  // The first stage is not run again with changed input, because its tokens come from the
  // coordinator, so that no member has chosen them.
  if (is_off && !search.shakes && search.stage > 0) {
    search.shakes = true;
    search.unshaken = std::exchange(search.own, {});
    search.rows.in = shaken(std::move(search.rows.in));
    search.joiner = {};
    search.since = now;
    return link_stage(search);
  }
  ++search.end.stages;
  if (is_off)
    return found(search, stages[search.stage].worker,
                 weft::format("The output of layers {} to {} differs by {:.2g} from what their "
                              "input gives (at most {:.2g} is allowed).",
                              stages[search.stage].begin, stages[search.stage].end, error,
                              search.what.error_max),
                 now);
  if (!search.shakes) search.end.farthest = std::max(search.end.farthest, error);
  leave_stage(search);
  ++search.stage;
  run_stage(search, now);
}

void StageSearches::found(Search& search, const PublicKey& guilty, std::string why, Instant now) {
  log_info(
      "The worker {} searched the chain of an answer of the model {}: {} (the guilty worker is {})",
      search.auditor.text(), search.what.model, why, guilty.text());
  search.end.findings.push_back(
      {.auditor = search.auditor, .guilty = guilty, .why = std::move(why)});
  next_auditor(search, now);
}

void StageSearches::leave_stage(Search& search) {
  if (!search.shard) return;
  if (tables_.workers.contains(search.worker)) {
    tables_.world.send(search.worker, wire::Unlink{.chain = search.chain.number()});
    tables_.shards.unload(search.shard);
  }
  search.shard = {};
  search.chain = {};
}

void StageSearches::end(Search& search) {
  leave_stage(search);
  auto node = searches_.extract(search.what.id);
  tables_.world.traced(node.key(), node.mapped().end);
}

void StageSearches::look(Instant now) {
  std::vector<RequestId> ids;
  for (const auto& [id, search] : searches_) ids.push_back(id);
  std::size_t running = 0;
  for (const RequestId id : ids) {
    const auto entry = searches_.find(id);
    if (entry == searches_.end()) continue;
    Search& search = entry->second;
    if (!tables_.models.contains(search.what.model)) {
      end(search);
    } else if (search.opening.step() == LineOpening::Step::waits) {
      if (running++ < tables_.settings.traces_max) open_lines(search, now);
    } else {
      ++running;
      if (now - search.since < tables_.settings.trace_step_max) continue;
      search.opening.step() == LineOpening::Step::done ? next_auditor(search, now)
                                                       : opened(search, now);
    }
  }
}

void StageSearches::end_on(ServingId session, Instant now) {
  std::vector<RequestId> ids;
  for (const auto& [id, search] : searches_) ids.push_back(id);
  for (const RequestId id : ids) {
    const auto entry = searches_.find(id);
    if (entry == searches_.end()) continue;
    Search& search = entry->second;
    if (search.worker == session) {
      search.shard = {};  // The worker has left with its shard.
      next_auditor(search, now);
    } else if (search.opening.left(session) && search.opening.is_heard()) {
      opened(search, now);
    }
  }
}

bool StageSearches::on(ServingId session, const wire::Answered& message, Instant now) {
  const auto entry = searches_.find(message.request);
  if (entry == searches_.end()) return false;
  Search& search = entry->second;
  if (search.worker == session && search.epoch == message.epoch && message.reason == "failed")
    next_auditor(search, now);
  return true;
}

bool StageSearches::loaded(ChainId chain, ServingId session) {
  Search* const search = find(chain, session);
  if (search != nullptr) link_stage(*search);
  return search != nullptr;
}

bool StageSearches::linked(ServingId session, const wire::Linked& message) {
  const Search* const search = find(ChainId(message.chain), session);
  if (search != nullptr && search->epoch == message.epoch) feed_stage(*search);
  return search != nullptr;
}

bool StageSearches::failed(ChainId chain, ServingId session, Instant now) {
  Search* const search = find(chain, session);
  if (search != nullptr) next_auditor(*search, now);
  return search != nullptr;
}

std::size_t StageSearches::holders_of(ShardId shard) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      searches_, [&](const auto& entry) { return entry.second.shard == shard; }));
}

std::string StageSearches::inconsistency() const {
  for (const auto& [id, search] : searches_) {
    const Shard* const shard = tables_.shards.find(search.shard);
    if (search.shard &&
        (shard == nullptr || shard->worker != search.worker || shard->chain != search.chain))
      return weft::format("search {} does not have its shard {}", id, search.shard.number());
  }
  return {};
}

void StageSearches::on(ServingId session, const wire::Reopened& message, Instant now) {
  for (auto& [id, search] : searches_) {
    if (!search.opening.reopened(session, message)) continue;
    if (search.opening.is_heard()) opened(search, now);
    return;
  }
}

}  // namespace weft::inference
