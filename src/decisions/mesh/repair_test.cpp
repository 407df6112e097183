// A lost worker is replaced by the smallest change that is enough. A slower worker is replaced only
// if the new chain is faster by enough, and not again and again.
#include "decisions/mesh/repair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace weft::mesh {
namespace {

Model model() {
  return {.layers = 12,
          .layer_bytes = 10'000'000,
          .first_bytes = 5'000'000,
          .last_bytes = 5'000'000,
          .cache_bytes_per_layer = 100'000,
          .hop_bytes = 4096};
}

Node node(std::string id, double layers_per_s = 100, std::uint64_t layers = 5) {
  return {.id = std::move(id),
          .layers_per_s = layers_per_s,
          .memory_free = layers * 10'100'000 + 10'000'000};
}

const std::vector<Shard> chain = {{"a", 0, 4}, {"b", 4, 8}, {"c", 8, 12}};

Latency near(std::size_t nodes) { return Latency(nodes, {.seconds = 0.001}); }

// Checks that the chain has the whole model, in order, on present nodes only.
void expect_sound(const Repair& repair, const std::vector<Node>& nodes, const Latency& latency) {
  const auto again = evaluate(model(), nodes, latency, repair.plan.shards);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->token_seconds, repair.plan.token_seconds);
}

TEST(Repair, PutsASpareInTheLostWorkersPlaceAndLeavesTheOthersAlone) {
  const std::vector<Node> nodes = {node("a"), node("c"), node("spare"), node("slow spare", 10)};

  const auto repaired = repair(model(), chain, nodes, near(4), 0).value();

  EXPECT_EQ(repaired.change, Repair::Change::replace);
  EXPECT_EQ(repaired.plan.shards, (std::vector<Shard>{{"a", 0, 4}, {"spare", 4, 8}, {"c", 8, 12}}));
  EXPECT_EQ(repaired.loading, std::vector<std::size_t>{1});
  EXPECT_NEAR(repaired.load_seconds, 0.8, 1e-9);
}

TEST(Repair, PrefersTheSpareThatHasTheLayersAlready) {
  std::vector<Node> nodes = {node("a"), node("c"), node("fast", 105), node("prepared", 100)};
  nodes[3].held_begin = 4;
  nodes[3].held_end = 8;

  const auto repaired = repair(model(), chain, nodes, near(4), 0).value();

  EXPECT_EQ(repaired.plan.shards[1].node, "prepared");
  EXPECT_TRUE(repaired.loading.empty());
  EXPECT_EQ(repaired.load_seconds, 0);
}

TEST(Repair, LetsANeighbourTakeOverWhereThereIsNoSpare) {
  const std::vector<Node> nodes = {node("a", 100, 4), node("c", 100, 8)};

  const auto repaired = repair(model(), chain, nodes, near(2), 0).value();

  EXPECT_EQ(repaired.change, Repair::Change::replace);
  EXPECT_EQ(repaired.plan.shards, (std::vector<Shard>{{"a", 0, 4}, {"c", 4, 12}}));
  EXPECT_EQ(repaired.loading, std::vector<std::size_t>{1});
}

TEST(Repair, PlansAgainIfNoWorkerCanTakeThePlace) {
  // Neither of the two nodes can hold all eight layers.
  const std::vector<Node> nodes = {node("a", 100, 6), node("c", 100, 6)};

  const auto repaired = repair(model(), chain, nodes, near(2), 0).value();

  EXPECT_EQ(repaired.change, Repair::Change::replan);
  expect_sound(repaired, nodes, near(2));
}

TEST(Repair, PlansAnewWhereTwoWorkersAreLost) {
  const std::vector<Node> nodes = {node("b"), node("x"), node("y")};

  const auto repaired = repair(model(), chain, nodes, near(3), 0).value();

  EXPECT_EQ(repaired.change, Repair::Change::replan);
  expect_sound(repaired, nodes, near(3));
}

TEST(Repair, SaysWhatIsShortWhereTheRestCannotHoldTheModel) {
  const auto repaired = repair(model(), chain, std::vector{node("a"), node("c")}, near(2), 0);

  ASSERT_FALSE(repaired.has_value());
  EXPECT_EQ(repaired.error().code, ErrorCode::resource_exhausted);
  EXPECT_NE(repaired.error().message.find("10 of 12 layers"), std::string::npos)
      << repaired.error().message;
}

TEST(Repair, DropsAWorkerThatBecameVerySlowOnceTheChainHasBeenQuiet) {
  const std::vector<Node> nodes = {node("a"), node("b", 5), node("c"), node("spare")};

  EXPECT_EQ(repair(model(), chain, nodes, near(4), 9.9).value().change, Repair::Change::keep);
  const auto repaired = repair(model(), chain, nodes, near(4), 10.1).value();

  EXPECT_EQ(repaired.change, Repair::Change::replace);
  EXPECT_EQ(repaired.plan.shards[1].node, "spare");
}

TEST(Repair, KeepsAChainThatIsALittleSlowerThanItCouldBe) {
  const std::vector<Node> nodes = {node("a"), node("b", 80), node("c"), node("spare", 130)};

  const auto kept = repair(model(), chain, nodes, near(4), 1e6, {.tokens_expected = 1e9}).value();

  EXPECT_EQ(kept.change, Repair::Change::keep);
  EXPECT_EQ(kept.plan.shards, chain);
  EXPECT_TRUE(kept.loading.empty());
}

TEST(Repair, DoesNotLoadForLongWhenFewTokensAreStillToCome) {
  const std::vector<Node> nodes = {node("a"), node("b", 20), node("c"), node("spare")};

  EXPECT_EQ(repair(model(), chain, nodes, near(4), 1e6, {.tokens_expected = 2}).value().change,
            Repair::Change::keep);
  EXPECT_EQ(repair(model(), chain, nodes, near(4), 1e6, {.tokens_expected = 1000}).value().change,
            Repair::Change::replace);
}

TEST(Repair, MovesAShardThatDoesNotFitAnyMoreAtOnce) {
  const std::vector<Node> nodes = {node("a"), node("b", 100, 1), node("c"), node("spare")};

  const auto repaired = repair(model(), chain, nodes, near(4), 0).value();

  EXPECT_NE(repaired.change, Repair::Change::keep);
  expect_sound(repaired, nodes, near(4));
}

// Ten minutes of measurements that vary by a quarter, with one heartbeat every 500 ms.
TEST(Repair, DoesNotThrashOnNoise) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::vector<Shard> running = chain;
    double since = 0;
    int changes = 0;
    for (int beat = 0; beat < 1200; ++beat, since += 0.5) {
      std::vector<Node> nodes;
      for (const char* id : {"a", "b", "c", "d", "e"})
        nodes.push_back(node(id, std::uniform_real_distribution<>(88, 112)(random)));
      const auto repaired =
          repair(model(), running, nodes, near(5), since, {.tokens_expected = 1e6}).value();
      if (repaired.change == Repair::Change::keep) continue;
      running = repaired.plan.shards;
      since = 0;
      ++changes;
    }
    EXPECT_EQ(changes, 0) << "seed " << seed;
  }
}

// A worker whose speed varies widely is left out once, and is not taken back each time it is fast.
TEST(Repair, DoesNotFollowAWorkerThatIsFastAndSlowByTurns) {
  std::vector<Shard> running = chain;
  double since = 0;
  int changes = 0;
  for (int beat = 0; beat < 1200; ++beat, since += 0.5) {
    const std::vector<Node> nodes = {node("a"), node("b", beat / 30 % 2 == 0 ? 120 : 10), node("c"),
                                     node("d")};
    const auto repaired =
        repair(model(), running, nodes, near(4), since, {.tokens_expected = 1e6}).value();
    if (repaired.change == Repair::Change::keep) continue;
    running = repaired.plan.shards;
    since = 0;
    ++changes;
  }
  EXPECT_EQ(changes, 1);
}

// Whichever worker is lost, the repair is a chain over the whole model without this worker, or the
// remaining workers are too small.
TEST(Repair, IsAlwaysAChainOverTheWholeModel) {
  int repaired_count = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::vector<Node> nodes;
    const std::size_t n = 3 + random() % 8;
    for (std::size_t i = 0; i < n; ++i)
      nodes.push_back(
          node(std::to_string(i), static_cast<double>(10 + random() % 200), 1 + random() % 8));
    Latency latency(n);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (a != b)
          latency.set(
              a, b,
              {.seconds = 0.0001 * static_cast<double>(1 + random() % 500), .bytes_per_s = 1e6});
      }
    }
    const auto before = plan_chain(model(), nodes, latency);
    if (!before) continue;
    const std::size_t victim = random() % before->shards.size();
    const auto gone = static_cast<std::size_t>(
        std::ranges::find(nodes, before->shards[victim].node, &Node::id) - nodes.begin());
    Latency left(n - 1);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (a != b && a != gone && b != gone)
          left.set(a - (a > gone ? 1 : 0), b - (b > gone ? 1 : 0), latency.at(a, b));
      }
    }
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(gone));

    const auto repaired = repair(model(), before->shards, nodes, left, 0);

    const auto possible = plan_chain(model(), nodes, left);
    ASSERT_EQ(repaired.has_value(), possible.has_value()) << "seed " << seed;
    if (!repaired) continue;
    ++repaired_count;
    EXPECT_NE(repaired->change, Repair::Change::keep) << "seed " << seed;
    expect_sound(*repaired, nodes, left);
  }
  EXPECT_GT(repaired_count, 500);
}

}  // namespace
}  // namespace weft::mesh
