// How many chains a model has: one at least, another where requests wait and all are full, one less
// where fewer would do. Between the two lie a time and a share, so that demand that comes and goes
// moves nothing.
#include <algorithm>

#include "common/base/log.h"
#include "decisions/inference/desk.h"

namespace weft::inference {

namespace {

constexpr Duration form_again_after =
    std::chrono::seconds(2);  // After there was no room for a further chain.

}  // namespace

void Desk::form_where_needed(const std::string& name, Instant now) {
  const auto found = models_.find(name);
  if (found == models_.end() || now < found->second.retry) return;
  Model& model = found->second;
  bool has_chain = false, has_room = false;
  ChainId retiring;
  for (const auto& [id, chain] : chains_) {
    if (chain.model != name) continue;
    has_chain = true;
    if (chain.retiring) {
      retiring = id;
    } else {
      has_room |= chain.state != ChainState::ready || chain.requests.size() < capacity_of(chain);
    }
  }
  const bool wants_trusted = std::ranges::any_of(model.waiting, [&](RequestId id) {
    return !requests_.at(id).what.for_newcomers && !requests_.at(id).what.shadow;
  });
  const Whom whom = !settings_.newcomers_answer || wants_trusted ? Whom::trusted : Whom::all;
  // Newcomers' chains do not serve requests for trusted workers.
  if (whom == Whom::trusted) {
    has_chain = has_room = false;
    retiring = {};
    for (const auto& [id, chain] : chains_) {
      if (chain.model != name || !(chain.trusted || is_trusted(chain))) continue;
      has_chain = true;
      if (chain.retiring) {
        retiring = id;
      } else {
        has_room |= chain.state != ChainState::ready || chain.requests.size() < capacity_of(chain);
      }
    }
  }
  if (!settings_.newcomers_answer) form_shadow_chains(model, now);
  if (!has_chain) {
    if (!model.backoff.may_plan(now, room_, settings_.plan_again)) return;
    if (form(model, whom, now)) {
      model.backoff.worked();
    } else {
      model.backoff.failed(now, room_, settings_.plan_again);
    }
    return;
  }
  if (model.waiting.empty() || has_room) return;
  // One that was to go is there still.
  if (retiring) {
    chains_.at(retiring).retiring = false;
    model.busy = now;
    return hand_out(name, now);
  }
  if (now - requests_.at(model.waiting.front()).since < settings_.grow_after) return;
  if (!form(model, whom, now)) model.retry = now + form_again_after;
  model.busy = now;
}

// Newcomers show what they can: beside a chain of trusted workers, whose answers they repeat.
void Desk::form_shadow_chains(Model& model, Instant now) {
  std::uint32_t shadows = 0;
  bool trusted = false;
  for (const auto& [id, chain] : chains_) {
    if (chain.model != model.card.name) continue;
    const bool all = chain.trusted || is_trusted(chain);
    trusted |= all && chain.state == ChainState::ready;
    shadows += all ? 0 : 1;
  }
  if (!trusted || shadows >= settings_.shadow_chains_max || now < model.shadow_retry) return;
  model.shadow_retry = now + form_again_after;
  const std::string trouble = model.trouble;
  if (!candidates(nullptr, Whom::newcomers).empty()) (void)form(model, Whom::newcomers, now);
  model.trouble = trouble;
}

// With less to do than a part of what one chain less could, for long enough, the chain with the
// least to do gets no more and goes when it is done.
void Desk::shrink(const std::string& name, Instant now) {
  Model& model = models_.at(name);
  std::vector<ChainId> staying, done;
  std::size_t demand = model.waiting.size(), capacity = 0;
  for (const auto& [id, chain] : chains_) {
    if (chain.model != name) continue;
    // Newcomers stay as long as they like.
    if (!settings_.newcomers_answer && !chain.trusted && !is_trusted(chain)) continue;
    demand += chain.requests.size();
    if (!chain.retiring) {
      staying.push_back(id);
      capacity += capacity_of(chain);
    } else if (chain.requests.empty()) {
      done.push_back(id);
    }
  }
  const double fewer = staying.empty() ? 0
                                       : static_cast<double>(capacity) *
                                             static_cast<double>(staying.size() - 1) /
                                             static_cast<double>(staying.size());
  if (staying.size() < 2 || static_cast<double>(demand) > settings_.shrink_share * fewer) {
    model.busy = now;
  } else if (now - model.busy > settings_.shrink_after) {
    const ChainId least = *std::ranges::min_element(
        staying, {}, [&](ChainId id) { return chains_.at(id).requests.size(); });
    chains_.at(least).retiring = true;
    model.busy = now;
    if (chains_.at(least).requests.empty()) done.push_back(least);
    log_info("Model {} has one chain less: {} requests for {} chains.", name, demand,
             staying.size());
  }
  for (const ChainId id : done) dissolve(id, now);
}

}  // namespace weft::inference
