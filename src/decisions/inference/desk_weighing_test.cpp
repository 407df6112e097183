// Audits by roots that weigh answers: which models and workers they are for, that everything else
// stays as it is without them, and that a shard that weighs gives no answers.
#include "decisions/inference/test_desk.h"

namespace weft::inference {
namespace {

ModelCard wide(const std::string& name = "m") {
  ModelCard out = card(name);
  out.weights = store::WeightWidth::wide;
  return out;
}

// Worker 1 answers, worker 2 stands by, and worker 3 may be a root that weighs.
struct Weighing {
  explicit Weighing(const ModelCard& model = wide(), DeskSettings settings = {},
                    std::set<ServingId> roots = {3}, std::set<ServingId> weighers = {3},
                    std::uint64_t root_mb = 1000)
      : network(std::move(settings)) {
    network.roots = std::move(roots);
    network.weighers = std::move(weighers);
    network.join(1);
    network.desk.put_model(model, network.time);
    network.settle();
    network.join(2);
    network.join(3, root_mb, 1);
    answer = network.ask(model.name);
    for (int i = 0; i < 9; ++i) network.draw();
    EXPECT_EQ(network.ends[answer].work.at(0).worker.bytes[0], 1);
  }
  RequestId audit() { return network.audit(network.ends[answer]); }
  // The order by which the worker loaded the shard that it was linked with last.
  const wire::Load& order_of(ServingId worker) {
    const wire::Link& link = network.links.at(worker);
    return network.orders.at(link.members.at(link.index).shard);
  }
  bool is_weighed(RequestId audit) {
    for (auto& [worker, requests] : network.asked) {
      const auto found = requests.find(audit);
      if (found != requests.end()) return !order_of(worker).beside.empty();
    }
    ADD_FAILURE() << "the audit is asked of no worker";
    return false;
  }
  Network network;
  RequestId answer = 0;
};

TEST(DeskWeighing, IsForRootsThatCanForAnswersOfWideModels) {
  Weighing test;

  const RequestId audit = test.audit();

  ASSERT_EQ(test.network.asked[3].size(), 1U) << "the root, though another stands by";
  EXPECT_TRUE(test.network.asked[3].at(audit).audit);
  const wire::Load& order = test.order_of(3);
  EXPECT_EQ(order.beside, "q8_0");
  EXPECT_EQ(order.activations, "f32");
  EXPECT_EQ(order.sequences, 1U);
  EXPECT_EQ(order.first_layer, 0U);
  EXPECT_EQ(order.end_layer, 6U);
}

TEST(DeskWeighing, HandsOnTheFingerprintsOfBothReadings) {
  Weighing test;
  const RequestId audit = test.audit();
  const wire::Ask ask = test.network.asked[3].at(audit);
  wire::Tokens told{.request = audit, .epoch = ask.epoch};
  told.prints = {{.at = 0, .data = "AAAA"}};
  told.beside = {{.at = 0, .data = "BBBB"}};
  test.network.desk.hear(2, told, test.network.time);  // It is not the auditor.
  for (std::uint32_t at = 1; at < 1000; ++at) told.beside.push_back({.at = at, .data = "BBBB"});
  test.network.desk.hear(3, told, test.network.time);
  for (int i = 0; i < 9; ++i) test.network.draw();

  const AuditEnd& end = test.network.audits.at(audit);
  EXPECT_FALSE(end.error);
  EXPECT_NE(end.beside.at(0), end.prints.at(0));
  EXPECT_LE(end.beside.size(), 20U) << "no more than an answer has";
}

TEST(DeskWeighing, KeepsTheShardForTheNextAudit) {
  Weighing test;
  (void)test.audit();
  test.network.draw();
  const std::size_t loads = test.network.loads;

  const RequestId audit = test.audit();

  EXPECT_TRUE(test.is_weighed(audit));
  EXPECT_EQ(test.network.loads, loads);
}

TEST(DeskWeighing, IsWorthWaitingFor) {
  Weighing test;
  const RequestId first = test.audit(), second = test.audit();
  EXPECT_EQ(test.network.asked[3].size(), 1U);
  EXPECT_TRUE(test.network.asked[2].empty()) << "though it stands by";

  test.network.draw();

  EXPECT_TRUE(test.network.audits.contains(first));
  EXPECT_TRUE(test.is_weighed(second));
}

TEST(DeskWeighing, LeavesEverythingAsItIsForOtherModelsAndWorkers) {
  ModelCard narrow = card("m");
  narrow.weights = store::WeightWidth::narrow;
  DeskSettings int8;
  int8.activations = "int8";
  const auto plain = [](Weighing&& test, const char* why) {
    EXPECT_FALSE(test.is_weighed(test.audit())) << why;
    EXPECT_FALSE(test.network.desk.models()[0].weighed) << why;
  };
  plain(Weighing(narrow), "weights of 8 bits");
  plain(Weighing(card("m")), "weights of an unknown width");
  plain(Weighing(wide(), int8), "activations of 8 bits");
  plain(Weighing(wide(), {}, {3}, {}), "a root that cannot weigh");
  plain(Weighing(wide(), {}, {}, {3}), "an established worker");
  plain(Weighing(wide(), {}, {3}, {3}, 100), "a root without room for both weights");
  Weighing f16(wide(), {.activations = "f16"});
  EXPECT_TRUE(f16.is_weighed(f16.audit())) << "activations of 16 bits";
  EXPECT_TRUE(f16.network.desk.models()[0].weighed);
}

TEST(DeskWeighing, AsksNoRootThatMayNotAudit) {
  Weighing test;
  AuditRequest request{.id = ++test.network.ids, .model = "m", .ask = {}, .except = {}, .draw = 0};
  request.ask.answered = test.network.ends[test.answer].answered;
  for (const ServingId id : {1, 3}) {
    PublicKey key;
    key.bytes[0] = static_cast<std::uint8_t>(id);
    request.except.push_back(key);
  }
  const RequestId audit = request.id;
  test.network.desk.audit(std::move(request), test.network.time);
  test.network.settle();
  EXPECT_FALSE(test.is_weighed(audit));
  EXPECT_EQ(test.network.asked[2].count(audit), 1U);
}

// The model takes 70 MiB and the root's layers for standing by take more than half of the rest.
TEST(DeskWeighing, TakesTheRoomOfLayersThatStandBy) {
  Weighing test(wide(), {}, {3}, {3}, 150);
  test.network.leave(2);
  test.network.pass(3s);
  std::size_t standing = 0;
  for (const auto& [shard, order] : test.network.orders) standing += order.beside.empty() ? 1 : 0;
  ASSERT_GE(standing, 2U);

  EXPECT_TRUE(test.is_weighed(test.audit()));
  EXPECT_EQ(test.network.desk.inconsistency(), "");
}

TEST(DeskWeighing, NeverGivesAnswersWithTheShardThatWeighs) {
  Weighing test;
  (void)test.audit();
  test.network.draw();
  ASSERT_EQ(test.order_of(3).beside, "q8_0");

  // The worker that answered and the one that stands by leave, so that the root alone is left.
  test.network.leave(1);
  test.network.leave(2);
  test.network.pass(3s);
  const RequestId asked = test.network.ask("m");

  ASSERT_TRUE(test.network.asked[3].contains(asked));
  EXPECT_FALSE(test.network.asked[3].at(asked).audit);
  EXPECT_EQ(test.order_of(3).beside, "") << "other layers than those that weigh";
  EXPECT_EQ(test.network.desk.inconsistency(), "");
}

TEST(DeskWeighing, IsGivenUpForAPlainAuditIfTheRootCannotLoadBothWeights) {
  Weighing test;
  test.network.refuses_to_weigh = true;

  const RequestId audit = test.audit();

  EXPECT_FALSE(test.is_weighed(audit));
  test.network.draw();
  EXPECT_FALSE(test.network.audits.at(audit).error);
  const std::size_t loads = test.network.loads;
  EXPECT_FALSE(test.is_weighed(test.audit()));
  EXPECT_EQ(test.network.loads, loads) << "it is not asked again";
  EXPECT_FALSE(test.network.desk.models()[0].weighed);
}

TEST(DeskWeighing, IsGivenUpForAPlainAuditIfTheRootLoadsTooSlowly) {
  Weighing test;
  test.network.slow_to_weigh = true;
  const RequestId audit = test.audit();
  EXPECT_TRUE(test.network.asked[2].empty());

  test.network.pass(31s);

  EXPECT_FALSE(test.is_weighed(audit));
  EXPECT_EQ(test.network.asked[2].count(audit), 1U);
  // The root has loaded both weights after all, for the next audit.
  for (const auto& [shard, order] : std::map(test.network.orders)) {
    if (!order.beside.empty())
      test.network.desk.hear(3, wire::Loaded{.shard = shard, .sequences = 1}, test.network.time);
  }
  test.network.settle();
  EXPECT_TRUE(test.is_weighed(test.audit()));
  EXPECT_EQ(test.network.desk.inconsistency(), "");
}

TEST(DeskWeighing, EndsWithTheRoot) {
  Weighing test;
  const RequestId audit = test.audit();
  ASSERT_TRUE(test.is_weighed(audit));

  test.network.leave(3);

  EXPECT_TRUE(test.network.audits.at(audit).error);
  EXPECT_FALSE(test.is_weighed(test.audit()));
  EXPECT_EQ(test.network.desk.inconsistency(), "");
}

}  // namespace
}  // namespace weft::inference
