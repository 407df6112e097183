// Tests how many requests a chain of several workers answers at a time: the number of its member
// with the fewest sequences, because each member has set memory aside for its own number.
#include "decisions/inference/placement.h"
#include "decisions/inference/test_desk.h"

namespace weft::inference {
namespace {

ModelCard with_cache() {
  ModelCard one = card("m");
  one.cache_bytes = 1 << 10;  // Bytes for each position in each layer.
  return one;
}

TEST(DeskCapacity, AChainAnswersAsManyAsItsMemberWithTheFewestSequences) {
  Network network({.sequences = 2, .batch = 64});
  network.sequences_of = {{1, 16}, {2, 8}};
  for (const ServingId id : {1, 2}) network.join(id, 60);
  network.desk.put_model(with_cache(), network.time);
  network.settle();
  ASSERT_EQ(network.links.size(), 2u);
  EXPECT_EQ(network.links[1].sequences, 8u);
  EXPECT_EQ(network.links[2].sequences, 8u);

  for (int i = 0; i < 20; ++i) (void)network.ask("m");

  EXPECT_EQ(network.asked[1].size() + network.asked[2].size(), 8u);
}

TEST(DeskCapacity, APartOfAChainHasRoomForEachOfItsSequencesAtFullLength) {
  for (const std::uint64_t memory_mb : {45, 60, 64}) {
    Network network({.sequences = 2, .batch = 64});
    for (const ServingId id : {1, 2}) network.join(id, memory_mb);
    const ModelCard one = with_cache();
    network.desk.put_model(one, network.time);
    network.settle();
    ASSERT_EQ(network.links.size(), 2u) << memory_mb;

    const wire::Load& load = network.load;
    const auto bytes = [&](std::uint32_t sequences) {
      return shard_bytes(one, load.first_layer, load.end_layer, load.context, sequences);
    };
    EXPECT_EQ(load.cache_bytes, 0u) << "room for all of them";
    EXPECT_GE(load.sequences, 2u);
    EXPECT_LE(load.sequences, 64u);
    EXPECT_LE(bytes(load.sequences), memory_mb << 20);
    const std::uint64_t may =
        // Half of the rest: DeskSettings::cache_share is 0.5.
        bytes(2) + ((memory_mb << 20) - bytes(2)) / 2;
    EXPECT_LE(bytes(load.sequences), may);
    EXPECT_TRUE(load.sequences == 64 || bytes(load.sequences * 2) > may) << memory_mb;
  }
}

TEST(DeskCapacity, AWorkerThatTakesFewerGivesTheRestOfItsMemoryBack) {
  Network many({.sequences = 2, .batch = 64}), few({.sequences = 2, .batch = 64});
  few.sequences = 2;
  std::uint64_t free[2] = {};
  int i = 0;
  for (Network* const network : {&many, &few}) {
    for (const ServingId id : {1, 2}) network->join(id, 60);
    network->desk.put_model(with_cache(), network->time);
    network->settle();
    ASSERT_GT(network->load.sequences, 2u);
    for (const auto& worker : network->desk.workers()) free[i] += worker.memory_free;
    ++i;
  }
  EXPECT_GT(free[1], free[0]);
}

// The worker answers forty requests at a time, so that the eleventh does not wait for the first
// ten.
TEST(DeskCapacity, ADeadlineCountsTheRequestsThatAWorkerAnswersTogether) {
  Network network({.sequences = 2, .batch = 40});
  network.sequences = 40;
  network.join(1, 1000);
  network.desk.put_model(with_cache(), network.time);
  network.settle();
  const RequestId first = network.ask("m", 1);
  network.pass(2s);
  network.draw();
  network.draw();
  ASSERT_TRUE(network.ends.contains(first)) << "so that the desk knows how long an answer takes";
  for (int i = 0; i < 10; ++i) ASSERT_NE(network.ask("m"), 0u);

  AnswerRequest request{.id = ++network.ids, .model = "m", .ask = {}};
  request.ask.prompt = {7, 8, 9};
  request.ask.tokens_max = 8;
  request.patience = 100ms;
  EXPECT_TRUE(network.desk.ask(std::move(request), network.time).has_value());
}

}  // namespace
}  // namespace weft::inference
