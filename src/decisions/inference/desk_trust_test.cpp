// Tests of trust in workers: trusted workers answer clients, and newcomers answer copies of these
// requests, which no client reads. The tokens of an answer decide where it ends.
#include <gmock/gmock.h>

#include "decisions/inference/test_desk.h"

namespace weft::inference {
namespace {

using testing::HasSubstr;

DeskSettings for_strangers() {
  DeskSettings out;
  out.newcomers_answer = false;
  return out;
}
// Asks like a client that wants trusted workers.
RequestId ask(Network& network, std::uint32_t tokens = 8) {
  return network.ask("m", tokens, 0, 0, false);
}

TEST(DeskTrust, NewcomersAloneAnswerNoClient) {
  Network network(for_strangers());
  for (ServingId id = 1; id <= 5; ++id) network.newcomers.insert(id);
  for (ServingId id = 1; id <= 5; ++id) network.join(id);
  network.desk.put_model(card("m"), network.time);
  network.settle();

  const RequestId id = ask(network);
  network.pass(61s);

  EXPECT_TRUE(network.asked.empty());
  EXPECT_TRUE(network.told[id].empty());
  EXPECT_THAT(network.ends[id].error.message, HasSubstr("Only new workers have room for"));
}

TEST(DeskTrust, TheFirstTrustedWorkerAnswersThoseWhoWait) {
  Network network(for_strangers());
  network.newcomers = {1, 2};
  network.join(1);
  network.join(2);
  network.desk.put_model(card("m"), network.time);
  network.settle();
  const RequestId id = ask(network);
  network.pass(5s);

  network.join(3);
  network.pass(3s);
  EXPECT_TRUE(network.asked[3].contains(id));
  for (int i = 0; i < 9; ++i) network.draw();

  EXPECT_EQ(network.told[id], counted(8));
}

TEST(DeskTrust, NewcomersGetShadowRequestsAndTrustedWorkersNone) {
  Network network(for_strangers());
  network.newcomers = {1};
  network.join(1);
  network.join(2);
  network.desk.put_model(card("m"), network.time);
  network.settle();
  network.pass(3s);
  ASSERT_TRUE(network.desk.has_room_for_shadow("m"));

  const RequestId shadow = network.ask("m", 8, 0, 0, false, true), client = ask(network);

  EXPECT_TRUE(network.asked[1].contains(shadow));
  EXPECT_TRUE(network.asked[2].contains(client));
  EXPECT_FALSE(network.desk.has_room_for_shadow("m")) << "one at a time";
  for (int i = 0; i < 9; ++i) network.draw();
  EXPECT_EQ(network.ends[shadow].reason, "length");
}

TEST(DeskTrust, WhoBecomesTrustedAnswersClients) {
  Network network(for_strangers());
  network.newcomers = {1};
  network.join(1);
  network.join(2);
  network.desk.put_model(card("m"), network.time);
  network.settle();
  network.pass(3s);
  network.newcomers.clear();
  network.leave(2);

  const RequestId id = ask(network);
  network.pass(1s);

  EXPECT_TRUE(network.asked[1].contains(id));
}

TEST(DeskTrust, ARequestForTrustedWorkersPassesNewcomersWhereAnyoneMayAnswer) {
  Network network;  // Newcomers may answer here.
  network.newcomers = {1};
  network.join(1);
  network.desk.put_model(card("m"), network.time);
  network.settle();
  const RequestId any = network.ask("m"), own = ask(network);
  EXPECT_TRUE(network.asked[1].contains(any));
  EXPECT_FALSE(network.asked[1].contains(own));

  network.join(2);
  network.pass(3s);
  EXPECT_TRUE(network.asked[2].contains(own));
}

// Workers of both kinds come and go, and chains of several members are mended. Clients ask trusted
// workers for 10,000 answers. No answer contains a token of a newcomer, although newcomers are five
// times as many and faster.
TEST(DeskTrust, NoTokenOfANewcomerReachesAClient) {
  Network network(for_strangers());
  std::mt19937 random(11);
  network.desk.put_model(card("m", 2), network.time);
  network.settle();
  ServingId next = 0;
  std::map<RequestId, bool> shadows;
  std::size_t answered = 0, by_newcomers = 0, shadowed = 0;
  for (int round = 0; round < 5'000 && answered < 10'000; ++round) {
    if (network.alive.size() < 12 || pick(random, 10) == 0) {
      const ServingId id = ++next;
      const bool newcomer = pick(random, 6) != 0;
      if (newcomer) network.newcomers.insert(id);
      network.join(id, 100, newcomer ? 50 : 5);
    }
    if (network.alive.size() > 16) {
      auto leaver = network.alive.begin();
      std::advance(leaver, pick(random, static_cast<std::uint32_t>(network.alive.size())));
      network.leave(*leaver);
    }
    for (int i = 0; i < 10; ++i) {
      if (const RequestId id = ask(network, 3); id != 0) shadows[id] = false;
    }
    if (network.desk.has_room_for_shadow("m"))
      shadows[network.ask("m", 3, 0, 0, false, true)] = true;
    for (int i = 0; i < 10; ++i) {
      for (const auto& [worker, requests] : network.asked) {
        for (const auto& [id, what] : requests)
          by_newcomers += !shadows.at(id) && network.newcomers.contains(worker) ? 1 : 0;
      }
      network.draw();
    }
    network.pass(300ms);
    for (const auto& [id, end] : network.ends) {
      const bool whole = end.reason == "length";
      shadowed += whole && shadows.at(id) ? 1 : 0;
      if (shadows.at(id)) continue;
      answered += whole ? 1 : 0;
      // Every member is checked, because all members of a chain compute the answer.
      for (const WorkShare& share : end.work)
        by_newcomers += network.is_trusted(share.worker) ? 0 : 1;
    }
    network.ends.clear();
  }
  EXPECT_EQ(by_newcomers, 0U);
  EXPECT_GE(answered, 10'000U);
  EXPECT_GT(shadowed, 100U);
}

TEST(DeskTrust, AModelIsAuditableIfOthersThanItsChainCanReadItsAnswers) {
  Network network;
  network.newcomers = {2};
  network.join(1);
  network.join(2);
  network.desk.put_model(card("m"), network.time);
  network.settle();
  EXPECT_FALSE(network.desk.models()[0].auditable) << "a newcomer's word decides nothing";
  network.join(3);
  network.settle();
  EXPECT_TRUE(network.desk.models()[0].auditable);
  network.leave(1);
  EXPECT_FALSE(network.desk.models()[0].auditable);

  // The members of a chain have room for the whole model, but cannot audit their own answers.
  Network pair;
  pair.join(1);
  pair.join(2);
  pair.desk.put_model(card("m", 2), pair.time);
  pair.settle();
  (void)pair.ask("m");
  pair.pass(1s);
  ASSERT_EQ(pair.desk.models()[0].trusted, 1U);
  EXPECT_FALSE(pair.desk.models()[0].auditable);
  pair.join(3);
  pair.settle();
  EXPECT_TRUE(pair.desk.models()[0].auditable);
}

TEST(DeskTrust, AnAnswerThatEndsBeforeItsEndIsGivenByAnother) {
  for (const std::string reason : {"length", "eos", "stop"}) {
    Network network;
    network.join(1, 1000, 50);
    network.join(2, 1000, 10);
    network.desk.put_model(card("m"), network.time);
    network.settle();
    network.ends_are_true = false;
    const RequestId id = network.ask("m");
    const ServingId first = network.asked[1].contains(id) ? 1 : 2;
    network.draw();
    network.desk.hear(
        first,
        wire::Answered{.request = id, .epoch = network.asked[first].at(id).epoch, .reason = reason},
        network.time);
    network.settle();
    EXPECT_FALSE(network.ends.contains(id)) << reason;

    network.ends_are_true = true;
    network.pass(3s);
    for (int i = 0; i < 9; ++i) network.draw();
    EXPECT_EQ(network.told[id], counted(8)) << reason;
    EXPECT_EQ(network.ends[id].resumed, 1U);
  }
}

}  // namespace
}  // namespace weft::inference
