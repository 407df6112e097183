#include "decisions/mesh/repair.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace weft::mesh {
namespace {

class Repairs {
 public:
  Repairs(const Model& model, std::span<const Shard> running, std::span<const Node> nodes,
          const Latency& latency, const RepairOptions& options)
      : model_(model),
        running_(running.begin(), running.end()),
        nodes_(nodes),
        latency_(latency),
        options_(options) {
    for (const Node& node : nodes) by_id_.emplace(node.id, &node);
  }

  [[nodiscard]] std::vector<std::size_t> lost() const {
    std::vector<std::size_t> lost;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (!by_id_.contains(running_[i].node)) lost.push_back(i);
    }
    return lost;
  }

  [[nodiscard]] double objective(const Plan& plan) const {
    return options_.plan.objective == Objective::token ? plan.token_seconds : plan.period_seconds;
  }

  // The cost of a repair in seconds, as described in the header.
  [[nodiscard]] double cost(const Repair& repair) const {
    const auto touched = std::ranges::count_if(repair.plan.shards, [&](const Shard& shard) {
      return !std::ranges::contains(running_, shard);
    });
    return repair.load_seconds + options_.change_seconds * static_cast<double>(touched) +
           options_.tokens_expected * objective(repair.plan);
  }

  // A repair with these shards; no value if a shard does not fit or the chain is too long or too
  // short.
  [[nodiscard]] std::optional<Repair> with(std::vector<Shard> shards, Repair::Change change) const {
    if (shards.size() < options_.plan.min_shards ||
        (options_.plan.max_shards != 0 && shards.size() > options_.plan.max_shards))
      return std::nullopt;
    auto plan = evaluate(model_, nodes_, latency_, shards);
    if (!plan || !(objective(*plan) < std::numeric_limits<double>::infinity())) return std::nullopt;
    Repair repair{.change = change, .plan = std::move(*plan)};
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const std::uint64_t bytes = missing_bytes(shards[i]);
      if (bytes == 0) continue;
      repair.loading.push_back(i);
      repair.load_seconds =
          std::max(repair.load_seconds, static_cast<double>(bytes) / options_.load_bytes_per_s);
    }
    return repair;
  }

  // Adds the repairs in which the layers of shard `which` go to a spare worker, or to the worker of
  // the shard before or after it.
  void replace(std::size_t which, std::vector<Repair>& out) const {
    const auto add = [&](std::vector<Shard> shards) {
      if (auto repair = with(std::move(shards), Repair::Change::replace))
        out.push_back(std::move(*repair));
    };
    for (const Node& node : nodes_) {
      if (std::ranges::contains(running_, node.id, &Shard::node)) continue;
      std::vector<Shard> shards = running_;
      shards[which].node = node.id;
      add(std::move(shards));
    }
    if (which > 0) {
      std::vector<Shard> shards = running_;
      shards[which - 1].end = shards[which].end;
      shards.erase(shards.begin() + static_cast<std::ptrdiff_t>(which));
      add(std::move(shards));
    }
    if (which + 1 < running_.size()) {
      std::vector<Shard> shards = running_;
      shards[which + 1].begin = shards[which].begin;
      shards.erase(shards.begin() + static_cast<std::ptrdiff_t>(which));
      add(std::move(shards));
    }
  }

  [[nodiscard]] Result<Repair> replan() const {
    WEFT_ASSIGN(Plan plan, plan_chain(model_, nodes_, latency_, options_.plan));
    auto repair = with(plan.shards, Repair::Change::replan);
    if (!repair)
      return fail(
          ErrorCode::resource_exhausted,
          "The best chain of {} shards has a link between nodes that cannot reach each other.",
          plan.shards.size());
    return std::move(*repair);
  }

  [[nodiscard]] const std::vector<Shard>& running() const { return running_; }

 private:
  // The bytes of the shard that its worker lacks: the worker has these layers neither from the
  // running chain nor as held layers.
  [[nodiscard]] std::uint64_t missing_bytes(const Shard& shard) const {
    const Node& node = *by_id_.at(shard.node);
    const auto runs = std::ranges::find(running_, shard.node, &Shard::node);
    const auto has = [&](std::uint32_t layer) {
      return (runs != running_.end() && layer >= runs->begin && layer < runs->end) ||
             (layer >= node.held_begin && layer < node.held_end);
    };
    std::uint64_t bytes = 0;
    for (std::uint32_t layer = shard.begin; layer < shard.end; ++layer)
      bytes += has(layer) ? 0 : model_.layer_bytes;
    if (shard.begin == 0 && !has(0)) bytes += model_.first_bytes;
    if (shard.end == model_.layers && !has(model_.layers - 1)) bytes += model_.last_bytes;
    return bytes;
  }

  const Model& model_;
  std::vector<Shard> running_;
  std::span<const Node> nodes_;
  const Latency& latency_;
  const RepairOptions& options_;
  std::unordered_map<std::string_view, const Node*> by_id_;
};

Result<> check_chain(const Model& model, std::span<const Shard> running) {
  std::uint32_t at = 0;
  for (const Shard& shard : running) {
    if (shard.begin != at || shard.end <= at)
      return fail(ErrorCode::invalid_argument,
                  "Shard [{}, {}) does not continue the chain at layer {}.", shard.begin, shard.end,
                  at);
    at = shard.end;
  }
  if (at != model.layers)
    return fail(ErrorCode::invalid_argument, "The running chain ends at layer {} of {}.", at,
                model.layers);
  return {};
}

}  // namespace

Result<Repair> repair(const Model& model, std::span<const Shard> running,
                      std::span<const Node> nodes, const Latency& latency,
                      double seconds_since_change, const RepairOptions& options) {
  WEFT_OK(check_chain(model, running));
  const Repairs repairs(model, running, nodes, latency, options);
  const std::vector<std::size_t> lost = repairs.lost();
  std::vector<Repair> choices;
  if (lost.empty()) {
    const auto now = evaluate(model, nodes, latency, running);
    if (!now && now.error().code == ErrorCode::invalid_argument)
      return std::unexpected(now.error());
    const auto keep = repairs.with(repairs.running(), Repair::Change::keep);
    if (keep && seconds_since_change < options.quiet_seconds) return *keep;
    if (keep) choices.push_back(*keep);
    // Every shard may be the one to replace: it may no longer fit its worker, or its worker may
    // have become slow.
    for (std::size_t i = 0; i < running.size(); ++i) repairs.replace(i, choices);
  } else if (lost.size() == 1) {
    repairs.replace(lost.front(), choices);
  }
  auto replanned = repairs.replan();
  if (replanned) choices.push_back(std::move(*replanned));
  if (choices.empty())
    return pass(std::move(replanned), "while repairing a chain of {} shards", running.size());
  // Among repairs of equal cost, the first one is taken, which is the smallest change.
  Repair best = *std::ranges::min_element(
      choices, {}, [&](const Repair& choice) { return repairs.cost(choice); });
  const Repair& first = choices.front();
  if (first.change == Repair::Change::keep &&
      repairs.objective(best.plan) > repairs.objective(first.plan) * (1 - options.gain_min))
    return first;
  return best;
}

}  // namespace weft::mesh
