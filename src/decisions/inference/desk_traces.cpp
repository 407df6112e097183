// The search for the guilty stage of a refuted answer (stage_trace.h): frames are opened, and
// auditors run the stages again, each as a member of a chain whose other members are the desk.
#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/inference/desk.h"

namespace weft::inference {

namespace wire = protocol::serving;

namespace {

constexpr std::size_t rows_max = 64;     // In one frame, as stages send them.
constexpr std::size_t waiting_max = 64;  // Searches that wait for their turn.
constexpr std::uint32_t sequence = 1;    // Named so to auditors.

std::vector<std::int32_t> tokens_of(const wire::Ask& ask) {
  std::vector<std::int32_t> out = ask.prompt;
  out.insert(out.end(), ask.answered.begin(), ask.answered.end());
  return out;
}

// Final states that were asked for behind rows that are there.
std::size_t asked_within(const StageTrace& trace) {
  return static_cast<std::size_t>(std::ranges::count_if(trace.places.asked, [&](const auto& entry) {
    return entry.second.positions <= trace.rows.in.size();
  }));
}

}  // namespace

void Desk::trace(TraceRequest request, Instant now) {
  const RequestId id = request.id;
  if (!models_.contains(request.model) || request.pipeline.stages.size() < 2 ||
      traces_.size() >= waiting_max)
    return world_.traced(id, {});
  StageTrace& trace = traces_[id];
  trace.what = std::move(request);
  trace.since = now;
  ++counters_.traces;
  look_after_traces(now);
}

void Desk::open_lines(StageTrace& trace, Instant now) {
  const Pipeline& pipeline = trace.what.pipeline;
  const auto stages = static_cast<std::uint32_t>(pipeline.stages.size());
  const bool first = trace.opening == StageTrace::Opening::waits;
  trace.opening = first ? StageTrace::Opening::first : StageTrace::Opening::others;
  trace.since = now;
  std::vector<std::uint32_t> numbers;
  if (!first) {
    std::set<std::uint32_t> all;
    for (const AnswerPlaces::Row& row : trace.places.rows) all.insert(row.number);
    for (const auto& [ticket, asked] : trace.places.asked) all.insert(asked.number);
    numbers.assign(all.begin(), all.end());
    if (numbers.empty() || numbers.size() > wire::reopened_max) return end_trace(trace);
  }
  const auto ask = [&](std::uint32_t line) {
    for (const std::uint32_t end : {line, (line + 1) % stages}) {
      const auto holder = std::ranges::find_if(workers_, [&](const auto& entry) {
        return entry.second.key == pipeline.stages[end].worker;
      });
      if (holder == workers_.end()) continue;
      trace.awaited.emplace(holder->first, line);
      wire::Reopen order{.chain = pipeline.chain, .epoch = pipeline.epoch, .line = line};
      order.by_sequence = first && line == 0;
      order.sequence = order.by_sequence ? pipeline.sequence : 0;
      if (!first) order.numbers = numbers;
      world_.send(holder->first, order);
    }
  };
  if (first) {
    ask(0);
    ask(stages - 1);  // Final states: all that are kept, which are few.
  } else {
    for (std::uint32_t line = 1; line + 1 < stages; ++line) ask(line);
  }
  if (trace.awaited.empty()) opened(trace, now);
}

void Desk::open_frame(ServingId session, const wire::HopFrame& hop) {
  for (auto& [id, trace] : traces_) {
    const Pipeline& pipeline = trace.what.pipeline;
    if (pipeline.chain != hop.chain || pipeline.epoch != hop.epoch ||
        !trace.awaited.contains({session, hop.from}))
      continue;
    const auto message = trace.joiners[session].take(hop);
    if (!message || !*message) return;
    auto opening = proof::decode_frame_opening(**message);
    if (!opening || opening->line != hop.from ||
        trace.bytes + opening->frame.size() > settings_.trace_bytes_max)
      return;
    // What only one end committed to is no evidence against the other.
    const proof::FrameBlock* const block =
        roots_.agreed(hop.chain, hop.epoch, hop.from, opening->first);
    if (block == nullptr || block->count != opening->count || !proof::opens(*opening, block->root))
      return;
    ByteVector& frame = trace.frames[opening->line][opening->number];
    if (!frame.empty()) return;
    trace.bytes += opening->frame.size();
    frame = std::move(opening->frame);
    return;
  }
}

void Desk::on(ServingId session, const wire::Reopened& message, Instant now) {
  for (auto& [id, trace] : traces_) {
    if (trace.what.pipeline.chain != message.chain || trace.what.pipeline.epoch != message.epoch ||
        trace.awaited.erase({session, message.line}) == 0)
      continue;
    if (trace.awaited.empty()) opened(trace, now);
    return;
  }
}

// What was asked for is there, as far as it will come.
void Desk::opened(StageTrace& trace, Instant now) {
  trace.awaited.clear();
  trace.joiners.clear();
  if (trace.opening == StageTrace::Opening::first) {
    trace.places = find_answer(read_frames(trace.frames[0]), tokens_of(trace.what.ask));
    return open_lines(trace, now);
  }
  trace.opening = StageTrace::Opening::done;
  for (std::uint32_t line = 0; line < trace.what.pipeline.stages.size(); ++line)
    trace.lines.push_back(read_frames(trace.frames[line]));
  trace.frames.clear();
  next_auditor(trace, now);
}

// --- Auditors.

StageTrace* Desk::trace_of(std::uint32_t chain, ServingId session) {
  if (chain == 0) return nullptr;
  for (auto& [id, trace] : traces_) {
    if (trace.worker == session && trace.chain == chain) return &trace;
  }
  return nullptr;
}

void Desk::next_auditor(StageTrace& trace, Instant now) {
  leave_stage(trace);
  trace.worker = 0;
  if (trace.asked.size() >= settings_.trace_auditors) return end_trace(trace);
  // One alone convicts none, so that the second is asked only if the first found a stage.
  if (trace.asked.size() > trace.end.findings.size()) return end_trace(trace);
  const ModelCard& card = models_.at(trace.what.model).card;
  std::uint64_t bytes = 0;
  for (const Pipeline::Stage& stage : trace.what.pipeline.stages)
    bytes = std::max(
        bytes, shard_bytes(card, stage.begin, stage.end, context_of(card), settings_.sequences));
  std::vector<ServingId> able;
  for (const auto& [session, worker] : workers_) {
    if (!std::ranges::contains(trace.what.except, worker.key) &&
        !std::ranges::contains(trace.asked, worker.key) && memory_beside(worker) >= bytes)
      able.push_back(session);
  }
  if (able.empty()) return end_trace(trace);
  trace.worker = able[trace.what.draw % able.size()];
  trace.auditor = workers_.at(trace.worker).key;
  trace.asked.push_back(trace.auditor);
  trace.stage = 0;
  run_stage(trace, now);
}

// The next one of which both lines are there.
void Desk::run_stage(StageTrace& trace, Instant now) {
  const auto& stages = trace.what.pipeline.stages;
  const std::size_t embedding = models_.at(trace.what.model).card.embedding;
  for (; trace.stage < stages.size(); ++trace.stage) {
    const bool last = trace.stage + 1 == stages.size();
    trace.rows =
        stage_rows(trace.places, trace.stage == 0 ? nullptr : &trace.lines[trace.stage - 1],
                   last ? nullptr : &trace.lines[trace.stage], embedding);
    if (trace.rows.altered)
      return found(trace, stages[trace.stage].worker,
                   "It handed on other frames than it was given.", now);
    if (last ? asked_within(trace) == 0 : trace.rows.out.empty()) continue;
    trace.own = {};
    trace.shakes = false;
    trace.joiner = {};
    trace.chain = (++chain_ids_).number();
    trace.since = now;
    trace.shard = send_load(trace.worker, ChainId(trace.chain), trace.what.model,
                            stages[trace.stage].begin, stages[trace.stage].end);
    return;
  }
  const FinalStates committed = final_states(trace.lines.back(), embedding);
  if (const auto at = false_print(trace.what, trace.places, committed))
    return found(trace, stages.front().worker,
                 weft::format("The fingerprint that it told of behind token {} is not of the state "
                              "that it was given.",
                              *at),
                 now);
  next_auditor(trace, now);
}

void Desk::link_stage(StageTrace& trace) {
  const Pipeline& pipeline = trace.what.pipeline;
  wire::Link link{.chain = trace.chain,
                  .epoch = ++trace.epoch,
                  .index = trace.stage,
                  .wire = wire_of(models_.at(trace.what.model).card),
                  .exact = pipeline.exact,
                  .members = {}};
  // The desk is all others: they have no lines, so that everything goes over it.
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i)
    link.members.push_back({.worker = trace.auditor, .shard = trace.shard, .lines = {}});
  world_.send(trace.worker, link);
}

// The rows that came in, and a question behind each position for whose final state was asked.
void Desk::feed_stage(const StageTrace& trace) {
  if (trace.stage == 0) {
    wire::Ask ask = trace.what.ask;
    ask.request = trace.what.id;
    ask.chain = trace.chain;
    ask.epoch = trace.epoch;
    ask.audit = true;
    ask.prints = false;
    ask.redraw = 0;
    ask.tokens_max = static_cast<std::uint32_t>(ask.answered.size());
    return world_.send(trace.worker, ask);
  }
  const auto stage = static_cast<std::uint16_t>(trace.stage);
  const bool last = trace.stage + 1 == trace.what.pipeline.stages.size();
  const std::vector<std::int32_t> tokens = tokens_of(trace.what.ask);
  std::map<std::size_t, std::uint32_t> asked;  // Tickets by positions.
  if (last) {
    for (const auto& [ticket, one] : trace.places.asked) asked[one.positions] = ticket;
  }
  for (std::size_t at = 0; at < trace.rows.in.size();) {
    std::size_t to = std::min(at + rows_max, trace.rows.in.size());
    const auto next = asked.upper_bound(at);
    if (next != asked.end()) to = std::min(to, next->first);
    proof::FrameHead head{.sequence = sequence, .at = static_cast<std::uint32_t>(at)};
    if (const auto ticket = asked.find(to); ticket != asked.end()) {
      head.want = std::to_underlying(proof::FrameWant::hidden);
      head.ticket = ticket->second;
    }
    std::vector<float> values;
    for (std::size_t row = at; row < to; ++row)
      values.insert(values.end(), trace.rows.in[row].begin(), trace.rows.in[row].end());
    ByteVector frame;
    proof::append_activations(frame, head, std::span(tokens).subspan(at, to - at), values);
    wire::cut_hops(trace.chain, trace.epoch, static_cast<std::uint16_t>(stage - 1), stage, frame,
                   [&](ByteVector hop) { world_.send_hop(trace.worker, std::move(hop)); });
    at = to;
  }
}

void Desk::take_replayed(StageTrace& trace, const wire::HopFrame& hop, Instant now) {
  if (hop.epoch != trace.epoch || trace.shard == 0) return;
  const auto message = trace.joiner.take(hop);
  if (!message) return next_auditor(trace, now);
  if (!*message) return;
  const std::size_t embedding = models_.at(trace.what.model).card.embedding;
  ByteReader in(**message);
  proof::Activations frame = proof::read_activations(in);
  if (frame.head.kind == std::to_underlying(proof::FrameKind::hidden) &&
      frame.values.size() == embedding) {
    trace.own.finals[frame.head.ticket] = std::move(frame.values);
  } else if (frame.head.kind == std::to_underlying(proof::FrameKind::pass) &&
             frame.values.size() == frame.tokens.size() * embedding &&
             frame.head.at == trace.own.rows.size()) {
    for (std::size_t row = 0; row < frame.tokens.size(); ++row) {
      const auto from = frame.values.begin() + static_cast<std::ptrdiff_t>(row * embedding);
      trace.own.rows.emplace_back(from, from + static_cast<std::ptrdiff_t>(embedding));
    }
  } else if (frame.head.kind == std::to_underlying(proof::FrameKind::fault)) {
    return next_auditor(trace, now);
  }
  judge_stage(trace, now);
}

// Once all that can come is there.
void Desk::judge_stage(StageTrace& trace, Instant now) {
  const auto& stages = trace.what.pipeline.stages;
  const bool last = trace.stage + 1 == stages.size();
  const bool is_whole = last ? trace.own.finals.size() >= asked_within(trace)
                             : trace.own.rows.size() >= trace.rows.out.size();
  if (!is_whole) return;
  StageOutput claimed;
  if (last) {
    claimed.finals = final_states(trace.lines.back(), models_.at(trace.what.model).card.embedding);
  } else {
    claimed.rows = trace.rows.out;
  }
  const StageOutput& own = trace.shakes ? trace.unshaken : trace.own;
  const double error = stage_error(claimed, own, trace.shakes ? &trace.own : nullptr);
  const bool is_off = error > trace.what.error_max;
  // Tokens come from the coordinator: the first stage's input is no member's choice.
  if (is_off && !trace.shakes && trace.stage > 0) {
    trace.shakes = true;
    trace.unshaken = std::exchange(trace.own, {});
    trace.rows.in = shaken(std::move(trace.rows.in));
    trace.joiner = {};
    trace.since = now;
    return link_stage(trace);
  }
  ++trace.end.stages;
  if (is_off)
    return found(trace, stages[trace.stage].worker,
                 weft::format("Layers {} to {} are {:.2g} off (at most {:.2g}) for what came in.",
                              stages[trace.stage].begin, stages[trace.stage].end, error,
                              trace.what.error_max),
                 now);
  if (!trace.shakes) trace.end.farthest = std::max(trace.end.farthest, error);
  leave_stage(trace);
  ++trace.stage;
  run_stage(trace, now);
}

void Desk::found(StageTrace& trace, const PublicKey& guilty, std::string why, Instant now) {
  log_info("{} searched an answer of {}: {} ({})", trace.auditor.text(), trace.what.model, why,
           guilty.text());
  trace.end.findings.push_back({.auditor = trace.auditor, .guilty = guilty, .why = std::move(why)});
  next_auditor(trace, now);
}

void Desk::leave_stage(StageTrace& trace) {
  if (trace.shard == 0) return;
  if (workers_.contains(trace.worker)) {
    world_.send(trace.worker, wire::Unlink{.chain = trace.chain});
    unload(trace.shard);
  }
  trace.shard = 0;
  trace.chain = 0;
}

void Desk::end_trace(StageTrace& trace) {
  leave_stage(trace);
  auto node = traces_.extract(trace.what.id);
  world_.traced(node.key(), node.mapped().end);
}

void Desk::look_after_traces(Instant now) {
  std::vector<RequestId> ids;
  for (const auto& [id, trace] : traces_) ids.push_back(id);
  std::size_t running = 0;
  for (const RequestId id : ids) {
    const auto found = traces_.find(id);
    if (found == traces_.end()) continue;
    StageTrace& trace = found->second;
    if (!models_.contains(trace.what.model)) {
      end_trace(trace);
    } else if (trace.opening == StageTrace::Opening::waits) {
      if (running++ < settings_.traces_max) open_lines(trace, now);
    } else {
      ++running;
      if (now - trace.since < settings_.trace_step_max) continue;
      trace.opening == StageTrace::Opening::done ? next_auditor(trace, now) : opened(trace, now);
    }
  }
}

void Desk::end_traces_on(ServingId session, Instant now) {
  std::vector<RequestId> ids;
  for (const auto& [id, trace] : traces_) ids.push_back(id);
  for (const RequestId id : ids) {
    const auto found = traces_.find(id);
    if (found == traces_.end()) continue;
    StageTrace& trace = found->second;
    if (trace.worker == session) {
      trace.shard = 0;  // It went with its worker.
      next_auditor(trace, now);
      continue;
    }
    const auto gone =
        std::erase_if(trace.awaited, [&](const auto& one) { return one.first == session; });
    if (gone > 0 && trace.awaited.empty()) opened(trace, now);
  }
}

bool Desk::trace_hears(ServingId session, const wire::Answered& message, Instant now) {
  const auto found = traces_.find(message.request);
  if (found == traces_.end()) return false;
  StageTrace& trace = found->second;
  if (trace.worker == session && trace.epoch == message.epoch && message.reason == "failed")
    next_auditor(trace, now);
  return true;
}

}  // namespace weft::inference
