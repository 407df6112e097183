// Tests of all strategies: each layer of each item belongs to exactly one node, and the items go to
// the nodes that finish them soonest.
#include "decisions/mesh/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>

namespace weft::mesh {
namespace {

Model model(std::uint32_t layers = 8) {
  return {.layers = layers, .layer_bytes = 100, .hop_bytes = 1000};
}

Node node(std::string id, double layers_per_s, std::uint64_t layers) {
  return {.id = std::move(id), .layers_per_s = layers_per_s, .memory_free = layers * 100};
}

void expect_exact_cover(const Partition& partition, const Work& work, unsigned seed) {
  // The number of parts that cover each item and layer.
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> covered;
  std::map<std::string, std::uint32_t> chain_of;
  for (const Part& part : partition.parts) {
    for (std::uint32_t item = part.first_item; item < part.first_item + part.items; ++item) {
      for (std::uint32_t layer = part.begin; layer < part.end; ++layer) ++covered[{item, layer}];
    }
    EXPECT_TRUE(chain_of.emplace(part.node, part.chain).second)
        << "seed " << seed << ": \"" << part.node << "\" has two parts";
  }
  EXPECT_EQ(covered.size(), std::size_t{work.items} * work.model.layers) << "seed " << seed;
  EXPECT_TRUE(std::ranges::all_of(covered, [](const auto& entry) { return entry.second == 1; }))
      << "seed " << seed;
}

TEST(Partition, CoversEveryLayerOfEveryItemOnce) {
  int compared = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const Work work{.model = model(1 + static_cast<std::uint32_t>(random() % 10)),
                    .items = 1 + static_cast<std::uint32_t>(random() % 20)};
    std::vector<Node> nodes;
    const std::size_t n = 1 + random() % 12;
    for (std::size_t i = 0; i < n; ++i)
      nodes.push_back(
          node(std::to_string(i), static_cast<double>(1 + random() % 100), 1 + random() % 10));
    const Latency latency(n, {.seconds = 0.01});
    const auto layer = partition(Strategy::layer, work, nodes, latency);
    const auto batch = partition(Strategy::batch, work, nodes, latency);
    const auto hybrid = partition(Strategy::hybrid, work, nodes, latency);
    if (layer) expect_exact_cover(*layer, work, seed);
    if (batch) expect_exact_cover(*batch, work, seed);
    ASSERT_EQ(hybrid.has_value(), layer.has_value()) << "seed " << seed;
    if (!hybrid) continue;
    expect_exact_cover(*hybrid, work, seed);
    EXPECT_LE(hybrid->seconds, layer->seconds * (1 + 1e-9)) << "seed " << seed;
    ++compared;
  }
  EXPECT_GT(compared, 150);
}

// Compares with every possible way to share a few items out.
TEST(Partition, SharesABatchOutAsWellAsCanBe) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const Work work{.model = model(), .items = 1 + static_cast<std::uint32_t>(random() % 9)};
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < 1 + seed % 4; ++i)
      nodes.push_back(node(std::to_string(i), static_cast<double>(1 + random() % 50), 8));
    double best = std::numeric_limits<double>::infinity();
    const std::function<void(std::size_t, std::uint32_t, double)> share =
        [&](std::size_t at, std::uint32_t left, double longest) {
          if (at + 1 == nodes.size()) {
            best = std::min(best, std::max(longest, left * 8 / nodes[at].layers_per_s));
            return;
          }
          for (std::uint32_t items = 0; items <= left; ++items)
            share(at + 1, left - items, std::max(longest, items * 8 / nodes[at].layers_per_s));
        };
    share(0, work.items, 0);

    EXPECT_NEAR(partition(Strategy::batch, work, nodes, Latency(nodes.size())).value().seconds,
                best, best * 1e-9)
        << "seed " << seed;
  }
}

TEST(Partition, MakesTwoChainsOfFourWorkersThatHoldHalfTheModelEach) {
  const std::vector<Node> nodes = {node("a", 10, 4), node("b", 10, 4), node("c", 10, 4),
                                   node("d", 10, 4)};
  const Work work{.model = model(), .items = 10};

  const auto hybrid =
      partition(Strategy::hybrid, work, nodes, Latency(4, {.seconds = 0.01})).value();

  std::set<std::uint32_t> chains;
  for (const Part& part : hybrid.parts) {
    chains.insert(part.chain);
    EXPECT_EQ(part.items, 5U);
  }
  EXPECT_EQ(chains.size(), 2U);
  EXPECT_FALSE(
      // The strategy batch fails if no node holds the whole model.
      partition(Strategy::batch, work, nodes, Latency(4)).has_value());
}

TEST(Partition, LeavesOutWorkersWhoseItemsWouldComeLast) {
  const std::vector<Node> nodes = {node("fast", 100, 8), node("slow", 1, 8)};

  const auto batch =
      partition(Strategy::batch, {.model = model(), .items = 5}, nodes, Latency(2)).value();

  ASSERT_EQ(batch.parts.size(), 1U);
  EXPECT_EQ(batch.parts[0].node, "fast");
}

TEST(Partition, GivesTilesBySpeedAndNoneToWhomTheyDoNotPayFor) {
  const std::vector<Node> nodes = {node("a", 30, 8), node("b", 10, 8), node("slow", 0.01, 8),
                                   node("small", 100, 3)};
  const Work work{.model = model(),
                  .items = 1,
                  .image = {.rows = 256, .columns = 256},
                  .windows = std::vector<Window>(8, {.kernel = 3, .stride = 1, .padding = 1})};

  const auto spatial = partition(Strategy::spatial, work, nodes, Latency(4)).value();

  ASSERT_EQ(spatial.parts.size(), 2U);
  std::uint64_t area = 0;
  for (const Part& part : spatial.parts) {
    EXPECT_TRUE(part.node == "a" || part.node == "b");
    area += part.tile->output.area();
  }
  EXPECT_EQ(area, 256U * 256U);
  // All workers together are faster than the fastest one alone.
  EXPECT_LT(spatial.seconds, 8 / 30.0);
}

TEST(Partition, RefusesWhatIsNoWork) {
  const std::vector<Node> nodes = {node("a", 10, 8)};

  EXPECT_EQ(
      partition(Strategy::batch, {.model = model(), .items = 0}, nodes, Latency(1)).error().code,
      ErrorCode::invalid_argument);
  EXPECT_EQ(partition(Strategy::spatial, {.model = model(), .items = 2, .image = {8, 8}}, nodes,
                      Latency(1))
                .error()
                .code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(
      partition(Strategy::spatial, {.model = model(), .items = 1}, nodes, Latency(1)).error().code,
      ErrorCode::invalid_argument);
  EXPECT_EQ(
      partition(Strategy::layer, {.model = model(9), .items = 1}, nodes, Latency(1)).error().code,
      ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace weft::mesh
