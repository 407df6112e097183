// A request's turn comes when a place of those that answer together is free.
#include "decisions/inference/test_desk.h"

namespace weft::inference {
namespace {

ModelCard with_cache() {
  ModelCard one = card("m");
  one.cache_bytes = 1 << 10;  // For a layer and a position.
  return one;
}

// Forty are answered at a time: the eleventh request does not wait for the first ten.
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
