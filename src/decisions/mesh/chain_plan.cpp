#include "decisions/mesh/chain_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "common/base/format.h"
#include "decisions/mesh/chain_search.h"

namespace weft::mesh {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::uint32_t room_for(const Model& model, std::uint64_t memory, std::uint64_t besides) {
  if (memory < besides) return 0;
  const std::uint64_t one = model.layer_bytes + model.cache_bytes_per_layer;
  if (one == 0) return model.layers;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>((memory - besides) / one, model.layers));
}

ChainProblem::Room rooms_of(const Model& model, const Node& node) {
  ChainProblem::Room room{.middle = room_for(model, node.memory_free, 0)};
  if (node.can_first) room.first = room_for(model, node.memory_free, model.first_bytes);
  if (node.can_last) room.last = room_for(model, node.memory_free, model.last_bytes);
  if (node.can_first && node.can_last)
    room.alone = room_for(model, node.memory_free, model.first_bytes + model.last_bytes);
  return room;
}

Result<> check_input(const Model& model, std::span<const Node> nodes, const Latency& latency) {
  if (model.layers == 0)
    return fail(ErrorCode::invalid_argument, "A model of 0 layers cannot be split.");
  if (model.layers > 4096)
    return fail(ErrorCode::invalid_argument,
                "A model of {} layers is too deep to plan for (at most 4096).", model.layers);
  if (!(model.last_work_layers >= 0) || !std::isfinite(model.last_work_layers))
    return fail(ErrorCode::invalid_argument,
                "last_work_layers is {}; it must be a finite number of at least 0.",
                model.last_work_layers);
  if (latency.nodes() != nodes.size())
    return fail(ErrorCode::invalid_argument,
                "The latencies are between {} nodes, but {} nodes are given.", latency.nodes(),
                nodes.size());
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!std::isfinite(nodes[i].layers_per_s) || nodes[i].layers_per_s < 0)
      return fail(ErrorCode::invalid_argument,
                  "Node \"{}\" computes {} layers/s; the rate must be finite and not negative.",
                  nodes[i].id, nodes[i].layers_per_s);
    if (!seen.emplace(nodes[i].id, i).second)
      return fail(ErrorCode::invalid_argument, "Two nodes are called \"{}\".", nodes[i].id);
  }
  return {};
}

// The nodes that can have a shard at all, the fastest first. If there are too many, the fast nodes
// and the nodes that hold many layers are kept.
std::vector<std::size_t> usable_nodes(const Model& model, std::span<const Node> nodes) {
  struct Candidate {
    std::size_t node;
    double speed;
    double holds;  // The number of layers that the node holds.
  };
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ChainProblem::Room room = rooms_of(model, nodes[i]);
    const std::uint32_t most = std::max({room.middle, room.first, room.last, room.alone});
    if (nodes[i].layers_per_s > 0 && most > 0)
      candidates.push_back({i, nodes[i].layers_per_s, static_cast<double>(most)});
  }
  const auto faster = [](const Candidate& a, const Candidate& b) {
    return a.speed > b.speed || (a.speed == b.speed && a.node < b.node);
  };
  if (candidates.size() > search_nodes_max) {
    // Keeps search_nodes_max nodes: one half by speed, the other half by speed times the number of
    // layers that the node holds.
    std::ranges::sort(candidates, faster);
    const auto rest = candidates.begin() + search_nodes_max / 2;
    std::partial_sort(rest, candidates.begin() + search_nodes_max, candidates.end(),
                      [](const Candidate& a, const Candidate& b) {
                        const double worth_a = a.speed * a.holds;
                        const double worth_b = b.speed * b.holds;
                        return worth_a > worth_b || (worth_a == worth_b && a.node < b.node);
                      });
    candidates.resize(search_nodes_max);
  }
  std::ranges::sort(candidates, faster);
  std::vector<std::size_t> usable;
  for (const Candidate& candidate : candidates) usable.push_back(candidate.node);
  return usable;
}

// Turns a model and its nodes into a search problem, and searches it for a chain by either
// objective.
class Planner {
 public:
  Planner(const Model& model, std::span<const Node> nodes, const Latency& latency,
          const PlanOptions& options)
      : model_(model), nodes_(nodes), usable_(usable_nodes(model, nodes)) {
    const std::size_t n = usable_.size();
    problem_.layers = model.layers;
    problem_.min_shards = std::max(options.min_shards, 1U);
    problem_.max_shards =
        std::min(options.max_shards == 0 ? model.layers : options.max_shards, model.layers);
    problem_.last_work_layers = model.last_work_layers;
    problem_.hop_seconds.resize(n * n);
    problem_.back_seconds.resize(n * n);
    occupied_.resize(n * n);
    for (std::size_t a = 0; a < n; ++a) {
      problem_.layer_seconds.push_back(1 / nodes[usable_[a]].layers_per_s);
      problem_.rooms.push_back(rooms_of(model, nodes[usable_[a]]));
      for (std::size_t b = 0; b < n; ++b) {
        const Link link = latency.at(usable_[a], usable_[b]);
        problem_.hop_seconds[a * n + b] = link.arrival_seconds(model.hop_bytes);
        // Only the latency: a token is a few bytes.
        problem_.back_seconds[a * n + b] = link.seconds;
        occupied_[a * n + b] =
            std::isfinite(link.seconds) ? link.occupied_seconds(model.hop_bytes) : infinite;
      }
    }
  }

  [[nodiscard]] std::optional<Chain> best_token() const { return solve(problem_); }

  // Finds the least bound on the period that a chain can keep. Of the chains within this bound, it
  // returns the one with the shortest token time.
  [[nodiscard]] std::optional<Chain> best_period(double slack) const {
    const std::vector<double> bounds = possible_periods();
    const auto start =
        std::ranges::partition_point(bounds, [&](double bound) { return !could_hold(bound); });
    if (start == bounds.end()) return std::nullopt;
    // Links, roles and memory may require a greater bound: the bound goes up in growing steps, and
    // the last step is bisected.
    auto least = static_cast<std::size_t>(start - bounds.begin());
    std::size_t at = least;
    const SearchEffort glance{
        .over_layers = problem_.nodes() <= 32, .visits_max = 40'000, .any = true};
    std::optional<Chain> best;
    for (std::size_t step = 1; !(best = solve(bounded(bounds[at]), glance)); step *= 2) {
      if (at + 1 == bounds.size()) return std::nullopt;
      least = at + 1;
      at = std::min(at + step, bounds.size() - 1);
    }
    while (least < at) {
      const std::size_t middle = (least + at) / 2;
      if (auto chain = solve(bounded(bounds[middle]), glance)) {
        best = std::move(chain);
        at = middle;
      } else {
        least = middle + 1;
      }
    }
    // Any chain was enough to find the bound; here the chain with the shortest token time is
    // searched for.
    if (auto chain = solve(bounded(bounds[at] * (1 + slack)));
        chain && chain->seconds < best->seconds)
      best = std::move(chain);
    return best;
  }

  [[nodiscard]] std::vector<Shard> shards(const Chain& chain) const {
    std::vector<Shard> shards;
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < chain.order.size(); ++i) {
      shards.push_back(
          {.node = nodes_[usable_[chain.order[i]]].id, .begin = at, .end = at + chain.layers[i]});
      at += chain.layers[i];
    }
    return shards;
  }

  // The reason why there is no chain, in words.
  [[nodiscard]] std::string shortage() const {
    const std::uint64_t held = most_held(problem_);
    if (held < problem_.layers) {
      return weft::format("The {} usable of {} nodes hold at most {} of {} layers in {} shards.",
                          usable_.size(), nodes_.size(), held, problem_.layers,
                          problem_.max_shards);
    }
    return weft::format(
        "No chain of {} to {} shards over {} usable nodes has room for {} layers with the first "
        "and the last layer on nodes that may hold them.",
        problem_.min_shards, problem_.max_shards, usable_.size(), problem_.layers);
  }

 private:
  [[nodiscard]] static std::optional<Chain> solve(const ChainProblem& problem,
                                                  const SearchEffort& effort = {}) {
    return problem.nodes() <= exact_nodes_max ? search_exactly(problem)
                                              : search_well(problem, effort);
  }

  [[nodiscard]] static std::uint64_t most_held(const ChainProblem& problem) {
    std::vector<std::uint32_t> most;
    for (const ChainProblem::Room& room : problem.rooms)
      most.push_back(std::max({room.middle, room.first, room.last, room.alone}));
    const auto shards =
        static_cast<std::ptrdiff_t>(std::min<std::size_t>(problem.max_shards, most.size()));
    std::ranges::nth_element(most, most.begin() + shards, std::greater());
    return std::accumulate(most.begin(), most.begin() + shards, std::uint64_t{0});
  }

  [[nodiscard]] ChainProblem::Room bounded_room(std::size_t node, double bound) const {
    const auto within = [&](std::uint32_t room, double besides) {
      // Each bound is the time of a whole number of layers of a node. The factor makes sure that
      // the division, which rounds, does not lose one of these layers.
      const double layers = std::floor(bound * (1 + 1e-9) / problem_.layer_seconds[node] - besides);
      return layers < 1 ? 0U
                        : static_cast<std::uint32_t>(std::min(layers, static_cast<double>(room)));
    };
    const ChainProblem::Room& room = problem_.rooms[node];
    const double head = model_.last_work_layers;
    return {.middle = within(room.middle, 0),
            .first = within(room.first, 0),
            .last = within(room.last, head),
            .alone = within(room.alone, head)};
  }

  [[nodiscard]] ChainProblem bounded(double bound) const {
    ChainProblem problem = problem_;
    for (std::size_t node = 0; node < problem.nodes(); ++node)
      problem.rooms[node] = bounded_room(node, bound);
    for (std::size_t i = 0; i < occupied_.size(); ++i) {
      if (occupied_[i] > bound * (1 + 1e-9)) problem.hop_seconds[i] = infinite;
    }
    return problem;
  }

  [[nodiscard]] bool could_hold(double bound) const {
    ChainProblem rooms{.max_shards = problem_.max_shards};
    for (std::size_t node = 0; node < problem_.nodes(); ++node)
      rooms.rooms.push_back(bounded_room(node, bound));
    return most_held(rooms) >= problem_.layers;
  }

  // Returns every time that a shard or a link can take. The best period is one of these times.
  [[nodiscard]] std::vector<double> possible_periods() const {
    std::vector<double> periods;
    for (std::size_t node = 0; node < problem_.nodes(); ++node) {
      const ChainProblem::Room& room = problem_.rooms[node];
      const double seconds = problem_.layer_seconds[node];
      for (std::uint32_t layers = 1; layers <= std::max(room.middle, room.first); ++layers)
        periods.push_back(layers * seconds);
      for (std::uint32_t layers = 1; layers <= room.last; ++layers)
        periods.push_back((layers + model_.last_work_layers) * seconds);
    }
    for (const double occupied : occupied_) {
      if (occupied > 0 && std::isfinite(occupied)) periods.push_back(occupied);
    }
    std::ranges::sort(periods);
    periods.erase(std::ranges::unique(periods).begin(), periods.end());
    return periods;
  }

  const Model& model_;
  std::span<const Node> nodes_;
  std::vector<std::size_t> usable_;
  ChainProblem problem_;  // The problem with the usable nodes only.
  // [from][to]: the time for which a hidden state occupies the link.
  std::vector<double> occupied_;
};

}  // namespace

std::uint64_t shard_bytes(const Model& model, std::uint32_t begin, std::uint32_t end) {
  std::uint64_t bytes =
      std::uint64_t{end - begin} * (model.layer_bytes + model.cache_bytes_per_layer);
  if (begin == 0) bytes += model.first_bytes;
  if (end == model.layers) bytes += model.last_bytes;
  return bytes;
}

Result<Plan> plan_chain(const Model& model, std::span<const Node> nodes, const Latency& latency,
                        const PlanOptions& options) {
  WEFT_OK(check_input(model, nodes, latency));
  if (options.max_shards != 0 && options.min_shards > options.max_shards)
    return fail(ErrorCode::invalid_argument, "min_shards is {}, more than max_shards, {}.",
                options.min_shards, options.max_shards);
  if (options.min_shards > model.layers)
    return fail(ErrorCode::invalid_argument, "A model of {} layers cannot be split into {} shards.",
                model.layers, options.min_shards);
  if (!(options.period_slack >= 0))
    return fail(ErrorCode::invalid_argument, "period_slack is {}; it must be at least 0.",
                options.period_slack);
  const Planner planner(model, nodes, latency, options);
  const std::optional<Chain> chain = options.objective == Objective::token
                                         ? planner.best_token()
                                         : planner.best_period(options.period_slack);
  if (!chain) return fail(ErrorCode::resource_exhausted, "{}", planner.shortage());
  return evaluate(model, nodes, latency, planner.shards(*chain));
}

Result<Plan> evaluate(const Model& model, std::span<const Node> nodes, const Latency& latency,
                      std::span<const Shard> shards) {
  WEFT_OK(check_input(model, nodes, latency));
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < nodes.size(); ++i) index.emplace(nodes[i].id, i);
  Plan plan{.shards = {shards.begin(), shards.end()}};
  std::vector<std::size_t> order;
  std::uint32_t at = 0;
  for (const Shard& shard : shards) {
    const auto found = index.find(shard.node);
    if (found == index.end())
      return fail(ErrorCode::invalid_argument,
                  "The chain names the node \"{}\", which is not among the nodes.", shard.node);
    if (shard.begin != at || shard.end <= at || shard.end > model.layers)
      return fail(ErrorCode::invalid_argument,
                  "Shard [{}, {}) does not continue the chain at layer {} of {}.", shard.begin,
                  shard.end, at, model.layers);
    if (std::ranges::contains(order, found->second))
      return fail(ErrorCode::invalid_argument, "Node \"{}\" has two shards.", shard.node);
    const Node& node = nodes[found->second];
    const bool first = shard.begin == 0;
    const bool last = shard.end == model.layers;
    if ((first && !node.can_first) || (last && !node.can_last))
      return fail(ErrorCode::invalid_argument, "Node \"{}\" cannot be the {} of the chain.",
                  shard.node, first && !node.can_first ? "first" : "last");
    if (shard_bytes(model, shard.begin, shard.end) > node.memory_free) {
      return fail(ErrorCode::resource_exhausted,
                  "Layers [{}, {}) need {} bytes and node \"{}\" has {}.", shard.begin, shard.end,
                  shard_bytes(model, shard.begin, shard.end), shard.node, node.memory_free);
    }
    const double computing =
        (shard.layers() + (last ? model.last_work_layers : 0)) / node.layers_per_s;
    plan.token_seconds += computing;
    plan.period_seconds = std::max(plan.period_seconds, computing);
    if (!order.empty()) {
      const Link link = latency.at(order.back(), found->second);
      plan.token_seconds += link.arrival_seconds(model.hop_bytes);
      plan.period_seconds =
          std::max(plan.period_seconds,
                   std::isfinite(link.seconds) ? link.occupied_seconds(model.hop_bytes) : infinite);
    }
    order.push_back(found->second);
    at = shard.end;
  }
  if (at != model.layers)
    return fail(ErrorCode::invalid_argument, "The chain ends at layer {} of {}.", at, model.layers);
  if (order.size() > 1) plan.token_seconds += latency.at(order.back(), order.front()).seconds;
  return plan;
}

}  // namespace weft::mesh
