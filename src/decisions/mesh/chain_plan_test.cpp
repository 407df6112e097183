// The best chain is found for few workers (compared with every order of every subset and every cut
// of the layers). Chains of many workers are nearly the best. The times that a plan reports are
// correct.
#include "decisions/mesh/chain_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "decisions/mesh/chain_search.h"

namespace weft::mesh {
namespace {

struct Instance {
  Model model;
  std::vector<Node> nodes;
  Latency latency{0};
  PlanOptions options;
};

// A random problem with great differences: speeds over two orders of magnitude, memory from one
// layer to the whole model, and links that differ by direction.
Instance random_instance(unsigned seed, std::size_t nodes_max, std::uint32_t layers_max) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) {
    return std::uniform_int_distribution<std::uint32_t>(0, n - 1)(random);
  };
  const auto between = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<>(std::log(low), std::log(high))(random));
  };
  Instance x;
  x.model = {.layers = 1 + below(layers_max),
             .layer_bytes = 100,
             .first_bytes = below(3) * 60ull,
             .last_bytes = below(3) * 80ull,
             .cache_bytes_per_layer = below(2) * 20ull,
             .hop_bytes = 1000,
             .last_work_layers = below(2) == 0 ? 0.0 : between(0.1, 3)};
  const std::size_t n = 1 + below(static_cast<std::uint32_t>(nodes_max));
  for (std::size_t i = 0; i < n; ++i) {
    x.nodes.push_back({.id = std::to_string(i),
                       .layers_per_s = between(10, 1000),
                       .memory_free = 60 + below(x.model.layers * (below(3) == 0 ? 220 : 70) + 60),
                       .can_first = below(8) != 0,
                       .can_last = below(8) != 0});
  }
  x.latency = Latency(n);
  const double far = between(1e-5, 1);  // Hops dominate in some problems, computing in others.
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (a == b) continue;
      x.latency.set(a, b,
                    {.seconds = below(20) == 0 ? std::numeric_limits<double>::infinity()
                                               : between(far / 10, far),
                     .bytes_per_s = between(1e4, 1e7)});
    }
  }
  x.options.objective = below(2) == 0 ? Objective::token : Objective::period;
  if (below(3) == 0) x.options.max_shards = 1 + below(4);
  if (below(4) == 0)
    x.options.min_shards =
        1 +
        below(std::min({x.options.max_shards == 0 ? 4U : x.options.max_shards, x.model.layers}));
  return x;
}

double value(const Plan& plan, Objective objective) {
  return objective == Objective::token ? plan.token_seconds : plan.period_seconds;
}

// The best time over every order of every subset and every cut; infinite if no chain fits.
class BruteForce {
 public:
  explicit BruteForce(const Instance& x)
      : x_(x), most_(x.options.max_shards == 0 ? x.model.layers : x.options.max_shards) {}
  double best() {
    extend(0, 0, 0);
    return best_;
  }

 private:
  void extend(std::uint32_t at, double sum, double longest) {
    if (x_.options.objective == Objective::token ? sum >= best_ : longest >= best_) return;
    if (at == x_.model.layers) {
      if (order_.size() < x_.options.min_shards) return;
      if (order_.size() > 1) sum += x_.latency.at(order_.back(), order_.front()).seconds;
      if (std::isfinite(sum))
        best_ = std::min(best_, x_.options.objective == Objective::token ? sum : longest);
      return;
    }
    if (order_.size() == most_) return;
    for (std::size_t i = 0; i < x_.nodes.size(); ++i) {
      if (std::ranges::contains(order_, i)) continue;
      const Node& node = x_.nodes[i];
      if (at == 0 && !node.can_first) continue;
      double hop = 0;
      double held_up = longest;
      if (at != 0) {
        const Link link = x_.latency.at(order_.back(), i);
        if (!std::isfinite(link.seconds)) continue;
        hop = link.seconds + static_cast<double>(x_.model.hop_bytes) / link.bytes_per_s;
        held_up = std::max(held_up, static_cast<double>(x_.model.hop_bytes) / link.bytes_per_s);
      }
      for (std::uint32_t end = at + 1; end <= x_.model.layers; ++end) {
        std::uint64_t bytes = (end - at) * (x_.model.layer_bytes + x_.model.cache_bytes_per_layer);
        if (at == 0) bytes += x_.model.first_bytes;
        if (end == x_.model.layers) bytes += x_.model.last_bytes;
        if (bytes > node.memory_free || (end == x_.model.layers && !node.can_last)) continue;
        const double computing =
            (end - at + (end == x_.model.layers ? x_.model.last_work_layers : 0)) /
            node.layers_per_s;
        order_.push_back(i);
        extend(end, sum + hop + computing, std::max(held_up, computing));
        order_.pop_back();
      }
    }
  }

  const Instance& x_;
  std::size_t most_;
  std::vector<std::size_t> order_;
  double best_ = std::numeric_limits<double>::infinity();
};

void expect_as_it_says(const Instance& x, const Plan& plan, unsigned seed) {
  const auto again = evaluate(x.model, x.nodes, x.latency, plan.shards);
  ASSERT_TRUE(again.has_value()) << "seed " << seed << ": " << again.error().message;
  EXPECT_EQ(again->token_seconds, plan.token_seconds) << "seed " << seed;
  EXPECT_EQ(again->period_seconds, plan.period_seconds) << "seed " << seed;
  EXPECT_GE(plan.shards.size(), x.options.min_shards) << "seed " << seed;
  if (x.options.max_shards != 0) {
    EXPECT_LE(plan.shards.size(), x.options.max_shards) << "seed " << seed;
  }
  EXPECT_TRUE(std::isfinite(plan.token_seconds)) << "seed " << seed;
}

// Counts of the problems, so that a test can check that it has compared real chains.
struct Seen {
  int impossible = 0;
  int whole = 0;
  int chains = 0;
};

void expect_as_good_as_brute_force(Seen& seen, unsigned seed, std::size_t nodes_max,
                                   std::uint32_t layers_max) {
  const Instance x = random_instance(seed, nodes_max, layers_max);
  const double best = BruteForce(x).best();

  const auto plan = plan_chain(x.model, x.nodes, x.latency, x.options);

  if (!plan) {
    ++seen.impossible;
    EXPECT_EQ(plan.error().code, ErrorCode::resource_exhausted)
        << "seed " << seed << ": " << plan.error().message;
    EXPECT_TRUE(std::isinf(best)) << "seed " << seed << ": " << plan.error().message
                                  << " Brute force: " << best;
    return;
  }
  ++(plan->shards.size() == 1 ? seen.whole : seen.chains);
  expect_as_it_says(x, *plan, seed);
  EXPECT_NEAR(value(*plan, x.options.objective), best, best * 1e-6) << "seed " << seed;
}

TEST(ChainPlan, IsTheBestThereIsForFewWorkers) {
  Seen seen;
  for (unsigned seed = 0; seed < 6000; ++seed) expect_as_good_as_brute_force(seen, seed, 5, 12);
  EXPECT_GT(seen.impossible, 500);
  EXPECT_GT(seen.whole, 500);
  EXPECT_GT(seen.chains, 2000);
}

TEST(ChainPlan, IsTheBestThereIsForEightWorkers) {
  Seen seen;
  for (unsigned seed = 10'000; seed < 12'000; ++seed)
    expect_as_good_as_brute_force(seen, seed, 8, 10);
  EXPECT_GT(seen.chains, 1000);
}

// Tests the search for many workers, on problems that are small enough to know the best chain.
TEST(ChainPlan, SearchesManyWorkersNearlyAsWell) {
  std::size_t compared = 0;
  std::size_t missed = 0;
  std::size_t far = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    ChainProblem problem{.layers = 4 + static_cast<std::uint32_t>(random() % 40),
                         .max_shards = 2 + static_cast<std::uint32_t>(random() % 7)};
    const std::size_t n = 9;
    const auto between = [&](double low, double high) {
      return std::exp(std::uniform_real_distribution<>(std::log(low), std::log(high))(random));
    };
    const double hop = between(1e-3, 1);
    for (std::size_t i = 0; i < n; ++i) {
      problem.layer_seconds.push_back(between(0.001, 0.1));
      const auto room = 1 + static_cast<std::uint32_t>(random()) % problem.layers;
      problem.rooms.push_back(
          {.middle = room, .first = room - 1, .last = room - 1, .alone = room < 2 ? 0 : room - 2});
    }
    std::ranges::sort(problem.layer_seconds);
    for (std::size_t i = 0; i < n * n; ++i) problem.hop_seconds.push_back(between(hop / 20, hop));
    problem.back_seconds = problem.hop_seconds;

    const auto best = search_exactly(problem);
    const auto found = search_well(problem, {});

    if (!best) {
      EXPECT_FALSE(found.has_value()) << "seed " << seed;
      continue;
    }
    ++compared;
    if (!found) {
      ++missed;
      continue;
    }
    EXPECT_GE(found->seconds, best->seconds * (1 - 1e-9)) << "seed " << seed;
    EXPECT_EQ(std::accumulate(found->layers.begin(), found->layers.end(), 0U), problem.layers)
        << "seed " << seed;
    if (found->seconds > best->seconds * 1.1) ++far;
  }
  EXPECT_GT(compared, 1000U);
  EXPECT_EQ(missed, 0U);
  EXPECT_LE(far * 100, compared * 3)
      << far << " of " << compared << " are more than a tenth from the best";
}

TEST(ChainPlan, IsNearTheBestForMoreWorkersThanItTriesCompletely) {
  int compared = 0;
  int far = 0;
  for (unsigned seed = 20'000; seed < 21'500; ++seed) {
    const Instance x = random_instance(seed, 13, 6);
    if (x.nodes.size() <= exact_nodes_max) continue;
    const double best = BruteForce(x).best();
    const auto plan = plan_chain(x.model, x.nodes, x.latency, x.options);
    EXPECT_EQ(plan.has_value(), std::isfinite(best)) << "seed " << seed << ": " << best;
    if (!plan || std::isinf(best)) continue;
    expect_as_it_says(x, *plan, seed);
    ++compared;
    if (value(*plan, x.options.objective) > best * 1.1) ++far;
  }
  EXPECT_GT(compared, 150);
  EXPECT_LE(far * 100, compared * 3)
      << far << " of " << compared << " are more than a tenth from the best";
}

Model small_model() {
  return {.layers = 12,
          .layer_bytes = 100,
          .first_bytes = 50,
          .last_bytes = 70,
          .cache_bytes_per_layer = 10,
          .hop_bytes = 4096};
}

TEST(ChainPlan, PutsTheWholeModelOnOneWorkerThatHoldsItWhereThatIsSooner) {
  const std::vector<Node> nodes = {{.id = "a", .layers_per_s = 100, .memory_free = 5000},
                                   {.id = "b", .layers_per_s = 110, .memory_free = 5000}};

  const auto plan = plan_chain(small_model(), nodes, Latency(2, {.seconds = 0.01})).value();

  EXPECT_EQ(plan.shards, (std::vector<Shard>{{"b", 0, 12}}));
  EXPECT_NEAR(plan.token_seconds, 12 / 110.0, 1e-12);
  EXPECT_NEAR(plan.period_seconds, 12 / 110.0, 1e-12);
}

TEST(ChainPlan, SplitsWhereTwoFastWorkersBeatOneSlowOneThatHoldsAll) {
  const std::vector<Node> nodes = {{.id = "slow", .layers_per_s = 10, .memory_free = 5000},
                                   {.id = "fast", .layers_per_s = 1000, .memory_free = 800},
                                   {.id = "fast too", .layers_per_s = 1000, .memory_free = 800}};

  const auto plan = plan_chain(small_model(), nodes, Latency(3, {.seconds = 0.01})).value();

  EXPECT_EQ(plan.shards.size(), 2U);
  // 12 layers, one hop of the hidden state, and one hop of the drawn token back to the first shard.
  EXPECT_NEAR(plan.token_seconds, 12 / 1000.0 + 0.02, 1e-12);
}

TEST(ChainPlan, BalancesByMeasuredSpeedWhereThePeriodCounts) {
  const std::vector<Node> nodes = {{.id = "a", .layers_per_s = 30, .memory_free = 5000},
                                   {.id = "b", .layers_per_s = 10, .memory_free = 5000}};

  const auto plan = plan_chain(small_model(), nodes, Latency(2, {.seconds = 0.5}),
                               {.objective = Objective::period})
                        .value();

  EXPECT_NEAR(plan.period_seconds, 0.3,
              // 9 layers at 30 a second and 3 at 10; a link's latency does not occupy the link.
              1e-12);
}

TEST(ChainPlan, TakesALongerPeriodWithinTheSlackForATokenThatComesSooner) {
  const std::vector<Node> nodes = {{.id = "a", .layers_per_s = 100, .memory_free = 5000},
                                   {.id = "b", .layers_per_s = 10, .memory_free = 5000}};

  EXPECT_EQ(plan_chain(small_model(), nodes, Latency(2, {.seconds = 0.5}),
                       {.objective = Objective::period})
                .value()
                .shards.size(),
            2U);
  EXPECT_EQ(plan_chain(small_model(), nodes, Latency(2, {.seconds = 0.5}),
                       {.objective = Objective::period, .period_slack = 0.2})
                .value()
                .shards.size(),
            1U);
}

TEST(ChainPlan, CountsEmbeddingHeadAndCacheWhereTheyAre) {
  // 6 layers take 710 bytes with the embedding, and 730 with the head.
  const auto with_memory = [](std::uint64_t a, std::uint64_t b) {
    const std::vector<Node> nodes = {
        {.id = "a", .layers_per_s = 10, .memory_free = a, .can_last = false},
        {.id = "b", .layers_per_s = 10, .memory_free = b, .can_first = false}};
    return plan_chain(small_model(), nodes, Latency(2));
  };

  EXPECT_TRUE(with_memory(710, 730).has_value());
  EXPECT_EQ(with_memory(709, 730).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(with_memory(710, 729).error().code, ErrorCode::resource_exhausted);
}

TEST(ChainPlan, MakesAsManyShardsAsAreAskedFor) {
  std::vector<Node> nodes;
  for (int i = 0; i < 20; ++i)
    nodes.push_back({.id = std::to_string(i), .layers_per_s = 100.0 + i, .memory_free = 5000});

  for (std::uint32_t shards = 1; shards <= 12; ++shards) {
    const auto plan = plan_chain(small_model(), nodes, Latency(20, {.seconds = 0.01}),
                                 {.min_shards = shards, .max_shards = shards});
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    EXPECT_EQ(plan->shards.size(), shards);
  }
}

TEST(ChainPlan, NeedsEveryOneOfManySmallWorkers) {
  Model model = small_model();
  model.layers = 60;
  std::vector<Node> nodes;
  for (int i = 0; i < 60; ++i)
    nodes.push_back({.id = std::to_string(i), .layers_per_s = 10.0 + i, .memory_free = 180});

  const auto plan = plan_chain(model, nodes, Latency(60, {.seconds = 0.01}));
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->shards.size(), 60U);

  nodes.pop_back();
  EXPECT_EQ(plan_chain(model, nodes, Latency(59, {.seconds = 0.01})).error().code,
            ErrorCode::resource_exhausted);
}

TEST(ChainPlan, PlansWithThousandsOfWorkersAndNamesOnlyThese) {
  std::vector<Node> nodes;
  for (int i = 0; i < 500; ++i)
    nodes.push_back({.id = std::to_string(i),
                     .layers_per_s = 10.0 + i % 97,
                     .memory_free = 200U + static_cast<unsigned>(i % 7) * 100});

  const auto plan = plan_chain(small_model(), nodes, Latency(500, {.seconds = 0.001}));

  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(
      evaluate(small_model(), nodes, Latency(500, {.seconds = 0.001}), plan->shards)->token_seconds,
      plan->token_seconds);
}

TEST(ChainPlan, RefusesWhatIsNoQuestion) {
  const std::vector<Node> one = {{.id = "a", .layers_per_s = 10, .memory_free = 5000}};
  const std::vector<Node> twice = {one[0], one[0]};
  const std::vector<Node> odd = {{.id = "a", .layers_per_s = std::nan(""), .memory_free = 5000}};
  const auto code = [](const auto& result) {
    return result.has_value() ? ErrorCode::internal : result.error().code;
  };

  EXPECT_EQ(code(plan_chain({}, one, Latency(1))), ErrorCode::invalid_argument);
  EXPECT_EQ(code(plan_chain(small_model(), one, Latency(2))), ErrorCode::invalid_argument);
  EXPECT_EQ(code(plan_chain(small_model(), twice, Latency(2))), ErrorCode::invalid_argument);
  EXPECT_EQ(code(plan_chain(small_model(), odd, Latency(1))), ErrorCode::invalid_argument);
  EXPECT_EQ(code(plan_chain(small_model(), one, Latency(1), {.min_shards = 3, .max_shards = 2})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code(plan_chain(small_model(), one, Latency(1), {.min_shards = 13})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code(plan_chain(small_model(), {}, Latency(0))), ErrorCode::resource_exhausted);
}

TEST(ChainPlan, EvaluatesOnlyChainsOverTheWholeModel) {
  const std::vector<Node> nodes = {{.id = "a", .layers_per_s = 10, .memory_free = 5000},
                                   {.id = "b", .layers_per_s = 10, .memory_free = 500}};
  const auto code = [&](std::vector<Shard> shards) {
    const auto plan = evaluate(small_model(), nodes, Latency(2), shards);
    return plan.has_value() ? ErrorCode::internal : plan.error().code;
  };

  EXPECT_EQ(code({}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"a", 0, 11}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"a", 0, 13}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"a", 0, 6}, {"b", 7, 12}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"a", 0, 6}, {"a", 6, 12}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"c", 0, 12}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"b", 0, 12}}), ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace weft::mesh
