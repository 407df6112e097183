// The guilty stage of a refuted answer's chain (decisions/inference/stage_trace.h): searched by
// roots, and convicted where two of them found the same.
#include <algorithm>

#include "decisions/jobs/core_state.h"

namespace weft::jobs {

// Wrong hidden states are traced through the stages; a token that its settings do not give is not:
// which of a chain's ends chose it is not known. Without levels of trust heads count, and there are
// no roots that could search.
bool Core::State::trace_answer(const billing::AnswerId& id, std::int64_t lead, Moment now) {
  billing::OpenAnswer& open = answers.open.at(id);
  if (!parts.world.traces() || open.workers.size() < 2 || open.lead || !open.prints_differ ||
      !settings.referee.defences.only_roots_convict)
    return false;
  billing::AnswerTraceOrder order{.id = id, .except = open.workers};
  for (const auto& [key, worker] : workers) {
    if (answer_level(key, now.unix) != trust::Level::root) order.except.push_back(key);
  }
  order.draw = trust::draw_bits(settings.secret, trust::Purpose::auditor, {.job = id, .index = 1},
                                open.workers.front(), open.asked.size());
  open.lead = lead;
  effect([this, order = std::move(order)] { parts.world.trace_answer(order); });
  return true;
}

void Core::answer_traced(const billing::AnswerTraced& traced, Moment now) {
  State& state = *state_;
  const auto found = state.answers.open.find(traced.id);
  if (found == state.answers.open.end() || !found->second.lead) return;
  billing::OpenAnswer& open = found->second;
  open.guilty = billing::found_by_two(traced.findings);
  // A stage that took part, and roots that are still such.
  const bool by_roots =
      std::ranges::all_of(traced.findings, [&](const inference::TraceFinding& finding) {
        return state.trust.level(finding.auditor, now.unix) == trust::Level::root;
      });
  if (!by_roots || (open.guilty && !std::ranges::contains(open.workers, *open.guilty)))
    open.guilty.reset();
  state.judge_answer(traced.id, *open.lead, now);
}

}  // namespace weft::jobs
