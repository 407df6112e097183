// A chain of real engines in which one stage cheats. Two auditors run each stage again on its
// recorded input and find that stage and no other, whatever it does to its neighbours. A complaint
// alone convicts no member.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "apps/cli/test_served_network.h"

namespace weft::cli {
using namespace served_network;

namespace {

class ServedStages : public testing::Test {
 protected:
  std::unique_ptr<OpenModel> f16 = open_model("tiny-llama-chat-f16");
  std::unique_ptr<OpenModel> q4 = open_model("tiny-llama-chat-q4_0");
  void SetUp() override {
    if (!f16 || !q4) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-f16.gguf");
  }
  // Joins three members, the one at `place` with the given kind, and then two auditors.
  static std::uint64_t join_all(Network& network, std::uint64_t place, WorkerKind kind,
                                bool gpu_auditor = false) {
    for (std::uint64_t id = 1; id <= 3; ++id) network.join(id == place ? kind : WorkerKind{});
    network.until_serving(3);
    network.join({.gpu = gpu_auditor});
    network.join();
    network.until([&] { return network.desk_.workers().size() == 5; }, "the auditors have joined");
    return place;
  }
  static void expect_guilty(const inference::TraceEnd& end, std::uint64_t id) {
    ASSERT_EQ(end.findings.size(), 2U);
    EXPECT_NE(end.findings[0].auditor, end.findings[1].auditor);
    EXPECT_EQ(billing::found_by_two(end.findings), Network::key_of(id));
  }
};

TEST_F(ServedStages, TheOneThatServesSmallerWeightsIsFoundWhereverItStands) {
  std::set<std::size_t> stages;
  for (std::uint64_t place = 1; place <= 3; ++place) {
    Network network(*f16, 3);
    join_all(network, place, {.instead = q4.get()});
    const auto end = network.ask();
    EXPECT_EQ(network.audit(end).verdict, billing::AnswerVerdict::differs);

    const auto& found = network.trace(end);

    expect_guilty(found, place);
    EXPECT_LT(found.farthest, proof::f32_tolerance.error_max) << "of the honest ones";
    for (std::size_t stage = 0; stage < 3; ++stage) {
      if (network.member(end, stage) == place) stages.insert(stage);
    }
  }
  EXPECT_EQ(stages.size(), 3U) << "the first, the middle and the last were one each";
}

TEST_F(ServedStages, AnAuditorWithAGpuFindsTheSame) {
  Network network(*f16, 3);
  join_all(network, 2, {.instead = q4.get()}, true);
  const auto end = network.ask();
  const auto& found = network.trace(end);
  expect_guilty(found, 2);
  EXPECT_LT(found.farthest, proof::FingerprintTolerance{}.error_max);
}

TEST_F(ServedStages, OfHonestOnesNoneIsFound) {
  Network network(*f16, 3);
  join_all(network, 1, {});
  network.ask();
  const auto end = network.ask();  // The prompt is in the cache from the first answer.
  const auto& found = network.trace(end);
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.stages, 3U) << "all were computed again";
}

// The first member reports the fingerprints of the last member as its own.
TEST_F(ServedStages, AFirstStageThatTellsOtherFingerprintsIsFound) {
  Network network(*f16, 3);
  join_all(network, 1, {});
  auto end = network.ask();
  const std::uint64_t first = network.member(end, 0);
  end.prints[32] = end.prints[0];
  expect_guilty(network.trace(end), first);
}

// A stage that withholds its frames, or shows other frames, is found, because its neighbours also
// have these frames, under roots that the stage has signed.
TEST_F(ServedStages, AStageThatShowsOtherFramesIsFoundByItsNeighbours) {
  Network network(*f16, 3);
  join_all(network, 2,
           {.instead = q4.get(), .shows = [](proof::FrameOpening& one) { one.frame.back() ^= 1; }});
  expect_guilty(network.trace(network.ask()), 2);
}

TEST_F(ServedStages, AChainThatEndsBeforeTheSearchIsNoWayOut) {
  Network network(*f16, 3);
  join_all(network, 2, {.instead = q4.get()});
  const auto end = network.ask();
  network.desk_.hear(2,
                     wire::Broken{.chain = end.pipeline->chain,
                                  .epoch = end.pipeline->epoch,
                                  .member = 1,
                                  .message = "I am out."},
                     now());
  network.until([&] { return network.desk_.models()[0].state == inference::ModelState::ready; },
                "another chain");
  expect_guilty(network.trace(end), 2);
}

// A receiver claims other input, or a sender claims other output: the two members are separated,
// and no search blames either of them.
TEST_F(ServedStages, AComplaintOnlySeparatesThePair) {
  for (const bool as_sender : {false, true}) {
    Network network(*f16, 3);
    std::optional<std::uint32_t> own;
    join_all(network, 2, {.tells = [&](wire::Frames& frames) {
               if (!own) own = frames.line;  // The first report is that of the input.
               if ((frames.line != *own) == as_sender) frames.root.bytes[0] ^= 1;
             }});
    EXPECT_NE(network.ask().reason, "failed") << "the request goes on elsewhere";
    network.until([&] { return network.desk_.counters().disputes > 0; }, "a dispute");
    EXPECT_EQ(network.desk_.workers().size(), 5U) << "all are there still";
  }
}

TEST_F(ServedStages, WhatOnlyOneEndSignedIsNoEvidence) {
  Network network(*f16, 3);
  std::uint32_t told = 0;
  join_all(network, 2, {.instead = q4.get(), .tells = [&](wire::Frames& frames) {
                          ++told;
                          frames.root.bytes[0] ^= 1;
                        }});
  (void)network.ask();
  network.until([&] { return network.desk_.counters().disputes > 0; }, "a dispute");
  EXPECT_GT(told, 0U);
}

TEST_F(ServedStages, ChainsWithAMemberThatCommitsToNothingGoOnWithoutRoots) {
  Network network(*f16, 3);
  join_all(network, 2, {.commits = false});
  const auto end = network.ask();
  EXPECT_FALSE(end.pipeline.has_value());
  EXPECT_EQ(network.audit(end).verdict, billing::AnswerVerdict::agrees);
}

}  // namespace
}  // namespace weft::cli
