// Tests audits, in which other workers read answers again: which workers are asked, in which order,
// and what happens if one leaves.
#include "decisions/inference/test_desk.h"

namespace weft::inference {
namespace {

// Joins `workers` workers and lets some of them give an answer.
RequestId answered_by(Network& network, ServingId workers, std::uint32_t shards_min = 1) {
  for (ServingId id = 1; id <= workers; ++id) network.join(id);
  network.desk.put_model(card("m", shards_min), network.time);
  network.settle();
  const RequestId id = network.ask("m");
  for (int i = 0; i < 9; ++i) network.draw();
  return id;
}

TEST(DeskAudits, HasAnswersAuditedByWhoStandsByOneAfterTheOther) {
  Network network;
  const RequestId id = answered_by(network, 2);
  ASSERT_EQ(network.ends[id].work.size(), 1u);
  const ServingId answered = network.links.begin()->first, other = 3 - answered;

  std::vector<RequestId> audits;
  for (int i = 0; i < 3; ++i) audits.push_back(network.audit(network.ends[id]));
  ASSERT_EQ(network.asked[other].size(), 1u);
  EXPECT_TRUE(network.asked[other].begin()->second.audit);
  EXPECT_EQ(network.asked[other].begin()->second.answered, counted(8));
  for (int i = 0; i < 3; ++i) network.draw();

  for (const RequestId audit : audits) {
    ASSERT_TRUE(network.audits.contains(audit));
    EXPECT_FALSE(network.audits[audit].error);
    ASSERT_EQ(network.audits[audit].auditors.size(), 1u);
    EXPECT_EQ(network.audits[audit].auditors[0].bytes[0], other);
  }
  network.leave(answered);
  EXPECT_EQ(network.loads, 2u) << "it stands by as before";
  EXPECT_EQ(network.desk.models()[0].state, ModelState::ready);
}

// An answer may have a million tokens, and a member could send a fingerprint for each of them.
TEST(DeskAudits, KeepsNoMoreFingerprintsThanAnAnswerHas) {
  Network network;
  network.join(1);
  network.desk.put_model(card("m", 1), network.time);
  network.settle();
  const RequestId id = network.ask("m", 1 << 20);
  ASSERT_EQ(network.asked[1].size(), 1u);
  wire::Tokens tokens{.request = id, .epoch = network.asked[1].begin()->second.epoch};
  for (std::uint32_t first = 0; first < 100'000; first += 1'000) {
    tokens.prints.clear();
    for (std::uint32_t at = first; at < first + 1'000; ++at)
      tokens.prints.push_back({.at = at, .data = "AAAA"});
    network.desk.hear(1, tokens, network.time);
  }
  tokens.prints.clear();
  for (std::uint32_t n = 0; n < 64; ++n)
    tokens.tokens.push_back({.id = static_cast<std::int32_t>(n)});
  tokens.prints = {{.at = 32, .data = "AAAA"}, {.at = 64, .data = "BBBB"}};
  network.desk.hear(1, tokens, network.time);
  network.desk.drop(id, network.time);

  ASSERT_TRUE(network.ends.contains(id));
  EXPECT_LE(network.ends[id].prints.size(), 20u);
  EXPECT_TRUE(network.ends[id].prints.contains(0));
  EXPECT_TRUE(network.ends[id].prints.contains(64));
}

TEST(DeskAudits, SaysIfNoOtherWorkerCouldAuditOrTheAuditorLeaves) {
  Network network;
  const RequestId id = answered_by(network, 1);
  const RequestId alone = network.audit(network.ends[id]);
  EXPECT_EQ(network.audits[alone].error->code, ErrorCode::unavailable);

  network.join(2);
  const RequestId lost = network.audit(network.ends[id]);
  EXPECT_FALSE(network.audits.contains(lost));
  network.leave(2);
  EXPECT_TRUE(network.audits[lost].error);
  network.join(3);
  const RequestId late = network.audit(network.ends[id]);
  network.pass(61s);
  EXPECT_EQ(network.audits[late].error->code, ErrorCode::deadline_exceeded);
}

TEST(DeskAudits, HasAChainsAnswersAuditedBesideWhatIsStoodByWith) {
  Network network;
  const RequestId id = answered_by(network, 4, 3);

  const std::size_t before = network.loads;
  const RequestId audit = network.audit(network.ends[id]);
  network.draw();

  ASSERT_FALSE(network.audits[audit].error) << network.audits[audit].error->message;
  EXPECT_EQ(network.loads, before + 1) << "all layers, on the one that stands by";
  for (const auto& [session, link] : std::map(network.links)) {
    if (link.index == 2) network.leave(session);
  }
  EXPECT_EQ(network.loads, before + 1) << "and it still stands by";
}

TEST(DeskAudits, AreDoneBesideAnotherModelIfNoWorkerIsIdle) {
  Network network;
  const RequestId id = answered_by(network, 1);
  network.join(2);
  network.desk.put_model(card("other", 2), network.time);
  network.settle();
  (void)network.ask("other");
  network.pass(1s);
  ASSERT_EQ(network.desk.chains().size(), 2u);
  ASSERT_TRUE(network.desk.models()[0].auditable);

  const RequestId audit = network.audit(network.ends[id]);
  for (int i = 0; i < 9; ++i) network.draw();

  ASSERT_TRUE(network.audits.contains(audit));
  ASSERT_FALSE(network.audits[audit].error) << network.audits[audit].error->message;
  EXPECT_EQ(network.audits[audit].auditors[0].bytes[0], 2);
}

TEST(DeskAudits, AreNotGivenToAWorkerThatLeaves) {
  Network network;
  const RequestId id = answered_by(network, 2);
  const RequestId first = network.audit(network.ends[id]);
  const RequestId second = network.audit(network.ends[id]);
  ASSERT_FALSE(network.audits.contains(first) || network.audits.contains(second))
      << "one is read, the other waits";

  network.leave(2);

  EXPECT_TRUE(network.audits[first].error);
  const RequestId third =
      network.audit(network.ends[id]);  // Checks the workers of all audits that are under way.
  EXPECT_EQ(network.audits[third].error->code, ErrorCode::unavailable);
  network.pass(61s);
  EXPECT_TRUE(network.audits.contains(second)) << "each ends";
}

TEST(DeskAudits, WaitForTheirTurnWhereManyAreUnderWay) {
  DeskSettings settings;
  settings.audits_max = 0;
  Network network(settings);
  const RequestId id = answered_by(network, 3);

  const RequestId audit = network.audit(network.ends[id]);

  EXPECT_FALSE(network.audits.contains(audit)) << "it is not refused";

  network.pass(2s);
  for (int i = 0; i < 9; ++i) network.draw();

  EXPECT_FALSE(network.audits.contains(audit)) << "no more than audits_max are under way";
}

}  // namespace
}  // namespace weft::inference
