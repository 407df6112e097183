#include "decisions/mesh/partition.h"

#include <algorithm>
#include <cmath>

namespace weft::mesh {
namespace {

// A worker or chain that takes items. The first item is through after `seconds`, and another one
// after each further `period`.
struct Lane {
  double seconds = 0;
  double period = 0;
};

double finish(const Lane& lane, std::uint32_t items) {
  return items == 0 ? 0 : lane.seconds + (items - 1) * lane.period;
}

// The number of items of each lane so that the last item is done soonest. Each item in turn goes to
// the lane where it is done first. This is optimal, because a lane's next item never comes sooner
// than its last one.
std::vector<std::uint32_t> share_out(std::span<const Lane> lanes, std::uint32_t items) {
  struct Next {
    double done;
    std::size_t lane;
    bool operator<(const Next& other) const {
      return done != other.done ? done > other.done : lane > other.lane;
    }
  };
  std::vector<Next> queue;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    queue.push_back({.done = lanes[i].seconds, .lane = i});
  std::make_heap(queue.begin(), queue.end());
  std::vector<std::uint32_t> shares(lanes.size());
  for (std::uint32_t item = 0; item < items; ++item) {
    std::pop_heap(queue.begin(), queue.end());
    Next& next = queue.back();
    ++shares[next.lane];
    next.done = finish(lanes[next.lane], shares[next.lane] + 1);
    std::push_heap(queue.begin(), queue.end());
  }
  return shares;
}

double last_done(std::span<const Lane> lanes, std::span<const std::uint32_t> shares) {
  double seconds = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    seconds = std::max(seconds, finish(lanes[i], shares[i]));
  return seconds;
}

// Shares the items out between the chains. Chains that get no item are left out.
Partition of_chains(Strategy strategy, std::span<const Plan> chains, std::uint32_t items) {
  std::vector<Lane> lanes;
  for (const Plan& chain : chains)
    lanes.push_back({.seconds = chain.token_seconds, .period = chain.period_seconds});
  const std::vector<std::uint32_t> shares = share_out(lanes, items);
  Partition out{.strategy = strategy, .parts = {}, .seconds = last_done(lanes, shares)};
  std::uint32_t first = 0;
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (shares[i] == 0) continue;
    for (const Shard& shard : chains[i].shards)
      out.parts.push_back({.node = shard.node,
                           .chain = number,
                           .begin = shard.begin,
                           .end = shard.end,
                           .first_item = first,
                           .items = shares[i]});
    first += shares[i];
    ++number;
  }
  return out;
}

// A chain of its own for every node that holds the whole model.
Result<std::vector<Plan>> whole_models(const Model& model, std::span<const Node> nodes,
                                       const Latency& latency) {
  // This plan is made only for its error: an invalid question, or no node that holds the whole
  // model.
  WEFT_ASSIGN([[maybe_unused]] const Plan one,
              plan_chain(model, nodes, latency, {.max_shards = 1}));
  std::vector<Plan> plans;
  for (const Node& node : nodes) {
    const Shard all{.node = node.id, .begin = 0, .end = model.layers};
    if (auto plan = evaluate(model, nodes, latency, std::span(&all, 1));
        plan && std::isfinite(plan->token_seconds))
      plans.push_back(std::move(*plan));
  }
  return plans;
}

// Chains of disjoint nodes, each of at most max_shards shards and each the best one of the nodes
// that the earlier chains left.
std::vector<Plan> chains_of(const Work& work, std::span<const Node> nodes, const Latency& latency,
                            PlanOptions options, std::uint32_t max_shards) {
  options.max_shards = max_shards;
  std::vector<std::size_t> left(nodes.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  std::vector<Plan> chains;
  while (chains.size() < work.items && !left.empty()) {
    std::vector<Node> some;
    Latency between(left.size());
    for (std::size_t a = 0; a < left.size(); ++a) {
      some.push_back(nodes[left[a]]);
      for (std::size_t b = 0; b < left.size(); ++b) {
        if (a != b) between.set(a, b, latency.at(left[a], left[b]));
      }
    }
    auto plan = plan_chain(work.model, some, between, options);
    if (!plan) break;
    std::erase_if(left, [&](std::size_t node) {
      return std::ranges::contains(plan->shards, nodes[node].id, &Shard::node);
    });
    chains.push_back(std::move(*plan));
  }
  return chains;
}

Result<Partition> hybrid(const Work& work, std::span<const Node> nodes, const Latency& latency,
                         const PlanOptions& options) {
  constexpr std::uint32_t lengths_max = 8;
  WEFT_ASSIGN(const Plan one, plan_chain(work.model, nodes, latency, options));
  Partition best = of_chains(Strategy::hybrid, std::span(&one, 1), work.items);
  const std::uint32_t longest =
      std::min(options.max_shards == 0 ? work.model.layers : options.max_shards, work.model.layers);
  for (std::uint32_t length = std::max(options.min_shards, 1U);
       length <= std::min(longest, lengths_max + options.min_shards); ++length) {
    for (const Objective objective : {Objective::token, Objective::period}) {
      PlanOptions tried = options;
      tried.objective = objective;
      const std::vector<Plan> chains = chains_of(work, nodes, latency, tried, length);
      if (chains.empty()) continue;
      if (Partition found = of_chains(Strategy::hybrid, chains, work.items);
          found.seconds < best.seconds)
        best = std::move(found);
    }
  }
  return best;
}

Result<Partition> spatial(const Work& work, std::span<const Node> nodes, const Latency& latency) {
  if (work.items != 1)
    return fail(ErrorCode::invalid_argument,
                "Only a single image can be cut into tiles; the request has {} others.",
                work.items - 1);
  WEFT_ASSIGN([[maybe_unused]] const std::vector<Plan> plans,
              whole_models(work.model, nodes, latency));
  const auto weights_of = [&](double tile_min) {
    std::vector<double> weights;
    for (const Node& node : nodes) {
      const Shard all{.node = node.id, .begin = 0, .end = work.model.layers};
      const auto plan = evaluate(work.model, nodes, latency, std::span(&all, 1));
      weights.push_back(plan && std::isfinite(plan->token_seconds) && node.layers_per_s >= tile_min
                            ? node.layers_per_s
                            : 0);
    }
    return weights;
  };
  // The halo of a slow worker's tile may cost more than the tile saves the other workers. So the
  // slowest worker is left out again and again while that makes the work faster.
  std::vector<double> speeds;
  for (const double speed : weights_of(0)) {
    if (speed > 0) speeds.push_back(speed);
  }
  std::ranges::sort(speeds);
  std::optional<Partition> best;
  const double whole = static_cast<double>(work.image.rows) * work.image.columns;
  for (const double slowest : speeds) {
    WEFT_ASSIGN(const std::vector<Tile> cut, tiles(work.image, work.windows, weights_of(slowest)));
    Partition found{.strategy = Strategy::spatial, .parts = {}, .seconds = 0};
    for (const Tile& tile : cut) {
      const Node& node = nodes[tile.worker];
      // A tile's time follows from the area of its input, because the halo is computed as well.
      const double share = static_cast<double>(tile.input.area()) / whole;
      found.seconds =
          std::max(found.seconds,
                   share * (work.model.layers + work.model.last_work_layers) / node.layers_per_s);
      found.parts.push_back({.node = node.id,
                             .chain = static_cast<std::uint32_t>(found.parts.size()),
                             .begin = 0,
                             .end = work.model.layers,
                             .first_item = 0,
                             .items = 1,
                             .tile = tile});
    }
    if (!best || found.seconds < best->seconds) best = std::move(found);
  }
  return std::move(*best);
}

}  // namespace

Result<Partition> partition(Strategy strategy, const Work& work, std::span<const Node> nodes,
                            const Latency& latency, const PlanOptions& options) {
  if (work.items == 0)
    return fail(ErrorCode::invalid_argument, "The request has no items to divide between workers.");
  switch (strategy) {
    case Strategy::layer: {
      WEFT_ASSIGN(const Plan plan, plan_chain(work.model, nodes, latency, options));
      return of_chains(strategy, std::span(&plan, 1), work.items);
    }
    case Strategy::batch: {
      WEFT_ASSIGN(const std::vector<Plan> plans, whole_models(work.model, nodes, latency));
      return of_chains(strategy, plans, work.items);
    }
    case Strategy::spatial:
      return spatial(work, nodes, latency);
    case Strategy::hybrid:
      return hybrid(work, nodes, latency, options);
  }
  return fail(ErrorCode::invalid_argument, "The partition strategy {} does not exist.",
              static_cast<int>(strategy));
}

}  // namespace weft::mesh
