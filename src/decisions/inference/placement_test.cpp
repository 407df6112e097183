// Tests how a model is cut into shards, and how prompts are spread over workers.
#include "decisions/inference/placement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "decisions/inference/test_desk.h"

namespace weft::inference {
namespace {

TEST(Placement, CutsAllLayersAndKeepsToMemory) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    ModelCard model = card("m", 1 + pick(random, 3), 3 + pick(random, 40));
    std::vector<Candidate> workers;
    for (std::uint32_t i = 0; i < pick(random, 9); ++i)
      workers.push_back({.session = i,
                         .memory_free = std::uint64_t{pick(random, 400)} << 20,
                         .gb_per_s = 1.0 + pick(random, 100)});
    const auto chains =
        place({.card = model, .candidates = workers, .context = 128, .sequences = 2},
              mesh::Strategy::layer, 1);
    const auto placed = chains.empty() ? std::vector<Placed>{} : chains[0];
    std::uint32_t at = 0;
    for (const Placed& part : placed) {
      EXPECT_EQ(part.begin, at);
      EXPECT_GT(part.end, part.begin);
      EXPECT_LE(shard_bytes(model, part.begin, part.end, 128, 2),
                workers[part.session].memory_free);
      at = part.end;
    }
    if (!placed.empty()) {
      EXPECT_EQ(at, model.layers);
      EXPECT_GE(placed.size(), model.shards_min);
    }
  }
}

// If many prompts run at a time, the strategies batch and hybrid give a share to every worker that
// holds the model; the strategy layer always makes one chain.
TEST(Placement, CutsManyPromptsByTheStrategy) {
  const ModelCard model = card("m", 1, 12);
  std::vector<Candidate> workers;
  for (std::uint32_t i = 0; i < 4; ++i)
    workers.push_back({.session = i, .memory_free = 1000u << 20, .gb_per_s = 10});
  const Question question{.card = model, .candidates = workers, .context = 128, .sequences = 2};
  EXPECT_EQ(place(question, mesh::Strategy::layer, 8).size(), 1u);
  for (const auto strategy : {mesh::Strategy::batch, mesh::Strategy::hybrid}) {
    const auto chains = place(question, strategy, 8);
    ASSERT_EQ(chains.size(), 4u);
    std::set<std::uint64_t> used;
    for (const auto& chain : chains) {
      ASSERT_EQ(chain.size(), 1u);
      EXPECT_EQ(chain[0].end, model.layers);
      used.insert(chain[0].session);
    }
    EXPECT_EQ(used.size(), 4u);
  }
  // If no worker holds the whole model, hybrid makes several chains of several workers.
  for (auto& worker : workers) worker.memory_free = 80u << 20;
  const auto chains = place(question, mesh::Strategy::hybrid, 8);
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_EQ(chains[0].size() + chains[1].size(), 4u);
  EXPECT_TRUE(place(question, mesh::Strategy::batch, 8).empty());

  EXPECT_EQ(parse_strategy("hybrid").value(), mesh::Strategy::hybrid);
  EXPECT_EQ(parse_strategy("spatial").error().code, ErrorCode::unsupported);
  EXPECT_EQ(parse_strategy("cubes").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace weft::inference
