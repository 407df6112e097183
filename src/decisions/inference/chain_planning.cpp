#include "decisions/inference/chain_planning.h"

#include <algorithm>
#include <vector>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/inference/chain_question.h"
#include "decisions/inference/modality.h"

namespace weft::inference {
namespace {

// The wait after a shard could not be loaded, or after there was no room for a further chain.
constexpr Duration form_again_after = std::chrono::seconds(2);

}  // namespace

void ChainPlanning::add_model(const std::string& model, Instant now) {
  plans_[model] = {.busy = now};
}
void ChainPlanning::model_changed(const std::string& model) { plans_.at(model).backoff.worked(); }
void ChainPlanning::stop(const std::string& model) { plans_.at(model).retry = Instant::max(); }
void ChainPlanning::remove_model(const std::string& model) { plans_.erase(model); }

void ChainPlanning::room_was_made() {
  for (auto& [name, plan] : plans_) plan.retry = {};
}
void ChainPlanning::refused(const std::string& model, const std::string& why, Instant now) {
  Plan& plan = plans_.at(model);
  plan.trouble = why;
  plan.retry = now + form_again_after;
}
void ChainPlanning::served(const std::string& model) { plans_.at(model).trouble.clear(); }
const std::string& ChainPlanning::trouble(const std::string& model) const {
  return plans_.at(model).trouble;
}

bool ChainPlanning::form(const std::string& model, Whom whom, Instant now) {
  ++tables_.counters.plans;
  const DeskSettings& settings = tables_.settings;
  const ModelCard& card = tables_.models.at(model);
  // A further chain consists of workers that serve the model in no other chain.
  std::vector<Candidate> workers = tables_.shards.candidates({}, whom);
  std::erase_if(workers, [&](const Candidate& one) {
    return tables_.shards.any_of(tables_.workers.at(one.session), [&](const Shard& shard) {
      return shard.chain && shard.model == card.name;
    });
  });
  // The plan is made for as many chains as the waiting requests would fill, at most 64. If they
  // fill only one, `hybrid` plans one chain for a single prompt.
  const std::size_t full =
      (requests_.demand(model).waiting + settings.sequences - 1) / settings.sequences;
  const auto waiting = static_cast<std::uint32_t>(std::clamp<std::size_t>(full, 1, 64));
  const bool one = waiting == 1 && settings.strategy == mesh::Strategy::hybrid;
  // A model that makes vectors is not cut into stages: each of its workers has all layers.
  const auto strategy = makes_vectors(card) ? mesh::Strategy::batch
                        : one               ? mesh::Strategy::layer
                                            : settings.strategy;
  const auto chains = place(chain_question(tables_, card, workers), strategy, waiting);
  if (chains.empty()) {
    plans_.at(model).trouble = trouble_of(model, whom);
    return false;
  }
  for (const auto& placed : chains) keeper_.add(model, placed, whom == Whom::trusted, now);
  return true;
}

std::string ChainPlanning::trouble_of(const std::string& model, Whom whom) const {
  const auto& workers = tables_.workers.all();
  if (workers.empty())
    return "No worker serves language models now; join with `weft work`, or open the page.";
  if (whom != Whom::trusted)
    return weft::format("The {} connected workers have no room for {} now.", workers.size(), model);
  const auto trusted = std::ranges::count_if(
      workers, [&](const auto& entry) { return tables_.workers.is_trusted(entry.first); });
  if (trusted == 0)
    return weft::format(
        "Only new workers have room for {} now, and their answers reach no client; an invited "
        "worker (`weft work --invite`) or an established one must join.",
        model);
  return weft::format(
      "The {} connected workers that are invited or established have no room for {} "
      "now.",
      trusted, model);
}

ChainPlanning::Serving ChainPlanning::serving(const std::string& model, bool trusted_only) const {
  Serving out;
  for (const auto& [id, chain] : tables_.chains.all()) {
    if (chain.model != model) continue;
    // Newcomers' chains do not serve requests for trusted workers.
    if (trusted_only && !chain.trusted && !tables_.chains.is_trusted(chain)) continue;
    out.has_chain = true;
    if (chain.retiring) {
      out.retiring = id;
    } else {
      out.has_room |= chain.state != ChainState::ready ||
                      chain.requests.size() < tables_.chains.capacity_of(chain);
    }
  }
  return out;
}

void ChainPlanning::form_where_needed(const std::string& model, Instant now) {
  const auto found = plans_.find(model);
  if (found == plans_.end() || now < found->second.retry) return;
  Plan& plan = found->second;
  const DeskSettings& settings = tables_.settings;
  const RequestQueue::Demand demand = requests_.demand(model);
  const bool trusted_only = !settings.newcomers_answer || demand.wants_trusted;
  const Whom whom = trusted_only ? Whom::trusted : Whom::all;
  const Serving now_serving = serving(model, trusted_only);
  if (!settings.newcomers_answer) form_shadow_chains(model, now);
  if (!now_serving.has_chain) {
    if (!plan.backoff.may_plan(now, tables_.shards.room(), settings.plan_again)) return;
    if (form(model, whom, now)) {
      plan.backoff.worked();
    } else {
      plan.backoff.failed(now, tables_.shards.room(), settings.plan_again);
    }
    return;
  }
  if (!demand.since || now_serving.has_room) return;
  // A retiring chain is kept, which is faster than forming another one.
  if (now_serving.retiring) {
    tables_.chains.at(now_serving.retiring).retiring = false;
    plan.busy = now;
    return requests_.hand_out(model, now);
  }
  if (now - *demand.since < settings.grow_after) return;
  if (!form(model, whom, now)) plan.retry = now + form_again_after;
  plan.busy = now;
}

void ChainPlanning::form_shadow_chains(const std::string& model, Instant now) {
  Plan& plan = plans_.at(model);
  std::uint32_t shadows = 0;
  bool trusted = false;
  for (const auto& [id, chain] : tables_.chains.all()) {
    if (chain.model != model) continue;
    const bool all = chain.trusted || tables_.chains.is_trusted(chain);
    trusted |= all && chain.state == ChainState::ready;
    shadows += all ? 0 : 1;
  }
  if (!trusted || shadows >= tables_.settings.shadow_chains_max || now < plan.shadow_retry) return;
  plan.shadow_retry = now + form_again_after;
  const std::string trouble = plan.trouble;
  if (!tables_.shards.candidates({}, Whom::newcomers).empty())
    (void)form(model, Whom::newcomers, now);
  plan.trouble = trouble;
}

void ChainPlanning::shrink(const std::string& model, Instant now) {
  Plan& plan = plans_.at(model);
  const DeskSettings& settings = tables_.settings;
  std::vector<ChainId> staying, done;
  std::size_t demand = requests_.demand(model).waiting, capacity = 0;
  for (const auto& [id, chain] : tables_.chains.all()) {
    if (chain.model != model) continue;
    // If newcomers do not answer clients, their chains are never retired.
    if (!settings.newcomers_answer && !chain.trusted && !tables_.chains.is_trusted(chain)) continue;
    demand += chain.requests.size();
    if (!chain.retiring) {
      staying.push_back(id);
      capacity += tables_.chains.capacity_of(chain);
    } else if (chain.requests.empty()) {
      done.push_back(id);
    }
  }
  const double fewer = staying.empty() ? 0
                                       : static_cast<double>(capacity) *
                                             static_cast<double>(staying.size() - 1) /
                                             static_cast<double>(staying.size());
  if (staying.size() < 2 || static_cast<double>(demand) > settings.shrink_share * fewer) {
    plan.busy = now;
  } else if (now - plan.busy > settings.shrink_after) {
    const ChainId least = *std::ranges::min_element(
        staying, {}, [&](ChainId id) { return tables_.chains.at(id).requests.size(); });
    tables_.chains.at(least).retiring = true;
    plan.busy = now;
    if (tables_.chains.at(least).requests.empty()) done.push_back(least);
    log_info("Model {} has one chain less: {} requests for {} chains.", model, demand,
             staying.size());
  }
  for (const ChainId id : done) keeper_.dissolve(id, now);
}

}  // namespace weft::inference
